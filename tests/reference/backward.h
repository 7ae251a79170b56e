// The backward pass, written to be read: double precision, scalar loops, the chain rule for one step per
// function, from the last step to the first. It shares no code with the fast one (steps/backward.h), and only
// tests should call it.
//
// Sources: the papers of the individual steps (spec.h); the Jacobian of softmax is diag(p) − p·pᵀ, that of
// sparsemax diag(s) − s·sᵀ/|S|, where s is the indicator vector of the support S (Martins and Astudillo 2016,
// proposition 2). Conventions where there is no derivative: 0 for ReLU at 0, for hardmax, for the cosine of a
// zero vector and for masked cells; saturation at the largest float is ignored.
#pragma once

#include <array>

#include "attention/reference/reference.h"

namespace attention {

/// ∂L/∂tensor for every tensor of a layer, inputs and steps, indexed by TensorId; empty where there is none.
/// L is the scalar whose upstream gradients were given.
struct ReferenceGradients {
  std::array<ReferenceTensor, kTensorCount> tensors;
  ReferenceTensor& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  const ReferenceTensor& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
};

/// Completes the given gradients (`upstream`, of any tensors) with those of all tensors that these are
/// computed from. The given gradient of a step is that of an L which reads the step directly.
ReferenceGradients referenceBackward(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace,
                                     ReferenceGradients upstream);

/// Bound on |fast − reference| for any cell of ∂L/∂(input `id`). Derived from worst-case rounding, step by
/// step: a sum of n products a·b is off by at most n·(off(a)·|b| + |a|·off(b) + 4·2^-23·|a·b|), with the
/// largest magnitudes for |a| and |b|, and the trace by errorBound(). Infinite where a score is so close to
/// the edge of the support of sparsemax, or to the 0 of ReLU, that the float trace may be on the other side.
/// The largest measured errors are in tests/unit/test_backward.cpp.
double backwardBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace,
                     const ReferenceGradients& upstream, TensorId id);

}  // namespace attention
