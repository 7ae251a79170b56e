// A small picture of a large matrix of pairs, one cell for each block of its cells.
#pragma once

#include <vector>

#include "attention/layer/tensor.h"
#include "attention/steps/steps.h"

namespace attention {

/// Of two numbers that which is farther from 0; an infinity counts as less than 0.
float farther(float a, float b);

/// A block shows its number farthest from 0; -infinity where all of its cells are masked. It is made from
/// rows when they are computed, so that pictures of heads need no matrix.
class Overview {
 public:
  static constexpr int kAcross = 1024;  ///< blocks a side at most

  /// Forgets everything: all blocks are 0. There are at most `across` a side.
  void reset(int heads, int queries, int keys, int across = kAcross);
  /// Makes the blocks of these rows, which are whole blocks (or the last rows) of `pairs`; or of one row,
  /// which stands for the others of its block.
  void take(const Tensor& pairs, int head, Span rows);
  /// Makes a row of blocks of one row of finite numbers, which stands for the others of its block.
  void takeSample(int head, int row, const float* numbers);
  /// Sets a row of blocks.
  void setRow(int head, int row, const float* blocks);
  /// Forgets everything: there is one head with as many blocks as the other has.
  void resetLike(const Overview& other);
  /// Makes the blocks of some keys, whole blocks, of all queries: `columns` are [keys, queries].
  void takeKeys(int head, Span keys, const float* columns);
  /// All cells of a row but few are multiplied by the exponential of `grown`, one for each query: a block by
  /// the geometric mean of its rows, so that it is as before when all have been undone.
  void grow(int head, const float* grown);
  /// Extends rows to whole blocks; or keys, of which there are `count`.
  Span whole(Span rows) const { return whole(rows, queries_); }
  Span whole(Span some, int count) const;
  /// The row that stands for those of its block, where not all are made.
  int sampleOf(int row) const {
    const Span block = whole({row, row + 1});
    return block.begin + block.size() / 2;
  }

  const Tensor& blocks() const { return blocks_; }  ///< [heads, blocks of queries, blocks of keys]
  int side() const { return side_; }                ///< cells a side of a block
  int keys() const { return keys_; }
  /// The largest magnitude of each row of blocks of a head.
  const float* peaks(int head) const { return peaks_.data() + std::ptrdiff_t{head} * blocks_.rows(); }

 private:
  void takePeak(int head, int row);

  int side_ = 1, queries_ = 0, keys_ = 0;
  Tensor blocks_;
  std::vector<float> peaks_;  ///< [head, row of blocks]
};

}  // namespace attention
