#include "views/scroller.h"

#include <imgui.h>

#include <algorithm>

#include "views/theme.h"

namespace views {

void Scroller::begin() {
  if (!wanted) return;
  ImGui::SetNextWindowScroll({-1, *wanted});
  wanted.reset();
}

void Scroller::update(const Box& area) {
  if (wanted) ImGui::SetScrollY(*wanted);
  box = area, wanted.reset();
  at = ImGui::GetScrollY(), limit = ImGui::GetScrollMaxY();
}

float Scroller::reveal(const Box& place) {
  float by = 0;
  if (place.bottom() > box.bottom()) by = place.bottom() - box.bottom() + kUnit;
  if (place.y < box.y) by = place.y - box.y - kUnit;
  const float to = std::clamp(at + by, 0.0f, limit);
  if (to != at) wanted = to;
  return to - at;
}

}  // namespace views
