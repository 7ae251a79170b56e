// This is the readable version: what the layer means, one step after the other, in double precision. It is not the
// version that runs; forward.cpp and engine.cpp are, and the tests hold them to this one.
#include "attention/reference.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attention {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// What a float can hold: ±3.4e38 at most.
double saturated(double value) {
  constexpr double kMost = std::numeric_limits<float>::max();
  return std::clamp(value, -kMost, kMost);
}

ReferenceTensor copied(const Tensor& tensor) {
  ReferenceTensor copy(tensor.heads(), tensor.rows(), tensor.cols());
  std::copy(tensor.values().begin(), tensor.values().end(), copy.values.begin());
  return copy;
}

/// Q = X W_Q and its like, split into heads: [L, model] times [model, heads·dim] gives [heads, L, dim].
ReferenceTensor projected(const Tensor& x, const Tensor& w, int heads) {
  ReferenceTensor out(heads, x.rows(), w.cols() / heads);
  for (int h = 0; h < out.heads; ++h) {
    for (int i = 0; i < out.rows; ++i) {
      for (int c = 0; c < out.cols; ++c) {
        double sum = 0.0;
        for (int m = 0; m < x.cols(); ++m) sum += double{x.at(0, i, m)} * double{w.at(0, m, h * out.cols + c)};
        out.at(h, i, c) = saturated(sum);
      }
    }
  }
  return out;
}

/// raw[h,i,j] = q_i · k_j, where query head h reads its group's key head.
ReferenceTensor dotProducts(const ReferenceTensor& q, const ReferenceTensor& k) {
  ReferenceTensor raw(q.heads, q.rows, k.rows);
  for (int h = 0; h < q.heads; ++h) {
    const int g = h / (q.heads / k.heads);
    for (int i = 0; i < q.rows; ++i) {
      for (int j = 0; j < k.rows; ++j) {
        double sum = 0.0;
        for (int c = 0; c < q.cols; ++c) sum += q.at(h, i, c) * k.at(g, j, c);
        raw.at(h, i, j) = saturated(sum);
      }
    }
  }
  return raw;
}

ReferenceTensor scaled(const Spec& spec, const ReferenceTensor& raw) {
  double factor = 1.0;
  if (spec.score == Score::scaled) factor = spec.scale != 0.0f ? double{spec.scale} : 1.0 / std::sqrt(spec.headDim);
  ReferenceTensor scores = raw;
  for (double& s : scores.values) s = saturated(s * factor);
  return scores;
}

/// Causal, window and painted cells, joined by and. `position` is where the query stands among the keys.
bool mayLook(const Spec& spec, const PaintedMask* painted, int query, int key) {
  const double position = static_cast<double>(spec.causalOffset) + query;
  if (spec.causal && key > position) return false;
  if (spec.windowLeft >= 0 && key < position - spec.windowLeft) return false;
  if (spec.windowRight >= 0 && key > position + spec.windowRight) return false;
  return !(painted && painted->isBlocked(query, key));
}

ReferenceTensor masked(const Spec& spec, const PaintedMask* painted, const ReferenceTensor& scores) {
  ReferenceTensor out = scores;
  for (int h = 0; h < out.heads; ++h) {
    for (int i = 0; i < out.rows; ++i) {
      for (int j = 0; j < out.cols; ++j) {
        if (!mayLook(spec, painted, i, j)) out.at(h, i, j) = -kInfinity;
      }
    }
  }
  return out;
}

/// softmax(s / T) of every row, with the largest s / T subtracted first: exp(s/T − max) / Σ exp(s/T − max).
void softmaxRows(double temperature, ReferenceTrace& trace) {
  const ReferenceTensor& s = trace.masked;
  trace.rowMax = ReferenceTensor(s.heads, s.rows, 1);
  trace.rowSum = ReferenceTensor(s.heads, s.rows, 1);
  trace.exponentials = trace.weights = ReferenceTensor(s.heads, s.rows, s.cols);
  for (int h = 0; h < s.heads; ++h) {
    for (int i = 0; i < s.rows; ++i) {
      double max = -kInfinity;
      for (int j = 0; j < s.cols; ++j) max = std::max(max, s.at(h, i, j) / temperature);
      trace.rowMax.at(h, i, 0) = max == -kInfinity ? max : saturated(max);
      if (max == -kInfinity) continue;  // every key is masked: the sum and the weights stay 0
      double sum = 0.0;
      for (int j = 0; j < s.cols; ++j) {
        sum += trace.exponentials.at(h, i, j) = std::exp(s.at(h, i, j) / temperature - max);
      }
      trace.rowSum.at(h, i, 0) = sum;
      for (int j = 0; j < s.cols; ++j) trace.weights.at(h, i, j) = trace.exponentials.at(h, i, j) / sum;
    }
  }
}

/// head_output[h,i] = Σ_j weights[h,i,j] · v_j.
ReferenceTensor weightedValues(const ReferenceTensor& weights, const ReferenceTensor& v) {
  ReferenceTensor out(weights.heads, weights.rows, v.cols);
  for (int h = 0; h < out.heads; ++h) {
    const int g = h / (weights.heads / v.heads);
    for (int i = 0; i < out.rows; ++i) {
      for (int c = 0; c < out.cols; ++c) {
        double sum = 0.0;
        for (int j = 0; j < v.rows; ++j) sum += weights.at(h, i, j) * v.at(g, j, c);
        out.at(h, i, c) = saturated(sum);
      }
    }
  }
  return out;
}

