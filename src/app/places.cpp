#include "app/places.h"

#include <algorithm>
#include <cmath>

#include "app/names.h"
#include "base/sentence.h"
#include "views/board/board.h"

namespace app {

using attention::TensorId;
using base::Error;
using base::Result;
using views::Box;

Result<Rect> Places::locate(std::string_view name, int head, int row, int col) {
  if (const auto id = attention::tensorNamed(name)) return cell(*id, head, row, col);
  if (const auto id = document::derivedNamed(name)) return derived(*id, head, row, col);
  const views::WidgetRects& rects = screen_.drawnRects();
  const auto at = rects.find(name);
  const auto closed = at == rects.end() ? opened(name) : std::nullopt;
  if (closed) return *closed;
  if (at == rects.end()) return unknown("locate", name, "a tensor, or a control that is on the screen");
  return control(name, at->second);
}

Result<Rect> Places::cell(TensorId id, int head, int row, int col) {
  const std::string_view field = attention::name(id);
  const auto tensor = tensorWithCell(session_, field, head, row, col);
  if (!tensor) return tensor.error();
  if (screen_.onPage())
    return base::refuse(Error::Kind::range, field,
                        {"the board is not on the screen; set view to \"layer\" first."});
  const attention::CellRef shown = views::shownAs(session_.state(), {id, head, row, col});
  const int shownHead = views::headShowing(session_.state(), shown.tensor, shown.head, shown.row, shown.col);
  if (shownHead != session_.state().focusHead) {
    session_.apply(document::SetOption{document::OptionId::focus_head, static_cast<double>(shownHead)}, 0,
                   Source::script);
  }
  const views::Layout layout = screen_.makeLayout();
  const views::MatrixPlace* m = layout.find(shown.tensor);
  if (!m) return base::refuse(Error::Kind::range, field, {"it is not shown on the board."});
  const views::Slice slice = views::sliceOf(session_.state(), shown.tensor);
  const Box content = m->cellBox(shown.row - slice.firstRow, shown.col - slice.firstCol);
  reveal(layout, content);
  const Box box = views::onScreen(layout, screen_.view, content);
  return Rect{box.x, box.y, box.width, box.height};
}

Result<Rect> Places::derived(TensorId id, int head, int row, int col) {
  const std::string field(attention::name(id));
  const auto tensor = tensorWithCell(session_, field, head, row, col);
  if (!tensor) return tensor.error();
  const bool isToken = id == TensorId::token_weights, isBar = isToken || id == TensorId::segment_weights;
  std::string place = document::parameterOf(id) ? "slider:" + field : field;
  if (isBar) place = base::joined({isToken ? "token:" : "segment:", row});
  auto at = screen_.widgetRects.find(place);
  // Of weights that are also in an equation that is in view, while their bars are not: the cell there.
  const Box& seen = screen_.view.experiments.page.box;
  const auto isSeen = [&](const Box& box) { return box.y >= seen.y && box.bottom() <= seen.bottom(); };
  const auto cells = isBar ? screen_.widgetRects.find(field) : screen_.widgetRects.end();
  const bool isInEquation =
      cells != screen_.widgetRects.end() &&
      (at == screen_.widgetRects.end() || (!isSeen(at->second) && isSeen(cells->second)));
  if (isInEquation) at = cells;
  if (at == screen_.widgetRects.end()) {
    return base::refuse(Error::Kind::range, field,
                        {"it is not on the screen; open it in the experiments first."});
  }
  const Box& box = at->second;
  views::ExperimentsView& page = screen_.view.experiments;
  views::ExperimentsView::Drawn drawn{{0, (*tensor)->rows()}, {0, (*tensor)->cols()}};
  if (isBar && !isInEquation) drawn.rows = {row, row + 1};
  else if (const auto part = page.drawn.find(at->first); part != page.drawn.end()) drawn = part->second;
  // Of many tokens others may be shown: then those around this one will be.
  const auto show = [&](attention::Span& span, int index) {
    if (span.begin <= index && index < span.end) return;
    const int token = id == TensorId::segment_weights
                          ? session_.derived().segments().starts[static_cast<std::size_t>(index)]
                          : index;
    page.firstToken = std::max(0, token - span.size() / 2);
    screen_.wake();
    const int begin = index - span.size() / 2;
    span = {begin, begin + span.size()};
  };
  show(drawn.rows, row), show(drawn.cols, col);
  const float width = box.width / static_cast<float>(drawn.cols.size()),
              height = box.height / static_cast<float>(drawn.rows.size());
  return revealed(page.page, {box.x + width * static_cast<float>(col - drawn.cols.begin),
                              box.y + height * static_cast<float>(row - drawn.rows.begin), width, height});
}

[[gnu::noinline]] std::optional<Rect> Places::opened(std::string_view name) {
  const std::string_view section = views::sectionOf(name);
  const auto row = screen_.drawnRects().find(section);
  if (section.empty() || row == screen_.drawnRects().end() || screen_.view.sections.open == section)
    return {};
  screen_.view.sections.open = section;
  screen_.wake();
  return control(section, row->second);
}

// The control may have to be scrolled into view, in the side panel or in a menu.
Rect Places::control(std::string_view name, const Box& box) {
  views::ViewState& view = screen_.view;
  const views::Layout layout = screen_.makeLayout();
  const Box &side = layout.side, &menu = view.menu.page.box;
  if (view.menu.shown && box.x >= menu.x && box.right() <= menu.right() &&
      !layout.header.contains(box.x, box.y)) {
    return revealed(view.menu.page, box);
  }
  // Everything in a bar is on its middle line, even if what scrolls has been scrolled under it.
  const auto isIn = [&](const Box& bar) { return !bar.empty() && std::fabs(box.midY() - bar.midY()) <= 1; };
  const bool inBar =
      isIn(layout.toolbar) || isIn(layout.guide) || (!layout.toolbar.empty() && isIn(layout.header));
  const bool inPanel =
      box.x >= side.x && box.right() <= side.right() && (!layout.sidePanelIsDrawer || view.drawer) && !inBar;
  // The sheet of a lesson on a phone scrolls, but not its head and foot.
  static constexpr std::string_view kFixed[] = {"guide-close", "guide-handle", "guide-back", "guide-next"};
  const bool inSheet = view.guide && view.guide->pulled && !layout.toolbar.empty() && !layout.guide.empty() &&
                       name.starts_with("guide") && std::ranges::find(kFixed, name) == std::end(kFixed);
  if (inPanel || inSheet) return revealed(view.side, box);
  const bool isFixed =
      inBar || isIn(layout.header) || name.starts_with("guide") ||
      std::ranges::find(views::kTrainBarControls, name) != std::end(views::kTrainBarControls);
  const bool inPage = screen_.onPage() && !isFixed;
  return inPage ? revealed(view.experiments.page, box) : Rect{box.x, box.y, box.width, box.height};
}

Rect Places::revealed(views::Scroller& panel, const Box& box) {
  const float by = panel.reveal(box);
  if (by != 0) screen_.wake();
  return {box.x, box.y - by, box.width, box.height};
}

void Places::reveal(const views::Layout& layout, const Box& content) {
  float& scroll = screen_.view.scroll;
  if (content.y >= scroll && content.bottom() <= scroll + layout.board.height) return;
  const float top = content.y - 40, bottom = content.bottom() + 40, before = scroll;
  if (top < scroll) scroll = top;
  if (bottom > scroll + layout.board.height) scroll = bottom - layout.board.height;
  scroll = std::clamp(scroll, 0.0f, views::maxScroll(layout));
  if (scroll != before) screen_.wake();
}

}  // namespace app
