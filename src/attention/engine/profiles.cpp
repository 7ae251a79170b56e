#include "attention/engine/profiles.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace attention {
namespace {

constexpr int kRowsOfProfile = 64;  // at once: they take a millisecond or two, but for making them

/// The logarithm to base 2 of a positive number: of its exponent, and of what remains by a series that is
/// off by less than 0.00003. Without a call, so that a loop of it is vectorised.
float logOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1.0f;
  return exponent + m * (1.44196f + m * (-0.70965f + m * (0.41755f + m * (-0.19622f + m * 0.04636f))));
}

}  // namespace

float entropyOf(const float* weights, int count) {
  constexpr int kSums = 16;  // side by side, as a vector holds them
  float sums[kSums] = {};
  const auto take = [&sums](int at, float weight) {
    sums[at] -= weight > 1e-30f ? weight * logOf(weight) : 0.0f;
  };
  int j = 0;
  for (; j + kSums <= count; j += kSums)
    for (int k = 0; k < kSums; ++k) take(k, weights[j + k]);
  for (; j < count; ++j) take(0, weights[j]);
  return std::max(std::accumulate(sums, sums + kSums, 0.0f), 0.0f);
}

void Profiles::ask(int head, std::uint32_t stamp) {
  if (asked_.head == head && asked_.stamp == stamp) return;
  asked_ = {head, 1, stamp};  // the rows are counted when they are first read
  next_ = 0;
}

void Profiles::takeSome(const Tensor& weights, int each, int most) {
  if (asked_.head >= weights.heads()) return forget();  // of a layer that is no more
  const auto keys = static_cast<std::size_t>(weights.cols());
  asked_.rows = weights.rows();
  if (next_ == 0) sums_.assign(keys, 0.0), newEntropies_.resize(static_cast<std::size_t>(asked_.rows));
  const int end = each > 1 ? next_ + 1 : std::min(next_ + std::min(kRowsOfProfile, most), asked_.rows);
  if (each == 1) weights.expect(asked_.head, next_, end - next_);
  while (next_ < end) {
    const int count = std::min(each, asked_.rows - next_);
    const float* const row = weights.row(asked_.head, next_ + count / 2);
    for (std::size_t j = 0; j < keys; ++j) sums_[j] += double{row[j]} * count;
    std::fill_n(newEntropies_.begin() + next_, count, entropyOf(row, weights.cols()));
    next_ += count;
  }
  if (hasMore()) return;
  made_ = asked_;
  received_.assign(sums_.begin(), sums_.end());
  entropies_ = newEntropies_;
}

}  // namespace attention
