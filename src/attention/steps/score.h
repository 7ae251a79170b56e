// Scores other than the plain dot product of a query and a key.
#pragma once

#include <vector>

#include "attention/steps/steps.h"
#include "attention/layer/trace.h"

namespace attention {

/// Computes raw scores row by row. Holds what the rows of all queries share; keeps its memory between layers.
class Scorer {
 public:
  /// Reads Q and K (after rotation, where positions are rotary) and the parameters of the score.
  void prepare(const Spec& spec, const Inputs& inputs, const Trace& trace);
  /// Computes raw for one query and every key.
  void makeRow(int head, int query, Trace& trace);

 private:
  void additiveRow(int head, int query, float* raw);

  Score score_ = Score::dot;
  int group_ = 1;           // query heads that read one key head
  const Tensor* queries_ = nullptr;  // the left factor of the dot product: Q, or what the score computes from it
  const Tensor* keys_ = nullptr;
  const Tensor* vA_ = nullptr;
  Tensor madeQueries_,
      madeKeys_;  // general: q·W_a; additive: W_a·q and U_a·k, with a key head for each head; cosine: q/|q|, k/|k|
  std::vector<float> tanhs_;       // for one query and every key, [keyCount, headDim]
};

}  // namespace attention
