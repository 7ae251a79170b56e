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

  /// The distribution of scores for d_k = spread_dim, and those for d_k = 1, 2, 4 … 1024.
  struct Spreads {
    attention::Spread at;
    std::vector<attention::Spread> curve;
  };
  const Spreads& spreads();
  /// Computes some more of it; returns whether there is more to do.
  bool computeSpreads();
  bool hasSpreads() const { return spreads_.has(spreadKey()); }
  base::Slices::Progress progressOfSpreads() const { return spreads_.progress(); }
  /// As it was last, perhaps for other options; null if it never was.
  const Spreads* lastSpreads() const { return spreads_.last(); }
  const std::vector<attention::Reach>& reach();
  /// Comparison with a fully connected layer, for the layer with these Q, K and V; recomputed when
  /// `revision` changes. Of all heads, or of the head in focus where they do not fit into memory.
  const attention::Comparison& comparison(const attention::Trace& trace, std::uint64_t revision);
  /// The same of the pairs that a page shows: of all where that takes a moment, else of those of the head in
  /// focus around the token that is perturbed.
  const attention::Comparison& comparisonShown(const attention::Trace& trace, std::uint64_t revision);
  /// The tokens whose rows and columns that has.
  attention::Span tokensCompared() const;
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
    attention::SomePairs some;  ///< of no keys: all
    bool operator==(const ComparisonKey&) const = default;
  };
  SpreadKey spreadKey() const { return {state_.experiments.spread, drawsKey()}; }
  DrawsKey drawsKey() const { return {state_.experiments.spreadSeed, state_.experiments.spreadDraws}; }
  base::Slices spreadsInSlices(Spreads& out);
  const attention::Comparison& comparisonOf(const attention::Trace& trace, const ComparisonKey& key);
  attention::ComparisonSpec asked() const;

  const State& state_;
  base::CachedSlices<DrawsKey, attention::SpreadDraws> draws_;
  base::CachedSlices<SpreadKey, Spreads> spreads_;
  base::Cached<ComparisonKey, attention::Comparison> comparison_;
  base::Cached<attention::ReachSpec, std::vector<attention::Reach>> reach_;
};

}  // namespace document
