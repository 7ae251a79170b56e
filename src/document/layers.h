// The weights of all heads of all layers, where the items of a batch are the layers of a model: reduced
// pictures, for a page that shows them together.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/layer/trace.h"
#include "document/head_tags.h"
#include "document/state.h"

namespace document {

/// The weights of one layer, reduced to at most kMost rows and columns per head: each number is the one
/// farthest from 0 in its block.
struct LayerPicture {
  static constexpr int kMost = 128;
  Tensor weights;            ///< [heads, rows, columns]
  std::vector<float> peaks;  ///< [heads, rows]: the largest magnitude in each row
  /// Of each head, from all its weights; empty where hasHeadTags() is false.
  std::vector<attention::HeadTag> tags;
  std::uint64_t version = 0;  ///< 0: not computed yet; otherwise changes whenever the numbers do
};

/// The pictures of all layers. They are computed a few at a time, since each takes a forward pass.
class LayerPictures {
 public:
  /// The picture of the layer on the board is taken from `trace`; of the others at most `most` are computed
  /// per call. `revision` must change whenever the state does. The result is valid until the next call.
  const std::vector<LayerPicture>& of(const State& state, const attention::Trace& trace,
                                      std::uint64_t revision, int most);
  bool isWhole() const { return missing_ == 0; }

 private:
  std::vector<LayerPicture> pictures_;
  std::vector<int> tokens_;  ///< equal numbers for equal labels; empty where heads have no tags
  attention::Trace trace_;
  std::uint64_t seen_ = 0, version_ = 0;
  int missing_ = 0;
};

/// Reduces the weights of one layer to a picture. Exposed for tests.
LayerPicture pictureOf(const Tensor& weights);

}  // namespace document
