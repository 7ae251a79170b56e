#include "views/board/stepper.h"

#include <algorithm>
#include <cmath>

#include "base/late.h"
#include "base/sentence.h"
#include "base/sort.h"
#include "views/board/board.h"
#include "views/panels/arithmetic.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Region;
using attention::RowStep;
using attention::Tensor;
using base::late;
using document::OptionId;

constexpr float kWay = 0.9f;    // seconds that the numbers of a step travel
constexpr float kRest = 1.1f;   // seconds until the next step, while playing
constexpr float kThere = 0.8f;  // from this fraction of that time on, the row shows the result
// The opacity with which unrelated cells are dimmed.
constexpr float kVeil = 0.66f;

/// The last step whose result is shown on the board.
RowStep madeOf(const StepperView& w) {
  if (w.part >= kThere) return w.now();
  return w.shown > 1 ? w.steps[static_cast<std::size_t>(w.shown - 2)] : RowStep::none;
}

/// The selected row, the key that serves as its example, and the column of the output.
attention::StepPlace placeOf(const Context& c) {
  const CellRef cell = c.chosen();
  const attention::Rows rows = attention::rowsOf(cell.tensor);
  attention::StepPlace at;
  at.head = c.state.focusHead;
  at.row = std::clamp(rows == attention::Rows::queries ? cell.row : c.rowsSoFar() - 1, 0, c.rowsSoFar() - 1);
  const float* w = c.trace.weights.row(at.head, at.row);
  at.key = attention::isOfPairs(cell.tensor)       ? cell.col
           : rows == attention::Rows::keys ? cell.row
                                           : static_cast<int>(std::max_element(w, w + c.state.keyTokens) - w);
  at.key = std::clamp(at.key, 0, c.state.keyTokens - 1);
  if (cell.tensor == TensorId::head_output || cell.tensor == TensorId::output) at.column = cell.col;
  return at;
}

// ---- the bar

enum class Sign { first, back, play, pause, next, last, close };

bool button(Context& c, std::string_view name, Sign sign, const Box& box, bool enabled) {
  const bool pressed = Widgets(c).area(name, box) && enabled;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool over = enabled && ImGui::IsItemHovered();
  if (sign != Sign::close) {
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, over ? c.palette.hover : c.palette.panel, 6);
    list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c.palette.border, 6);
  }
  const ImU32 color = enabled ? c.palette.text : c.palette.faint;
  const float x = std::round(box.midX()), y = std::round(box.midY()), s = 4;
  const auto chevron = [&](float at, float way) {
    const ImVec2 points[] = {{at - way * s / 2, y - s}, {at + way * s / 2, y}, {at - way * s / 2, y + s}};
    list->AddPolyline(points, 3, color, 0, 1.6f);
  };
  switch (sign) {
    case Sign::first: chevron(x + 2, -1), list->AddLine({x - 4, y - s}, {x - 4, y + s}, color, 1.6f); break;
    case Sign::back: chevron(x, -1); break;
    case Sign::play: list->AddTriangleFilled({x - 3, y - 5}, {x + 6, y}, {x - 3, y + 5}, color); break;
    case Sign::pause:
      list->AddRectFilled({x - 4, y - 5}, {x - 1, y + 5}, color);
      list->AddRectFilled({x + 2, y - 5}, {x + 5, y + 5}, color);
      break;
    case Sign::next: chevron(x, 1); break;
    case Sign::last: chevron(x - 2, 1), list->AddLine({x + 4, y - s}, {x + 4, y + s}, color, 1.6f); break;
    case Sign::close:
      list->AddLine({x - 4, y - 4}, {x + 4, y + 4}, over ? c.palette.text : c.palette.muted, 1.5f);
      list->AddLine({x - 4, y + 4}, {x + 4, y - 4}, over ? c.palette.text : c.palette.muted, 1.5f);
      break;
  }
  return pressed;
}

