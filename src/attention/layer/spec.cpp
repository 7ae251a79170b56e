#include "attention/layer/spec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <tuple>
#include <utility>

#include "attention/layer/checks.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"
#include "base/sentence.h"

namespace attention {
namespace {

/// "1, 2, 3 or 6": the numbers of key-value heads that `heads` can be shared among.
base::Message divisorsOf(int heads) {
  std::vector<std::string> divisors;
  for (int d = 1; d <= heads; ++d) {
    if (heads % d == 0) divisors.push_back(checks::text(d));
  }
  return base::either(divisors);
}

Result<void> checkSizes(const Spec& spec, Room room) {
  const bool isBoard = room == Room::board;
  const int tokens = isBoard ? Limits::tokens : Limits::longest,
            columns = isBoard ? Limits::headDim : Limits::longest;
  if (auto ok = checks::checkSize("heads", spec.heads, Limits::heads); !ok) return ok;
  if (auto ok = checks::checkSize("kvHeads", spec.kvHeads, Limits::heads); !ok) return ok;
  if (spec.heads % spec.kvHeads != 0) {
    return base::refuse(Error::Kind::range, "heads",
                        {checks::text(spec.kvHeads), " key-value heads do not divide ",
                         checks::text(spec.heads), " heads; use ", divisorsOf(spec.heads), "."});
  }
  if (auto ok = checks::checkSize("queryCount", spec.queryCount, tokens); !ok) return ok;
  if (auto ok = checks::checkSize("keyCount", spec.keyCount, tokens); !ok) return ok;
  if (auto ok = checks::checkSize("headDim", spec.headDim, columns); !ok) return ok;
  if (auto ok = checks::checkSize("valueDim", spec.valueDim, columns); !ok) return ok;
  if (auto ok = checks::checkSize("queryDim", queryWidth(spec), columns); !ok) return ok;
  const std::int64_t scores =
      std::int64_t{spec.heads} * std::int64_t{spec.queryCount} * std::int64_t{spec.keyCount};
  if (isBoard && !scoresFit(spec.heads, spec.queryCount, spec.keyCount)) {
    return Error{
        Error::Kind::memory, "heads",
        base::message({checks::text(spec.heads), " heads of ", checks::text(spec.queryCount), " queries and ",
                       checks::text(spec.keyCount), " keys are ", checks::text(scores), " scores; at most ",
                       checks::text(std::min(Limits::scores, spec.heads * Limits::inFull)),
                       " fit, so use fewer heads or tokens."})};
  }
  return {};
}

Result<void> checkOptions(const Spec& spec) {
  if (!std::isfinite(spec.scale)) {
    return base::refuse(
        Error::Kind::range, "scale",
        {checks::text(spec.scale), " is not a finite number; use 0 for 1/√d_k, or any other number."});
  }
  if (!(spec.temperature >= Limits::coldest && spec.temperature <= Limits::hottest)) {
    return base::refuse(Error::Kind::range, "temperature",
                        {checks::text(spec.temperature), " is out of range; use ",
                         checks::text(Limits::coldest), " to ", checks::text(Limits::hottest), "."});
  }
  if (spec.causalOffset < 0) {
    return base::refuse(
        Error::Kind::range, "causalOffset",
        {checks::text(spec.causalOffset), " is negative; use 0, or the number of cached keys."});
  }
  if (spec.windowLeft < -1) {
    return base::refuse(
        Error::Kind::range, "windowLeft",
        {checks::text(spec.windowLeft), " is out of range; use -1 for no limit, or 0 and more."});
  }
  if (spec.windowRight < -1) {
    return base::refuse(
        Error::Kind::range, "windowRight",
        {checks::text(spec.windowRight), " is out of range; use -1 for no limit, or 0 and more."});
  }
  if (!(std::isfinite(spec.softcap) && spec.softcap >= 0.0f)) {
    return base::refuse(
        Error::Kind::range, "softcap",
        {checks::text(spec.softcap), " is out of range; use 0 for none, or the largest score."});
  }
  if (spec.prefix < 0 || spec.prefix > spec.keyCount) {
    return base::refuse(Error::Kind::range, "prefix",
                        {checks::text(spec.prefix), " is out of range; use 0 for none, to ",
                         checks::text(spec.keyCount), "."});
  }
  if (spec.keyLength < -1 || spec.keyLength > spec.keyCount) {
    return base::refuse(Error::Kind::range, "keyLength",
                        {checks::text(spec.keyLength), " is out of range; use -1 for no padding, or 0 to ",
                         checks::text(spec.keyCount), "."});
  }
  if (spec.heads < 64 && spec.hiddenHeads >> spec.heads != 0) {
    return base::refuse(Error::Kind::range, "hiddenHeads",
                        {checks::text(spec.hiddenHeads), " has bits for more than ", checks::text(spec.heads),
                         " heads; use those of heads 0 to ", checks::text(spec.heads - 1), "."});
  }
  if (spec.maskAfterSoftmax && spec.normalizer != Normalizer::softmax) {
    return base::refuse(
        Error::Kind::range, "maskAfterSoftmax",
        {"it is on although there is no softmax; turn it off, or use the normaliser softmax."});
  }
  return {};
}

Result<void> checkPattern(const Pattern& pattern) {
  const std::pair<const char*, int> parts[] = {{"pattern.local", pattern.local},
                                               {"pattern.stride", pattern.stride},
                                               {"pattern.block", pattern.block},
                                               {"pattern.global", pattern.global},
                                               {"pattern.random", pattern.random}};
  for (const auto& [field, value] : parts) {
    if (value < 0)
      return base::refuse(Error::Kind::range, field,
                          {checks::text(value), " is negative; use 0 for none of it, or more."});
  }
  if (pattern.dilation >= 1) return {};
  return base::refuse(Error::Kind::range, "pattern.dilation",
                      {checks::text(pattern.dilation), " is out of range; use 1 for every key, or more."});
}

Result<void> checkPosition(const Spec& spec, const Inputs& in, Room room) {
  if (spec.position == Position::sinusoidal && !in.projected()) {
    return base::refuse(
        Error::Kind::range, "position",
        {"sinusoidal positions are added to x, which this layer does not have; use rotary or alibi."});
  }
  if (isRotary(spec) && !mechanismOf(spec.score).isDot()) {
    return base::refuse(
        Error::Kind::range, "position",
        {"rotary turns dot products, and the additive score has none; use the score dot, scaled, "
         "general or cosine, or other positions."});
  }
  if (isRotary(spec) && rotatedColumns(spec) % 2 != 0) {
    if (spec.rotary.dims % 2 != 0)
      return base::refuse(
          Error::Kind::range, "rotary.dims",
          {checks::text(spec.rotary.dims),
           " columns do not form pairs, which rotary positions rotate; use an even number, or 0 for all."});
    return base::refuse(Error::Kind::range, "headDim",
                        {checks::text(spec.headDim),
                         " columns do not form pairs, which rotary positions rotate; use an even number."});
  }
  if (!(std::isfinite(spec.rotary.base) && spec.rotary.base > 1.0f)) {
    return base::refuse(
        Error::Kind::range, "rotary.base",
        {checks::text(spec.rotary.base), " is out of range; use 10000, or another number above 1."});
  }
  if (!(std::isfinite(spec.rotary.factor) && spec.rotary.factor > 0.0f)) {
    return base::refuse(
        Error::Kind::range, "rotary.factor",
        {checks::text(spec.rotary.factor), " is out of range; use 1 for none, or another number above 0."});
  }
  for (const int id : spec.positionIds) {
    if (id >= 0 && id <= Limits::positionId) continue;
    return base::refuse(
        Error::Kind::range, "positionIds",
        {checks::text(id), " is no position; use 0 to ", checks::text(Limits::positionId), "."});
  }
  // There, positions are rows of a table.
  const bool isCounted = isRotary(spec) || (spec.position == Position::sinusoidal && in.xKv);
  const int tokens = room == Room::board ? Limits::tokens : Limits::longest;
  if (!isCounted || spec.causalOffset <= tokens - spec.queryCount) return {};
  return base::refuse(
      Error::Kind::range, "causalOffset",
      {checks::text(spec.causalOffset), " puts the last query beyond position ", checks::text(tokens),
       "; use at most ", checks::text(tokens - spec.queryCount), ", or alibi."});
}

Result<void> checkAbsent(std::initializer_list<std::pair<const char*, const Tensor*>> tensors,
                         const char* because) {
  for (const auto& [field, tensor] : tensors) {
    if (tensor) {
      return Error{
          Error::Kind::type, field,
          base::message({"it is given although ", std::string_view(because), "; leave one of the two out."})};
    }
  }
  return {};
}

Result<void> checkDirect(const Spec& spec, const Inputs& in) {
  if (auto ok = checkAbsent({{"w_q", in.wQ},
                             {"w_k", in.wK},
                             {"w_v", in.wV},
                             {"w_o", in.wO},
                             {"x_kv", in.xKv},
                             {"b_q", in.bQ},
                             {"b_k", in.bK},
                             {"b_v", in.bV},
                             {"b_o", in.bO},
                             {"x_v", in.xV}},
                            "x, which it would multiply, is not");
      !ok) {
    return ok;
  }
  return checks::checkTensors({{"q", in.q, {spec.heads, spec.queryCount, queryWidth(spec)}},
                               {"k", in.k, {spec.kvHeads, spec.keyCount, spec.headDim}},
                               {"v", in.v, {spec.kvHeads, spec.keyCount, spec.valueDim}}});
}

Result<void> checkProjected(const Spec& spec, const Inputs& in) {
  if (auto ok = checkAbsent({{"q", in.q}, {"k", in.k}, {"v", in.v}}, "x is given, which makes it"); !ok)
    return ok;
  if (!in.xKv && spec.keyCount != spec.queryCount) {
    return base::refuse(Error::Kind::range, "keyCount",
                        {checks::text(spec.keyCount), " keys and ", checks::text(spec.queryCount),
                         " queries cannot both be the rows of x; use the same number, or give x_kv."});
  }
  const int modelDim = in.x->cols();
  if (auto ok = checks::checkSize("x.cols", modelDim, Limits::modelDim); !ok) return ok;
  if (auto ok = checks::checkTensors({{"x", in.x, {1, spec.queryCount, modelDim}},
                                      {"w_q", in.wQ, {1, modelDim, spec.heads * queryWidth(spec)}},
                                      {"w_k", in.wK, {1, modelDim, spec.kvHeads * spec.headDim}},
                                      {"w_v", in.wV, {1, modelDim, spec.kvHeads * spec.valueDim}}});
      !ok) {
    return ok;
  }
  if (in.xKv) {
    if (auto ok = checks::checkTensors({{"x_kv", in.xKv, {1, spec.keyCount, modelDim}}}); !ok) return ok;
  }
  if (in.xV) {
    if (auto ok = checks::checkTensors({{"x_v", in.xV, {1, spec.keyCount, modelDim}}}); !ok) return ok;
  }
  for (const auto& [field, bias, weights] :
       {std::tuple("b_q", in.bQ, in.wQ), std::tuple("b_k", in.bK, in.wK), std::tuple("b_v", in.bV, in.wV)}) {
    if (!bias) continue;
    if (auto ok = checks::checkTensors({{field, bias, {1, 1, weights->cols()}}}); !ok) return ok;
  }
  if (!in.wO) return checkAbsent({{"b_o", in.bO}}, "w_o, whose products it is added to, is not");
  if (in.bO) {
    if (auto ok = checks::checkTensors({{"b_o", in.bO, {1, 1, in.wO->cols()}}}); !ok) return ok;
  }
  if (auto ok = checks::checkSize("w_o.cols", in.wO->cols(), Limits::modelDim); !ok) return ok;
  return checks::checkTensors({{"w_o", in.wO, {1, spec.heads * spec.valueDim, in.wO->cols()}}});
}

Result<void> checkScore(const Spec& spec, const Inputs& in) {
  const int columns = queryWidth(spec);
  if (columns != spec.headDim && (!takes(spec.score, TensorId::w_a) || isRotary(spec))) {
    return base::refuse(Error::Kind::range, "queryDim",
                        {checks::text(columns), " columns of a query and ", checks::text(spec.headDim),
                         " of a key have no dot product; use the score general or additive, without rotary "
                         "positions, or as many."});
  }
  if (!takes(spec.score, TensorId::u_a)) {
    return takes(spec.score, TensorId::w_a)
               ? checks::checkTensors({{"w_a", in.wA, {spec.heads, columns, spec.headDim}}})
               : Result<void>();
  }
  const int units = in.wA ? in.wA->rows() : spec.headDim;
  if (auto ok = checks::checkSize("w_a.rows", units, Limits::longest); !ok) return ok;
  return checks::checkTensors({{"w_a", in.wA, {spec.heads, units, columns}},
                               {"u_a", in.uA, {spec.heads, units, spec.headDim}},
                               {"v_a", in.vA, {spec.heads, 1, units}}});
}

Result<void> checkSink(const Spec& spec, const Inputs& in) {
  return hasSink(spec) ? checks::checkTensors({{"sink", in.sink, {spec.heads, 1, 1}}}) : Result<void>();
}

Result<void> checkBias(const Spec& spec, const Tensor* bias) {
  if (!bias) return {};
  const checks::Shape shape{bias->heads(), bias->rows(), bias->cols()};
  const bool fits = (shape.heads == 1 || shape.heads == spec.heads) && shape.rows == spec.queryCount &&
                    shape.cols == spec.keyCount;
  if (!fits) {
    return base::refuse(
        Error::Kind::range, "bias.shape",
        {checks::text(shape), " does not fit the scores; use ",
         checks::text(checks::Shape{spec.heads, spec.queryCount, spec.keyCount}), ", or one head for all."});
  }
  if (checks::firstWrong(TensorId::bias, bias->values()) < 0) return {};
  return base::refuse(Error::Kind::range, "bias",
                      {"it holds NaN or infinity; use finite numbers, or -infinity to mask."});
}

Result<void> checkPainted(const Spec& spec, const PaintedMask* painted) {
  if (!painted || (painted->empty() && painted->rows == 0 && painted->cols == 0)) return {};
  const bool fits =
      painted->rows == spec.queryCount && painted->cols == spec.keyCount &&
      std::int64_t{painted->rows} * painted->cols == static_cast<std::int64_t>(painted->blocked.size());
  if (fits) return {};
  return base::refuse(Error::Kind::range, "mask.shape",
                      {"[", checks::text(painted->rows) + ", " + checks::text(painted->cols), "] with ",
                       checks::text(painted->blocked.size()), " cells does not fit the scores; use [",
                       checks::text(spec.queryCount) + ", " + checks::text(spec.keyCount), "]."});
}

}  // namespace

float scaleFactor(const Spec& spec) {
  if (!mechanismOf(spec.score).isScaled) return 1.0f;
  return spec.scale != 0.0f ? spec.scale
                            : static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.headDim)));
}

