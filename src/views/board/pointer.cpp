// What a pointer does to the matrices on the board.
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/board/whatif.h"
#include "views/guide/glossary.h"
#include "views/panels/arithmetic.h"
#include "views/panels/plane.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Tensor;
using document::SetCells;
using Does = Finger::Does;

constexpr float kClickSlop = 3;
constexpr double kRefusedTyping =
    1;  // seconds during which further letters are ignored after a text that found no field
constexpr float kWheel = 100;  // pixels per notch

// What is at the pointer: a cell of a matrix on the board.
struct Hit {
  const MatrixPlace* place = nullptr;
  CellRef cell;
  const Arithmetic::Number* number = nullptr;  // a number in the arithmetic, which stands for its cell
};

// A bar of the inspector stands for its weight.
[[gnu::noinline]] std::optional<CellRef> barAt(const Context& c, float x, float y) {
  for (const BoardPlaces::Bar& bar : c.lastPlaces.bars)
    if (bar.box.contains(x, y) && bar.query < c.state.tokens && bar.key < c.state.keyTokens)
      return CellRef{TensorId::weights, c.state.focusHead, bar.query, bar.key};
  return {};
}

Hit hitAt(const Context& c, float x, float y) {
  if (const Arithmetic::Number* n = numberAt(c.view, x, y))
    return {n->here ? c.layout.find(n->cell.tensor) : nullptr, n->cell, n};
  if (!c.layout.board.contains(x, y)) return {};
  for (const MatrixPlace& m : c.layout.matrices) {
    const Box box = onScreen(c.layout, c.view, m.box);
    if (!box.contains(x, y)) continue;
    int down = std::min(static_cast<int>((y - box.y) / m.cell), m.rows - 1);
    int across = std::min(static_cast<int>((x - box.x) / m.cell), m.cols - 1);
    if (m.transposed) std::swap(down, across);
    const Slice s = sliceOf(c.state, m.tensor);
    return {&m, {m.tensor, s.head, down + s.firstRow, across + s.firstCol}};
  }
  const MatrixPlace* weights = c.layout.find(TensorId::weights);
  const auto bar = weights ? barAt(c, x, y) : std::nullopt;
  return bar ? Hit{weights, *bar} : Hit{};
}

class Pointer {
 public:
  explicit Pointer(Context& context) : c_(context), io_(ImGui::GetIO()), drag_(context.view.drag) {}

  void handle() {
    const Box& b = c_.layout.board;
    ImGui::SetCursorScreenPos({b.x, b.y});
    const bool held =
        ImGui::GetActiveID() == ImGui::GetID("##board");  // not if the host page has taken over the finger
    ImGui::InvisibleButton("##board", {std::max(b.width, 1.0f), std::max(b.height, 1.0f)});
    const bool over = ImGui::IsItemHovered(), active = ImGui::IsItemActive(),
               letGo = ImGui::IsItemDeactivated();
    const Hit hit = over || active || letGo ? hitAt(c_, io_.MousePos.x, io_.MousePos.y) : Hit{};
    if (c_.view.rest &&
        std::hypot(io_.MousePos.x - c_.view.rest->x, io_.MousePos.y - c_.view.rest->y) >= kClickSlop)
      c_.view.rest.reset();
    if (!hit.place && !hit.number && (over || (active && c_.touch))) pointAtTitle();
    hover(over && !active && !c_.view.rest, hit);
    if (c_.touch) restFinger(active, hit);
    if (ImGui::IsItemActivated()) press(hit);
    else if (active || (held && letGo && ImGui::IsMousePosValid()))
      move(hit);  // the last movement may come together with the release
    if (letGo) release();
    if (letGo && !hit.place && !hit.number && (!c_.touch || has(Does::waits))) clickTitle();
    else if (!active) drag_.kind = Drag::Kind::none;  // the page took over the finger
    const bool isDouble = c_.touch ? letGo && has(Does::waits) && drag_.isDouble
                                   : over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    if (isDouble) doubleClick(hit);
    if (over && io_.MouseWheel != 0) c_.view.scroll -= io_.MouseWheel * kWheel, c_.view.fling = 0;
  }

