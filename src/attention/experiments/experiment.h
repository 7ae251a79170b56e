// Three questions of every course on attention, answered with numbers: why scores are divided by √d_k, how
// attention differs from a fully connected layer, and why it reaches further back than a recurrent network.
#pragma once

#include <array>
#include <vector>

#include "attention/steps/steps.h"
#include "base/random.h"
#include "base/slices.h"

namespace attention {

// --- Why divide by √d_k? (Vaswani et al. 2017, section 3.2.1, footnote 4)

/// Queries and keys whose components are drawn independently from N(mean, deviation²).
struct SpreadSpec {
  double mean = 0.0;       ///< μ of the queries, -10 to 10
  double deviation = 1.0;  ///< σ of the queries, 0 to 10
  int dim = 64;            ///< d, 1 to 1024
  /// The keys have the distribution of the queries; otherwise the one given by the next two.
  bool same = true;
  double keyMean = 0.0, keyDeviation = 1.0;
  double meanOfKeys() const { return same ? mean : keyMean; }
  double deviationOfKeys() const { return same ? deviation : keyDeviation; }
  bool operator==(const SpreadSpec&) const = default;
};

/// How scores are distributed, and what softmax makes of them.
struct Distribution {
  double mean = 0, deviation = 0;                    ///< measured
  double predictedMean = 0, predictedDeviation = 0;  ///< by the formulas given at SpreadDraws::at()
  /// Each query's largest of its `keys` weights, averaged over the queries: 1/keys to 1.
  double largestWeight = 0;
  double entropy = 0;  ///< entropy of the weights, averaged over the queries, in bits: 0 to log2(keys)
  /// Frobenius norm ‖∂w/∂s‖ = ‖diag(w) − w·wᵀ‖ of the softmax of a row of scores s with weights w, median and
  /// mean over the queries. 0 for a saturated row, which gives scores no gradient to learn from.
  double jacobian = 0, meanJacobian = 0;
  /// ‖∂w/∂q‖, the same row differentiated by its query: an upper bound for the gradient that reaches the
  /// query from a gradient of length 1 at the weights.
  double gradient = 0, meanGradient = 0;

  static constexpr int kBins = 49;
  double low = 0, high = 0;  ///< the range of the bins
  /// Of scores; those outside the range are counted in the first and last bin.
  std::array<int, kBins> counts{};
};

struct Spread {
  int dim = 1;
  Distribution raw;     ///< of q·k
  Distribution scaled;  ///< of q·k ÷ √d
};

/// The random draws of one seed: `count` queries (128 unless given) with 16 keys each, of up to 1024
/// components. The vectors of a smaller d are the first components of those of a larger one, so that a curve
/// over d is smooth. The draws come from random.h, so they are the same on every machine. With z drawn from
/// N(0, 1), q·k is a sum over d of μ_q·μ_k, μ_k·σ_q·z_q, μ_q·σ_k·z_k and σ_q·σ_k·z_q·z_k. These four sums,
/// and those of the products of two keys of a query, are stored for every 64th d (3 MB), so that another μ, σ
/// or d costs little.
class SpreadDraws {
 public:
  static constexpr int queries = 128, keys = 16, largestDim = 1024;  ///< queries: the default number
  static constexpr int mostQueries = 512;

  /// Draws nothing; at() must not be called.
  SpreadDraws() = default;
  explicit SpreadDraws(std::uint32_t seed, int count = queries);
  /// The same in slices, into one that has drawn nothing.
  static base::Slices inSlices(std::uint32_t seed, int count, SpreadDraws& out);

  /// The distribution of q·k. A product of two components has mean μ_q·μ_k and variance (σ_q² + μ_q²)(σ_k² +
  /// μ_k²) − μ_q²·μ_k²; a sum of d independent ones has d times both, so a variance of d·((σ² + μ²)² − μ⁴)
  /// where keys have the distribution of queries. Measured deviations are within about 2 % of that for large
  /// d, and 7 % for d = 1. The bins extend four predicted deviations beyond the means of both distributions.
  /// `spec` must have passed validate().
  Spread at(const SpreadSpec& spec) const;

