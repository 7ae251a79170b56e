#include "attention/steps/steps.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>

#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"
#include "attention/steps/position.h"

namespace attention {
namespace {

constexpr float kMost = std::numeric_limits<float>::max();

/// to[rows] = x[rows] · w[:, columns].
void multiply(const Tensor& x, const Tensor& w, Span rows, Span columns, float* to, int toStride) {
  const kernels::Kernel kernel = kernels::best();
  if (columns.size() == 1 &&
      x.cols() <=
          Limits::modelDim) {  // a column is strided in w: copied together, it can be used in dot products
    float column[Limits::modelDim];
    for (int i = 0; i < x.cols(); ++i) column[i] = w.at(0, i, columns.begin);
    return kernels::dots(kernel, column, x.row(0, rows.begin), x.cols(), rows.size(), x.cols(), to, toStride);
  }
  for (int r = rows.begin; r < rows.end; ++r, to += toStride) {
    kernels::weightedSum(kernel, x.row(0, r), w.data() + columns.begin, w.cols(), x.cols(), columns.size(),
                         to);
  }
}

/// What Q, K or V is: `given`, or x·w + bias.
struct Projection {
  const Tensor *given, *x, *w, *bias;
};

/// A block of head `head` of Q, K or V.
void makeInput(const Projection& from, int head, Span rows, Span cols, Tensor& out) {
  const auto& [given, x, w, bias] = from;
  if (rows.empty() || cols.empty()) return;
  if (!given) {
    const int first = head * out.cols() + cols.begin;
    float* to = out.row(head, rows.begin) + cols.begin;
    multiply(*x, *w, rows, {first, first + cols.size()}, to, out.cols());
    return addBias(bias, first, rows.size(), cols.size(), to, out.cols());
  }
  for (int r = rows.begin; r < rows.end; ++r) {
    std::copy_n(given->row(head, r) + cols.begin, cols.size(), out.row(head, r) + cols.begin);
  }
}

/// Puts `hidden` in a row wherever its mask hides the key; for any mask, cell by cell.
void hide(const Spec& spec, const PaintedMask* painted, int query, Span keys, float hidden, float* row) {
  const MaskRow mask(spec, query);
  for (int j = keys.begin; j < keys.end; ++j)
    if (!mask.sees(j) || (painted && painted->isBlocked(query, j))) row[j] = hidden;
}

/// The weights of one row for normalisers other than softmax, from its masked scores.
void makeOtherWeights(const Spec& spec, int head, int query, Trace& trace) {
  const float* masked = trace.masked.row(head, query);
  float* weights = trace.weights.row(head, query);
  const float inverse = 1.0f / spec.temperature;
  for (int j = 0; j < spec.keyCount; ++j) {
    weights[j] = masked[j] == kHiddenScore ? kHiddenScore : std::clamp(masked[j] * inverse, -kMost, kMost);
  }
  normalizerOf(spec).weigh(weights, spec.keyCount, weights);
}

/// Adds the sink to the maximum and the sum of a row of `count` keys, and to what follows from them. Not
/// inlined, so that the page's first part does not have it.
[[gnu::noinline]] void addSink(const Spec& spec, float sink, int count, kernels::SoftmaxRow& row,
                               float* exponentials, float* weights) {
  sink = std::clamp(sink * (1.0f / spec.temperature), -kMost, kMost);
  const float max = std::max(row.max, sink), shrink = std::exp(row.max - max);
  const kernels::Kernel kernel = kernels::best();
  if (shrink < 1.0f) kernels::scale(kernel, shrink, exponentials, count, exponentials);
  row = {max, row.sum * shrink + std::exp(sink - max)};
  kernels::scale(kernel, 1.0f / row.sum, exponentials, count, weights);
}

/// Has the allocator take the memory of pairs that will be stored in one piece, which they divide then: in
/// the page, each time that the memory grows by so much, the browser stops to look for garbage.
void makeRoom(const Spec& spec, const Inputs& inputs, Trace& trace) {
  constexpr std::size_t kMuch = std::size_t{1} << 22, kOfAllocator = 1024;
  std::size_t numbers = 0;
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorRow& row = tensorRow(kLayerTensors[i]);
    const auto made = intermediateOf<Tensor>(row.id);
    if (!made || !isOfPairs(row.id) || !exists(row.id, spec, inputs)) continue;
    const auto size = [&](Size axis) { return static_cast<std::size_t>(sizeOf(axis, spec, inputs)); };
    const std::size_t wanted = size(row.heads) * size(row.rows) * size(row.columns);
    if (wanted <= (trace.*made).size()) continue;
    trace.*made = Tensor();  // makes room for its successor
    numbers += wanted;
  }
  if (numbers > kMuch) ::operator delete(::operator new(numbers * sizeof(float) + kOfAllocator));
}

}  // namespace

