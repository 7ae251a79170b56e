// The focus ring of a column of controls: up, down, Home and End move it; left, right, Enter and Space change the control that has it.
#pragma once

#include <imgui.h>

namespace views {

struct FocusRing {
  /// What a control is asked for: −1, 0 or +1 by left and right; `press` by Enter or Space.
  struct Key {
    int step = 0;
    bool press = false;
  };

  bool on = false;             ///< do the keys belong to these controls?
  ImGuiID focus = 0;           ///< the control that they change; 0: none yet
  int at = 0;                  ///< where it stood in the last frame
  ImVector<ImGuiID> stops;     ///< the controls in use, in the order of drawing
  Key key;                     ///< of this frame
  bool released = false;       ///< left or right went up: what it did is a step of undo
  bool moved = false;          ///< the focus did, in this frame: show it

  /// Takes the keys of this frame, before the controls are drawn. Returns true if there was one.
  bool readKeys();
  static bool uses(ImGuiKey key);

  /// Around the controls of a frame.
  void begin() { stops.resize(0); }
  void end();
  /// Enters the next control. Returns true for the one in focus.
  bool enter(ImGuiID id);
};

}  // namespace views
