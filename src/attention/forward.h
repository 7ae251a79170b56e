// The layer, from inputs to a full Trace, in float32.
#pragma once

#include "attention/trace.h"

namespace attention {

/// Fills `trace` with every intermediate of DESIGN's pipeline: projections, scores, scale, mask, softmax with
/// temperature, weighted sum, concatenation, W_O. `spec` and `inputs` must have passed validate().
/// Tensors of the right shape are reused, so a second call of the same shape allocates nothing.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace);

}  // namespace attention
