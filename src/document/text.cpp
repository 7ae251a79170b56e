#include "document/text.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/number.h"
#include "base/sentence.h"
#include "document/block.h"
#include "document/resize.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;
using Kind = Json::Kind;

constexpr int kVersion = 1;

bool hasHeads(TensorId id) {
  return id == TensorId::q || id == TensorId::k || id == TensorId::v || id == TensorId::w_a ||
         id == TensorId::u_a || id == TensorId::v_a || id == TensorId::bias;
}

/// Shape of an input tensor in the text: three sizes if it has heads, otherwise two.
std::vector<std::int64_t> textShape(const Settings& settings, TensorId id) {
  const Axes want = axes(settings, id);
  if (hasHeads(id)) return {want.heads, want.rows.count(), want.cols.count()};
  if (id == TensorId::sink) return {want.heads};
  if (isProjectionBias(id)) return {want.cols.count()};
  return {want.rows.count(), want.cols.count()};
}

// ---- writing

/// Passes text on in pieces.
class Writer {
 public:
  explicit Writer(const std::function<bool(std::string_view)>& put) : put_(put) {}
  void add(std::string_view text) {
    out_ += text;
    if (out_.size() >= kPiece) flush();
  }
  void field(std::string_view name) { add(",\n\""), add(name), add("\": "); }
  bool flush() {
    isWritten_ = isWritten_ && put_(out_);
    out_.clear();
    return isWritten_;
  }

 private:
  static constexpr std::size_t kPiece = 1 << 16;
  const std::function<bool(std::string_view)>& put_;
  std::string out_;
  bool isWritten_ = true;
};

void writeTensor(Writer& out, const std::vector<std::int64_t>& shape, const Tensor& tensor) {
  out.add(base::joined({"{\"shape\": ", base::shapeText(shape), ", \"data\": ["}));
  const char* separator = "";
  for (const float value : tensor.values()) {
    out.add(separator);
    out.add(std::isinf(value) ? "\"-inf\"" : base::shortest(value));
    separator = ",";
  }
  out.add("]}");
}

