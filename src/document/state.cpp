#include "document/state.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "document/number.h"
#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::Limits;
using Kind = Error::Kind;

constexpr TensorId kInputs[] = {TensorId::x,   TensorId::w_q, TensorId::w_k, TensorId::w_v,
                                TensorId::w_o, TensorId::q,   TensorId::k,   TensorId::v};

Check within(std::string_view field, std::int64_t value, std::int64_t most) {
  if (value >= 1 && value <= most) return {};
  return refuse(Kind::range, field,
                {value, " is too ", (value < 1 ? "small" : "large"), "; use 1 to ", most, "."});
}

Check checkTensor(const State& state, TensorId id) {
  const Axes want = axes(state, id);
  const Tensor& tensor = *input(state, id);
  if (tensor.heads() != want.heads || tensor.rows() != want.rows.count() ||
      tensor.cols() != want.cols.count()) {
    return refuse(Kind::range, attention::name(id),
                  {"the shape is ", shapeText({tensor.heads(), tensor.rows(), tensor.cols()}),
                   "; it must be ", shapeText({want.heads, want.rows.count(), want.cols.count()}), "."});
  }
  const auto values = tensor.values();
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return {};
  const std::string field = joined({attention::name(id), ".data[", bad - values.begin(), "]"});
  return refuse(Kind::range, field,
                {std::isnan(*bad) ? "NaN" : "infinity", " cannot be used; give a finite number."});
}

Check checkMask(const State& state) {
  const PaintedMask& mask = state.painted;
  if (mask.empty() && mask.rows == 0 && mask.cols == 0) return {};
  const auto count = static_cast<std::size_t>(state.tokens) * static_cast<std::size_t>(state.tokens);
  if (mask.rows == state.tokens && mask.cols == state.tokens && mask.blocked.size() == count) return {};
  return refuse(Kind::range, "mask",
                {"the shape is ", shapeText({mask.rows, mask.cols}), "; it must be ",
                 shapeText({state.tokens, state.tokens}), "."});
}

Check checkAllLabels(const State& state) {
  if (state.labels.size() != static_cast<std::size_t>(state.tokens))
    return refuse(
        Kind::range, "labels",
        {"there are ", state.labels.size(), " for ", state.tokens, " tokens; give one label a token."});
  return checkLabels(state.labels, 0);
}

Check checkView(const State& state) {
  if (state.focusHead < 0 || state.focusHead >= state.heads)
    return refuse(Kind::range, "focus_head",
                  {state.focusHead, " is no head here; use 0 to ", state.heads - 1, "."});
  if (state.decimals < 0 || state.decimals > kMaxDecimals)
    return refuse(Kind::range, "decimals",
                  {state.decimals, " is out of range; use 0 to ", kMaxDecimals, "."});
  return {};
}

Check checkTemperature(float temperature) {
  if (!std::isfinite(temperature))
    return refuse(Kind::range, "temperature", {"it is not a finite number; use 0.01 to 100."});
  const double value = readable(temperature);
  if (value >= kMinTemperature && value <= kMaxTemperature) return {};
  return refuse(Kind::range, "temperature",
                {shortest(temperature), " is too ", (value < kMinTemperature ? "small" : "large"),
                 "; use 0.01 to 100."});
}

std::int64_t countNumbers(std::int64_t tokens, std::int64_t width, std::int64_t modelDim) {
  return tokens * modelDim + 3 * tokens * width + 4 * modelDim * width;
}

}  // namespace

attention::Spec spec(const State& state) {
  attention::Spec out;
  out.heads = out.kvHeads = state.heads;
  out.queryCount = out.keyCount = state.tokens;
  out.headDim = out.valueDim = state.headDim;
  out.score = state.scale ? attention::Score::scaled : attention::Score::dot;
  out.temperature = state.temperature;
  out.causal = state.causal;
  return out;
}

attention::Inputs inputs(const State& state) {
  attention::Inputs out;
  if (state.mode == Mode::x) {
    out.x = &state.x, out.wQ = &state.wQ, out.wK = &state.wK, out.wV = &state.wV, out.wO = &state.wO;
  } else {
    out.q = &state.q, out.k = &state.k, out.v = &state.v;
  }
  out.painted = &state.painted;
  return out;
}

