// Running sums behind the outputs of one head, kept in double, so that an edit of a key or value only adds to
// them.
//
// For query i: total[i] = Σ_j e_ij and weighted[c][i] = Σ_j e_ij·v_jc, where e are the exponentials of the
// trace; an output is their quotient. Each addition rounds by at most 2^-53 of the numbers involved; for each
// sum these bounds are added up and called its drift. A sum whose drift may exceed kDriftLimit of its
// magnitude is recomputed from the trace instead of used. (This includes a sum that cancels to almost
// nothing, where earlier rounding errors would show.) Whatever the history, a sum is therefore within 2^-27
// of its magnitude of the recomputed one: an eighth of the last place of the float that is computed from it.
#pragma once

#include <vector>

#include "attention/layer/tensor.h"

namespace attention {

/// How much a sum may have drifted, relative to its magnitude, before it is recomputed.
inline constexpr double kDriftLimit = 0x1p-27;

class RunningSoftmaxSums {
 public:
  static constexpr int kBlock = 8;  ///< queries that are processed together: their sums fill one cache line

  /// Forgets everything and sets the sizes. Memory (12 bytes for each number of head_output) is allocated by
  /// prepare().
  void reset(int queries, int dim);
  /// Marks the sums of one query, or of all, as unknown: to be called when exponentials change in any other
  /// way than by addValue() and addKey().
  void forget(int query);
  void forgetAll();
  /// Removes `removed` queries from `at` on and inserts `inserted` queries there, whose sums are unknown. The
  /// others keep their sums.
  struct Move {
    int at = 0, removed = 0, inserted = 0;
  };
  void moveQueries(Move move);
  /// Are nearly all sums known, so that updating them costs less than recomputing all?
  bool knowsMost() const;
  /// Allocates the memory. Must be called before any of the functions below.
  void prepare();

  /// The value of one key changes from `from` to `to` in column `col`; `exponentials` holds one number per
  /// query.
  void addValue(int col, const float* exponentials, float from, float to);
  /// The exponentials of one key change by `deltas`, one per query; `value` is the key's row of V, dim()
  /// numbers.
  void addKey(const double* deltas, const float* value);

  bool knowsTotal(int query) const { return isSure(total(query), totalDrift_[at(query)]); }
  /// For `count` <= kBlock queries from `first` on: sets known[i] to whether all weighted sums of query i in
  /// these columns are known.
  void findKnown(int first, int count, int firstCol, int cols, bool* known) const;

  /// Recomputes the sums of a query. `values` has `keys` rows of dim() numbers.
  void takeRow(int query, const float* exponentials, const float* values, int keys);
  /// Recomputes one weighted sum; `column` is that column of V, `keys` numbers.
  void take(int query, int col, const float* exponentials, const float* column, int keys);

  double total(int query) const { return total_[at(query)]; }
  /// The weighted sums of `count` <= kBlock queries divided by their totals, saturated to the range of a
  /// float, written to out[query][column]. Where a total is 0, so is the quotient.
  void quotients(int first, int count, const double* totals, int firstCol, int cols, float* out) const;

  int dim() const { return dim_; }

 private:
  void takeCols(int query, int firstCol, int cols, const float* exponentials, const float* values, int keys);
  std::size_t at(int query) const { return static_cast<std::size_t>(query); }
  std::size_t at(int query, int col) const {
    return static_cast<std::size_t>(col) * static_cast<std::size_t>(stride_) +
           static_cast<std::size_t>(query);
  }
  static bool isSure(double sum, float drift) {
    return static_cast<double>(drift) <= kDriftLimit * (sum < 0 ? -sum : sum);
  }

  int queries_ = 0, dim_ = 0;
  int stride_ = 0;  // distance between columns: never a power of two, which would map all sums of a row to
                    // the same cache set
  std::vector<double> total_,
      weighted_;  // stored by column, so that both kinds of edit access consecutive memory
  std::vector<float> totalDrift_, drift_;  // infinite where the sum is unknown
};

}  // namespace attention
