// The experiments on spread, on weights and on reach: what comes of their options, computed where somebody asks.
#pragma once

#include <vector>

#include "attention/experiments/cost.h"
#include "attention/experiments/experiment.h"
#include "base/cached.h"
#include "document/state.h"

namespace document {

class Experiments {
 public:
  /// `state` outlives it.
  explicit Experiments(const State& state) : state_(state) {}

  /// At the option spread_dim.
  const attention::Spread& spread();
  /// At the powers of two from 1 to 1024, whatever d_k is.
  const std::vector<attention::Spread>& curve();
  const std::vector<attention::Reach>& reach();
  /// Of the layer of that trace, which is another when `revision` is.
  const attention::Comparison& comparison(const attention::Trace& trace, std::uint64_t revision);
  /// The token that moves: the last one that there is, where the option names one beyond it.
  int denseToken() const;
  /// For how many tokens the cost is asked.
  double costTokens() const;
  /// The cost of the layer with so many tokens, or of what it is compared with.
  attention::Cost cost(double tokens, bool other) const;
  static constexpr int kCostPoints = 7;  ///< powers of ten up to a million
  /// Grows when the comparison is another.
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