void dots(Context& c, StepperView& w, const Box& track) {
  ImDrawList* list = ImGui::GetWindowDrawList();
  const int count = static_cast<int>(w.steps.size());
  const float pitch = track.width / static_cast<float>(std::max(count - 1, 1)), y = track.y + 13;
  const auto x = [&](int i) { return track.x + pitch * static_cast<float>(i); };
  list->AddLine({x(0), y}, {x(count - 1), y}, c.palette.border, 2);
  list->AddLine({x(0), y}, {x(w.shown - 1), y}, c.palette.ink, 2);
  // The name of the present step is drawn first; others are drawn where they do not overlap it or each other.
  const auto width = [&](int i) { return textWidth(c.fonts.small, attention::nameOf(w.steps[static_cast<std::size_t>(i)], c.spec, c.inputs)); };
  const auto left = [&](int i) { return std::clamp(x(i) - width(i) / 2, track.x - 24, track.right() + 24 - width(i)); };
  const float from = left(w.shown - 1) - 6, to = left(w.shown - 1) + width(w.shown - 1) + 6;
  float end = 0;
  for (int i = 0; i < count; ++i) {
    const bool now = i + 1 == w.shown, done = i + 1 < w.shown;
    const std::string name = attention::nameOf(w.steps[static_cast<std::size_t>(i)], c.spec, c.inputs);
    const Box area{x(i) - std::min(pitch / 2, 30.0f), track.y, std::min(pitch, 60.0f), 38};
    if (Widgets(c).area("stepper:" + std::to_string(i + 1), area)) stepBy(c, i + 1 - w.shown);
    list->AddCircleFilled({x(i), y}, now ? 6.0f : 4.0f, now ? c.palette.panel : done ? c.palette.ink : c.palette.panel, 20);
    if (now) list->AddCircle({x(i), y}, 6, c.palette.ink, 24, 1.6f), list->AddCircleFilled({x(i), y}, 2.5f, c.palette.ink, 12);
    else if (!done) list->AddCircle({x(i), y}, 4, c.palette.faint, 20, 1.4f);
    const bool fits = now || (left(i) >= end && (left(i) + width(i) <= from || left(i) >= to));
    if (!fits) continue;
    textMiddle(list, c.fonts.small, left(i), y + 15, now ? c.palette.text : c.palette.muted, name);
    if (now) textMiddle(list, c.fonts.small, left(i) + 0.5f, y + 15, c.palette.text, name);  // there is no bold font of that size
    end = left(i) + width(i) + 6;
  }
}

void bar(Context& c, StepperView& w) {
  const Box& b = c.layout.stepper;
  if (b.empty()) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Box& line = c.layout.stepLine;
  list->AddRectFilled({b.x, line.empty() ? b.y : line.y}, {b.right(), b.bottom()}, c.palette.panel);
  list->AddLine({b.x, (line.empty() ? b.y : line.y) + 0.5f}, {b.right(), (line.empty() ? b.y : line.y) + 0.5f}, c.palette.border);
  c.widgetRects["stepper-bar"] = b;
  const int count = static_cast<int>(w.steps.size());
  const bool narrow = b.width < 600;
  float x = b.x + (narrow ? 8.0f : 14.0f);
  const auto next = [&](std::string_view name, Sign sign, bool enabled) {
    const Box box{x, b.y + 6, 28, 28};
    x += 32;
    return button(c, name, sign, box, enabled);
  };
  if (!narrow && next(late<"stepper-first">(), Sign::first, w.shown > 1)) stepBy(c, 1 - w.shown);
  if (next(late<"stepper-back">(), Sign::back, w.shown > 1)) stepBy(c, -1);
  if (next(late<"stepper-play">(), w.plays ? Sign::pause : Sign::play, true)) playStepper(c);
  if (next(late<"stepper-next">(), Sign::next, w.shown < count)) stepBy(c, 1);
  if (!narrow && next(late<"stepper-last">(), Sign::last, w.shown < count)) stepBy(c, count - w.shown);
  const Box close{b.right() - 32, b.y + 6, 28, 28};
  if (button(c, late<"stepper-close">(), Sign::close, close, true)) c.requests.set(OptionId::stepper, 0.0);
  const float left = x + (narrow ? 22.0f : 36.0f);
  dots(c, w, {left, b.y, close.x - (narrow ? 20.0f : 34.0f) - left, b.height});
}

