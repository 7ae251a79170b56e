#include "attention/experiments/head_order.h"

#include <algorithm>
#include <numeric>

namespace attention {
namespace {

/// By HeadPattern: the place of heads with that tag among the others.
constexpr int kPlaceOfTag[kHeadPatterns] = {5, 0, 1, 2, 3, 4};

int placeOfTag(const HeadTag& tag) { return kPlaceOfTag[static_cast<std::size_t>(tag.pattern)]; }

}  // namespace

std::vector<float> outlineOf(const Tensor& weights, int head) {
  const int rows = weights.rows(), cols = weights.cols(),
            side = (std::max(rows, cols) + kOutlineAcross - 1) / kOutlineAcross,
            across = (cols + side - 1) / side, down = (rows + side - 1) / side;
  std::vector<float> out(static_cast<std::size_t>(across * down));
  for (int i = 0; i < rows; ++i) {
    const float* const row = weights.row(head, i);
    for (int j = 0; j < cols; ++j) out[static_cast<std::size_t>(i / side * across + j / side)] += row[j];
  }
  for (float& sum : out) sum /= static_cast<float>(side * side);
  return out;
}

LikenessOrder::LikenessOrder(std::vector<HeadTag> tags, std::vector<float> outlines)
    : tags_(std::move(tags)),
      outlines_(std::move(outlines)),
      left_(tags_.size()) {
  std::iota(left_.begin(), left_.end(), 0);
}

/// Does head a begin those with its tag, or come before all with that of b?
bool LikenessOrder::isBefore(int a, int b) const {
  const HeadTag &first = tags_[static_cast<std::size_t>(a)], &second = tags_[static_cast<std::size_t>(b)];
  if (first.pattern != second.pattern) return placeOfTag(first) < placeOfTag(second);
  return first.measure != second.measure ? first.measure > second.measure : a < b;
}

float LikenessOrder::between(int a, int b) const {
  const std::size_t length = outlines_.size() / tags_.size();
  const float *first = &outlines_[static_cast<std::size_t>(a) * length],
              *second = &outlines_[static_cast<std::size_t>(b) * length];
  float sum = 0;
  for (std::size_t i = 0; i < length; ++i) sum += (first[i] - second[i]) * (first[i] - second[i]);
  return sum;
}

bool LikenessOrder::take(int heads) {
  for (; heads > 0 && !left_.empty(); --heads) {
    const int last = order_.empty() ? -1 : order_.back();
    auto next = left_.end();
    float nearest = 0;
    for (auto it = left_.begin(); last >= 0 && it != left_.end(); ++it) {
      if (tags_[static_cast<std::size_t>(*it)].pattern != tags_[static_cast<std::size_t>(last)].pattern)
        continue;
      const float far = between(last, *it);
      if (next == left_.end() || far < nearest) next = it, nearest = far;
    }
    if (next == left_.end())
      next = std::min_element(left_.begin(), left_.end(), [this](int a, int b) { return isBefore(a, b); });
    order_.push_back(*next);
    left_.erase(next);
  }
  return left_.empty();
}

}  // namespace attention
