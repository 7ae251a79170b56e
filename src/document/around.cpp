#include "document/around.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/draws.h"
#include "attention/forward.h"

namespace document {
namespace {

using attention::NormPlace;

constexpr int kUnits = 8;  // of a level of hierarchical attention

/// Numbers of N(0, size²) for matrix number `matrix` of those with this seed.
Tensor seeded(int rows, int cols, double size, std::uint32_t seed, std::uint64_t matrix) {
  Tensor out(1, rows, cols);
  attention::NormalDraws draws(std::uint64_t{seed} << 4 | matrix);
  for (float& v : out.values()) v = static_cast<float>(draws.next() * size);
  return out;
}

/// Of variance 1 / rows, so that what goes through keeps its size.
Tensor seededWeights(int rows, int cols, std::uint32_t seed, std::uint64_t matrix) {
  return seeded(rows, cols, 1 / std::sqrt(static_cast<double>(rows)), seed, matrix);
}

/// Q's heads side by side.
Tensor sideBySide(const Tensor& q) {
  Tensor out(1, q.rows(), q.heads() * q.cols());
  for (int h = 0; h < q.heads(); ++h)
    for (int r = 0; r < q.rows(); ++r) std::copy_n(q.row(h, r), q.cols(), out.row(0, r) + h * q.cols());
  return out;
}

/// The layer's output where it reads `x` instead of its own x, positions and all.
Tensor outputOf(const State& state, const attention::Trace& before, const Tensor& x) {
  attention::Spec layer = spec(state);
  attention::Inputs given = inputs(state);
  if (const Tensor* positioned = attention::find(given, before, TensorId::x_kv_positioned)) given.xKv = positioned;
  if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
  given.x = &x;
  attention::Trace trace;
  attention::forward(layer, given, trace);
  return std::move(trace.output);
}

attention::BlockSpec blockSpec(const BlockOptions& options, const Tensor& attended, bool fits) {
  attention::BlockSpec out;
  out.rows = attended.rows(), out.width = attended.cols();
  out.hidden = std::min(out.width * options.hidden, attention::BlockLimits::hidden);
  out.residual = options.residual && fits;
  out.norm = !fits && options.norm == NormPlace::pre ? NormPlace::none : options.norm;
  out.activation = options.activation;
  out.dropRate = options.dropout, out.seed = options.seed, out.training = options.dropout > 0;
  return out;
}

}  // namespace

attention::BlockInputs BlockRun::inputs() const {
  attention::BlockInputs in;
  in.x = &x, in.attention = &attended, in.w1 = &w1, in.w2 = &w2;
  return in;
}

BlockRun runBlock(const State& state, const attention::Trace& trace) {
  const attention::Inputs given = inputs(state);
  const Tensor* positioned = attention::find(given, trace, TensorId::x_positioned);
  const Tensor* x = positioned != nullptr ? positioned : attention::find(given, trace, TensorId::x);
  BlockRun out;
  out.attended = trace.output;
  out.given = x == nullptr;
  out.x = x != nullptr ? *x : sideBySide(trace.q);
  out.spec = blockSpec(state.block, out.attended, out.x.sameShape(out.attended));
  out.w1 = seededWeights(out.spec.width, out.spec.hidden, state.block.seed, 0);
  out.w2 = seededWeights(out.spec.hidden, out.spec.width, state.block.seed, 1);
  if (out.spec.norm == NormPlace::pre && !out.given) {
    Tensor normed;
    attention::Moments moments;
    attention::layerNorm(*x, nullptr, nullptr, out.spec.epsilon, moments, normed);
    out.attended = outputOf(state, trace, normed);
  }
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  return out;
}

attention::HierarchyInputs SegmentsRun::inputs() const {
  return {&h, starts, {&tokenW, nullptr, &tokenQuery}, {&segmentW, nullptr, &segmentQuery}};
}

SegmentsRun runSegments(const State& state, const attention::Trace& trace) {
  const SegmentOptions& options = state.segments;
  SegmentsRun out;
  out.h = trace.output;
  const int tokens = out.h.rows(), width = out.h.cols();
  out.starts = options.by == SegmentBy::punctuation ? attention::splitAtPunctuation(state.labels)
                                                    : attention::splitEvery(tokens, options.tokens);
  out.tokenW = seededWeights(width, kUnits, options.seed, 0);
  out.tokenQuery = seeded(1, kUnits, 1, options.seed, 1);
  out.segmentW = seededWeights(width, kUnits, options.seed, 2);
  out.segmentQuery = seeded(1, kUnits, 1, options.seed, 3);
  attention::forwardHierarchy(out.inputs(), out.trace);
  return out;
}

}  // namespace document