float saturate(double value) { return static_cast<float>(std::clamp(value, -double{kMost}, double{kMost})); }

void addBias(const Tensor* bias, int first, int rows, int count, float* to, int stride) {
  if (!bias) return;
  const float* add = bias->data() + first;
  for (int r = 0; r < rows; ++r, to += stride) {
    for (int c = 0; c < count; ++c) to[c] = std::clamp(to[c] + add[c], -kMost, kMost);
  }
}

int kvHeadOf(const Spec& spec, int head) { return head / (spec.heads / spec.kvHeads); }

void shapeTrace(const Spec& spec, const Inputs& inputs, Trace& trace, RowSource* pairs, bool isOfRows) {
  if (!pairs) makeRoom(spec, inputs, trace);
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorRow& row = tensorRow(kLayerTensors[i]);
    const auto made = intermediateOf<Tensor>(row.id);
    if (!made) continue;
    const auto size = [&](Size axis) { return sizeOf(axis, spec, inputs); };
    const bool isMade = isOfPairs(row.id) || (isOfRows && row.id >= TensorId::row_max);
    if (pairs && isMade && exists(row.id, spec, inputs))
      (trace.*made)
          .reshapeUnstored(*pairs, static_cast<int>(row.id), size(row.heads), size(row.rows),
                           size(row.columns));
    else if (exists(row.id, spec, inputs))
      (trace.*made).reshapeUnwritten(size(row.heads), size(row.rows), size(row.columns));
    else (trace.*made).reshape(0, 0, 0);
  }
}

void makeQueries(const Inputs& in, int head, Span rows, Span cols, Trace& trace) {
  makeInput({in.q, queryRows(in, trace), in.wQ, in.bQ}, head, rows, cols, trace.q);
}

void makeKeys(const Inputs& in, int kvHead, Span rows, Span cols, Trace& trace) {
  makeInput({in.k, keyRows(in, trace), in.wK, in.bK}, kvHead, rows, cols, trace.k);
}

void makeValues(const Inputs& in, int kvHead, Span rows, Span cols, Trace& trace) {
  makeInput({in.v, valueRows(in, trace), in.wV, in.bV}, kvHead, rows, cols, trace.v);
}

const Tensor* queryRows(const Inputs& in, const Trace& trace) {
  return trace.xPositioned.empty() ? in.x : &trace.xPositioned;
}

const Tensor* keyRows(const Inputs& in, const Trace& trace) {
  if (!in.xKv) return queryRows(in, trace);
  return trace.xKvPositioned.empty() ? in.xKv : &trace.xKvPositioned;
}

void makeRaw(const Spec& spec, int head, Span queries, Span keys, Trace& trace) {
  if (queries.empty() || keys.empty()) return;
  const kernels::Kernel kernel = kernels::best();
  const int dim = spec.headDim;
  const float* firstKey = trace.k.row(kvHeadOf(spec, head), keys.begin);
  if (keys.size() == 1) {
    kernels::dots(kernel, firstKey, trace.q.row(head, queries.begin), dim, queries.size(), dim,
                  trace.raw.row(head, queries.begin) + keys.begin, spec.keyCount);
    return;
  }
  for (int i = queries.begin; i < queries.end; ++i) {
    kernels::dots(kernel, trace.q.row(head, i), firstKey, dim, keys.size(), dim,
                  trace.raw.row(head, i) + keys.begin, 1);
  }
}

