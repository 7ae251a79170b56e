#include "files/layout/mapping.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <span>

#include "base/sentence.h"
#include "base/sort.h"
#include "document/document.h"
#include "document/not_finite.h"
#include "document/resize.h"
#include "document/text.h"
#include "files/layout/attention_options.h"
#include "files/layout/attention_problem.h"
#include "files/layout/labels.h"
#include "files/layout/match.h"
#include "files/layout/read.h"

namespace files {
namespace {

using attention::Span;
using base::joined;
using base::Message;
using base::message;
using base::shapeText;
using document::Choices;
using document::State;
using ErrorKind = Error::Kind;

constexpr int kMostListed = 60;             ///< tensors in one list of choices
constexpr std::int64_t kMostEntries = 200;  ///< items of a batch, and heads
constexpr int kRandomTokens = 6;            ///< number of random tokens where the file does not determine it
constexpr int kTableRows = 8;               ///< rows taken from an embedding table

bool isOneOf(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool cut(std::string& word, std::string_view ending) {
  if (!word.ends_with(ending) || word.size() == ending.size()) return false;
  word.resize(word.size() - ending.size());
  return true;
}

/// Compares names with numbers by value: "layers.10" comes after "layers.9".
bool isBefore(std::string_view a, std::string_view b) {
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    if (digit(a[i]) && digit(b[j])) {
      std::size_t m = i, n = j;
      while (m < a.size() && digit(a[m])) ++m;
      while (n < b.size() && digit(b[n])) ++n;
      if (m - i != n - j) return m - i < n - j;
      if (const int order = a.substr(i, m - i).compare(b.substr(j, n - j)); order != 0) return order < 0;
      i = m, j = n;
    } else if (a[i] != b[j]) {
      return a[i] < b[j];
    } else {
      ++i, ++j;
    }
  }
  return a.size() - i < b.size() - j;
}

bool isNumbers(const Stored& tensor) { return tensor.type != Type::text; }
bool isMatrix(const Stored& tensor) { return isNumbers(tensor) && tensor.shape.size() >= 2; }

std::int64_t countOf(const Shape& shape) { return checkedCount(shape).value_or(0); }

/// Transposes [rows, columns].
void transpose(Array& array) {
  const std::int64_t rows = array.shape[0], cols = array.shape[1];
  std::vector<float> out(array.values.size());
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t j = 0; j < cols; ++j)
      out[static_cast<std::size_t>(j * rows + i)] = array.values[static_cast<std::size_t>(i * cols + j)];
  array.values = std::move(out), array.shape = {cols, rows};
}

/// Swaps the two middle axes: [B, L, H, d] becomes [B, H, L, d].
void swapMiddle(Array& array) {
  const std::int64_t batch = array.shape[0], rows = array.shape[1], heads = array.shape[2],
                     cols = array.shape[3];
  std::vector<float> out(array.values.size());
  for (std::int64_t b = 0; b < batch; ++b)
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t h = 0; h < heads; ++h)
        std::copy_n(array.values.begin() + ((b * rows + r) * heads + h) * cols, cols,
                    out.begin() + ((b * heads + h) * rows + r) * cols);
  array.values = std::move(out);
  std::swap(array.shape[1], array.shape[2]);
}

/// Keeps one entry of the first axis, which goes.
void keepEntry(Array& array, std::int64_t entry) {
  const auto size =
      static_cast<std::ptrdiff_t>(array.values.size()) / std::max<std::int64_t>(array.shape[0], 1);
  const auto begin = array.values.begin() + size * entry;
  array.values = std::vector<float>(begin, begin + size);
  array.shape.erase(array.shape.begin());
}

/// Keeps one entry of the first axis, which stays.
void keepFirst(Array& array, std::int64_t entry) {
  keepEntry(array, entry);
  array.shape.insert(array.shape.begin(), 1);
}

Message tooManyOf(std::int64_t layers, std::int64_t numbers) {
  return {"All ",
          layers,
          " layers have ",
          numbers,
          " numbers together; a board has room for ",
          document::kMaxBatch,
          " layers and ",
          document::kMaxNumbers,
          " numbers."};
}

/// Another sentence.
void add(Message& text, const Message& sentence) {
  if (!sentence.empty()) text = text.empty() ? sentence : message({text, " ", sentence});
}

/// The numbers of the entries of an axis, after a choice of `all` of them.
std::vector<Message> entriesOf(std::int64_t count, std::string_view all = {}) {
  std::vector<Message> out;
  if (!all.empty()) out.emplace_back(all);
  for (std::int64_t i = 0; i < std::min(count, kMostEntries); ++i) out.push_back(message({i}));
  return out;
}

/// The q, k or v in a tensor of all three, stacked on the first axis or side by side in the last.
Array third(const Array& array, int index, bool isStacked) {
  Array out;
  out.type = array.type, out.shape = array.shape;
  const std::size_t size = array.values.size() / 3;
  if (isStacked) {
    out.shape.erase(out.shape.begin());
    const auto begin = array.values.begin() + static_cast<std::ptrdiff_t>(size) * index;
    out.values.assign(begin, begin + static_cast<std::ptrdiff_t>(size));
    return out;
  }
  out.shape.back() /= 3;
  const auto cols = static_cast<std::ptrdiff_t>(out.shape.back());
  out.values.reserve(size);
  for (auto row = array.values.begin() + cols * index; out.values.size() < size; row += 3 * cols) {
    out.values.insert(out.values.end(), row, row + cols);
    if (array.values.end() - row <= 3 * cols) break;
  }
  return out;
}

}  // namespace

// ---- what there is

