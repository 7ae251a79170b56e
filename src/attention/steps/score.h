// The scores that are no plain dot product of a query and a key.
#pragma once

#include <vector>

#include "attention/steps/steps.h"
#include "attention/layer/trace.h"

namespace attention {

/// Makes raw scores row by row. It holds what the rows of all queries share; memory is kept from layer to layer.
class Scorer {
 public:
  /// Reads Q and K (rotated, where positions are rotary) and the weights of the score.
  void prepare(const Spec& spec, const Inputs& inputs, const Trace& trace);
  /// raw of one query and every key.
  void makeRow(int head, int query, Trace& trace);

 private:
  void additiveRow(int head, int query, float* raw);

  Score score_ = Score::dot;
  int group_ = 1;           // query heads that read one key head
  const Tensor* queries_ = nullptr;  // what the dot product is of: Q, or what the score makes of it
  const Tensor* keys_ = nullptr;
  const Tensor* vA_ = nullptr;
  Tensor madeQueries_,
      madeKeys_;  // general: q·W_a; additive: W_a·q and U_a·k, a key head for each head; cosine: q/|q|, k/|k|
  std::vector<float> tanhs_;       // of one query and every key, [keyCount, headDim]
};

}  // namespace attention
