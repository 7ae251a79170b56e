// What an attention layer costs: learned parameters, multiply-adds, bytes, sequential steps; and the same for
// a recurrent network. Counts are exact; doubles hold integers up to 9e15.
#pragma once

#include "attention/layer/spec.h"
#include "attention/models/recurrent.h"

namespace attention {

/// One forward pass over one sequence, or over two of cross-attention.
struct Cost {
  double parameters = 0;   ///< learned numbers
  double projections = 0;  ///< multiply-adds of x·W_Q, x·W_K, x·W_V and W_O; of a recurrent cell x·W
  /// multiply-adds of the scores, including W_a, U_a and v_a where the score has them; of a recurrent cell
  /// h·U and its gates.
  double scores = 0;
  double sums = 0;   ///< multiply-adds of weights · V
  double tanhs = 0;  ///< tanh and sigmoid evaluations, each far more expensive than a multiply-add
  /// K and V of all tokens, which a decoder caches; of a recurrent network its state.
  double keptNumbers = 0;
  /// Numbers of all scores at once, over all heads: one a pair, and for the additive score one more for each
  /// tanh.
  double scoreNumbers = 0;
  /// Sequential steps, each of which needs the one before: 1, or one per token (Vaswani et al. 2017, table
  /// 1).
  double steps = 0;

  double multiplyAdds() const { return projections + scores + sums; }
  // In float32.
  double weightBytes() const { return 4 * parameters; }
  double cacheBytes() const { return 4 * keptNumbers; }
  double scoreBytes() const { return 4 * scoreNumbers; }
};

struct CostSpec {
  /// Heads, d_k, d_v, score, causal and window are used; queryCount and keyCount are ignored.
  Spec layer;
  double tokens = 1;       ///< number of queries, and of keys unless these are given, 0 to 16,777,216
  int outputDim = -1;      ///< columns of W_O; -1: modelDim; 0: no W_O
  bool hasBiases = false;  ///< do the projections have biases?
  int scoreUnits = 0;      ///< hidden units of the additive score; 0: d_k
  /// Width of x and of the output; 0: Q, K and V are inputs, and only the score has learned parameters.
  int modelDim = 0;
  double keys = -1;   ///< number of keys; -1: as many as queries
  double offset = 0;  ///< position of the first query among the keys; may be negative
};

/// Number of pairs of query and key that one head scores, where the first query is at position `offset` of
/// the keys. Takes causal and the window into account, not patterns and painted cells.
double pairsOf(const Spec& layer, double queries, double keys, double offset = 0);
Cost costOf(const CostSpec& spec);
/// The cost of a recurrent network: h = tanh(x·W + h·U + b), or an LSTM.
Cost recurrentCost(CellKind cell, double tokens, int width, int units);

}  // namespace attention
