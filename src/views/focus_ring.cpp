#include "views/focus_ring.h"

#include <algorithm>

namespace views {

bool FocusRing::readKeys() {
  const auto pressed = [](ImGuiKey k, bool repeats = true) { return ImGui::IsKeyPressed(k, repeats); };
  key.step = pressed(ImGuiKey_RightArrow) - pressed(ImGuiKey_LeftArrow);
  key.press = pressed(ImGuiKey_Enter, false) || pressed(ImGuiKey_KeypadEnter, false) ||
              pressed(ImGuiKey_Space, false);
  released = ImGui::IsKeyReleased(ImGuiKey_LeftArrow) || ImGui::IsKeyReleased(ImGuiKey_RightArrow);
  const int down = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow), count = stops.Size;
  const bool first = pressed(ImGuiKey_Home), last = pressed(ImGuiKey_End);
  if (down == 0 && !first && !last) return key.step != 0 || key.press;
  if (count == 0) return true;
  if (first || (focus == 0 && down > 0)) at = 0;
  else if (last || focus == 0) at = count - 1;
  else at = (at + count + down) % count;
  focus = stops[at], moved = true;
  return true;
}

bool FocusRing::uses(ImGuiKey key) {
  switch (key) {
    case ImGuiKey_LeftArrow:
    case ImGuiKey_RightArrow:
    case ImGuiKey_UpArrow:
    case ImGuiKey_DownArrow:
    case ImGuiKey_Home:
    case ImGuiKey_End:
    case ImGuiKey_Enter:
    case ImGuiKey_KeypadEnter:
    case ImGuiKey_Space: return true;
    default: return false;
  }
}

bool FocusRing::enter(ImGuiID id) {
  if (focus == 0 && moved) focus = id;
  stops.push_back(id);
  if (id != focus) return false;
  at = stops.Size - 1;
  return true;
}

void FocusRing::end() {
  // If the focused control no longer exists, for example after undo, the one at its index gets the focus.
  if (focus != 0 && !stops.empty() && !stops.contains(focus)) focus = stops[std::min(at, stops.Size - 1)];
  key = {}, moved = false;
}

}  // namespace views