// ---- on the board

bool isOf(const Context& c, const MatrixPlace& m, const Region& r) {
  return (r.tensor == m.tensor || r.tensor == shownTensor(m.tensor)) && r.head == sliceOf(c.state, m.tensor).head;
}

/// A block of cells in the columns and rows shown on the board.
struct Block {
  int left, top, right, bottom;
};

std::optional<Block> blockOf(const Context& c, const MatrixPlace& m, const Region& r) {
  if (!isOf(c, m, r)) return {};
  const Slice s = sliceOf(c.state, m.tensor);
  Block b{r.col - s.firstCol, r.row - s.firstRow, r.col - s.firstCol + r.cols, r.row - s.firstRow + r.rows};
  if (m.transposed) b = {b.top, b.left, b.bottom, b.right};
  b = {std::max(b.left, 0), std::max(b.top, 0), std::min(b.right, m.cols), std::min(b.bottom, m.rows)};
  if (b.left >= b.right || b.top >= b.bottom) return {};
  return b;
}

/// Scrolls the board to what a step computes, or to what it reads.
void reveal(Context& c, const StepperView& w) {
  const attention::StepCells cells = attention::cellsOf(w.now(), c.spec, c.inputs, c.trace, w.at);
  for (const auto* part : {&cells.made, &cells.from}) {
    for (const Region& r : *part) {
      for (const MatrixPlace& m : c.layout.matrices) {
        const auto b = blockOf(c, m, r);
        if (!b) continue;
        const float top = m.box.y + static_cast<float>(b->top) * m.cell - 44, bottom = m.box.y + static_cast<float>(b->bottom) * m.cell + 12;
        const float height = c.layout.board.height;
        if (bottom > c.view.scroll + height) c.view.scroll = std::min(bottom - height, top);
        if (top < c.view.scroll) c.view.scroll = std::max(top, 0.0f);
        return;
      }
    }
  }
}

void number(Context& c, float x, float y, float cell, double value, ImU32 color) {
  int decimals = c.state.decimals;
  ImFont* font = c.fonts.mono;
  std::string digits = formatNumber(value, decimals);
  if (textWidth(font, digits) > cell - 3) font = c.fonts.monoSmall;
  while (textWidth(font, digits) > cell - 3 && decimals > 1) digits = formatNumber(value, --decimals);
  if (textWidth(font, digits) > cell) return;
  textCentered(ImGui::GetWindowDrawList(), font, x, y, color, digits);
}

void ring(const Box& box, const MatrixPlace& m, const Block& b, ImU32 color, float thick) {
  const float grow = m.cell >= 20 ? 1.0f : 0.0f;
  ImGui::GetWindowDrawList()->AddRect({box.x + static_cast<float>(b.left) * m.cell - grow, box.y + static_cast<float>(b.top) * m.cell - grow},
                                      {box.x + static_cast<float>(b.right) * m.cell + grow, box.y + static_cast<float>(b.bottom) * m.cell + grow}, color,
                                      m.cell >= 20 ? 6.0f : 1.0f, 0, thick);
}

}  // namespace

const StepperView* stepperOf(const Context& c) { return c.state.stepper > 0 && !c.showsMean() && !c.onPage() && c.view.stepper && c.view.stepper->shown > 0 ? c.view.stepper.get() : nullptr; }