Mapping::Item Mapping::itemOf(std::string_view name) {
  Item item;
  std::string stem = base::lowered(name);
  item.isWeight = cut(stem, ".weight") || cut(stem, "_weight");
  item.isBias = !item.isWeight && (cut(stem, ".bias") || cut(stem, "_bias"));
  item.isLinear = item.isWeight;
  if (cut(stem, ".0")) {}  // to_out.0.weight
  const std::size_t end = stem.find_last_of("./");
  std::string last = end == std::string::npos ? stem : stem.substr(end + 1);
  item.prefix = end == std::string::npos ? "" : std::string(name.substr(0, end + 1));
  const bool isConv = isOneOf(last, {"c_attn", "c_proj"});  // GPT-2's Conv1D has [in, out]
  if (isConv) item.isLinear = false;
  (void)(cut(last, "_proj") || cut(last, "_lin") || cut(last, "_states") || cut(last, "_layer") ||
         cut(last, "_proj_linear"));
  if (last.starts_with("to_")) last = last.substr(3);
  for (const char kind : {'w', 'b'})
    if (last.size() <= 5 && last[0] == kind &&
        (last.size() == 2 || last.size() == 4 || (last.size() > 2 && last[1] == '_'))) {
      std::string rest = last.substr(last[1] == '_' ? 2 : 1);
      if (!isOneOf(rest, {"q", "k", "v", "o", "qkv"})) continue;
      item.isWeight = item.isWeight || (kind == 'w' && !item.isBias),
      item.isBias = item.isBias || kind == 'b';
      last = std::move(rest);
    }
  const bool isParameter = item.isWeight || item.isBias;
  if (isOneOf(last, {"q", "query", "queries"})) item.role = Role::q;
  else if (isOneOf(last, {"k", "key", "keys"})) item.role = Role::k;
  else if (isOneOf(last, {"v", "value", "values"})) item.role = Role::v;
  else if (isOneOf(last, {"qkv", "in", "c_attn", "query_key_value", "wqkv"}) &&
           (isParameter || last == "qkv"))
    item.role = Role::qkv;
  else if (isParameter && isOneOf(last, {"o", "out", "dense", "c"})) item.role = Role::o;
  else if (isParameter) item.role = Role::none;
  else if (isOneOf(last, {"x", "hidden", "hidden_states", "input", "inputs", "embeddings", "inputs_embeds"}))
    item.role = Role::x;
  else if (isOneOf(last, {"x_kv", "encoder_hidden"})) item.role = Role::xKv;
  else if (isOneOf(last, {"mask", "attn_mask", "attention_mask"})) item.role = Role::mask;
  else if (isOneOf(last, {"weights", "attentions", "attention", "attn", "attn_weights", "attention_weights",
                          "attention_probs", "probs"}))
    item.role = Role::weights;
  else if (isOneOf(last, {"labels", "tokens", "input_tokens"})) item.role = Role::tokens;
  else if (last == "key_labels") item.role = Role::keyTokens;
  else if (last == "picture") item.role = Role::picture;
  return item;
}

void Mapping::findLayers() {
  // The roles of the matrices under each prefix, as bits: of those that are inputs, and of those that are
  // weights.
  std::map<std::string_view, std::array<unsigned, 2>, decltype(&isBefore)> found(&isBefore);
  const auto bit = [](Role role) { return 1u << static_cast<unsigned>(role); };
  for (const Item& item : items_)
    if (!item.isBias && isMatrix(tensor(item.tensor)))
      found[item.prefix][item.isWeight ? 1 : 0] |= bit(item.role);
  const unsigned all = bit(Role::q) | bit(Role::k) | bit(Role::v);
  for (const auto& [prefix, roles] : found)
    if (std::any_of(roles.begin(), roles.end(),
                    [&](unsigned has) { return (has & bit(Role::qkv)) != 0 || (has & all) == all; }))
      layers_.emplace_back(prefix);
}

Mapping::Mapping(StoredFile file, std::string title) : file_(std::move(file)), title_(std::move(title)) {
  for (std::size_t i = 0; i < file_.tensors.size(); ++i) {
    items_.push_back(itemOf(file_.tensors[i].name));
    items_.back().tensor = static_cast<int>(i);
  }
  findLayers();
}

bool Mapping::isPossible() const { return std::any_of(file_.tensors.begin(), file_.tensors.end(), isMatrix); }

int Mapping::find(Role role, bool isWeight, bool isBias) const {
  const auto in = [&](std::string_view prefix) {
    for (const Item& item : items_)
      if (item.role == role && item.isWeight == isWeight && item.isBias == isBias && item.prefix == prefix &&
          (isBias ? isNumbers(tensor(item.tensor)) : isMatrix(tensor(item.tensor))))
        return item.tensor;
    return -1;
  };
  int found = in(layer_);
  // In BERT the output's weights are under another prefix than those of the inputs: attention.self.query,
  // attention.output.dense.
  if (std::string beside = layer_; found < 0 && role == Role::o && cut(beside, "self."))
    found = in(beside + "output.");
  if (found < 0 && !isWeight && !isBias) found = in("");
  return found;
}

/// The texts of the layer; otherwise those before all layers; otherwise, except for keys, any texts. -1 if
/// there are none.
int Mapping::findTexts(Role role) const {
  int found = -1, best = 0;
  for (const Item& item : items_) {
    const int near = item.prefix == layer_ ? 3 : item.prefix.empty() ? 2 : role == Role::tokens ? 1 : 0;
    if (item.role == role && tensor(item.tensor).type == Type::text && near > best)
      found = item.tensor, best = near;
  }
  return found;
}

int Mapping::labelsCount() const {
  const int found = findTexts(Role::tokens);
  return found < 0 ? 0 : static_cast<int>(tensor(found).texts.size());
}

// ---- choices

int Mapping::choose(std::string_view name, std::string_view label, std::vector<Message> choices,
                    int likeliest) {
  const int count = static_cast<int>(choices.size());
  if (count < 2) return 0;
  document::Field field;
  field.name = name, field.label = label, field.choices = std::move(choices);
  field.chosen = std::clamp(likeliest, 0, count - 1);
  for (const auto& [given, chosen] : given_)
    if (given == name && chosen >= 0 && chosen < count) field.chosen = chosen;
  form_.fields.push_back(std::move(field));
  return form_.fields.back().chosen;
}

/// The index of the chosen tensor; -1 if none is chosen.
int Mapping::chooseTensor(std::string_view name, std::string_view label, int likeliest, std::string_view none,
                          int nth) {
  std::vector<int> found;
  if (likeliest >= 0) found.push_back(likeliest);
  for (const bool isNear : {true, false})
    for (const Item& item : items_) {
      const bool isOfLayer = item.prefix == layer_ || item.prefix.empty();
      if (isOfLayer == isNear && isMatrix(tensor(item.tensor)) && item.tensor != likeliest &&
          static_cast<int>(found.size()) < kMostListed)
        found.push_back(item.tensor);
    }
  if (likeliest >= 0) base::sort(found, std::less<>());
  std::vector<Message> names;
  if (!none.empty()) names.emplace_back(none);
  const int first = static_cast<int>(names.size());
  int at = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Stored& one = tensor(found[i]);
    if (found[i] == likeliest) at = first + static_cast<int>(i);
    names.push_back(message({fieldOf(one.name), "  ", shapeText(one.shape)}));
  }
  if (likeliest < 0 && none.empty() && nth < static_cast<int>(found.size())) at = nth;
  const int chosen = choose(name, label, std::move(names), at) - first;
  return chosen < 0 || found.empty() ? -1 : found[static_cast<std::size_t>(chosen)];
}

