#include "document/text.h"

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

constexpr int kVersion = 1;

bool hasHeads(TensorId id) {
  return id == TensorId::q || id == TensorId::k || id == TensorId::v || id == TensorId::w_a ||
         id == TensorId::u_a || id == TensorId::v_a || id == TensorId::bias;
}

/// Sizes of an input tensor in the text: matrices have two, those with heads three.
std::vector<std::int64_t> textShape(const Settings& settings, TensorId id) {
  const Axes want = axes(settings, id);
  if (hasHeads(id)) return {want.heads, want.rows.count(), want.cols.count()};
  return {want.rows.count(), want.cols.count()};
}

// ---- writing
// ------------------------------------------------------------------------------------------------------

std::string tensorText(const std::vector<std::int64_t>& shape, const Tensor& tensor) {
  std::string out = "{\"shape\": " + shapeText(shape) + ", \"data\": [";
  const char* separator = "";
  for (const float value : tensor.values()) {
    out += separator;
    out += std::isinf(value) ? "\"-inf\"" : shortest(value);
    separator = ",";
  }
  return out + "]}";
}

std::string maskText(const PaintedMask& mask) {
  std::string out = "{\"shape\": " + shapeText({mask.rows, mask.cols}) + ", \"dtype\": \"bool\", \"data\": [";
  for (std::size_t i = 0; i < mask.blocked.size(); ++i) {
    if (i > 0) out += ',';
    out += mask.blocked[i] != 0 ? "false" : "true";
  }
  return out + "]}";
}

std::string numbersText(const std::vector<int>& numbers) {
  std::string out = "[";
  for (std::size_t i = 0; i < numbers.size(); ++i) out += (i > 0 ? ", " : "") + std::to_string(numbers[i]);
  return out + "]";
}

std::string labelsText(const std::vector<std::string>& labels) {
  std::string out = "[";
  for (std::size_t i = 0; i < labels.size(); ++i) out += (i > 0 ? ", " : "") + jsonQuoted(labels[i]);
  return out + "]";
}

std::string pagesText(const State& state) {
  std::string out = "[";
  for (std::size_t i = 0; i < state.pages.size(); ++i) {
    const Page& page = state.pages[i];
    if (static_cast<int>(i) == state.batchItem) continue;
    out += (out.size() > 1 ? ",\n{\"labels\": " : "{\"labels\": ") + labelsText(page.labels);
    if (state.cross) out += ", \"key_labels\": " + labelsText(page.keyLabels);
    for (const TensorId id : itemInputIds())
      if (hasInput(state, id))
        out += joined({",\n\"", attention::name(id), "\": ", tensorText(textShape(state, id), *input(page, id))});
    out += "}";
  }
  return out + "]";
}

// ---- reading
// ------------------------------------------------------------------------------------------------------

std::vector<std::string_view> knownFields() {
  std::vector<std::string_view> names{"version", "preset", "mask", "pages"};
  for (const Option& o : options()) names.push_back(o.name);
  for (const TensorId id : inputIds()) names.push_back(attention::name(id));
  for (int i = 0; i < kParameterCount; ++i) names.push_back(name(static_cast<ParameterId>(i)));
  return names;
}

Check checkVersion(const Json& version) {
  const std::string reads = joined({"this playground reads version ", kVersion});
  if (version.kind != Kind::number)
    return refuse(ErrorKind::type, "version", {version.kindName(), " is not a version number; ", reads, "."});
  if (version.number == kVersion) return {};
  if (version.number > kVersion)
    return refuse(ErrorKind::version, "version",
                  {shortest(version.number), " is newer than this playground, which reads version ", kVersion,
                   "; reload the page or update the program."});
  return refuse(ErrorKind::version, "version", {shortest(version.number), " does not exist; ", reads, "."});
}

/// Reads one state text; each step leaves what it found in the members.
class StateReader {
 public:
  StateReader(const JsonText& text, const State& current, State& out)
      : text_(text), root_(text.root), state_(out) {
    state_.theme = current.theme, state_.decimals = current.decimals;
  }

  Check read() {
    if (Check bad = checkVersion(*root_.find("version"))) return bad;
    if (Check bad = readUnknown()) return bad;
    if (Check bad = readPreset()) return bad;
    if (Check bad = readOptions()) return bad;
    if (Check bad = readBlocks()) return bad;
    if (Check bad = readSizes()) return bad;
    if (Check bad = readPattern()) return bad;
    if (Check bad = fillTensors()) return bad;
    if (Check bad = readParameters(root_, state_)) return bad;
    if (Check bad = readPages()) return bad;
    const Json* mask = root_.find("mask");
    if (mask == nullptr) return {};
    return readMask(*mask, state_, state_.painted);
  }

