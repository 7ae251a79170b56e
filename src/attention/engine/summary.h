// Statistics of whole tensors for the views: largest magnitudes, means over heads, visible cells. Each is
// computed when it is first asked for; after that, bringing it up to date costs what the edits since then
// have affected.
//
// To know what is stale, the engine counts the calls that changed something, and stamps every row and column
// that it writes with that count. The stamp of a cell is the newest of the stamps of its row, its column and
// its whole head. Textures use the same stamps, so that exactly what was written is uploaded.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "attention/engine/detail.h"
#include "attention/engine/first_pictures.h"
#include "attention/engine/overview.h"
#include "attention/engine/profiles.h"
#include "attention/layer/trace.h"
#include "attention/steps/steps.h"

namespace attention {

/// The means of weights and of head_output over the heads that are not hidden, [1, Lq, Lk] and [1, Lq, d_v].
/// They can be passed wherever a function here takes a tensor.
inline constexpr TensorId kMeanWeights = static_cast<TensorId>(kTensorCount);
inline constexpr TensorId kMeanOutput = static_cast<TensorId>(kTensorCount + 1);

/// When the parts of one head of a tensor were last written, as counts of changing calls.
struct Stamps {
  std::uint32_t latest = 0;  ///< the newest stamp of the head; 0 if it has not been computed yet
  std::uint32_t whole = 0;   ///< the stamp of the last write to the whole head; no cell is older
  /// Of single rows and columns; empty where nothing was written since `whole`.
  std::vector<std::uint32_t> rows, cols;

  bool isNewer(std::uint32_t than) const { return latest > than; }
  bool rowIsNewer(int row, std::uint32_t than) const {
    return whole > than || (!rows.empty() && rows[static_cast<std::size_t>(row)] > than);
  }
};

/// The smallest and the largest of some numbers and 0. Infinities (masked scores) are ignored.
struct Range {
  float low = 0, high = 0;
  float size() const { return -low > high ? -low : high; }
  bool operator==(const Range&) const = default;
};

/// One row of a tensor.
struct RowSummary {
  Range range;
  int lowAt = -1, highAt = -1;  ///< of pairs: the columns of the two; -1 where the number is 0
  int links = 0;                ///< of weights: how many are kLink or more
};
inline constexpr float kLink = 0.01f;  ///< a smaller weight is not counted as a link between two tokens

class Summaries {
 public:
  // --- called by the engine

  /// A call that changes something begins. `isWhole`: it will end with touchAll(), so what is touched until
  /// then need not be recorded.
  void begin(bool isWhole);
  /// Everything in the layer is new.
  void touchAll(const Spec& spec, const Inputs& inputs, const Trace& trace);
  void touchRows(TensorId id, int head, Span rows);
  void touchCols(TensorId id, int head, Span cols);
  /// All of a head was written.
  void touchHead(TensorId id, int head);
  /// A head is to be computed later, though touchAll() was told of it. It counts as written when touchHead()
  /// is called.
  void withhold(TensorId id, int head);
  /// Everything in the layer is new, and its tensors of pairs are not stored: what is said of them comes from
  /// takeRows(). `meanWeights` is their mean over the heads.
  void beginRows(const Trace& trace, const Tensor& meanWeights);
  /// Rows of one head that are held, of every tensor of pairs. They are whole blocks of the overviews; other
  /// blocks may be taken on another thread at the same time.
  void takeRows(const Trace& trace, int head, Span rows);
  /// Where not all rows are computed: rows of outputs that are held.
  void takeOutputs(const Trace& trace, Span rows);
  /// And those that are not true any more.
  void forgetOutputs(Span rows);
  /// All rows have become others: what is known beside the samples is forgotten, but for rows that are seen,
  /// which remain until they are made again.
  void forgetUnseen();
  /// A key of a head has become another, and its rows are taken later.
  struct ForeseenKey {
    int key = 0;
    Span keys;                      ///< the block of the overviews that it is in
    const float *masked, *weights;  ///< the numbers of these keys, [keys, queries]
    const float* grown;             ///< as in Overview::grow()
  };
  void foreseeKey(int head, const ForeseenKey& foreseen);
  /// Rows of the mean of the weights, likewise; whoever calls it touches them.
  void takeMeanRows(Span rows);
  /// Until all heads have been computed, this row of them has; -1 if none.
  void setSoon(int query) { begin(false), soon_ = query; }
  int soon() const { return soon_; }
  /// The keys that these queries see may have changed.
  void touchMask(Span queries, int queryCount);

