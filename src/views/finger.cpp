#include "views/finger.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <utility>

#include "views/panels/panels.h"
#include "views/tooltip.h"

namespace views {
namespace {

using Does = Finger::Does;

constexpr double kStillGlides =
    0.1;  // seconds between the last movement and the release that still give momentum
constexpr float kSlower = 0.94f;  // per frame, as for the board

/// Keeps the widget under the finger from reacting to the release, because the finger scrolls now. False
/// while a scroll bar is held.
bool letGo() {
  if (ImGui::GetActiveID() == ImGui::GetID("##scrollbar")) return false;
  ImGui::ClearActiveID();
  return true;
}

float glide(Finger& f) { return ImGui::GetTime() - f.movedAt < kStillGlides ? f.speed : 0.0f; }

}  // namespace

ImVec2 aim(const WidgetRects& rects, float x, float y, const Aimed& among) {
  constexpr float kTarget = 44, kInNumber = 5;
  // From the middle of a small control, and from where the 44 pixels of a large one begin.
  const auto from = [](float at, float middle, float size) {
    return std::max(0.0f, std::fabs(at - middle) - std::max(0.0f, (size - kTarget) / 2));
  };
  const bool onBoard = among.board.contains(x, y);
  float nearest = FLT_MAX;
  ImVec2 by{0, 0};
  for (const auto& [name, box] : rects) {
    const bool isControl = !about(controlOf(name)).title.empty(), isNumber = name.starts_with("number:"),
               isOfBoard = isNumber || name.starts_with("matrix:") || name.starts_with("title:");
    const float across = x - std::clamp(x, box.x + 1, box.right() - 1),
                along = y - std::clamp(y, box.y + 1, box.bottom() - 1);
    const bool isNear = std::fabs(across) <= std::max(0.0f, (kTarget - box.width) / 2) + 1 &&
                        std::fabs(along) <= std::max(0.0f, (kTarget - box.height) / 2) + 1;
    if (!isNear || !(isControl || isOfBoard) || listed(among.buried, name) ||
        (!onBoard &&
         (isOfBoard || among.board.contains(box.midX(), box.midY()) || !listed(among.inView, name))))
      continue;
    // Of the line that a number stands in, a control above or below may have what the digits leave.
    const float edge = isNumber ? kInNumber : 0;
    if (box.contains(x, y) && y >= box.y + edge && y < box.bottom() - edge) return {0, 0};
    const float dx = from(x, box.midX(), box.width), dy = from(y, box.midY(), box.height),
                far = dx * dx + dy * dy;
    if (isControl && far < nearest) nearest = far, by = {-across, -along};
  }
  return by;
}

float swiped(const Box& handle) {
  constexpr float kSwipe = 24;
  const ImGuiIO& io = ImGui::GetIO();
  const ImVec2 from = io.MouseClickedPos[0];
  const float down = io.MousePos.y - from.y;
  const bool is = ImGui::IsMouseReleased(ImGuiMouseButton_Left) && handle.contains(from.x, from.y) &&
                  std::fabs(down) > std::max(kSwipe, std::fabs(io.MousePos.x - from.x));
  return is ? down : 0;
}

void Finger::press(float x, float y, double now) {
  *this = {};
  does = Does::waits;
  x_ = x, y_ = y, pressedAt_ = now;
}

// Browsers do not send movements of a few pixels. A first movement that comes late is that of a finger that
// has rested.
void Finger::move(float x, float y, double now) {
  // A frame that is drawn before this movement is handled takes it for a finger that rests.
  if (does == Does::holds && now - pressedAt_ < kHold) does = Does::waits;
  rest(now);
  const float across = std::fabs(x - x_), along = std::fabs(y - y_);
  if (does == Does::waits && std::max(across, along) > kSlop)
    does = along > across ? Does::scrolls : Does::drags;
}

void Finger::rest(double now) {
  if (does == Does::waits && grips_ && now - pressedAt_ >= kHold) does = Does::holds;
}

void readFinger(Context& c) {
  Finger& f = c.view.finger;
  const ImGuiIO& io = ImGui::GetIO();
  c.view.busy = c.view.menu.shown = false;
  c.view.inView.clear(), c.view.buried.clear(), c.view.board = c.layout.board;
  const bool down = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) c.view.touched = c.touch;
  else if (!down) c.view.roomy = c.view.touched;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    if (!c.touch) f = {}, f.does = Does::drags;
    f.onBoard = c.layout.board.contains(io.MousePos.x, io.MousePos.y) &&
                ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem);
    if (f.onBoard) c.view.fling = 0;
  } else if (down) {
    f.rest(c.now);
  }
  if (down && f.mayHold()) c.view.busy = true;  // a frame must notice when it does
  if (f.does == Does::scrolls && !std::exchange(f.hasLetGo, true) && !letGo()) f.does = Does::drags;
  if (down && io.MouseDelta.y != 0) f.speed = io.MouseDelta.y, f.movedAt = ImGui::GetTime();
  if (f.does == Does::scrolls && f.onBoard) {
    if (down) c.view.scroll -= io.MouseDelta.y, c.view.pan -= io.MouseDelta.x;
    else if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) c.view.fling = glide(f);
  }
  // The button that was held may no longer exist, for example at the end of its range; its changes still form
  // an undo step.
  if (ImGui::IsMouseReleased(ImGuiMouseButton_Left)) c.requests.endGesture = true;
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
