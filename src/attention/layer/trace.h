// Every intermediate of one attention layer, kept so that any shown value can say where it came from.
#pragma once

#include "attention/layer/tensors.h"

namespace attention {

/// The intermediates. Filled by forward(), kept up to date by Engine. Fully masked rows have row_max -inf,
/// row_sum 0, weights 0 and output 0. No NaN appears from finite input.
/// Those of steps that the layer does not have are empty: positions and what is made with them, softcapped, biased, and
/// exponentials, row_max and row_sum of normalisers other than softmax.
template <class Numbers>
struct TraceOf {
  Numbers positions, xPositioned, xKvPositioned, qRotated, kRotated, softcapped, biased;
  Numbers q, k, v;
  Numbers raw, scores, masked, exponentials, rowMax, rowSum, weights;
  Numbers headOutput, concat, output;
};
using Trace = TraceOf<Tensor>;

/// The scores that a step reads: those of the nearest step above it in the table that the layer has.
template <class Numbers>
const Numbers& scoresBefore(const TraceOf<Numbers>& trace, TensorId id);

/// What a step reads of the steps before it, some of which the layer may not have. AnyTrace: Trace or ReferenceTrace.
template <class AnyTrace>
auto& queriesOf(AnyTrace& trace) { return trace.qRotated.empty() ? trace.q : trace.qRotated; }
template <class AnyTrace>
auto& keysOf(AnyTrace& trace) { return trace.kRotated.empty() ? trace.k : trace.kRotated; }
template <class AnyTrace>
auto& cappedOf(AnyTrace& trace) { return trace.softcapped.empty() ? trace.scores : trace.softcapped; }
template <class AnyTrace>
auto& biasedOf(AnyTrace& trace) { return scoresBefore(trace, TensorId::masked); }

/// The intermediates by id: all from TensorId::q on but the inputs.
template <class Numbers>
constexpr Numbers TraceOf<Numbers>::* intermediateOf(TensorId id) {
  using T = TraceOf<Numbers>;
  switch (id) {
    case TensorId::q: return &T::q;
    case TensorId::k: return &T::k;
    case TensorId::v: return &T::v;
    case TensorId::positions: return &T::positions;
    case TensorId::x_positioned: return &T::xPositioned;
    case TensorId::x_kv_positioned: return &T::xKvPositioned;
    case TensorId::q_rotated: return &T::qRotated;
    case TensorId::k_rotated: return &T::kRotated;
    case TensorId::raw: return &T::raw;
    case TensorId::scores: return &T::scores;
    case TensorId::softcapped: return &T::softcapped;
    case TensorId::biased: return &T::biased;
    case TensorId::masked: return &T::masked;
    case TensorId::exponentials: return &T::exponentials;
    case TensorId::row_max: return &T::rowMax;
    case TensorId::row_sum: return &T::rowSum;
    case TensorId::weights: return &T::weights;
    case TensorId::head_output: return &T::headOutput;
    case TensorId::concat: return &T::concat;
    case TensorId::output: return &T::output;
    default: return nullptr;
  }
}

/// The tensor of a trace behind an id; null for inputs, and where the layer does not have it.
template <class Numbers>
Numbers* intermediate(TraceOf<Numbers>& trace, TensorId id) {
  const auto member = intermediateOf<Numbers>(id);
  return member && !(trace.*member).empty() ? &(trace.*member) : nullptr;
}
template <class Numbers>
const Numbers* intermediate(const TraceOf<Numbers>& trace, TensorId id) {
  return intermediate(const_cast<TraceOf<Numbers>&>(trace), id);
}

template <class Numbers>
const Numbers& scoresBefore(const TraceOf<Numbers>& trace, TensorId id) {
  const Numbers* scores = nullptr;
  while (!scores && id != TensorId::raw) {
    id = static_cast<TensorId>(static_cast<int>(id) - 1);
    scores = intermediate(trace, id);
  }
  return scores ? *scores : trace.raw;
}

/// The tensor behind an id: from the trace, or from the inputs for x, w_* and the like; null where this layer has none.
const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id);

}  // namespace attention