  // --- called by views; tensors passed in are those of the layer that was touched last

  /// Increases whenever anything may have changed.
  std::uint32_t now() const { return now_; }
  const Stamps& stamps(TensorId id, int head) const;
  /// The same of the blocks of its overview: the newest of their rows, and of their columns.
  const Stamps& blockStamps(TensorId id, int head);
  /// Has the head been computed? What has not is left out of ranges.
  bool isComputed(TensorId id, int head) const { return stamps(id, head).latest != 0; }
  /// The range over all heads.
  Range range(TensorId id, const Tensor& tensor);
  /// The largest magnitude that is not an outlier, as the end of a colour scale, so that a single cell of
  /// -1e30 does not take up the whole scale. A number is an outlier if its magnitude is more than kOutlier
  /// times the third quartile of the magnitudes that are not 0. Where there are no outliers this is
  /// range().size(). Large tensors are sampled.
  float reach(TensorId id, const Tensor& tensor);
  static constexpr float kOutlier = 20;
  /// The range of a block. Its columns are extended to whole heads: in W_Q, W_K and W_V each head has some of
  /// the columns, in other tensors all.
  Range range(TensorId id, const Tensor& tensor, int head, Span rows, Span cols);
  /// One row. For tensors other than W_Q, W_K and W_V.
  const RowSummary& row(TensorId id, const Tensor& tensor, int head, int row);
  /// How many of the weights of one head, or of their mean over heads, are kLink or more.
  int links(TensorId id, const Tensor& tensor, int head);
  /// The largest number of each row of weights, or of their mean over heads: `queryCount` numbers for one
  /// head.
  const float* rowPeaks(TensorId id, const Tensor& tensor, int head);

  /// The mean of TensorId::weights or TensorId::head_output over the heads that are not hidden; zeros where
  /// every head is. Until all have been computed, zeros in all rows but soon().
  const Tensor& mean(TensorId of, const Spec& spec, const Trace& trace);
  /// A small picture of the masked scores, of the weights or of their mean, where these are not stored; null
  /// for others.
  const Overview* overview(TensorId id) const;
  /// Where not all rows are computed: the row that stands for those of its block of the overviews.
  int sampleOf(int row) const;
  /// Of how many rows is one computed? 1: of all of them, or of those that are read.
  int sampledEach() const { return outputs_.empty() ? 1 : overviews_.front().overview.side(); }
  /// Rows of outputs that have been computed, where not all are; -infinity in the others.
  struct Outputs {
    int each = 1;
    Tensor known;  ///< [1, queries, columns]
    const float* row(int query) const { return known.row(0, query); }
    bool has(int query) const;
    /// The row, or that which stands for its block.
    const float* rowOrSample(int query) const;
  };
  /// Those of head_output, concat or output; null where all rows are computed.
  const Outputs* outputs(TensorId id) const;
  /// What is looked at, in more detail than an overview has.
  Detail& detail() { return detail_; }
  const Detail& detail() const { return detail_; }
  /// What there is to see of heads until they have been computed.
  FirstPictures& firstPictures() { return first_; }
  const FirstPictures& firstPictures() const { return first_; }
  /// The mask as a picture, 1 where a key is visible and 0 elsewhere; and the number of visible cells. Where
  /// a bias masks different keys in different heads, a key counts as visible if at least one head sees it.
  /// Of more than kVisibleAcross queries or keys, equally many neighbours are one cell: their visible share.
  /// Of more pairs than Limits::inFull it is that of one of the queries, and with a pattern both are
  /// estimates.
  static constexpr int kVisibleAcross = 1024;
  const Tensor& visible(const Spec& spec, const Inputs& inputs);
  std::int64_t visibleCount(const Spec& spec, const Inputs& inputs);
  const Stamps& maskStamps() const { return mask_; }
  /// What the weights of a head add up to, once that is asked for.
  Profiles& profiles() { return profiles_; }
  const Profiles& profiles() const { return profiles_; }

