// The weights of all heads of all layers that a state holds as the items of its batch, small: for a page that shows them together.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/layer/trace.h"
#include "document/state.h"

namespace document {

/// The weights of one layer: of blocks of cells the one farthest from 0, so that no head has more than kMost rows or columns.
struct LayerPicture {
  static constexpr int kMost = 128;
  Tensor weights;            ///< [heads, rows, columns]
  std::vector<float> peaks;  ///< [heads, rows]: the largest size in each row
  std::uint64_t version = 0; ///< 0: not computed yet; otherwise another one for other numbers
};

/// The same of every layer, computed one after the other: each costs a forward pass.
class LayerPictures {
 public:
  /// Those of the layer on the board are taken from its trace; of the others at most `most` are computed in a call. `revision` tells
  /// whether the state is another than before. Valid until the next call.
  const std::vector<LayerPicture>& of(const State& state, const attention::Trace& trace, std::uint64_t revision, int most);
  bool isWhole() const { return missing_ == 0; }

 private:
  std::vector<LayerPicture> pictures_;
  attention::Trace trace_;
  std::uint64_t seen_ = 0, version_ = 0;
  int missing_ = 0;
};

/// The weights as such a picture. Exposed for tests.
LayerPicture pictureOf(const Tensor& weights);

}  // namespace document
