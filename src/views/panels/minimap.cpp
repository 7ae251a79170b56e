// A picture of all weights in the corner of an enlarged board, with a frame around what is in view.
#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/not_finite.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr std::uint32_t kMinimapSlot = 990;  // below those of the heads
constexpr float kMapSide = 128, kSmallMap = 88, kMapMargin = 12, kMapTop = 30, kMapPad = 8, kMapWords = 18;

/// Where things are in the window.
struct Minimap {
  const MatrixPlace* weights = nullptr;
  Box panel, picture;
  Box all;  ///< the matrix, most of it outside of the board

  /// The part of the picture that is in view on the board.
  Box frame(const Box& board) const {
    const float x = picture.width / all.width, y = picture.height / all.height;
    const float left = std::max(board.x - all.x, 0.0f) * x, top = std::max(board.y - all.y, 0.0f) * y,
                right = std::min(board.right() - all.x, all.width) * x,
                bottom = std::min(board.bottom() - all.y, all.height) * y;
    return {picture.x + left, picture.y + top, std::max(right - left, 0.0f), std::max(bottom - top, 0.0f)};
  }
};

/// None if all weights are in view, if cells could be told apart without it, or if there is no room.
std::optional<Minimap> placedMinimap(const Context& c) {
  const Box& board = c.layout.board;
  const MatrixPlace* const m = c.layout.find(TensorId::weights);
  if (!m || c.view.magnify <= 1 || !isLong(c)) return {};
  Minimap out{m, {}, {}, onScreen(c.layout, c.view, m->box)};
  const bool isInView = out.all.x >= board.x && out.all.right() <= board.right() && out.all.y >= board.y &&
                        out.all.bottom() <= board.bottom();
  if (isInView || board.height < 2 * kMapSide) return {};
  const float most = board.width < 700 ? kSmallMap : kMapSide,
              by = most / std::max(out.all.width, out.all.height), wide = out.all.width * by,
              high = out.all.height * by;
  out.panel = {board.right() - kMapMargin - wide - 2 * kMapPad, board.y + kMapTop, wide + 2 * kMapPad,
               high + 2 * kMapPad + kMapWords};
  out.picture = {out.panel.x + kMapPad, out.panel.y + kMapPad + kMapWords, wide, high};
  return out;
}

}  // namespace

void moveMinimap(Context& c) {
  const auto map = placedMinimap(c);
  if (!map) return;
  const Box &board = c.layout.board, &panel = map->panel, &picture = map->picture, &all = map->all;
  ImGui::SetCursorScreenPos({panel.x, panel.y});
  ImGui::InvisibleButton("##minimap", {panel.width, panel.height});
  if (ImGui::IsItemHovered() || ImGui::IsItemActive()) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeAll);
  if (!ImGui::IsItemActive()) return;
  const ImVec2 at = ImGui::GetIO().MousePos;
  c.view.pan = std::clamp(c.view.pan + all.x + (at.x - picture.x) * all.width / picture.width - board.midX(),
                          0.0f, c.layout.panLimit);
  c.view.scroll =
      std::clamp(c.view.scroll + all.y + (at.y - picture.y) * all.height / picture.height - board.midY(),
                 0.0f, maxScroll(c.layout));
  c.view.fling = 0;
  c.view.busy = true;
}

void minimap(Context& c) {
  const auto map = placedMinimap(c);
  if (!map) return;
  const Box &panel = map->panel, &picture = map->picture;
  c.widgetRects["minimap"] = panel;
  ImDrawList* const list = ImGui::GetWindowDrawList();
  list->AddRectFilled({panel.x, panel.y}, {panel.right(), panel.bottom()}, c.palette.panel, 6);
  list->AddRect({panel.x, panel.y}, {panel.right(), panel.bottom()}, c.palette.border, 6);
  const base::Message words = base::message({"all ", counted(c.state.keyTokens), " keys"});
  textMiddle(list, c.fonts.small, picture.x, panel.y + kMapPad + kMapWords / 2 - 3, c.palette.muted, words);
  const attention::Tensor& w = c.weights();
  draw::Heatmap look;
  look.cell = picture.width / static_cast<float>(map->weights->transposed ? w.rows() : w.cols());
  look.x = picture.x, look.y = picture.y, look.gap = look.radius = 0;
  look.transposed = map->weights->transposed;
  const bool isBoth = isSigned(c.state);
  look.high = 1, look.low = isBoth ? -1.0f : 0.0f;
  look.map = isBoth ? c.palette.signedMap : c.palette.weightMap;
  look.scale = static_cast<draw::Scale>(document::shownScale(c.state));
  const draw::Values values =
      valuesOf(c, {c.weightsId(), w, c.weightsHead(), 0, 0, w.rows(), w.cols()}, look);
  c.heatmaps.draw(list, kMinimapSlot, values, look);
  if (!c.state.notFinite.empty()) {
    const bool isTurned = map->weights->transposed;
    const float cell = picture.width / static_cast<float>(isTurned ? w.rows() : w.cols());
    using attention::Rows;
    const Box line = markNotFinite(
        c, list, {Rows::queries, !isTurned, 0, w.rows(), isTurned ? picture.x : picture.y, cell},
        (isTurned ? picture.y : picture.x) - 1);
    if (!line.empty()) c.widgetRects["not-finite:minimap"] = line;
    markNotFinite(c, list, {Rows::keys, isTurned, 0, w.cols(), isTurned ? picture.y : picture.x, cell},
                  (isTurned ? picture.x : picture.y) - 1);
  }
  const Box frame = map->frame(c.layout.board);
  list->AddRect({frame.x - 2, frame.y - 2}, {frame.right() + 2, frame.bottom() + 2}, c.palette.text, 3, 0,
                1.5f);
}

}  // namespace views