int Mapping::chooseHeads(std::int64_t columns, std::int64_t keyColumns) {
  std::vector<Message> counts;
  int likeliest = -1;
  std::int64_t told = 0;
  for (const Stored& one : file_.tensors)
    if (isOneOf(base::lowered(one.name), {"heads", "q_num_heads", "num_heads", "n_heads"}) &&
        countOf(one.shape) == 1 && isNumbers(one))
      if (const auto value = plain(one))
        told = std::llround(valueAt(*value, 0).kind == Number::Kind::real
                                ? valueAt(*value, 0).real
                                : static_cast<double>(valueAt(*value, 0).whole));
  for (std::int64_t n = 1; n <= columns && n <= kMostEntries; ++n) {
    if (columns % n != 0) continue;
    const std::int64_t width = columns / n;
    // The head widths of nearly all models, the wider one preferred; small tensors are assumed to be one
    // head.
    const bool isUsual = columns > 128 && (width == 64 || (width == 128 && columns >= 2048)),
               fits =
                   width > 0 && keyColumns % width == 0 && (keyColumns == 0 || n % (keyColumns / width) == 0);
    if (n == told || (told == 0 && fits && (likeliest < 0 || isUsual)))
      likeliest = static_cast<int>(counts.size());
    counts.push_back(message({n, n == 1 ? " head of " : " heads of ", width}));
  }
  const int chosen = choose("heads", "Heads", std::move(counts), std::max(likeliest, 0));
  std::int64_t count = 0;
  for (std::int64_t n = 1, i = -1; n <= columns; ++n)
    if (columns % n == 0 && ++i == chosen) {
      count = n;
      break;
    }
  return static_cast<int>(std::max<std::int64_t>(count, 1));
}

Result<Array> Mapping::floats(int index, std::string_view name, Holds holds) const {
  if (index < 0) return base::refuse(ErrorKind::type, name, {"it is missing; choose a tensor."});
  Stored copy = tensor(index);  // the bytes are shared, not copied
  copy.name = fieldOf(copy.name);
  return arrayOf(std::move(copy), holds);
}

// ---- making

namespace {

/// "4 tokens, 2 heads of 8 columns, 3 layers."
Message sizesOf(const State& s) {
  const Message tokens =
      s.cross ? message({s.tokens, s.tokens == 1 ? " token and " : " tokens and ", s.keyTokens, " keys"})
              : message({s.tokens, s.tokens == 1 ? " token" : " tokens"});
  const Message heads = s.kvHeads != s.heads
                            ? message({s.heads, " heads (", s.kvHeads, " for keys and values)"})
                            : message({s.heads, s.heads == 1 ? " head" : " heads"});
  const Message columns = s.valueDim != s.headDim
                              ? message({s.headDim, " and ", s.valueDim, " columns"})
                              : message({s.headDim, s.headDim == 1 ? " column" : " columns"});
  if (s.batch < 2) return {tokens, ", ", heads, " of ", columns, "."};
  return {tokens, ", ", heads, " of ", columns, ", ", s.batch, hasLayers(s) ? " layers." : " entries."};
}

}  // namespace

document::Form Mapping::form(const Choices& choices) {
  Result<State> made = state(choices);
  // If the layers do not have the same shapes, only one of them is read.
  const bool isAsked =
      std::any_of(choices.begin(), choices.end(), [](const auto& one) { return one.first == "layer"; });
  if (!made && !isAsked && !together().empty()) isJoined_ = false, made = state(choices);
  document::Form form = std::move(form_);
  form.title = message({"What is in ", title_, "?"}), form.isReady = static_cast<bool>(made);
  if (!made) {
    form.says = made.error().said();
    return form;
  }
  form.says = sizesOf(*made);
  if (file_.heading > 0) add(form.says, message({"Row ", file_.heading, " is taken as a heading."}));
  add(form.says, tooMany_), add(form.says, added_);
  return form;
}

Result<State> Mapping::state(const Choices& choices) {
  given_ = choices, form_ = {}, added_ = {}, tooMany_ = {}, axes_ = 0, entry_ = -1;
  return make();
}

Result<State> Mapping::make() {
  std::vector<Message> names;
  for (const std::string& layer : layers_)
    names.emplace_back(layer.empty() ? std::string("those without a prefix")
                                     : base::printable(layer.substr(0, layer.size() - 1)));
  const int count = static_cast<int>(layers_.size());
  const std::vector<Span> parts = together();
  for (const Span& part : parts)
    names.push_back(part.size() == count
                        ? message({"All ", count, " layers"})
                        : message({"Layers ", part.begin + 1, " to ", part.end, " of ", count}));
  const int layer = choose("layer", "Layer", std::move(names), !parts.empty() && isJoined_ ? count : 0);
  if (!parts.empty() && layer >= count) return allLayers(parts[static_cast<std::size_t>(layer - count)]);
  layer_ = layers_.empty() ? "" : layers_[static_cast<std::size_t>(layer)];
  const bool hasQ = find(Role::q, false) >= 0 || find(Role::qkv, false) >= 0,
             hasW = find(Role::q, true) >= 0 || find(Role::qkv, true) >= 0;
  const bool hasWeights = find(Role::weights, false) >= 0 || isWeightsAlone();
  const int as = choose("as", "Read as", {"Q, K and V", "X and its weights", "Weights of attention alone"},
                        hasQ         ? 0
                        : hasW       ? 1
                        : hasWeights ? 2
                                     : 0);
  if (as == 2) return weightsAlone();
  Result<StoredFile> chosen = as == 1 ? projected() : direct();
  if (!chosen) return chosen.error();
  Result<TensorsFile> tensors = tensorsOf(std::move(*chosen), {}, NotFinite::hidden);
  if (!tensors) return tensors.error();
  return stateOf(std::move(*tensors), State{});
}

/// The numbers of all layers if they have q, k and v of equal shapes, each with the largest of their masks; 0
/// if they have not.
std::int64_t Mapping::numbersOfAlike() const {
  const auto layers = static_cast<std::int64_t>(layers_.size());
  std::int64_t numbers = 0, ofMask = 0;
  for (const Role role : {Role::q, Role::k, Role::v}) {
    std::map<std::string_view, int> ofLayers;  // a file can have tens of thousands of both
    for (const Item& i : items_)
      if (i.role == role && !i.isWeight && !i.isBias && isMatrix(tensor(i.tensor)))
        ofLayers.try_emplace(i.prefix, i.tensor);
    const Stored* first = nullptr;
    for (const std::string& layer : layers_) {
      const auto found = ofLayers.find(layer);
      if (found == ofLayers.end()) return 0;
      const Stored& one = tensor(found->second);
      if (!first) first = &one;
      if (one.shape != first->shape) return 0;
      numbers += countOf(one.shape);
    }
    if (first->shape.size() > 4 || (first->shape.size() == 4 && first->shape[0] != 1))
      return 0;  // a batch of several texts
  }
  for (const Item& item : items_)
    if (item.role == Role::mask && !item.prefix.empty())
      ofMask = std::max(ofMask, countOf(tensor(item.tensor).shape));
  return numbers + layers * ofMask;
}