 private:
  struct Group {
    Range range;
    int links = 0;
  };
  /// All rows of one tensor, each divided into groups of columns, and the statistics of each group in every
  /// head.
  struct Lines {
    std::uint32_t seen = 0;
    std::uint32_t changed = 0;     ///< when something of it was last found to be newer
    int width = 0, count = 0;      ///< columns of a group, and the number of groups
    std::vector<RowSummary> rows;  ///< [head, row, group]
    std::vector<Group> groups;     ///< [head, group]
    std::vector<float> peaks;      ///< [head, row], of weights
    Range all;
    std::uint32_t reachSeen = 0;
    float reach = 0;
    std::vector<float> sampled;  ///< the magnitudes that determine it
  };

  struct Mean {
    std::uint32_t seen = 0;
    Tensor numbers;
    int head = -1;               ///< the only head that has changed since `others` was begun, or -1
    std::vector<int> parts;      ///< the heads that were averaged then
    std::vector<double> others;  ///< the sum of the other heads, for rows with hasOthers
    std::vector<std::uint8_t> hasOthers;
    bool isPart = false;  ///< of one row
  };

  static std::size_t at(TensorId id) { return static_cast<std::size_t>(id); }
  static bool hasPlaces(TensorId id) { return isWeights(id) || isOfPairs(id); }
  /// Has it an overview, where pairs are not stored?
  static bool isPictured(TensorId id) {
    return isWeights(id) || id == TensorId::masked || id == TensorId::softcapped || id == TensorId::biased;
  }
  static bool isWeights(TensorId id) { return id == TensorId::weights || id == kMeanWeights; }
  std::vector<Stamps>& heads(TensorId id) { return stamps_[at(id)]; }
  void shape(TensorId id, const Tensor& tensor);
  void stamp(Stamps& stamps, std::vector<std::uint32_t>& lines, Span which, int count);
  Lines& lines(TensorId id, const Tensor& tensor);
  void layOut(TensorId id, const Tensor& tensor, Lines& lines) const;
  void refreshHead(TensorId id, const Tensor& tensor, int head, Lines& lines);
  void gather(const Tensor& tensor, int head, Lines& lines) const;
  void beginRowsOf(TensorId id, const Tensor& tensor);
  void takeRowsOf(TensorId id, const Tensor& tensor, int head, Span rows);
  void refreshVisible(const Spec& spec, const Inputs& inputs);
  void sampleVisible(const Spec& spec, int each);
  int addSeen(const Spec& spec, const Inputs& inputs, int query, int each, float* row);
  void addVisible(const Spec& spec, const Inputs& inputs, int query, int each, float* row);
  int groupWidth(TensorId id, const Tensor& tensor) const;
  bool findOthers(TensorId of, const std::vector<int>& parts, Mean& made) const;
  void makeMeanSoon(TensorId id, const Tensor& all, const std::vector<int>& parts, Mean& made);
  static const double* sumOfOthers(const Tensor& all, const std::vector<int>& parts, Mean& made, int row);

  static constexpr std::size_t kAll = static_cast<std::size_t>(kTensorCount) + 2;
  std::uint32_t now_ = 0;
  int queryDim_ = 0, headDim_ = 0, valueDim_ = 0;
  struct Shape {
    int rows = 0, cols = 0;
  };
  std::array<Shape, kAll> shapes_;
  std::array<std::vector<Stamps>, kAll> stamps_;  // one per head
  std::array<Lines, kAll> lines_;
  Mean meanWeights_, meanOutput_;
  struct Small {
    TensorId id;
    Overview overview;
    std::vector<Stamps> stamps;  ///< of blocks, one per head
  };
  std::vector<Small> overviews_;  ///< empty where pairs are stored
  std::vector<Outputs> outputs_;  ///< of a head, and after W_O; empty where all rows are computed
  Detail detail_;
  FirstPictures first_;
  int soon_ = -1;
  const Tensor* meanPairs_ = nullptr;  ///< the mean of the weights, where pairs are not stored
  std::vector<double> sums_;
  std::vector<float> sample_;  ///< of reach()
  Profiles profiles_;
  Tensor visible_;
  int visibleKeys_ = 0;
  Stamps mask_;
  std::uint32_t visibleSeen_ = 0;
  std::vector<int> seenInRow_;
  std::vector<std::uint8_t> seenKeys_;  // of one row
  std::int64_t visibleCount_ = 0;
};

}  // namespace attention
