// The first steps that a first visit suggests: drag a number, flip Causal, add a head.
#pragma once

#include "document/state.h"

namespace views {

struct CoachView {
  static constexpr int kSteps = 3;
  document::State start;       ///< the board of a first visit
  int interruptions = 0;       ///< app::Session::interruptions() at the beginning
  bool done[kSteps] = {};      ///< in any order
};

}  // namespace views
