// Running sums behind the outputs of one head, in double, so that an edited key or value is an addition.
//
// For query i: total[i] = Σ_j e_ij and weighted[c][i] = Σ_j e_ij·v_jc, where e are the exponentials of the trace; an
// output is their quotient. Drift: every addition rounds by at most 2^-53 of what it meets, and that is itself added up, per
// sum. A sum whose drift may exceed kDriftLimit of its size is not used but taken anew from the trace (so is one that
// cancelled to almost nothing, where old rounding would show). Whatever the history, then, a sum is within 2^-27 of its
// size of the one taken anew: an eighth of the last place of the float that is made of it.
#pragma once

#include <vector>

#include "attention/tensor.h"

namespace attention {

/// How much of its size a sum may have drifted before it is taken anew.
inline constexpr double kDriftLimit = 0x1p-27;

class RunningSums {
 public:
  /// Forgets everything; the memory (12 bytes a number of head_output) is taken when a sum is first asked for.
  void reset(int queries, int dim);
  /// Forgets what concerns one query, or all of them: to be called when their exponentials change otherwise than by add….
  void forget(int query);
  void forgetAll();
  /// Takes the memory. To be called before anything below.
  void prepare();

  /// The value of one key changes `from` → `to` in column `col`; `exponentials` has one number a query.
  void addValue(int col, const float* exponentials, float from, float to);
  /// The exponential of one key changes by `deltas`, one a query; `value` is the key's row of V, dim() numbers.
  void addKey(const double* deltas, const float* value);

  /// Are the total and every weighted sum of a query known? Is one weighted sum?
  bool knowsRow(int query) const { return isSure(total(query), totalDrift_[at(query)]) && row_[at(query)] != 0; }
  bool knows(int query, int col) const { return isSure(weighted(query, col), drift_[at(query, col)]); }
  bool knowsTotal(int query) const { return isSure(total(query), totalDrift_[at(query)]); }
  /// Looks for sums that have drifted too far; knowsRow() answers from what it found.
  void inspectRows();

  /// Takes the sums of a query anew. `values` has `keys` rows of dim() numbers.
  void takeRow(int query, const float* exponentials, const float* values, int keys);
  /// Takes one weighted sum anew; `column` is that column of V, `keys` numbers.
  void take(int query, int col, const float* exponentials, const float* column, int keys);

  double total(int query) const { return total_[at(query)]; }
  double weighted(int query, int col) const { return weighted_[at(query, col)]; }
  /// The queries() weighted sums of one column.
  const double* column(int col) const { return weighted_.data() + at(0, col); }
  int dim() const { return dim_; }

 private:
  std::size_t at(int query) const { return static_cast<std::size_t>(query); }
  std::size_t at(int query, int col) const {
    return static_cast<std::size_t>(col) * static_cast<std::size_t>(queries_) + static_cast<std::size_t>(query);
  }
  static bool isSure(double sum, float drift) {
    return static_cast<double>(drift) <= kDriftLimit * (sum < 0 ? -sum : sum);
  }

  int queries_ = 0, dim_ = 0;
  std::vector<double> total_, weighted_;  // weighted_ by column, so that both kinds of edit run along memory
  std::vector<float> totalDrift_, drift_;  // infinite where the sum is not known
  std::vector<std::uint8_t> row_;          // found sound by inspectRows()
};

}  // namespace attention
