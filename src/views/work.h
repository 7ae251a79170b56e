// Work that goes on over many frames: how far it is, how long it still takes, and the way to end it.
#pragma once

#include <string_view>

#include "views/context.h"

namespace views {

/// The work that a frame found unfinished; null in ViewState where there is none.
struct WorkView {
  const char* what = "";  ///< "Computing heads", "Computing rows"
  int done = 0, total = 0;
  double began = 0;  ///< in seconds, with `first` parts done
  int first = 0;
  bool isStopped = false;
  int frame = 0;  ///< in which it was reported last
};

/// Some work is not done yet: may it go on? To be asked in each frame before a slice of it; then the frame
/// asks for another. False once the reader has cancelled it, until it is let go on or is other work.
bool goesOn(ViewState& view, const char* what, int done, int total);
/// A bar at the bottom once it has taken a second: "Computing heads: 3 of 16", the time left, Cancel.
void workBar(Context& context);

/// "about 5 s left", "about 2 min left"; "" until it can be told.
base::Message timeLeft(const WorkView& work, double now);

}  // namespace views