void writeMask(Writer& out, const PaintedMask& mask) {
  out.add(base::joined(
      {"{\"shape\": ", base::shapeText({mask.rows, mask.cols}), ", \"dtype\": \"bool\", \"data\": ["}));
  for (std::size_t i = 0; i < mask.blocked.size(); ++i) {
    if (i > 0) out.add(",");
    out.add(mask.blocked[i] != 0 ? "false" : "true");
  }
  out.add("]}");
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

void writeItems(Writer& out, const State& state) {
  std::string_view separator = "{\"labels\": ";
  out.add("[");
  for (std::size_t i = 0; i < state.items.size(); ++i) {
    const BatchItem& other = state.items[i];
    if (static_cast<int>(i) == state.batchItem) continue;
    out.add(std::exchange(separator, ",\n{\"labels\": "));
    out.add(labelsText(other.labels));
    if (state.cross) out.add(", \"key_labels\": "), out.add(labelsText(other.keyLabels));
    for (const TensorId id : itemInputIds())
      if (hasInput(state, id))
        out.field(attention::name(id)), writeTensor(out, textShape(state, id), *input(other, id));
    out.add("}");
  }
  out.add("]");
}

// ---- reading

std::vector<std::string_view> knownFields() {
  std::vector<std::string_view> names{"version", "preset", "mask", "pages"};
  for (const Option& o : options()) names.push_back(o.name);
  for (const TensorId id : inputIds()) names.push_back(attention::name(id));
  for (int i = 0; i < kParameterCount; ++i) names.push_back(name(static_cast<ParameterId>(i)));
  return names;
}

Result<void> checkVersion(const Json& version) {
  if (version.kind != Kind::number)
    return base::refuse(
        ErrorKind::type, "version",
        {version.kindName(), " is not a version number; this playground reads version ", kVersion, "."});
  if (version.number == kVersion) return {};
  if (version.number > kVersion)
    return base::refuse(
        ErrorKind::version, "version",
        {base::shortest(version.number), " is newer than this playground, which reads version ", kVersion,
         "; reload the page or update the program."});
  return base::refuse(
      ErrorKind::version, "version",
      {base::shortest(version.number), " does not exist; this playground reads version ", kVersion, "."});
}

/// Parses one state text; each step stores its results in members.
class StateReader {
 public:
  StateReader(const JsonText& text, const State& current, State& out)
      : text_(text),
        root_(text.root),
        state_(out) {
    state_.theme = current.theme, state_.decimals = current.decimals;
    state_.weightScale = WeightScale::linear;  // the meaning of texts that do not contain it
  }

  Result<void> read() {
    if (auto ok = checkVersion(*root_.find("version")); !ok) return ok;
    if (auto ok = readUnknown(); !ok) return ok;
    if (auto ok = readPreset(); !ok) return ok;
    if (auto ok = readOptions(); !ok) return ok;
    if (auto ok = readBlocks(); !ok) return ok;
    if (auto ok = readSizes(); !ok) return ok;
    if (auto ok = readPattern(); !ok) return ok;
    if (auto ok = fillTensors(); !ok) return ok;
    if (auto ok = readParameters(root_, state_); !ok) return ok;
    if (auto ok = readItems(); !ok) return ok;
    const Json* mask = root_.find("mask");
    if (mask == nullptr) return {};
    return readMask(*mask, state_, state_.painted);
  }

 private:
  Result<void> readUnknown();
  Result<void> readPreset();
  Result<void> readOptions();
  Result<void> readOption(const Option& option);
  Result<void> checkScale() const;
  Result<void> readBlocks();
  Result<void> readSizes();
  Result<void> readKeySizes();
  Result<void> readPattern();
  Result<void> fillTensors();
  Result<void> readItems();
  Result<void> readItem(const Json& json, const std::string& field, BatchItem& other) const;
  Result<void> readItemLabels(const Json& json, const std::string& field, int tokens,
                              std::vector<std::string>& labels) const;
  /// Null if the text does not contain the tensor.
  const Block* block(TensorId id) const {
    const Block& read = blocks_[static_cast<std::size_t>(id)];
    return read.shape.empty() ? nullptr : &read;
  }

  const JsonText& text_;
  const Json& root_;
  State& state_;
  Block blocks_[static_cast<std::size_t>(TensorId::sink) + 1];
};

Result<void> StateReader::readUnknown() {
  if (text_.unknownTooLong)
    return base::refuse(
        ErrorKind::memory, "text",
        {"fields that this version does not know take more than ", kMaxUnknownBytes, " bytes; remove them."});
  if (!text_.unknown.empty()) state_.unknownFields = "{" + text_.unknown + "}";
  return {};
}

Result<void> StateReader::readPreset() {
  const Json* preset = root_.find("preset");
  if (preset == nullptr) return {};
  if (preset->kind != Kind::text)
    return base::refuse(ErrorKind::type, "preset",
                        {preset->kindName(), " is not a text; give a name or \"\"."});
  state_.preset = preset->text;
  return checkLabel("preset", state_.preset);
}

Result<void> StateReader::readOption(const Option& o) {
  const Json* json = root_.find(o.name);
  if (json == nullptr) return {};
  Value value;
  if (auto ok = readValue(*json, o.name, value); !ok) return ok;
  if (auto ok = checkAlone(o, value); !ok) return ok;
  const bool isReal = o.type == OptionType::real || o.type == OptionType::scale;
  if (isReal && json->kind == Kind::number)
    value = static_cast<double>(json->single);  // rounded once, not through double
  assign(state_, o.id, value);
  return {};
}

Result<void> StateReader::readOptions() {
  for (const Option& o : options())
    if (o.id != OptionId::pattern)
      if (auto ok = readOption(o); !ok) return ok;
  return checkScale();
}

// A text may contain both, if they agree.
Result<void> StateReader::checkScale() const {
  const Json *scale = root_.find("scale"), *score = root_.find("score");
  if (scale == nullptr || score == nullptr) return {};
  const bool wantsScale = scale->kind == Kind::number || scale->boolean;
  const bool isScaled = state_.score == attention::Score::scaled;
  if (wantsScale == isScaled) return {};
  return base::refuse(ErrorKind::range, "scale",
                      {isScaled ? "false does not go with the score \"scaled\"; set score to \"dot\"."
                                : "only dot products are scaled; set score to \"scaled\"."});
}

Result<void> StateReader::readBlocks() {
  for (const TensorId id : inputIds()) {
    const std::string_view name = attention::name(id);
    const Json* json = root_.find(name);
    const bool mayLack = !isEditable(state_, id) || isProjectionBias(id) || id == TensorId::x_v ||
                         id == TensorId::sink || id == TensorId::w_a || id == TensorId::u_a ||
                         id == TensorId::v_a;
    if (json == nullptr && mayLack) continue;
    if (json == nullptr)
      return base::refuse(
          ErrorKind::type, name,
          {"it is missing; a state of mode ",
           state_.mode == Mode::x ? "\"x\" has x, w_q, w_k, w_v and w_o" : "\"qkv\" has q, k and v",
           id == TensorId::x_kv ? ", and x_kv where cross is true." : "."});
    Block& read = blocks_[static_cast<std::size_t>(id)];
    if (auto ok = readBlock(*json, name, Kind::numbers, read); !ok) return ok;
    const std::size_t rank = hasHeads(id) ? 3 : isProjectionBias(id) || id == TensorId::sink ? 1 : 2;
    if (read.shape.size() != rank)
      return base::refuse(
          ErrorKind::range, base::joined({name, ".shape"}),
          {base::shapeText(read.shape), " does not have ", rank, rank == 1 ? " size" : " sizes", "; use ",
           std::string_view(rank == 3              ? "[heads, tokens, d_k]."
                            : id == TensorId::sink ? "[heads]."
                            : rank == 1            ? "[columns]."
                                                   : "[rows, columns].")});
  }
  return {};
}

// Sizes that the options do not give are taken from the tensors.
Result<void> StateReader::readSizes() {
  const auto fill = [](int& size, std::int64_t value) {
    if (size == 0) size = static_cast<int>(value);
  };
  if (const Block* q = block(TensorId::q)) {
    const Block* k = takesScoreWeights(state_.score) ? block(TensorId::k) : nullptr;
    if (k) fill(state_.headDim, k->shape[2]);
    fill(state_.heads, q->shape[0]), fill(state_.tokens, q->shape[1]), fill(state_.headDim, q->shape[2]);
    if (k && q->shape[2] != state_.headDim) fill(state_.queryDim, q->shape[2]);
  }
  if (const Block* x = block(TensorId::x))
    fill(state_.tokens, x->shape[0]), fill(state_.modelDim, x->shape[1]);
  fill(state_.heads, 1);
  if (const Block* w = block(TensorId::w_q)) {
    fill(state_.modelDim, w->shape[0]);
    if (state_.heads > 0) fill(state_.headDim, w->shape[1] / state_.heads);
  }
  if (auto ok = readKeySizes(); !ok) return ok;
  if (const Block* w = block(TensorId::w_o); w && state_.outputDim == 0 && w->shape[1] != state_.modelDim &&
                                             w->shape[1] >= 1 && w->shape[1] <= attention::Limits::modelDim)
    state_.outputDim = static_cast<int>(w->shape[1]);
  if (state_.modelDim == 0) {
    state_.modelDim = 1;
    if (auto ok = checkSizes("tokens", state_); !ok) return ok;
    state_.modelDim = defaultModelDim(state_);
  }
  if (auto ok = checkSizes("tokens", state_); !ok) return ok;
  if (root_.find("labels") == nullptr) state_.labels = numberedLabels(1, state_.tokens);
  if (state_.cross && root_.find("key_labels") == nullptr)
    state_.keyLabels = numberedLabels(1, state_.keyTokens);
  return {};
}

// Sizes of keys and values that are not given equal those of queries. Only k and x_kv determine the number of
// tokens of the other sequence.
Result<void> StateReader::readKeySizes() {
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
    return base::refuse(ErrorKind::range, root_.find("key_labels") != nullptr ? "key_labels" : "key_tokens",
                        {"the keys are the tokens here; set cross to true first."});
  state_.scoreWeights = takesScoreWeights(state_.score) || block(TensorId::w_a) != nullptr ||
                        block(TensorId::u_a) != nullptr || block(TensorId::v_a) != nullptr;
  for (const TensorId id : inputIds())
    state_.projectionBias = state_.projectionBias || (isProjectionBias(id) && block(id) != nullptr);
  if (const Block* w = block(TensorId::w_a); w && state_.score == attention::Score::additive &&
                                             state_.additiveDim == 0 && w->shape[1] != state_.headDim &&
                                             w->shape[1] <= attention::Limits::headDim)
    state_.additiveDim = static_cast<int>(w->shape[1]);
  if (block(TensorId::x_v) != nullptr) state_.separateValues = true;
  if (block(TensorId::sink) != nullptr) state_.softmaxSink = true;
  if (const Block* bias = block(TensorId::bias))
    state_.biasKind = bias->shape[0] == 1 ? Bias::shared : Bias::perHead;
  return {};
}

// A pattern name determines the parts that the text does not give.
Result<void> StateReader::readPattern() {
  if (auto ok = readOption(option(OptionId::pattern)); !ok) return ok;
  if (root_.find("pattern") == nullptr) return {};
  for (const OptionId id : {OptionId::pattern_local, OptionId::pattern_dilation, OptionId::pattern_stride,
                            OptionId::pattern_block, OptionId::pattern_global, OptionId::pattern_random})
    if (auto ok = readOption(option(id)); !ok) return ok;
  return {};
}

Result<void> StateReader::fillTensors() {
  for (const TensorId id : inputIds()) {
    const Block* read = block(id);
    if (read == nullptr) continue;
    if (!hasInput(state_, id))
      return base::refuse(ErrorKind::range, attention::name(id),
                          {"only cross-attention has it; set cross to true."});
    const std::vector<std::int64_t> want = textShape(state_, id);
    if (read->shape != want)
      return base::refuse(ErrorKind::range, base::joined({attention::name(id), ".shape"}),
                          {base::shapeText(read->shape), " does not fit tokens ", state_.tokens, ", heads ",
                           state_.heads, ", d_k ", state_.headDim, " and model_dim ", state_.modelDim,
                           "; it must be ", base::shapeText(want), "."});
  }
  for (const TensorId id : inputIds()) {
    const Axes shape = axes(state_, id);
    if (const Block* read = block(id))
      *input(state_, id) = tensorOf(*read, shape.heads, shape.rows.count(), shape.cols.count());
    else if (hasInput(state_, id)) fillFresh(state_, id);
  }
  return {};
}

Result<void> StateReader::readItems() {
  const Json* json = root_.find("pages");
  const auto others = static_cast<std::size_t>(state_.batch - 1);
  if (json == nullptr && others == 0) return {};
  if (state_.batchItem >= state_.batch)
    return base::refuse(ErrorKind::range, "batch_item",
                        {state_.batchItem, " is no item of the batch; use 0 to ", state_.batch - 1, "."});
  if (json == nullptr || json->kind != Kind::list || json->items.size() != others)
    return base::refuse(
        ErrorKind::range, "pages",
        {"a batch of ", state_.batch, " needs a list of the ", others, " items that are not on the board."});
  state_.items.resize(others + 1);
  for (std::size_t i = 0; i < others; ++i) {
    const std::size_t item = static_cast<int>(i) < state_.batchItem ? i : i + 1;
    const std::string field = base::joined({"pages[", i, "]"});
    if (auto ok = readItem(json->items[i], field, state_.items[item]); !ok) return ok;
  }
  return {};
}

Result<void> StateReader::readItemLabels(const Json& json, const std::string& field, int tokens,
                                         std::vector<std::string>& labels) const {
  Value value;
  if (auto ok = readValue(json, field, value); !ok) return ok;
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  if (list == nullptr || list->size() != static_cast<std::size_t>(tokens))
    return base::refuse(ErrorKind::range, field, {"it must be a list of ", tokens, " texts."});
  labels = *list;
  return {};
}

Result<void> StateReader::readItem(const Json& json, const std::string& field, BatchItem& other) const {
  if (json.kind != Kind::object)
    return base::refuse(
        ErrorKind::type, field,
        {json.kindName(), " is no item of a batch; give ", std::string_view("{\"labels\", \"q\", …}.")});
  const Json *labels = json.find("labels"), *keyLabels = json.find("key_labels");
  other.labels = state_.labels, other.keyLabels = state_.keyLabels;
  if (labels != nullptr)
    if (auto ok = readItemLabels(*labels, field + ".labels", state_.tokens, other.labels); !ok) return ok;
  if (keyLabels != nullptr && state_.cross)
    if (auto ok = readItemLabels(*keyLabels, field + ".key_labels", state_.keyTokens, other.keyLabels); !ok)
      return ok;
  for (const TensorId id : itemInputIds()) {
    if (!hasInput(state_, id)) continue;
    const std::string name = base::joined({field, ".", attention::name(id)});
    const Json* tensor = json.find(attention::name(id));
    if (tensor == nullptr)
      return base::refuse(
          ErrorKind::type, name,
          {"it is missing; give one of the shape ", base::shapeText(textShape(state_, id)), "."});
    Block block;
    if (auto ok = readBlock(*tensor, name, Kind::numbers, block); !ok) return ok;
    if (block.shape != textShape(state_, id))
      return base::refuse(ErrorKind::range, name + ".shape",
                          {base::shapeText(block.shape), " does not fit; it must be ",
                           base::shapeText(textShape(state_, id)), "."});
    const Axes shape = axes(state_, id);
    *input(other, id) = tensorOf(block, shape.heads, shape.rows.count(), shape.cols.count());
  }
  return {};
}

}  // namespace

