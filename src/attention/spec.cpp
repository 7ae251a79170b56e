#include "attention/spec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>
#include <utility>

#include "attention/checks.h"
#include "attention/mask.h"

namespace attention {
namespace {

using namespace checks;

/// "1, 2, 3 or 6": the numbers of key-value heads that `heads` can be shared among.
std::string divisorsOf(int heads) {
  std::vector<int> divisors;
  for (int d = 1; d <= heads; ++d) {
    if (heads % d == 0) divisors.push_back(d);
  }
  std::string list;
  for (std::size_t i = 0; i < divisors.size(); ++i) {
    if (i > 0) list += i + 1 == divisors.size() ? " or " : ", ";
    list += text(divisors[i]);
  }
  return list;
}

Check checkSizes(const Spec& spec) {
  if (Check bad = checkSize("heads", spec.heads, Limits::heads)) return bad;
  if (Check bad = checkSize("kvHeads", spec.kvHeads, Limits::heads)) return bad;
  if (spec.heads % spec.kvHeads != 0) {
    return refuse("heads", text(spec.kvHeads) + " key-value heads do not divide " + text(spec.heads) +
                               " heads; use " + divisorsOf(spec.heads) + ".");
  }
  if (Check bad = checkSize("queryCount", spec.queryCount, Limits::tokens)) return bad;
  if (Check bad = checkSize("keyCount", spec.keyCount, Limits::tokens)) return bad;
  if (Check bad = checkSize("headDim", spec.headDim, Limits::headDim)) return bad;
  if (Check bad = checkSize("valueDim", spec.valueDim, Limits::headDim)) return bad;
  const std::int64_t scores =
      std::int64_t{spec.heads} * std::int64_t{spec.queryCount} * std::int64_t{spec.keyCount};
  if (scores > Limits::scores) {
    return Error{Error::Kind::memory, "heads",
                 "heads: " + text(spec.heads) + " heads of " + text(spec.queryCount) + " queries and " +
                     text(spec.keyCount) + " keys are " + text(scores) + " scores; at most " +
                     text(Limits::scores) + " fit, so use fewer heads or tokens."};
  }
  return {};
}

Check checkOptions(const Spec& spec) {
  if (!std::isfinite(spec.scale)) {
    return refuse("scale", text(spec.scale) + " is not a finite number; use 0 for 1/√d_k, or any other number.");
  }
  if (!(spec.temperature >= Limits::coldest && spec.temperature <= Limits::hottest)) {
    return refuse("temperature", text(spec.temperature) + " is out of range; use " + text(Limits::coldest) + " to " +
                                     text(Limits::hottest) + ".");
  }
  if (spec.causalOffset < 0) {
    return refuse("causalOffset", text(spec.causalOffset) + " is negative; use 0, or the number of cached keys.");
  }
  if (spec.windowLeft < -1) {
    return refuse("windowLeft", text(spec.windowLeft) + " is out of range; use -1 for no limit, or 0 and more.");
  }
  if (spec.windowRight < -1) {
    return refuse("windowRight", text(spec.windowRight) + " is out of range; use -1 for no limit, or 0 and more.");
  }
  if (!(std::isfinite(spec.softcap) && spec.softcap >= 0.0f)) {
    return refuse("softcap", text(spec.softcap) + " is out of range; use 0 for none, or the largest score.");
  }
  if (spec.prefix < 0 || spec.prefix > spec.keyCount) {
    return refuse("prefix", text(spec.prefix) + " is out of range; use 0 for none, to " + text(spec.keyCount) + ".");
  }
  if (spec.keyLength < -1 || spec.keyLength > spec.keyCount) {
    return refuse("keyLength", text(spec.keyLength) + " is out of range; use -1 for no padding, or 0 to " +
                                   text(spec.keyCount) + ".");
  }
  if (spec.heads < 64 && spec.hiddenHeads >> spec.heads != 0) {
    return refuse("hiddenHeads", text(spec.hiddenHeads) + " has bits for more than " + text(spec.heads) +
                                     " heads; use those of heads 0 to " + text(spec.heads - 1) + ".");
  }
  if (spec.maskAfterSoftmax && spec.normalizer != Normalizer::softmax) {
    return refuse("maskAfterSoftmax",
                  "it is on although there is no softmax; turn it off, or use the normaliser softmax.");
  }
  return {};
}

Check checkPattern(const Pattern& pattern) {
  const std::pair<const char*, int> parts[] = {{"pattern.local", pattern.local},   {"pattern.stride", pattern.stride},
                                               {"pattern.block", pattern.block},   {"pattern.global", pattern.global},
                                               {"pattern.random", pattern.random}};
  for (const auto& [field, value] : parts) {
    if (value < 0) return refuse(field, text(value) + " is negative; use 0 for none of it, or more.");
  }
  if (pattern.dilation >= 1) return {};
  return refuse("pattern.dilation", text(pattern.dilation) + " is out of range; use 1 for every key, or more.");
}

Check checkPosition(const Spec& spec, const Inputs& in) {
  if (spec.position == Position::sinusoidal && !in.projected()) {
    return refuse("position",
                  "sinusoidal positions are added to x, which this layer does not have; use rotary or alibi.");
  }
  if (isRotary(spec) && spec.score == Score::additive) {
    return refuse("position", "rotary turns dot products, and the additive score has none; use the score dot, scaled, "
                              "general or cosine, or other positions.");
  }
  if (isRotary(spec) && spec.headDim % 2 != 0) {
    return refuse("headDim",
                  text(spec.headDim) + " columns are no pairs, which rotary positions turn; use an even number.");
  }
  // Those positions are rows of a table.
  const bool isCounted = isRotary(spec) || (spec.position == Position::sinusoidal && in.xKv);
  if (!isCounted || spec.causalOffset <= Limits::tokens - spec.queryCount) return {};
  return refuse("causalOffset", text(spec.causalOffset) + " puts the last query beyond position " +
                                    text(Limits::tokens) + "; use at most " + text(Limits::tokens - spec.queryCount) +
                                    ", or alibi.");
}

Check checkAbsent(std::initializer_list<std::pair<const char*, const Tensor*>> tensors, const char* because) {
  for (const auto& [field, tensor] : tensors) {
    if (tensor) {
      return Error{Error::Kind::type, field,
                   std::string(field) + ": it is given although " + because + "; leave one of the two out."};
    }
  }
  return {};
}

Check checkDirect(const Spec& spec, const Inputs& in) {
  if (Check bad = checkAbsent({{"w_q", in.wQ}, {"w_k", in.wK}, {"w_v", in.wV}, {"w_o", in.wO}, {"x_kv", in.xKv}},
                              "x, which it would multiply, is not")) {
    return bad;
  }
  return checkTensors({{"q", in.q, {spec.heads, spec.queryCount, spec.headDim}},
                       {"k", in.k, {spec.kvHeads, spec.keyCount, spec.headDim}},
                       {"v", in.v, {spec.kvHeads, spec.keyCount, spec.valueDim}}});
}

Check checkProjected(const Spec& spec, const Inputs& in) {
  if (Check bad = checkAbsent({{"q", in.q}, {"k", in.k}, {"v", in.v}}, "x is given, which makes it")) return bad;
  if (!in.xKv && spec.keyCount != spec.queryCount) {
    return refuse("keyCount", text(spec.keyCount) + " keys and " + text(spec.queryCount) +
                                  " queries cannot both be the rows of x; use the same number, or give x_kv.");
  }
  const int modelDim = in.x->cols();
  if (Check bad = checkSize("x.cols", modelDim, Limits::modelDim)) return bad;
  if (Check bad = checkTensors({{"x", in.x, {1, spec.queryCount, modelDim}},
                                {"w_q", in.wQ, {1, modelDim, spec.heads * spec.headDim}},
                                {"w_k", in.wK, {1, modelDim, spec.kvHeads * spec.headDim}},
                                {"w_v", in.wV, {1, modelDim, spec.kvHeads * spec.valueDim}}})) {
    return bad;
  }
  if (in.xKv) {
    if (Check bad = checkTensors({{"x_kv", in.xKv, {1, spec.keyCount, modelDim}}})) return bad;
  }
  if (!in.wO) return {};
  if (Check bad = checkSize("w_o.cols", in.wO->cols(), Limits::modelDim)) return bad;
  return checkTensors({{"w_o", in.wO, {1, spec.heads * spec.valueDim, in.wO->cols()}}});
}

Check checkScore(const Spec& spec, const Inputs& in) {
  const Shape square{spec.heads, spec.headDim, spec.headDim};
  if (spec.score == Score::general) return checkTensors({{"w_a", in.wA, square}});
  if (spec.score != Score::additive) return {};
  return checkTensors({{"w_a", in.wA, square}, {"u_a", in.uA, square}, {"v_a", in.vA, {spec.heads, 1, spec.headDim}}});
}

Check checkBias(const Spec& spec, const Tensor* bias) {
  if (!bias) return {};
  const Shape shape{bias->heads(), bias->rows(), bias->cols()};
  const bool fits = (shape.heads == 1 || shape.heads == spec.heads) && shape.rows == spec.queryCount &&
                    shape.cols == spec.keyCount;
  if (!fits) {
    return refuse("bias.shape", text(shape) + " does not fit the scores; use " +
                                    text(Shape{spec.heads, spec.queryCount, spec.keyCount}) + ", or one head for all.");
  }
  const auto isWrong = [](float b) { return std::isnan(b) || b == std::numeric_limits<float>::infinity(); };
  const auto values = bias->values();
  if (std::none_of(values.begin(), values.end(), isWrong)) return {};
  return refuse("bias", "it holds NaN or infinity; use finite numbers, or -infinity to mask.");
}

Check checkPainted(const Spec& spec, const PaintedMask* painted) {
  if (!painted || (painted->empty() && painted->rows == 0 && painted->cols == 0)) return {};
  const bool fits = painted->rows == spec.queryCount && painted->cols == spec.keyCount &&
                    painted->blocked.size() ==
                        static_cast<std::size_t>(painted->rows) * static_cast<std::size_t>(painted->cols);
  if (fits) return {};
  return refuse("mask.shape", "[" + text(painted->rows) + ", " + text(painted->cols) + "] with " +
                                  text(painted->blocked.size()) +
                                  " cells does not fit the scores; use [" + text(spec.queryCount) + ", " +
                                  text(spec.keyCount) + "].");
}

}  // namespace

float scaleFactor(const Spec& spec) {
  if (spec.score != Score::scaled) return 1.0f;
  return spec.scale != 0.0f ? spec.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.headDim)));
}

