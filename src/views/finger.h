// What a pressed finger does: it taps a control, drags it sideways, or scrolls the panel under it.
#pragma once

#include <string>

#include "views/scroller.h"

namespace views {

struct Context;

/// A finger, or the mouse button.
struct Finger {
  enum class Does {
    nothing,
    waits,   ///< pressed, but not moved far enough to decide
    drags,   ///< drags what it was pressed on; a mouse does from the start
    scrolls  ///< scrolls the panel; what it was pressed on is released without effect
  };
  Does does = Does::nothing;
  bool onBoard = false;      ///< it was pressed on the board
  float speed = 0;           ///< pixels moved in the last frame with a movement
  double movedAt = 0;        ///< the time of that movement, in seconds
};

/// The open menu.
struct Menu {
  std::string name;
  Box anchor;                ///< the button that opened it
  float width = 0, height = 0;
  Scroller page;
  bool shown = false;
};

/// Determines what the finger does; to be called in the window of the board, before the panels are drawn. Scrolls the board if the finger
/// was pressed on something there that is not a cell.
void readFinger(Context& context);
/// At the end of a window that scrolls: lets a finger scroll it, with momentum. Likewise a mouse that does not hold a control.
void scrollWithFinger(Context& context, Scroller& scroller);

}  // namespace views
