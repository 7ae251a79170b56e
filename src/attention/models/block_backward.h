// The block around the layer backwards: dropout, residuals, layer normalisation and the feed-forward network.
#pragma once

#include <span>

#include "attention/models/block.h"
#include "attention/steps/products.h"

namespace attention {

/// ∂L/∂stage of one stage of a block, where L reads it directly; in the stage's shape, of finite numbers.
struct BlockUpstream {
  BlockStage stage = BlockStage::norm_2;
  const Tensor* gradient = nullptr;
};

/// ∂L/∂input of everything that a block reads, each in the shape of its input; empty for inputs that were not given.
struct BlockGradients {
  Tensor x, attention, gamma1, delta1, w1, b1, w2, b2, gamma2, delta2;
};

/// Fills `gradients` from those of some stages; `trace` is what forwardBlock() made. float32 products, the rest in double:
/// within 1e-5 of the exact ones, relative to the largest, for unit-normal inputs of widths up to 64. ReLU has 0 at 0; what
/// dropout dropped has 0. With pre-norm the layer reads norm_1: the gradient that it gives goes in as one of norm_1 in a
/// second call, or through layerNormBackward().
void backwardBlock(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace,
                   std::span<const BlockUpstream> upstream, BlockGradients& gradients, Products& products);

/// Adds ∂L/∂x of layerNorm() to `dX`, and to dGamma and dDelta where they are not null and not empty. With x̂ the normalised
/// row and g = γ∘∂L/∂out: ∂x = (g − mean(g) − x̂·mean(g∘x̂)) / √(variance + ε).
void layerNormBackward(const Tensor& x, const Tensor* gamma, const Moments& moments, const Tensor& dOut, Tensor& dX,
                       Tensor* dGamma, Tensor* dDelta);

/// The derivative of an activation where its sum is h.
double activationSlope(Activation activation, double h);

}  // namespace attention
