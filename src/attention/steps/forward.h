// The forward pass of the layer, from inputs to a full Trace, in float32.
#pragma once

#include <functional>
#include <vector>

#include "attention/kernels/kernels.h"
#include "attention/layer/trace.h"
#include "attention/steps/position.h"
#include "attention/steps/score.h"
#include "attention/steps/steps.h"

namespace attention {

/// Memory kept between calls, so that a second call of the same shape allocates nothing. For one call at a
/// time.
struct Scratch {
  std::vector<float> transposed;  ///< V, columns as rows
  ScoreMemory score;
  /// Makes the rows of tensors of pairs, which are not stored then; null: they are stored.
  RowSource* pairs = nullptr;
  /// It makes the rows of all that follows from pairs, too.
  bool isOfRows = false;
  /// Q, K and V are made of one head after the other, each when it is first read, so that forwardInputs()
  /// never takes long.
  bool isProjectedLater = false;
  /// Of all that follows only masked scores and weights are wanted, so no V.
  bool isOfWeights = false;
  std::vector<std::uint8_t> projectedQueries, projectedKeys;  ///< of which heads they were made
  /// Called with q and a head, or with k and a key head (of which V is then there, too), when they were made
  /// later; may be empty.
  std::function<void(TensorId, int)> afterProjection;
  Rotation rotation;
  /// Of K and V: while it stays, they do. 0: nothing is known of them.
  std::uint64_t revision = 0;
  /// Called after each row of a layer that is computed row by row; may be empty.
  std::function<void()> afterRow;
};

/// Fills `trace` with every intermediate, in this order: positions, projections, scores, scale, soft cap,
/// bias, mask, temperature and normaliser, weighted sum, concatenation, W_O. `spec` and `inputs` must have
/// passed validate(). Tensors that already have the right shape are reused. Accuracy: errorBound() in
/// tests/reference/error_bound.h.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace, Scratch& scratch);
/// The same, with temporary scratch memory.
void forward(const Spec& spec, const Inputs& inputs, Trace& trace);

// The parts of forward(), in this order.

/// Gives the tensors of the trace their shapes, and computes those up to Q, K and V with their positions;
/// these unless they are projected later.
void forwardInputs(const Spec& spec, const Inputs& inputs, Trace& trace, Scratch& scratch);
/// Of a head that is projected later: makes Q, and K and V of its key head, unless they are there.
void projectHead(const Spec& spec, const Inputs& inputs, int head, Trace& trace, Scratch& scratch);
/// Computes everything from there up to head_output and concat, for some heads: either within the group of
/// one key head, or whole groups.
void forwardHeads(const Spec& spec, const Inputs& inputs, Span heads, Trace& trace, Scratch& scratch);
/// Computes output for all queries from concat.
void forwardOutput(const Inputs& inputs, Trace& trace, Scratch& scratch);

/// Computes everything from Q, K and V in the trace of a plain layer up to head_output, for the query heads
/// of one key head.
void forwardGroup(const Spec& spec, const PaintedMask* painted, int kvHead, Trace& trace, Scratch& scratch);
/// Computes head_output for all queries of one head from its weights and V, as matrix products.
void forwardHeadOutput(const Spec& spec, int head, Trace& trace, Scratch& scratch);

}  // namespace attention
