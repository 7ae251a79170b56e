// Panels that scroll, and how a place in one is scrolled into view from outside a frame.
#pragma once

#include <optional>

#include "views/board/layout.h"

namespace views {

/// A panel whose content may be longer than its box.
struct Scroller {
  Box box;                      ///< the visible part
  float at = 0, limit = 0;      ///< scroll offset and its maximum, as of the last frame
  float content = 560;          ///< height of the content, for panels that adapt to it
  std::optional<float> wanted;  ///< the offset that was asked for, for the next frame
  float fling = 0;              ///< momentum: pixels per frame
  bool held = false;            ///< a finger, or the mouse, was pressed on it

  /// To be called before the Dear ImGui window of the panel: applies the wanted offset, so that this frame
  /// shows it and its input uses it.
  void begin();
  /// To be called at the end of the Dear ImGui window, of which `area` is visible.
  void update(const Box& area);
  /// Asks for `place` to be visible in this frame; returns by how much it will move up.
  float reveal(const Box& place);
  /// Can it scroll in that direction? `dy` > 0 is towards the end.
  bool goesOn(float dy) const { return dy > 0 ? at < limit - 0.5f : dy < 0 && at > 0.5f; }
};

}  // namespace views