 private:
  /// Sums over the first components: Σ z_q for each query, Σ z_k for each of its keys, Σ z_q·z_k for each
  /// pair of query and key, and Σ z_j·z_l for each pair of keys j <= l of a query.
  struct Sums {
    std::vector<double> queries, keys, products, pairs;
    void add(base::NormalRandom& random);
  };
  static constexpr int kStep = 64;
  std::uint32_t seed_ = 0;
  std::vector<Sums> kept_;  ///< the sums over 0, 64, 128 … components
};

Result<void> validate(const SpreadSpec& spec);

// --- Attention beside a fully connected layer

/// Which rows of a token are perturbed: those of V, of Q and K, or all three (as a change of the token itself
/// would).
enum class Moved : std::uint8_t { values, queriesAndKeys, all };

struct ComparisonSpec {
  int token = 0;        ///< the token whose rows are perturbed
  double amount = 1.0;  ///< noise drawn from N(0, amount²) is added to its numbers
  Moved moved = Moved::all;
  std::uint32_t seed = 1;
  bool operator==(const ComparisonSpec&) const = default;
};

/// Two layers that agree on the original inputs, applied to perturbed inputs. The fully connected layer keeps
/// the weights that attention had; attention recomputes its own. They stay the same as long as only values
/// are perturbed.
struct Comparison {
  /// The fully connected layer's weights: those of attention on the original inputs, [H, Lq, Lk].
  Tensor fixed;
  Tensor following;       ///< the weights of attention on the perturbed inputs
  Tensor connected;       ///< the output of the fully connected layer on the perturbed values, [H, Lq, d_v]
  Tensor attended;        ///< the output of attention
  double difference = 0;  ///< the largest absolute difference between the two outputs

  /// Per head, the number of weights that a fully connected layer from all Lk·d_v values to all Lq·d_v
  /// outputs would have to learn, and the number of weights that attention computes. Attention is the special
  /// case with the same weight for all components of a value, W ⊗ I; for d_v = 1 the two numbers are equal.
  std::int64_t connectedWeights = 0, attentionWeights = 0;
};

/// `spec` with q, k and v must have passed validate(), and `comparison.token` must be a row of q and of k.
Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison);

/// Some of the pairs of one head.
struct SomePairs {
  int head = 0;
  Span queries, keys;
  bool operator==(const SomePairs&) const = default;
};
/// The same of these alone: weights [1, queries, keys], outputs [1, queries, d_v] of all keys, and their
/// largest difference.
Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison,
                   const SomePairs& some);

// --- How much of an early token is left?

struct ReachSpec {
  int steps = 32;  ///< tokens, 2 to 256
  /// Scale of the recurrent matrix, to which all its singular values are equal; 0 to 4.
  double recurrent = 0.9;
  double input = 0.5;  ///< standard deviation of what each token adds to a unit before tanh, 0 to 10
  double lead = 4.0;   ///< how much higher the score of the first token is than all others, -30 to 30
  std::uint32_t seed = 1;
  double forget = 3.0;  ///< bias of the LSTM's forget gate, -10 to 10

  static constexpr int width = 16, longest = 256;
  bool operator==(const ReachSpec&) const = default;
};

struct Reach {
  int distance = 0;      ///< n − 1, from the first token to the one that looks back
  double recurrent = 0;  ///< √(mean squared singular value) of ∂h_n/∂h_1: how much of a change of h_1 remains
  /// e^lead ÷ (e^lead + n − 1): the weight of the first token where its score is higher by `lead`.
  double attention = 0;
  double even = 0;  ///< 1/n: its weight where all scores are equal
  /// √(mean squared singular value) of ∂c_n/∂h_1, where c_n = Σ w_t·h_t attends to the states of the same
  /// network with those weights: how much of a change of h_1 remains with attention, to be compared with
  /// `recurrent`.
  double attentionGradient = 0, evenGradient = 0;
  /// √(mean squared singular value) of ∂c_n/∂c_1, of the memory of an LSTM: about the product of its forget
  /// gates.
  double lstm = 0;
};

/// One entry for every distance from 0 to steps − 1. The recurrent network is h_t = tanh(U h_{t−1} + x_t)
/// (Elman 1990), U a random orthogonal matrix times the scale; ∂h_n/∂h_1 = Π diag(1 − h_t²) U is the product
/// of its Jacobians (Pascanu et al. 2013, equation 5). Without tanh it would have singular values
/// scale^(n−1). The LSTM (Hochreiter and Schmidhuber 1997, Gers et al. 2000) has as many units, recurrent
/// matrices and inputs drawn in the same way for each gate, and biases of 0 but for the forget gate.
std::vector<Reach> reach(const ReachSpec& spec);

Result<void> validate(const ReachSpec& spec);

}  // namespace attention
