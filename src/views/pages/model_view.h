// View state of the page of all heads: which are shown, in which order, and which one is looked at.
#pragma once

#include <cstdint>

#include "attention/experiments/head_pattern.h"

namespace views {

struct ModelView {
  /// What heads are ordered by: their places, a pattern, another measure, or how much they look at a word.
  enum class By : std::uint8_t { layer, previous, induction, first, same, broad, entropy, distance, word };
  By by = By::layer;
  std::uint8_t faded = 0;    ///< bit of a HeadPattern: heads with that tag are faded
  int layer = -1, head = 0;  ///< the head under the pointer, or the last one that was; −1: that of the board
  int token = -1;            ///< whose rollout is shown; −1: the last one
};

}  // namespace views
