// Thumbnails of the weights of every head, and of their mean.
#include <algorithm>
#include <cmath>

#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr std::uint32_t kFirstSlot = 1000;  // texture slots below are the board's

bool isHidden(const Context& c, int head) { return (c.state.hiddenHeads >> head & 1) != 0; }

// A head that was left out of the concatenation comes back, or the other way round.
void toggleHead(Context& c, int head) {
  std::vector<int> hidden;
  for (int h = 0; h < c.state.heads; ++h) {
    if (isHidden(c, h) != (h == head)) hidden.push_back(h);
  }
  c.wishes.set(document::OptionId::hidden_heads, std::move(hidden));
}

// Beside the name of a head: a ring that is filled while the head takes part in the output.
void hideButton(Context& c, int head, const Box& box) {
  const std::string name = "hide-head:" + std::to_string(head);
  const float x = box.right() - (box.width < 84 ? 2.0f : 9.0f), y = box.bottom() + 13;
  const Box area{x - 11, y - 11, 22, 22};
  if (Widgets(c).area(name, area)) toggleHead(c, head);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 color = ImGui::IsItemHovered() ? c.palette.text : c.palette.muted;
  list->AddCircle({x, y}, 4.5f, color, 16, 1.3f);
  if (!isHidden(c, head)) list->AddCircleFilled({x, y}, 2.5f, color, 12);
}

// A cell of it is the largest of a block where there are many tokens: no more is sent to the GPU than can be seen.
void thumbnail(Context& c, bool mean, int head, Box box, bool focused, std::string_view name) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float inner = box.width - 12;
  const TensorId id = mean ? attention::kMeanWeights : TensorId::weights;
  const attention::Tensor& all = mean ? c.mean(TensorId::weights) : c.trace.weights;
  const int size = attention::Summaries::blockSize(all);
  const attention::Tensor& w = c.summaries.blocks(id, all, size);
  const attention::Stamps& stamps = size > 1 ? c.summaries.blockStamps(id, head) : c.summaries.stamps(id, head);
  gfx::Heatmap look;
  look.cell = inner / static_cast<float>(std::max(w.cols(), w.rows()));
  look.x = box.x + 6, look.y = box.y + 6;
  look.gap = look.cell >= 12 ? 2.0f : look.cell >= 6 ? 1.0f : 0.0f;
  look.radius = look.cell >= 12 ? 2.0f : 0.0f;
  const bool isSigned = c.state.normalizer == attention::Normalizer::none;
  look.high = 1, look.low = isSigned ? -1.0f : 0.0f, look.map = isSigned ? c.palette.signedMap : c.palette.weightMap;
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c.palette.panel, 6);
  look.scale = static_cast<gfx::Scale>(c.state.weightScale);
  const int rows = (c.rowsSoFar() + size - 1) / size;
  gfx::Values values{w.head(head), rows, w.cols(), w.cols(), stamps.latest, writtenOf(stamps)};
  values.rowPeaks = size > 1 ? c.summaries.blockPeaks(id, head) : c.summaries.rowPeaks(id, all, head);
  c.heatmaps.draw(list, kFirstSlot + static_cast<std::uint32_t>(mean ? c.state.heads : head), values, look);
  if (!mean && isHidden(c, head)) list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, withAlpha(c.palette.background, 0.7f), 6);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, focused ? c.palette.weight : c.palette.border, 6, 0,
                focused ? 2.5f : 1.0f);
  if (!name.empty()) textCentered(list, c.fonts.small, box.midX(), box.bottom() + 13, focused ? c.palette.text : c.palette.muted, name);
}

}  // namespace

void heads(Context& c) {
  if (c.layout.heads.empty()) return;
  const Box area = onScreen(c.layout, c.view, c.layout.heads);
  const Box& board = c.layout.board;
  ImDrawList* list = ImGui::GetWindowDrawList();
  ImGui::PushClipRect({board.x, board.y}, {board.right(), board.bottom()}, true);
  textMiddle(list, c.fonts.strong, area.x, area.y + 12, c.palette.text, "Heads");
  const int count = c.state.heads > 1 ? c.state.heads + 1 : 1;
  const ThumbnailGrid grid = thumbnails(area, count);
  for (int h = 0; h < count; ++h) {
    const bool mean = h == c.state.heads;
    const int column = h % grid.columns, row = h / grid.columns;
    const Box box{area.x + static_cast<float>(column) * grid.pitchX, area.y + 28 + static_cast<float>(row) * grid.pitchY,
                  grid.size, grid.size};
    if (box.bottom() < board.y || box.y > board.bottom()) continue;
    const std::string name = mean ? "head:mean" : "head:" + std::to_string(h);
    c.places[name] = box;
    ImGui::SetCursorScreenPos({box.x, box.y});
    if (ImGui::InvisibleButton(name.c_str(), {std::max(box.width, 1.0f), std::max(box.height + 2, 1.0f)})) {
      if (!mean) c.wishes.set(document::OptionId::focus_head, static_cast<double>(h));
      if (mean != c.state.averageHeads) c.wishes.set(document::OptionId::average_heads, mean);
    }
    if (ImGui::IsItemHovered()) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    if (mean) {
      thumbnail(c, true, 0, box, c.state.averageHeads, grid.names ? "mean" : "");
    } else {
      thumbnail(c, false, h, box, h == c.state.focusHead && !c.state.averageHeads, grid.names ? "head " + std::to_string(h + 1) : "");
      if (c.state.heads > 1 && grid.size >= 64 && grid.names) hideButton(c, h, box);
    }
  }
  ImGui::PopClipRect();
}

}  // namespace views
