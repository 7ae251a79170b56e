// The legend for the colours of the weights.
#include <algorithm>

#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr int kReduced = 128;  // tokens beyond which the pixels of thumbnails, or of the matrix, show the
                               // largest of several weights
constexpr float kBar = 130, kHeight = 46, kEdgeGap = 10, kTitle = 26;

base::Message words(const document::Settings& s, draw::Scale scale, float end) {
  if (end > 0) return base::message({"weight; colours end at ", shortestNumber(end)});
  switch (scale) {
    case draw::Scale::linear: return "weight";
    case draw::Scale::root: return "weight, √ scale";
    case draw::Scale::fourthRoot: return "weight, ⁴√ scale";
    case draw::Scale::row:
      return s.columnLayout ? "weight ÷ its column's largest" : "weight ÷ its row's largest";
  }
  return {};
}

// As few digits as distinguish one tick from the next.
std::string tickNumber(float value) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2g", static_cast<double>(value));
  return text;
}

/// The same, and what a pixel shows of the weights that it stands for.
base::Message allWords(const Context& c, draw::Scale scale, bool showsMost, float end) {
  const base::Message weight = words(c.state, scale, end);
  const int each = c.summaries.sampledEach();
  if (each > 1) return base::message({weight, ", one query in ", each});
  return showsMost ? base::message({weight, ", block maxima"}) : weight;
}

/// Draws the legend with its top at `y` and its right edge at `right`.
void drawLegend(Context& c, const draw::Heatmap& look, float right, float y, bool showsMost, float end) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const float left = right - kBar;
  constexpr int kParts = 26;
  for (int i = 0; i < kParts; ++i) {
    const float x = left + kBar * static_cast<float>(i) / kParts;
    const draw::Color color = draw::at(look.map, (static_cast<float>(i) + 0.5f) / kParts);
    list->AddRectFilled({x, y}, {x + kBar / kParts, y + 8}, toU32(color));
  }
  list->AddRect({left, y}, {right, y + 8}, c.palette.border);
  const bool perRow = look.scale == draw::Scale::row;
  const float most = perRow ? 1.0f : look.high, least = perRow && look.low < 0 ? -1.0f
                                                        : perRow               ? 0.0f
                                                                               : look.low;
  draw::Heatmap scale = look;
  scale.low = least, scale.high = most;
  if (perRow) scale.scale = draw::Scale::linear;
  const auto [low, middle] = look.scale == draw::Scale::root         ? std::pair(0.05f, 0.25f)
                             : look.scale == draw::Scale::fourthRoot ? std::pair(0.01f, 0.1f)
                                                                     : std::pair(0.5f, 0.5f);
  for (const float share : {0.0f, low, middle, 1.0f}) {
    const float value = least < 0 ? least + (most - least) * share : most * share;
    const float x = left + kBar * draw::fraction(scale, value, 1);
    list->AddLine({x, y + 8}, {x, y + 11}, c.palette.faint);
    const std::string number = tickNumber(value);
    const float half = textWidth(c.fonts.small, number) / 2;
    textCentered(list, c.fonts.small, std::clamp(x, left + half, right - half), y + 19, c.palette.muted,
                 number);
  }
  textRight(list, c.fonts.small, right, y + 36, c.palette.muted, allWords(c, look.scale, showsMost, end));
}

/// In the corner that the causal mask leaves empty the outline of the row in focus, which is drawn later, may
/// cross the legend: then it stands beyond that row, if the corner has room for it there.
Box clearOfFocus(const Context& c, const MatrixPlace& m, const Box& box, const Box& first) {
  constexpr float kClear = 6;
  const CellRef focus = c.focus();
  if (attention::rowsOf(focus.tensor) != attention::Rows::queries) return first;
  const int row = focus.row - sliceOf(c.state, TensorId::weights).firstRow;
  const float from = static_cast<float>(row) * m.cell, to = from + m.cell;
  Box moved = first;
  if (m.transposed) {
    if (box.x + to + kClear < first.x || box.x + from - kClear > first.right()) return first;
    moved.x = box.x + to + kClear;
    return moved.right() - box.x + m.cell < moved.y - box.y ? moved : first;
  }
  if (box.y + to + kClear < first.y || box.y + from - kClear > first.bottom()) return first;
  moved.y = box.y + to + kClear;
  return moved.bottom() - box.y + m.cell < moved.x - box.x ? moved : first;
}

