// What stands around the layer of a document: the block of the Transformer, and hierarchical attention over its tokens.
// Their weights are seeded or edited, not learned.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "attention/hierarchy.h"
#include "document/experiments.h"

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

/// All tensors around the layer, by the names that they have in scripts and files.
enum class AroundId : std::uint8_t {
  stages,                                 ///< "block:attention", and on from there the other attention::BlockStage
  parameters = attention::kBlockStages,   ///< "gamma_1", and on from there the other ParameterId
  token_weights = parameters + kParameterCount,  ///< of hierarchical attention, [1, tokens, 1]
  segment_weights,                        ///< [1, segments, 1]
  /// "spread:table". Two heads, of q·k and of q·k ÷ √d_k. A row has d_k, μ, σ, the mean of the scores, d·μ², their
  /// deviation, the predicted one, the largest of 16 weights and the entropy in bits.
  spread_table,
  spread_curve,       ///< "spread:curve": the same, a row for every power of two up to 1024
  spread_counts,      ///< "spread:counts": the histogram, [2, bins, 2]: the middle of a bin, and how many scores
  weights_fixed,      ///< "weights:fixed", and so on: the tensors of attention::Comparison
  weights_following, weights_connected, weights_attended,
  reach_curve,        ///< "reach:curve", [1, tokens, 4]: the members of attention::Reach
};
inline constexpr int kAroundCount = static_cast<int>(AroundId::reach_curve) + 1;
std::string name(AroundId id);
/// The one of that name, or nothing.
std::optional<AroundId> aroundNamed(std::string_view name);
/// The parameter that it is, or nothing.
std::optional<ParameterId> parameterOf(AroundId id);
/// Rows and columns in a layer of these settings, of all but the experiments. Segments are those of SegmentBy::tokens.
ParameterShape shapeOf(const Settings& settings, AroundId id);

/// What stands around one layer and beside it, computed where somebody asks and kept until the layer is another.
class Around {
 public:
  /// Both outlive it.
  Around(const State& state, const attention::Trace& trace) : state_(state), trace_(trace) {}
  /// The state or the trace is another than before.
  void changed() { ++revision_; }

  const BlockRun& block();
  const SegmentsRun& segments();
  const Tensor& parameter(ParameterId id);
  const attention::Comparison& comparison() { return experiments.comparison(state_, trace_, revision_); }
  /// Valid until the next change, or the next experiment that is asked for. An error where nothing is normalised.
  Result<const Tensor*> tensor(AroundId id);
  /// Does explain() have something to say of its cells? Of stages and of both levels of weights.
  static bool isExplained(AroundId id);
  /// The arithmetic of a cell that is there. `id` is one that isExplained().
  attention::Explanation explain(AroundId id, int row, int col);

  Experiments experiments;

 private:
  Tensor numbersOf(AroundId id);

  const State& state_;
  const attention::Trace& trace_;
  std::uint64_t revision_ = 0;
  Cached<std::uint64_t, BlockRun> block_;  ///< of a revision, as those below
  Cached<std::uint64_t, SegmentsRun> segments_;
  std::array<Cached<std::uint64_t, Tensor>, kParameterCount> parameters_;
  Tensor experiment_;  ///< the one that was asked for last
};

}  // namespace document
