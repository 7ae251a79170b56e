// What stands around the layer of a document: the block of the Transformer, and hierarchical attention over its tokens.
// Their weights are seeded or edited, not learned.
#pragma once

#include <vector>

#include "attention/hierarchy.h"
#include "document/state.h"

namespace document {

/// The block over the layer's output. Of its parameters gamma, delta and b may be empty: ones and zeros.
struct BlockRun {
  attention::BlockSpec spec;  ///< without a residual or pre-norm where the layer's input and output differ in width
  Tensor x, attended;
  Parameters parameters;
  bool given = false;  ///< Q, K and V were typed in: Q stands for x, and nothing stands before attention
  attention::BlockTrace trace;

  attention::BlockInputs inputs() const;
};

/// Computes it from the options block_… and the trace of the layer.
BlockRun runBlock(const State& state, const attention::Trace& trace);

/// The layer's outputs in segments; an empty b is zeros.
struct SegmentsRun {
  Tensor h;
  Parameters parameters;
  std::vector<int> starts;
  attention::HierarchyTrace trace;

  attention::HierarchyInputs inputs() const;
};

/// Computes it from the options segment_… and the trace of the layer.
SegmentsRun runSegments(const State& state, const attention::Trace& trace);

}  // namespace document
