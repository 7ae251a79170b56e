#include "attention/experiments/head_pattern.h"

#include <algorithm>
#include <cmath>

namespace attention {
namespace {

/// The mean of what was added, 0 if nothing was.
struct Mean {
  double sum = 0;
  int count = 0;

  void add(double value) { sum += value, ++count; }
  float value() const { return count > 0 ? static_cast<float>(sum / count) : 0; }
};

/// The entropy of a row as a share of that of equal weights.
double evenness(const float* row, int visible) {
  double entropy = 0;
  for (int j = 0; j < visible; ++j)
    if (const double w = row[j]; w > 0) entropy -= w * std::log(w);
  return entropy / std::log(double{1} * visible);
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

}  // namespace

HeadTag tagOf(const float* weights, std::span<const int> tokens, bool causal) {
  constexpr int kFewest = 4, kFirst = 2;
  const int n = static_cast<int>(tokens.size()), step = (n + kTagRows - 1) / kTagRows;
  if (n < kFewest) return {};
  Mean previous, first, same, induction, even;
  for (int i = kFirst; i < n; i += step) {
    const float* row = weights + std::ptrdiff_t{i} * n;
    previous.add(row[i - 1]), first.add(row[0]);
    const Repeats repeats = repeatsOf(row, tokens, i);
    if (repeats.hasSame) same.add(repeats.same);
    if (repeats.hasAfter) induction.add(repeats.after);
  }
  if (induction.value() >= kTagFrom) return {HeadPattern::induction, induction.value()};
  const HeadTag tags[] = {{HeadPattern::previous, previous.value()},
                          {HeadPattern::first, first.value()},
                          {HeadPattern::same, same.value()}};
  const HeadTag most =
      *std::max_element(std::begin(tags), std::end(tags),
                        [](const HeadTag& a, const HeadTag& b) { return a.measure < b.measure; });
  if (most.measure >= kTagFrom) return most;
  for (int i = kFirst; i < n; i += step)
    even.add(evenness(weights + std::ptrdiff_t{i} * n, causal ? i + 1 : n));
  if (even.value() >= kBroadFrom) return {HeadPattern::broad, even.value()};
  return {};
}

}  // namespace attention
