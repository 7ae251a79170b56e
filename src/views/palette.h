// The palette (Ctrl + K): a field, what is found of what is typed in it, and a way to do that.
#pragma once

#include "views/control_action.h"
#include "views/findings.h"

namespace views {

struct PaletteView {
  enum class End { none, enter, leave, close };

  bool isOpen = false, isNew = false;
  bool hasAsked = false;  ///< for the texts of the lessons
  std::string typed;
  End end = End::none;  ///< how the text field ended, if it has just done that
  bool isLeft = false;  ///< the field lost the keyboard to a press, which may be on a row
  Findings findings;
  std::string foundFor;  ///< what the findings were made of
  int chosen = 0;        ///< the row that Enter does
  Scroller page;
  ControlAction action;  ///< what was chosen last, while it is under way
};

/// Opens it, empty; it is drawn from the next frame on.
void openPalette(Context& context);
/// Does the key Ctrl + K, or one that leads through what is open, have an effect?
bool paletteUsesKey(const Context& context, ImGuiKey key, bool command);
/// Draws it while it is open, and carries out what was chosen; to be called in a frame with
/// ViewState::palette, after the panels.
void palette(Context& context);

}  // namespace views
