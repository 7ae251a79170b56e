// The experiments on spread, on weights and on reach: how their controls stand, and what comes of that, computed where
// somebody asks. None of it is part of the document, which has the page that is open.
#pragma once

#include <vector>

#include "attention/experiment.h"
#include "document/cached.h"
#include "document/state.h"

namespace document {

class Experiments {
 public:
  attention::SpreadSpec spreadSpec;
  std::uint32_t spreadSeed = 1;
  attention::ComparisonSpec comparisonSpec;
  attention::ReachSpec reachSpec;

  /// At the d_k of the controls.
  const attention::Spread& spread();
  /// At the powers of two from 1 to 1024, whatever d_k is.
  const std::vector<attention::Spread>& curve();
  const std::vector<attention::Reach>& reach();
  /// Of this layer, which is another when `revision` is. The token that moves is brought to those that there are.
  const attention::Comparison& comparison(const State& state, const attention::Trace& trace, std::uint64_t revision);
  /// Grows when the comparison is another.
  std::uint64_t comparisonVersion() const { return comparison_.version(); }

 private:
  struct SpreadKey {
    attention::SpreadSpec spec;
    std::uint32_t seed;
    bool operator==(const SpreadKey&) const = default;
  };
  struct ComparisonKey {
    std::uint64_t revision;
    attention::ComparisonSpec spec;
    bool operator==(const ComparisonKey&) const = default;
  };
  const attention::SpreadDraws& draws();

  Cached<std::uint32_t, attention::SpreadDraws> draws_;
  Cached<SpreadKey, attention::Spread> spread_;
  Cached<SpreadKey, std::vector<attention::Spread>> curve_;
  Cached<ComparisonKey, attention::Comparison> comparison_;
  Cached<attention::ReachSpec, std::vector<attention::Reach>> reach_;
};

}  // namespace document