/// Which layers can be read together: all, or parts of about the same size that a board has room for.
std::vector<Span> Mapping::together() {
  const auto count = static_cast<std::int64_t>(layers_.size());
  const std::int64_t numbers = count < 2 ? 0 : numbersOfAlike();
  if (numbers == 0) return {};
  const std::int64_t most =
      std::min<std::int64_t>(document::kMaxBatch, document::kMaxNumbers / ((numbers + count - 1) / count));
  if (most < 2) return {};
  const std::int64_t parts = (count + most - 1) / most;
  if (parts > 1) tooMany_ = tooManyOf(count, numbers);
  std::vector<Span> out;
  for (std::int64_t i = 0; i < parts; ++i) {
    const auto from = [&](std::int64_t n) { return static_cast<int>((n * count + parts - 1) / parts); };
    if (const Span part{from(i), from(i + 1)}; part.size() > 1) out.push_back(part);
  }
  return out;
}

namespace {

/// Moves the painted mask into the bias, so that each layer can have its own.
void addPainted(State& state) {
  if (state.painted.empty()) return;
  if (state.bias.empty()) {
    state.biasKind = document::Bias::shared;
    state.bias.reshape(1, state.tokens, state.keyTokens);
    std::fill(state.bias.values().begin(), state.bias.values().end(), 0.0f);
  }
  for (int h = 0; h < state.bias.heads(); ++h)
    for (int i = 0; i < state.tokens; ++i)
      for (int j = 0; j < state.keyTokens; ++j)
        if (state.painted.isBlocked(i, j)) state.bias.at(h, i, j) = -std::numeric_limits<float>::infinity();
  state.painted = {};
}

}  // namespace

/// Layers of a recorded model, as the items of a batch. They share their options; an error if these differ.
Result<State> Mapping::allLayers(Span which) {
  std::vector<State> states;
  bool isFinite = true;
  const document::Form asked = form_;
  // Each layer has its own tensors; questions about their layout are asked only once.
  const auto isShared = [](std::string_view name) { return name == "axes" || name == "heads"; };
  std::erase_if(given_, [&](const auto& one) { return !isShared(one.first); });
  for (int i = which.begin; i < which.end; ++i) {
    layer_ = layers_[static_cast<std::size_t>(i)], form_ = asked, added_ = {}, axes_ = 0, entry_ = -1;
    Result<StoredFile> chosen = direct();
    if (!chosen) return chosen.error();
    Result<TensorsFile> tensors = tensorsOf(std::move(*chosen), {}, NotFinite::hidden);
    if (!tensors) return tensors.error();
    isFinite = isFinite && tensors->isFinite;
    Result<State> made = rawStateOf(std::move(*tensors), State{});
    if (!made) return made.error();
    states.push_back(std::move(*made));
  }
  std::erase_if(form_.fields,
                [&](const document::Field& one) { return one.name != "layer" && !isShared(one.name); });
  State all = states.front();
  if (std::any_of(states.begin(), states.end(), [&](const State& s) { return !(s.painted == all.painted); }))
    for (State& s : states) addPainted(s);
  document::Bias kind = document::Bias::none;
  for (const State& s : states) kind = std::max(kind, s.biasKind);
  for (State& s : states) {
    s.biasKind = kind;
    if (kind != document::Bias::none) document::widenBias(s, s.bias);
  }
  all = states.front();
  for (std::size_t i = 1; i < states.size(); ++i) {
    const std::string& name = layers_[static_cast<std::size_t>(which.begin) + i];
    for (const document::Option& option : document::options())
      if (option.id != document::OptionId::labels && option.id != document::OptionId::key_labels &&
          get(states[i], option.id) != get(all, option.id))
        return base::refuse(
            ErrorKind::range, option.name,
            {"it is ", document::toJson(get(states[i], option.id)), " in ",
             base::printable(name.substr(0, name.size() - 1)), " and ", document::toJson(get(all, option.id)),
             " in the first layer; choose one layer."});
  }
  all.batch = static_cast<int>(states.size()), all.batchOf = document::BatchOf::layers;
  if (auto ok = checkSizes("layer", all); !ok) return ok.error();
  all.items.resize(states.size());
  for (std::size_t i = 1; i < states.size(); ++i) {
    document::BatchItem& other = all.items[i];
    State& s = states[i];
    other.labels = std::move(s.labels), other.keyLabels = std::move(s.keyLabels);
    for (const attention::TensorId id : document::itemInputIds())
      if (hasInput(all, id)) *document::input(other, id) = std::move(*document::input(s, id));
  }
  if (!isFinite)
    if (auto ok = document::hideNotFinite(all); !ok) return ok.error();
  if (auto ok = document::check(all); !ok) return ok.error();
  return all;
}

/// Does the file contain square matrices, the first row of the first being a row of weights? So the result of
/// output_attentions is recognised under any name.
bool Mapping::looksLikeWeights() const {
  for (const Stored& one : file_.tensors) {
    if (!isMatrix(one)) continue;
    const std::size_t rank = one.shape.size();
    if (rank < 3 || one.shape[rank - 1] != one.shape[rank - 2] || countOf(one.shape) < 1) return false;
    Stored copy = one;
    const Result<Array> read = arrayOf(std::move(copy));
    if (!read) return false;
    const auto size = static_cast<std::size_t>(one.shape[rank - 1]);
    for (auto row = read->values.begin(), end = row + static_cast<std::ptrdiff_t>(size * size); row != end;
         row += static_cast<std::ptrdiff_t>(size)) {
      const auto last = row + static_cast<std::ptrdiff_t>(size);
      if (std::any_of(row, last, [](float w) { return w < 0; }) ||
          std::abs(std::accumulate(row, last, 0.0) - 1) > 0.001)
        return false;
    }
    return true;
  }
  return false;
}

bool Mapping::isWeightsAlone() const {
  return layers_.empty() && find(Role::x, false) < 0 &&
         (find(Role::weights, false) >= 0 || looksLikeWeights());
}

