#include "attention/engine/overview.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "attention/layer/spec.h"

namespace attention {
namespace {

/// Of all heads together, in 8 MiB: beyond, blocks are larger, as long as kFewAcross remain; and in 32 MiB.
constexpr std::int64_t kManyBlocks = 1 << 21, kMostBlocks = 1 << 23;
constexpr std::int64_t kFewAcross = 512;

constexpr float kNothing = -std::numeric_limits<float>::infinity();

/// The bits without the sign grow with the distance from 0; those of an infinity count as less than those of
/// 0.
std::int32_t farOf(float value) {
  const std::int32_t bits = std::bit_cast<std::int32_t>(value) & 0x7fffffff;
  return bits >= 0x7f800000 ? -1 : bits;
}

int blocksOf(int count, int side) { return (count + side - 1) / side; }

}  // namespace

float farther(float a, float b) { return farOf(b) > farOf(a) ? b : a; }

void Overview::reset(int heads, int queries, int keys, int across) {
  side_ = 1, queries_ = queries, keys_ = keys;
  const bool isFew = std::int64_t{queries} * keys > Limits::inFull;  // each takes a row of its own
  const auto isLarge = [&] {
    const std::int64_t rows = blocksOf(queries, side_), cols = blocksOf(keys, side_),
                       longer = std::max(rows, cols), all = heads * rows * cols;
    return longer > (isFew ? kFewAcross : across) || all > kMostBlocks ||
           (all > kManyBlocks && longer > kFewAcross);
  };
  while (isLarge()) side_ *= 2;
  blocks_ = Tensor(heads, blocksOf(queries, side_), blocksOf(keys, side_));
  peaks_.assign(static_cast<std::size_t>(heads * blocks_.rows()), 0.0f);
}

Span Overview::whole(Span some, int count) const {
  return {some.begin / side_ * side_, std::min(blocksOf(some.end, side_) * side_, count)};
}

void Overview::take(const Tensor& pairs, int head, Span rows) {
  const int keys = pairs.cols();
  std::vector<float> most(static_cast<std::size_t>(keys));  // of each column, over the rows of a block
  for (int first = rows.begin; first < rows.end; first += side_) {
    std::fill(most.begin(), most.end(), kNothing);
    for (int i = first; i < std::min(first + side_, rows.end); ++i) {
      const float* const row = pairs.row(head, i);
      for (int j = 0; j < keys; ++j)
        most[static_cast<std::size_t>(j)] = farther(most[static_cast<std::size_t>(j)], row[j]);
    }
    float* const to = blocks_.row(head, first / side_);
    for (int b = 0; b < blocks_.cols(); ++b) {
      to[b] = kNothing;
      for (int j = b * side_; j < std::min((b + 1) * side_, keys); ++j)
        to[b] = farther(to[b], most[static_cast<std::size_t>(j)]);
    }
    takePeak(head, first / side_);
  }
}

// The bits without the sign, and the sign in the last place: loops of many find the largest without a branch.
void Overview::takeSample(int head, int row, const float* numbers) {
  float* const to = blocks_.row(head, row);
  std::uint32_t peak = 0;
  for (int b = 0; b < blocks_.cols(); ++b) {
    std::uint32_t most = 0;
    for (int j = b * side_; j < std::min((b + 1) * side_, keys_); ++j)
      most = std::max(most, std::rotl(std::bit_cast<std::uint32_t>(numbers[j]), 1));
    to[b] = std::bit_cast<float>(std::rotr(most, 1)), peak = std::max(peak, most);
  }
  peaks_[static_cast<std::size_t>(head * blocks_.rows() + row)] = std::bit_cast<float>(peak >> 1);
}

void Overview::setRow(int head, int row, const float* blocks) {
  std::copy_n(blocks, blocks_.cols(), blocks_.row(head, row));
  takePeak(head, row);
}

void Overview::resetLike(const Overview& other) {
  side_ = other.side_, queries_ = other.queries_, keys_ = other.keys_;
  blocks_ = Tensor(1, other.blocks_.rows(), other.blocks_.cols());
  peaks_.assign(static_cast<std::size_t>(blocks_.rows()), 0.0f);
}

void Overview::takePeak(int head, int row) {
  const float* const blocks = blocks_.row(head, row);
  std::int32_t most = 0;
  for (int b = 0; b < blocks_.cols(); ++b) most = std::max(most, farOf(blocks[b]));
  peaks_[static_cast<std::size_t>(head * blocks_.rows() + row)] = std::bit_cast<float>(most);
}

void Overview::takeKeys(int head, Span keys, const float* columns) {
  for (int r = 0; r < blocks_.rows(); ++r) {
    float best = kNothing;
    for (int i = r * side_; i < std::min((r + 1) * side_, queries_); ++i)
      for (int j = 0; j < keys.size(); ++j) best = farther(best, columns[std::ptrdiff_t{j} * queries_ + i]);
    float& block = blocks_.at(head, r, keys.begin / side_);
    const float before = std::exchange(block, best),
                peak = peaks_[static_cast<std::size_t>(head * blocks_.rows() + r)];
    if (std::fabs(before) == peak || farOf(best) > farOf(peak)) takePeak(head, r);
  }
}

void Overview::grow(int head, const float* grown) {
  for (int r = 0; r < blocks_.rows(); ++r) {
    const int first = r * side_, last = std::min(first + side_, queries_);
    float sum = 0;
    for (int i = first; i < last; ++i) sum += grown[i];
    const float factor = std::exp(sum / static_cast<float>(last - first));
    float* const blocks = blocks_.row(head, r);
    for (int b = 0; b < blocks_.cols(); ++b) blocks[b] *= factor;
    peaks_[static_cast<std::size_t>(head * blocks_.rows() + r)] *= factor;
  }
}

}  // namespace attention
