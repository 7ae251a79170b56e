// What surrounds the layer of a document: the Transformer block, and hierarchical attention over its tokens.
// Their parameters are drawn from a seed or edited, not trained.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/experiments/memory.h"
#include "attention/experiments/saliency.h"
#include "attention/models/hierarchy.h"
#include "document/experiments.h"
#include "document/layers.h"
#include "document/training.h"

namespace document {

/// The block applied to the layer's output. gamma, delta and b may be empty, standing for ones, zeros and
/// zeros.
struct BlockRun {
  /// Has neither residual nor pre-norm where the layer's input and output differ in width.
  attention::BlockSpec spec;
  Tensor x, attended;
  /// The output of each head, [H, tokens, d_v], and the heads side by side, from which `attended` is
  /// computed.
  Tensor heads, concat;
  std::array<Tensor, 2> dropMasks;  ///< Z of dropout_1 and dropout_2
  Parameters parameters;
  /// Q, K and V are inputs: Q takes the place of x, and there is no stage before attention.
  bool given = false;
  attention::BlockTrace trace;

  attention::BlockInputs inputs() const;
};

/// The layer as pre-norm has it, of x that was normalised.
struct NormedLayer {
  Tensor x;
  attention::Moments moments;
  attention::Engine engine;
};

/// Hierarchical attention over the layer's outputs; an empty b stands for zeros.
struct SegmentsRun {
  Tensor h;
  Parameters parameters;
  std::vector<int> starts;
  attention::HierarchyTrace trace;

  attention::HierarchyInputs inputs() const;
};

/// The recurrent network that reads the same tokens as the layer, without positions: x, or the heads of Q
/// side by side where Q is an input.
struct MemoryRun {
  Tensor x;
  Parameters parameters;
  attention::MemoryTrace trace;
  Tensor fixed, attended;  ///< the fixed vector and the context of attention, each [1, 1, units]
  bool given = false;      ///< Q takes the place of x
  int words = 0;           ///< that the decoder writes

  attention::DecoderInputs decoder() const;
};

/// The tensor of that name among attention::kDerivedTensors; nothing if there is none.
std::optional<attention::TensorId> derivedNamed(std::string_view name);
/// The parameter with that tensor id; nothing if it is not a parameter.
std::optional<ParameterId> parameterOf(attention::TensorId id);

/// The tensors around one layer and beside it, attention::kDerivedTensors. Each is computed when it is asked
/// for, and kept until the layer changes.
class DerivedTensors {
 public:
  /// Both must outlive this object.
  DerivedTensors(const State& state, const attention::Trace& trace)
      : experiments(state),
        training(state),
        state_(state),
        trace_(&trace) {}
  DerivedTensors(const State& state, attention::Engine& engine)
      : experiments(state),
        training(state),
        state_(state),
        engine_(&engine) {}
  /// Must be called whenever the state has changed, or the trace with it.
  void changed(bool isOfLayer = true) { ++revision_, layer_ += isOfLayer, headTags_.changed(); }

  const BlockRun& block() { return block({0, state_.tokens}); }
  const BlockRun& block(attention::Span rows);
  const SegmentsRun& segments();
  const MemoryRun& memory();
  const Tensor& parameter(ParameterId id);
  const attention::Comparison& comparison() { return experiments.comparison(trace(), revision_); }
  const attention::Comparison& comparisonShown() {
    return experiments.comparisonShown(traceOfInputs(), revision_);
  }

  /// Are there more tokens than what the page of this view shows is computed for?
  bool isTooLong(View view) const;
  /// Is there something that it shows and that has not been computed yet?
  bool lacks(View view);
  /// Does it wait for the engine to compute heads that it is made of?
  bool waitsForHeads(View view) const;
  /// Computes some of it, for about so many milliseconds; nothing while it waits for heads. Returns whether
  /// there is more.
  bool compute(View view, double milliseconds);
  base::Slices::Progress progress(View view);
  /// What there is of it while more is computed, of the present tokens but perhaps for options as they were;
  /// null: nothing.
  const BlockRun* blockSoon(attention::Span rows);
  const SegmentsRun* segmentsSoon();
  const MemoryRun* memorySoon();
  /// The pointer is valid until the next change, or the next experiment asked for. An error if the layer does
  /// not have this tensor (for example without normalisation).
  Result<const Tensor*> tensor(attention::TensorId id);
  /// Does explain() apply to this tensor? True for stages of the block, the weights of both levels, the
  /// probabilities of classes and the weights of the decoder.
  static bool isExplained(attention::TensorId id);
  /// The arithmetic of an existing cell. isExplained(id) must be true.
  attention::Explanation explain(attention::TensorId id, int row, int col);

