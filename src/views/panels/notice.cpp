// The message at the bottom: what was done, what was refused, and where to go instead.
#include <algorithm>
#include <cmath>

#include "views/board/board.h"
#include "views/guide/guide_page.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr float kPadding = 16, kLine = 20, kEdge = 11;

/// Arranges pieces in lines of at most `most`, and calls `each` with every piece and its position. Text
/// wraps, links do not.
template <class Each>
ImVec2 flow(const Context& c, float most, Each each) {
  float x = 0, y = 0, widest = 0;
  for (const Notice::Piece& piece : c.view.notice.pieces) {
    const std::string all = inWords(piece.words);
    std::string_view left = all;
    const AsIs asIs;  // the lines of a message are not messages themselves
    while (!left.empty()) {
      std::string_view part = left;
      // Subscripts are used only in names of tensors; other text, such as what was typed, is drawn as it is.
      const auto width = [&] { return textWidth(c.fonts.text, part); };
      while (x + width() > most && !piece.cell) {
        const std::size_t space = part.substr(0, part.size() - 1).rfind(' ');
        if (space == std::string_view::npos) break;
        part = part.substr(0, space + 1);
      }
      if (x > 0 && x + width() > most + 4) {  // a trailing space may extend beyond the line
        x = 0, y += kLine;
        continue;
      }
      if (x + width() > most && !piece.cell) part = lineOf(c.fonts.text, part, most - x);
      each(piece, part, x, y, width());
      x += width(), widest = std::max(widest, x);
      left.remove_prefix(part.size());
      if (!left.empty()) x = 0, y += kLine;
    }
  }
  return {std::min(widest, most), y + kLine};
}

/// Of all inputs that the cell is computed from, those that can be edited here, each with the cell to go to.
std::vector<CellRef> changeable(const Context& c, CellRef cell) {
  cell.tensor = shownTensor(cell.tensor);
  std::vector<attention::Region> sources = attention::sources(c.spec, c.inputs, cell);
  if (sources.empty() &&
      attention::isOfPairs(cell.tensor)) {  // a masked cell has no sources, but its score has
    cell.tensor = TensorId::raw;
    sources = attention::sources(c.spec, c.inputs, cell);
  }
  std::vector<CellRef> found;
  for (const attention::Region& r : sources) {
    const bool isKnown =
        std::any_of(found.begin(), found.end(), [&](const CellRef& f) { return f.tensor == r.tensor; });
    if (isKnown || !c.editable(r.tensor) || !c.layout.find(r.tensor)) continue;
    const bool ofItsKey =
        attention::isOfPairs(cell.tensor) && attention::rowsOf(r.tensor) == attention::Rows::keys;
    found.push_back({r.tensor, r.head, ofItsKey ? cell.col : r.row, r.col});
  }
  return found;
}

}  // namespace

Notice whyFixed(const Context& c, CellRef cell) {
  const std::string name = attention::symbol(cell.tensor, c.spec.score);
  if (document::isEditable(c.state, cell.tensor))
    return {{{whyLocked(c, attention::name(cell.tensor), name), {}}}, false};
  const std::vector<CellRef> inputs = changeable(c, cell);
  if (inputs.empty())
    return {
        {{base::message({name, " is computed, and nothing that it is computed from can be changed here."}),
          {}}},
        false};
  Notice notice{{{base::message({name, " is computed: change "}), {}}}, false};
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    if (i > 0) notice.pieces.push_back({i + 1 < inputs.size() ? ", " : " or ", {}});
    notice.pieces.push_back({attention::symbol(inputs[i].tensor, c.spec.score), inputs[i]});
  }
  notice.pieces.push_back({".", {}});
  return notice;
}

void goTo(Context& c, CellRef cell) {
  const MatrixPlace* m = c.layout.find(cell.tensor);
  if (!m) return;
  c.view.options.on = c.view.drawer = false;
  c.view.selection = {true, cell.tensor, cell.row, cell.col, cell.row, cell.col};
  c.requests.moved = true;
  bringIntoView(c, *m);
}

