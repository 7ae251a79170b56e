// A panel that scrolls, and how a place in it is brought into view from outside of a frame.
#pragma once

#include <optional>

#include "views/layout.h"

namespace views {

/// A panel whose content may be longer than it is.
struct Scroller {
  Box box;                      ///< of what is seen
  float at = 0, limit = 0;      ///< as the last frame left it
  std::optional<float> wanted;  ///< where it is to be in the next

  /// At the end of the Dear ImGui window that it is, which is seen in `area`.
  void update(const Box& area);
  /// Wants to show what is at `place` in this frame; returns by how much that will move up.
  float reveal(const Box& place);
};

}  // namespace views