/// Joins layers given as separate tensors, [batch, heads, queries, keys] or [heads, queries, keys], into one
/// [layers, batch, heads, queries, keys].
Result<void> Mapping::joinLayers(int chosen, Array& read) {
  const Shape shape = tensor(chosen).shape;
  if (shape.size() != 3 && shape.size() != 4) return {};
  std::vector<int> alike;
  for (std::size_t i = 0; i < file_.tensors.size(); ++i)
    if (isMatrix(file_.tensors[i]) && file_.tensors[i].shape == shape) alike.push_back(static_cast<int>(i));
  if (alike.size() < 2 ||
      choose("list", "Layers", {message({"All ", alike.size(), " tensors of this shape"}), "This one alone"},
             0) == 1)
    return {};
  // Ordered by name; equal names in the order of the file.
  base::sort(alike, [&](int a, int b) {
    const std::string &one = tensor(a).name, &other = tensor(b).name;
    return isBefore(one, other) || (!isBefore(other, one) && a < b);
  });
  read.values.clear();
  for (const int index : alike) {
    Result<Array> one = floats(index, "weights");
    if (!one) return one.error();
    read.values.insert(read.values.end(), one->values.begin(), one->values.end());
  }
  read.shape.insert(read.shape.begin(), static_cast<std::int64_t>(alike.size()));
  return {};
}

/// Rearranges an array with any supported axes to [batch, heads, tokens, columns].
Result<void> Mapping::split(Array& array, std::string_view name, int heads) const {
  Shape& shape = array.shape;
  const std::size_t rank = shape.size();
  const auto wrong = [&] {
    return base::refuse(ErrorKind::range, joined({name, ".shape"}),
                        {shapeText(shape), " does not fit the axes that were chosen; choose others."});
  };
  if (rank == 2 || (rank == 3 && axes_ == 2)) {
    if (shape.back() % heads != 0) return wrong();
    if (rank == 2) shape.insert(shape.begin(), 1);
    const std::int64_t width = shape.back() / heads;
    shape.back() = heads, shape.push_back(width);
    swapMiddle(array);
  } else if (rank == 3) {
    shape.insert(shape.begin(), 1);
    if (axes_ == 1) swapMiddle(array);
  } else if (rank == 4) {
    if (axes_ == 1) swapMiddle(array);
  } else {
    return wrong();
  }
  if (entry_ < 0) return {};
  if (entry_ >= shape[0]) return wrong();
  keepFirst(array, entry_);
  return {};
}

/// The tensors for Q, K and V, or for their weights; the likeliest are those of that role, or one that is all
/// three.
Result<std::array<int, 3>> Mapping::chooseThree(const Wanted* wanted, bool isWeight) {
  const int fused = find(Role::qkv, isWeight);
  std::array<int, 3> chosen;
  for (int i = 0; i < 3; ++i) {
    const auto& [name, label, role] = wanted[i];
    const int likeliest = find(role, isWeight);
    int& one = chosen[static_cast<std::size_t>(i)];
    one = chooseTensor(name, label, likeliest >= 0 ? likeliest : fused, {}, i);
    if (one < 0)
      return base::refuse(ErrorKind::type, name,
                          {isWeight ? "it is missing; choose a tensor."
                                    : "it is missing; choose a tensor of two axes or more."});
  }
  return chosen;
}

/// Reads q, k and v from these tensors, or from one that is all three.
Result<Mapping::Three> Mapping::readThree(const std::array<int, 3>& chosen) {
  const bool isOne = areOne(chosen);
  const Shape& whole = tensor(chosen[0]).shape;
  int together = 0;
  const bool mayStack = isOne && whole.size() >= 3 && whole[0] == 3,
             mayStand = isOne && whole.back() % 3 == 0 && whole.back() > 0;
  if (isOne) {
    std::vector<Message> ways{"The same for all three"};
    if (mayStack) ways.emplace_back("Three, stacked on the first axis");
    if (mayStand) ways.emplace_back("Three, side by side in the columns");
    const bool isThree = chosen[0] == find(Role::qkv, false) || mayStack;
    together = choose("together", "Q, K and V in it", std::move(ways), isThree ? 1 : 0);
  }
  Three arrays;
  for (std::size_t i = 0; i < 3; ++i) {
    if (isOne && i > 0 && together == 0) {
      arrays[i] = arrays[0];
      continue;
    }
    Result<Array> read = floats(chosen[i], kDirect[i].name, Holds::any);
    if (!read) return read.error();
    arrays[i] =
        together > 0 ? third(*read, static_cast<int>(i), together == 1 && mayStack) : std::move(*read);
  }
  return arrays;
}

/// Of more than four axes only the first is split: the entries of a recording, layer by layer.
Result<void> Mapping::takeFirst(Three& arrays) {
  while (arrays[0].shape.size() > 4 && arrays[0].shape[0] == 1)
    for (Array& array : arrays)
      if (array.shape.size() > 4) array.shape.erase(array.shape.begin());
  if (arrays[0].shape.size() != 5) return {};
  const int entry = choose("first", "Entry of the first axis", entriesOf(arrays[0].shape[0]), 0);
  for (Array& array : arrays) {
    if (array.shape.size() != 5 || entry >= array.shape[0])
      return base::refuse(ErrorKind::range, "q.shape",
                          {"q, k and v have different numbers of axes; choose others."});
    keepEntry(array, entry);
  }
  return {};
}

/// Asks for the meaning of three or four axes.
void Mapping::chooseAxes(const Shape& shape) {
  const int tokens = labelsCount();
  const auto isLikelier = [&](std::size_t axis) {
    return tokens > 0 && shape[axis] == tokens && shape[axis + 1] != tokens ? 1 : 0;
  };
  if (shape.size() == 4)
    axes_ = choose("axes", "Axes", {"[batch, heads, tokens, columns]", "[batch, tokens, heads, columns]"},
                   isLikelier(1));
  if (shape.size() == 3)
    axes_ = choose("axes", "Axes",
                   {"[heads, tokens, columns]", "[tokens, heads, columns]", "[batch, tokens, columns]"},
                   isLikelier(0));
}

/// Of a layer with more numbers than a board has room for some heads are read, as many as fit. Not where
/// their number decides what they compute.
void Mapping::takeHeads(Three& arrays) {
  const auto& [q, k, v] = arrays;
  const std::int64_t groups = k.shape[1], heads = q.shape[1];
  const bool isOne = q.shape[0] == 1 && k.shape[0] == 1 && v.shape[0] == 1;
  if (!isOne || groups < 2 || v.shape[1] != groups || heads % groups != 0) return;
  for (const Item& item : items_)
    if (const Stored& one = tensor(item.tensor); one.name == layer_ + "position" && !one.texts.empty())
      if (one.texts.front() == "alibi") return;
  constexpr std::int64_t kBeside = std::int64_t{4} * attention::Limits::headDim;  // and a column of X
  const std::int64_t each = (countOf(q.shape) + countOf(k.shape) + countOf(v.shape)) / groups + kBeside,
                     fit = (document::kMaxNumbers - q.shape[2] - k.shape[2]) / each;
  if (fit >= groups || fit < 1) return;
  add(added_, message({"All ", heads, " heads have ", countOf(q.shape) + countOf(k.shape) + countOf(v.shape),
                       " numbers together; a board has room for ", document::kMaxNumbers, "."}));
  const std::int64_t parts = (groups + fit - 1) / fit, size = (groups + parts - 1) / parts;
  std::vector<Message> names;
  for (std::int64_t i = 0; i * size < groups; ++i)
    names.push_back(message({"Heads ", i * size * (heads / groups) + 1, " to ",
                             std::min(groups, (i + 1) * size) * (heads / groups), " of ", heads}));
  const std::int64_t first = choose("part", "Heads", std::move(names), 0) * size,
                     count = std::min(size, groups - first);
  for (Array& array : arrays) {
    const auto one = static_cast<std::ptrdiff_t>(countOf(array.shape) / groups);
    const auto begin = array.values.begin() + first * one;
    array.values = std::vector<float>(begin, begin + count * one);
    array.shape[1] = array.shape[1] / groups * count;
  }
}