/// [heads, L, dim] to [1, L, heads·dim]: the heads side by side.
ReferenceTensor concatenated(const ReferenceTensor& heads) {
  ReferenceTensor out(1, heads.rows, heads.heads * heads.cols);
  for (int h = 0; h < heads.heads; ++h) {
    for (int i = 0; i < heads.rows; ++i) {
      for (int c = 0; c < heads.cols; ++c) out.at(0, i, h * heads.cols + c) = heads.at(h, i, c);
    }
  }
  return out;
}

ReferenceTensor timesOutputWeights(const ReferenceTensor& concat, const Tensor* wO) {
  if (!wO) return concat;
  ReferenceTensor out(1, concat.rows, wO->cols());
  for (int i = 0; i < out.rows; ++i) {
    for (int c = 0; c < out.cols; ++c) {
      double sum = 0.0;
      for (int m = 0; m < concat.cols; ++m) sum += concat.at(0, i, m) * double{wO->at(0, m, c)};
      out.at(0, i, c) = saturated(sum);
    }
  }
  return out;
}

}  // namespace

double ReferenceTensor::largest() const {
  double most = 0.0;
  for (double v : values) {
    if (std::isfinite(v)) most = std::max(most, std::abs(v));
  }
  return most;
}

ReferenceTrace reference(const Spec& spec, const Inputs& in) {
  ReferenceTrace trace;
  trace.q = in.q ? copied(*in.q) : projected(*in.x, *in.wQ, spec.heads);
  trace.k = in.k ? copied(*in.k) : projected(*in.x, *in.wK, spec.kvHeads);
  trace.v = in.v ? copied(*in.v) : projected(*in.x, *in.wV, spec.kvHeads);
  trace.raw = dotProducts(trace.q, trace.k);
  trace.scores = scaled(spec, trace.raw);
  trace.masked = masked(spec, in.painted, trace.scores);
  softmaxRows(double{spec.temperature}, trace);
  trace.headOutput = weightedValues(trace.weights, trace.v);
  trace.concat = concatenated(trace.headOutput);
  trace.output = timesOutputWeights(trace.concat, in.wO);
  return trace;
}

double errorBound(const Spec& spec, const Inputs& in, const ReferenceTrace& exact, TensorId id) {
  constexpr double kEps = 0x1p-23;
  const auto largest = [](const ReferenceTensor& t) { return std::max(1.0, t.largest()); };
  const double carried = in.projected() ? 4.0 : 1.0;  // Q and K are rounded before they are multiplied
  const double dot = carried * 8.0 * kEps * std::sqrt(spec.headDim);
  const double weights = carried * 4e-7 * std::max(1.0, exact.scores.largest() / double{spec.temperature});
  const double projection = in.projected() ? 8.0 * kEps * std::sqrt(in.x->cols()) : 0.0;
  const double value = weights * largest(exact.v) + projection * largest(exact.v);
  switch (id) {
    case TensorId::q: return projection * largest(exact.q);
    case TensorId::k: return projection * largest(exact.k);
    case TensorId::v: return projection * largest(exact.v);
    case TensorId::raw: return dot * largest(exact.raw);
    case TensorId::scores:
    case TensorId::masked: return dot * largest(exact.scores);
    case TensorId::row_max: return dot * largest(exact.scores) / double{spec.temperature} + kEps * largest(exact.rowMax);
    case TensorId::exponentials:
    case TensorId::weights: return weights;
    case TensorId::row_sum: return weights * largest(exact.rowSum);
    case TensorId::head_output:
    case TensorId::concat: return value;
    case TensorId::output: {
      if (!in.wO) return value;
      double column = 0.0;  // the largest Σ|w| that concat's error is multiplied by
      for (int c = 0; c < in.wO->cols(); ++c) {
        double sum = 0.0;
        for (int r = 0; r < in.wO->rows(); ++r) sum += std::abs(double{in.wO->at(0, r, c)});
        column = std::max(column, sum);
      }
      return 8.0 * kEps * std::sqrt(in.wO->rows()) * largest(exact.output) + value * column;
    }
    default: return 0.0;
  }
}

const ReferenceTensor* find(const ReferenceTrace& trace, TensorId id) {
  switch (id) {
    case TensorId::q: return &trace.q;
    case TensorId::k: return &trace.k;
    case TensorId::v: return &trace.v;
    case TensorId::raw: return &trace.raw;
    case TensorId::scores: return &trace.scores;
    case TensorId::masked: return &trace.masked;
    case TensorId::exponentials: return &trace.exponentials;
    case TensorId::row_max: return &trace.rowMax;
    case TensorId::row_sum: return &trace.rowSum;
    case TensorId::weights: return &trace.weights;
    case TensorId::head_output: return &trace.headOutput;
    case TensorId::concat: return &trace.concat;
    case TensorId::output: return &trace.output;
    default: return nullptr;
  }
}

}  // namespace attention
