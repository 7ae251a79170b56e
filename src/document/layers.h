// The weights of all heads of all layers, where the items of a batch are the layers of a model: reduced
// pictures, for a page that shows them together.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "attention/engine/engine.h"
#include "document/head_tags.h"
#include "document/state.h"

namespace document {

/// The weights of one layer, reduced to at most kMost rows and columns per head: each number is the one
/// farthest from 0 in its block.
struct LayerPicture {
  static constexpr int kMost = 128;
  static constexpr int kMostMean = 256;
  static constexpr int kMostFirst = 32;
  /// One of so many queries has been taken: 1 of a whole picture, 0 of none. Of one that is not whole there
  /// are nothing but weights, of at most kMostFirst rows and columns, and peaks.
  int each = 0;
  Tensor weights;            ///< [heads, rows, columns]
  std::vector<float> peaks;  ///< [heads, rows]: the largest magnitude in each row
  /// Of each head, from all its weights; empty where hasHeadTags() is false.
  std::vector<attention::HeadMeasures> measures;
  std::vector<attention::HeadTag> tags;
  /// [1, heads, keys]: the sum of the weights that each key gets from queries, in self-attention from other
  /// ones than itself.
  Tensor received;
  int queries = 0;
  bool isCausal = true;        ///< no query sees a key after itself, by the masked scores
  Tensor mean;                 ///< [1, queries, keys], over the heads; empty for more than kMostMean tokens
  attention::HeadMeter meter;  ///< of the head whose rows are being added
  std::vector<std::uint32_t> farthest;  ///< of each key, in the rows of a block so far: see addRows()
  std::uint64_t version = 0;            ///< 0: not computed yet; otherwise changes whenever the numbers do
};

/// What the heads of a picture are measured with.
struct HeadsAsked {
  std::vector<int> tokens;  ///< equal numbers for equal labels; empty where heads have no tags
  bool causal = false;
  bool isSelf = true;  ///< queries and keys are the same tokens
};
HeadsAsked headsAsked(const State& state);

/// Adds the next rows of a layer to its picture, head after head; the first ones to an empty picture. Keys
/// whose masked score is −∞ are not counted among those that a query may look at.
struct PictureRows {
  int head = 0;
  attention::Span rows;
};
void addRows(LayerPicture& picture, const Tensor& weights, const Tensor& masked, const PictureRows& added,
             const HeadsAsked& asked);
/// The picture of one layer at once.
LayerPicture pictureOf(const Tensor& weights, const Tensor& masked, const HeadsAsked& asked = {});

/// The mean weight that queries give to these keys, of those that can see one other than themselves: how much
/// a head looks at a word.
float lookAt(const LayerPicture& picture, int head, std::span<const int> keys, const HeadsAsked& asked);

/// The weights of one layer, [heads, queries, keys], as the board has them now. For layers of a few tokens.
Tensor weightsOf(const State& state, int layer);

/// The pictures of all layers. They are computed in pieces of some rows of a head, so that none takes long.
/// If all together take longer, first each layer gets a picture of some of the rows.
class LayerPictures {
 public:
  /// The work of a piece, in multiplications of Q by K: a few milliseconds on a page. Each score counts as so
  /// many more, for the rest of its way to a weight.
  static constexpr std::int64_t kPiece = 1 << 22, kPerScore = 32;
  /// So many scores of all heads, and more, take a while.
  static constexpr std::int64_t kMany = 1 << 22;
  /// Computes pieces for about so many milliseconds, at least one unless that is 0. `revision` must change
  /// whenever the state does, which must stay as it is in between. The result is valid until the next call.
  const std::vector<LayerPicture>& of(const State& state, std::uint64_t revision, double milliseconds);
  bool isWhole() const { return missing_ == 0; }
  int missing() const { return missing_; }
  /// The heads of which all rows are in the pictures, of all layers.
  int heads(const State& state) const {
    return (state.batch - missing_) * state.heads + (begun_ >= 0 && !isOfSome_ ? head_ : 0);
  }
  /// The heads that have a picture, at least of some of their rows.
  int pictured(const State& state) const;

 private:
  void piece(const State& state);
  void begin(const State& state);
  void take(const State& state);
  void takeSome();

  std::vector<LayerPicture> pictures_;
  HeadsAsked asked_;
  std::optional<attention::Engine> engine_;  ///< while some are missing; it keeps no weights
  std::uint64_t seen_ = 0, version_ = 0;
  int missing_ = 0;
  bool isOfSome_ = false;   ///< layers get pictures of some of their rows
  LayerPicture made_;       ///< of the layer that the engine has, until it is whole
  int begun_ = -1;          ///< the layer that the engine has
  int head_ = 0, row_ = 0;  ///< what of it comes next to its picture
};

}  // namespace document
