#include "document/around.h"

#include <algorithm>
#include <utility>

#include "attention/forward.h"

namespace document {
namespace {

using attention::NormPlace;

/// Null for one that is empty.
const Tensor* numbersOf(const Parameters& parameters, ParameterId id) {
  return parameters[id].empty() ? nullptr : &parameters[id];
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
  out.activation = options.activation, out.epsilon = options.epsilon;
  out.dropRate = options.dropout, out.seed = options.seed, out.training = options.dropout > 0;
  return out;
}

}  // namespace

attention::BlockInputs BlockRun::inputs() const {
  attention::BlockInputs in;
  in.x = &x, in.attention = &attended;
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  in.gamma1 = of(ParameterId::gamma_1), in.delta1 = of(ParameterId::delta_1);
  in.w1 = of(ParameterId::w_1), in.b1 = of(ParameterId::b_1);
  in.w2 = of(ParameterId::w_2), in.b2 = of(ParameterId::b_2);
  in.gamma2 = of(ParameterId::gamma_2), in.delta2 = of(ParameterId::delta_2);
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
  out.parameters = state.parameters;
  for (const ParameterId id : {ParameterId::w_1, ParameterId::w_2}) out.parameters[id] = parameter(state, id);
  if (out.spec.norm == NormPlace::pre && !out.given) {
    Tensor normed;
    attention::Moments moments;
    const attention::BlockInputs in = out.inputs();
    attention::layerNorm(*x, in.gamma1, in.delta1, out.spec.epsilon, moments, normed);
    out.attended = outputOf(state, trace, normed);
  }
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  return out;
}

attention::HierarchyInputs SegmentsRun::inputs() const {
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  return {&h,
          starts,
          {of(ParameterId::token_w), of(ParameterId::token_b), of(ParameterId::token_query)},
          {of(ParameterId::segment_w), of(ParameterId::segment_b), of(ParameterId::segment_query)}};
}

SegmentsRun runSegments(const State& state, const attention::Trace& trace) {
  const SegmentOptions& options = state.segments;
  SegmentsRun out;
  out.h = trace.output;
  const int tokens = out.h.rows();
  out.starts = options.by == SegmentBy::punctuation ? attention::splitAtPunctuation(state.labels)
                                                    : attention::splitEvery(tokens, options.tokens);
  out.parameters = state.parameters;
  for (const ParameterId id :
       {ParameterId::token_w, ParameterId::token_query, ParameterId::segment_w, ParameterId::segment_query})
    out.parameters[id] = parameter(state, id);
  attention::forwardHierarchy(out.inputs(), out.trace);
  return out;
}

}  // namespace document
