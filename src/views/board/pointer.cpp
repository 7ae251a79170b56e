// What a pointer does to the matrices on the board.
#include <algorithm>
#include <cmath>

#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Tensor;
using document::SetCells;

constexpr float kClickSlop = 3;
constexpr double kRefusedTyping = 1;  // seconds for which letters are taken for the text that found no field
constexpr float kWheel = 100;      // pixels for one notch

// The hit of a pointer: a cell of a matrix on the board.
struct Hit {
  const MatrixPlace* place = nullptr;
  CellRef cell;
};

Hit hitAt(const Context& c, float x, float y) {
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
  return {};
}

class Pointer {
 public:
  explicit Pointer(Context& context) : c_(context), io_(ImGui::GetIO()), drag_(context.view.drag) {}

  void handle() {
    const Box& b = c_.layout.board;
    ImGui::SetCursorScreenPos({b.x, b.y});
    ImGui::InvisibleButton("##board", {std::max(b.width, 1.0f), std::max(b.height, 1.0f)});
    const bool over = ImGui::IsItemHovered(), active = ImGui::IsItemActive();
    const Hit hit = over || active ? hitAt(c_, io_.MousePos.x, io_.MousePos.y) : Hit{};
    if (c_.view.rest && std::hypot(io_.MousePos.x - c_.view.rest->x, io_.MousePos.y - c_.view.rest->y) >= kClickSlop) c_.view.rest.reset();
    hover(over && !active && !c_.view.rest, hit);
    if (ImGui::IsItemActivated()) press(hit);
    else if (active) move(hit);
    if (ImGui::IsItemDeactivated()) release();
    if (over && ImGui::IsMouseDoubleClicked(ImGuiMouseButton_Left)) doubleClick(hit);
    if (over && io_.MouseWheel != 0) c_.view.scroll -= io_.MouseWheel * kWheel, c_.view.fling = 0;
  }

 private:
  void hover(bool over, const Hit& hit) {
    c_.view.hover.reset();
    if (!over || c_.touch) return;
    if (!hit.place) return hoverArcs();
    c_.view.hover = hit.cell;
    if (c_.view.painting && isPair(hit.cell.tensor)) ImGui::SetMouseCursor(ImGuiMouseCursor_Hand);
    else if (c_.editable(hit.cell.tensor)) ImGui::SetMouseCursor(ImGuiMouseCursor_ResizeEW);
  }

  // A token of the arcs stands for its strongest link.
  void hoverArcs() {
    for (int t = 0; t < c_.state.tokens; ++t) {
      const auto at = c_.lastPlaces.find("query:" + std::to_string(t));
      if (at == c_.lastPlaces.end() || !at->second.contains(io_.MousePos.x, io_.MousePos.y)) continue;
      const float* row = c_.trace.weights.row(c_.state.focusHead, t);
      const auto best = std::max_element(row, row + c_.state.keyTokens) - row;
      c_.view.hover = CellRef{TensorId::weights, c_.state.focusHead, t, static_cast<int>(best)};
    }
  }

  void press(const Hit& hit) {
    drag_ = {};
    c_.view.options.on = false;
    drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
    c_.view.fling = 0;
    if (!hit.place) {
      drag_.kind = Drag::Kind::scroll;
      return;
    }
    drag_.cell = hit.cell;
    drag_.gesture = c_.view.nextGesture++;
    if (c_.view.painting && isPair(hit.cell.tensor) && !c_.locked("mask")) {
      drag_.kind = Drag::Kind::paint;
      drag_.paint = c_.state.painted.isBlocked(hit.cell.row, hit.cell.col) ? 0 : 1;
      paint(hit.cell);
      return;
    }
    Selection& s = c_.view.selection;
    const bool extend = io_.KeyShift && s.active && s.tensor == hit.cell.tensor;
    const bool inside = s.active && s.tensor == hit.cell.tensor && s.contains(hit.cell.row, hit.cell.col);
    // Alt is coarse dragging of a selected range, so pressing inside the range keeps it.
    if (extend) s.row = hit.cell.row, s.col = hit.cell.col;
    else if (!inside) s = {true, hit.cell.tensor, hit.cell.row, hit.cell.col, hit.cell.row, hit.cell.col};
    c_.wishes.moved = true;
    drag_.kind = io_.KeyCtrl || io_.KeySuper ? Drag::Kind::select : Drag::Kind::pending;
  }

