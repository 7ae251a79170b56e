// Three questions of every course on attention, answered with numbers: why scores are divided by √d_k, what sets
// attention apart from a fully connected layer, and why it reaches back further than a recurrent network.
#pragma once

#include <array>
#include <vector>

#include "base/random.h"
#include "attention/layer/spec.h"

namespace attention {

// --- Why divide by √d_k? (Vaswani et al. 2017, section 3.2.1, footnote 4)

/// Queries and keys whose components are drawn from N(mean, deviation²), each by itself.
struct SpreadSpec {
  double mean = 0.0;       ///< μ of the queries, -10 to 10
  double deviation = 1.0;  ///< σ of the queries, 0 to 10
  int dim = 64;            ///< d, 1 to 1024
  bool same = true;        ///< the keys are drawn as the queries are; false: as the two below say
  double keyMean = 0.0, keyDeviation = 1.0;
  double meanOfKeys() const { return same ? mean : keyMean; }
  double deviationOfKeys() const { return same ? deviation : keyDeviation; }
  bool operator==(const SpreadSpec&) const = default;
};

/// How scores are distributed, and what softmax makes of them.
struct Distribution {
  double mean = 0, deviation = 0;                    ///< measured
  double predictedMean = 0, predictedDeviation = 0;  ///< by the formulas at SpreadDraws::at()
  double largestWeight = 0;  ///< mean over the queries of the largest of their `keys` weights: 1/keys to 1
  double entropy = 0;        ///< mean over the queries, in bits: log2(keys) to 0
  /// Of softmax, ‖∂w/∂s‖ of the row of weights w by its scores s: Frobenius norms of diag(w) − w·wᵀ, median and mean over
  /// the queries. 0 where a row is saturated: it learns no more.
  double jacobian = 0, meanJacobian = 0;
  /// ‖∂w/∂q‖, of the same row by its query: what reaches the query of a gradient of length 1 on the weights, at most.
  double gradient = 0, meanGradient = 0;

  static constexpr int kBins = 49;
  double low = 0, high = 0;           ///< the range of the bins
  std::array<int, kBins> counts{};    ///< of scores; those outside are in the first and last bin
};

struct Spread {
  int dim = 1;
  Distribution raw;     ///< of q·k
  Distribution scaled;  ///< of q·k ÷ √d
};

/// The draws of one seed: 128 queries with 16 keys each, of up to 1024 components, or as many queries as are asked for. The vectors of a smaller d are the
/// first components of those of a larger one, so that a curve over d is smooth. Draws are those of random.h: the same on
/// every machine. With z drawn from N(0, 1), q·k is a sum of μ_q·μ_k, μ_k·σ_q·z_q, μ_q·σ_k·z_k and σ_q·σ_k·z_q·z_k over d: these
/// sums, and those of products of two keys of a query, are kept for every 64th d (3 MB), so that another μ, σ or d costs
/// little.
class SpreadDraws {
 public:
  static constexpr int queries = 128, keys = 16, largestDim = 1024;  ///< queries: where nothing else is asked for
  static constexpr int mostQueries = 512;

  /// Nothing drawn yet; at() must not be asked.
  SpreadDraws() = default;
  explicit SpreadDraws(std::uint32_t seed, int count = queries);

  /// How q·k is spread. A product of two components has mean μ_q·μ_k and variance (σ_q² + μ_q²)(σ_k² + μ_k²) − μ_q²·μ_k²;
  /// d of them, independent, have d times that: d·((σ² + μ²)² − μ⁴) where keys are drawn as queries are. Measured deviations are within some 2 % of that for large d and 7 % for d = 1.
  /// Bins reach four predicted deviations beyond the means of both distributions. `spec` must have passed validate().
  Spread at(const SpreadSpec& spec) const;

 private:
  /// Over the first components: Σ z_q of each query, Σ z_k of each of its keys, Σ z_q·z_k of each pair, and Σ z_j·z_l of
  /// each two keys j <= l of a query.
  struct Sums {
    std::vector<double> queries, keys, products, pairs;
    void add(base::NormalRandom& random);
  };
  static constexpr int kStep = 64;
  std::uint32_t seed_ = 0;
  std::vector<Sums> kept_;  ///< of 0, 64, 128 … components
};

Result<void> validate(const SpreadSpec& spec);

// --- Attention beside a fully connected layer

/// What is moved: the token's row of Q and K, of V, or of all three (as a change of the token itself would).
enum class Moved : std::uint8_t { values, queriesAndKeys, all };

struct ComparisonSpec {
  int token = 0;        ///< whose input moves
  double amount = 1.0;  ///< draws of N(0, amount²) are added to its numbers
  Moved moved = Moved::all;
  std::uint32_t seed = 1;
  bool operator==(const ComparisonSpec&) const = default;
};

/// Two layers that agree on the inputs as they are, on inputs that have moved. The fully connected one keeps the
/// weights that attention had; attention computes its own anew. As long as only values move, they stay the same.
struct Comparison {
  Tensor fixed;      ///< weights of attention on the inputs as they are, [H, Lq, Lk]: the fully connected layer's
  Tensor following;  ///< weights of attention on the inputs that moved
  Tensor connected;  ///< output of the fully connected layer on the values that moved, [H, Lq, d_v]
  Tensor attended;   ///< output of attention
  double difference = 0;  ///< the largest between the two outputs

  /// Numbers that a fully connected layer from all Lk·d_v values to all Lq·d_v outputs would have to learn, per head,
  /// and how many weights attention computes. Attention's matrix is the first with one weight for all components of a
  /// value, W ⊗ I; for d_v = 1 the two are the same.
  std::int64_t connectedWeights = 0, attentionWeights = 0;
};

/// `spec` with q, k and v must have passed validate(), and `comparison.token` is a row of q and k.
Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison);

// --- What is left of an early token?

struct ReachSpec {
  int steps = 32;          ///< tokens, 2 to 256
  double recurrent = 0.9;  ///< scale of the recurrent matrix: its singular values are all that, 0 to 4
  double input = 0.5;      ///< deviation of what each token adds to a unit before tanh, 0 to 10
  double lead = 4.0;       ///< how much higher than all others the score of the first token is, -30 to 30
  std::uint32_t seed = 1;

  static constexpr int width = 16, longest = 256;
  bool operator==(const ReachSpec&) const = default;
};

struct Reach {
  int distance = 0;      ///< n − 1: tokens between the first and the one that looks back
  double recurrent = 0;  ///< √(mean squared singular value) of ∂h_n/∂h_1: how much of a change of h_1 is still there
  double attention = 0;  ///< e^lead ÷ (e^lead + n − 1): the weight that a score so much higher gives to the first token
  double even = 0;       ///< 1/n: the weight where all scores are equal
  /// √(mean squared singular value) of ∂c_n/∂h_1, where c_n = Σ w_t·h_t looks at the states of the same network with those
  /// weights: what attention leaves of a change of h_1, to be compared with `recurrent`.
  double attentionGradient = 0, evenGradient = 0;
};

/// For every distance from 0 to steps − 1. The recurrent network is h_t = tanh(U h_{t−1} + x_t) (Elman 1990) with U a
/// random orthogonal matrix times the scale, and ∂h_n/∂h_1 = Π diag(1 − h_t²) U the product of its Jacobians (Pascanu
/// et al. 2013, equation 5). Without tanh it would be scale^(n−1).
std::vector<Reach> reach(const ReachSpec& spec);

Result<void> validate(const ReachSpec& spec);

}  // namespace attention
