// Keeps a Trace up to date, so that an edit costs only what it affects.
//
// What each edit recomputes, for H heads, Lq queries and Lk keys, with its order of cost (measurements:
// tests/bench/incremental.cpp):
//   a row of Q      its row of scores, weights and output, from scratch           Lk·(d_k + d_v)
//   a row of K      its column of scores; weights and outputs of its heads        Lq·Lk·d_v
//   a cell of V     outputs of its heads                                          Lq·Lk·d_v
//   painted cells   weights and outputs of their rows                             H·Lk·d_v per row
//   mask, scale, temperature   everything after the raw scores; of a large layer its heads, one after the
//                              other                                              H·Lq·Lk·d_v
//   X, W            the rows or columns of Q, K, V computed from them, then as above
//   tokens          everything, of a large layer one head after the other
//
// Nothing is updated by adding a difference: each number is recomputed from its own inputs, so errors do not
// accumulate. After any history of edits the trace is within errorBound() of the exact values, like one that
// forward() computes. Running sums, to which an edit of K or V was added, have been tried: at 1,024 tokens of
// 64 columns a cell of K took 0.7 ms, and now takes 2.7, one of V 0.03 and 1.7; but the first edit of a head
// took 24, and moving the numbers of other tokens when one is inserted as long as computing them.
#pragma once

#include <span>
#include <vector>

#include "attention/engine/summary.h"
#include "attention/layer/trace.h"
#include "attention/steps/forward.h"

namespace attention {

/// One edit, in terms of the layer. Ranges of rows and columns are those of the tensor that `what` names.
struct Change {
  enum class What : std::uint8_t {
    everything,   ///< the shapes or the whole layer: recompute
    cells,        ///< a block of the input `tensor` (x, w_*, q, k, v)
    painted,      ///< a block of the painted mask
    causal,       ///< spec.causal, causalOffset or the window
    scale,        ///< spec.score or spec.scale
    temperature,  ///< spec.temperature
  };
  What what = What::everything;
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0;
  int rows = 0, cols = 0;
};

/// Owns the Trace. After apply() the trace equals what forward() would compute for the same spec and inputs,
/// within errorBound(), whatever the history of changes.
///
/// The heads of a large layer that is entirely new are not computed at once, but each when it is first asked
/// for, so that a board can show one of them and have the others follow. trace() is always whole, and its
/// numbers are the same either way.
///
/// Beyond the trace it needs the kernels' scratch memory.
///
/// Of a layer with more scores than stored() the tensors of pairs are not stored (unstored.cpp): a row of
/// them is made from Q and K when it is read, by the same calls as in forward(), so its numbers are the same.
/// Maxima and sums of rows, outputs and summaries are made some rows at a time. An edit of a row of Q costs
/// that row; one of K or V the heads that read it, whose outputs and summaries are foreseen, or the previous
/// ones, until they have been computed.
///
/// Of one head with more scores than Most::inFull, only rows that are read are computed, with their outputs;
/// and one row of each block of the overviews, which stands for all of them.
class Engine final : private RowSource {
 public:
  Engine() = default;
  Engine(const Engine&) = delete;  // the trace refers to it
  Engine& operator=(const Engine&) = delete;

  /// Up to so many scores of one head, and of all heads, are stored.
  struct Most {
    std::int64_t ofHead = std::int64_t{1} << 20, ofAll = Limits::stored;
    /// All rows of so many scores are computed, though they are not stored.
    std::int64_t inFull = Limits::inFull;
    /// Nothing but rows of masked scores and weights is read, and nothing but a whole layer is applied.
    bool isOfWeights = false;
  };
  /// Before the first call of apply(), where it is not to be this.
  void setMost(Most most) { most_ = most, scratch_.isOfWeights = most.isOfWeights; }
  /// On so many threads heads are computed; 0: one for each processor. The numbers are the same on any. In
  /// WebAssembly it is always one.
  void setThreads(int threads) { scratch_.score.products.workspace = kernels::Workspace(threads); }

