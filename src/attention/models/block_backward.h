// Backward pass of the block: dropout, residuals, layer normalisation and the feed-forward network.
#pragma once

#include <span>

#include "attention/models/block.h"
#include "attention/steps/products.h"

namespace attention {

/// ∂L/∂stage for a stage of a block that L reads directly; has the stage's shape, and must be finite.
struct BlockUpstream {
  BlockStage stage = BlockStage::norm_2;
  const Tensor* gradient = nullptr;
};

/// ∂L/∂input for every input of a block, each in the shape of the input; empty for inputs that were not
/// given.
struct BlockGradients {
  Tensor x, attention, gamma1, delta1, w1, b1, w2, b2, gamma2, delta2;
};

/// Computes `gradients` from the upstream gradients; `trace` must be the result of forwardBlock(). Products
/// are in float32, the rest in double: within 1e-5 of the exact gradients, relative to the largest, for
/// unit-normal inputs with widths up to 64. ReLU has derivative 0 at 0; dropped numbers have gradient 0. With
/// pre-norm the attention layer reads norm_1, so the gradient that the layer returns must be passed back in
/// as an upstream gradient of norm_1 in a second call, or to layerNormBackward().
void backwardBlock(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace,
                   std::span<const BlockUpstream> upstream, BlockGradients& gradients, Products& products);

/// Where layerNormBackward() adds its gradients; those of γ and δ may be null or empty.
struct LayerNormGradients {
  Tensor& x;
  Tensor *gamma = nullptr, *delta = nullptr;
};

/// Adds the gradients of layerNorm() with respect to x, γ and δ. With x̂ the normalised row and g = γ∘∂L/∂out:
/// ∂x = (g − mean(g) − x̂·mean(g∘x̂)) / √(variance + ε).
void layerNormBackward(const Tensor& x, const Tensor* gamma, const Moments& moments, const Tensor& dOut,
                       const LayerNormGradients& g);

/// The derivative of an activation function at h.
double activationSlope(Activation activation, double h);

}  // namespace attention
