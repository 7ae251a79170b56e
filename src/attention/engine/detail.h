// A picture of the part that is looked at, where there are too many rows for all to be computed.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/engine/profiles.h"
#include "attention/layer/trace.h"
#include "attention/steps/steps.h"

namespace attention {

/// Like Overview, of masked scores and weights, but with blocks as small as can be seen, of one row each:
/// that in the middle of the block. It is made some rows at a time, from the first that is seen down, then
/// up. While other numbers are computed for the same part, those before remain.
class Detail {
 public:
  struct Area {
    int head = -1;
    Span rows, cols;
    int side = 1;  ///< cells a side of a block
    int queries = 0, keys = 0;
  };

  /// This is looked at. What is made is somewhat more, so that few of the frames that move it begin anew.
  void ask(const Area& seen);
  /// Nobody looks at any part.
  void forget() { *this = {}; }
  /// These rows have become others.
  void touch(Span rows);
  bool hasMore() const { return left_ > 0; }
  int done() const { return masked_.rows() - left_; }  ///< rows of blocks
  /// Rows to be made next: at most `most`.
  Span next(int most) const;
  void take(const Trace& trace, Span rows);

  const Area& area() const { return area_; }
  /// [1, blocks of rows, blocks of keys], of which the rows made() are there.
  const Tensor& blocks(TensorId id) const { return id == TensorId::masked ? masked_ : weights_; }
  Span made() const { return made_; }
  /// Where a block is a cell: the row of blocks of this query, or -1 if it is not there.
  int find(int head, int query) const;
  /// What all weights of a row of blocks add up to.
  const RowTotals& totals(int block) const { return totals_[static_cast<std::size_t>(block)]; }
  const float* peaks() const { return peaks_.data(); }  ///< the largest magnitude of each row of weights
  std::uint32_t version() const { return version_; }
  /// The version with which each row of blocks was made last.
  const std::uint32_t* rowsAt() const { return rowsAt_.data(); }
  std::uint32_t begunAt() const { return begunAt_; }  ///< the version with which this part was begun

 private:
  int rowOf(int block) const;

  Area area_;
  Tensor masked_, weights_;
  std::vector<float> peaks_;
  std::vector<std::uint8_t> stale_;  ///< one per row of blocks
  std::vector<std::uint32_t> rowsAt_;
  std::vector<RowTotals> totals_;
  Span made_;
  int first_ = 0, left_ = 0;  ///< the first block that is seen; how many are stale
  std::uint32_t version_ = 0, begunAt_ = 0;
};

}  // namespace attention
