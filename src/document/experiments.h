// The experiments on the spread of scores, on weights, reach and cost: results computed from their options
// when they are asked for.
#pragma once

#include <vector>

#include "attention/experiments/cost.h"
#include "attention/experiments/experiment.h"
#include "base/cached.h"
#include "document/state.h"

namespace document {

class Experiments {
 public:
  /// `state` must outlive this object.
  explicit Experiments(const State& state) : state_(state) {}

  /// The distribution of scores for d_k = spread_dim.
  const attention::Spread& spread();
  /// The distributions for d_k = 1, 2, 4 … 1024.
  const std::vector<attention::Spread>& curve();
  const std::vector<attention::Reach>& reach();
  /// Comparison with a fully connected layer, for the layer with that trace; recomputed when `revision`
  /// changes.
  const attention::Comparison& comparison(const attention::Trace& trace, std::uint64_t revision);
  /// The token that is perturbed: the option dense_token, limited to the existing tokens.
  int denseToken() const;
  /// The number of tokens whose cost is shown.
  double costTokens() const;
  /// The cost of the layer with `tokens` tokens, or (`other`) of what it is compared with.
  attention::Cost cost(double tokens, bool other) const;
  static constexpr int kCostPoints = 7;  ///< powers of ten up to a million
  /// Increases whenever the comparison is recomputed.
  std::uint64_t comparisonVersion() const { return comparison_.version(); }

 private:
  struct DrawsKey {
    std::uint32_t seed;
    int count;
    bool operator==(const DrawsKey&) const = default;
  };
  struct SpreadKey {
    attention::SpreadSpec spec;
    DrawsKey draws;
    bool operator==(const SpreadKey&) const = default;
  };
  struct ComparisonKey {
    std::uint64_t revision;
    attention::ComparisonSpec spec;
    bool operator==(const ComparisonKey&) const = default;
  };
  DrawsKey drawsKey() const { return {state_.experiments.spreadSeed, state_.experiments.spreadDraws}; }
  const attention::SpreadDraws& draws();

  const State& state_;
  base::Cached<DrawsKey, attention::SpreadDraws> draws_;
  base::Cached<SpreadKey, attention::Spread> spread_;
  base::Cached<SpreadKey, std::vector<attention::Spread>> curve_;
  base::Cached<ComparisonKey, attention::Comparison> comparison_;
  base::Cached<attention::ReachSpec, std::vector<attention::Reach>> reach_;
};

}  // namespace document