void readStepper(Context& c) {
  if (!c.view.stepper) c.view.stepper = std::make_shared<StepperView>();
  StepperView& w = *c.view.stepper;
  c.view.unreached = -1;
  if (c.showsMean()) {
    w.shown = 0;
    return;
  }
  w.steps = attention::stepsOf(c.spec, c.inputs, c.decodes());
  const attention::StepPlace at = placeOf(c);
  const int shown = std::clamp(c.state.stepper, 1, static_cast<int>(w.steps.size()));
  if (shown != w.shown) w.part = shown == w.shown + 1 && !c.view.still ? 0.0f : 1.0f, w.rest = 0;
  else if (at != w.at) w.part = 1;
  const bool isNew = shown != w.shown || at != w.at;
  w.shown = shown, w.at = at;
  if (isNew) reveal(c, w);
  const float seconds = std::min(ImGui::GetIO().DeltaTime, 0.1f);
  const bool last = w.shown == static_cast<int>(w.steps.size());
  if (w.part < 1) {
    w.part = std::min(1.0f, w.part + seconds / kWay);
  } else if (w.plays) {
    w.rest += seconds;
    if (w.rest >= kRest && last) w.plays = false;
    else if (w.rest >= kRest) c.requests.set(OptionId::stepper, static_cast<double>(w.shown + 1));
  }
  c.view.busy |= w.part < 1 || w.plays;
  const attention::Standing weights = attention::standing(TensorId::weights, madeOf(w), c.spec, c.inputs);
  if (!weights.isThere || weights.tensor != TensorId::weights) c.view.unreached = w.at.row;
  bar(c, w);
}

void toggleStepper(Context& c) {
  if (c.locked("stepper")) return;
  const bool begins = c.state.stepper == 0 || c.showsMean();
  if (begins && c.showsMean()) c.requests.set(OptionId::average_heads, false);
  if (begins && c.state.gradient) c.requests.set(OptionId::gradient, false);
  c.requests.set(OptionId::stepper, begins ? 1.0 : 0.0);
}

void stepBy(Context& c, int by) {
  StepperView& w = *c.view.stepper;
  w.plays = false;
  const int to = std::clamp(w.shown + by, 1, static_cast<int>(w.steps.size()));
  if (to != c.state.stepper) c.requests.set(OptionId::stepper, static_cast<double>(to));
}

void playStepper(Context& c) {
  StepperView& w = *c.view.stepper;
  w.plays = !w.plays;
  w.rest = kRest;
  c.view.busy = true;
  if (w.plays && w.shown == static_cast<int>(w.steps.size())) w.shown = 0, c.requests.set(OptionId::stepper, 1.0);
}

void drawSteps(Context& c, const MatrixPlace& m, const Box& box, const draw::Heatmap& look) {
  const StepperView& w = *stepperOf(c);
  const attention::Standing s = attention::standing(m.tensor, madeOf(w), c.spec, c.inputs);
  const TensorId usual = shownTensor(m.tensor);
  if (s.isThere && s.tensor == usual && !s.isShare) return;
  ImDrawList* list = ImGui::GetWindowDrawList();
  const Slice slice = sliceOf(c.state, m.tensor);
  const bool ofKeys = attention::rowsOf(m.tensor) == attention::Rows::keys;  // rotated keys do not exist yet at this step
  const int first = ofKeys ? 0 : w.at.row - slice.firstRow, count = ofKeys ? m.rows : 1;
  const bool isColumn = m.transposed && !ofKeys;  // the row is drawn as a column
  const float y = isColumn ? box.y : box.y + static_cast<float>(first) * m.cell, edge = m.cell >= 20 ? 0.5f : 0;
  const float left = isColumn ? box.x + static_cast<float>(first) * m.cell : box.x;
  if (isColumn) list->AddRectFilled({left - edge, box.y - 1}, {left + m.cell + edge, box.bottom() + 1}, c.palette.panel);
  else list->AddRectFilled({box.x - 1, y - edge}, {box.right() + 1, y + static_cast<float>(count) * m.cell + edge}, c.palette.panel);
  const Tensor* tensor = s.isThere ? c.tensor(s.tensor) : nullptr;
  if (!tensor) return;
  const bool isWay = s.tensor == TensorId::exponentials;  // exponentials, on the way to the weights, do not have the weights' colours
  const double sum = s.isShare ? double{c.trace.rowSum.at(w.at.head, w.at.row, 0)} : 1.0;
  for (int j = 0; j < (isColumn ? m.rows : m.cols); ++j) {
    const double value = double{(s.isShare ? c.trace.exponentials : *tensor).at(w.at.head, w.at.row, j)} / sum;
    const float along = static_cast<float>(j) * m.cell, gap = m.cell >= 20 ? 1.5f : 0.0f;
    const float x = isColumn ? left : left + along, top = isColumn ? y + along : y;
    const draw::Color fill = draw::at(look.map, draw::fraction(look, static_cast<float>(value), 0));
    if (!isWay) list->AddRectFilled({x + gap, top + gap}, {x + m.cell - gap, top + m.cell - gap}, toU32(fill), look.radius);
    else if (m.cell >= 12) list->AddRect({x + 2, top + 2}, {x + m.cell - 2, top + m.cell - 2}, c.palette.border, 3);
    if (m.cell >= 26) number(c, x + m.cell / 2, top + m.cell / 2, m.cell, value, isWay ? c.palette.text : textOn(fill));
  }
  if (!isWay) return;
  if (m.cell >= 20 && !c.layout.arrow.empty()) textRight(list, c.fonts.small, box.x - 8, (isColumn ? box.bottom() : y + m.cell) - m.cell / 2, c.palette.weight, "exp");
  if (m.sums && madeOf(w) == RowStep::sum && isColumn)
    textCentered(list, c.fonts.monoSmall, left + m.cell / 2, box.bottom() + 11, c.palette.text, formatNumber(double{c.trace.rowSum.at(w.at.head, w.at.row, 0)}, 2));
  else if (m.sums && madeOf(w) == RowStep::sum)
    textMiddle(list, c.fonts.monoSmall, box.right() + 6, y + m.cell / 2, c.palette.text, formatNumber(double{c.trace.rowSum.at(w.at.head, w.at.row, 0)}, 2));
}

