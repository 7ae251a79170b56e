// Thumbnails of the weights of every head.
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr std::uint32_t kFirstSlot = 1000;  // texture slots below are the board's

void thumbnail(Context& c, int head, Box box) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool focused = head == c.state.focusHead;
  const attention::Tensor& w = c.trace.weights;
  const float inner = box.width - 12;
  gfx::Heatmap look;
  look.cell = inner / static_cast<float>(std::max(w.cols(), w.rows()));
  look.x = box.x + 6, look.y = box.y + 6;
  look.gap = look.cell >= 12 ? 2.0f : look.cell >= 6 ? 1.0f : 0.0f;
  look.radius = look.cell >= 12 ? 2.0f : 0.0f;
  look.low = 0, look.high = 1, look.map = c.palette.weightMap;
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel, 6);
  c.heatmaps.draw(list, kFirstSlot + static_cast<std::uint32_t>(head),
                  {w.head(head), w.rows(), w.cols(), w.cols(), c.revision}, look);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, focused ? c.palette.weight : c.palette.border, 6, 0,
                focused ? 2.5f : 1.0f);
  textCentered(list, c.fonts.small, box.midX(), box.bottom() + 13, focused ? c.palette.text : c.palette.muted,
               "head " + std::to_string(head + 1));
}

}  // namespace

void heads(Context& c) {
  if (c.layout.heads.empty()) return;
  const Box area = onScreen(c.layout, c.view, c.layout.heads);
  const Box& board = c.layout.board;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  textMiddle(list, c.fonts.strong, area.x, area.y + 12, c.palette.text, "Heads");
  const ThumbnailGrid grid = thumbnails(area, c.state.heads);
  for (int h = 0; h < c.state.heads; ++h) {
    const int column = h % grid.columns, row = h / grid.columns;
    const Box box{area.x + static_cast<float>(column) * grid.pitchX, area.y + 28 + static_cast<float>(row) * grid.pitchY,
                  grid.size, grid.size};
    if (box.bottom() < board.y || box.y > board.bottom()) continue;
    const std::string name = "head:" + std::to_string(h);
    c.places[name] = box;
    ImGui::SetCursorScreenPos({box.x, box.y});
    if (ImGui::InvisibleButton(name.c_str(), {box.width, box.height + 24})) {
      c.wishes.set(document::OptionId::focus_head, static_cast<double>(h));
    }
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    thumbnail(c, h, box);
  }
  ImGui::PopClipRect();
}

}  // namespace views
