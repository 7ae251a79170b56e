// Backward pass of hierarchical attention.
#pragma once

#include "attention/models/hierarchy.h"
#include "attention/steps/products.h"

namespace attention {

struct LevelGradients {
  Tensor w, b, query;  ///< b is empty where the level has none
};
struct HierarchyGradients {
  Tensor h;
  LevelGradients tokens, segments;
};

/// ∂L/∂input from ∂L/∂(final sum), [1, 1, width]; `trace` must be the result of forwardHierarchy(). On each
/// level, with g the gradient of a sum: ∂a_i = g·h_i, then softmax, then ∂u_i = ∂s_i·u_w∘(1 − u_i²). Within
/// 1e-5 of the exact gradients, relative to the largest, for unit-normal inputs with widths up to 64.
void backwardHierarchy(const HierarchyInputs& inputs, const HierarchyTrace& trace, const Tensor& dSum,
                       HierarchyGradients& gradients, Products& products);

}  // namespace attention