  /// Brings the trace up to date. `inputs` are those after all changes and must have passed validate(); only
  /// what the changes affect is read. They must stay as they are until the next call, or until the trace is
  /// whole. Everything is recomputed when the shapes are others, or when a change lies outside them.
  void apply(const Spec& spec, const Inputs& inputs, std::span<const Change> changes);
  void apply(const Spec& spec, const Inputs& inputs, const Change& change) {
    apply(spec, inputs, {&change, 1});
  }
  /// Gives back the memory of the trace; what follows is apply() of another whole layer.
  void forget() { trace_ = Trace(); }
  const Trace& trace();
  /// The trace with at least this head, as what a board shows of one head needs it. In other heads, the
  /// tensors from raw to head_output may be without numbers; so may concat and output.
  const Trace& traceWith(int head);
  /// The trace for the shapes of its tensors; of their numbers only those of tensors that are not stored may
  /// be read.
  const Trace& shapes() const { return trace_; }
  /// The trace with Q, K and V of all heads, and what comes before them.
  const Trace& traceOfInputs();
  bool isWhole() const { return missingCount_ == 0; }
  /// Has this head been computed, and what was written to it since?
  bool isWhole(int head) const { return missing_[static_cast<std::size_t>(head)] == 0; }
  /// The trace as it is, with some rows of this head if it had none; computeNext() goes on with that head.
  /// Where pairs are stored, the same as traceWith().
  const Trace& traceSoon(int head);
  /// A row of weights, of a head that may be missing.
  const float* weightsSoon(int head, int row);
  /// Is this head to be seen for the first time, and not there? Then it may be shown with traceFirst().
  bool isNew(int head) const { return isNew_ && !isWhole(head); }
  /// The trace with at least this row of such a head, which has its first picture then; computeNext() goes on
  /// with it.
  const Trace& traceFirst(int head, int query);
  /// The trace with at least this row in all heads, in their mean and in what is made of all of them. Of a
  /// layer whose pairs are stored.
  const Trace& traceOfAll(int query);
  /// Is there more to compute? What no trace needs, the mean of weights that are not stored and profiles,
  /// comes last.
  bool hasMore() const {
    return !isWhole() || ofMean_.left > 0 || summaries_.detail().hasMore() || summaries_.profiles().hasMore();
  }
  /// What is computed now, and how much of it is there: heads, or rows of one.
  struct Progress {
    bool isOfRows = false;
    int done = 0, total = 0;
  };
  Progress progress() const;
  /// Does the trace look as it will when all is computed? Then this may wait until nobody edits.
  bool mayWait() const;
  /// Computes one of the missing heads, if any, or some rows of it, but first some rows of each of them, for
  /// Summaries::firstPictures(). With the last of them follows what needs all heads. `isBrief`: where pairs
  /// are not stored, so few rows that a frame need hardly wait for them.
  void computeNext(bool isBrief = false);
  /// Makes some rows of the first picture that is to be made next.
  void computeFirst();
  const Spec& spec() const { return spec_; }
  /// How many rows of pairs have been made so far, where they are not stored.
  std::int64_t madeRows() const { return madeRows_; }
  /// Statistics of whole tensors of the trace, for the views.
  Summaries& summaries() { return summaries_; }

 private:
  /// Rows are computed in turn, from `next` on, until as many as were stale have been.
  struct Turn {
    int next = 0, left = 0;
    bool isForeseen = false;   ///< what is shown of the head is known already, but for rounding
    bool isOfOutputs = false;  ///< pairs are as they were
    /// These rows, of `count`, have to be computed too.
    void add(Span rows, int count);
  };
  /// A head before the first edit of a key, from which later edits of it are foreseen, so that their rounding
  /// errors do not add up.
  struct Foreseen {
    int key = -1;                     ///< -1: none
    std::vector<float> keys, values;  ///< its rows of K and V
    std::vector<float> max, sum, outputs;
    std::vector<float> was;     ///< the scores of that key with every query
    std::vector<float> scores;  ///< and those that all keys of its block have now, [key, query]
    std::vector<float>
        unseen;  ///< the logarithm of how much the weights of a row have grown since it was touched
  };
  const float* row(int key, int head, int row) override;
  const float* part(int key, int head, int row, int col, int count) override;
  /// The maximum of a row of scores ÷ temperature, and the sum of its exponentials.
  struct RowEnds {
    int head = 0, row = 0;
    float max = 0, sum = 0;
  };
  bool isMadeOfParts(TensorId id) const;
  const float* madeFrom(TensorId id, Span cols, const RowEnds& of);
  void expect(int key, int head, int row, int count) override;

