// What an attention layer costs: numbers that are learned, multiply-adds, bytes, steps that wait for each other; and the same of
// a recurrent network. Counts are exact, in doubles, which hold whole numbers up to 9e15.
#pragma once

#include "attention/layer/spec.h"
#include "attention/models/recurrent.h"

namespace attention {

/// One forward pass over one sequence.
struct Cost {
  double parameters = 0;   ///< learned numbers
  double projections = 0;  ///< multiply-adds of x·W_Q, x·W_K, x·W_V and of W_O; of a recurrent cell x·W
  double scores = 0;       ///< of the scores, with W_a, U_a and v_a where the score has them; of a recurrent cell h·U and its gates
  double sums = 0;         ///< of weights · V
  double tanhs = 0;        ///< tanh and sigmoids, each far more expensive than a multiply-add
  double keptNumbers = 0;  ///< of K and V of all tokens, which a decoder keeps; of a recurrent network its state
  double scoreNumbers = 0; ///< scores that are computed, of all heads
  double steps = 0;        ///< that wait for the one before: 1, or one a token (Vaswani et al. 2017, table 1)

  double multiplyAdds() const { return projections + scores + sums; }
  // In float32.
  double weightBytes() const { return 4 * parameters; }
  double cacheBytes() const { return 4 * keptNumbers; }
  double scoreBytes() const { return 4 * scoreNumbers; }
};

struct CostSpec {
  Spec layer;          ///< heads, d_k, d_v, score, causal and window; its counts of queries and keys are not looked at
  double tokens = 1;   ///< of queries and of keys, 1 to 1,000,000
  int outputDim = -1;      ///< columns of W_O; -1: modelDim; 0: there is no W_O
  bool hasBiases = false;  ///< of the projections
  int modelDim = 0;    ///< width of x and of the output; 0: Q, K and V are given, and nothing is learned but the score
};

/// Pairs of query and key that one head scores: causal and window are counted, patterns and painted cells are not.
double pairsOf(const Spec& layer, double tokens);
Cost costOf(const CostSpec& spec);
/// h = tanh(x·W + h·U + b), or an LSTM.
Cost recurrentCost(CellKind cell, double tokens, int width, int units);

}  // namespace attention
