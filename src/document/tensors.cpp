#include "document/tensors.h"

#include <algorithm>
#include <cmath>

#include "document/block.h"
#include "document/number.h"
#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;
using Kind = Json::Kind;

constexpr std::string_view kWhole =
    "a tensors file has q, k and v, or x, w_q, w_k, w_v and w_o, and maybe mask, labels and options";
constexpr TensorId kScoreWeights[] = {TensorId::w_a, TensorId::u_a, TensorId::v_a};

/// Options that a file may set; shapes tell the sizes, and how things are shown belongs to the reader.
constexpr OptionId kFileOptions[] = {OptionId::causal,
                                     OptionId::temperature,
                                     OptionId::score,
                                     OptionId::softcap,
                                     OptionId::normalizer,
                                     OptionId::position,
                                     OptionId::causal_offset,
                                     OptionId::window_left,
                                     OptionId::window_right,
                                     OptionId::prefix,
                                     OptionId::key_length,
                                     OptionId::pattern_local,
                                     OptionId::pattern_dilation,
                                     OptionId::pattern_stride,
                                     OptionId::pattern_block,
                                     OptionId::pattern_global,
                                     OptionId::pattern_random,
                                     OptionId::pattern_seed,
                                     OptionId::mask_after_softmax,
                                     OptionId::block_residual,
                                     OptionId::block_norm,
                                     OptionId::block_activation,
                                     OptionId::block_hidden,
                                     OptionId::block_dropout,
                                     OptionId::block_epsilon,
                                     OptionId::block_seed,
                                     OptionId::segment_by,
                                     OptionId::segment_tokens,
                                     OptionId::segment_seed};

/// Reads one file; each step leaves what it found in the members.
class Reader {
 public:
  Reader(const Json& root, const State& current, State& out) : root_(root), state_(out) {
    state_.theme = current.theme, state_.decimals = current.decimals, state_.seed = current.seed;
    state_.causal = false;  // a file that does not speak of a mask has none
  }

  Check read() {
    if (Check bad = checkNames()) return bad;
    if (Check bad = readOptions()) return bad;
    if (Check bad = root_.find("q") != nullptr ? readDirect() : readProjected()) return bad;
    if (Check bad = readScale()) return bad;
    if (Check bad = readScoreWeights()) return bad;
    if (Check bad = readParameters(root_, state_)) return bad;
    if (Check bad = readLabels("labels", state_.tokens, state_.labels)) return bad;
    if (state_.cross)
      if (Check bad = readLabels("key_labels", state_.keyTokens, state_.keyLabels)) return bad;
    const Json* mask = root_.find("mask");
    if (mask == nullptr) return {};
    return readMask(*mask, state_, state_.painted);
  }

 private:
  Check checkNames();
  Check readOptions();
  Check readOption(const std::string& name, const Json& json);
  Check readScale();
  Check readDirect();
  Check readPast(Block& k, Block& v);
  Check putPast(std::string_view name, std::string_view of, Block& block);
  Check readKeyLength();
  Check readProjected();
  Check readScoreWeights();
  Check readLabels(std::string_view name, int tokens, std::vector<std::string>& labels);
  Check readNamed(std::string_view name, std::size_t rank, Block& block);
  Check readHeads(TensorId id, int heads, Block& block);
  Check readMatrix(TensorId id);
  Check readWidths();
  std::string_view drivingField() const { return state_.mode == Mode::qkv ? "q.shape" : "x.shape"; }

  const Json& root_;
  State& state_;
  bool packed_ = false;
  int heads_ = 0, keyHeads_ = 0;  ///< from the options, 0 if not given
  const Json* scale_ = nullptr;
};

Check Reader::checkNames() {
  constexpr std::string_view extra[] = {"mask", "labels", "key_labels", "options"};
  for (const std::string& key : root_.keys) {
    // Results that were saved along are computed anew.
    if (attention::tensorNamed(key) || parameterNamed(key) || std::find(std::begin(extra), std::end(extra), key) != std::end(extra))
      continue;
    if (key == "past_k" || key == "past_v" || key == "key_lengths") {
      if (root_.find("q") != nullptr) continue;
      return refuse(ErrorKind::range, key, {"it goes with q, k and v, and there is no q; leave it out."});
    }
    return refuse(ErrorKind::type, inQuotes(key), {"the field is unknown; ", kWhole, "."});
  }
  if (root_.find("q") != nullptr)
    for (const std::string_view name : {"x", "w_q", "w_k", "w_v", "w_o", "x_kv"})
      if (root_.find(name) != nullptr)
        return refuse(ErrorKind::range, name,
                      {"q is given too; give either q, k and v, or x and its weights."});
  return {};
}