 private:
  Check readUnknown();
  Check readPreset();
  Check readOptions();
  Check readOption(const Option& option);
  Check checkScale() const;
  Check readBlocks();
  Check readSizes();
  Check readKeySizes();
  Check readPattern();
  Check fillTensors();
  Check readPages();
  Check readPage(const Json& json, const std::string& field, Page& page) const;
  Check readPageLabels(const Json& json, const std::string& field, int tokens,
                       std::vector<std::string>& labels) const;
  /// Null if the text does not have it.
  const Block* block(TensorId id) const {
    const Block& read = blocks_[static_cast<std::size_t>(id)];
    return read.shape.empty() ? nullptr : &read;
  }

  const JsonText& text_;
  const Json& root_;
  State& state_;
  Block blocks_[static_cast<std::size_t>(TensorId::bias) + 1];
};

Check StateReader::readUnknown() {
  if (text_.unknownTooLong)
    return refuse(
        ErrorKind::memory, "text",
        {"fields that this version does not know take more than ", kMaxUnknownBytes, " bytes; remove them."});
  if (!text_.unknown.empty()) state_.unknownFields = "{" + text_.unknown + "}";
  return {};
}

Check StateReader::readPreset() {
  const Json* preset = root_.find("preset");
  if (preset == nullptr) return {};
  if (preset->kind != Kind::text)
    return refuse(ErrorKind::type, "preset", {preset->kindName(), " is not a text; give a name or \"\"."});
  state_.preset = preset->text;
  return checkLabel("preset", state_.preset);
}

Check StateReader::readOption(const Option& o) {
  const Json* json = root_.find(o.name);
  if (json == nullptr) return {};
  Value value;
  if (Check bad = readValue(*json, o.name, value)) return bad;
  if (Check bad = checkAlone(o, value)) return bad;
  const bool isReal = o.type == OptionType::real || o.type == OptionType::scale;
  if (isReal && json->kind == Kind::number)
    value = static_cast<double>(json->single);  // rounded once, not by way of double
  assign(state_, o.id, value);
  return {};
}

Check StateReader::readOptions() {
  for (const Option& o : options())
    if (o.id != OptionId::pattern)
      if (Check bad = readOption(o)) return bad;
  return checkScale();
}

// A text may say both, but not two things.
Check StateReader::checkScale() const {
  const Json *scale = root_.find("scale"), *score = root_.find("score");
  if (scale == nullptr || score == nullptr) return {};
  const bool wantsScale = scale->kind == Kind::number || scale->boolean;
  const bool isScaled = state_.score == attention::Score::scaled;
  if (wantsScale == isScaled) return {};
  return refuse(ErrorKind::range, "scale",
                {isScaled ? "false does not go with the score \"scaled\"; set score to \"dot\"."
                          : "only dot products are scaled; set score to \"scaled\"."});
}

Check StateReader::readBlocks() {
  for (const TensorId id : inputIds()) {
    const std::string_view name = attention::name(id);
    const Json* json = root_.find(name);
    const bool mayLack =
        !isEditable(state_, id) || id == TensorId::w_a || id == TensorId::u_a || id == TensorId::v_a;
    if (json == nullptr && mayLack) continue;
    if (json == nullptr)
      return refuse(ErrorKind::type, name,
                    {"it is missing; a state of mode ",
                     state_.mode == Mode::x ? "\"x\" has x, w_q, w_k, w_v and w_o" : "\"qkv\" has q, k and v",
                     id == TensorId::x_kv ? ", and x_kv where cross is true." : "."});
    Block& read = blocks_[static_cast<std::size_t>(id)];
    if (Check bad = readBlock(*json, name, Kind::numbers, read)) return bad;
    const std::size_t rank = hasHeads(id) ? 3 : 2;
    if (read.shape.size() != rank)
      return refuse(ErrorKind::range, joined({name, ".shape"}),
                    {shapeText(read.shape), " does not have ", rank, " sizes; use ",
                     rank == 3 ? "[heads, tokens, d_k]." : "[rows, columns]."});
  }
  return {};
}

