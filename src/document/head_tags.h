// What the heads of the layer on the board mostly look at, kept until their weights change.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "attention/experiments/head_pattern.h"
#include "document/state.h"

namespace document {

/// Do heads have tags? In self-attention over at least kTaggedTokens tokens, where weights sum to 1: with
/// fewer, every row has a pattern.
bool hasHeadTags(const Settings& settings);
inline constexpr int kTaggedTokens = 8;

/// A number for each label, equal for equal ones.
std::vector<int> tokenNumbers(const std::vector<std::string>& labels);

class HeadTags {
 public:
  /// The tag of a head with these weights and masked scores, [heads, n, n]. `written` must change whenever
  /// the weights do. Where rows are made when they are read, each call makes some of them, for one head after
  /// the other, but none if it `waits`; and until a tag is known it is the one before.
  const attention::HeadTag& of(const State& state, int head, const attention::Tensor& weights,
                               const attention::Tensor& masked, std::uint32_t written, bool waits = false);
  /// Must be called whenever the labels or the mask of the state may have changed.
  void changed() { mayDiffer_ = true; }

  /// All measures of a head that of() was asked for; null until they are known. They take longer than the
  /// tag: of more than kAtOnce tokens they wait until the weights stay as they are, and then until `left`,
  /// which they count down, has room for one: some heads a frame.
  const attention::HeadMeasures* measures(int head, const attention::Tensor& weights,
                                          const attention::Tensor& masked, std::uint32_t written, int& left);
  static constexpr int kAtOnce = 128;
  static constexpr int kHeadsOfFrame = 8;

  /// Are more calls needed for this head?
  bool isMeasuring(int head) const {
    const Kept& kept = kept_[static_cast<std::size_t>(head)];
    return kept.written != kept.asked;
  }

 private:
  struct Kept {
    std::uint32_t written = 0, asked = 0;  ///< what the tag is of, and what it was asked for last
    attention::HeadTag tag;
    std::uint32_t measured = 0, seen = 0;  ///< what the measures are of, and what they were asked for last
    attention::HeadMeasures measures;
  };
  attention::HeadMeter meter_;  ///< of the head that is measured, or of none: -1
  int measured_ = -1;
  int waits_ = -1;          ///< the first that was asked for since it was
  std::vector<Kept> kept_;  ///< of each head
  std::vector<std::string> labels_;
  std::vector<int> numbers_;
  bool causal_ = false, mayDiffer_ = true;
};

}  // namespace document
