#include "attention/sums.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace attention {
namespace {

constexpr float kUnknown = std::numeric_limits<float>::infinity();
constexpr double kRounding = 0x1p-53;

/// A sum of `count` products taken anew is off by at most this, of the sum of their magnitudes: it is drift like any
/// other as soon as the largest of them is taken out again.
double roundingOfSum(int count) { return kRounding * static_cast<double>(count); }

/// The drift after an addition, rounded up so that a float can carry it.
float grown(float drift, double by) { return drift + static_cast<float>(by * (1.0 + 0x1p-20)); }

}  // namespace

void RunningSums::reset(int queries, int dim) {
  const bool sameShape = queries == queries_ && dim == dim_;
  queries_ = queries, dim_ = dim;
  if (sameShape) return forgetAll();
  total_.clear(), weighted_.clear(), totalDrift_.clear(), drift_.clear(), row_.clear();
}

void RunningSums::prepare() {
  if (!total_.empty() || queries_ == 0) return;
  const std::size_t rows = at(queries_), all = at(0, dim_);
  total_.assign(rows, 0.0), weighted_.assign(all, 0.0);
  totalDrift_.assign(rows, kUnknown), drift_.assign(all, kUnknown), row_.assign(rows, 0);
}

void RunningSums::forgetAll() {
  std::fill(totalDrift_.begin(), totalDrift_.end(), kUnknown);
  std::fill(drift_.begin(), drift_.end(), kUnknown);
}

void RunningSums::forget(int query) {
  if (total_.empty()) return;
  totalDrift_[at(query)] = kUnknown;
  for (int c = 0; c < dim_; ++c) drift_[at(query, c)] = kUnknown;
}

void RunningSums::addValue(int col, const float* exponentials, float from, float to) {
  double* sums = weighted_.data() + at(0, col);
  float* drift = drift_.data() + at(0, col);
  const double before = double{from}, after = double{to};
  for (int i = 0; i < queries_; ++i) {
    const double e = double{exponentials[i]};  // both products are exact: 24 bits by 24 bits
    const double middle = sums[i] - e * before;
    const double sum = middle + e * after;
    drift[i] = grown(drift[i], e > 0.0 ? kRounding * (std::abs(middle) + std::abs(sum)) : 0.0);
    sums[i] = sum;
  }
}

void RunningSums::addKey(const double* deltas, const float* value) {
  for (int i = 0; i < queries_; ++i) {
    total_[at(i)] += deltas[i];
    totalDrift_[at(i)] = grown(totalDrift_[at(i)], deltas[i] != 0.0 ? 2.0 * kRounding * total_[at(i)] : 0.0);
  }
  for (int c = 0; c < dim_; ++c) {
    double* sums = weighted_.data() + at(0, c);
    float* drift = drift_.data() + at(0, c);
    const double v = double{value[c]};
    for (int i = 0; i < queries_; ++i) {
      const double added = deltas[i] * v;  // the difference and the product round, and the sum
      const double sum = sums[i] + added;
      drift[i] = grown(drift[i], kRounding * (2.0 * std::abs(added) + (added != 0.0 ? std::abs(sum) : 0.0)));
      sums[i] = sum;
    }
  }
}

void RunningSums::inspectRows() {
  std::fill(row_.begin(), row_.end(), std::uint8_t{1});
  for (int c = 0; c < dim_; ++c) {
    const double* sums = weighted_.data() + at(0, c);
    const float* drift = drift_.data() + at(0, c);
    for (int i = 0; i < queries_; ++i) row_[at(i)] &= static_cast<std::uint8_t>(isSure(sums[i], drift[i]));
  }
}

void RunningSums::takeRow(int query, const float* exponentials, const float* values, int keys) {
  constexpr int kAtOnce = 32;
  double total = 0.0;
  for (int j = 0; j < keys; ++j) total += double{exponentials[j]};
  total_[at(query)] = total;
  totalDrift_[at(query)] = static_cast<float>(roundingOfSum(keys) * total);
  for (int first = 0; first < dim_; first += kAtOnce) {
    const int count = std::min(kAtOnce, dim_ - first);
    double sums[kAtOnce] = {};
    float magnitudes[kAtOnce] = {};
    for (int j = 0; j < keys; ++j) {
      if (exponentials[j] == 0.0f) continue;
      const double e = double{exponentials[j]};
      const float* value = values + static_cast<std::ptrdiff_t>(j) * dim_ + first;
      for (int c = 0; c < count; ++c) sums[c] += e * double{value[c]};
      for (int c = 0; c < count; ++c) magnitudes[c] += exponentials[j] * std::abs(value[c]);
    }
    for (int c = 0; c < count; ++c) {
      weighted_[at(query, first + c)] = sums[c];
      drift_[at(query, first + c)] = grown(0.0f, roundingOfSum(keys) * double{magnitudes[c]});
    }
  }
}

void RunningSums::take(int query, int col, const float* exponentials, const float* column, int keys) {
  double parts[4] = {};  // four sums at once: one would wait for itself
  float magnitudes[4] = {};
  int j = 0;
  for (; j + 4 <= keys; j += 4) {
    for (int n = 0; n < 4; ++n) parts[n] += double{exponentials[j + n]} * double{column[j + n]};
    for (int n = 0; n < 4; ++n) magnitudes[n] += exponentials[j + n] * std::abs(column[j + n]);
  }
  for (; j < keys; ++j) {
    parts[0] += double{exponentials[j]} * double{column[j]};
    magnitudes[0] += exponentials[j] * std::abs(column[j]);
  }
  const double magnitude = double{magnitudes[0]} + double{magnitudes[1]} + double{magnitudes[2]} + double{magnitudes[3]};
  weighted_[at(query, col)] = (parts[0] + parts[1]) + (parts[2] + parts[3]);
  drift_[at(query, col)] = grown(0.0f, roundingOfSum(keys) * magnitude);
}

}  // namespace attention
