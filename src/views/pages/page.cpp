#include "views/pages/page.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "base/sentence.h"
#include "views/pages/column.h"
#include "views/panels/panels.h"
#include "views/widgets.h"
#include "views/work.h"

namespace views {
namespace {

using document::OptionId;
using document::View;

struct PageRow {
  Page page;
  float (*draw)(Context&, const Box&) = nullptr;
  char key = 0;                ///< opens it, from the board too, and closes it
  char keyOnPages = 0;         ///< opens it from other pages alone
  std::string_view options{};  ///< how the names of its options begin, between commas
  std::string_view title{};    ///< in full, where its tab is shorter
  std::string_view words{};    ///< of its tooltip
  std::string_view opened{};   ///< what is said when its key opened it from the board
};

constexpr PageRow kPageRows[] = {
    {.page = {View::layer, "view:layer", "Layer", Page::Place::tab},
     .words = "One attention layer: queries, keys, values, scores, weights and output"},
    {.page = {View::block, "view:block", "Block", Page::Place::tab},
     .draw = blockPage,
     .key = 'b',
     .keyOnPages = '4',
     .options = "block_",
     .words = "What a Transformer puts around the layer: sums, normalisation and a feed-forward network",
     .opened = "This is the block around the layer."},
    {.page = {View::train, "view:train", "Train", Page::Place::tab},
     .draw = trainPage,
     .keyOnPages = 't',
     .options = "train_",
     .words = "A small Transformer learns a task, and its heads are drawn as they change"},
    {.page = {View::model, "view:model", "Model", Page::Place::tab},
     .draw = modelPage,
     .key = 'a',
     .options = "model_find,model_targets",
     .words = "All heads of the layer, or of all layers of a model",
     .opened = "These are all heads."},
    {.page = {View::segments, "view:segments", "Segments", Page::Place::menu},
     .draw = segmentsPage,
     .key = 'g',
     .keyOnPages = '5',
     .options = "segment_",
     .words = "Attention over the words of each part of a text, then over the parts",
     .opened = "This is attention over segments."},
    {.page = {View::spread, "lab:1", "Spread", Page::Place::experiment},
     .draw = spreadPage,
     .keyOnPages = '1',
     .options = "spread_",
     .title = "Spread of scores",
     .words = "How far dot products spread as vectors get longer, which is why they are divided"},
    {.page = {View::dense, "lab:2", "Dense", Page::Place::experiment},
     .draw = densePage,
     .keyOnPages = '2',
     .options = "dense_",
     .title = "Fixed or following weights",
     .words = "A fully connected layer keeps its weights; those of attention follow the input"},
    {.page = {View::memory, "lab:3", "Memory", Page::Place::experiment},
     .draw = memoryPage,
     .keyOnPages = '3',
     .options = "memory_,reach_",
     .words = "What a recurrent network still knows of the first token"},
    {.page = {View::cost, "view:cost", "Cost", Page::Place::experiment},
     .draw = costPage,
     .keyOnPages = '6',
     .options = "cost_",
     .words = "Multiplications and memory, by the length of the text"},
};
/// A table of its own, since the header needs it: the texts of the other come after the page's first part.
constexpr auto kPages = [] {
  std::array<Page, std::size(kPageRows)> pages{};
  std::transform(std::begin(kPageRows), std::end(kPageRows), pages.begin(),
                 [](const PageRow& row) { return row.page; });
  return pages;
}();

const PageRow& pageRowOf(View view) { return kPageRows[&pageOf(view) - kPages.data()]; }

/// Tabs of the experiments, which share a place in the header. Returns what is left below them.
Box experimentTabs(Context& c, Box area) {
  const auto isOne = [](const Page& page) { return page.place == Page::Place::experiment; };
  const Box row{area.x, area.y, std::min(area.width, 400.0f), 28};
  Widgets w(c);
  ImDrawList* list = ImGui::GetWindowDrawList();
  list->AddRectFilled({row.x, row.y}, {row.right(), row.bottom()}, c.palette.panel, 5);
  list->AddRect({row.x, row.y}, {row.right(), row.bottom()}, c.palette.border, 5);
  Box box = row;
  box.width = row.width / static_cast<float>(std::count_if(kPages.begin(), kPages.end(), isOne));
  for (const Page& page : kPages) {
    if (!isOne(page)) continue;
    if (w.segment(page.name, box, elide(c.fonts.text, page.title, box.width - 8), page.view == c.open()))
      showView(c, page.view);
    box.x += box.width;
  }
  area.y += row.height + kColumnGap;
  return area;
}

/// Computes some more of what the page shows, in each frame and between them, unless the reader has cancelled
/// that. One for the mirror only tells what there is.
void computeSome(Context& c, View view) {
  document::DerivedTensors& derived = c.derived;
  if (!derived.lacks(view) || derived.waitsForHeads(view)) return;
  const auto [done, total] = derived.progress(view);
  if (!goesOn(c.view, view == View::model ? "Computing heads" : "Computing rows", done, total)) return;
  if (c.fonts.mirror || c.view.sliceLeft <= 0) return;
  const auto began = std::chrono::steady_clock::now();
  derived.compute(view, c.view.sliceLeft);
  c.view.sliceLeft -=
      std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - began).count();
}

float draw(Context& c, const Box& area) {
  const PageRow& row = pageRowOf(c.open());
  if (!row.draw) return area.y;
  const Box inside = row.page.place == Page::Place::experiment ? experimentTabs(c, area) : area;
  if (c.derived.isTooLong(row.page.view)) {
    PageColumn only(c, inside.x, inside.y, inside.width);
    only.sentence(base::message(
        {"This page is computed for at most ", attention::Limits::modelTokens, " tokens; use fewer."}));
    return only.y();
  }
  computeSome(c, row.page.view);
  return row.draw(c, inside);
}

ImGuiKey imGuiKey(char key) {
  return key == 0     ? ImGuiKey_None
         : key <= '9' ? static_cast<ImGuiKey>(ImGuiKey_0 + (key - '0'))
                      : static_cast<ImGuiKey>(ImGuiKey_A + (key - 'a'));
}

/// The view that a key on a page leads to: a letter also closes its page.
std::optional<View> viewOfKey(const Context& c, ImWchar key) {
  if (key == 'e') return View::layer;
  for (const PageRow& row : kPageRows) {
    if ((key == static_cast<ImWchar>(row.key) || key == static_cast<ImWchar>(row.keyOnPages)) &&
        hasPage(c, row.page.view))
      return key > '9' && row.page.view == c.open() ? View::layer : row.page.view;
  }
  return {};
}

}  // namespace

