#include "app/mirror.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "app/names.h"
#include "base/number.h"
#include "views/board/board.h"
#include "views/widgets.h"

namespace app {
namespace {

using attention::Tensor;
using attention::TensorId;
using views::Mirror;

void box(std::string& out, std::string_view part, const views::Box& b) {
  if (!b.empty())
    Mirror::line(out, {"B", part, static_cast<int>(b.x), static_cast<int>(b.y), static_cast<int>(b.width),
                       static_cast<int>(b.height)});
}

void cell(std::string& out, const char* kind, attention::CellRef c) {
  Mirror::line(out, {kind, attention::name(c.tensor), c.head, c.row, c.col});
}

constexpr int kMostMade = 8192;  // keys of rows that are made together: 32 longer ones take 100 MB

/// Those of `count` rows or columns that a table has: all, or some around one.
attention::Span inTable(int count, int around, int most = Mirror::kMostInTable) {
  const int begin = std::clamp(around - most / 2, 0, std::max(0, count - most));
  return {begin, std::min(begin + most, count)};
}

/// The numbers of a part of a tensor, rows `stride` apart; those of one that is not stored are kept in
/// `made`.
struct Numbers {
  const float* first;
  int stride;
};
Numbers numbersOf(const Tensor& t, int head, attention::Span rows, attention::Span cols,
                  std::deque<std::vector<float>>& made) {
  if (t.isStored()) return {t.row(head, rows.begin) + cols.begin, t.cols()};
  std::vector<float>& out = made.emplace_back();
  t.expect(head, rows.begin, rows.size());
  for (int r = rows.begin; r < rows.end; ++r) {
    const float* const from =
        rows.size() == 1 ? t.row(head, r) + cols.begin : t.part(head, r, cols.begin, cols.size());
    out.insert(out.end(), from, from + cols.size());
  }
  return {out.data(), cols.size()};
}

void matrix(const views::Context& c, Screen& screen, std::string& out, const views::MatrixPlace& m) {
  const bool isMean = c.showsMean() && (m.tensor == TensorId::weights || m.tensor == TensorId::head_output);
  const Tensor* t = isMean ? &c.mean(m.tensor) : c.tensor(views::shownTensor(m.tensor));
  if (!t || t->empty() || c.lacks(m.tensor)) return;
  const views::Slice s = isMean ? views::Slice{} : views::sliceOf(c.state, m.tensor);
  const int rows = m.transposed ? m.cols : m.rows, cols = m.transposed ? m.rows : m.cols;
  const base::Message title = m.tensor == TensorId::weights
                                  ? base::Message(views::weightTitle(c.state))
                                  : base::Message(attention::symbol(m.tensor, c.spec.score));
  const float limit = attention::cutOffFrom(c.spec, c.inputs, views::shownTensor(m.tensor));
  const views::Selection& selected = c.view.selection;
  const bool isAround = selected.active && (selected.tensor == m.tensor || attention::isOfPairs(m.tensor));
  const bool isLong = !t->isStored() && c.trace.weights.cols() > kMostMade;
  const attention::Span downs = inTable(rows, isAround ? selected.row - s.firstRow : 0,
                                        isLong ? 1 : Mirror::kMostInTable),
                        acrosses = inTable(cols, isAround ? selected.col - s.firstCol : 0);
  const auto from = [](attention::Span span, int first) {
    return attention::Span{first + span.begin, first + span.end};
  };
  const Numbers numbers =
      numbersOf(*t, s.head, from(downs, s.firstRow), from(acrosses, s.firstCol), screen.mirrored);
  Mirror::line(out, {"M", attention::name(m.tensor), views::inWords(title),
                     reinterpret_cast<std::uintptr_t>(numbers.first), numbers.stride, downs.begin,
                     downs.size(), acrosses.begin, acrosses.size(), rows, cols, s.firstRow, s.firstCol,
                     s.head, c.editable(m.tensor) ? 1 : 0, static_cast<int>(attention::rowsOf(m.tensor)),
                     attention::isOfPairs(m.tensor) ? 1 : 0, c.state.columnLayout && m.transposed ? 1 : 0,
                     std::isfinite(limit) ? base::shortest(limit) : std::string()});
  for (int i = 0; i < cols && !c.state.columnNames.empty(); ++i) {
    const auto named = views::namedColumn(c.state, m.tensor, i);
    if (!named) return;
    if (const std::string_view name = document::columnName(c.state, named->head, named->col); !name.empty())
      Mirror::line(out, {"H", i, name});
  }
}

}  // namespace

std::string mirror(Screen& screen, const std::string& notes) {
  std::string out = notes;
  const views::Layout layout = screen.makeLayout();
  const views::Fonts fonts;
  views::Requests asked;
  const views::Context c = screen.context(layout, screen.palette(), fonts, asked);
  const bool onPage = screen.onPage();
  Mirror::line(out, {"V", onPage ? 1 : 0, c.state.decimals, static_cast<int>(screen.zoom * 100)});
  box(out, "header", layout.header);
  box(out, "board", layout.board);
  for (const auto& [name, place] : screen.widgetRects) {
    if (name == "arcs" || name == "inspector" || name == "brief") box(out, name, place);
  }
  if (!onPage) {
    screen.mirrored.clear();
    for (const views::MatrixPlace& m : layout.matrices) matrix(c, screen, out, m);
    if (screen.view.selection.active)
      cell(out, "S",
           {screen.view.selection.tensor, views::sliceOf(c.state, screen.view.selection.tensor).head,
            screen.view.selection.row, screen.view.selection.col});
    cell(out, "E", c.chosen());
  }
  std::string notice;
  for (const views::Notice::Piece& piece : screen.view.notice.pieces) notice += views::inWords(piece.words);
  Mirror::line(out, {"N", notice});
  return out;
}

base::Result<void> select(Places& places, Focus& focus, Screen& screen, const NamedCell& cell) {
  const auto& [tensor, head, row, col] = cell;
  if (const auto rect = places.locate(tensor, head, row, col); !rect) return rect.error();
  const auto id = attention::tensorNamed(tensor);
  if (!id) return unknownTensor(tensor);
  screen.view.selection = {true, *id, row, col, row, col};
  screen.dropText();
  focus.explainSelection();
  focus.emitSelection();
  screen.wake();
  return {};
}

}  // namespace app
