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
    if (Check bad = readLabels()) return bad;
    const Json* mask = root_.find("mask");
    if (mask == nullptr) return {};
    return readMask(*mask, state_.tokens, state_.painted);
  }

 private:
  Check checkNames();
  Check readOptions();
  Check readOption(const std::string& name, const Json& json);
  Check readScale();
  Check readDirect();
  Check readProjected();
  Check readLabels();
  Check readNamed(std::string_view name, std::size_t rank, Block& block);
  Check setSizes(std::int64_t tokens, std::int64_t heads, std::int64_t headDim, std::int64_t modelDim);
  std::string_view drivingField() const { return state_.mode == Mode::qkv ? "q.shape" : "x.shape"; }

  const Json& root_;
  State& state_;
  bool packed_ = false;
  int heads_ = 0;  ///< from the options, 0 if not given
  const Json* scale_ = nullptr;
  const Json* keyHeads_ = nullptr;
};

Check Reader::checkNames() {
  constexpr std::string_view extra[] = {"mask", "labels", "options"};
  for (const std::string& key : root_.keys) {
    // Results that were saved along are computed anew.
    if (attention::tensorNamed(key) || std::find(std::begin(extra), std::end(extra), key) != std::end(extra))
      continue;
    if (key == "past_k" || key == "past_v" || key == "key_lengths")
      return refuse(ErrorKind::range, key, {"the board does not take it yet; leave it out."});
    return refuse(ErrorKind::type, inQuotes(key), {"the field is unknown; ", kWhole, "."});
  }
  if (root_.find("q") != nullptr)
    for (const std::string_view name : {"x", "w_q", "w_k", "w_v", "w_o"})
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

Check onlyNumber(const std::string& name, const Json& json, double value) {
  if (json.kind == Kind::number && json.number == value) return {};
  return refuse(
      json.kind == Kind::number ? ErrorKind::range : ErrorKind::type, name,
      {described(json), " is not supported on the board yet; use ", shortest(value), " or leave it out."});
}

Check Reader::readOption(const std::string& name, const Json& json) {
  const std::string field = "options." + name;
  if (name == "causal" || name == "temperature" || name == "heads") {
    const Option& known = *optionNamed(name);
    Value value;
    if (Check bad = readValue(json, field, value)) return bad;
    if (Check bad = checkAlone(known, value)) return bad;
    if (name == "heads")
      heads_ = static_cast<int>(json.number);
    else
      assign(state_, known.id, value);
    return {};
  }
  if (name == "layout") {
    packed_ = json.text == "packed";
    return onlyWord(field, json, "split", "packed");
  }
  if (name == "score") {
    state_.scale = json.text != "dot";
    return onlyWord(field, json, "scaled", "dot");
  }
  if (name == "normalizer") return onlyWord(field, json, "softmax", {});
  if (name == "softcap") return onlyNumber(field, json, 0);
  if (name == "window_left" || name == "window_right") return onlyNumber(field, json, -1);
  if (name == "scale")
    scale_ = &json;
  else if (name == "kv_heads")
    keyHeads_ = &json;
  else
    return refuse(
        ErrorKind::range, field,
        {"the option is unknown; use causal, scale, temperature, heads, kv_heads, score, normalizer, layout, "
         "softcap, window_left or window_right."});
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

// The board divides by √d_k or it does not.
Check Reader::readScale() {
  if (keyHeads_ != nullptr)
    if (Check bad = onlyNumber("options.kv_heads", *keyHeads_, state_.heads)) return bad;
  if (scale_ == nullptr) return {};
  if (scale_->kind == Kind::boolean) {
    state_.scale = scale_->boolean;
    return {};
  }
  const double usual = 1.0 / std::sqrt(static_cast<double>(state_.headDim));
  const bool isUsual = scale_->kind == Kind::number && std::abs(scale_->number - usual) <= 1e-6 * usual;
  const bool isOne = scale_->kind == Kind::number && scale_->number == 1.0;
  if (!isUsual && !isOne)
    return refuse(scale_->kind == Kind::number ? ErrorKind::range : ErrorKind::type, "options.scale",
                  {described(*scale_), " is not supported on the board yet; use true (",
                   shortest(static_cast<float>(usual)), " for d_k ", state_.headDim, ") or false (1)."});
  state_.scale = isUsual;
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

Check Reader::setSizes(std::int64_t tokens, std::int64_t heads, std::int64_t headDim, std::int64_t modelDim) {
  if (Check bad = checkSizes(drivingField(), tokens, heads, headDim, modelDim)) return bad;
  state_.tokens = static_cast<int>(tokens), state_.heads = static_cast<int>(heads);
  state_.headDim = static_cast<int>(headDim), state_.modelDim = static_cast<int>(modelDim);
  return {};
}

/// Brings [L, d] and packed [L, H·d] to [H, L, d]; `heads` is 0 if the options do not say.
Check splitHeads(Block& block, std::string_view field, bool packed, int heads) {
  std::vector<std::int64_t>& shape = block.shape;
  if (!packed) {
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    if (heads == 0 || heads == shape[0]) return {};
    return refuse(ErrorKind::range, field,
                  {shapeText(shape), " has ", shape[0], " heads, but options.heads is ", heads,
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
                  {heads, " heads do not divide ", shape[1], " columns; give another options.heads."});
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

Check checkAgainst(const std::vector<std::int64_t>& q, const std::vector<std::int64_t>& other,
                   std::string_view name) {
  if (q == other) return {};
  const std::string field = joined({name, ".shape"});
  if (other[0] != q[0])
    return refuse(ErrorKind::range, field,
                  {other[0], " heads for ", q[0], " of q are not supported on the board yet; repeat them ",
                   q[0], " times in all."});
  if (other[1] != q[1])
    return refuse(
        ErrorKind::range, field,
        {other[1], " tokens for ", q[1], " of q are not supported on the board yet; give as many."});
  return refuse(ErrorKind::range, field,
                {other[2], " columns for ", q[2], " of q ",
                 (name == "k" ? "have no dot product; give as many."
                              : "are not supported on the board yet; give as many.")});
}

Check Reader::readDirect() {
  state_.mode = Mode::qkv;
  std::vector<std::int64_t> first;
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v}) {
    const std::string_view name = attention::name(id);
    Block block;
    if (Check bad = readNamed(name, 3, block)) return bad;
    if (Check bad = splitHeads(block, joined({name, ".shape"}), packed_, heads_)) return bad;
    if (first.empty()) {
      first = block.shape;
      if (Check bad = setSizes(first[1], first[0], first[2], 1)) return bad;
      state_.modelDim = defaultModelDim(state_);
    }
    if (Check bad = checkAgainst(first, block.shape, name)) return bad;
    *input(state_, id) = tensorOf(block, state_.heads, state_.tokens, state_.headDim);
  }
  for (const TensorId id : {TensorId::x, TensorId::w_q, TensorId::w_k, TensorId::w_v, TensorId::w_o})
    fillSeeded(state_, id);
  return {};
}

void setIdentity(Tensor& tensor) {
  for (int i = 0; i < std::min(tensor.rows(), tensor.cols()); ++i) tensor.at(0, i, i) = 1.0f;
}

Check Reader::readProjected() {
  state_.mode = Mode::x;
  const std::int64_t heads = heads_ == 0 ? 1 : heads_;
  for (const TensorId id : {TensorId::x, TensorId::w_q, TensorId::w_k, TensorId::w_v, TensorId::w_o}) {
    const std::string_view name = attention::name(id);
    if (id == TensorId::w_o && root_.find(name) == nullptr) break;
    Block block;
    if (Check bad = readNamed(name, 2, block)) return bad;
    const std::vector<std::int64_t>& shape = block.shape;
    if (id == TensorId::x)
      if (Check bad = setSizes(shape[0], heads, 1, shape[1])) return bad;
    if (id == TensorId::w_q) {
      if (shape[1] % heads != 0)
        return refuse(ErrorKind::range, "w_q.shape",
                      {heads, " heads do not divide ", shape[1], " columns; give another options.heads."});
      if (Check bad = setSizes(state_.tokens, heads, shape[1] / heads, state_.modelDim)) return bad;
    }
    const Axes want = axes(state_, id);
    const std::vector<std::int64_t> wanted{want.rows.count(), want.cols.count()};
    if (id != TensorId::x && shape != wanted)
      return refuse(ErrorKind::range, joined({name, ".shape"}),
                    {shapeText(shape), " does not fit; it must be ", shapeText(wanted), "."});
    *input(state_, id) = tensorOf(block, 1, static_cast<int>(shape[0]), static_cast<int>(shape[1]));
  }
  if (root_.find("w_o") == nullptr) {
    const int width = state_.heads * state_.headDim;
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

Check Reader::readLabels() {
  const Json* json = root_.find("labels");
  if (json == nullptr) {
    state_.labels = numberedLabels(1, state_.tokens);
    return {};
  }
  Value value;
  if (Check bad = readValue(*json, "labels", value)) return bad;
  if (Check bad = checkAlone(option(OptionId::labels), value)) return bad;
  state_.labels = labelsOf(value);
  return {};
}

}  // namespace

Check readTensors(const Json& root, const State& current, State& out) {
  return Reader(root, current, out).read();
}

}  // namespace document