const Tensor* input(const State& state, TensorId id) {
  switch (id) {
    case TensorId::x:
      return &state.x;
    case TensorId::w_q:
      return &state.wQ;
    case TensorId::w_k:
      return &state.wK;
    case TensorId::w_v:
      return &state.wV;
    case TensorId::w_o:
      return &state.wO;
    case TensorId::q:
      return &state.q;
    case TensorId::k:
      return &state.k;
    case TensorId::v:
      return &state.v;
    default:
      return nullptr;
  }
}

Tensor* input(State& state, TensorId id) {
  return const_cast<Tensor*>(input(static_cast<const State&>(state), id));
}

bool isEditable(const State& state, TensorId id) {
  const bool direct = id == TensorId::q || id == TensorId::k || id == TensorId::v;
  return input(state, id) != nullptr && direct == (state.mode == Mode::qkv);
}

std::span<const TensorId> inputIds() { return kInputs; }

Check checkSizes(std::string_view field, std::int64_t tokens, std::int64_t heads, std::int64_t headDim,
                 std::int64_t modelDim) {
  if (Check bad = within("tokens", tokens, Limits::tokens)) return bad;
  if (Check bad = within("heads", heads, Limits::heads)) return bad;
  if (Check bad = within("d_k", headDim, Limits::headDim)) return bad;
  if (Check bad = within("model_dim", modelDim, Limits::modelDim)) return bad;
  const std::int64_t scores = heads * tokens * tokens;
  if (scores > Limits::scores)
    return refuse(Kind::memory, field,
                  {heads, " heads of ", tokens, " × ", tokens, " scores make ", scores,
                   "; use fewer heads or tokens, for at most ", Limits::scores, "."});
  const std::int64_t numbers = countNumbers(tokens, heads * headDim, modelDim);
  if (numbers > kMaxNumbers)
    return refuse(
        Kind::memory, field,
        {"tokens ", tokens, ", heads ", heads, ", d_k ", headDim, " and model_dim ", modelDim,
         " make inputs of ", numbers, " numbers; use smaller ones, for at most ", kMaxNumbers, "."});
  return {};
}

Check checkLabel(std::string_view field, std::string_view label) {
  if (label.size() > kLabelBytes)
    return refuse(Kind::range, field,
                  {inQuotes(label), " is ", label.size(), " bytes long; use at most ", kLabelBytes, "."});
  for (std::string_view rest = label; !rest.empty();) {
    const int length = utf8Length(rest);
    if (length == 0)
      return refuse(Kind::range, field, {inQuotes(label), " is not valid UTF-8; type it again."});
    const char32_t c = utf8Decode(rest);
    if (c < 0x20 || (c >= 0x7f && c < 0xa0))
      return refuse(Kind::range, field, {inQuotes(label), " holds a control character; leave it out."});
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
  return {};
}

Check check(const State& state) {
  if (Check bad = checkSizes("tokens", state.tokens, state.heads, state.headDim, state.modelDim)) return bad;
  for (const TensorId id : kInputs)
    if (Check bad = checkTensor(state, id)) return bad;
  if (Check bad = checkAllLabels(state)) return bad;
  if (Check bad = checkMask(state)) return bad;
  if (Check bad = checkLabel("preset", state.preset)) return bad;
  if (Check bad = checkTemperature(state.temperature)) return bad;
  return checkView(state);
}

Check checkLabels(std::span<const std::string> labels, int first) {
  for (std::size_t i = 0; i < labels.size(); ++i)
    if (Check bad = checkLabel(joined({"labels[", static_cast<std::size_t>(first) + i, "]"}), labels[i]))
      return bad;
  return {};
}

bool sameBits(const Tensor& a, const Tensor& b) {
  return a.sameShape(b) && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0);
}

bool sameBits(const State& a, const State& b) {
  return a == b && std::all_of(std::begin(kInputs), std::end(kInputs),
                               [&](TensorId id) { return sameBits(*input(a, id), *input(b, id)); });
}

void keepView(State& state, const State& from) {
  state.theme = from.theme;
  state.decimals = from.decimals;
  state.focusHead = std::min(from.focusHead, state.heads - 1);
}

}  // namespace document
