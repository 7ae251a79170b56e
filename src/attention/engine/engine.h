// Keeps a Trace up to date: a change costs what it touches.
//
// What is redone, for heads H, queries Lq, keys Lk (measured figures: tests/bench/incremental.cpp):
//   a row of Q      its row of scores, weights and output, from scratch          Lk·(d_k + d_v)
//   a row of K      its column of scores, from scratch; totals and outputs by    Lq·(d_k + d_v) and Lq·Lk for the
//                   addition to running sums; the weights of rows that see it    weights: a new sum changes all of a row
//   a cell of V     its column of outputs, by addition to running sums           Lq
//   painted cells   weights and outputs of their rows                            H·Lk·d_v a row
//   mask, scale, temperature   everything after the raw scores                   H·Lq·Lk·d_v
//   X, W            the rows or columns of Q, K, V that they make, then as above
//   a token         its row and column as above; the other tokens' move aside    H·Lq·Lk, d_v times that in heads
//                                                                                without running sums
//
// No drift: scores, maxima and exponentials are never updated, only made anew from their own inputs. The two sums that
// are updated are held in double with a bound of their own rounding, and taken anew before it can be seen (softmax_sums.h). So
// the trace after any history is within errorBound() (reference.h) of exact, like one made by forward().
#pragma once

#include <span>
#include <vector>

#include "attention/steps/forward.h"
#include "attention/engine/inserted_rows.h"
#include "attention/engine/summary.h"
#include "attention/engine/softmax_sums.h"
#include "attention/layer/trace.h"

namespace attention {

/// What an edit touched, in terms of the layer. Row and column ranges are of the tensor named by `what`.
struct Change {
  enum class What : std::uint8_t {
    everything,      ///< shapes or the whole layer; recompute
    cells,           ///< a block of the input tensor `tensor` (x, w_*, q, k, v)
    painted,         ///< a block of the painted mask
    causal,          ///< spec.causal, causalOffset or the window
    scale,           ///< spec.score or spec.scale
    temperature,     ///< spec.temperature
    tokensInserted,  ///< `rows` tokens before `row`, in queries and keys alike; painted cells of the others move along
    tokensRemoved,   ///< `rows` tokens from `row` on, likewise
  };
  What what = What::everything;
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0;
  int rows = 0, cols = 0;
};

/// Owns the Trace. After apply() the trace equals what forward() would give for the same spec and inputs,
/// within errorBound(), whatever the history of changes. Memory beyond the trace: 12 bytes a number of head_output once
/// a K or V of a head has been edited, and the kernels' scratch.
class Engine {
 public:
  /// `inputs` are those after the changes, and have passed validate(). Reads only what the changes reach. A change of
  /// tokens comes first, and the places of the others are those after it. Shapes that do not follow from those of the
  /// last call, or changes that lie outside of them, recompute everything.
  void apply(const Spec& spec, const Inputs& inputs, std::span<const Change> changes);
  void apply(const Spec& spec, const Inputs& inputs, const Change& change) { apply(spec, inputs, {&change, 1}); }
  const Trace& trace() const { return trace_; }
  const Spec& spec() const { return spec_; }
  /// What views ask of whole tensors of the trace.
  Summaries& summaries() { return summaries_; }

 private:
  void recompute();
  void fitBuffers();
  bool follows(const Change& first) const;
  bool fits(const Change& change) const;
  void applyOne(const Change& change);
  void applyCells(const Change& change);
  void applyX(Span rows);

  void changeQueries(int head, Span queries);
  void changeKeys(int kvHead, Span keys);
  void changeValues(int kvHead, Span keys, Span cols);
  void changeMask(Span queries, Span keys);
  void changeAll(const Change& change);

  void insertTokens(Insertion inserted);
  void insertKeysOf(int head, Insertion inserted);
  void removeTokens(Insertion inserted);
  void removeKeysOf(int head, Insertion inserted, const float* exponentials, const float* values);
  void changeSight(int head, int query);
  void finishTokens(int head, bool summing);

  void redoGroup(int kvHead);
  void redoRow(int head, int query);
  void changeKeysOf(int head, Span keys);
  int changeExponentials(int head, int key);
  void redoMovedRows(int head);
  void changeValuesOf(int head, Span keys, Span cols, const float* before);
  void redoColumn(int head, int col);
  void redoHeadOutput(int head);
  void writeTouchedRows(int head, Span cols, bool newTotals);
  float sumOfRow(int head, int query) const;
  void normaliseRow(int head, int query, double total);
  void writeRow(int head, int query, Span cols, const float* values);
  int takeSums(int head, int query, Span cols, int gathered);
  void writeRows(int head, Span queries);
  void finish();
  void touchMask(std::span<const Change> changes);
  void touchPairs(int head, Span queries);
  void touchPairsOf(int head, int key);
  void touchWeights(int head, Span queries);

  Spec spec_;
  Spec previous_;      // before the call in progress
  Inputs inputs_;      // of the call in progress
  int modelDim_ = 0;   // of x and of W_O in the last call; 0 where there is none
  int outputDim_ = 0;
  Trace trace_;
  Summaries summaries_;
  Scratch scratch_;
  std::vector<RunningSoftmaxSums> sums_;      // one a head
  std::vector<std::uint8_t> mark_;     // one a query: see Mark in engine.cpp
  std::vector<std::uint8_t> changed_;  // one a query: concat has changed, output has not yet
  std::vector<float> column_, exponents_, outputs_, ones_;
  std::vector<double> deltas_;
};

}  // namespace attention