bool writeText(const State& state, const std::function<bool(std::string_view)>& put) {
  Writer out(put);
  out.add(base::joined({"{\"version\": ", kVersion, ",\n\"preset\": ", jsonQuoted(state.preset)}));
  for (const Option& o : options())
    if (o.stored == Stored::always || (o.stored == Stored::ifSet && !isDefault(state, o.id)))
      out.field(o.name), out.add(toJson(get(state, o.id)));
  for (const TensorId id : inputIds())
    if (hasInput(state, id))
      out.field(attention::name(id)), writeTensor(out, textShape(state, id), *input(state, id));
  for (int i = 0; i < kParameterCount; ++i) {
    const auto id = static_cast<ParameterId>(i);
    const Tensor& own = state.parameters[id];
    if (!own.empty()) out.field(name(id)), writeTensor(out, {own.rows(), own.cols()}, own);
  }
  if (!state.items.empty()) out.field("pages"), writeItems(out, state);
  if (!state.painted.empty()) out.field("mask"), writeMask(out, state.painted);
  if (state.unknownFields.size() > 2)
    out.add(",\n"), out.add(std::string_view(state.unknownFields).substr(1, state.unknownFields.size() - 2));
  out.add("}\n");
  return out.flush();
}

std::string toText(const State& state) {
  std::string out;
  writeText(state, [&out](std::string_view piece) { return out += piece, true; });
  return out;
}

