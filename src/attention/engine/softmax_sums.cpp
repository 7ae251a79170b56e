#include "attention/engine/softmax_sums.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace attention {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::infinity();
constexpr double kRounding = 0x1p-53;

/// Distance between columns: never a power of two, and with room for a whole last block.
int strideOf(int queries) { return (queries + 15) / 16 * 16 + 8; }

constexpr int kColsAtOnce = 32;
constexpr int kKeysAtOnce =
    32;  // keys whose numbers are summed separately first, which bounds the rounding error of long sums

constexpr int kUnknownShare =
    16;  // recomputing a row costs this many times its share of a matrix product (measured)

/// Bound on the rounding error of a recomputed sum over `count` keys, relative to the sum of the magnitudes.
/// It counts as drift like any other, because it can become large relative to the sum when its largest term
/// is removed.
double roundingOfSum(int count) {
  return kRounding * static_cast<double>(kKeysAtOnce + count / kKeysAtOnce + 2);
}

/// The drift increased by `by`, rounded up so that it is still a bound as a float.
float grown(float drift, double by) { return drift + static_cast<float>(by * (1.0 + 0x1p-20)); }

/// The sum of the exponentials of a row.
double totalOf(const float* exponentials, int keys) {
  double total = 0.0;
  for (int begin = 0; begin < keys; begin += kKeysAtOnce) {
    double parts[4] = {};  // four independent sums: a single one would wait for each addition
    for (int j = begin; j < std::min(begin + kKeysAtOnce, keys); ++j) parts[j % 4] += double{exponentials[j]};
    total += (parts[0] + parts[1]) + (parts[2] + parts[3]);
  }
  return total;
}

/// Moves a row of numbers, one per query, to the new indices of the queries; `fresh` is the value for
/// inserted ones.
template <class T>
void moveRow(RunningSoftmaxSums::Move move, const T* from, int count, T fresh, T* to) {
  std::copy(from, from + move.at, to);
  std::fill_n(to + move.at, move.inserted, fresh);
  std::copy(from + move.at + move.removed, from + count, to + move.at + move.inserted);
}

}  // namespace

void RunningSoftmaxSums::reset(int queries, int dim) {
  const bool sameShape = queries == queries_ && dim == dim_;
  queries_ = queries, dim_ = dim, stride_ = strideOf(queries);
  if (sameShape) return forgetAll();
  total_.clear(), weighted_.clear(), totalDrift_.clear(), drift_.clear();
}

void RunningSoftmaxSums::prepare() {
  if (!total_.empty() || queries_ == 0) return;
  const std::size_t rows = at(queries_), all = at(0, dim_);
  total_.assign(rows, 0.0), weighted_.assign(all, 0.0);
  totalDrift_.assign(rows, kUnknown), drift_.assign(all, kUnknown);
}

void RunningSoftmaxSums::moveQueries(Move move) {
  const int count = queries_ - move.removed + move.inserted;
  RunningSoftmaxSums next;
  next.reset(count, dim_);
  if (!total_.empty()) {
    next.prepare();
    moveRow(move, total_.data(), queries_, 0.0, next.total_.data());
    moveRow(move, totalDrift_.data(), queries_, kUnknown, next.totalDrift_.data());
    for (int c = 0; c < dim_; ++c) {
      moveRow(move, weighted_.data() + at(0, c), queries_, 0.0, next.weighted_.data() + next.at(0, c));
      moveRow(move, drift_.data() + at(0, c), queries_, kUnknown, next.drift_.data() + next.at(0, c));
    }
  }
  *this = std::move(next);
}

bool RunningSoftmaxSums::knowsMost() const {
  int known = 0;
  for (int i = 0; i < queries_ && !total_.empty(); ++i) known += knowsTotal(i);
  return known >= queries_ - queries_ / kUnknownShare;
}

void RunningSoftmaxSums::forgetAll() {
  std::fill(totalDrift_.begin(), totalDrift_.end(), kUnknown);
  std::fill(drift_.begin(), drift_.end(), kUnknown);
}

void RunningSoftmaxSums::forget(int query) {
  if (total_.empty()) return;
  totalDrift_[at(query)] = kUnknown;
  for (int c = 0; c < dim_; ++c) drift_[at(query, c)] = kUnknown;
}

void RunningSoftmaxSums::addValue(int col, const float* exponentials, float from, float to) {
  double* sums = weighted_.data() + at(0, col);
  float* drift = drift_.data() + at(0, col);
  const double before = double{from}, after = double{to};
  for (int i = 0; i < queries_; ++i) {
    const double e = double{exponentials[i]};  // the products are exact: 24 bits by 24 bits
    const double middle = sums[i] - e * before;
    const double sum = middle + e * after;
    drift[i] = grown(drift[i], e > 0.0 ? kRounding * (std::abs(middle) + std::abs(sum)) : 0.0);
    sums[i] = sum;
  }
}