  void move(const Hit& hit) {
    const float dx = io_.MousePos.x - drag_.lastX, dy = io_.MousePos.y - drag_.lastY;
    switch (drag_.kind) {
      case Drag::Kind::pending:
        if (std::hypot(dx, dy) < kClickSlop) return;
        begin();
        move(hit);  // what was moved to get here counts
        return;
      case Drag::Kind::value:
        drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
        change(dx - dy);
        return;
      case Drag::Kind::select:
        if (hit.place && hit.cell.tensor == c_.view.selection.tensor) {
          c_.wishes.moved |= c_.view.selection.row != hit.cell.row || c_.view.selection.col != hit.cell.col;
          c_.view.selection.row = hit.cell.row, c_.view.selection.col = hit.cell.col;
        }
        return;
      case Drag::Kind::paint:
        if (hit.place && isPair(hit.cell.tensor)) paint(hit.cell);
        return;
      case Drag::Kind::scroll:
        drag_.lastX = io_.MousePos.x, drag_.lastY = io_.MousePos.y;
        c_.view.scroll -= dy;
        if (c_.touch) c_.view.fling = dy;
        return;
      case Drag::Kind::none: return;
    }
  }

  // The press turned into a drag: of values where the cell can be changed, else of a range.
  void begin() {
    if (!c_.editable(drag_.cell.tensor)) {
      drag_.kind = Drag::Kind::select, drag_.isFixed = true;
      return;
    }
    drag_.kind = Drag::Kind::value;
    drag_.before.clear();
    const Selection& s = c_.view.selection;
    const Tensor& t = *c_.tensor(s.tensor);
    for (int r = 0; r < s.rows(); ++r) {
      for (int col = 0; col < s.cols(); ++col) drag_.before.push_back(t.at(drag_.cell.head, s.top() + r, s.left() + col));
    }
  }

  void change(float pixels) {
    const double step = perPixel();
    drag_.travelled += static_cast<double>(pixels) * step;
    const double by = std::round(drag_.travelled / step) * step;
    std::vector<float> values;
    for (const float before : drag_.before) values.push_back(moved(before, by));
    const Selection& s = c_.view.selection;
    c_.wishes.edit(SetCells{s.tensor, drag_.cell.head, s.top(), s.left(), s.rows(), s.cols(), std::move(values)}, drag_.gesture);
  }

  void paint(CellRef cell) {
    if (c_.state.painted.isBlocked(cell.row, cell.col) == (drag_.paint != 0)) return;
    c_.wishes.edit(document::PaintCells{cell.row, cell.col, 1, 1, {drag_.paint}}, drag_.gesture);
  }

  void release() {
    // A click inside a range that was not dragged selects the one cell.
    if (drag_.kind == Drag::Kind::pending && !io_.KeyShift) {
      c_.view.selection = {true, drag_.cell.tensor, drag_.cell.row, drag_.cell.col, drag_.cell.row, drag_.cell.col};
      c_.wishes.moved = true;
    }
    if (drag_.kind == Drag::Kind::value || drag_.kind == Drag::Kind::paint) c_.wishes.endGesture = true;
    if (drag_.kind == Drag::Kind::select && drag_.isFixed) c_.wishes.said = whyFixed(c_, drag_.cell);
    if (drag_.kind != Drag::Kind::none && drag_.kind != Drag::Kind::scroll) c_.view.rest = io_.MousePos;
    drag_.kind = Drag::Kind::none;
  }