// What the options do not say, the tensors do.
Check StateReader::readSizes() {
  const auto fill = [](int& size, std::int64_t value) {
    if (size == 0) size = static_cast<int>(value);
  };
  if (const Block* q = block(TensorId::q)) {
    fill(state_.heads, q->shape[0]), fill(state_.tokens, q->shape[1]), fill(state_.headDim, q->shape[2]);
  }
  if (const Block* x = block(TensorId::x))
    fill(state_.tokens, x->shape[0]), fill(state_.modelDim, x->shape[1]);
  fill(state_.heads, 1);
  if (const Block* w = block(TensorId::w_q)) {
    fill(state_.modelDim, w->shape[0]);
    if (state_.heads > 0) fill(state_.headDim, w->shape[1] / state_.heads);
  }
  if (Check bad = readKeySizes()) return bad;
  if (state_.modelDim == 0) {
    state_.modelDim = 1;
    if (Check bad = checkSizes("tokens", state_)) return bad;
    state_.modelDim = defaultModelDim(state_);
  }
  if (Check bad = checkSizes("tokens", state_)) return bad;
  if (root_.find("labels") == nullptr) state_.labels = numberedLabels(1, state_.tokens);
  if (state_.cross && root_.find("key_labels") == nullptr)
    state_.keyLabels = numberedLabels(1, state_.keyTokens);
  return {};
}

// What is not said of keys and values is as it is of queries. Only k and x_kv know how many other tokens
// there are.
Check StateReader::readKeySizes() {
  if (state_.kvHeads == 0) state_.kvHeads = state_.heads;
  if (state_.valueDim == 0) state_.valueDim = state_.headDim;
  if (state_.cross) {
    if (const Block* k = block(TensorId::k); k != nullptr && state_.keyTokens == 0)
      state_.keyTokens = static_cast<int>(k->shape[1]);
    if (const Block* x = block(TensorId::x_kv); x != nullptr && state_.keyTokens == 0)
      state_.keyTokens = static_cast<int>(x->shape[0]);
  }
  if (state_.keyTokens == 0) state_.keyTokens = state_.tokens;
  const bool speaksOfKeys = state_.keyTokens != state_.tokens || root_.find("key_labels") != nullptr;
  if (!state_.cross && speaksOfKeys)
    return refuse(ErrorKind::range, root_.find("key_labels") != nullptr ? "key_labels" : "key_tokens",
                  {"the keys are the tokens here; set cross to true first."});
  state_.scoreWeights = takesScoreWeights(state_.score) || block(TensorId::w_a) != nullptr ||
                        block(TensorId::u_a) != nullptr || block(TensorId::v_a) != nullptr;
  if (const Block* bias = block(TensorId::bias))
    state_.biasKind = bias->shape[0] == 1 ? Bias::shared : Bias::perHead;
  return {};
}

// A name gives the parts that the text does not.
Check StateReader::readPattern() {
  if (Check bad = readOption(option(OptionId::pattern))) return bad;
  if (root_.find("pattern") == nullptr) return {};
  for (const OptionId id : {OptionId::pattern_local, OptionId::pattern_dilation, OptionId::pattern_stride,
                            OptionId::pattern_block, OptionId::pattern_global, OptionId::pattern_random})
    if (Check bad = readOption(option(id))) return bad;
  return {};
}

Check StateReader::fillTensors() {
  for (const TensorId id : inputIds()) {
    const Block* read = block(id);
    if (read == nullptr) continue;
    if (!hasInput(state_, id))
      return refuse(ErrorKind::range, attention::name(id),
                    {"only cross-attention has it; set cross to true."});
    const std::vector<std::int64_t> want = textShape(state_, id);
    if (read->shape != want)
      return refuse(
          ErrorKind::range, joined({attention::name(id), ".shape"}),
          {shapeText(read->shape), " does not fit tokens ", state_.tokens, ", heads ", state_.heads, ", d_k ",
           state_.headDim, " and model_dim ", state_.modelDim, "; it must be ", shapeText(want), "."});
  }
  for (const TensorId id : inputIds()) {
    const Axes shape = axes(state_, id);
    if (const Block* read = block(id))
      *input(state_, id) = tensorOf(*read, shape.heads, shape.rows.count(), shape.cols.count());
    else if (hasInput(state_, id))
      fillFresh(state_, id);
  }
  return {};
}

Check StateReader::readPages() {
  const Json* json = root_.find("pages");
  const auto others = static_cast<std::size_t>(state_.batch - 1);
  if (json == nullptr && others == 0) return {};
  if (state_.batchItem >= state_.batch)
    return refuse(ErrorKind::range, "batch_item",
                  {state_.batchItem, " is no item of the batch; use 0 to ", state_.batch - 1, "."});
  if (json == nullptr || json->kind != Kind::list || json->items.size() != others)
    return refuse(
        ErrorKind::range, "pages",
        {"a batch of ", state_.batch, " needs a list of the ", others, " items that are not on the board."});
  state_.pages.resize(others + 1);
  for (std::size_t i = 0; i < others; ++i) {
    const std::size_t item = static_cast<int>(i) < state_.batchItem ? i : i + 1;
    const std::string field = joined({"pages[", i, "]"});
    if (Check bad = readPage(json->items[i], field, state_.pages[item])) return bad;
  }
  return {};
}