void makeScores(const Spec& spec, int head, Span queries, Span keys, Trace& trace) {
  const float factor = scaleFactor(spec);
  for (int i = queries.begin; i < queries.end; ++i) {
    const float* raw = trace.raw.row(head, i) + keys.begin;
    float* scores = trace.scores.row(head, i) + keys.begin;
    kernels::scale(kernels::best(), factor, raw, keys.size(), scores);
    if (std::abs(factor) <= 1.0f) continue;  // then no score can have overflowed
    for (int j = 0; j < keys.size(); ++j) scores[j] = std::min(std::max(scores[j], -kMost), kMost);
  }
}

void makeScoreSteps(const Spec& spec, const Inputs& in, int head, Span queries, Trace& trace) {
  for (TensorId id = TensorId::scores; id != TensorId::masked;
       id = static_cast<TensorId>(static_cast<int>(id) + 1)) {
    const auto make = tensorRow(id).step.make;
    if (make && exists(id, spec, in)) make(spec, in, head, queries, trace);
  }
}

void makeSoftcapped(const Spec& spec, const Inputs&, int head, Span queries, Trace& trace) {
  for (int i = queries.begin; i < queries.end; ++i) {
    const float* scores = trace.scores.row(head, i);
    float* capped = trace.softcapped.row(head, i);
    for (int j = 0; j < spec.keyCount; ++j) capped[j] = spec.softcap * std::tanh(scores[j] / spec.softcap);
  }
}

double slopeOfSoftcap(const Spec& spec, double capped) {  // ∂(c·tanh(s/c)) = 1 − tanh²
  const double tanh = capped / double{spec.softcap};
  return (1.0 - tanh) * (1.0 + tanh);
}

void makeBiased(const Spec& spec, const Inputs& in, int head, Span queries, Trace& trace) {
  const float slope = spec.position == Position::alibi ? slopeOf(spec, head) : 0.0f;
  for (int i = queries.begin; i < queries.end; ++i) {
    const float* scores = scoresBefore(trace, TensorId::biased).row(head, i);
    float* biased = trace.biased.row(head, i);
    const float position = static_cast<float>(std::int64_t{i} + spec.causalOffset);
    for (int j = 0; j < spec.keyCount; ++j) {
      biased[j] = std::max(scores[j] - slope * std::abs(position - static_cast<float>(j)), -kMost);
    }
    if (!in.bias) continue;
    const float* bias = in.bias->row(in.bias->heads() == 1 ? 0 : head, i);
    for (int j = 0; j < spec.keyCount; ++j) {
      biased[j] = bias[j] == kHiddenScore ? kHiddenScore : std::clamp(biased[j] + bias[j], -kMost, kMost);
    }
  }
}

void makeMasked(const Spec& spec, const PaintedMask* painted, int head, Span queries, Span keys,
                Trace& trace) {
  const bool isRange = spec.prefix == 0 && !spec.pattern.any();
  for (int i = queries.begin; i < queries.end; ++i) {
    const float* scores = biasedOf(trace).row(head, i);
    float* masked = trace.masked.row(head, i);
    if (spec.maskAfterSoftmax || !isRange) {
      std::copy(scores + keys.begin, scores + keys.end, masked + keys.begin);
      if (!spec.maskAfterSoftmax) hide(spec, painted, i, keys, kHiddenScore, masked);
      continue;
    }
    const KeyRange visible = visibleKeys(spec, i);
    const int begin = std::clamp(visible.begin, keys.begin, keys.end);
    const int end = std::clamp(visible.end, begin, keys.end);
    std::fill(masked + keys.begin, masked + begin, kHiddenScore);
    std::fill(masked + end, masked + keys.end, kHiddenScore);
    if (!painted || painted->empty()) {
      std::copy(scores + begin, scores + end, masked + begin);
      continue;
    }
    const std::uint8_t* blocked =
        painted->blocked.data() + static_cast<std::size_t>(i) * static_cast<std::size_t>(painted->cols);
    for (int j = begin; j < end; ++j) masked[j] = blocked[j] ? kHiddenScore : scores[j];
  }
}

