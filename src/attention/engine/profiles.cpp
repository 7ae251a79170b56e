#include "attention/engine/profiles.h"

#include <algorithm>
#include <bit>
#include <numeric>

namespace attention {
namespace {

/// Fewer numbers than this are taken on one thread.
constexpr int kNumbersPay = 1 << 17;
/// Sums side by side, as a vector holds them.
constexpr int kSums = 16;

/// The logarithm to base 2 of a positive number: of its exponent, and of what remains by a series that is
/// off by less than 0.00003. Without a call, so that a loop of it is vectorised.
float logOf(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto exponent = static_cast<float>(static_cast<std::int32_t>(bits >> 23) - 127);
  const float m = std::bit_cast<float>((bits & 0x7fffff) | 0x3f800000) - 1.0f;
  return exponent + m * (1.44196f + m * (-0.70965f + m * (0.41755f + m * (-0.19622f + m * 0.04636f))));
}

}  // namespace

RowTotals totalsOf(const float* weights, int count) {
  double sums[kSums] = {};
  float lows[kSums] = {}, highs[kSums] = {};
  const auto take = [&](int at, float weight) {
    sums[at] += double{weight};
    lows[at] = std::min(lows[at], weight), highs[at] = std::max(highs[at], weight);
  };
  int j = 0;
  for (; j + kSums <= count; j += kSums)
    for (int k = 0; k < kSums; ++k) take(k, weights[j + k]);
  for (; j < count; ++j) take(0, weights[j]);
  return {std::accumulate(sums, sums + kSums, 0.0), *std::min_element(lows, lows + kSums),
          *std::max_element(highs, highs + kSums)};
}

float entropyOf(const float* weights, int count) {
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

// Each thread adds up columns of its own, so that the sums are the same on any number of them.
void Profiles::takeSome(const Tensor& weights, int each, int most, kernels::Workspace& workspace) {
  if (asked_.head >= weights.heads()) return forget();  // of a layer that is no more
  const int keys = weights.cols();
  asked_.rows = weights.rows();
  if (next_ == 0) {
    sums_.assign(static_cast<std::size_t>(keys), 0.0);
    newEntropies_.resize(static_cast<std::size_t>(asked_.rows));
  }
  const bool isSampled = each > 1;
  const int count = std::min(isSampled ? each : most, asked_.rows - next_), rows = isSampled ? 1 : count,
            times = count / rows;  // that each row counts
  if (!isSampled) weights.expect(asked_.head, next_, count);
  const float* const from = weights.row(asked_.head, isSampled ? next_ + count / 2 : next_);
  const int parts = std::int64_t{rows} * keys < kNumbersPay ? 1 : workspace.threads();
  kernels::inParts(workspace, parts, [&](int part) {
    const int firstKey = keys * part / parts, endKey = keys * (part + 1) / parts;
    for (int i = 0; i < rows; ++i)
      for (int j = firstKey; j < endKey; ++j)
        sums_[static_cast<std::size_t>(j)] += double{from[std::ptrdiff_t{i} * keys + j]} * times;
    for (int i = rows * part / parts; i < rows * (part + 1) / parts; ++i)
      std::fill_n(newEntropies_.begin() + next_ + i * times, times,
                  entropyOf(from + std::ptrdiff_t{i} * keys, keys));
  });
  next_ += count;
  if (hasMore()) return;
  made_ = asked_;
  received_.numbers.assign(sums_.begin(), sums_.end());
  entropies_.numbers = newEntropies_;
  for (Profile* made : {&received_, &entropies_})
    made->most = *std::max_element(made->numbers.begin(), made->numbers.end());
}

}  // namespace attention