void drawStepLight(Context& c, const MatrixPlace& m, const Box& box) {
  const StepperView& w = *stepperOf(c);
  const attention::StepCells cells = attention::cellsOf(w.now(), c.spec, c.inputs, c.trace, w.at);
  std::vector<Block> from, made, lit;
  for (const Region& r : cells.from)
    if (const auto b = blockOf(c, m, r)) from.push_back(*b), lit.push_back(*b);
  for (const Region& r : cells.made)
    if (const auto b = blockOf(c, m, r)) made.push_back(*b), lit.push_back(*b);
  // Everything else is dimmed, in rectangles between the edges of the lit blocks.
  ImDrawList* list = ImGui::GetWindowDrawList();
  const ImU32 veil = withAlpha(c.palette.background, kVeil);
  std::vector<int> edges{0, m.rows};
  for (const Block& b : lit) edges.push_back(b.top), edges.push_back(b.bottom);
  base::sort(edges, std::less<>());
  edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
  const float sums = m.sums && !m.transposed ? 36.0f : 0.0f;
  for (std::size_t e = 0; e + 1 < edges.size(); ++e) {
    std::vector<std::pair<int, int>> taken;
    for (const Block& b : lit)
      if (b.top <= edges[e] && b.bottom >= edges[e + 1]) taken.push_back({b.left, b.right});
    base::sort(taken, std::less<>());
    const float top = box.y + static_cast<float>(edges[e]) * m.cell - (edges[e] == 0 ? 2 : 0), bottom = box.y + static_cast<float>(edges[e + 1]) * m.cell + (edges[e + 1] == m.rows ? 2 : 0);
    int at = 0;
    const auto cover = [&](int to) {
      if (to > at) list->AddRectFilled({box.x + static_cast<float>(at) * m.cell - (at == 0 ? 2 : 0), top}, {box.x + static_cast<float>(to) * m.cell + (to == m.cols ? 2 : 0), bottom}, veil);
    };
    for (const auto& [left, right] : taken) cover(left), at = std::max(at, right);
    cover(m.cols);
    if (sums > 0 && taken.empty()) list->AddRectFilled({box.right() + 3, top}, {box.right() + sums, bottom}, veil);
  }
  for (int i = 0; m.sums && m.transposed && i < m.cols; ++i) {  // the sums of columns are below them
    const bool isLit = std::any_of(lit.begin(), lit.end(), [&](const Block& b) { return b.left <= i && i < b.right; });
    const float left = box.x + static_cast<float>(i) * m.cell;
    if (!isLit) list->AddRectFilled({left, box.bottom() + 3}, {left + m.cell, box.bottom() + 22}, veil);
  }
  const float thick = m.cell >= 20 ? 2.5f : 1.5f;
  const ImU32 color = m.tensor == TensorId::scores ? c.palette.text : hue(c.palette, m.tensor);
  for (const Block& b : from) ring(box, m, b, color, thick);
  for (const Block& b : made) ring(box, m, b, color, thick);
  if (lit.empty() || !attention::isOfPairs(m.tensor)) return;
  const Slice slice = sliceOf(c.state, m.tensor);
  const int row = w.at.row - slice.firstRow;
  int key = w.now() == RowStep::threshold || w.now() == RowStep::sum || w.now() == RowStep::values ? -1 : w.at.key;
  if (w.now() == RowStep::maximum) {
    const float* masked = c.trace.masked.row(w.at.head, w.at.row);
    key = static_cast<int>(std::max_element(masked, masked + c.state.keyTokens) - masked);
  }
  if (key >= 0) ring(box, m, m.transposed ? Block{row, key, row + 1, key + 1} : Block{key, row, key + 1, row + 1}, color, thick);
}

