// What a finger that is down does: it taps a control, drags it sideways, or scrolls the panel that it is on.
#pragma once

#include <string>

#include "views/scroller.h"

namespace views {

struct Context;

/// The finger, or the button of the mouse.
struct Finger {
  enum class Does {
    nothing,
    waits,   ///< down, and not moved enough to say
    drags,   ///< what it went down on; a mouse does from the start
    scrolls  ///< the panel: what it went down on is let go and does nothing
  };
  Does does = Does::nothing;
  bool onBoard = false;      ///< it went down on the board
  float speed = 0;           ///< pixels in the last frame that it moved in
  double movedAt = 0;        ///< in seconds
};

/// The menu that is open.
struct Menu {
  std::string name;
  Box anchor;                ///< of the button that opened it
  float width = 0, height = 0;
  Scroller page;
  bool shown = false;
};

/// In the window of the board, before the panels are drawn: what the finger does. Scrolls the board where it went down
/// on something there that is no cell.
void readFinger(Context& context);
/// At the end of a window that scrolls: a finger moves it, and it glides on. So does a mouse that holds no control.
void scrollWithFinger(Context& context, Scroller& scroller);

}  // namespace views