 private:
  void hover(bool over, const Hit& hit) {
    c_.view.hover.reset();
    c_.view.lit.reset();
    if (!over || c_.touch) return;
    if (hit.number) {
      if (hit.place) c_.view.lit = hit.cell;
      ImGui::SetMouseCursor(hit.place && c_.editable(hit.cell.tensor) ? ImGuiMouseCursor_ResizeEW
                                                                      : ImGuiMouseCursor_Hand);
      return;
    }
    if (!hit.place) {
      if (titleAt(io_.MousePos)) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
      else if (Box heading; !c_.locked("column_names") && headingAt(heading))
        ImGui::SetMouseCursor(ImGuiMouseCursor_TextInput);
      return hoverArcs();
    }
    c_.view.hover = hit.cell;
    if (c_.view.painting && attention::isOfPairs(hit.cell.tensor))
      ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    else if (c_.editable(hit.cell.tensor) || canDragWeight(c_, c_.view.selection, hit.cell))
      ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }

  bool has(Does does) const { return c_.view.finger.does == does; }

  // A finger that rests on a number takes hold of it. Beside the numbers it shows what a hovering pointer
  // would show.
  void restFinger(bool active, const Hit& hit) {
    std::optional<CellRef>& peek = c_.view.peek;
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) peek.reset();
    if (active && drag_.kind == Drag::Kind::pending && !drag_.isHeld && has(Does::holds)) hold();
    if (active && !hit.place && !peek && has(Does::waits) && io_.MouseDownDuration[0] >= io_.KeyRepeatDelay) {
      hoverArcs();
      peek = c_.view.hover;
    }
    if (!peek) return;
    const Tensor* t = c_.tensor(peek->tensor);
    if (!t || !t->contains(peek->head, peek->row, peek->col)) peek.reset();
    c_.view.hover = peek;
  }

  void hold() {
    drag_.isHeld = true;
    drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
    if (paints()) return beginPaint();
    selectPressed();
    drag_.isWeight = canDragWeight(c_, c_.view.selection, drag_.cell);
  }

  bool paints() const {
    return c_.view.painting && attention::isOfPairs(drag_.cell.tensor) && !c_.locked("mask");
  }

  void beginPaint() {
    drag_.kind = Drag::Kind::paint;
    drag_.paint = c_.state.painted.isBlocked(drag_.cell.row, drag_.cell.col) ? 0 : 1;
    paint(drag_.cell);
  }

  void selectPressed() {
    c_.view.selection = {true,           drag_.cell.tensor, drag_.cell.row,
                         drag_.cell.col, drag_.cell.row,    drag_.cell.col};
    c_.requests.moved = true;
  }

  // A token of the arcs stands for its strongest link.
  void hoverArcs() {
    constexpr std::string_view kQuery = "query:";
    for (auto at = c_.lastWidgetRects.lower_bound(kQuery);
         at != c_.lastWidgetRects.end() && at->first.starts_with(kQuery); ++at) {
      if (!at->second.contains(io_.MousePos.x, io_.MousePos.y)) continue;
      const int t = std::atoi(at->first.c_str() + kQuery.size());
      if (t >= c_.state.tokens) continue;
      const float* row = c_.trace.weights.row(c_.state.focusHead, t);
      const auto best = std::max_element(row, row + c_.state.keyTokens) - row;
      c_.view.hover = CellRef{TensorId::weights, c_.state.focusHead, t, static_cast<int>(best)};
    }
  }

  void press(const Hit& hit) {
    drag_ = {};
    c_.view.options.on = false;
    drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
    drag_.isDouble = ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left);
    c_.view.fling = 0;
    if (c_.view.arithmetic) holdNumber(*c_.view.arithmetic, hit);
    if (!hit.place) {
      if (!c_.touch) drag_.kind = Drag::Kind::scroll;
      return;
    }
    drag_.cell = hit.cell;
    drag_.gesture = c_.view.nextGesture++;
    drag_.kind = Drag::Kind::pending;
    Selection& s = c_.view.selection;
    drag_.isWeight = canDragWeight(c_, s, hit.cell);
    if (c_.touch) return c_.view.finger.grip();  // it selects only when it taps or holds
    if (paints()) return beginPaint();
    const bool extend = io_.KeyShift && s.active && s.tensor == hit.cell.tensor;
    // Alt drags a selected range coarsely, so pressing inside the range must not change it.
    if (extend) s.row = hit.cell.row, s.col = hit.cell.col;
    else if (!isSelected())
      s = {true, hit.cell.tensor, hit.cell.row, hit.cell.col, hit.cell.row, hit.cell.col};
    c_.requests.moved = true;
    if (io_.KeyCtrl || io_.KeySuper) drag_.kind = Drag::Kind::select;
  }

  // Is the cell under the pointer part of the selection?
  bool isSelected() const {
    const Selection& s = c_.view.selection;
    return s.active && s.tensor == drag_.cell.tensor && s.contains(drag_.cell.row, drag_.cell.col);
  }

  // May what was pressed be dragged now? By a finger only once it holds it; the selected number also if it
  // moves sideways.
  bool mayDrag() const {
    if (!c_.touch || drag_.isHeld) return true;
    return has(Does::drags) && isSelected() && !paints() &&
           (drag_.isWeight || c_.editable(drag_.cell.tensor));
  }

  void move(const Hit& hit) {
    const float dx = io_.MousePos.x - drag_.lastX, dy = io_.MousePos.y - drag_.lastY;
    switch (drag_.kind) {
      case Drag::Kind::pending:
        if (std::hypot(dx, dy) < kClickSlop || has(Does::waits)) return;
        if (!mayDrag()) {
          drag_.kind = Drag::Kind::none;
          return;
        }
        begin();
        move(hit);  // includes the movement so far
        return;
      case Drag::Kind::value:
        drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
        change(dx - dy);
        return;
      case Drag::Kind::weight:
        drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
        if (dx != dy) dragWeight(c_, drag_, dx - dy);
        return;
      case Drag::Kind::select:
        if (hit.place && hit.cell.tensor == c_.view.selection.tensor) {
          c_.requests.moved |= c_.view.selection.row != hit.cell.row || c_.view.selection.col != hit.cell.col;
          c_.view.selection.row = hit.cell.row, c_.view.selection.col = hit.cell.col;
        }
        return;
      case Drag::Kind::paint:
        if (hit.place && attention::isOfPairs(hit.cell.tensor)) paint(hit.cell);
        return;
      case Drag::Kind::scroll:
        drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
        c_.view.scroll -= dy, c_.view.pan -= dx;
        return;
      case Drag::Kind::none:  // a finger that moves sideways
        if (c_.touch && has(Does::drags))
          c_.view.pan -= io_.MouseDelta.x, c_.view.scroll -= c_.layout.panLimit > 0 ? io_.MouseDelta.y : 0;
        return;
    }
  }

  // The press has become a drag: of values if the cell is editable, otherwise of a range.
  void begin() {
    if (drag_.isWeight) return beginWeight(c_, drag_);
    if (!c_.editable(drag_.cell.tensor)) {
      drag_.kind = Drag::Kind::select, drag_.isFixed = true;
      return;
    }
    drag_.kind = Drag::Kind::value;
    drag_.before.clear();
    const Selection& s = c_.view.selection;
    const Tensor& t = *c_.tensor(s.tensor);
    for (int r = 0; r < s.rows(); ++r) {
      for (int col = 0; col < s.cols(); ++col)
        drag_.before.push_back(t.at(drag_.cell.head, s.top() + r, s.left() + col));
    }
  }

  void change(float pixels) {
    const double step = perPixel();
    drag_.travelled += static_cast<double>(pixels) * step;
    const double by = std::round(drag_.travelled / step) * step;
    std::vector<float> values;
    for (const float before : drag_.before) values.push_back(moved(before, by));
    const Selection& s = c_.view.selection;
    c_.requests.edit(
        SetCells{s.tensor, drag_.cell.head, s.top(), s.left(), s.rows(), s.cols(), std::move(values)},
        drag_.gesture);
  }

  void paint(CellRef cell) {
    if (c_.state.painted.isBlocked(cell.row, cell.col) == (drag_.paint != 0)) return;
    c_.requests.edit(document::PaintCells{cell.row, cell.col, 1, 1, {drag_.paint}}, drag_.gesture);
  }

  void release() {
    if (c_.view.arithmetic) clickNumber(*c_.view.arithmetic);
    const bool isTap = drag_.kind == Drag::Kind::pending && (c_.touch ? has(Does::waits) : !io_.KeyShift);
    if (c_.touch && has(Does::waits) && !c_.layout.editing.empty() && drag_.kind == Drag::Kind::none)
      endEditing(c_);
    if (isTap && paints()) beginPaint();
    else if (isTap) selectPressed();  // also inside a range, of which it leaves the single cell
    if (drag_.kind == Drag::Kind::value || drag_.kind == Drag::Kind::weight ||
        drag_.kind == Drag::Kind::paint)
      c_.requests.endGesture = true;
    if (drag_.kind == Drag::Kind::weight) nameWeight(c_, drag_);
    if (drag_.kind == Drag::Kind::select && drag_.isFixed) c_.requests.said = whyFixed(c_, drag_.cell);
    if (drag_.kind != Drag::Kind::none && drag_.kind != Drag::Kind::scroll) c_.view.rest = io_.MousePos;
    drag_.kind = Drag::Kind::none;
  }

  [[gnu::noinline]] void holdNumber(Arithmetic& a, const Hit& hit) {
    a.pressed.reset();
    if (hit.number) a.pressed = *hit.number, a.pressedX = io_.MousePos.x, a.pressedY = io_.MousePos.y;
  }

  // A click on a number of the arithmetic expands it, or goes to its cell; a drag has changed its value.
  [[gnu::noinline]] void clickNumber(Arithmetic& a) {
    if (!a.pressed) return;
    const Arithmetic::Number n = *a.pressed;
    a.pressed.reset();
    const bool isClick =
        c_.touch ? has(Does::waits)
                 : std::hypot(io_.MousePos.x - a.pressedX, io_.MousePos.y - a.pressedY) < kClickSlop;
    if (!isClick || drag_.kind == Drag::Kind::value) return;
    pressNumber(c_, n);
  }

  void doubleClick(const Hit& hit) {
    if (c_.view.magnify > 1) {
      c_.view.scroll /= c_.view.magnify;  // about what was in view
      c_.view.magnify = 1, c_.view.pan = 0;
      return;
    }
    if (hit.number && !hit.place) return;
    if (hit.place) {
      if (c_.view.painting && attention::isOfPairs(hit.cell.tensor)) return;
      drag_.kind = Drag::Kind::none;  // releasing the button must not select, which would end typing
      if (c_.layout.editing.empty()) typeCell(c_, hit.cell, {});
      else c_.view.keys = true;
      return;
    }
    Box heading;
    if (const auto column = headingAt(heading)) return typeColumn(*column, heading);
    // The boxes of slanted labels overlap; takes the one whose text line is nearest to the pointer.
    const BoardPlaces::Label* best = nullptr;
    float bestAway = 0;
    for (const BoardPlaces::Label& label : c_.lastPlaces.labels) {
      if (!label.box.contains(io_.MousePos.x, io_.MousePos.y)) continue;
      const float away = std::fabs((io_.MousePos.x - label.box.x) - (label.box.bottom() - io_.MousePos.y));
      if (!best || away < bestAway) best = &label, bestAway = away;
    }
    if (best) typeLabel(*best);
  }

  // A tooltip says what the matrix is whose title is pointed at, and its shape.
  [[gnu::noinline]] void pointAtTitle() {
    for (const MatrixPlace& m : c_.layout.matrices)
      if (const auto rect = c_.lastWidgetRects.find("title:" + std::string(attention::name(m.tensor)));
          rect != c_.lastWidgetRects.end())
        pointAt(c_, titleName(m.tensor), rect->second, true);
  }

  // The matrix in whose title the point is on the words that open a term.
  [[gnu::noinline]] const MatrixPlace* titleAt(ImVec2 at) const {
    for (const MatrixPlace& m : c_.layout.matrices)
      if (const auto rect = c_.lastWidgetRects.find(titleName(m.tensor));
          rect != c_.lastWidgetRects.end() && rect->second.contains(at.x, at.y))
        return &m;
    return nullptr;
  }

  [[gnu::noinline]] void clickTitle() {
    const MatrixPlace* m = titleAt(io_.MousePos);
    const bool isDouble = io_.MouseClickedLastCount[0] > 1;  // which names the column below
    if (m && !isDouble && m == titleAt(io_.MouseClickedPos[0]))
      openTerm(c_, termOf(m->tensor), c_.lastWidgetRects.find(titleName(m->tensor))->second);
  }

  // The column of Q or K, or of the matrices they are computed from, with a heading there: above it, or
  // beside it if it is drawn as a row. It may be unnamed.
  [[gnu::noinline]] std::optional<NamedColumn> headingAt(Box& heading) const {
    constexpr float kHigh = 20, kWide = 64;
    for (const TensorId id :
         {TensorId::q, TensorId::k, TensorId::w_q, TensorId::w_k, TensorId::b_q, TensorId::b_k}) {
      const MatrixPlace* m = c_.layout.find(id);
      for (int i = 0; m && i < (m->transposed ? m->rows : m->cols); ++i) {
        const Box cell = onScreen(c_.layout, c_.view, m->cellBox(0, i));
        heading = m->transposed ? Box{cell.x - 6 - kWide, cell.y, kWide, m->cell}
                                : Box{cell.x, cell.y - 2 - kHigh, m->cell, kHigh};
        if (heading.contains(io_.MousePos.x, io_.MousePos.y)) return namedColumn(c_.state, id, i);
      }
    }
    return {};
  }

  [[gnu::noinline]] void typeColumn(NamedColumn column, Box box) {
    if (c_.locked("column_names")) return;
    if (c_.view.glossary)
      c_.view.glossary->open.clear();  // the first click may have opened the term of the title
    TextTarget t;
    t.kind = TextTarget::Kind::column;
    t.cell = {TensorId::q, column.head, 0, column.col};
    t.name = base::message({c_.state.columnLayout ? "Name of row " : "Name of column ", column.col + 1});
    t.text = document::columnName(c_.state, column.head, column.col);
    const float width = std::max(box.width + 24, 84.0f);
    t.box = {std::clamp(box.midX() - width / 2, 4.0f, c_.layout.board.right() - width - 4), box.midY() - 13,
             width, 26};
    t.centered = true;
    c_.requests.text = t;
  }

  void typeLabel(const BoardPlaces::Label& label) {
    if (c_.locked("labels")) return;
    const Box& box = label.box;
    TextTarget t;
    t.kind = TextTarget::Kind::label;
    t.cell.row = label.token;
    t.ofKeys = c_.state.cross && label.ofKeys;
    if (t.ofKeys && c_.locked("key_labels")) return;
    t.name = base::message({t.ofKeys ? "Key token " : "Token ", label.token + 1});
    t.text = (t.ofKeys ? c_.state.keyLabels : c_.state.labels)[static_cast<std::size_t>(label.token)];
    const float width = std::max(box.width + 16, 64.0f);
    t.box = {std::clamp(box.midX() - width / 2, 4.0f, c_.layout.board.right() - width - 4), box.midY() - 13,
             width, 26};
    t.centered = true;
    c_.requests.text = t;
  }

  Context& c_;
  ImGuiIO& io_;
  Drag& drag_;
};