/// Q, K and V from tensors of their own.
Result<StoredFile> Mapping::direct() {
  const auto chosen = chooseThree(kDirect, false);
  if (!chosen) return chosen.error();
  Result<Three> arrays = readThree(*chosen);
  if (!arrays) return arrays.error();
  auto& [q, k, v] = *arrays;
  if (auto ok = takeFirst(*arrays); !ok) return ok;
  chooseAxes(q.shape);
  const bool isPacked = q.shape.size() == 2 || (q.shape.size() == 3 && axes_ == 2);
  int heads = 1, kvHeads = 1;
  if (isPacked) {
    const std::int64_t keyColumns = k.shape.empty() ? 0 : k.shape.back();
    heads = chooseHeads(q.shape.back(), keyColumns);
    const std::int64_t width = std::max<std::int64_t>(1, q.shape.back() / heads);
    kvHeads = keyColumns > 0 && keyColumns % width == 0 ? static_cast<int>(keyColumns / width) : heads;
  }
  const std::int64_t batch = q.shape.size() == 4 || (isPacked && q.shape.size() == 3) ? q.shape[0] : 1;
  if (batch > 1)
    entry_ = choose("batch", "Entry of the batch", entriesOf(batch, "All of them"),
                    batch > document::kMaxBatch ? 1 : 0) -
             1;
  for (std::size_t i = 0; i < 3; ++i)
    if (auto ok = split((*arrays)[i], kDirect[i].name, i == 0 ? heads : kvHeads); !ok) return ok;
  takeHeads(*arrays);
  const int rows = static_cast<int>(q.shape[2]), keys = static_cast<int>(k.shape[2]);
  Named made;
  for (std::size_t i = 0; i < 3; ++i) made.emplace_back(kDirect[i].name, std::move((*arrays)[i]));
  return finish(std::move(made), rows, keys);
}

/// w_q, w_k, w_v and, unless `output` is -1, w_o, all [in, out].
Result<Mapping::Named> Mapping::readWeights(const std::array<int, 3>& chosen, int output) {
  const bool isOne = areOne(chosen), isLinear = items_[static_cast<std::size_t>(chosen[0])].isLinear;
  const bool isTransposed =
      choose("turned", "Weights are", {"[in, out]", "[out, in], as PyTorch's Linear"}, isLinear ? 1 : 0) == 1;
  Named out;
  for (int i = 0; i < (output < 0 ? 3 : 4); ++i) {
    const std::string_view name = kWeights[i].name;
    Result<Array> read = floats(i == 3 ? output : chosen[static_cast<std::size_t>(i)], name);
    if (!read) return read.error();
    if (read->shape.size() != 2)
      return base::refuse(ErrorKind::range, joined({name, ".shape"}),
                          {shapeText(read->shape), " is no matrix; choose one of [in, out]."});
    if (isTransposed) transpose(*read);
    if (isOne && i < 3) {
      if (read->shape[1] % 3 != 0)
        return base::refuse(
            ErrorKind::range, "w_q.shape",
            {shapeText(read->shape), " does not hold three matrices side by side; choose others."});
      *read = third(*read, i, false);
    }
    out.emplace_back(name, std::move(*read));
  }
  return out;
}

/// X for weights w_q of this shape: [tokens, in]; of a batch one entry, of an embedding table the first rows.
Result<Array> Mapping::readX(int index, const Shape& weights) {
  Result<Array> x = floats(index, "x", Holds::any);
  if (!x) return x;
  Shape& shape = x->shape;
  while (shape.size() > 2 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() == 3) keepEntry(*x, choose("batch", "Entry of the batch", entriesOf(shape[0]), 0));
  const std::int64_t width = weights[0];
  if (shape.size() != 2 || shape[1] != width)
    return base::refuse(
        ErrorKind::range, "x.shape",
        {shapeText(shape), " does not fit w_q ", shapeText(weights), "; expected [tokens, ", width, "]."});
  const std::string name = base::lowered(tensor(index).name);
  const bool isTable = name.find("emb") != std::string::npos || name.find("wte") != std::string::npos ||
                       name.find("wpe") != std::string::npos;
  if (!isTable || shape[0] <= kTableRows) return x;
  shape[0] = kTableRows, x->values.resize(static_cast<std::size_t>(kTableRows * width));
  add(added_, message({"X is the first ", kTableRows, " rows of the table."}));
  return x;
}

/// An X of random numbers, a row for each label of the file.
Array Mapping::randomX(std::int64_t width) {
  Array x;
  x.shape = {labelsCount() > 0 ? labelsCount() : kRandomTokens, width};
  const document::SeededCells cells(1, attention::TensorId::x);
  for (std::int64_t i = 0; i < x.shape[0]; ++i)
    for (std::int64_t j = 0; j < width; ++j)
      x.values.push_back(cells.at(0, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)));
  add(added_, "The file has no X: it is random numbers.");
  return x;
}

/// The biases of these weights, as far as the file has them; none if all are zeros.
Result<Mapping::Named> Mapping::readBiases(const Named& weights) {
  constexpr std::string_view names[] = {"b_q", "b_k", "b_v", "b_o"};
  Named out;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const int own = find(kWeights[i].role, false, true), all = i == 3 ? -1 : find(Role::qkv, false, true);
    if (own < 0 && all < 0) continue;
    Result<Array> read = floats(own >= 0 ? own : all, "b_q");
    if (!read) return read.error();
    read->shape = {countOf(read->shape)};
    const std::int64_t cols = weights[i].second.shape[1];
    if (own < 0 && read->shape[0] == 3 * cols) read = third(*read, static_cast<int>(i), false);
    if (read->shape[0] != cols)
      return base::refuse(ErrorKind::range, fieldOf(tensor(own >= 0 ? own : all).name),
                          {"it has ", read->shape[0], " numbers for the ", cols, " columns of ",
                           kWeights[i].name, "; choose other weights."});
    out.emplace_back(names[i], std::move(*read));
  }
  const bool hasBias = std::any_of(out.begin(), out.end(), [](const auto& bias) {
    const std::vector<float>& values = bias.second.values;
    return std::any_of(values.begin(), values.end(), [](float b) { return b != 0; });
  });
  return hasBias ? std::move(out) : Named{};
}

