// What stands around the layer of a document: the block of the Transformer, and hierarchical attention over its tokens.
// Their weights are seeded or edited, not learned.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "attention/experiments/memory.h"
#include "attention/experiments/raise.h"
#include "attention/models/hierarchy.h"
#include "document/experiments.h"
#include "document/layers.h"
#include "document/training.h"

namespace document {

/// The block over the layer's output. Of its parameters gamma, delta and b may be empty: ones and zeros.
struct BlockRun {
  attention::BlockSpec spec;  ///< without a residual or pre-norm where the layer's input and output differ in width
  Tensor x, attended;
  Tensor heads, concat;  ///< what each head gives, [H, tokens, d_v], and side by side: `attended` is made from it
  std::array<Tensor, 2> dropMasks;  ///< Z of dropout_1 and of dropout_2
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

/// The recurrent network over the words of the sentence as they go into the layer, without positions: x, or Q's heads side by
/// side where Q is given.
struct MemoryRun {
  Tensor x;
  Parameters parameters;
  attention::MemoryTrace trace;
  Tensor fixed, attended;  ///< the two contexts, each [1, 1, units]
  bool given = false;  ///< Q stands for x
};

/// Computes it from the options memory_… and the trace of the layer.
MemoryRun runMemory(const State& state, const attention::Trace& trace);

/// The one of that name among attention::kDerivedTensors, or nothing.
std::optional<attention::TensorId> derivedNamed(std::string_view name);
/// The parameter that it is, or nothing.
std::optional<ParameterId> parameterOf(attention::TensorId id);

/// What stands around one layer and beside it, attention::kDerivedTensors, computed where somebody asks and kept until the layer is another.
class DerivedTensors {
 public:
  /// Both outlive it.
  DerivedTensors(const State& state, const attention::Trace& trace) : experiments(state), training(state), state_(state), trace_(trace) {}
  /// The state or the trace is another than before.
  void changed() { ++revision_; }

  const BlockRun& block();
  const SegmentsRun& segments();
  const MemoryRun& memory();
  const Tensor& parameter(ParameterId id);
  const attention::Comparison& comparison() { return experiments.comparison(trace_, revision_); }
  /// Valid until the next change, or the next experiment that is asked for. An error where nothing is normalised.
  Result<const Tensor*> tensor(attention::TensorId id);
  /// Does explain() have something to say of its cells? Of stages and of both levels of weights.
  static bool isExplained(attention::TensorId id);
  /// The arithmetic of a cell that is there. `id` is one that isExplained().
  attention::Explanation explain(attention::TensorId id, int row, int col);

  /// What would raise that cell, by changes of these inputs.
  const attention::Raise& raise(const attention::CellRef& target, attention::InputSet by);

  /// Of each layer of a model; some are not computed yet where layersAreWhole() is false: each revision() of a frame computes one more.
  const std::vector<LayerPicture>& layers() { return layers_.of(state_, trace_, revision_, 0); }
  bool layersAreWhole() { return layers_.of(state_, trace_, revision_, 1), layers_.isWhole(); }

  Experiments experiments;
  Training training;

 private:
  struct Question {
    std::uint64_t revision;
    attention::CellRef target;
    attention::InputSet by;
    bool operator==(const Question&) const = default;
  };
  Tensor numbersOf(attention::TensorId id);

  const State& state_;
  const attention::Trace& trace_;
  std::uint64_t revision_ = 0;
  base::Cached<std::uint64_t, BlockRun> block_;  ///< of a revision, as those below
  base::Cached<std::uint64_t, SegmentsRun> segments_;
  base::Cached<std::uint64_t, MemoryRun> memory_;
  std::array<base::Cached<std::uint64_t, Tensor>, kParameterCount> parameters_;
  attention::Raiser raiser_;
  base::Cached<Question, attention::Raise> raise_;
  LayerPictures layers_;
  Tensor experiment_;  ///< the one that was asked for last
};

}  // namespace document