  // Pairs are not stored.
  bool isStored() const { return scratch_.pairs == nullptr; }
  bool isSampled() const { return scratch_.isOfRows; }
  bool keepsTensors() const;
  void applyUnstored(std::span<const Change> changes, bool isKnown);
  void applyOneUnstored(const Change& change);
  void beginUnstored();
  bool isProjected(Span heads) const;
  void makeStale(Span heads);
  void makeRowSoon(int head, int query, bool withOutput);
  bool hold(int head, Span rows);
  void makeRows(int head, Span rows, bool withOutput);
  void addWeights(int head, Span rows, double* sums);
  const float* rowBeside(TensorId id, int head, int row);
  void swapBeside();
  bool renew(int head, Span edited, Span rows);
  void sumWeights(Span rows, int without);
  void writeMean(Span rows, const std::vector<double>& sums, const float* more);
  void makeMean(Span rows);
  void makeMeanAfter(int head, Span rows);
  void takeMean(Span rows);
  void takeRows(int head, Span rows);
  void takeHeld(int head, Span rows);
  void takeSample(int head, int row);
  void redoRows(int head, Span rows);
  void redoMean(int head, Span rows);
  void redoRowsOfAll(Span rows);
  void redoSamples(int head, Span rows);
  void computeDetail();
  void computeOne();
  void computeSome(int head);
  void computeMean();
  void computeProfiles();
  struct ChangedKey {
    int at;
    const float *before, *after, *valuesBefore, *valuesAfter;  ///< rows of K and of V
  };
  bool foresee(int head, const ChangedKey& key);
  void foreseePairs(int head, const std::vector<float>& scores, const std::vector<float>& grown);
  void beginForeseen(int head, const ChangedKey& key);
  void makeForeseen(Span heads, bool isOfOutputs);
  void changeGiven(const Change& change);
  void touchRowsOf(int head, Span rows);
  void touchOutputOf(int head, Span rows);
  template <class Work>
  void eachPart(Span rows, const Work& work);
  int mostHeld() const;
  int mostAtOnce() const;
  Span someFrom(int row, int most) const;
  Span someFrom(int row) const;
  Span takeTurn(Turn& turn) const;

  void missAll();
  void computeHeads(Span heads);
  void computeLater(Span heads);
  void computeRows(int head);
  void noteComputed(Span heads);
  void announce(Span heads);
  void withhold();
  bool fits(const Change& change) const;
  void applyOne(const Change& change);
  void applyCells(const Change& change);
  void applyX(Span rows);

  void changeQueries(int head, Span queries);
  void changeKeys(int kvHead, Span keys);
  void changeValues(int kvHead, Span keys, Span cols);
  void changeMask(Span queries, Span keys);
  void changeAll(const Change& change);

  void redoGroup(int kvHead);
  void redoRow(int head, int query);
  void changeKeysOf(int head, Span keys);
  void redoHeadOutput(int head);
  void writeRows(int head, Span queries);
  void finish();
  void touchMask(std::span<const Change> changes);
  void touchPairs(int head, Span queries);
  void touchPairsOf(int head, Span keys);
  void touchWeights(int head, Span queries);

  Spec spec_;
  Spec previous_;     // the spec before the call in progress
  Inputs inputs_;     // those of the call in progress
  int modelDim_ = 0;  // columns of x and of W_O in the last call; 0 where there is none
  int outputDim_ = 0;
  Trace trace_;
  Summaries summaries_;
  Scratch scratch_;
  std::vector<std::uint8_t> missing_;  // one per head: nothing of it has been computed yet
  int missingCount_ = 0;
  struct Window {
    int head = -1;
    Span rows;
    bool has(int h, Span wanted) const {
      return h == head && wanted.begin >= rows.begin && wanted.end <= rows.end;
    }
  };
  Window begun_;  // the first rows of a head that is missing, where pairs are stored
  Most most_;
  std::int64_t madeRows_ = 0;       // so far
  Window window_, meanWindow_;      // the rows of pairs that are held, where they are not stored
  Window beside_;                   // a row elsewhere, which is read again and again
  std::vector<Tensor> besides_;     // of all tensors of pairs
  std::vector<Turn> turns_;         // one per head
  std::vector<Foreseen> foreseen_;  // one per head
  Tensor meanWeights_;              // not stored
  std::vector<double> meanSums_;
  Window summed_;  // what they are the sums of: all heads but one, or -1
  Turn ofMean_;
  /// Rows whose mean is made next, and the sum of what has been added: all of the heads before `head`, and of
  /// that one the rows before `next`.
  struct BeingSummed {
    Span rows;
    int head = 0, next = 0;
    std::vector<double> sums;
  } beingSummed_;
  bool isNew_ = false;    // have no heads of this layer been seen before, and can it have first pictures?
  int wanted_ = 0;        // the head to go on with
  bool isBrief_ = false;  // is so little to be computed that a frame need hardly wait?
  std::vector<std::uint8_t>
      changed_;  // one per query: concat has changed, output has not been recomputed yet
  std::vector<float> part_;
};

}  // namespace attention
