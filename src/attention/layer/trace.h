// All intermediates of one attention layer, kept so that every shown value can be explained.
#pragma once

#include "attention/layer/tensors.h"

namespace attention {

/// The intermediates. Computed by forward(), kept up to date by Engine. Fully masked rows have row_max -inf,
/// row_sum 0, weights 0 and output 0. Finite inputs never give NaN. Steps that the layer does not have are
/// empty: positions and what is computed from them, softcapped, biased, and for normalisers other than
/// softmax exponentials, row_max and row_sum.
template <class Numbers>
struct TraceOf {
  Numbers positions, xPositioned, xKvPositioned, qRotated, kRotated, softcapped, biased;
  Numbers q, k, v;
  Numbers raw, scores, masked, exponentials, rowMax, rowSum, weights;
  Numbers headOutput, concat, output;
};
using Trace = TraceOf<Tensor>;

/// The scores that a step reads: those of the nearest preceding step of the table that the layer has.
template <class Numbers>
const Numbers& scoresBefore(const TraceOf<Numbers>& trace, TensorId id);

/// The result of the last of several optional steps that the layer has. AnyTrace is Trace or ReferenceTrace.
template <class AnyTrace>
auto& queriesOf(AnyTrace& trace) {
  return trace.qRotated.empty() ? trace.q : trace.qRotated;
}
template <class AnyTrace>
auto& keysOf(AnyTrace& trace) {
  return trace.kRotated.empty() ? trace.k : trace.kRotated;
}
template <class AnyTrace>
auto& cappedOf(AnyTrace& trace) {
  return trace.softcapped.empty() ? trace.scores : trace.softcapped;
}
template <class AnyTrace>
auto& biasedOf(AnyTrace& trace) {
  return scoresBefore(trace, TensorId::masked);
}

/// The member that holds an intermediate; null for inputs.
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

/// The intermediate with that id; null for inputs, and where the layer does not have it.
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

/// A layer, and what was computed of it. An argument: it only refers to them.
struct ComputedLayer {
  const Spec& spec;
  const Inputs& inputs;
  const Trace& trace;
};

/// The tensor with that id, from the trace or from the inputs; null where the layer does not have it.
const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id);

}  // namespace attention