bool isPlain(const Spec& spec) {
  const bool hasPlainScores = spec.score == Score::dot || spec.score == Score::scaled;
  const bool hasPlainMask = spec.prefix == 0 && !spec.pattern.any() && !spec.maskAfterSoftmax;
  return hasPlainScores && hasPlainMask && isSoftmax(spec) && !isSoftcapped(spec) && spec.position == Position::none &&
         spec.hiddenHeads == 0;
}

KeyRange visibleKeys(const Spec& spec, int query) {
  // 64-bit: offsets and windows may be as large as an int holds.
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
    const MaskRow mask(spec, i);
    for (int j = range.begin; j < range.end; ++j) count += mask.sees(j);
  }
  return count;
}

Check validate(const Spec& spec, const Inputs& inputs) {
  if (Check bad = checkSizes(spec)) return bad;
  if (Check bad = checkOptions(spec)) return bad;
  if (Check bad = checkPattern(spec.pattern)) return bad;
  if (Check bad = checkPosition(spec, inputs)) return bad;
  if (Check bad = inputs.projected() ? checkProjected(spec, inputs) : checkDirect(spec, inputs)) return bad;
  if (Check bad = checkScore(spec, inputs)) return bad;
  if (Check bad = checkBias(spec, inputs.bias)) return bad;
  return checkPainted(spec, inputs.painted);
}

}  // namespace attention