namespace {

Result<void> readText(std::string_view text, const State& current, State& out) {
  JsonText parsed;
  if (auto ok = parseJson(text, knownFields(), parsed); !ok) return ok;
  const Json& root = parsed.root;
  if (root.kind != Kind::object)
    return base::refuse(
        ErrorKind::type, "text",
        {root.kindName(),
         " is neither a state nor a tensors file; give an object with version, or with q, k and v."});
  if (root.find("version") != nullptr) return StateReader(parsed, current, out).read();
  return base::refuse(ErrorKind::type, "version",
                      {"it is missing; a state has \"version\": 1, a tensors file q, k and v."});
}

}  // namespace

Result<State> fromText(std::string_view text, const State& current) {
  State state;
  auto ok = readText(text, current, state);
  if (ok) ok = check(state);
  if (!ok) return ok;
  return state;
}

std::string toJson(const Value& value) {
  if (const bool* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  if (const double* number = std::get_if<double>(&value)) return base::shortest(*number);
  if (const std::string* text = std::get_if<std::string>(&value)) return jsonQuoted(*text);
  if (const auto* numbers = std::get_if<std::vector<int>>(&value)) return numbersText(*numbers);
  return labelsText(*std::get_if<std::vector<std::string>>(&value));
}

Result<Value> valueFromJson(std::string_view json, std::string_view field) {
  JsonText parsed;
  Value value;
  auto ok = parseJson(json, {}, parsed);
  if (ok) ok = readValue(parsed.root, field, value);
  else if (ok.error().field == "text") ok.error().field = field;
  if (!ok) return ok;
  return value;
}

}  // namespace document