Check onlyWord(const std::string& name, const Json& json, std::string_view first, std::string_view second) {
  if (json.kind == Kind::text && (json.text == first || json.text == second)) return {};
  return refuse(json.kind == Kind::text ? ErrorKind::range : ErrorKind::type, name,
                {described(json), " is not known here; use ", inQuotes(first),
                 (second.empty() ? "" : " or " + inQuotes(second)), "."});
}

std::string fileOptionNames() {
  std::string out;
  for (const OptionId id : kFileOptions) out += std::string(option(id).name) + ", ";
  return out + "scale, heads, kv_heads or layout";
}

Check Reader::readOption(const std::string& name, const Json& json) {
  const std::string field = "options." + name;
  if (name == "scale") {
    scale_ = &json;
    return {};
  }
  if (name == "layout") {
    packed_ = json.text == "packed";
    return onlyWord(field, json, "split", "packed");
  }
  const Option* known = optionNamed(name);
  const bool isHeads = name == "heads" || name == "kv_heads";
  const bool isFileOption = known != nullptr && std::find(std::begin(kFileOptions), std::end(kFileOptions),
                                                          known->id) != std::end(kFileOptions);
  if (!isHeads && !isFileOption)
    return refuse(ErrorKind::range, field, {"the option is unknown; use ", fileOptionNames(), "."});
  Value value;
  if (Check bad = readValue(json, field, value)) return bad;
  if (Check bad = checkAlone(*known, value)) return bad;
  if (isHeads)
    (name == "heads" ? heads_ : keyHeads_) = static_cast<int>(json.number);
  else
    assign(state_, known->id, value);
  return {};
}

Check Reader::readOptions() {
  const Json* options = root_.find("options");
  if (options == nullptr) return {};
  if (options->kind != Kind::object)
    return refuse(ErrorKind::type, "options",
                  {described(*options), " is not an object; give {\"causal\": true} or the like."});
  for (std::size_t i = 0; i < options->keys.size(); ++i)
    if (Check bad = readOption(options->keys[i], options->items[i])) return bad;
  return {};
}

// A scale of 1 is no scale, and one of 1/√d_k the usual.
Check Reader::readScale() {
  if (scale_ == nullptr) return {};
  Value value;
  if (Check bad = readValue(*scale_, "options.scale", value)) return bad;
  if (value == Value(1.0)) value = false;
  const double usual = 1.0 / std::sqrt(static_cast<double>(state_.headDim));
  if (const double* number = std::get_if<double>(&value); number && std::abs(*number - usual) <= 1e-6 * usual)
    value = true;
  if (Check bad = checkAlone(option(OptionId::scale), value)) return bad;
  if (!isDotProduct(state_.score) && value != Value(false))
    return refuse(ErrorKind::range, "options.scale",
                  {"only dot products are scaled; set score to \"scaled\"."});
  if (std::holds_alternative<double>(value)) value = static_cast<double>(scale_->single);  // rounded once
  assign(state_, OptionId::scale, value);
  return {};
}

Check Reader::readNamed(std::string_view name, std::size_t rank, Block& block) {
  const Json* json = root_.find(name);
  if (json == nullptr) return refuse(ErrorKind::type, name, {"it is missing; ", kWhole, "."});
  if (Check bad = readBlock(*json, name, Kind::numbers, block)) return bad;
  std::vector<std::int64_t>& shape = block.shape;
  const std::string field = joined({name, ".shape"});
  if (shape.size() == rank + 1) {
    if (shape[0] != 1)
      return refuse(
          ErrorKind::range, field,
          {shapeText(shape), " is a batch of ", shape[0], "; save one entry of it, such as ", name, "[0]."});
    shape.erase(shape.begin());
  }
  const std::size_t least = rank == 3 ? 2 : rank;
  if (shape.size() < least || shape.size() > rank)
    return refuse(ErrorKind::range, field,
                  {shapeText(shape), " does not have ", (rank == 3 ? "2 to 4" : "2"), " sizes; use ",
                   (rank == 3 ? "[heads, tokens, columns]." : "[rows, columns].")});
  return {};
}

