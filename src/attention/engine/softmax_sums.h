// Running sums behind the outputs of one head, in double, so that an edited key or value is an addition.
//
// For query i: total[i] = Σ_j e_ij and weighted[c][i] = Σ_j e_ij·v_jc, where e are the exponentials of the trace; an
// output is their quotient. Drift: every addition rounds by at most 2^-53 of what it meets, and that is itself added up,
// per sum. A sum whose drift may exceed kDriftLimit of its size is not used but taken anew from the trace (so is one that
// cancelled to almost nothing, where old rounding would show). Whatever the history, then, a sum is within 2^-27 of its
// size of the one taken anew: an eighth of the last place of the float that is made of it.
#pragma once

#include <vector>

#include "attention/layer/tensor.h"

namespace attention {

/// How much of its size a sum may have drifted before it is taken anew.
inline constexpr double kDriftLimit = 0x1p-27;

class RunningSoftmaxSums {
 public:
  static constexpr int kBlock = 8;  ///< queries that are looked at together: their sums lie in one cache line

  /// Forgets everything; the memory (12 bytes a number of head_output) is taken when a sum is first asked for.
  void reset(int queries, int dim);
  /// Forgets what concerns one query, or all of them: for when their exponentials change otherwise than by add….
  void forget(int query);
  void forgetAll();
  /// Queries taken out from `at` on, and others, of which nothing is known, put in there. The rest keep their sums.
  struct Move {
    int at = 0, removed = 0, inserted = 0;
  };
  void moveQueries(Move move);
  /// Are nearly all sums known, so that adding to them costs less than taking all anew?
  bool knowsMost() const;
  /// Takes the memory. To be called before anything below.
  void prepare();

  /// The value of one key changes `from` → `to` in column `col`; `exponentials` has one number a query.
  void addValue(int col, const float* exponentials, float from, float to);
  /// The exponential of one key changes by `deltas`, one a query; `value` is the key's row of V, dim() numbers.
  void addKey(const double* deltas, const float* value);

  bool knowsTotal(int query) const { return isSure(total(query), totalDrift_[at(query)]); }
  /// For `count` <= kBlock queries from `first` on: are all their weighted sums of these columns known?
  void findKnown(int first, int count, int firstCol, int cols, bool* known) const;

  /// Takes the sums of a query anew. `values` has `keys` rows of dim() numbers.
  void takeRow(int query, const float* exponentials, const float* values, int keys);
  /// Takes one weighted sum anew; `column` is that column of V, `keys` numbers.
  void take(int query, int col, const float* exponentials, const float* column, int keys);

  double total(int query) const { return total_[at(query)]; }
  /// Weighted sums of `count` <= kBlock queries, divided by their totals and saturated, to out[query][column]. A total
  /// of 0 gives 0.
  void quotients(int first, int count, const double* totals, int firstCol, int cols, float* out) const;

  int dim() const { return dim_; }

 private:
  void takeCols(int query, int firstCol, int cols, const float* exponentials, const float* values, int keys);
  std::size_t at(int query) const { return static_cast<std::size_t>(query); }
  std::size_t at(int query, int col) const {
    return static_cast<std::size_t>(col) * static_cast<std::size_t>(stride_) + static_cast<std::size_t>(query);
  }
  static bool isSure(double sum, float drift) {
    return static_cast<double>(drift) <= kDriftLimit * (sum < 0 ? -sum : sum);
  }

  int queries_ = 0, dim_ = 0;
  int stride_ = 0;  // from column to column: never a power of two, which would put a row's sums all in one cache set
  std::vector<double> total_, weighted_;  // weighted_ by column, so that both kinds of edit run along memory
  std::vector<float> totalDrift_, drift_;  // infinite where the sum is not known
};

}  // namespace attention