/// X and the weights that make Q, K and V of it.
Result<StoredFile> Mapping::projected() {
  const int given = chooseTensor("x", "X", find(Role::x, false), "Random numbers");
  const auto chosen = chooseThree(kWeights, true);
  if (!chosen) return chosen.error();
  const int output = chooseTensor("w_o", "W_O", find(Role::o, true), "None");
  Result<Named> made = readWeights(*chosen, output);
  if (!made) return made.error();
  const Shape& shape = made->front().second.shape;
  const int heads = chooseHeads(shape[1], (*made)[1].second.shape[1]);
  Result<Array> x = given >= 0 ? readX(given, shape) : randomX(shape[0]);
  if (!x) return x.error();
  Result<Named> biases = readBiases(*made);
  if (!biases) return biases.error();
  const int tokens = static_cast<int>(x->shape[0]);
  made->emplace(made->begin(), "x", std::move(*x));
  for (auto& bias : *biases) made->push_back(std::move(bias));
  made->emplace_back("heads", Array{Array::Type::float32, {}, {static_cast<float>(heads)}});
  return finish(std::move(*made), tokens, tokens);
}

/// Selects one entry of the batch from [layers, batch, heads, queries, keys].
void Mapping::takeEntry(Array& layers) {
  const std::int64_t count = layers.shape[1],
                     entry = choose("entry", "Entry of the batch", entriesOf(count), 0);
  const auto size =
      static_cast<std::ptrdiff_t>(layers.values.size()) / std::max<std::int64_t>(layers.shape[0] * count, 1);
  const auto begin = layers.values.begin();
  for (std::int64_t layer = 0; layer < layers.shape[0]; ++layer)
    std::copy_n(begin + (layer * count + entry) * size, size, begin + layer * size);
  layers.values.resize(static_cast<std::size_t>(layers.shape[0] * size));
  layers.shape.erase(layers.shape.begin() + 1);
}

/// The tensor that is most likely to be weights: by its name, or because it is square; -1 if there is none.
int Mapping::likeliestWeights() const {
  int likeliest = find(Role::weights, false);
  for (std::size_t i = 0; i < file_.tensors.size() && likeliest < 0; ++i) {
    const Shape& shape = file_.tensors[i].shape;
    if (isMatrix(file_.tensors[i]) && shape.back() == shape[shape.size() - 2])
      likeliest = static_cast<int>(i);
  }
  return likeliest;
}

/// Weights as [layers, heads, queries, keys], within the limits of the board.
Result<Array> Mapping::readLayers(int chosen) {
  Result<Array> read = floats(chosen, "weights");
  if (!read) return read;
  if (auto ok = joinLayers(chosen, *read); !ok) return ok;
  Shape& shape = read->shape;
  while (shape.size() > 5 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() == 5) takeEntry(*read);
  while (shape.size() < 4) shape.insert(shape.begin(), 1);
  const bool isTooDeep = shape.size() != 4;
  if (isTooDeep || std::any_of(shape.begin(), shape.end(),
                               [](std::int64_t size) { return size < 1 || size > layer::kLongest; }))
    return base::refuse(
        ErrorKind::range, joined({fieldOf(tensor(chosen).name), ".shape"}),
        {shapeText(shape),
         isTooDeep ? " is more than weights have; expected [layers, heads, queries, keys]."
                   : " has a size that cannot be shown; expected [layers, heads, queries, keys]."});
  return read;
}

/// The index of the layer that is shown, or -1 for all.
Result<int> Mapping::chooseLayer(std::int64_t layers, const State& s, std::string_view field) {
  if (layers < 2) return -1;
  document::Settings all = s;
  all.batch = static_cast<int>(std::min<std::int64_t>(layers, document::kMaxBatch + 1));
  const bool fits = layers <= document::kMaxBatch && checkSizes("", all);
  if (!fits) tooMany_ = tooManyOf(layers, layers * std::int64_t{s.heads} * s.tokens * s.keyTokens);
  const int layer = choose("batch", "Layer", entriesOf(layers, "All layers"), fits ? 0 : 1) - 1;
  if (layer < 0 && layers > document::kMaxBatch)
    return base::refuse(ErrorKind::range, field, {layers, " layers are too many for the board; choose one."});
  return layer;
}

namespace {

/// An error unless each row could be the result of a softmax; rows of zeros are those of queries that see no
/// key.
Result<void> checkRows(const Array& weights, const std::string& field) {
  const auto cols = static_cast<std::size_t>(weights.shape.back());
  for (std::size_t i = 0; i < weights.values.size(); i += cols) {
    double sum = 0;
    for (std::size_t j = i; j < i + cols; ++j) {
      if (weights.values[j] < 0)
        return base::refuse(ErrorKind::range, field + placeOf(weights.shape, j),
                            {"a weight is never negative; choose weights after the softmax."});
      sum += static_cast<double>(weights.values[j]);
    }
    if (sum != 0 && std::abs(sum - 1) > 0.01)
      return base::refuse(
          ErrorKind::range, field + placeOf(weights.shape, i),
          {"the weights of this row have the sum ", static_cast<std::int64_t>(std::llround(sum * 1000)),
           " ÷ 1000; expected 1, as the softmax makes it (without dropout)."});
  }
  return {};
}

/// Makes the items of the batch, one a layer, and sets their biases to the logarithms of the weights.
void fillLayers(State& s, const Array& weights) {
  for (const attention::TensorId id : document::inputIds())
    if (hasInput(s, id)) fillSeeded(s, id);
  for (document::Tensor* zero : {&s.q, &s.k, &s.v})
    std::fill(zero->values().begin(), zero->values().end(), 0.0f);
  resizeBatch(s, static_cast<int>(weights.shape[0]));
  if (s.batch > 1) s.batchOf = document::BatchOf::layers;
  auto from = weights.values.begin();
  for (int item = 0; item < s.batch; ++item) {
    document::BatchItem* other = item == 0 ? nullptr : &s.items[static_cast<std::size_t>(item)];
    if (other)
      other->labels = s.labels, other->keyLabels = s.keyLabels, other->q = s.q, other->k = s.k,
      other->v = s.v;
    const std::span<float> bias = (other ? other->bias : s.bias).values();
    std::transform(from, from + static_cast<std::ptrdiff_t>(bias.size()), bias.begin(),
                   [](float w) { return std::log(w); });
    from += static_cast<std::ptrdiff_t>(bias.size());
  }
}

}  // namespace

