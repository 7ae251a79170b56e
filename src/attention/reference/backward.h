// The backward pass written to be read: double precision, scalar loops, the chain rule of one step per function, from the
// last step to the first. It shares no code with the fast one (steps/backward.h); nothing but tests should call it.
//
// Sources: the steps' own papers (spec.h); the Jacobian of softmax is diag(p) − p·pᵀ, that of sparsemax is Martins and
// Astudillo 2016, proposition 2: diag(s) − s·sᵀ/|S|, where s marks the support S. Conventions where there is no derivative:
// ReLU has 0 at 0, hard maxima have 0, cosine has 0 where a vector is 0, masked cells have 0, and a sum that saturates at
// the largest float counts as if it had not.
#pragma once

#include <array>

#include "attention/reference/reference.h"

namespace attention {

/// ∂L/∂tensor of every tensor of a layer, inputs and steps, by TensorId; empty where there is none. L is whatever number
/// the gradients that one starts from belong to.
struct ReferenceGradients {
  std::array<ReferenceTensor, kTensorCount> tensors;
  ReferenceTensor& operator[](TensorId id) { return tensors[static_cast<std::size_t>(id)]; }
  const ReferenceTensor& operator[](TensorId id) const { return tensors[static_cast<std::size_t>(id)]; }
};

/// Adds to the gradients that are given (`upstream`, of any tensors) what follows for all the others. A given gradient of a
/// step is one of a number that reads the step directly.
ReferenceGradients referenceBackward(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace,
                                     ReferenceGradients upstream);

/// How far ∂L/∂(input `id`) of backward() may be from that of the reference, absolutely, in any cell. Worst-case rounding of
/// one step after the other, where a sum of n products a·b is off by n·(off(a)·|b| + |a|·off(b) + 4·2^-23·|a·b|), with the
/// largest magnitudes for |a| and |b|, and the trace by errorBound(). Infinite where a score is so close to the edge of the
/// support of sparsemax, or to the 0 of ReLU, that the float trace may be on its other side. The worst measured is in
/// tests/unit/test_backward.cpp.
double backwardBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace, const ReferenceGradients& upstream,
                     TensorId id);

}  // namespace attention
