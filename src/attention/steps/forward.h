// The layer, from inputs to a full Trace, in float32.
#pragma once

#include <vector>

#include "attention/kernels/kernels.h"
#include "attention/steps/score.h"
#include "attention/steps/steps.h"
#include "attention/layer/trace.h"

namespace attention {

/// Memory that calls share, so that a second call of the same shape allocates nothing. One call at a time.
struct Scratch {
  kernels::Workspace workspace;
  std::vector<float> transposed;  ///< V or a weight matrix, columns as rows
  Scorer scorer;
};

/// Fills `trace` with every intermediate of DESIGN's pipeline: positions, projections, scores, scale, soft cap, bias,
/// mask, temperature and normaliser, weighted sum, concatenation, W_O. `spec` and `inputs` must have passed validate().
/// Tensors of the right shape are reused. How far the numbers may be from exact ones: errorBound() in reference.h.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace, Scratch& scratch);
/// The same with scratch memory of its own.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace);

/// From Q, K and V as they are in the trace of a plain layer to head_output, for the query heads of one key head.
void forwardGroup(const Spec& spec, const PaintedMask* painted, int kvHead, Trace& trace, Scratch& scratch);
/// head_output of all queries of one head from its weights and V, as matrix products.
void forwardHeadOutput(const Spec& spec, int head, Trace& trace, Scratch& scratch);
/// output of all queries from concat.
void forwardOutput(const Inputs& inputs, Trace& trace, Scratch& scratch);

}  // namespace attention
