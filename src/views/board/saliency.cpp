#include "views/board/saliency.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Nudge;
using attention::Saliency;
using attention::Tensor;

constexpr float kUsualCell = 46, kSmallest = 14;  // smaller cells have no room for a triangle

attention::InputSet changeable(const Context& c) {
  attention::InputSet all = 0;
  for (const TensorId id : document::inputIds()) all |= c.editable(id) ? attention::inputSet(id) : 0;
  return all;
}

/// The side length of a triangle, by the gradient's share of the largest one.
float sideOf(double share) { return 4 + 8 * static_cast<float>(share); }

void triangle(ImDrawList* list, float right, float top, float side, bool up, ImU32 color) {
  const float foot = up ? top + side * 0.87f : top, tip = up ? top : top + side * 0.87f;
  const ImVec2 a{right - side, foot}, b{right - side / 2, tip}, c{right, foot};
  if (up) list->AddTriangleFilled(a, b, c, color);
  else list->AddTriangleFilled(a, c, b, color);
}

/// "Q[saw₄, 3]", with the head if it is not the one on the board, and what follows.
base::Message nameOf(const Context& c, const CellRef& cell, const char* end = "") {
  const base::Message name = attention::explain({c.spec, c.inputs, c.trace}, cell, c.tokenLabels(), 0).name;
  if (c.tensor(cell.tensor)->heads() > 1 && sliceOf(c.state, cell.tensor).head != cell.head)
    return base::message({name, " of head ", cell.head + 1, end});
  return base::message({name, end});
}

/// The symbol of the target, shown before the change of its value.
std::string letterOf(const Context& c, TensorId id) {
  const std::string_view symbol = id == TensorId::masked ? "S" : attention::symbol(id, c.spec.score);
  return symbol.size() <= 3 ? std::string(symbol) + " " : std::string();
}

std::string signedNumber(double value, int decimals) {
  const std::string words = formatNumber(value, decimals);
  return value > 0 ? "+" + words : words;
}

int decimalsOf(const Context& c) { return std::clamp(c.state.decimals + 1, 3, 6); }

/// The positions of the parts of the list.
struct Places {
  Places(const Context& c, const Box& list, int count) : box(list), narrow(list.width < 430) {
    isRoomy = c.roomy();
    const float room = list.height - (isRoomy ? 44 : kFoot);
    pitch = isRoomy ? 44 : std::clamp(std::floor(room / Saliency::kStrongest), 18.0f, 27.0f);
    rows = std::min(count, std::max(1, static_cast<int>(room / pitch)));
    nudge = textWidth(c.fonts.text, "Nudge") + (narrow ? 14.0f : 18.0f);
  }
  Box row(int i) const { return {box.x, box.y + static_cast<float>(i) * pitch, box.width, pitch}; }
  Box button(int i) const {
    const Box r = row(i);
    const float high = std::min(22.0f, pitch - 2);
    return {r.right() - nudge, r.midY() - high / 2, nudge, high};
  }
  Box all() const {
    return {box.x, row(rows).y + (isRoomy ? 10.0f : 5.0f),
            std::min(narrow ? 142.0f : 220.0f, box.width * 0.5f), 26};
  }

  static constexpr float kFoot = 34;
  Box box;
  bool narrow, isRoomy;
  float pitch, nudge;
  int rows;
};

/// Draws a button like Widgets do, where its input has been handled separately.
void face(Context& c, const Box& box, base::MessageView words) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool over =
      ImGui::IsWindowHovered() && ImGui::IsMouseHoveringRect({box.x, box.y}, {box.right(), box.bottom()});
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, over ? c.palette.hover : c.palette.panel,
                      5);
  list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 5);
  textCentered(list, c.fonts.text, box.midX(), box.midY(), c.palette.text, words);
}