/// Brings [L, d] and packed [L, H·d] to [H, L, d]; `heads` is that of the option `says`, 0 if it is not
/// given.
Check splitHeads(Block& block, std::string_view field, bool packed, int heads, std::string_view says) {
  std::vector<std::int64_t>& shape = block.shape;
  if (!packed) {
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    if (heads == 0 || heads == shape[0]) return {};
    return refuse(ErrorKind::range, field,
                  {shapeText(shape), " has ", shape[0], " heads, but options.", says, " is ", heads,
                   "; make them agree, or set layout to \"packed\" to split columns."});
  }
  if (heads == 0)
    return refuse(ErrorKind::range, "options.heads",
                  {"it is missing; a packed layout needs the head count."});
  if (shape.size() == 3) {
    if (shape[0] != 1)
      return refuse(ErrorKind::range, field,
                    {shapeText(shape), " is a batch of ", shape[0], "; save one entry of it."});
    shape.erase(shape.begin());
  }
  if (shape[1] % heads != 0)
    return refuse(ErrorKind::range, field,
                  {heads, " heads do not divide ", shape[1], " columns; give another options.", says, "."});
  const auto rows = static_cast<std::size_t>(shape[0]), width = static_cast<std::size_t>(shape[1]);
  const std::size_t headDim = width / static_cast<std::size_t>(heads);
  std::vector<float> values;
  values.reserve(block.values.size());
  for (std::size_t h = 0; h < width; h += headDim)
    for (std::size_t r = 0; r < rows; ++r)
      values.insert(values.end(), block.values.begin() + static_cast<std::ptrdiff_t>(r * width + h),
                    block.values.begin() + static_cast<std::ptrdiff_t>(r * width + h + headDim));
  block.values = std::move(values);
  shape = {heads, shape[0], static_cast<std::int64_t>(headDim)};
  return {};
}

/// Reads q, k or v as [heads, tokens, columns].
Check Reader::readHeads(TensorId id, int heads, Block& block) {
  const std::string_view name = attention::name(id);
  if (Check bad = readNamed(name, 3, block)) return bad;
  const bool ofKeys = id != TensorId::q && keyHeads_ != 0;
  return splitHeads(block, joined({name, ".shape"}), packed_, heads, ofKeys ? "kv_heads" : "heads");
}

using Sizes = std::vector<std::int64_t>;  // heads, tokens, columns

Check checkKeys(const Sizes& q, const Sizes& k) {
  if (q[0] % k[0] != 0)
    return refuse(ErrorKind::range, "k.shape",
                  {k[0], " heads cannot be shared by the ", q[0], " of q; give a number that divides it."});
  if (k[2] == q[2]) return {};
  return refuse(ErrorKind::range, "k.shape",
                {k[2], " columns for ", q[2], " of q have no dot product; give as many."});
}

Check checkValues(const Sizes& k, const Sizes& v) {
  for (const auto& [axis, what] :
       {std::pair{std::size_t{0}, " heads for "}, {std::size_t{1}, " tokens for "}})
    if (v[axis] != k[axis])
      return refuse(ErrorKind::range, "v.shape", {v[axis], what, k[axis], " of k; give as many."});
  return {};
}

/// Puts the cached tokens of past_k before k, or of past_v before v.
Check Reader::putPast(std::string_view name, std::string_view of, Block& block) {
  Block past;
  if (Check bad = readNamed(name, 3, past)) return bad;
  if (past.shape.size() == 2) past.shape.insert(past.shape.begin(), 1);
  const Sizes &before = past.shape, &now = block.shape;
  if (before[0] != now[0] || before[2] != now[2])
    return refuse(ErrorKind::range, joined({name, ".shape"}),
                  {shapeText(before), " does not go before ", of, " with ", shapeText(now),
                   "; only the number of tokens may differ."});
  std::vector<float> values;
  values.reserve(past.values.size() + block.values.size());
  const auto append = [&](const Block& from, std::int64_t head) {
    const std::int64_t size = from.shape[1] * from.shape[2];
    values.insert(values.end(), from.values.begin() + head * size, from.values.begin() + (head + 1) * size);
  };
  for (std::int64_t h = 0; h < now[0]; ++h) append(past, h), append(block, h);
  block.values = std::move(values);
  block.shape[1] += before[1];
  return {};
}

