#include "views/finger.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "views/panels/panels.h"

namespace views {
namespace {

using Does = Finger::Does;

constexpr float kSlop = 12;          // pixels by which a tap may move
constexpr double kStillGlides = 0.1;  // seconds between the last movement and the release that still give momentum
constexpr float kSlower = 0.94f;     // per frame, as for the board

/// Keeps the widget under the finger from reacting to the release, because the finger scrolls now. False while a cell is being edited or a
/// scroll bar is held.
bool letGo(Context& c) {
  const ImGuiID held = ImGui::GetActiveID();
  if (held == ImGui::GetID("##scrollbar") || c.view.plane.held) return false;
  if (held == ImGui::GetID("##board")) {
    Drag& drag = c.view.drag;
    if (drag.kind == Drag::Kind::pending && !drag.isWeight && !c.editable(drag.cell.tensor)) {
      drag.kind = Drag::Kind::scroll;
      if (drag.was) c.view.selection = *drag.was;
    }
    return false;
  }
  ImGui::ClearActiveID();
  return true;
}

float glide(Finger& f) { return ImGui::GetTime() - f.movedAt < kStillGlides ? f.speed : 0.0f; }

}  // namespace

void readFinger(Context& c) {
  Finger& f = c.view.finger;
  const ImGuiIO& io = ImGui::GetIO();
  c.view.busy = c.view.menu.shown = false;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    f = {};
    f.does = c.touch ? Does::waits : Does::drags;
    f.onBoard = c.layout.board.contains(io.MousePos.x, io.MousePos.y) &&
                ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    if (f.onBoard) c.view.fling = 0;
  }
  const bool down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (down && f.does == Does::waits) {
    const ImVec2 way = ImGui::GetMouseDragDelta(ImGuiMouseButton_Left, 0);
    const float across = std::fabs(way.x), along = std::fabs(way.y);
    if (std::max(across, along) > kSlop) f.does = along > across && letGo(c) ? Does::scrolls : Does::drags;
  }
  if (down && io.MouseDelta.y != 0) f.speed = io.MouseDelta.y, f.movedAt = ImGui::GetTime();
  if (f.does == Does::scrolls && f.onBoard) {
    if (down) c.view.scroll -= io.MouseDelta.y;
    else if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) c.view.fling = glide(f);
  }
  // The button that was held may no longer exist, for example at the end of its range; its changes still form an undo step.
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) c.requests.endGesture = true;
  else if (!down) f.does = Does::nothing;
}

void scrollWithFinger(Context& c, Scroller& s) {
  Finger& f = c.view.finger;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    s.held = ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    s.fling = 0;
  }
  const float limit = ImGui::GetScrollMaxY();
  float by = s.fling;
  if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) {
    const bool empty = !c.touch && ImGui::GetActiveID() == ImGui::GetCurrentWindow()->MoveId;
    by = s.held && (f.does == Does::scrolls || empty) ? ImGui::GetIO().MouseDelta.y : 0;
  } else {
    if (s.held && f.does == Does::scrolls) by = s.fling = glide(f);
    s.held = false;
    s.fling *= kSlower;
    const float to = ImGui::GetScrollY() - by;
    if (std::fabs(s.fling) < 0.3f || to <= 0 || to >= limit) s.fling = 0;
    c.view.busy |= s.fling != 0;
  }
  if (by != 0) ImGui::SetScrollY(std::clamp(ImGui::GetScrollY() - by, 0.0f, limit));
}

}  // namespace views
