#include "attention/experiments/head_pattern.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numbers>

namespace attention {
namespace {

/// The mean of what was added, 0 if nothing was.
struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) { sum += value, ++count; }
  float value() const { return count > 0 ? static_cast<float>(sum / count) : 0; }
};

/// The entropy of a row, in nats.
double entropyOf(const float* row, int visible) {
  double entropy = 0;
  for (int j = 0; j < visible; ++j)
    if (const double w = row[j]; w > 0) entropy -= w * std::log(w);
  return entropy;
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

/// Calls `take(row, i)` with the rows that a head is measured on.
template <class Take>
void eachRow(const RowOfHead& weights, int n, const Take& take) {
  constexpr int kFewest = 4, kFirst = 2;
  const int step = (n + kTagRows - 1) / kTagRows;
  for (int i = kFirst; n >= kFewest && i < n; i += step) take(weights(i), i);
}

/// The measures but for entropy and distance, which take longer.
HeadMeasures looksOf(const RowOfHead& weights, std::span<const int> tokens) {
  Mean previous, first, same, induction;
  eachRow(weights, static_cast<int>(tokens.size()), [&](const float* row, int i) {
    previous.add(row[i - 1]), first.add(row[0]);
    const Repeats repeats = repeatsOf(row, tokens, i);
    if (repeats.hasSame) same.add(repeats.same);
    if (repeats.hasAfter) induction.add(repeats.after);
  });
  HeadMeasures out;
  const auto put = [&](HeadPattern pattern, const Mean& mean) {
    out.patterns[static_cast<std::size_t>(pattern)] = mean.value();
  };
  put(HeadPattern::previous, previous), put(HeadPattern::first, first);
  put(HeadPattern::same, same), put(HeadPattern::induction, induction);
  return out;
}

/// How many of the first `visible` keys a row of scores leaves.
std::ptrdiff_t seenOf(const float* masked, int visible) {
  return std::count_if(masked, masked + visible, [](float score) { return !std::isinf(score); });
}

void measureSpread(const RowOfHead& weights, int n, const Sight& sight, HeadMeasures& out) {
  Mean even, entropy, distance;
  eachRow(weights, n, [&](const float* row, int i) {
    const int visible = sight.causal ? i + 1 : n;
    const std::ptrdiff_t seen = sight.masked ? seenOf(sight.masked(i), visible) : visible;
    const double nats = entropyOf(row, visible);
    if (seen > 1) even.add(nats / std::log(static_cast<double>(seen)));
    entropy.add(nats / std::numbers::ln2);
    double far = 0;
    for (int j = 0; j < visible; ++j) far += double{row[j]} * std::abs(i - j);
    distance.add(far);
  });
  out.patterns[static_cast<std::size_t>(HeadPattern::broad)] = even.value();
  out.entropy = entropy.value(), out.distance = distance.value();
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

HeadMeasures measuresOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight) {
  HeadMeasures out = looksOf(weights, tokens);
  measureSpread(weights, static_cast<int>(tokens.size()), sight, out);
  return out;
}

HeadTag tagOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight) {
  HeadMeasures looks = looksOf(weights, tokens);
  if (const HeadTag named = namedTag(looks); named.pattern != HeadPattern::none) return named;
  measureSpread(weights, static_cast<int>(tokens.size()), sight, looks);
  return tagOf(looks);
}

}  // namespace attention
