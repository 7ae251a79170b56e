#include "document/text.h"

#include <algorithm>

#include "document/block.h"
#include "document/number.h"
#include "document/resize.h"
#include "document/sentence.h"
#include "document/tensors.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;
using Kind = Json::Kind;

constexpr int kVersion = 1;

/// Sizes of an input tensor in the text: matrices have two, Q, K and V three.
std::vector<std::int64_t> textShape(const State& state, TensorId id) {
  const Axes want = axes(state, id);
  if (id == TensorId::q || id == TensorId::k || id == TensorId::v)
    return {want.heads, want.rows.count(), want.cols.count()};
  return {want.rows.count(), want.cols.count()};
}

// ---- writing
// ------------------------------------------------------------------------------------------------------

std::string tensorText(const State& state, TensorId id) {
  std::string out = "{\"shape\": " + shapeText(textShape(state, id)) + ", \"data\": [";
  const char* separator = "";
  for (const float value : input(state, id)->values()) {
    out += separator;
    out += shortest(value);
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

std::string labelsText(const std::vector<std::string>& labels) {
  std::string out = "[";
  for (std::size_t i = 0; i < labels.size(); ++i) out += (i > 0 ? ", " : "") + jsonQuoted(labels[i]);
  return out + "]";
}

// ---- reading
// ------------------------------------------------------------------------------------------------------

std::vector<std::string_view> knownFields() {
  std::vector<std::string_view> names{"version", "preset", "mask"};
  for (const Option& o : options()) names.push_back(o.name);
  for (const TensorId id : inputIds()) names.push_back(attention::name(id));
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
    if (Check bad = fillTensors()) return bad;
    const Json* mask = root_.find("mask");
    if (mask == nullptr) return {};
    return readMask(*mask, state_.tokens, state_.painted);
  }

 private:
  Check readUnknown();
  Check readPreset();
  Check readOptions();
  Check readBlocks();
  Check readSizes();
  Check fillTensors();
  /// Null if the text does not have it.
  const Block* block(TensorId id) const {
    const Block& read = blocks_[static_cast<std::size_t>(id)];
    return read.shape.empty() ? nullptr : &read;
  }

  const JsonText& text_;
  const Json& root_;
  State& state_;
  Block blocks_[static_cast<std::size_t>(TensorId::v) + 1];
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

Check StateReader::readOptions() {
  for (const Option& o : options()) {
    const Json* json = root_.find(o.name);
    if (json == nullptr) continue;
    Value value;
    if (Check bad = readValue(*json, o.name, value)) return bad;
    if (Check bad = checkAlone(o, value)) return bad;
    assign(state_, o.id, value);
    if (o.id == OptionId::temperature)
      state_.temperature = json->single;  // rounded once, not by way of double
  }
  return {};
}

Check StateReader::readBlocks() {
  for (const TensorId id : inputIds()) {
    const std::string_view name = attention::name(id);
    const Json* json = root_.find(name);
    if (json == nullptr && !isEditable(state_, id)) continue;
    if (json == nullptr)
      return refuse(
          ErrorKind::type, name,
          {"it is missing; a state of mode ",
           state_.mode == Mode::x ? "\"x\" has x, w_q, w_k, w_v and w_o." : "\"qkv\" has q, k and v."});
    Block& read = blocks_[static_cast<std::size_t>(id)];
    if (Check bad = readBlock(*json, name, Kind::numbers, read)) return bad;
    const std::size_t rank = textShape(state_, id).size();
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
  if (state_.modelDim == 0) {
    if (Check bad = checkSizes("tokens", state_.tokens, state_.heads, state_.headDim, 1)) return bad;
    state_.modelDim = defaultModelDim(state_);
  }
  if (Check bad = checkSizes("tokens", state_.tokens, state_.heads, state_.headDim, state_.modelDim))
    return bad;
  if (root_.find("labels") == nullptr) state_.labels = numberedLabels(1, state_.tokens);
  return {};
}

Check StateReader::fillTensors() {
  for (const TensorId id : inputIds()) {
    const Block* read = block(id);
    const std::vector<std::int64_t> want = textShape(state_, id);
    if (read != nullptr && read->shape != want)
      return refuse(
          ErrorKind::range, joined({attention::name(id), ".shape"}),
          {shapeText(read->shape), " does not fit tokens ", state_.tokens, ", heads ", state_.heads, ", d_k ",
           state_.headDim, " and model_dim ", state_.modelDim, "; it must be ", shapeText(want), "."});
  }
  for (const TensorId id : inputIds()) {
    const Axes shape = axes(state_, id);
    if (const Block* read = block(id))
      *input(state_, id) = tensorOf(*read, shape.heads, shape.rows.count(), shape.cols.count());
    else
      fillSeeded(state_, id);
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
  for (const Option& o : options()) field(o.name, toJson(get(state, o.id)));
  for (const TensorId id : inputIds()) field(attention::name(id), tensorText(state, id));
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
  if (root.find("q") != nullptr || root.find("x") != nullptr) return readTensors(root, current, out);
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