attention::Explanation stepsExplanation(const Context& c, bool all) {
  const StepperView& w = *stepperOf(c);
  attention::Explanation e;
  for (int i = all ? 0 : w.shown - 1; i < w.shown; ++i) {
    auto lines = attention::linesOf(w.steps[static_cast<std::size_t>(i)], c.spec, c.inputs, c.trace, w.at, c.state.labels, document::keyLabels(c.state), c.state.decimals, all ? 3 : 2);
    e.terms.insert(e.terms.end(), std::make_move_iterator(lines.begin()), std::make_move_iterator(lines.end()));
  }
  e.title = attention::explain(c.spec, c.inputs, c.trace, {TensorId::weights, w.at.head, w.at.row, w.at.key}, c.state.labels, document::keyLabels(c.state), c.state.decimals).title;
  if (c.view.unreached >= 0) e.title.resize(e.title.find(" = "));
  return e;
}

void drawStepperBar(Context& c) {
  const Box& line = c.layout.stepLine;
  if (line.empty()) return;
  const StepperView& w = *stepperOf(c);
  ImDrawList* list = ImGui::GetWindowDrawList();
  const bool narrow = line.width < 600;
  ImFont* font = line.width < 900 ? c.fonts.monoSmall : c.fonts.mono;
  const CellRef pair{TensorId::weights, w.at.head, w.at.row, w.at.key};
  const std::vector<TouchedLine> lines = touchedLines(c, stepsExplanation(c, false), pair);
  const float left = line.x + (narrow ? 10.0f : 18.0f), x = left + (narrow ? 0.0f : 118.0f), width = line.right() - 14 - x;
  float y = line.y + (narrow ? 12.0f : 16.0f);
  if (narrow) {
    textMiddle(list, c.fonts.small, left, y, c.palette.muted, elide(c.fonts.small, lines.front().term.label, line.width - 20));
    y += 19;
  }
  c.widgetRects["stepper-line"] = line;
  list->PushClipRect({line.x, line.y}, {line.right(), line.bottom()}, true);
  for (const TouchedLine& l : lines) {
    if (!narrow) textMiddle(list, c.fonts.small, left + (l.inner ? 10 : 0), y, c.palette.muted, elide(c.fonts.small, l.term.label, 100));
    std::string_view rest = l.term.text;
    std::size_t begin = 0;
    while (!rest.empty()) {
      std::size_t cut = rest.size();
      while (cut != std::string_view::npos && cut > 0 && textWidth(font, rest.substr(0, cut)) > width) cut = rest.rfind(' ', cut - 1);
      if (cut == std::string_view::npos || cut == 0) cut = rest.size();
      drawTouched(c, list, font, x, y, l, begin, cut, c.palette.text);
      const std::size_t skip = std::min(cut + 1, rest.size());
      rest.remove_prefix(skip);
      begin += skip;
      y += narrow ? 17.0f : 20.0f;
    }
  }
  list->PopClipRect();
}

}  // namespace views