void makeWeights(const Spec& spec, const Inputs& in, int head, Span queries, Trace& trace) {
  const kernels::Kernel kernel = kernels::best();
  for (int i = queries.begin; i < queries.end; ++i) {
    if (!isSoftmax(spec)) {
      makeOtherWeights(spec, head, i, trace);
      continue;
    }
    // Only visible keys are computed; the rest of the row is zeros.
    const KeyRange visible = spec.maskAfterSoftmax ? KeyRange{0, spec.keyCount} : visibleKeys(spec, i);
    float *exponentials = trace.exponentials.row(head, i), *weights = trace.weights.row(head, i);
    kernels::SoftmaxRow row =
        kernels::softmax(kernel, trace.masked.row(head, i) + visible.begin, spec.temperature,
                         visible.end - visible.begin, exponentials + visible.begin, weights + visible.begin);
    if (hasSink(spec))
      addSink(spec, in.sink->at(head, 0, 0), visible.end - visible.begin, row, exponentials + visible.begin,
              weights + visible.begin);
    for (float* zeroed : {exponentials, weights}) {
      std::fill(zeroed, zeroed + visible.begin, 0.0f);
      std::fill(zeroed + visible.end, zeroed + spec.keyCount, 0.0f);
    }
    trace.rowMax.at(head, i, 0) = row.max;
    trace.rowSum.at(head, i, 0) = row.sum;
  }
}

void maskWeights(const Spec& spec, const PaintedMask* painted, int head, Span queries, Trace& trace) {
  if (!spec.maskAfterSoftmax) return;
  for (int i = queries.begin; i < queries.end; ++i) {
    hide(spec, painted, i, {0, spec.keyCount}, 0.0f, trace.weights.row(head, i));
  }
}

void makeHeadOutput(const Spec& spec, int head, Span queries, Trace& trace) {
  const kernels::Kernel kernel = kernels::best();
  const int kvHead = kvHeadOf(spec, head), dim = spec.valueDim;
  for (int i = queries.begin; i < queries.end; ++i) {
    const KeyRange visible = visibleKeys(spec, i);
    float* out = trace.headOutput.row(head, i);
    std::fill_n(out, dim, 0.0f);
    if (visible.begin == visible.end) continue;
    kernels::weightedSum(kernel, trace.weights.row(head, i) + visible.begin,
                         trace.v.row(kvHead, visible.begin), dim, visible.end - visible.begin, dim, out);
  }
}

void makeConcat(const Spec& spec, int head, Span queries, Trace& trace) {
  for (int i = queries.begin; i < queries.end; ++i) {
    if (isHidden(spec, head)) {
      std::fill_n(trace.concat.row(0, i) + head * spec.valueDim, spec.valueDim, 0.0f);
      continue;
    }
    std::copy_n(trace.headOutput.row(head, i), spec.valueDim, trace.concat.row(0, i) + head * spec.valueDim);
  }
}

void makeOutput(const Inputs& inputs, Span queries, Span cols, Trace& trace) {
  if (queries.empty() || cols.empty()) return;
  float* to = trace.output.row(0, queries.begin) + cols.begin;
  if (inputs.wO) {
    multiply(trace.concat, *inputs.wO, queries, cols, to, trace.output.cols());
    return addBias(inputs.bO, cols.begin, queries.size(), cols.size(), to, trace.output.cols());
  }
  for (int i = queries.begin; i < queries.end; ++i, to += trace.output.cols()) {
    std::copy_n(trace.concat.row(0, i) + cols.begin, cols.size(), to);
  }
}

}  // namespace attention
