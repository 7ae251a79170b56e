// A picture of the part that is looked at, where there are too many rows for all to be computed.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/layer/trace.h"
#include "attention/steps/steps.h"

namespace attention {

/// Like Overview, of masked scores and weights, but with blocks as small as can be seen, of one row each:
/// that in the middle of the block. It is made some rows at a time. While other numbers are computed for the
/// same part, those before remain.
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
  /// Rows to be made next: at most `most`.
  Span next(int most) const;
  void take(const Trace& trace, Span rows);

  const Area& area() const { return area_; }
  /// [1, blocks of rows, blocks of keys], of which the first made() rows are there.
  const Tensor& blocks(TensorId id) const { return id == TensorId::masked ? masked_ : weights_; }
  int made() const { return made_; }
  const float* peaks() const { return peaks_.data(); }  ///< the largest magnitude of each row of weights
  std::uint32_t version() const { return version_; }

 private:
  int rowOf(int block) const;

  Area area_;
  Tensor masked_, weights_;
  std::vector<float> peaks_;
  std::vector<std::uint8_t> stale_;  ///< one per row of blocks
  int next_ = 0, left_ = 0, made_ = 0;
  std::uint32_t version_ = 0;
};

}  // namespace attention