bool isPlain(const Spec& spec) {
  const bool hasPlainMask = spec.prefix == 0 && !spec.pattern.any() && !spec.maskAfterSoftmax;
  return mechanismOf(spec.score).isProduct && hasPlainMask && isSoftmax(spec) && !hasSink(spec) &&
         stepBefore(TensorId::masked, spec, {}) == TensorId::scores && spec.position == Position::none &&
         spec.hiddenHeads == 0;
}

KeyRange visibleKeys(const Spec& spec, int query) {
  // In 64 bits, because offsets and windows may be as large as an int.
  const std::int64_t here = std::int64_t{query} + spec.causalOffset;
  std::int64_t begin = 0, end = spec.keyCount;
  if (spec.causal) end = std::min(end, std::max(here + 1, std::int64_t{spec.prefix}));
  if (spec.windowRight >= 0) end = std::min(end, here + spec.windowRight + 1);
  if (spec.keyLength >= 0) end = std::min(end, std::int64_t{spec.keyLength});
  if (spec.windowLeft >= 0) begin = std::max(begin, here - spec.windowLeft);
  begin = std::min(begin, end);
  return {static_cast<int>(begin), static_cast<int>(end)};
}

bool isVisible(const Spec& spec, int query, int key) {
  return key >= 0 && key < spec.keyCount && MaskRow(spec, query).sees(key);
}

