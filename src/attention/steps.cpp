#include "attention/steps.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attention {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstBlock = Eigen::Map<const Matrix, 0, Eigen::OuterStride<>>;
using Block = Eigen::Map<Matrix, 0, Eigen::OuterStride<>>;

ConstBlock block(const Tensor& t, int head, Span rows, Span cols) {
  return {t.row(head, rows.begin) + cols.begin, rows.size(), cols.size(), Eigen::OuterStride<>(t.cols())};
}
Block block(Tensor& t, int head, Span rows, Span cols) {
  return {t.row(head, rows.begin) + cols.begin, rows.size(), cols.size(), Eigen::OuterStride<>(t.cols())};
}

Span all(int count) { return {0, count}; }

/// Products of huge numbers overflow float, and ∞ − ∞ is NaN. Where that has happened, the cell is computed again
/// in double (which holds any product of two floats) and saturated. `left` times `right` gave `result`.
template <class Left, class Right>
void repair(const Left& left, const Right& right, Block result) {
  if ((result.array() * 0.0f).sum() == 0.0f) return;  // 0 times a finite number is 0, anything else is NaN
  for (Eigen::Index r = 0; r < result.rows(); ++r) {
    for (Eigen::Index c = 0; c < result.cols(); ++c) {
      if (std::isfinite(result(r, c))) continue;
      double sum = 0.0;
      for (Eigen::Index i = 0; i < left.cols(); ++i) sum += double{left(r, i)} * double{right(i, c)};
      result(r, c) = saturate(sum);
    }
  }
}

template <class Left, class Right>
void multiply(const Left& left, const Right& right, Block result) {
  if (result.size() == 0) return;
  result.noalias() = left * right;
  repair(left, right, result);
}

/// One of Q, K, V: a block of head `head`, copied from `given` or computed from x and `w`.
void makeInput(const Tensor* given, const Tensor* x, const Tensor* w, int head, Span rows, Span cols, Tensor& out) {
  if (given) {
    block(out, head, rows, cols) = block(*given, head, rows, cols);
    return;
  }
  const int first = head * out.cols();
  multiply(block(*x, 0, rows, all(x->cols())),
           block(*w, 0, all(x->cols()), {first + cols.begin, first + cols.end}), block(out, head, rows, cols));
}

int kvHeadOf(const Spec& spec, int head) { return head / (spec.heads / spec.kvHeads); }

/// e = exp((s − max) / T), the exponent of exp(s/T − max/T) without rounding s/T first: the difference of two
/// near scores is exact, so a small temperature costs no accuracy. Below kLowest e is exactly 0: a denormal weight
/// is slow to multiply and invisible.
constexpr float kLowest = -87.0f;

float exponentialsOf(const float* masked, int count, float max, float temperature, float* exponentials) {
  double sum = 0.0;
  for (int j = 0; j < count; ++j) {
    const float exponent = (masked[j] - max) / temperature;
    const float e = exponent < kLowest ? 0.0f : std::exp(exponent);
    exponentials[j] = e;
    sum += double{e};
  }
  return static_cast<float>(sum);
}

void makeWeightsRow(const Spec& spec, int head, int query, Trace& trace) {
  const int count = spec.keyCount;
  const float* masked = trace.masked.row(head, query);
  float* exponentials = trace.exponentials.row(head, query);
  float* weights = trace.weights.row(head, query);
  const float max = *std::max_element(masked, masked + count);
  if (max == -std::numeric_limits<float>::infinity()) {  // no key is visible
    trace.rowMax.at(head, query, 0) = max;
    trace.rowSum.at(head, query, 0) = 0.0f;
    std::fill_n(exponentials, count, 0.0f);
    std::fill_n(weights, count, 0.0f);
    return;
  }
  const float sum = exponentialsOf(masked, count, max, spec.temperature, exponentials);
  trace.rowMax.at(head, query, 0) = saturate(double{max} / double{spec.temperature});
  trace.rowSum.at(head, query, 0) = sum;
  for (int j = 0; j < count; ++j) weights[j] = exponentials[j] / sum;
}

}  // namespace

float saturate(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return static_cast<float>(std::clamp(value, -kMost, kMost));
}