Check Reader::readPast(Block& k, Block& v) {
  const bool hasKeys = root_.find("past_k") != nullptr, hasValues = root_.find("past_v") != nullptr;
  if (!hasKeys && !hasValues) return {};
  if (hasKeys != hasValues)
    return refuse(ErrorKind::type, hasKeys ? "past_v" : "past_k",
                  {"it is missing; past_k and past_v come together."});
  if (state_.causalOffset != 0)
    return refuse(ErrorKind::range, "options.causal_offset",
                  {"past_k says it already; leave one of the two out."});
  const std::int64_t fresh = k.shape[1];
  if (Check bad = putPast("past_k", "k", k)) return bad;
  if (Check bad = putPast("past_v", "v", v)) return bad;
  state_.causalOffset = static_cast<int>(k.shape[1] - fresh);
  return {};
}

/// Keys beyond the length are padding; of a causal layer the last query stands at the last key (ONNX
/// Attention, opset 24).
Check Reader::readKeyLength() {
  const Json* json = root_.find("key_lengths");
  if (json == nullptr) return {};
  Block lengths;
  if (Check bad = readBlock(*json, "key_lengths", Kind::numbers, lengths)) return bad;
  if (lengths.values.size() != 1)
    return refuse(
        ErrorKind::range, "key_lengths",
        {"there are ", lengths.values.size(), ", but the board holds one entry of a batch; give one."});
  const float length = lengths.values.front();
  const int least = state_.causal ? state_.tokens : 0;
  const bool isWhole = length == std::floor(length);
  if (!isWhole || length < static_cast<float>(least) || length > static_cast<float>(state_.keyTokens))
    return refuse(
        ErrorKind::range, "key_lengths[0]",
        {shortest(length), " does not fit; use a whole number from ", least, " to ", state_.keyTokens, "."});
  if (root_.find("past_k") != nullptr)
    return refuse(ErrorKind::range, "key_lengths", {"past_k is given too; leave one of the two out."});
  state_.keyLength = static_cast<int>(length);
  if (state_.causal) state_.causalOffset = state_.keyLength - state_.tokens;
  return {};
}

Check Reader::readDirect() {
  state_.mode = Mode::qkv;
  Block q, k, v;
  if (Check bad = readHeads(TensorId::q, heads_, q)) return bad;
  const int keyHeads = keyHeads_ != 0 ? keyHeads_ : packed_ ? heads_ : 0;
  if (Check bad = readHeads(TensorId::k, keyHeads, k)) return bad;
  if (Check bad = readHeads(TensorId::v, keyHeads, v)) return bad;
  if (Check bad = checkKeys(q.shape, k.shape)) return bad;
  if (Check bad = checkValues(k.shape, v.shape)) return bad;
  if (Check bad = readPast(k, v)) return bad;
  if (Check bad = checkValues(k.shape, v.shape)) return bad;
  state_.heads = static_cast<int>(q.shape[0]), state_.kvHeads = static_cast<int>(k.shape[0]);
  state_.tokens = static_cast<int>(q.shape[1]), state_.keyTokens = static_cast<int>(k.shape[1]);
  state_.headDim = static_cast<int>(q.shape[2]), state_.valueDim = static_cast<int>(v.shape[2]);
  state_.cross = state_.keyTokens != state_.tokens || root_.find("key_labels") != nullptr;
  state_.modelDim = 1;
  if (Check bad = checkSizes(drivingField(), state_)) return bad;
  state_.modelDim = defaultModelDim(state_);
  state_.q = tensorOf(q, state_.heads, state_.tokens, state_.headDim);
  state_.k = tensorOf(k, state_.kvHeads, state_.keyTokens, state_.headDim);
  state_.v = tensorOf(v, state_.kvHeads, state_.keyTokens, state_.valueDim);
  for (const TensorId id : inputIds())
    if (hasInput(state_, id) && input(state_, id)->empty()) fillSeeded(state_, id);
  return readKeyLength();
}

void setIdentity(Tensor& tensor) {
  for (int i = 0; i < std::min(tensor.rows(), tensor.cols()); ++i) tensor.at(0, i, i) = 1.0f;
}

/// What the widths of the weights say of heads and columns.
Check Reader::readWidths() {
  const auto columns = [&](std::string_view name) {
    Block block;
    return readNamed(name, 2, block) ? 0 : static_cast<int>(block.shape[1]);
  };
  state_.heads = heads_ == 0 ? 1 : heads_;
  const int queries = columns("w_q"), keys = columns("w_k"), values = columns("w_v");
  if (queries % state_.heads != 0)
    return refuse(ErrorKind::range, "w_q.shape",
                  {state_.heads, " heads do not divide ", queries, " columns; give another options.heads."});
  state_.headDim = std::max(1, queries / state_.heads);
  const bool isWhole = keys > 0 && keys % state_.headDim == 0;
  state_.kvHeads = keyHeads_ != 0 ? keyHeads_ : isWhole ? keys / state_.headDim : state_.heads;
  state_.valueDim = std::max(1, values / state_.kvHeads);
  return {};
}