void drawRow(Context& c, const Places& at, int i, const Nudge& nudge, const Saliency& saliency, double most) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = c.palette;
  ImFont* digits = at.narrow ? c.fonts.monoSmall : c.fonts.mono;
  const Box row = at.row(i), button = at.button(i);
  const float side = sideOf(std::fabs(nudge.gradient) / saliency.largest), y = row.midY();
  triangle(list, row.x + 6 + side / 2, y - side * 0.43f, side, nudge.by > 0, p.text);
  // The cell is at the left, the step and its effect at the right, and the bar in the space between.
  const std::string step = signedNumber(nudge.by, 2),
                    does = letterOf(c, saliencyTarget(c).tensor) + signedNumber(nudge.change, decimalsOf(c));
  const float doesWidth =
      textWidth(digits, "W ") + textWidth(digits, "+") + textWidth(digits, formatNumber(0, decimalsOf(c)));
  const float stepWidth = textWidth(digits, "+0.10"), arrow = at.narrow ? 18.0f : 28.0f;
  const float name = row.x + 20, room = button.x - 10 - name - stepWidth - arrow - doesWidth;
  const float nameWidth = std::min(room, at.narrow ? room : std::max(100.0f, room * 0.42f));
  const std::string words = elide(c.fonts.strong, nameOf(c, nudge.cell), nameWidth - 8);
  const std::size_t symbol = words.find('[');
  float x = name;
  const std::string_view tensor = std::string_view(words).substr(0, symbol);
  {
    const AsIs translated;
    textMiddle(list, c.fonts.strong, x, y, hue(p, nudge.cell.tensor), tensor);
    x += textWidth(c.fonts.strong, tensor);
    if (symbol != std::string::npos)
      textMiddle(list, c.fonts.text, x, y, p.text, std::string_view(words).substr(symbol));
  }
  x = name + nameWidth;
  textMiddle(list, digits, x, y, p.text, step);
  textCentered(list, c.fonts.text, x + stepWidth + arrow / 2, y, p.muted, "→");
  x += stepWidth + arrow;
  textMiddle(list, digits, x, y, p.text, does);
  x += doesWidth + 14;
  const float longest = std::min(180.0f, button.x - 14 - x);
  if (longest > 24 && most > 0) {
    const float width = std::max(2.0f, longest * static_cast<float>(std::fabs(nudge.change) / most));
    list->AddRectFilled({x, y - 4}, {x + width, y + 4}, withAlpha(p.weight, nudge.change < 0 ? 0.35f : 0.8f),
                        2);
  }
  face(c, button, "Nudge");
}

void drawFoot(Context& c, const Places& at, const Saliency& saliency) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Box all = at.all();
  face(c, all, at.narrow ? "Nudge all by 0.10" : "Nudge all: one step of size 0.10");
  const int decimals = decimalsOf(c);
  ImFont* digits = at.narrow ? c.fonts.monoSmall : c.fonts.mono;
  const std::string before = letterOf(c, saliencyTarget(c).tensor) + formatNumber(saliency.value, decimals) +
                             " → ",
                    after = formatNumber(saliency.together, decimals);
  const float x = all.right() + 14, end = x + textWidth(digits, before);
  textMiddle(list, digits, x, all.midY(), c.palette.text, before);
  textMiddle(list, digits, end, all.midY(), c.palette.weight, after);
  const base::Message count = base::message({saliency.reached, saliency.reached == 1 ? " cell" : " cells"});
  const float left = at.box.right() - textWidth(c.fonts.small, count);
  if (left > end + textWidth(digits, after) + 8)
    textMiddle(list, c.fonts.small, left, all.midY(), c.palette.muted, count);
}

}  // namespace

CellRef saliencyTarget(const Context& c) {
  CellRef cell = c.chosen();
  if (cell.tensor == TensorId::scores) cell.tensor = TensorId::masked;
  if (c.showsMean() && (cell.tensor == TensorId::weights || cell.tensor == TensorId::head_output))
    cell.head = attention::kMeanHead;
  return cell;
}

const Saliency& saliencyOf(const Context& c) { return c.derived.saliency(saliencyTarget(c), changeable(c)); }

void drawTriangles(Context& c, const MatrixPlace& m, const Box& box, const draw::Heatmap& look,
                   const float* peaks) {
  if (!c.state.gradient || m.cell < kSmallest || !c.editable(m.tensor)) return;
  const Saliency& saliency = saliencyOf(c);
  const Tensor &g = saliency.gradients[m.tensor], &values = *c.tensor(m.tensor);
  if (g.empty() || saliency.reached == 0) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Slice s = sliceOf(c.state, m.tensor);
  const float scale = std::min(1.0f, m.cell / kUsualCell), inset = 4.5f * scale;
  for (int down = 0; down < m.rows; ++down) {
    const float y = box.y + static_cast<float>(down) * m.cell;
    if (y < c.layout.board.y - m.cell || y > c.layout.board.bottom()) continue;
    for (int across = 0; across < m.cols; ++across) {
      const int row = s.firstRow + (m.transposed ? across : down),
                col = s.firstCol + (m.transposed ? down : across);
      const double share = std::fabs(double{g.at(s.head, row, col)}) / saliency.largest;
      if (share < 1e-3) continue;
      const ImU32 color = textOn(
          draw::at(look.map, draw::fraction(look, values.at(s.head, row, col), peaks ? peaks[row] : 0)));
      const float right = box.x + static_cast<float>(across + 1) * m.cell - inset;
      triangle(list, right, y + inset, sideOf(share) * scale, g.at(s.head, row, col) > 0, color);
    }
  }
}

