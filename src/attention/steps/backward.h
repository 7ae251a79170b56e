// The backward pass of the layer in float32: from the gradients of any of its steps to those of its inputs,
// using the numbers of a Trace. The backward pass of each step is in this folder; tests/reference/backward.h
// has the same in double, written to be read.
//
// Conventions: masked cells have gradient 0; a row with every key masked gives zeros, and so does the cosine
// of a zero vector; of several equal maxima of a row the first one counts; saturation at the largest float is
// ignored. Gradients saturate too: finite inputs never give NaN. Those of scores and normalisers are in
// mechanisms/.
#pragma once

#include <array>
#include <span>

#include "attention/steps/score.h"

namespace attention {

/// ∂L/∂tensor for an input or step of the layer that L reads directly. Has the shape of the tensor, and must
/// be finite.
struct Upstream {
  TensorId tensor = TensorId::output;
  const Tensor* gradient = nullptr;
};

/// The number of inputs that a gradient can be taken with respect to: x, w_q, w_k, w_v, w_o, q, k, v, x_kv,
/// w_a, u_a, v_a, bias, b_q, b_k, b_v, b_o, x_v, sink, the first of TensorId. q, k and v are included even
/// where they are projected from x; they are meant before rotary positions.
inline constexpr int kInputCount = static_cast<int>(TensorId::sink) + 1;
/// A set of inputs: bit n stands for the input whose TensorId is n.
using InputSet = std::uint32_t;
inline constexpr InputSet kAllInputs = (InputSet{1} << kInputCount) - 1;
inline constexpr InputSet inputSet(TensorId id) { return InputSet{1} << static_cast<int>(id); }

/// ∂L/∂input for the requested inputs, each in the shape of its input; empty for others, and for inputs that
/// the layer does not have.
struct Gradients {
  std::array<Tensor, kInputCount> inputs;
  Tensor& operator[](TensorId id) { return inputs[static_cast<std::size_t>(id)]; }
  const Tensor& operator[](TensorId id) const { return inputs[static_cast<std::size_t>(id)]; }
};

/// Memory kept between calls, so that a second call of the same shape allocates next to nothing. For one call
/// at a time.
struct BackwardScratch {
  ScoreMemory score;
  Tensor output, concat, headOutput, v, q, k, queries, keys, rows, weights, scores, product, packed;
};

/// Computes `gradients` for the inputs in `wanted`. The trace must be the result of forward(). Accuracy:
/// backwardBound().
void backward(const ComputedLayer& layer, std::span<const Upstream> upstream, InputSet wanted,
              Gradients& gradients, BackwardScratch& scratch);

/// One cell of a tensor.
struct TargetCell {
  TensorId tensor = TensorId::output;
  int head = 0, row = 0, col = 0;
};

/// An error if ∂target/∂wrt does not exist in this layer: a tensor that it does not have, a cell outside of
/// it, a `wrt` that is not an input. The error's field is "tensor", "head", "row", "col" or "wrt".
Result<void> checkGradient(const Inputs& inputs, const Trace& trace, const TargetCell& target, TensorId wrt);

/// ∂target/∂cell for every cell of the input `wrt`. Takes less than a millisecond for 16 tokens and 4 heads.
Result<Tensor> gradientOf(const Spec& spec, const Inputs& inputs, const Trace& trace,
                          const TargetCell& target, TensorId wrt, BackwardScratch& scratch);

}  // namespace attention
