#include "attention/experiments/head_pattern.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <numbers>
#include <numeric>

namespace attention {
namespace {

/// The natural logarithm of a positive number, within 1e-7; of 0 something finite.
float logOf(float x) {
  constexpr int kHalfRoot = std::bit_cast<std::int32_t>(0.5f * std::numbers::sqrt2_v<float>), kExponent = 23;
  const int bits = std::bit_cast<std::int32_t>(x), exponent = (bits - kHalfRoot) >> kExponent;
  const float m = std::bit_cast<float>(bits - exponent * (1 << kExponent));  // √½ to √2
  const float s = (m - 1) / (m + 1), z = s * s;
  return static_cast<float>(exponent) * std::numbers::ln2_v<float> +
         2 * s * (1 + z * (1.0f / 3 + z * (1.0f / 5 + z * (1.0f / 7))));
}

/// What is summed over the keys of a row: its entropy in nats, and Σ w·|i − j|.
struct Spread {
  double nats = 0, far = 0;
};

/// Of the first `visible` keys, for the query i.
Spread spreadOf(const float* row, int visible, int i) {
  constexpr int kLanes = 8;  // loops of this length are vectorised
  float nats[kLanes] = {}, far[kLanes] = {};
  const auto add = [&](int lane, int j) {
    const float weight = row[j], positive = weight > 0 ? weight : 0.0f;
    nats[lane] -= positive * logOf(positive), far[lane] += weight * static_cast<float>(std::abs(i - j));
  };
  int j = 0;
  for (; j + kLanes <= visible; j += kLanes)
    for (int k = 0; k < kLanes; ++k) add(k, j + k);
  for (; j < visible; ++j) add(0, j);
  return {std::accumulate(nats, nats + kLanes, 0.0), std::accumulate(far, far + kLanes, 0.0)};
}

struct Repeats {
  double same = 0, after = 0;  ///< weight on earlier equal tokens, and on what followed them
  bool hasSame = false, hasAfter = false;
};

Repeats repeatsOf(const float* row, std::span<const int> tokens, int i) {
  Repeats out;
  for (int j = 0; j < i; ++j) {
    if (tokens[static_cast<std::size_t>(j)] != tokens[static_cast<std::size_t>(i)]) continue;
    out.same += row[j], out.hasSame = true;
    if (j + 1 < i) out.after += row[j + 1], out.hasAfter = true;
  }
  return out;
}

/// Calls `take(i)` with some of the rows before `end` that a head is measured on, from the `next`th on. True
/// after the last.
template <class Take>
bool eachRow(int n, int end, int& next, int rows, const Take& take) {
  constexpr int kFewest = 4, kFirst = 2;
  const int step = (n + kTagRows - 1) / kTagRows;
  const auto at = [&] { return kFirst + next * step; };
  for (; n >= kFewest && at() < std::min(n, end) && rows > 0; --rows, ++next) take(at());
  return n < kFewest || at() >= n;
}

/// How many of the first `visible` keys a row of scores leaves.
int seenOf(const float* masked, int visible) {
  int seen = 0;
  for (int j = 0; j < visible; ++j) seen += !(std::fabs(masked[j]) > std::numeric_limits<float>::max());
  return seen;
}

/// The pattern that is named after what the head looks at; none if there is too little of each.
HeadTag namedTag(const HeadMeasures& m) {
  HeadTag most{HeadPattern::induction, m[HeadPattern::induction]};
  if (most.measure >= kTagFrom) return most;
  for (const HeadPattern pattern : {HeadPattern::previous, HeadPattern::first, HeadPattern::same})
    if (pattern == HeadPattern::previous || m[pattern] > most.measure) most = {pattern, m[pattern]};
  return most.measure >= kTagFrom ? most : HeadTag{};
}

}  // namespace

HeadTag tagOf(const HeadMeasures& m) {
  const HeadTag named = namedTag(m);
  if (named.pattern != HeadPattern::none || m[HeadPattern::broad] < kBroadFrom) return named;
  return {HeadPattern::broad, m[HeadPattern::broad]};
}

void HeadMeter::look(const float* row, std::span<const int> tokens, int i) {
  previous_.add(row[i - 1]), first_.add(row[0]), itself_.add(row[i]);
  const Repeats repeats = repeatsOf(row, tokens, i);
  if (repeats.hasSame) same_.add(repeats.same);
  if (repeats.hasAfter) induction_.add(repeats.after);
}

/// Entropy and distance, which take longer.
void HeadMeter::measureSpread(const float* row, int n, int i, const Sight& sight) {
  const int visible = sight.causal ? i + 1 : n;
  const Spread spread = spreadOf(row, visible, i);
  entropy_.add(spread.nats / std::numbers::ln2);
  distance_.add(spread.far);
  const int seen = sight.masked ? seenOf(sight.masked(i), visible) : visible;
  if (seen > 1) even_.add(spread.nats / std::log(static_cast<double>(seen)));
}

bool HeadMeter::take(int rows, const RowOfHead& weights, std::span<const int> tokens, const Sight& sight,
                     int end) {
  const int n = static_cast<int>(tokens.size());
  return eachRow(n, end, next_, rows, [&](int i) {
    const float* const row = weights(i);
    look(row, tokens, i);
    measureSpread(row, n, i, sight);
  });
}

HeadMeasures HeadMeter::measures() const {
  HeadMeasures out;
  const auto put = [&](HeadPattern pattern, const Mean& mean) {
    out.patterns[static_cast<std::size_t>(pattern)] = mean.value();
  };
  put(HeadPattern::previous, previous_), put(HeadPattern::first, first_);
  put(HeadPattern::same, same_), put(HeadPattern::induction, induction_);
  put(HeadPattern::broad, even_);
  out.entropy = entropy_.value(), out.distance = distance_.value(), out.itself = itself_.value();
  return out;
}

HeadMeasures measuresOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight) {
  HeadMeter meter;
  meter.take(kTagRows, weights, tokens, sight);
  return meter.measures();
}

HeadTag tagOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight) {
  const int n = static_cast<int>(tokens.size());
  HeadMeter meter;
  int next = 0;
  eachRow(n, n, next, kTagRows, [&](int i) { meter.look(weights(i), tokens, i); });
  // A head that is named after what it looks at needs no more.
  if (const HeadTag named = namedTag(meter.measures()); named.pattern != HeadPattern::none) return named;
  next = 0;
  eachRow(n, n, next, kTagRows, [&](int i) { meter.measureSpread(weights(i), n, i, sight); });
  return tagOf(meter.measures());
}

}  // namespace attention