  void doubleClick(const Hit& hit) {
    if (hit.place) {
      if (c_.view.painting && isPair(hit.cell.tensor)) return;
      drag_.kind = Drag::Kind::none;  // letting go of the button must not select, which would end the typing
      typeCell(c_, hit.cell, {});
      return;
    }
    // Of slanted labels, whose boxes overlap, the one whose line the pointer is on.
    const std::string* best = nullptr;
    float bestAway = 0;
    for (const auto& [name, box] : c_.lastPlaces) {
      if (name.rfind(kLabelPrefix, 0) != 0 || !box.contains(io_.MousePos.x, io_.MousePos.y)) continue;
      const float away = std::fabs((io_.MousePos.x - box.x) - (box.bottom() - io_.MousePos.y));
      if (!best || away < bestAway) best = &name, bestAway = away;
    }
    if (best) typeLabel(*best, c_.lastPlaces.find(*best)->second);
  }

  void typeLabel(const std::string& place, Box box) {
    if (c_.locked("labels")) return;
    const int token = std::stoi(place.substr(place.rfind(':') + 1));
    TextTarget t;
    t.kind = TextTarget::Kind::label;
    t.cell.row = token;
    t.ofKeys = c_.state.cross && place.rfind("label:left", 0) != 0;
    if (t.ofKeys && c_.locked("key_labels")) return;
    t.name = (t.ofKeys ? "Key token " : "Token ") + std::to_string(token + 1);
    t.text = (t.ofKeys ? c_.state.keyLabels : c_.state.labels)[static_cast<std::size_t>(token)];
    const float width = std::max(box.width + 16, 64.0f);
    t.box = {std::clamp(box.midX() - width / 2, 4.0f, c_.layout.board.right() - width - 4), box.midY() - 13, width, 26};
    t.centered = true;
    c_.wishes.text = t;
  }

  Context& c_;
  ImGuiIO& io_;
  Drag& drag_;
};

void scrollbar(Context& c) {
  const float limit = maxScroll(c.layout);
  if (limit <= 0) return;
  const Box& b = c.layout.board;
  const float length = std::max(32.0f, b.height * b.height / c.layout.contentHeight);
  const float y = b.y + (b.height - length) * c.view.scroll / limit;
  const Box bar{b.right() - 8, y + 2, 5, length - 4};
  ImGui::SetCursorScreenPos({bar.x - 4, b.y});
  ImGui::InvisibleButton("##scrollbar", {12, std::max(b.height, 1.0f)});
  const bool active = ImGui::IsItemActive(), over = ImGui::IsItemHovered();
  if (active) c.view.scroll += ImGui::GetIO().MouseDelta.y * limit / (b.height - length);
  ImGui::GetWindowDrawList()->AddRectFilled({bar.x, bar.y}, {bar.right(), bar.bottom()},
                                            withAlpha(c.palette.faint, active ? 0.8f : over ? 0.6f : 0.35f), 2.5f);
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
}

}  // namespace

void boardPointer(Context& c) {
  scrollbar(c);
  Pointer(c).handle();
  settleScroll(c);
}

void board(Context& c) {
  boardPointer(c);
  drawMatrices(c);
}

void typeCell(Context& c, CellRef cell, std::string_view first) {
  if (!c.editable(cell.tensor)) {
    c.wishes.said = whyFixed(c, cell);
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
  c.wishes.text = t;
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

Hold hold(const document::State& state, const Layout& layout, const ViewState& view, float x, float y) {
  if (!layout.board.contains(x, y)) return Hold::control;
  for (const MatrixPlace& m : layout.matrices) {
    if (!onScreen(layout, view, m.box).contains(x, y)) continue;
    if (document::isEditable(state, m.tensor) || (view.painting && isPair(m.tensor))) return Hold::edit;
  }
  return maxScroll(layout) > 0 ? Hold::scroll : Hold::nothing;
}

Box onScreen(const Layout& layout, const ViewState& view, Box content) {
  content.x += layout.board.x;
  content.y += layout.board.y - view.scroll;
  return content;
}

float maxScroll(const Layout& layout) { return std::max(0.0f, layout.contentHeight - layout.board.height); }

}  // namespace views
