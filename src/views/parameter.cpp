// A parameter around the layer on a page of the experiments, to look at and to change.
#include <cmath>

#include "views/lab_page.h"

namespace views {
namespace {

constexpr std::uint32_t kSlot = 5200;

/// A pixel is a hundredth, with Shift a thousandth, with Alt a tenth: as on the board.
double perPixel() {
  const ImGuiIO& io = ImGui::GetIO();
  return io.KeyShift ? 0.001 : io.KeyAlt ? 0.1 : 0.01;
}

/// What the cell becomes: upwards is more. Where the pointer did not move, it stays as it is to the last digit.
float dragged(ParameterDrag& drag) {
  const double step = perPixel();
  drag.travelled -= static_cast<double>(ImGui::GetIO().MouseDelta.y) * step;
  const double by = std::round(drag.travelled / step) * step;
  if (by == 0) return drag.before;
  return static_cast<float>(std::round((static_cast<double>(drag.before) + by) * 1e4) / 1e4);
}

}  // namespace

void drawParameter(Context& c, LabColumn& column, document::ParameterId id, float height) {
  const std::string_view name = document::name(id);
  const attention::Tensor& numbers = c.around.parameter(id);
  const Box room = column.take(0);
  const std::string title = std::string(name) + "  [" + std::to_string(numbers.rows()) + ", " +
                            std::to_string(numbers.cols()) + "]";
  const LabMatrix m = drawMatrix(c, kSlot + static_cast<std::uint32_t>(id), numbers, 0, c.revision,
                                 {room.x, room.y, room.width, height}, false, title, false);
  column.gap(m.box.bottom() - room.y + 12);
  const std::string place = "slider:" + std::string(name);
  c.places[place] = m.box;
  ImGui::SetCursorScreenPos({m.box.x, m.box.y});
  ImGui::InvisibleButton(place.c_str(), {m.box.width, m.box.height});
  if (c.locked(name) || document::checkParameterSize(c.state, id)) return;
  ParameterDrag& drag = c.view.lab.drag;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeNS);
  if (ImGui::IsItemActivated() && m.hit(mouse.x, mouse.y, drag.row, drag.col)) {
    drag.travelled = 0, drag.before = numbers.at(0, drag.row, drag.col);
  } else if (ImGui::IsItemActive() && numbers.contains(0, drag.row, drag.col)) {
    c.wishes.edit(document::SetParameter{id, drag.row, drag.col, 1, 1, {dragged(drag)}}, kSliderGesture);
  }
  if (ImGui::IsItemDeactivated()) c.wishes.endGesture = true;
}

}  // namespace views