std::span<const Page> pages() { return kPages; }

const Page& pageOf(View view) {
  return *std::find_if(kPages.begin(), kPages.end(), [&](const Page& page) { return page.view == view; });
}

std::optional<View> pageNamed(std::string_view name) {
  const auto begins = [&](std::string_view list) {
    for (std::size_t end = 0; !list.empty(); list.remove_prefix(std::min(end + 1, list.size()))) {
      end = std::min(list.find(','), list.size());
      if (name.starts_with(list.substr(0, end))) return true;
    }
    return false;
  };
  const auto views = document::option(OptionId::view).choices;
  for (const PageRow& row : kPageRows)
    if (name == row.page.name || begins(row.options) ||
        (name.starts_with("view:") && name.substr(5) == views[static_cast<std::size_t>(row.page.view)]))
      return row.page.view;
  return {};
}

About aboutPage(std::string_view name) {
  for (const PageRow& row : kPageRows) {
    if (row.page.name != name) continue;
    const char key = row.key != 0 ? row.key : row.keyOnPages <= '9' ? row.keyOnPages : '\0';
    About says{std::string(row.title.empty() ? row.page.title : row.title), {}, std::string(row.words)};
    if (key != 0) says.key = key > '9' ? static_cast<char>(key - 'a' + 'A') : key;
    return says;
  }
  return {};
}

bool hasPages(const Context& c) { return !listed(c.hide, "views") && !listed(c.hide, "experiments"); }

bool hasPage(const Context& c, View view) {
  return hasPages(c) && (view != View::model || document::hasManyHeads(c.state));
}

void showView(Context& c, View view) {
  if (c.locked("experiment")) return;
  c.requests.endGesture = true;  // a slider that disappears with its page does not see the button released
  setChoice(c, OptionId::view, static_cast<int>(view));
}

bool showPageOfKey(Context& c, ImWchar key) {
  const auto show = [&](View view, std::string_view words) {
    showView(c, view);
    c.requests.say(base::message({base::Message(words), " Press ", std::string(1, static_cast<char>(key)),
                                  " or Esc to go back to the board."}));
    return true;
  };
  if (!hasPages(c)) return false;
  if (key == 'e') return show(c.view.experiments.recent, "These are the experiments.");
  for (const PageRow& row : kPageRows)
    if (row.key != 0 && key == static_cast<ImWchar>(row.key) && hasPage(c, row.page.view))
      return show(row.page.view, row.opened);
  return false;
}

