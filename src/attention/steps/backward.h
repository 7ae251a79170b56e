// The layer backwards, in float32: from gradients of any of its steps to gradients of its inputs, by the numbers that a Trace
// holds. Each step's backward stands in this folder; reference/backward.h has the same in double, written to be read.
//
// Conventions: ReLU has derivative 0 at 0 (PyTorch's); hard maxima 0 everywhere; sparsemax the Jacobian of Martins and
// Astudillo 2016, proposition 2; masked cells 0; a row with every key masked gives zeros; a cosine with a vector of zeros 0;
// the largest of a row, where several are, is the first; what saturated at the largest float counts as if it had not.
// Gradients saturate too: no NaN comes from finite numbers.
#pragma once

#include <array>
#include <span>

#include "attention/steps/score_backward.h"

namespace attention {

/// ∂L/∂tensor for one tensor of the layer, an input or a step, where L reads that tensor directly. The shape is the tensor's,
/// the numbers are finite.
struct Upstream {
  TensorId tensor = TensorId::output;
  const Tensor* gradient = nullptr;
};

/// The inputs of a layer that a gradient may be asked by: x, w_q, w_k, w_v, w_o, q, k, v, x_kv, w_a, u_a, v_a, bias, b_q, b_k,
/// b_v, b_o, x_v. They are the first of TensorId. q, k and v also where they are projected from x: before rotary turns them.
inline constexpr int kInputCount = static_cast<int>(TensorId::x_v) + 1;
/// A set of inputs: bit n stands for the input with TensorId n.
using InputSet = std::uint32_t;
inline constexpr InputSet kAllInputs = (InputSet{1} << kInputCount) - 1;
inline constexpr InputSet inputSet(TensorId id) { return InputSet{1} << static_cast<int>(id); }

/// ∂L/∂input of the inputs that were asked for, each with the shape of its input; empty for those that were not, and for
/// those that the layer does not have.
struct Gradients {
  std::array<Tensor, kInputCount> inputs;
  Tensor& operator[](TensorId id) { return inputs[static_cast<std::size_t>(id)]; }
  const Tensor& operator[](TensorId id) const { return inputs[static_cast<std::size_t>(id)]; }
};

/// Memory that calls share, so that a second call of the same shape allocates next to nothing. One call at a time.
struct BackwardScratch {
  Products products;
  ScoreBackward score;
  Tensor output, concat, headOutput, v, q, k, queries, keys, rows, weights, scores, product, packed;
};

/// Fills `gradients` for the inputs in `wanted`. `trace` is what forward() made of `spec` and `inputs`.
/// How far the numbers may be from exact ones: backwardBound().
void backward(const Spec& spec, const Inputs& inputs, const Trace& trace, std::span<const Upstream> upstream,
              InputSet wanted, Gradients& gradients, BackwardScratch& scratch);

/// One cell of a tensor.
struct TargetCell {
  TensorId tensor = TensorId::output;
  int head = 0, row = 0, col = 0;
};

/// Says why there is no ∂target/∂wrt in this layer: tensors that it does not have, cells outside of them, a `wrt` that is no
/// input. Fields are "tensor", "head", "row", "col" and "wrt".
Result<void> checkGradient(const Inputs& inputs, const Trace& trace, const TargetCell& target, TensorId wrt);

/// ∂target/∂cell for every cell of the input `wrt`. Less than a millisecond for 16 tokens and 4 heads.
Result<Tensor> gradientOf(const Spec& spec, const Inputs& inputs, const Trace& trace, const TargetCell& target, TensorId wrt,
                          BackwardScratch& scratch);

}  // namespace attention
