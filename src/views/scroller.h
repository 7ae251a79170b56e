// A panel that scrolls, and how a place in it is brought into view from outside of a frame.
#pragma once

#include <optional>

#include "views/board/layout.h"

namespace views {

/// A panel whose content may be longer than it is.
struct Scroller {
  Box box;                      ///< of what is seen
  float at = 0, limit = 0;      ///< as the last frame left it
  float content = 560;          ///< its height, where the panel is made to fit it
  std::optional<float> wanted;  ///< where it is to be in the next
  float fling = 0;              ///< pixels a frame that it glides on
  bool held = false;            ///< a finger, or the mouse, went down on it

  /// Before the Dear ImGui window that it is: what was asked for shows in this frame, and its input meets it there.
  void begin();
  /// At the end of the Dear ImGui window that it is, which is seen in `area`.
  void update(const Box& area);
  /// Wants to show what is at `place` in this frame; returns by how much that will move up.
  float reveal(const Box& place);
  /// Can it go on that way? `dy` > 0 is towards the end.
  bool goesOn(float dy) const { return dy > 0 ? at < limit - 0.5f : dy < 0 && at > 0.5f; }
};

}  // namespace views