/// Numbers as labels, unless the file has as many texts.
void Mapping::label(State& s) const {
  s.labels = document::numberedLabels(1, s.tokens);
  if (s.cross) s.keyLabels = document::numberedLabels(1, s.keyTokens);
  const auto take = [](std::vector<std::string>& labels, const std::vector<std::string>& texts) {
    if (texts.size() == labels.size()) labels = readableLabels(texts);
  };
  for (const Item& item : items_) {
    if (tensor(item.tensor).type != Type::text) continue;
    if (item.role == Role::tokens) take(s.labels, tensor(item.tensor).texts);
    if (item.role == Role::keyTokens && s.cross) take(s.keyLabels, tensor(item.tensor).texts);
  }
  for (const auto& [key, text] : file_.notes) {  // the metadata of safetensors
    const bool isOfKeys = key == "key_labels";
    if (!isOfKeys && key != "tokens" && key != "labels") continue;
    if (const auto list = document::valueFromJson(text, key); list && (s.cross || !isOfKeys))
      take(isOfKeys ? s.keyLabels : s.labels, document::labelsOf(*list));
  }
}

/// Scores for which softmax gives the weights, with q and k of zeros: the bias is log w, and exp(log w) ÷ Σ
/// exp(log w) is w, because each row of weights sums to 1.
Result<State> Mapping::weightsAlone() {
  const int chosen = chooseTensor("weights", "Weights", likeliestWeights());
  Result<Array> weights = readLayers(chosen);
  if (!weights) return weights.error();
  const std::string field = fieldOf(tensor(chosen).name);
  const Shape& shape = weights->shape;
  State s;
  s.tokens = static_cast<int>(shape[2]), s.keyTokens = static_cast<int>(shape[3]),
  s.heads = s.kvHeads = static_cast<int>(shape[1]), s.headDim = s.valueDim = s.modelDim = 1;
  s.cross = s.tokens != s.keyTokens, s.causal = false, s.biasKind = document::Bias::perHead;
  const Result<int> layer = chooseLayer(shape[0], s, field);
  if (!layer) return layer.error();
  if (auto ok = checkRows(*weights, field); !ok) return ok;
  if (*layer >= 0) keepFirst(*weights, *layer);
  document::Settings whole = s;
  whole.batch = static_cast<int>(shape[0]);
  if (auto ok = checkSizes(field, whole); !ok) return ok;
  label(s);
  if (auto ok = document::checkLabels("labels", s.labels, 0); !ok) return ok;
  fillLayers(s, *weights);
  if (auto ok = document::check(s); !ok) return ok;
  add(added_,
      "Weights alone: Q, K and V are zeros, and the logarithms of the weights stand in for the scores. What "
      "needs Q and K says nothing here.");
  return s;
}

/// The tensors under our names, with what else the file contains: labels, a mask, options.
Result<StoredFile> Mapping::finish(Named arrays, int tokens, int keys) {
  StoredFile out;
  const bool isPlain = arrays.front().first == "q";
  for (const auto& [key, text] : notesOf(file_, layer_))
    if (isPlain || key != "options") out.notes.emplace_back(key, text);
  for (auto& [name, array] : arrays) {
    const auto kept = std::make_shared<const std::vector<float>>(std::move(array.values));
    Stored& tensor = out.tensors.emplace_back(storedOf(name, array.shape, *kept));
    tensor.owned = std::shared_ptr<const char[]>(kept, tensor.bytes.data());
  }
  for (const Role role : {Role::tokens, Role::keyTokens}) {
    const int found = findTexts(role), count = role == Role::tokens ? tokens : keys;
    if (found < 0 || (!tensor(found).shape.empty() && static_cast<int>(tensor(found).texts.size()) != count))
      continue;
    out.tensors.push_back(tensor(found));
    out.tensors.back().name = role == Role::tokens ? "labels" : "key_labels";
  }
  for (const Item& item : items_) {
    const Stored& one = tensor(item.tensor);
    const std::string option = base::lowered(one.name).substr(item.prefix.size());
    if ((!item.prefix.empty() && item.prefix != layer_) || countOf(one.shape) != 1 || !isPlain ||
        item.role != Role::none || !layer::isOption(option) || option == "heads" || option == "layout")
      continue;
    out.tensors.push_back(one);
    out.tensors.back().name = option;
  }
  const int pictured = isPlain ? find(Role::picture, false) : -1;
  if (pictured >= 0 && tensor(pictured).shape.size() == 2 && tensor(pictured).shape[0] == tokens)
    out.tensors.emplace_back(tensor(pictured)).name = "picture";
  const int masked = find(Role::mask, false) >= 0 || file_.tensors.size() > 3
                         ? chooseTensor("mask", "Mask", find(Role::mask, false), "None")
                         : -1;
  if (masked < 0) return out;
  Result<Stored> mask = plain(tensor(masked));
  if (!mask) return mask.error();
  mask->name = "mask";
  // Integer masks of 1 and 0, as tokenizers write them.
  if (mask->type >= Type::int8 && mask->type <= Type::uint64) {
    const std::size_t count = static_cast<std::size_t>(countOf(mask->shape));
    const std::shared_ptr<char[]> memory = memoryFor(count);
    if (!memory) return base::refuse(ErrorKind::memory, "mask", {"there is not enough memory for it."});
    for (std::size_t i = 0; i < count; ++i) {
      const Number value = valueAt(*mask, i);
      if (value.whole != 0 && value.whole != 1)
        return base::refuse(ErrorKind::range, "mask",
                            {"of whole numbers only 0 and 1 are a mask; choose another."});
      memory.get()[i] = static_cast<char>(value.whole);
    }
    mask->type = Type::boolean, mask->bytes = {memory.get(), count}, mask->owned = memory;
  }
  if (mask->shape.size() == 2 && mask->shape[1] == keys && mask->shape[0] != tokens &&
      mask->type == Type::boolean)
    mask->shape = {mask->shape[0], 1, 1, mask->shape[1]};  // a padding mask
  if (entry_ >= 0 && mask->shape.size() == 4 && mask->shape[0] > entry_) {
    const std::size_t size = mask->bytes.size() / static_cast<std::size_t>(mask->shape[0]);
    mask->bytes = mask->bytes.substr(size * static_cast<std::size_t>(entry_), size), mask->shape[0] = 1;
  }
  out.tensors.push_back(std::move(*mask));
  return out;
}

}  // namespace files