void raiseLegend(Context& c) {
  const MatrixPlace *q = c.layout.find(TensorId::q), *k = c.layout.find(TensorId::k);
  if (!c.state.gradient || !q || !k || !c.editable(TensorId::q) || !c.layout.find(TensorId::scores)) return;
  const Box keys = onScreen(c.layout, c.view, k->box), queries = onScreen(c.layout, c.view, q->box);
  const float left = c.layout.board.x + 32, top = onScreen(c.layout, c.view, {0, 0, 0, 0}).y + 16;
  const float width = keys.x - 24 - left, height = queries.y - 28 - top;
  const bool isTaken =
      !c.layout.inspector.empty() && onScreen(c.layout, c.view, c.layout.inspector).y < queries.y;
  if (width < 150 || height < 116 || isTaken) return;
  const Saliency& saliency = saliencyOf(c);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Palette& p = c.palette;
  CellRef target = c.chosen();
  float y = top + 8;
  textMiddle(list, c.fonts.strong, left, y, p.text, "What would raise");
  textMiddle(list, c.fonts.strong, left, y + 19, p.text,
             elide(c.fonts.strong, nameOf(c, target, "?"), width));
  c.widgetRects["raise-legend"] = {left, top, std::min(width, 200.0f), 116};
  if (saliency.reached == 0) return;
  y += 46;
  for (const bool up : {true, false}) {
    triangle(list, left + 11, y - 5, 11, up, p.text);
    textMiddle(list, c.fonts.small, left + 24, y, p.text, up ? "raise this cell" : "lower this cell");
    y += 20;
  }
  textMiddle(list, c.fonts.small, left, y, p.muted, "size: how much a cell counts");
  y += 20;
  float x = left;
  for (const double share : {0.25, 0.5, 1.0}) {
    const float side = sideOf(share);
    const std::string words = formatNumber(share * saliency.largest, saliency.largest < 0.1  ? 4
                                                                     : saliency.largest < 10 ? 2
                                                                                             : 0);
    triangle(list, x + side, y - side * 0.43f, side, true, p.text);
    textMiddle(list, c.fonts.monoSmall, x + side + 4, y, p.muted, words);
    x += side + 12 + textWidth(c.fonts.monoSmall, words);
  }
}

void raiseList(Context& c, const Box& box, bool press) {
  const Saliency& saliency = saliencyOf(c);
  const auto given = attention::tensorRow(saliencyTarget(c).tensor).given;
  const std::string why =
      changeable(c) == 0 ? "This page has locked every input."
      : given && c.inputs.*given
          ? "This is an input that the page has locked: select a score, a weight or an output."
          : attention::whyUnreached(c.spec, c.trace, saliencyTarget(c), saliency);
  if (saliency.strongest.empty()) {
    if (!press)
      paragraph({ImGui::GetWindowDrawList(), c.fonts.text, c.palette.text}, box.x, box.y + 2, box.width, why);
    return;
  }
  Box rows = box;
  if (!why.empty()) {  // explains why some of the inputs have no effect
    const float high =
        paragraph({press ? nullptr : ImGui::GetWindowDrawList(), c.fonts.small, c.palette.muted}, box.x,
                  box.y, box.width, why) +
        4;
    rows.y += high, rows.height -= high;
  }
  const Places at(c, rows, static_cast<int>(saliency.strongest.size()));
  double most = 0;
  for (const Nudge& n : saliency.strongest) most = std::max(most, std::fabs(n.change));
  Widgets w(c);
  for (int i = 0; i < at.rows; ++i) {
    const Nudge& n = saliency.strongest[static_cast<std::size_t>(i)];
    if (!press) drawRow(c, at, i, n, saliency, most);
    else if (w.area("nudge:" + std::to_string(i + 1), at.button(i))) {
      c.requests.edit(document::SetCells{n.cell.tensor, n.cell.head, n.cell.row, n.cell.col, 1, 1, {n.to}});
    }
  }
  if (!press) drawFoot(c, at, saliency);
  else if (w.area("nudge:all", at.all())) nudgeAll(c);
}

bool nudgeAll(Context& c) {
  if (!c.state.gradient) return false;
  const Saliency& saliency = saliencyOf(c);
  if (saliency.reached == 0) return false;
  const std::uint64_t gesture = c.view.nextGesture++;
  for (const TensorId id : document::inputIds()) {
    if (!c.editable(id)) continue;
    const Tensor &g = saliency.gradients[id], &input = *c.tensor(id);
    const auto each = static_cast<std::size_t>(g.rows()) * static_cast<std::size_t>(g.cols());
    for (int h = 0; h < g.heads(); ++h) {
      const float *d = g.head(h), *from = input.head(h);
      if (std::all_of(d, d + each, [](float v) { return v == 0.0f; })) continue;
      std::vector<float> values(each);
      for (std::size_t i = 0; i < each; ++i) values[i] = attention::nudged(from[i], d[i], saliency.norm);
      c.requests.edit(document::SetCells{id, h, 0, 0, g.rows(), g.cols(), std::move(values)}, gesture);
    }
  }
  c.requests.endGesture = true;
  return true;
}

}  // namespace views
