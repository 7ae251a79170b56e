#include "app/screen.h"

#include <imgui.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "attention/kernels/kernels.h"
#include "base/hash.h"
#include "base/sentence.h"
#include "document/json.h"
#include "document/pin.h"
#include "document/text.h"
#include "views/board/board.h"
#include "views/palette.h"
#include "views/widgets.h"

namespace app {
namespace {

using attention::Tensor;
using attention::TensorId;

}  // namespace

bool Screen::dark() const {
  if (host.prints()) return false;
  if (forced) return forced->dark;
  const document::Theme theme = session.state().theme;
  return theme == document::Theme::automatic ? host.prefersDark() : theme == document::Theme::dark;
}

const views::Palette& Screen::mapped(const views::Palette& palette) const {
  if (!mapped_) mapped_ = std::make_unique<views::Palette>();  // its address must not change
  *mapped_ = views::mappedPalette(palette, session.state().colors);
  return *mapped_;
}

views::LayoutInput Screen::layoutInput(float width, float height) const {
  const document::State& s = session.state();
  views::LayoutInput in;
  in.width = width, in.height = height;
  in.present = s.present;
  in.mode = s.mode, in.tokens = s.tokens, in.keyTokens = s.keyTokens, in.heads = s.heads,
  in.headDim = s.headDim, in.queryDim = s.queryDim;
  in.biases = s.projectionBias, in.addsPositions = s.position == attention::Position::sinusoidal,
  in.separateValues = s.separateValues, in.outputDim = document::outputWidth(s),
  in.outputProjection = s.outputProjection;
  in.kvHeads = s.kvHeads, in.valueDim = s.valueDim, in.modelDim = s.modelDim,
  in.wholeProjections = s.wholeProjections;
  in.thumbnails = s.heads > 1 ? s.heads + 1 : 1;
  for (int i = 0; i < attention::kTensorCount; ++i) {
    const TensorId id = attention::kLayerTensors[i];
    if (attention::tensorRow(id).place != attention::BoardPlace::below) continue;
    if (const Tensor* t = session.shapeOf(id)) in.extras.push_back({id, t->rows(), t->cols()});
  }
  in.decimals = s.decimals;
  in.labelWidth = labelWidth_, in.nameWidth = nameWidth_;
  in.columns = s.columnLayout;
  const auto has = [this](std::string_view part) {
    return !views::listed(embed.hide, part) && (embed.show.empty() || views::listed(embed.show, part));
  };
  in.header = has("header"), in.side = has("panel");
  in.guideColumn = view.guideTab && has("guide"), in.guideBar = view.guideOpen && has("guide");
  if (const views::GuideView* guide = in.guideBar ? view.guide.get() : nullptr;
      guide && guide->now() && !guide->list) {
    in.goal = true, in.stripHeight = guide->stripHeight;
    if (!onPage()) in.asked = guide->matrices, in.askedLater = guide->later;
  }
  in.guidePulled = view.guide && view.guide->pulled, in.drawer = view.drawer;
  in.sideClosed = view.sideClosed && !onPage(), in.hasBar = !onPage();
  in.headsPanel = has("heads"), in.inspector = has("inspector");
  in.cards = 0, in.card = s.card;
  for (int i = 0; i < views::kCardCount; ++i)
    in.cards |= static_cast<unsigned>(has(views::kCardNames[i])) << i;
  // If the host page hides the arcs and no other view is open, the whole card is hidden; if it shows only the
  // plane, that is opened.
  const bool isThere = (in.cards >> static_cast<int>(s.card) & 1) != 0;
  in.arcs = isThere || (in.cards != 0 && !embed.show.empty());
  if (!isThere && in.arcs) in.card = static_cast<document::Card>(std::countr_zero(in.cards));
  in.stepper = s.stepper > 0 && has("stepper") && !onPage();
  in.isPart = !embed.show.empty(), in.natural = embed.fit && !s.present;
  for (int i = 0; in.isPart && i < attention::kTensorCount; ++i) {
    const TensorId id = attention::kLayerTensors[i];
    const bool isResult =
        id == TensorId::head_output && s.mode == document::Mode::qkv && views::listed(embed.show, "output");
    if (isResult || views::listed(embed.show, attention::name(id))) in.only.push_back(id);
  }
  return in;
}

views::Layout Screen::makeLayout() const {
  views::LayoutInput in = layoutInput(size.x, size.y);
  const views::Selection& chosen = view.selection;
  const bool onBoard = !onPage() && !in.present;
  if (onBoard) in.magnify = view.magnify, in.pan = view.pan;
  in.editing = onBoard && host.isTouch() && !view.drawer && !in.guidePulled && !view.painting &&
               chosen.active && chosen.rows() * chosen.cols() == 1 && isChangeable(chosen.tensor);
  in.keys = view.keys;
  return views::layout(in);
}

bool Screen::magnify(const views::Magnification& by, float dx, float dy) {
  /// The matrices of a board grow to this many times their size, and at least until cells have this pitch.
  constexpr float kMost = 3, kLargestCell = 36;
  const auto& [times, x, y] = by;
  const views::Layout before = makeLayout();
  if (before.matrices.empty() || !before.board.contains(x, y)) return false;
  // What was there stays there: a place in, or beside, the nearest matrix.
  const float left = x - dx - before.board.x, top = y - dy - before.board.y + view.scroll;
  const auto away = [&](const views::Box& b) {
    return std::max({b.x - left, left - b.right(), 0.0f}) + std::max({b.y - top, top - b.bottom(), 0.0f});
  };
  const auto near = std::min_element(before.matrices.begin(), before.matrices.end(),
                                     [&](const auto& a, const auto& b) { return away(a.box) < away(b.box); });
  const views::Box& from = near->box;
  view.magnify =
      std::clamp(view.magnify * times, 1.0f, std::max(kMost, view.magnify * kLargestCell / near->cell));
  const views::Layout after = makeLayout();
  const views::Box& to = after.find(near->tensor)->box;
  view.pan = std::clamp(view.pan + to.x + (left - from.x) * to.width / from.width - (x - after.board.x), 0.0f,
                        after.panLimit);
  view.scroll = std::clamp(to.y + (top - from.y) * to.height / from.height - (y - after.board.y), 0.0f,
                           views::maxScroll(after));
  wake();
  return true;
}

float Screen::zoomFor(float width, float height) const {
  const document::State& s = session.state();
  // The smallest size that the layout supports; a board that fits its content has the height that it needs.
  const bool isPart = !embed.show.empty();
  const float most = std::max(
      1.0f, std::min(width / (isPart ? 200 : 320), embed.fit ? width : height / (isPart ? 120 : 320)));
  if (s.zoom > 0) return std::min(s.zoom, most);
  constexpr float kLargest = 2.5f, kStep = 0.25f;
  if (!s.present && (embed.fit || textScale != 1)) return std::min(textScale, most);
  if (!s.present)
    return std::clamp(std::floor(std::min(width / 1440, height / 900) / kStep) * kStep, 1.0f, kLargest);
  // Digits grow with the zoom, if cells can hold them; labels and arithmetic do too.
  constexpr float kHoldsDigits = 46, kShowsNumbers = 28;
  float best = 1, largest = 0;
  for (float by = 1; by <= std::min(kLargest, most); by += kStep / 4) {
    const views::Layout layout = layoutAt(width / by, height / by);
    const float cell = layout.matrices.empty() ? kHoldsDigits : layout.matrices.front().cell,
                legible = std::min(cell, kHoldsDigits) * by * std::pow(by, 0.25f);
    if (by > 1 && cell < kShowsNumbers && largest >= kShowsNumbers) break;
    if (layout.contentHeight <= layout.board.height + 1 && legible >= largest) largest = legible, best = by;
  }
  return best;
}

float Screen::heightFor(float width) const {
  if (!embed.fit || onPage() || session.state().present) return 0;
  constexpr float kAny = 1000;  // any value, because the layout has its natural height
  const float by = zoomFor(width, width);
  const views::Layout layout = layoutAt(width / by, kAny);
  return std::ceil((layout.contentHeight + kAny - layout.board.height) * by);
}

std::uint64_t Screen::namesHash() {
  const std::uint64_t revision = session.document().revision();
  if (named_ && named_->revision == revision) return named_->hash;
  const document::State& s = session.state();
  base::Hash hash;
  hash.add(static_cast<std::uint64_t>(s.mode));
  for (const std::vector<std::string>* names : {&s.labels, &s.keyLabels, &s.columnNames}) {
    hash.add(names->size());
    for (const std::string& name : *names) hash.add(name.size()), hash.add(name.data(), name.size());
  }
  named_ = {revision, hash.value()};
  return named_->hash;
}

void Screen::measureLabels(const views::Fonts& fonts) {
  const document::State& s = session.state();
  const float scale = ImGui::GetIO().FontGlobalScale;
  const std::uint64_t names = namesHash();
  if (scale == measured_.scale && names == measured_.names) return;
  measured_ = {scale, names};
  labelWidth_ = nameWidth_ = 0;
  const views::AsIs asIs;
  for (const std::string& name : s.columnNames)
    nameWidth_ = std::max(nameWidth_, std::min(views::textWidth(fonts.small, name), 84.0f));
  constexpr std::size_t kMeasured = 4096;  // of more, some
  for (const std::vector<std::string>* labels : {&s.labels, &s.keyLabels}) {
    for (std::size_t i = 0; i < labels->size(); i += labels->size() / kMeasured + 1) {
      labelWidth_ = std::max(labelWidth_, std::min(views::textWidth(fonts.text, (*labels)[i]), 84.0f));
    }
  }
}

// Of a large layer, the board shows one head as soon as that is computed, or before, if it is new, its first
// picture; and of what is made of all heads the row that is read. Unless it is compared with another board or
// its numbers are to be seen. Pages read its inputs alone; what more they need they ask for themselves.
const attention::Trace& Screen::traceFor(const views::Layout& layout) {
  const document::State& s = session.state();
  const bool isOfAll = s.averageHeads || s.pin.text || layout.find(TensorId::output) != nullptr;
  if (!session.isStored()) return session.traceSoon(s.focusHead);
  if (onPage() && !s.pin.text) return session.shapes();
  const bool isExact = s.pin.text || view.magnify > 1 || s.stepper > 0 || s.step > 0,
             isFirst = !isExact && s.card == document::Card::arcs && session.isNew(s.focusHead);
  if (isOfAll && isExact) return session.trace();
  const attention::Trace& trace =
      isFirst ? session.traceFirst(s.focusHead, rowRead()) : session.traceWith(s.focusHead);
  return isOfAll ? session.traceOfAll(rowRead()) : trace;
}

/// The query whose numbers are written on the card: see views::Context::focus().
int Screen::rowRead() const {
  const bool isOver = view.hover && attention::rowsOf(view.hover->tensor) == attention::Rows::queries;
  const int chosen = isChangeable(view.selection.tensor) ? view.explained.row : view.selection.row;
  return std::clamp(isOver ? view.hover->row : chosen, 0, session.state().tokens - 1);
}

template <class Board>
views::Context Screen::contextOf(Board& board, const attention::Trace& trace, std::uint64_t revision,
                                 const Surroundings& around) {
  const document::Document& document = session.document();
  return {board.state(),
          board.spec(),
          board.inputs(),
          trace,
          board.summaries(),
          revision,
          board.derived(),
          around.layout,
          around.palette,
          around.fonts,
          heatmaps_,
          view,
          around.asked,
          widgetRects,
          lastWidgetRects,
          places,
          lastPlaces,
          host.isTouch(),
          host.now(),
          document.canUndo(),
          document.canRedo(),
          attention::kernels::name(attention::kernels::best()),
          lock,
          embed.hide,
          zoom,
          session.pinned()};
}

views::Context Screen::context(const views::Layout& layout, const views::Palette& palette,
                               const views::Fonts& fonts, views::Requests& asked) {
  const std::uint64_t revision = session.document().revision();
  const Surroundings around{layout, palette, fonts, asked};
  document::Pinned* pin = session.pinned();
  if (!pin || !view.before) return contextOf(session, traceFor(layout), revision, around);
  pin->showAs(session.state());
  // No revision of the document has this bit, so caches of one board are not used for the other.
  return contextOf(*pin, pin->trace(), revision | std::uint64_t{1} << 63, around);
}

bool Screen::onPage() const { return views::openView(session.state(), embed.hide) != document::View::layer; }

bool Screen::isCovered(float x, float y) const {
  const views::Layout layout = makeLayout();
  const views::Scroller* panel = panelAt(x, y);
  return (panel && panel != &view.experiments.page) || layout.editing.contains(x, y) ||
         layout.toolbar.contains(x, y);
}

const views::Scroller* Screen::panelAt(float x, float y) const {
  if (view.menu.shown) return &view.menu.page;
  if (view.palette && view.palette->isOpen) return &view.palette->page;
  if (view.help.open || view.form) return &view.help.page;
  const views::Layout layout = makeLayout();
  const bool isSheet =
      view.guide && view.guide->pulled && layout.width == views::Width::narrow && !layout.guide.empty();
  const bool side = isSheet ? layout.sheet.contains(x, y)
                            : layout.side.contains(x, y) && (!layout.sidePanelIsDrawer || view.drawer);
  return side ? &view.side : onPage() ? &view.experiments.page : nullptr;
}

bool Screen::isTransposed(TensorId id) const {
  const views::Layout layout = makeLayout();
  const views::MatrixPlace* m = layout.find(id);
  return m && m->transposed;
}

bool Screen::isChangeable(TensorId id) const {
  return document::isEditable(session.state(), id) && !views::isLocked(lock, attention::name(id));
}

void Screen::wake(bool controlsToo) {
  wanted = kSettle;
  changes += controlsToo;
  host.requestFrame();
}

void Screen::say(views::Notice notice) {
  view.notice = std::move(notice);
  noticeAge = 0;
  wake();
}

void Screen::refuse(const base::Error& error) {
  const base::Message message = error.said();
  say(message, true);
  host.emit({Event::Type::error,
             base::joined({"{\"type\":\"state\",\"message\":", document::jsonQuoted(message.english()),
                           ",\"field\":", document::jsonQuoted(error.field), "}"})});
}

void Screen::dropText() {
  if (!view.text) return;
  view.text.reset();
  host.dropText();
}

base::Result<void> Screen::openPreset(std::string_view name, bool undoable, Source source) {
  auto ok = session.openPreset(name, undoable, source);
  const document::State& s = session.state();
  if (ok && s.kvHeads != s.heads)
    view.sections.moreSizes = true;  // the section that it is about: key heads and their cache
  return ok;
}

}  // namespace app
