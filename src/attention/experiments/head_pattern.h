// What a head of self-attention mostly looks at, measured on its weights.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <utility>

#include "attention/layer/tensor.h"

namespace attention {

enum class HeadPattern {
  none,
  previous,  ///< the token before
  /// What followed an earlier equal token (Olsson et al. 2022, "In-context learning and induction heads").
  induction,
  /// The first token, where a head rests that has nothing to look at: an attention sink (Xiao et al. 2023).
  first,
  same,   ///< earlier equal tokens
  broad,  ///< nearly all tokens alike
};
inline constexpr int kHeadPatterns = 6;

/// A pattern and how much of it there is, from 0 to 1; `none` where no pattern holds enough.
struct HeadTag {
  HeadPattern pattern = HeadPattern::none;
  float measure = 0;
  bool operator==(const HeadTag&) const = default;
};

/// The share of its weight from which a head is named after previous, induction, first or same.
inline constexpr float kTagFrom = 0.4f;
/// The share of the largest possible entropy from which a head that is none of these is called broad.
inline constexpr float kBroadFrom = 0.85f;

/// The row of a query, valid until the next is asked for.
using RowOfHead = std::function<const float*(int query)>;
inline RowOfHead rowsOfHead(const Tensor& weights, int head) {
  return [&weights, head](int query) { return weights.row(head, query); };
}
inline RowOfHead rowsOfHead(const float* weights, std::size_t keys) {
  return [=](int query) { return weights + static_cast<std::size_t>(query) * keys; };
}

/// Which keys the queries see.
struct Sight {
  // NOLINTNEXTLINE(google-explicit-constructor): most see all keys, or those up to themselves
  Sight(bool upToItself = false, RowOfHead scores = {}) : causal(upToItself), masked(std::move(scores)) {}
  bool causal;       ///< none beyond the query itself
  RowOfHead masked;  ///< and none whose score is −∞ here; empty: no mask hides any
};

/// The tag of one head. Its weights are [n, n], rows of queries, each of which sums to 1; `tokens` has n
/// numbers, equal for equal tokens. The measures are means over rows:
///   previous  W[i, i−1], and first W[i, 0], from the third row on, where they differ; W[i, i] likewise;
///   same      the weight on earlier equal tokens, and induction that on the token after each of them, over the rows that have one;
///   broad     the entropy of the row ÷ that of equal weights on all keys that it sees, over the rows that see two or more.
/// Induction comes before the others, then the largest counts. At most kTagRows rows are looked at, evenly
/// spread. Needs n ≥ 4, else none.
HeadTag tagOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight);
inline constexpr int kTagRows = 128;

/// All measures of a head, from which its tag follows; each a mean over the rows that the tag is taken from.
struct HeadMeasures {
  std::array<float, kHeadPatterns> patterns{};  ///< by HeadPattern, 0 to 1; that of `none` is 0
  float entropy = 0;                            ///< of a row, in bit
  float distance = 0;                           ///< from a query to its keys, in tokens: Σ w·|i − j|
  float itself = 0;                             ///< the weight of a query on its own token

  float operator[](HeadPattern pattern) const { return patterns[static_cast<std::size_t>(pattern)]; }
};

/// Measures a head some rows at a time, where rows are made when they are read.
class HeadMeter {
 public:
  /// Some of the rows to be measured, of those before `end`; `tokens` and `sight` as for tagOf(), the same in
  /// every call. True after the last.
  bool take(int rows, const RowOfHead& weights, std::span<const int> tokens, const Sight& sight,
            int end = std::numeric_limits<int>::max());
  HeadMeasures measures() const;

 private:
  friend HeadTag tagOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight);
  /// The mean of what was added, 0 if nothing was.
  struct Mean {
    double sum = 0;
    int count = 0;
    void add(double value) { sum += value, ++count; }
    float value() const { return count > 0 ? static_cast<float>(sum / count) : 0; }
  };
  void look(const float* row, std::span<const int> tokens, int i);
  void measureSpread(const float* row, int n, int i, const Sight& sight);

  Mean previous_, first_, same_, induction_, even_, entropy_, distance_, itself_;
  int next_ = 0;
};

/// The same as for tagOf(). With fewer than 4 tokens all are 0.
HeadMeasures measuresOf(const RowOfHead& weights, std::span<const int> tokens, const Sight& sight);
HeadTag tagOf(const HeadMeasures& measures);
inline HeadTag tagOf(const float* weights, std::span<const int> tokens, const Sight& sight) {
  return tagOf(rowsOfHead(weights, tokens.size()), tokens, sight);
}
inline HeadMeasures measuresOf(const float* weights, std::span<const int> tokens, const Sight& sight) {
  return measuresOf(rowsOfHead(weights, tokens.size()), tokens, sight);
}

}  // namespace attention
