// The layer, from inputs to a full Trace, in float32.
#pragma once

#include "attention/kernels.h"
#include "attention/trace.h"

namespace attention {

/// Fills `trace` with every intermediate of DESIGN's pipeline: projections, scores, scale, mask, softmax with
/// temperature, weighted sum, concatenation, W_O. `spec` and `inputs` must have passed validate().
/// Tensors of the right shape are reused, so a second call of the same shape allocates nothing.
/// How far the numbers may be from exact ones: errorBound() in reference.h.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace, kernels::Workspace& workspace);
/// The same with scratch memory of its own.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace);

/// From Q, K and V as they are in the trace to head_output, for the query heads that read one key head.
void forwardGroup(const Spec& spec, const PaintedMask* painted, int kvHead, Trace& trace,
                  kernels::Workspace& workspace);

}  // namespace attention