void RunningSoftmaxSums::addKey(const double* deltas, const float* value) {
  for (int i = 0; i < queries_; ++i) {
    total_[at(i)] += deltas[i];
    totalDrift_[at(i)] = grown(totalDrift_[at(i)], deltas[i] != 0.0 ? 2.0 * kRounding * total_[at(i)] : 0.0);
  }
  for (int c = 0; c < dim_; ++c) {
    double* sums = weighted_.data() + at(0, c);
    float* drift = drift_.data() + at(0, c);
    const double v = double{value[c]};
    for (int i = 0; i < queries_; ++i) {
      const double added =
          deltas[i] * v;  // rounding errors: of the difference, of the product and of the sum
      const double sum = sums[i] + added;
      drift[i] = grown(drift[i], kRounding * (2.0 * std::abs(added) + (added != 0.0 ? std::abs(sum) : 0.0)));
      sums[i] = sum;
    }
  }
}

void RunningSoftmaxSums::findKnown(int first, int count, int firstCol, int cols, bool* known) const {
  double excess[kBlock];  // by how much the worst drift of each query exceeds its limit
  std::fill_n(excess, kBlock, 0.0);
  for (int c = firstCol; c < firstCol + cols; ++c) {
    const double* sums = weighted_.data() + at(first, c);
    const float* drift = drift_.data() + at(first, c);
    for (int n = 0; n < kBlock; ++n) {  // entries beyond `count` are padding
      excess[n] = std::max(excess[n], double{drift[n]} - kDriftLimit * std::abs(sums[n]));
    }
  }
  for (int n = 0; n < count; ++n) known[n] = !(excess[n] > 0.0);
}

void RunningSoftmaxSums::quotients(int first, int count, const double* totals, int firstCol, int cols,
                                   float* out) const {
  constexpr double kMost = std::numeric_limits<float>::max();
  double inverses[kBlock] = {};
  for (int n = 0; n < count; ++n) inverses[n] = totals[n] > 0.0 ? 1.0 / totals[n] : 0.0;
  for (int c = 0; c < cols; ++c) {
    const double* sums = weighted_.data() + at(first, firstCol + c);
    double values[kBlock];
    for (int n = 0; n < kBlock; ++n) values[n] = std::min(std::max(sums[n] * inverses[n], -kMost), kMost);
    for (int n = 0; n < count; ++n) out[n * cols + c] = static_cast<float>(values[n]);
  }
}

void RunningSoftmaxSums::takeRow(int query, const float* exponentials, const float* values, int keys) {
  const double total = totalOf(exponentials, keys);
  total_[at(query)] = total;
  totalDrift_[at(query)] = grown(0.0f, roundingOfSum(keys) * total);
  for (int first = 0; first < dim_; first += kColsAtOnce) {
    takeCols(query, first, std::min(kColsAtOnce, dim_ - first), exponentials, values + first, keys);
  }
}

/// Recomputes some weighted sums of a query; `values` points to the first of their columns.
void RunningSoftmaxSums::takeCols(int query, int firstCol, int cols, const float* exponentials,
                                  const float* values, int keys) {
  double sums[kColsAtOnce] = {};
  float magnitudes[kColsAtOnce] = {};
  for (int begin = 0; begin < keys; begin += kKeysAtOnce) {
    double parts[kColsAtOnce] = {};
    for (int j = begin; j < std::min(begin + kKeysAtOnce, keys); ++j) {
      if (exponentials[j] == 0.0f) continue;
      const double e = double{exponentials[j]};
      const float* value = values + static_cast<std::ptrdiff_t>(j) * dim_;
      for (int c = 0; c < cols; ++c) parts[c] += e * double{value[c]};
      for (int c = 0; c < cols; ++c) magnitudes[c] += exponentials[j] * std::abs(value[c]);
    }
    for (int c = 0; c < cols; ++c) sums[c] += parts[c];
  }
  for (int c = 0; c < cols; ++c) {
    weighted_[at(query, firstCol + c)] = sums[c];
    drift_[at(query, firstCol + c)] = grown(0.0f, roundingOfSum(keys) * double{magnitudes[c]});
  }
}

void RunningSoftmaxSums::take(int query, int col, const float* exponentials, const float* column, int keys) {
  double sum = 0.0;
  float magnitude = 0.0f;
  for (int begin = 0; begin < keys; begin += kKeysAtOnce) {
    const int end = std::min(begin + kKeysAtOnce, keys);
    double parts[4] = {};  // four independent sums: a single one would wait for each addition
    float magnitudes[4] = {};
    for (int j = begin; j < end; ++j) {
      parts[j % 4] += double{exponentials[j]} * double{column[j]};
      magnitudes[j % 4] += exponentials[j] * std::abs(column[j]);
    }
    sum += (parts[0] + parts[1]) + (parts[2] + parts[3]);
    magnitude += (magnitudes[0] + magnitudes[1]) + (magnitudes[2] + magnitudes[3]);
  }
  weighted_[at(query, col)] = sum;
  drift_[at(query, col)] = grown(0.0f, roundingOfSum(keys) * double{magnitude});
}

}  // namespace attention