Check StateReader::readPageLabels(const Json& json, const std::string& field, int tokens,
                                  std::vector<std::string>& labels) const {
  Value value;
  if (Check bad = readValue(json, field, value)) return bad;
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr || list->size() != static_cast<std::size_t>(tokens))
    return refuse(ErrorKind::range, field, {"it must be a list of ", tokens, " texts."});
  labels = *list;
  return {};
}

Check StateReader::readPage(const Json& json, const std::string& field, Page& page) const {
  if (json.kind != Kind::object)
    return refuse(ErrorKind::type, field,
                  {json.kindName(), " is no item of a batch; give {\"labels\", \"q\", …}."});
  const Json *labels = json.find("labels"), *keyLabels = json.find("key_labels");
  page.labels = state_.labels, page.keyLabels = state_.keyLabels;
  if (labels != nullptr)
    if (Check bad = readPageLabels(*labels, field + ".labels", state_.tokens, page.labels)) return bad;
  if (keyLabels != nullptr && state_.cross)
    if (Check bad = readPageLabels(*keyLabels, field + ".key_labels", state_.keyTokens, page.keyLabels))
      return bad;
  for (const TensorId id : itemInputIds()) {
    if (!hasInput(state_, id)) continue;
    const std::string name = joined({field, ".", attention::name(id)});
    const Json* tensor = json.find(attention::name(id));
    if (tensor == nullptr)
      return refuse(ErrorKind::type, name,
                    {"it is missing; give one of the shape ", shapeText(textShape(state_, id)), "."});
    Block block;
    if (Check bad = readBlock(*tensor, name, Kind::numbers, block)) return bad;
    if (block.shape != textShape(state_, id))
      return refuse(
          ErrorKind::range, name + ".shape",
          {shapeText(block.shape), " does not fit; it must be ", shapeText(textShape(state_, id)), "."});
    const Axes shape = axes(state_, id);
    *input(page, id) = tensorOf(block, shape.heads, shape.rows.count(), shape.cols.count());
  }
  return {};
}

}  // namespace

std::string toText(const State& state) {
  std::string out =
      "{\"version\": " + std::to_string(kVersion) + ",\n\"preset\": " + jsonQuoted(state.preset);
  const auto field = [&](std::string_view name, const std::string& value) {
    out += ",\n\"";
    out += name;
    out += "\": ";
    out += value;
  };
  for (const Option& o : options())
    if (o.stored == Stored::always || (o.stored == Stored::ifSet && !isDefault(state, o.id)))
      field(o.name, toJson(get(state, o.id)));
  for (const TensorId id : inputIds())
    if (hasInput(state, id)) field(attention::name(id), tensorText(textShape(state, id), *input(state, id)));
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    const Tensor& own = state.parameters[id];
    if (!own.empty()) field(name(id), tensorText({own.rows(), own.cols()}, own));
  }
  if (!state.pages.empty()) field("pages", pagesText(state));
  if (!state.painted.empty()) field("mask", maskText(state.painted));
  if (state.unknownFields.size() > 2)
    out += ",\n" + state.unknownFields.substr(1, state.unknownFields.size() - 2);
  return out + "}\n";
}

namespace {

Check readText(std::string_view text, const State& current, State& out) {
  JsonText parsed;
  if (Check bad = parseJson(text, knownFields(), parsed)) return bad;
  const Json& root = parsed.root;
  if (root.kind != Kind::object)
    return refuse(
        ErrorKind::type, "text",
        {root.kindName(),
         " is neither a state nor a tensors file; give an object with version, or with q, k and v."});
  if (root.find("version") != nullptr) return StateReader(parsed, current, out).read();
  return refuse(ErrorKind::type, "version",
                {"it is missing; a state has \"version\": 1, a tensors file q, k and v."});
}

}  // namespace

Result<State> fromText(std::string_view text, const State& current) {
  State state;
  Check bad = readText(text, current, state);
  if (!bad) bad = check(state);
  if (bad) return std::move(*bad);
  return state;
}

std::string toJson(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return shortest(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return jsonQuoted(*text);
  if (const auto* numbers = std::get_if<std::vector<int>>(&value)) return numbersText(*numbers);
  return labelsText(*std::get_if<std::vector<std::string>>(&value));
}

Result<Value> valueFromJson(std::string_view json, std::string_view field) {
  JsonText parsed;
  Value value;
  Check bad = parseJson(json, {}, parsed);
  if (bad && bad->field == "text") bad = refuse(bad->kind, field, {std::string_view(bad->message).substr(6)});
  if (!bad) bad = readValue(parsed.root, field, value);
  if (bad) return std::move(*bad);
  return value;
}

}  // namespace document
