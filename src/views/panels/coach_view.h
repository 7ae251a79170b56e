// The first steps that a first visit suggests: drag a number, flip Causal, add a head.
#pragma once

#include <cstdint>

#include "document/state.h"

namespace views {

struct CoachView {
  static constexpr int kSteps = 3;
  document::State start;   ///< the board of a first visit
  int interruptions = 0;   ///< app::Session::interruptions() at the beginning
  bool done[kSteps] = {};  ///< in any order
  /// Matrices that the reader has been to, one bit for each TensorId: see isQuiet().
  std::uint64_t awake = 0;
};

}  // namespace views