bool isPageKey(const Context& c, ImGuiKey key) {
  return hasPages(c) && (key == ImGuiKey_E || std::ranges::any_of(kPageRows, [&](const PageRow& row) {
                           return row.key != 0 && key == imGuiKey(row.key) && hasPage(c, row.page.view);
                         }));
}

void page(Context& c) {
  ExperimentsView& state = c.view.experiments;
  const View open = c.open();
  if (open != std::exchange(state.last, open)) {
    state.focusRing = {}, state.cell.on = false;
    state.page.wanted = 0, state.page.fling = 0;
    state.firstToken = c.view.selection.row - 8;  // where the board was
  }
  if (pageOf(open).place == Page::Place::experiment) state.recent = open;
  Box area = c.layout.board;
  if (open == View::train) {
    area.height -= kTrainBar;
    trainBar(c, {area.x, area.bottom(), area.width, kTrainBar});
  }
  ImGui::SetCursorScreenPos({area.x, area.y});
  const NarrowScrollbar scrollbar(c.palette, c.palette.background);
  state.page.begin();
  ImGui::BeginChild("##page", {area.width, area.height}, 0, ImGuiWindowFlags_NoNav);
  sharp(ImGui::GetWindowDrawList());
  const ImVec2 origin = ImGui::GetCursorScreenPos();
  state.focusRing.on = true;
  state.focusRing.begin();
  if (std::exchange(state.focusRing.released, false)) c.requests.endGesture = true;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) state.cell.on = false;
  const float margin = area.width < 480 ? 14.0f : 24.0f, wide = std::min(area.width - 8, 1640.0f);
  const Box inside{std::floor(origin.x + (area.width - 8 - wide) / 2 + margin), origin.y + 16,
                   wide - 2 * margin + 8, 0};
  const float bottom = draw(c, inside);
  ImGui::SetCursorScreenPos({origin.x, bottom + 8});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, state.page);
  state.page.update(area);
  state.focusRing.end();
  ImGui::EndChild();
}

bool pageKeys(Context& c) {
  ExperimentsView& state = c.view.experiments;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const ImGuiIO& io = ImGui::GetIO();
  if (io.KeyCtrl || io.KeySuper) {
    if (pressed(ImGuiKey_Z)) return c.requests.ask(io.KeyShift ? Command::redo : Command::undo), true;
    if (pressed(ImGuiKey_Y)) return c.requests.ask(Command::redo), true;
    if (pressed(ImGuiKey_S)) return c.requests.ask(io.KeyShift ? Command::saveAs : Command::saveState), true;
    if (pressed(ImGuiKey_O)) return c.requests.ask(Command::pickFile), true;
  }
  if (pressed(ImGuiKey_Escape) && (c.view.help.open || c.view.drawer))
    return c.view.help.open = c.view.drawer = false, true;
  if (state.cell.on && state.cell.readKeys()) return true;
  if (state.focusRing.readKeys()) return state.cell.on = false, true;
  for (const ImWchar ch : io.InputQueueCharacters) {
    if (ch == '?') return c.view.help.open = !c.view.help.open, true;
    if (!hasPages(c)) continue;
    if (ch == 'p' && c.open() == View::train)
      return set(c, OptionId::train_running, !c.state.trainRunning), true;
    if (const auto view = viewOfKey(c, ch)) return showView(c, *view), true;
  }
  if (!pressed(ImGuiKey_Escape)) return false;
  if (c.state.present) return c.requests.set(OptionId::present, false), true;
  return hasPages(c) && (showView(c, View::layer), true);
}

bool pageUsesKey(const Context& c, ImGuiKey key, bool command, bool alt) {
  const bool cell = c.view.experiments.cell.on,
             arrow = key >= ImGuiKey_LeftArrow && key <= ImGuiKey_DownArrow;
  if (cell && arrow) return true;
  if (command) return key == ImGuiKey_Z || key == ImGuiKey_Y || key == ImGuiKey_S || key == ImGuiKey_O;
  if (alt) return false;
  if (FocusRing::uses(key) || (cell && isNumberKey(key)) || key == ImGuiKey_Slash) return true;
  if (!hasPages(c))
    return key == ImGuiKey_Escape && (cell || c.state.present || c.view.help.open || c.view.drawer);
  return key == ImGuiKey_Escape || isPageKey(c, key) || (key == ImGuiKey_P && c.open() == View::train) ||
         std::ranges::any_of(kPageRows, [&](const PageRow& row) {
           return row.keyOnPages != 0 && key == imGuiKey(row.keyOnPages);
         });
}

}  // namespace views
