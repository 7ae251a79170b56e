#include "attention/spec.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <string>
#include <utility>

#include "attention/checks.h"

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
  return {};
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
  if (Check bad = checkAbsent({{"w_q", in.wQ}, {"w_k", in.wK}, {"w_v", in.wV}, {"w_o", in.wO}},
                              "x, which it would multiply, is not")) {
    return bad;
  }
  return checkTensors({{"q", in.q, {spec.heads, spec.queryCount, spec.headDim}},
                       {"k", in.k, {spec.kvHeads, spec.keyCount, spec.headDim}},
                       {"v", in.v, {spec.kvHeads, spec.keyCount, spec.valueDim}}});
}

Check checkProjected(const Spec& spec, const Inputs& in) {
  if (Check bad = checkAbsent({{"q", in.q}, {"k", in.k}, {"v", in.v}}, "x is given, which makes it")) return bad;
  if (spec.keyCount != spec.queryCount) {
    return refuse("keyCount", text(spec.keyCount) + " keys and " + text(spec.queryCount) +
                                  " queries cannot both be the rows of x; use the same number.");
  }
  const int modelDim = in.x->cols();
  if (Check bad = checkSize("x.cols", modelDim, Limits::modelDim)) return bad;
  if (Check bad = checkTensors({{"x", in.x, {1, spec.queryCount, modelDim}},
                                {"w_q", in.wQ, {1, modelDim, spec.heads * spec.headDim}},
                                {"w_k", in.wK, {1, modelDim, spec.kvHeads * spec.headDim}},
                                {"w_v", in.wV, {1, modelDim, spec.kvHeads * spec.valueDim}}})) {
    return bad;
  }
  if (!in.wO) return {};
  if (Check bad = checkSize("w_o.cols", in.wO->cols(), Limits::modelDim)) return bad;
  return checkTensors({{"w_o", in.wO, {1, spec.heads * spec.valueDim, in.wO->cols()}}});
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
  if (spec.score == Score::dot) return 1.0f;
  return spec.scale != 0.0f ? spec.scale : static_cast<float>(1.0 / std::sqrt(static_cast<double>(spec.headDim)));
}

KeyRange visibleKeys(const Spec& spec, int query) {
  // 64-bit: offsets and windows may be as large as an int holds.
  const std::int64_t here = std::int64_t{query} + spec.causalOffset;
  std::int64_t begin = 0, end = spec.keyCount;
  if (spec.causal) end = std::min(end, here + 1);
  if (spec.windowRight >= 0) end = std::min(end, here + spec.windowRight + 1);
  if (spec.windowLeft >= 0) begin = std::max(begin, here - spec.windowLeft);
  begin = std::min(begin, end);
  return {static_cast<int>(begin), static_cast<int>(end)};
}

bool isVisible(const Spec& spec, int query, int key) {
  const KeyRange range = visibleKeys(spec, query);
  return key >= range.begin && key < range.end;
}

Check validate(const Spec& spec, const Inputs& inputs) {
  if (Check bad = checkSizes(spec)) return bad;
  if (Check bad = checkOptions(spec)) return bad;
  if (Check bad = inputs.projected() ? checkProjected(spec, inputs) : checkDirect(spec, inputs)) return bad;
  return checkPainted(spec, inputs.painted);
}

}  // namespace attention
