// What views need of whole tensors: the largest numbers, the mean of the heads, block maxima, the visible cells. Nothing
// is made before somebody asks; from then on bringing it up to date costs what the edits in between have touched.
//
// How that is known: the engine counts the calls that changed something and stamps every row and column that it writes
// with the count. A cell is as new as the newest of its row, its column and its whole head. Textures go by the same
// stamps, so that what is uploaded is what was written.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/steps/steps.h"
#include "attention/layer/trace.h"

namespace attention {

/// The means of weights and of head_output over the heads that take part, wherever these functions ask for a tensor:
/// [1, Lq, Lk] and [1, Lq, d_v].
inline constexpr TensorId kMeanWeights = static_cast<TensorId>(kTensorCount);
inline constexpr TensorId kMeanOutput = static_cast<TensorId>(kTensorCount + 1);

/// When the parts of one head of a tensor were last written.
struct Stamps {
  std::uint32_t latest = 0;               ///< the newest of all below
  std::uint32_t whole = 0;                ///< nothing is older than this
  std::vector<std::uint32_t> rows, cols;  ///< empty where nothing was written since `whole`

  bool isNewer(std::uint32_t than) const { return latest > than; }
  bool rowIsNewer(int row, std::uint32_t than) const {
    return whole > than || (!rows.empty() && rows[static_cast<std::size_t>(row)] > than);
  }
};

/// The smallest and the largest of some numbers and 0. Infinities (masked scores) are left out.
struct Range {
  float low = 0, high = 0;
  float size() const { return -low > high ? -low : high; }
  bool operator==(const Range&) const = default;
};

/// One row of a tensor.
struct RowSummary {
  Range range;
  int lowAt = -1, highAt = -1;  ///< columns that hold them, where they are not 0
  int links = 0;                ///< of weights: how many are kLink or more
};
inline constexpr float kLink = 0.01f;  ///< a weight below this is as good as none

class Summaries {
 public:
  // --- what the engine says

  /// A call that changes something begins. `isWhole`: touchAll() ends it, and what is touched before is not asked for.
  void begin(bool isWhole);
  /// All of the layer is new.
  void touchAll(const Spec& spec, const Inputs& inputs, const Trace& trace);
  void touchRows(TensorId id, int head, Span rows);
  void touchCols(TensorId id, int head, Span cols);
  /// Which keys these queries see may have changed.
  void touchMask(Span queries, int queryCount);

  // --- what views ask; the tensors are those of the layer that was touched last

  /// Differs whenever anything may.
  std::uint32_t now() const { return now_; }
  const Stamps& stamps(TensorId id, int head) const;
  /// Of all heads.
  Range range(TensorId id, const Tensor& tensor);
  /// The largest magnitude of a number that is not an outlier: at most kOutlier times as large as three quarters of those that are not 0. The size of range()
  /// where there is none beyond; a scale of colours that ends here is not spent on one cell of -1e30. Large tensors are sampled.
  float reach(TensorId id, const Tensor& tensor);
  static constexpr float kOutlier = 20;
  /// Of a block. Of the columns those of whole heads are taken: of W_Q, W_K and W_V a head has some, of others all.
  Range range(TensorId id, const Tensor& tensor, int head, Span rows, Span cols);
  /// Of tensors other than W_Q, W_K and W_V.
  const RowSummary& row(TensorId id, const Tensor& tensor, int head, int row);
  /// Of one head of weights, or of their mean: how many are kLink or more.
  int links(TensorId id, const Tensor& tensor, int head);
  /// The largest number of each row of weights, or of their mean: `queryCount` of one head.
  const float* rowPeaks(TensorId id, const Tensor& tensor, int head);

  /// Of TensorId::weights or TensorId::head_output; zeros where every head is hidden.
  const Tensor& mean(TensorId of, const Spec& spec, const Trace& trace);
  /// One number for a block of so many rows and columns of the weights (of all heads, or of their mean): the one that
  /// is farthest from 0. The tensor itself where `size` is 1.
  const Tensor& blocks(TensorId id, const Tensor& tensor, int size);
  const Stamps& blockStamps(TensorId id, int head) const;
  /// The largest size in each row of the blocks that were made last.
  const float* blockPeaks(TensorId id, int head) const;
  /// The block size with which pictures of the weights have at most kThumbnail blocks a side.
  static constexpr int kThumbnail = 128;
  static int blockSize(const Tensor& weights);

  /// The mask as a picture: 1 where a key is seen, else 0; and how many are. Where a bias masks other keys in every head,
  /// a key is seen if one head sees it.
  const Tensor& visible(const Spec& spec, const Inputs& inputs);
  std::int64_t visibleCount(const Spec& spec, const Inputs& inputs);
  const Stamps& maskStamps() const { return mask_; }

 private:
  struct Group {
    Range range;
    int links = 0;
  };
  /// All rows of one tensor, each in groups of columns, and what they come to in every head.
  struct Lines {
    std::uint32_t seen = 0;
    int width = 0, count = 0;  ///< of a group, and how many there are
    std::vector<RowSummary> rows;  ///< [head, row, group]
    std::vector<Group> groups;     ///< [head, group]
    std::vector<float> peaks;      ///< [head, row], of weights
    Range all;
    std::uint32_t reachSeen = 0;
    float reach = 0;
  };
  struct Blocks {
    std::uint32_t seen = 0;
    int size = 0;
    Tensor numbers;
    std::vector<float> peaks;  ///< [head, row]
    std::vector<Stamps> stamps;
  };

  struct Mean {
    std::uint32_t seen = 0;
    Tensor numbers;
    int head = -1;                       ///< the only one that has changed since `others` were begun; -1: there is none
    std::vector<int> parts;              ///< the heads that took part then
    std::vector<double> others;          ///< the sum of the others, of rows that have it
    std::vector<std::uint8_t> hasOthers;
  };

  static std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }
  static bool isWeights(TensorId id) { return id == TensorId::weights || id == kMeanWeights; }
  std::vector<Stamps>& heads(TensorId id) { return stamps_[at(id)]; }
  void shape(TensorId id, const Tensor& tensor);
  void stamp(Stamps& stamps, std::vector<std::uint32_t>& lines, Span which, int count);
  Lines& lines(TensorId id, const Tensor& tensor);
  void refreshHead(TensorId id, const Tensor& tensor, int head, Lines& lines);
  void refreshVisible(const Spec& spec, const Inputs& inputs);
  int groupWidth(TensorId id, const Tensor& tensor) const;
  bool findOthers(TensorId of, const std::vector<int>& parts, Mean& made) const;
  static const double* sumOfOthers(const Tensor& all, const std::vector<int>& parts, Mean& made, int row);

  static constexpr std::size_t kAll = static_cast<std::size_t>(kTensorCount) + 2;
  std::uint32_t now_ = 0;
  int headDim_ = 0, valueDim_ = 0;
  struct Shape { int rows = 0, cols = 0; };
  std::array<Shape, kAll> shapes_;
  std::array<std::vector<Stamps>, kAll> stamps_;  // one a head
  std::array<Lines, kAll> lines_;
  Mean meanWeights_, meanOutput_;
  std::vector<double> sums_;
  std::vector<float> sample_;  ///< of reach()
  Blocks blocks_, meanBlocks_;
  Tensor visible_;
  Stamps mask_;
  std::uint32_t visibleSeen_ = 0;
  std::vector<int> seenInRow_;
  std::int64_t visibleCount_ = 0;
};

}  // namespace attention