  /// The gradient of that cell with respect to these inputs, and steps that would raise it.
  const attention::Saliency& saliency(const attention::CellRef& target, attention::InputSet by);

  /// One picture for each layer of a model; while lacks(View::model), some are not computed yet.
  const std::vector<LayerPicture>& layers() { return layers_.of(state_, revision_, 0); }
  int headsInLayers() { return layers_.of(state_, revision_, 0), layers_.heads(state_); }
  int headsPictured() { return layers_.of(state_, revision_, 0), layers_.pictured(state_); }

  /// What a head of the layer mostly looks at, if hasHeadTags(): see HeadTags::of().
  const attention::HeadTag& headTag(int head, const attention::Trace& trace, std::uint32_t written,
                                    bool waits) {
    return headTags_.of(state_, head, trace.weights, trace.masked, written, waits);
  }
  /// All its measures, if hasHeadTags(): see HeadTags::measures().
  const attention::HeadMeasures* headMeasures(int head, const attention::Trace& trace, std::uint32_t written,
                                              int& left) {
    return headTags_.measures(head, trace.weights, trace.masked, written, left);
  }
  /// Will that tag be known only after more frames?
  bool isTagging(int head) const { return headTags_.isMeasuring(head); }

  Experiments experiments;
  Training training;

 private:
  struct Question {
    std::uint64_t revision;
    attention::CellRef target;
    attention::InputSet by;
    bool operator==(const Question&) const = default;
  };
  /// What pre-norm is computed from.
  struct NormedBy {
    std::uint64_t layer;
    float epsilon;
    Tensor gamma, delta;
    bool operator==(const NormedBy&) const = default;
  };
  /// What the numbers of a parameter are: those given, or drawn.
  struct ParameterBy {
    Tensor own;
    ParameterShape shape;
    std::array<std::uint32_t, 3> seeds;
    bool operator==(const ParameterBy&) const = default;
  };
  struct RowsBy {
    std::uint64_t revision;
    attention::Span rows;
    bool operator==(const RowsBy&) const = default;
  };
  Tensor numbersOf(attention::TensorId id);
  const attention::Trace& trace() { return engine_ ? engine_->trace() : *trace_; }
  /// Of which only what comes before Q, K and V may be read.
  const attention::Trace& shapes() const { return engine_ ? engine_->shapes() : *trace_; }
  /// Of which only what comes before the scores may be read.
  const attention::Trace& traceOfInputs() { return engine_ ? engine_->traceOfInputs() : *trace_; }
  /// All, these as they are drawn if they are not given.
  Parameters parametersWith(std::initializer_list<ParameterId> drawn);
  bool isOfNormed() const;
  NormedBy normedBy() const;
  ParameterBy parameterBy(ParameterId id) const;
  bool hasParameter(ParameterId id) const;
  void computeForBlock();
  bool computeNormed();
  bool computeSegments();
  bool computeMemory();

  const State& state_;
  const attention::Trace* trace_ = nullptr;  ///< of the layer; null where that is the engine's
  attention::Engine* engine_ = nullptr;
  std::uint64_t revision_ = 0, layer_ = 0;
  base::CachedSlices<NormedBy, NormedLayer> normed_;
  base::Cached<RowsBy, BlockRun> block_;
  base::CachedSlices<std::uint64_t, SegmentsRun> segments_;  ///< computed for a revision, as are those below
  base::CachedSlices<std::uint64_t, MemoryRun> memory_;
  std::array<base::Cached<ParameterBy, Tensor>, kParameterCount> parameters_;
  attention::SaliencySolver saliencySolver_;
  base::Cached<Question, attention::Saliency> saliency_;
  LayerPictures layers_;
  HeadTags headTags_;
  Tensor experiment_;  ///< the experiment asked for last
};

}  // namespace document