std::int64_t visibleCount(const Spec& spec) {
  std::int64_t count = 0;
  for (int i = 0; i < spec.queryCount; ++i) {
    const KeyRange range = visibleKeys(spec, i);
    if (!spec.pattern.any()) {
      count += range.end - range.begin;
      continue;
    }
    const MaskRow mask(spec, i);
    for (int j = range.begin; j < range.end; ++j) count += mask.sees(j);
  }
  return count;
}

bool seesAll(const Spec& spec) {
  for (int i = 0; i < spec.queryCount; ++i) {
    const KeyRange range = visibleKeys(spec, i);
    if (range.begin > 0 || range.end < spec.keyCount) return false;
    const MaskRow mask(spec, i);
    for (int j = 0; spec.pattern.any() && j < spec.keyCount; ++j)
      if (!mask.sees(j)) return false;
  }
  return true;
}

Result<void> validate(const Spec& spec, const Inputs& inputs, Room room) {
  if (auto ok = checkSizes(spec, room); !ok) return ok;
  if (auto ok = checkOptions(spec); !ok) return ok;
  if (auto ok = checkPattern(spec.pattern); !ok) return ok;
  if (auto ok = checkPosition(spec, inputs, room); !ok) return ok;
  if (auto ok = inputs.projected() ? checkProjected(spec, inputs) : checkDirect(spec, inputs); !ok) return ok;
  if (auto ok = checkScore(spec, inputs); !ok) return ok;
  if (auto ok = checkBias(spec, inputs.bias); !ok) return ok;
  if (auto ok = checkSink(spec, inputs); !ok) return ok;
  return checkPainted(spec, inputs.painted);
}

}  // namespace attention