void shapeTrace(const Spec& spec, const Inputs& inputs, Trace& trace) {
  const int heads = spec.heads, queries = spec.queryCount, keys = spec.keyCount;
  trace.q.reshape(heads, queries, spec.headDim);
  trace.k.reshape(spec.kvHeads, keys, spec.headDim);
  trace.v.reshape(spec.kvHeads, keys, spec.valueDim);
  for (Tensor* t : {&trace.raw, &trace.scores, &trace.masked, &trace.exponentials, &trace.weights}) {
    t->reshape(heads, queries, keys);
  }
  trace.rowMax.reshape(heads, queries, 1);
  trace.rowSum.reshape(heads, queries, 1);
  trace.headOutput.reshape(heads, queries, spec.valueDim);
  trace.concat.reshape(1, queries, heads * spec.valueDim);
  trace.output.reshape(1, queries, inputs.wO ? inputs.wO->cols() : trace.concat.cols());
}

void makeQueries(const Spec&, const Inputs& in, int head, Span rows, Span cols, Trace& trace) {
  makeInput(in.q, in.x, in.wQ, head, rows, cols, trace.q);
}

void makeKeys(const Spec&, const Inputs& in, int kvHead, Span rows, Span cols, Trace& trace) {
  makeInput(in.k, in.x, in.wK, kvHead, rows, cols, trace.k);
}

void makeValues(const Spec&, const Inputs& in, int kvHead, Span rows, Span cols, Trace& trace) {
  makeInput(in.v, in.x, in.wV, kvHead, rows, cols, trace.v);
}

void makeRaw(const Spec& spec, int head, Span queries, Span keys, Trace& trace) {
  const ConstBlock k = block(std::as_const(trace.k), kvHeadOf(spec, head), keys, all(spec.headDim));
  multiply(block(trace.q, head, queries, all(spec.headDim)), k.transpose(), block(trace.raw, head, queries, keys));
}

void makeScores(const Spec& spec, int head, Span queries, Span keys, Trace& trace) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const float factor = scaleFactor(spec);
  block(trace.scores, head, queries, keys) =
      (block(trace.raw, head, queries, keys) * factor).cwiseMin(kMost).cwiseMax(-kMost);
}

void makeMasked(const Spec& spec, const PaintedMask* painted, int head, Span queries, Span keys, Trace& trace) {
  constexpr float kHidden = -std::numeric_limits<float>::infinity();
  for (int i = queries.begin; i < queries.end; ++i) {
    const KeyRange visible = visibleKeys(spec, i);
    const int begin = std::clamp(visible.begin, keys.begin, keys.end);
    const int end = std::clamp(visible.end, begin, keys.end);
    const float* scores = trace.scores.row(head, i);
    float* masked = trace.masked.row(head, i);
    std::fill(masked + keys.begin, masked + begin, kHidden);
    std::copy(scores + begin, scores + end, masked + begin);
    std::fill(masked + end, masked + keys.end, kHidden);
    if (!painted || painted->empty()) continue;
    for (int j = begin; j < end; ++j) {
      if (painted->isBlocked(i, j)) masked[j] = kHidden;
    }
  }
}

void makeWeights(const Spec& spec, int head, Span queries, Trace& trace) {
  for (int i = queries.begin; i < queries.end; ++i) makeWeightsRow(spec, head, i, trace);
}

void makeHeadOutput(const Spec& spec, int head, Span queries, Trace& trace) {
  multiply(block(trace.weights, head, queries, all(spec.keyCount)),
           block(trace.v, kvHeadOf(spec, head), all(spec.keyCount), all(spec.valueDim)),
           block(trace.headOutput, head, queries, all(spec.valueDim)));
}

void makeOutput(const Spec& spec, const Inputs& inputs, Span queries, Trace& trace) {
  for (int h = 0; h < spec.heads; ++h) {
    const int first = h * spec.valueDim;
    block(trace.concat, 0, queries, {first, first + spec.valueDim}) =
        block(trace.headOutput, h, queries, all(spec.valueDim));
  }
  const ConstBlock concat = block(std::as_const(trace.concat), 0, queries, all(trace.concat.cols()));
  Block output = block(trace.output, 0, queries, all(trace.output.cols()));
  if (!inputs.wO) {
    output = concat;
    return;
  }
  multiply(concat, block(*inputs.wO, 0, all(inputs.wO->rows()), all(inputs.wO->cols())), output);
}

}  // namespace attention
