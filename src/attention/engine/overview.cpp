#include "attention/engine/overview.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace attention {
namespace {

/// Of all heads together: 32 MiB.
constexpr std::int64_t kMostBlocks = 1 << 23;

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// The bits without the sign grow with the distance from 0; those of an infinity count as less than those of
/// 0.
std::int32_t farOf(float value) {
  const std::int32_t bits = std::bit_cast<std::int32_t>(value) & 0x7fffffff;
  return bits >= 0x7f800000 ? -1 : bits;
}

float farther(float a, float b) { return farOf(b) > farOf(a) ? b : a; }

int blocksOf(int count, int side) { return (count + side - 1) / side; }

}  // namespace

void Overview::reset(int heads, int queries, int keys) {
  side_ = 1, queries_ = queries;
  const auto isLarge = [&] {
    const std::int64_t rows = blocksOf(queries, side_), cols = blocksOf(keys, side_);
    return std::max(rows, cols) > kAcross || heads * rows * cols > kMostBlocks;
  };
  while (isLarge()) side_ *= 2;
  blocks_ = Tensor(heads, blocksOf(queries, side_), blocksOf(keys, side_));
  peaks_.assign(static_cast<std::size_t>(heads * blocks_.rows()), 0.0f);
  best_.resize(static_cast<std::size_t>(keys));
}

Span Overview::whole(Span rows) const {
  return {rows.begin / side_ * side_, std::min(blocksOf(rows.end, side_) * side_, queries_)};
}

void Overview::take(const Tensor& pairs, int head, Span rows) {
  const int keys = pairs.cols();
  for (int first = rows.begin; first < rows.end; first += side_) {
    std::fill(best_.begin(), best_.end(), kNothing);
    for (int i = first; i < std::min(first + side_, rows.end); ++i) {
      const float* const row = pairs.row(head, i);
      for (int j = 0; j < keys; ++j)
        best_[static_cast<std::size_t>(j)] = farther(best_[static_cast<std::size_t>(j)], row[j]);
    }
    float* const to = blocks_.row(head, first / side_);
    float& peak = peaks_[static_cast<std::size_t>(head * blocks_.rows() + first / side_)] = 0.0f;
    for (int b = 0; b < blocks_.cols(); ++b) {
      to[b] = kNothing;
      for (int j = b * side_; j < std::min((b + 1) * side_, keys); ++j)
        to[b] = farther(to[b], best_[static_cast<std::size_t>(j)]);
      if (to[b] != kNothing) peak = std::max(peak, std::fabs(to[b]));
    }
  }
}

}  // namespace attention
