// An order of heads in which those of one kind stand beside each other.
#pragma once

#include <vector>

#include "attention/experiments/head_pattern.h"
#include "attention/layer/tensor.h"

namespace attention {

/// What heads are compared by: the weights of one as a picture of at most so many cells a side, row by row,
/// each the mean of a block.
inline constexpr int kOutlineAcross = 16;
std::vector<float> outlineOf(const Tensor& weights, int head);

/// First come the heads with the tag previous, then induction, first, same, broad and none. Those with one
/// tag begin with the head that has most of it, and each is followed by the one, of those that are left,
/// whose outline is nearest to its own: by the sum of squared differences, then by number.
class LikenessOrder {
 public:
  LikenessOrder() = default;
  /// One tag a head, and the outlines one after the other, all of the same length. Nothing is ordered yet.
  LikenessOrder(std::vector<HeadTag> tags, std::vector<float> outlines);

  /// Finds the place of some more heads. True after the last.
  bool take(int heads);
  bool isWhole() const { return order_.size() == tags_.size(); }
  /// The heads whose places are found, by their numbers.
  const std::vector<int>& order() const { return order_; }

 private:
  bool isBefore(int a, int b) const;
  float between(int a, int b) const;

  std::vector<HeadTag> tags_;
  std::vector<float> outlines_;
  std::vector<int> order_, left_;
};

}  // namespace attention