void bringIntoView(Context& c, const MatrixPlace& place) {
  constexpr float kAcross = 100, kDown = 40;
  const Selection& now = c.view.selection;
  const Slice s = sliceOf(c.state, now.tensor);
  const Box cell = place.cellBox(now.row - s.firstRow, now.col - s.firstCol), &board = c.layout.board;
  const auto by = [](float from, float to, float room, float air) {
    return from < air ? from - air : std::max(to + air - room, 0.0f);
  };
  const float top = cell.y - c.view.scroll;
  c.view.pan =
      std::clamp(c.view.pan + by(cell.x, cell.right(), board.width, kAcross), 0.0f, c.layout.panLimit);
  c.view.scroll =
      std::clamp(c.view.scroll + by(top, top + cell.height, board.height, kDown), 0.0f, maxScroll(c.layout));
}

namespace {

struct NoticePlace {
  Box box;
  float most;  ///< the width of its lines
};

/// At the lower edge of the board. Arithmetic that is there is not covered, since what was done may be about
/// it: the card beside it is, or what is above it.
NoticePlace noticePlace(const Context& c) {
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const auto place = [&c](float most, float midX, float bottom) {
    const ImVec2 extent = flow(c, most, [](auto&&...) {});
    const float width = std::ceil(extent.x) + 2 * kPadding, height = extent.y + 2 * kEdge - 4;
    return NoticePlace{{std::floor(midX - width / 2), std::floor(bottom - height), width, height}, most};
  };
  const Box& board = c.layout.board;
  NoticePlace out = place(std::min(size.x - 48, 720.0f) - 2 * kPadding, size.x / 2, board.bottom() - 20);
  const Box said = onScreen(c.layout, c.view, c.layout.inspector),
            arcs = onScreen(c.layout, c.view, c.layout.arcs);
  const bool isOver = c.open() == document::View::layer && !c.layout.inspector.empty() &&
                      said.y > board.y + board.height / 3 && said.y < out.box.bottom() &&
                      said.bottom() > out.box.y && said.x < out.box.right() && said.right() > out.box.x;
  constexpr float kAway = 8, kLeast = 280;
  if (!isOver) return out;
  if (!c.layout.arcs.empty() && arcs.right() <= said.x && arcs.width >= kLeast)
    return place(arcs.width - 2 * (kPadding + kAway), arcs.midX(),
                 std::min(arcs.bottom(), board.bottom()) - kAway);
  if (said.y - kAway - out.box.height > board.y) out.box.y = std::floor(said.y - kAway - out.box.height);
  return out;
}

}  // namespace

void notice(Context& c) {
  if (c.view.notice.empty()) return;
  const auto [box, most] = noticePlace(c);
  // A window of its own, so that a press on it is not also a press on the board below.
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::Begin("##notice", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoFocusOnAppearing |
                   ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar();
  ImDrawList* list = sharp(ImGui::GetForegroundDrawList());
  const bool isError = c.view.notice.isError;
  list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, isError ? c.palette.error : c.palette.ink,
                      8);
  const ImU32 ink = isError ? textOn(toColor(c.palette.error)) : c.palette.inkText;
  std::optional<CellRef> to;
  flow(c, most, [&](const Notice::Piece& piece, std::string_view words, float x, float y, float wide) {
    const Box at{box.x + kPadding + x, box.y + kEdge - 2 + y, wide, kLine};
    if (!piece.cell) return textMiddle(list, c.fonts.text, at.x, at.midY(), ink, words);
    textMiddle(list, c.fonts.text, at.x, at.midY(), ink, words);
    list->AddLine({at.x, at.bottom() - 2}, {at.right(), at.bottom() - 2}, ink, 1);
    const std::string place = "notice:" + std::string(attention::name(piece.cell->tensor));
    // Large enough for a finger, as far as neighbours leave room.
    if (Widgets(c).area(place, {at.x - 5, at.y - 6, at.width + 10, at.height + 12})) to = piece.cell;
  });
  ImGui::End();
  c.widgetRects["notice"] = box;
  if (to) c.view.notice = {}, goTo(c, *to);
}

}  // namespace views