/// Finds a place where it does not cover labels, titles or other matrices.
[[gnu::noinline]] void placeLegend(Context& c, const MatrixPlace& m, const Box& box,
                                   const draw::Heatmap& look, float end) {
  const bool showsMost = std::max(m.rows, m.cols) > kReduced;
  const float width = std::max(kBar, textWidth(c.fonts.small, allWords(c, look.scale, showsMost, end)));
  // In the corner that the causal mask leaves empty; otherwise above, if there is room; otherwise over the
  // corner.
  const bool isFree = c.state.causal && !c.state.cross && m.cell < 14 &&
                      box.width > width + 2 * kHeight + kEdgeGap && box.height > 4 * kHeight;
  const Box upper = onScreen(c.layout, c.view, c.layout.heads);
  const bool headsAreAbove =
      !c.layout.heads.empty() && upper.x < box.right() && upper.right() > box.x && upper.y < box.y;
  // What is already above the weights: their column labels, and the title with the head, if it extends that
  // far to the right.
  const float labels = m.labelsAbove && m.slanted ? m.labelRoom : m.cell >= 14 ? 22.0f : 4.0f;
  const Box title = c.widgetRects["title:weights"];
  const float taken =
      labels + (!m.title.empty() && title.right() + kEdgeGap > box.right() - width ? kTitle : 0);
  float above = box.y - c.layout.board.y + c.view.scroll - kHeight -
                std::max(taken, 14.0f);  // what is left of the space above
  for (const MatrixPlace& other : c.layout.matrices) {
    const Box o = onScreen(c.layout, c.view, other.box);
    if (o.x < box.right() && o.right() > box.x && o.bottom() <= box.y)
      above = std::min(above, box.y - o.bottom() - kHeight - std::max(taken, 20.0f));
  }
  float right = box.right() - kEdgeGap, y = box.y + kEdgeGap;
  if (c.layout.legend) {
    right = box.right(), y = box.bottom() + kTitle + 8;
  } else if (!isFree && above >= 0 && !headsAreAbove) {
    right = box.right(), y = box.y - kHeight - taken;
  } else if (!isFree) {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const ImVec2 a{right - width - kEdgeGap, y - 4}, b{right + 6, y + kHeight};
    list->AddRectFilled(a, b, withAlpha(c.palette.panel, 0.92f), 4);
    list->AddRect(a, b, c.palette.border, 4);
  } else if (c.state.columnLayout) {  // there the causal mask leaves the lower left corner empty
    right = box.x + kEdgeGap + width, y = box.bottom() - kEdgeGap - kHeight;
  }
  if (isFree && !c.layout.legend) {
    const Box clear = clearOfFocus(c, m, box, {right - width, y, width, kHeight});
    right = clear.right(), y = clear.y;
  }
  c.widgetRects["weight-legend"] = {right - width, y, width, kHeight};
  drawLegend(c, look, right, y, showsMost, end);
}

}  // namespace

// A separate function, since all that the first frame needs to know is whether there is a legend.
void weightLegend(Context& c, const MatrixPlace& m, const Box& box, const draw::Heatmap& look) {
  const bool many = std::max(m.rows, m.cols) > kManyKeys;
  const float end = look.scale != draw::Scale::row &&
                            c.summaries.range(TensorId::weights, c.trace.weights).size() > look.high
                        ? look.high
                        : 0.0f;
  const bool isPlain = look.scale == draw::Scale::linear && c.state.colors == document::Colors::own;
  if (many || !isPlain || end > 0) placeLegend(c, m, box, look, end);
}

}  // namespace views