float barLength(const Context& c) {
  const float height = c.layout.board.height;
  return std::max(32.0f, height * height / c.layout.contentHeight);
}

/// The opacity of the scroll bar: idle, hovered, or held.
float holdScrollbar(Context& c, float limit) {
  const Box& b = c.layout.board;
  ImGui::SetCursorScreenPos({b.right() - 12, b.y});
  ImGui::InvisibleButton("##scrollbar", {12, std::max(b.height, 1.0f)});
  const bool active = ImGui::IsItemActive(), over = ImGui::IsItemHovered();
  if (active) c.view.scroll += ImGui::GetIO().MouseDelta.y * limit / (b.height - barLength(c));
  return active ? 0.8f : over ? 0.6f : 0.35f;
}

void drawScrollbar(Context& c, float limit, float alpha) {
  const Box& b = c.layout.board;
  const float length = barLength(c), y = b.y + (b.height - length) * c.view.scroll / limit;
  const Box bar{b.right() - 8, y + 2, 5, length - 4};
  ImGui::GetWindowDrawList()->AddRectFilled({bar.x, bar.y}, {bar.right(), bar.bottom()},
                                            withAlpha(c.palette.faint, alpha), 2.5f);
}

void settleScroll(Context& c) {
  ViewState& v = c.view;
  const float limit = maxScroll(c.layout);
  if (v.drag.kind != Drag::Kind::scroll && v.fling != 0) {
    v.scroll -= v.fling;
    v.fling *= 0.94f;
    if (std::fabs(v.fling) < 0.3f || v.scroll <= 0 || v.scroll >= limit) v.fling = 0;
  }
  v.scroll = std::clamp(v.scroll, 0.0f, limit);
  v.pan = std::clamp(v.pan, 0.0f, c.layout.panLimit);
}

}  // namespace