Check Reader::readMatrix(TensorId id) {
  const std::string_view name = attention::name(id);
  Block block;
  if (Check bad = readNamed(name, 2, block)) return bad;
  const Axes want = axes(state_, id);
  const std::vector<std::int64_t> wanted{want.rows.count(), want.cols.count()};
  if (block.shape != wanted)
    return refuse(ErrorKind::range, joined({name, ".shape"}),
                  {shapeText(block.shape), " does not fit; it must be ", shapeText(wanted), "."});
  *input(state_, id) = tensorOf(block, 1, want.rows.count(), want.cols.count());
  return {};
}

Check Reader::readProjected() {
  state_.mode = Mode::x;
  Block x, other;
  if (Check bad = readNamed("x", 2, x)) return bad;
  state_.cross = root_.find("x_kv") != nullptr;
  if (state_.cross)
    if (Check bad = readNamed("x_kv", 2, other)) return bad;
  state_.tokens = static_cast<int>(x.shape[0]), state_.modelDim = static_cast<int>(x.shape[1]);
  state_.keyTokens = state_.cross ? static_cast<int>(other.shape[0]) : state_.tokens;
  if (Check bad = readWidths()) return bad;
  if (Check bad = checkSizes(drivingField(), state_)) return bad;
  for (const TensorId id : {TensorId::x, TensorId::w_q, TensorId::w_k, TensorId::w_v})
    if (Check bad = readMatrix(id)) return bad;
  if (state_.cross)
    if (Check bad = readMatrix(TensorId::x_kv)) return bad;
  if (root_.find("w_o") != nullptr) {
    if (Check bad = readMatrix(TensorId::w_o)) return bad;
  } else {
    const int width = state_.heads * state_.valueDim;
    if (width != state_.modelDim)
      return refuse(ErrorKind::range, "w_o",
                    {"it is missing, and only a square one can be left out; give it with the shape ",
                     shapeText({width, state_.modelDim}), "."});
    state_.wO = Tensor(1, width, width);
    setIdentity(state_.wO);
  }
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v}) fillSeeded(state_, id);
  return {};
}

/// w_a, u_a and v_a, each [heads, rows, columns]; what is not given starts as it does on the board.
Check Reader::readScoreWeights() {
  const bool areGiven = std::any_of(std::begin(kScoreWeights), std::end(kScoreWeights),
                                    [&](TensorId id) { return root_.find(attention::name(id)) != nullptr; });
  state_.scoreWeights = areGiven || takesScoreWeights(state_.score);
  if (!state_.scoreWeights) return {};
  if (Check bad = checkSizes(drivingField(), state_)) return bad;
  for (const TensorId id : kScoreWeights) {
    const std::string_view name = attention::name(id);
    fillFresh(state_, id);
    if (root_.find(name) == nullptr) continue;
    Block block;
    if (Check bad = readNamed(name, 3, block)) return bad;
    if (block.shape.size() == 2) block.shape.insert(block.shape.begin(), 1);
    Tensor& tensor = *input(state_, id);
    const std::vector<std::int64_t> wanted{tensor.heads(), tensor.rows(), tensor.cols()};
    if (block.shape != wanted)
      return refuse(ErrorKind::range, joined({name, ".shape"}),
                    {shapeText(block.shape), " does not fit; it must be ", shapeText(wanted), "."});
    tensor = tensorOf(block, tensor.heads(), tensor.rows(), tensor.cols());
  }
  return {};
}

Check Reader::readLabels(std::string_view name, int tokens, std::vector<std::string>& labels) {
  const Json* json = root_.find(name);
  if (json == nullptr) {
    labels = numberedLabels(1, tokens);
    return {};
  }
  Value value;
  if (Check bad = readValue(*json, name, value)) return bad;
  if (Check bad = checkAlone(*optionNamed(name), value)) return bad;
  labels = labelsOf(value);
  return {};
}

}  // namespace

Check readTensors(const Json& root, const State& current, State& out) {
  return Reader(root, current, out).read();
}

}  // namespace document
