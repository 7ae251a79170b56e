// Keyboard focus within a column of controls: up, down, Home and End move it; left, right, Enter and Space
// act on the focused control.
#pragma once

#include <imgui.h>

namespace views {

struct FocusRing {
  /// What the keys ask of a control: −1 or +1 for left or right; `press` for Enter or Space.
  struct Key {
    int step = 0;
    bool press = false;
  };

  bool on = false;          ///< does this ring have the keyboard?
  ImGuiID focus = 0;        ///< the focused control; 0: none yet
  int at = 0;               ///< its index in the last frame
  ImVector<ImGuiID> stops;  ///< the enabled controls, in drawing order
  Key key;                  ///< in this frame
  bool released = false;    ///< left or right was released, which ends an undo step
  bool moved = false;       ///< the focus moved in this frame, and must be scrolled into view

  /// Reads the keys of this frame; to be called before the controls are drawn. Returns true if there was one.
  bool readKeys();
  static bool uses(ImGuiKey key);

  /// To be called before and after the controls of a frame.
  void begin() { stops.resize(0); }
  void end();
  /// Registers the next control. Returns true if it has the focus.
  bool enter(ImGuiID id);
};

}  // namespace views