void boardPointer(Context& c) {
  const float limit = maxScroll(c.layout);
  const float alpha = limit > 0 ? holdScrollbar(c, limit) : 0;
  Pointer(c).handle();
  settleScroll(c);
  if (limit > 0) drawScrollbar(c, limit, alpha);
}

void typeCell(Context& c, CellRef cell, std::string_view first) {
  if (!c.editable(cell.tensor)) {
    c.requests.said = whyFixed(c, cell);
    c.view.typingUntil = ImGui::GetTime() + kRefusedTyping;
    return;
  }
  const MatrixPlace* m = c.layout.find(cell.tensor);
  if (!m) return;
  const Slice s = sliceOf(c.state, cell.tensor);
  const Box box = onScreen(c.layout, c.view, m->cellBox(cell.row - s.firstRow, cell.col - s.firstCol));
  const float value = c.tensor(cell.tensor)->at(cell.head, cell.row, cell.col);
  TextTarget t = numberField(attention::name(cell.tensor), cell.row, cell.col, box, value, first);
  t.cell = cell;
  c.view.selection = {true, cell.tensor, cell.row, cell.col, cell.row, cell.col};
  c.requests.text = t;
}

std::optional<CellRef> neighbour(const MatrixPlace& m, const Slice& s, CellRef cell, int by) {
  int down = cell.row - s.firstRow, across = cell.col - s.firstCol;
  if (m.transposed) std::swap(down, across);
  const int at = down * m.cols + across + by;
  if (at < 0 || at >= m.rows * m.cols) return {};
  down = at / m.cols, across = at % m.cols;
  if (m.transposed) std::swap(down, across);
  cell.row = down + s.firstRow, cell.col = across + s.firstCol;
  return cell;
}

Box onScreen(const Layout& layout, const ViewState& view, Box content) {
  content.x += layout.board.x;
  content.y += layout.board.y - view.scroll;
  return content;
}

float maxScroll(const Layout& layout) { return std::max(0.0f, layout.contentHeight - layout.board.height); }

}  // namespace views
