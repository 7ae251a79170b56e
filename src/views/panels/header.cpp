// The bar at the top: presets, undo, views, files and theme; on small screens also the sentence and the two
// most important options.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

#include "base/sentence.h"
#include "document/preset.h"
#include "views/pages/page.h"
#include "views/palette.h"
#include "views/panels/changes.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::OptionId;
using Icon = Widgets::Icon;

using document::View;

constexpr float kTab = 56, kTabsMenu = 124, kMoreMenu = 240, kLeastPreset = 110;
constexpr float kAround = 14, kTight = 6;  // around the words of a tab

class Header {
 public:
  explicit Header(Context& c) : c_(c), w_(c), middle_(c.layout.header.midY()) {
    if (c.roomy()) w_.grow(c.layout.header.height);
  }

  void draw() {
    const Box& h = c_.layout.header;
    ImDrawList* list = ImGui::GetWindowDrawList();
    list->AddRectFilled({h.x, h.y}, {h.right(), h.bottom()}, c_.palette.panel);
    list->AddLine({h.x, h.bottom() - 0.5f}, {h.right(), h.bottom() - 0.5f}, c_.palette.border);
    left_ = h.x + 14, right_ = h.right() - 14;
    if (c_.state.present) presented();
    else if (c_.layout.width == Width::full) wide();
    else compact();
  }

 private:
  Box fromLeft(float width) {
    const Box box{left_, middle_ - 14, width, 28};
    left_ += width + gap_;
    return box;
  }
  Box fromRight(float width) {
    const Box box{right_ - width, middle_ - 14, width, 28};
    right_ -= width + gap_;
    return box;
  }
  /// The width for a text with `around` pixels of padding; at least `least`, the width designed for the
  /// English text.
  float room(std::string_view words, float least, float around = 20) const {
    return std::max(least, std::ceil(textWidth(c_.fonts.text, words)) + around);
  }
  bool hidden(std::string_view name) const { return listed(c_.hide, name); }

  void wide() {
    if (c_.layout.header.width < 1280) gap_ = 8;  // or the search has no room beside longer words
    if (w_.icon("theme", fromRight(34), Icon::theme)) nextTheme();
    if (w_.icon("help", fromRight(34), Icon::help, true, c_.view.help.open))
      c_.view.help.open = !c_.view.help.open;
    if (w_.icon("present", fromRight(34), Icon::expand)) c_.requests.set(OptionId::present, true);
    if (!hidden("export")) exports();
    if (!hidden("import") && w_.button("import", fromRight(room("Open", 60)), "Open"))
      c_.requests.ask(Command::pickFile);
    if (shares() && hasRoomToShare() && w_.button("share", fromRight(room("Share", 62)), "Share"))
      c_.requests.ask(Command::share);
    logo();
    left_ += 14;
    const float pinned = room("Pin board", 48), find = 34 + gap_;
    if (c_.layout.header.width >= 1240 && !hidden("changes") &&
        roomForTabs() >= pinned + gap_ + find + tabsWidth() &&
        w_.button("pin", fromRight(pinned), "Pin board", c_.pin))
      togglePin(c_);
    around_ = kTight;
    if (roomForTabs() >= find + tabsWidth() && w_.icon("search", fromRight(34), Icon::search))
      openPalette(c_);
    around_ = kAround;
    if (roomForTabs() < tabsWidth()) around_ = kTight;
    const bool isMenu = roomForTabs() < tabsWidth();  // words of another language may be too long
    const float most = roomForTabs() + kLeastPreset + (isMenu ? -kTabsMenu : hasTabs() ? -tabsWidth() : gap_);
    presets(std::clamp(textWidth(c_.fonts.text, menuTitle()) + 38, kLeastPreset,
                       std::clamp(most, kLeastPreset, 220.0f)));
    history();
    if (hasTabs()) isMenu ? tabsMenu(kTabsMenu) : tabs();
  }

  /// What is left for the tabs beside undo, redo, reset and the smallest list of examples.
  float roomForTabs() const { return right_ - left_ - 3 * (34 + gap_) - 2 * gap_ - kLeastPreset; }
  bool shares() const { return c_.view.shares && !hidden("share"); }
  bool hasRoomToShare() const { return c_.layout.header.width >= 1200; }
  void shareItem() {
    if (w_.menuItem("share", "Share …")) c_.requests.ask(Command::share);
  }

  bool hasTabs() const { return hasPages(c_); }
  /// The tab with all heads of a model exists only if there are several layers.
  bool isThere(const Page& page) const {
    return page.place == Page::Place::tab &&
           (page.view != View::model || hasLayers(c_.state) || c_.open() == View::model);
  }
  float widthOf(const Page& tab) const { return room(tab.title, kTab, around_); }
  float tabsWidth() const {
    float width = 0;
    for (const Page& page : pages()) width += hasTabs() && isThere(page) ? widthOf(page) : 0;
    return width > 0 ? width + gap_ + moreWidth() : 0;
  }
  /// What the button of the menu More says: what is open of it.
  std::string_view moreTitle() const {
    const Page& open = pageOf(c_.open());
    return open.place == Page::Place::experiment ? "Experiments" : isMoreOpen() ? open.title : "More";
  }
  float widthOfMore(std::string_view title) const { return room(title, 68, 38); }
  float moreWidth() const { return widthOfMore(moreTitle()); }
  bool isMoreOpen() const { return pageOf(c_.open()).place != Page::Place::tab; }

  // In the middle of the window, or as close to it as there is room; whatever is open of the menu More, they
  // stay there.
  void tabs() {
    const float tabsWide = tabsWidth(), usual = tabsWide - moreWidth() + widthOfMore("More"),
                middle = c_.layout.header.midX() - usual / 2;
    Box box{std::floor(std::max(left_, std::min(middle, right_ - tabsWide))), middle_ - 14, tabsWide, 28};
    c_.widgetRects["views"] = box;
    ImGui::GetWindowDrawList()->AddRect({box.x, box.y}, {box.right() - gap_ - moreWidth(), box.bottom()},
                                        c_.palette.border, 5);
    for (const Page& tab : pages()) {
      if (!isThere(tab)) continue;
      box.width = widthOf(tab);
      if (w_.segment(tab.name, box, tab.title, tab.view == c_.open()) && tab.view != c_.open())
        showView(c_, tab.view);
      box.x = box.right();
    }
    w_.menuButton("views:more", {box.x + gap_, box.y, moreWidth(), box.height}, moreTitle(), isMoreOpen());
    olderNames();
    morePages();
  }

  // Registers the names that earlier versions used for these, for scripts and tours.
  void olderNames() {
    for (const auto& [older, name] : {std::pair{"lab-close", "view:layer"},
                                      {"lab:4", "view:block"},
                                      {"lab:5", "views:more"},
                                      {"view:segments", "views:more"},
                                      {"experiments", "views:more"}}) {
      const auto at = c_.widgetRects.find(name);
      if (at != c_.widgetRects.end() && (c_.onPage() || name == std::string_view("views:more")))
        c_.widgetRects[older] = Box(at->second);
    }
  }

  std::string_view openTitle() const { return isMoreOpen() ? moreTitle() : pageOf(c_.open()).title; }

  void tabItems() {
    for (const Page& tab : pages())
      if (isThere(tab) && w_.menuItem(tab.name, tab.title, tab.view == c_.open())) showView(c_, tab.view);
  }

  void tabsMenu(float width) {
    w_.menuButton("views", fromLeft(width), openTitle());
    if (w_.beginMenu("views", kMoreMenu)) tabItems(), moreItems();
  }

  void morePages() {
    if (w_.beginMenu("views:more", kMoreMenu)) moreItems();
  }

  /// The last entries of a menu.
  void moreItems() {
    for (const Page& page : pages()) {
      if (page.place == Page::Place::tab) continue;
      const About what = aboutPage(page.name);
      if (w_.menuItem(page.name, what.title, page.view == c_.open(), what.words)) showView(c_, page.view);
    }
    w_.endMenu();
  }

  // The title, and the button to leave the presentation.
  void presented() {
    textMiddle(ImGui::GetWindowDrawList(), c_.fonts.title, left_, middle_, c_.palette.text,
               elide(c_.fonts.title, presetTitle(), right_ - left_ - 48));
    if (w_.icon("present", fromRight(34), Icon::close)) c_.requests.set(OptionId::present, false);
  }

  void logo() {
    ImDrawList* list = ImGui::GetWindowDrawList();
    const float x = left_, y = middle_ - 5;
    list->AddRect({x, y}, {x + 10, y + 10}, c_.palette.text, 0, 0, 1.2f);
    list->AddTriangleFilled({x, y}, {x + 10, y}, {x, y + 10}, c_.palette.text);
    left_ += 17;
    textMiddle(list, c_.fonts.strong, left_, middle_, c_.palette.text, "Attention Playground");
    left_ += textWidth(c_.fonts.strong, "Attention Playground") + 10;
  }

  // Beside the sentence a board that is no example needs no name, nor one that nobody has changed.
  std::string_view menuTitle() const {
    const bool isKnown = hasSentence_ || !c_.layout.bar.empty() || !c_.canUndo;
    return isKnown && c_.state.preset.empty() && !c_.isOfLesson() ? "Examples" : presetTitle();
  }

  std::string_view presetTitle() const {
    if (c_.ownSentence()) return "Your own sentence";
    for (const document::Preset& p : document::presets()) {
      if (p.name == c_.state.preset &&
          (!c_.isOfLesson() || c_.view.guide->lesson->kind != document::LessonKind::example))
        return p.title;
    }
    if (c_.isOfLesson()) return c_.view.guide->lesson->title;
    return "Your own";
  }

  void presets(float width) {
    w_.menuButton("preset", fromLeft(width), menuTitle());
    presetMenu();
  }

  void presetMenu() {
    const bool isWide = c_.layout.width != Width::narrow;
    if (!w_.beginMenu("preset", isWide ? 200 : 280)) return;
    const std::span<const document::Preset> all = document::presets();
    base::Message about;
    if (isWide) w_.beginColumn();
    for (std::size_t i = 0, listed = 0; i < all.size(); ++i) {
      const std::string_view group = all[i].group;
      if (std::any_of(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(i),
                      [&](const document::Preset& p) { return p.group == group; }))
        continue;
      if (isWide && 2 * listed > all.size() - 4) listed = 0, w_.nextColumn();
      w_.menuHeading(group);
      for (const document::Preset& p : all) {
        if (p.group == group) listed += 1, presetItem(p, about);
      }
    }
    if (isWide) w_.endColumn();
    w_.menuText(about.empty() ? views::about("preset").words : about);
    w_.endMenu();
  }

  void presetItem(const document::Preset& p, base::Message& about) {
    const bool chosen = p.name == c_.state.preset;
    if (w_.menuItem("preset:" + std::string(p.name), p.title, chosen))
      c_.requests.preset = std::string(p.name);
    if (ImGui::IsItemHovered() || (chosen && about.empty())) about = p.about;
  }

  void history() {
    if (w_.icon("undo", fromLeft(34), Icon::undo, c_.canUndo)) c_.requests.ask(Command::undo);
    if (w_.icon("redo", fromLeft(34), Icon::redo, c_.canRedo)) c_.requests.ask(Command::redo);
    if (w_.icon("reset", fromLeft(34), Icon::reset)) c_.requests.ask(Command::reset);
  }

  void exports() {
    w_.menuButton("export", fromRight(room("Save", 72, 38)), "Save");
    if (!w_.beginMenu("export")) return;
    if (shares() && !hasRoomToShare()) shareItem();
    exportItems();
    w_.endMenu();
  }

  void exportItems() {
    if (w_.menuItem("export:save", "Save as JSON")) c_.requests.ask(Command::saveState);
    for (const auto& [command, name, label] :
         {std::tuple(Command::saveAs, "export:save-as", "Save as …"),
          {Command::saveNpz, "export:npz", "Save tensors as .npz"},
          {Command::saveSafetensors, "export:safetensors", "Save tensors as .safetensors"},
          {Command::saveTable, "export:csv", "Save weights as .csv"}})
      if (w_.menuItem(name, label)) c_.requests.ask(command);
    if (w_.menuItem("export:copy-state", "Copy state as JSON")) c_.requests.ask(Command::copyState);
    if (w_.menuItem("export:copy-weights", "Copy weights as table")) c_.requests.ask(Command::copyWeights);
  }

  // What the header shows only if there is room, in order of priority.
  enum class Part { undo, redo, reset, fullscreen, help, theme };
  static constexpr Part kParts[] = {Part::undo,       Part::redo, Part::reset,
                                    Part::fullscreen, Part::help, Part::theme};

  // Controls from the left, at the right a menu for everything that has no room, and between them as much as
  // fits.
  void compact() {
    const float width = c_.layout.header.width;
    if (width < 345) left_ -= 3, right_ += 3;
    if (!c_.layout.side.empty() && !hasToolbar() &&
        w_.icon("panel", fromLeft(34), Icon::menu, true, c_.view.drawer)) {
      c_.view.drawer = !c_.view.drawer;
      if (c_.view.drawer && c_.view.guide && c_.view.guide->lesson)
        c_.view.guideTab = false;  // the lesson is opened by its bar
    }
    // On a page the header names it, and omits the controls of the board.
    const bool names = hasTabs() && (c_.onPage() || width >= 860);
    if (names) tabsMenu(kTabsMenu);
    if (hasToolbar()) left_ -= 5, right_ += 5;
    const Box more = fromRight(34);
    if (!c_.onPage()) mostImportant();
    if (names && c_.onPage() && w_.icon("lab-close", fromRight(34), Icon::close)) showView(c_, View::layer);
    float room = right_ - left_;
    const bool presetShown = room >= 130 + 4 * (34 + gap_);
    if (presetShown) room -= 130 + gap_;
    for (const Part part : kParts) {
      if (isElsewhere(part) || (hasSentence_ && hasToolbar())) continue;
      const float needs = 34 + gap_;
      shown_[static_cast<std::size_t>(part)] = needs <= room + gap_;
      if (shown_[static_cast<std::size_t>(part)]) room -= needs;
    }
    for (const Part part : {Part::fullscreen, Part::reset, Part::redo, Part::undo, Part::theme, Part::help}) {
      if (shows(part)) shownPart(part);
    }
    if (presetShown) presets(std::min(right_ - left_, 180.0f));
    else presetMenu();
    if (w_.icon("more", more, Icon::more)) w_.openMenu("more", more);
    moreMenu(more, presetShown, hasTabs() && !names);
    morePages();
  }

  bool hasToolbar() const { return !c_.layout.toolbar.empty(); }
  bool isElsewhere(Part part) const { return hasToolbar() && (part == Part::undo || part == Part::redo); }
  bool shows(Part part) const { return shown_[static_cast<std::size_t>(part)]; }

  void shownPart(Part part) {
    switch (part) {
      case Part::undo: return act(part, w_.icon("undo", fromRight(34), Icon::undo, c_.canUndo));
      case Part::redo: return act(part, w_.icon("redo", fromRight(34), Icon::redo, c_.canRedo));
      case Part::reset: return act(part, w_.icon("reset", fromRight(34), Icon::reset));
      case Part::fullscreen: return act(part, w_.icon("fullscreen", fromRight(34), Icon::expand));
      case Part::help: return act(part, w_.icon("help", fromRight(34), Icon::help, true, c_.view.help.open));
      case Part::theme: return act(part, w_.icon("theme", fromRight(34), Icon::theme));
    }
  }

  void act(Part part, bool asked) {
    if (!asked) return;
    switch (part) {
      case Part::undo: return c_.requests.ask(Command::undo);
      case Part::redo: return c_.requests.ask(Command::redo);
      case Part::reset: return c_.requests.ask(Command::reset);
      case Part::fullscreen: return c_.requests.ask(Command::fullscreen);
      case Part::help: c_.view.help.open = !c_.view.help.open; return;
      case Part::theme: return nextTheme();
    }
  }

  void moreMenu(const Box& button, bool presetShown, bool views) {
    if (!w_.beginMenu("more", 190)) return;
    if (w_.menuItem("search", "Find …")) openPalette(c_);
    const bool examples = !presetShown && w_.menuItem("preset", "Examples …");
    if (views) w_.menuHeading("VIEWS"), tabItems();
    const bool others = views && w_.menuItem("views:more", "More views …");
    w_.menuHeading("BOARD");
    moreItem(Part::undo, "undo", "Undo", c_.canUndo);
    moreItem(Part::redo, "redo", "Redo", c_.canRedo);
    moreItem(Part::reset, "reset", "Start again");
    if (!hidden("changes") && w_.menuItem("pin", c_.pin ? "Unpin the board" : "Pin this board"))
      togglePin(c_);
    w_.menuHeading("SCREEN");
    moreItem(Part::theme, "theme", c_.palette.dark ? "Light colours" : "Dark colours");
    moreItem(Part::fullscreen, "fullscreen", "Full screen");
    if (w_.menuItem("present", "Present")) c_.requests.set(OptionId::present, true);
    moreItem(Part::help, "help", "Keys and pointer");
    if (!hidden("import") || shares() || !hidden("export")) w_.menuHeading("FILES");
    if (!hidden("import") && w_.menuItem("import", "Open a file …")) c_.requests.ask(Command::pickFile);
    if (shares()) shareItem();
    if (!hidden("export")) exportItems();
    w_.endMenu();
    if (examples) w_.openMenu("preset", button);
    if (others) w_.openMenu("views:more", button);
  }

  void moreItem(Part part, std::string_view name, std::string_view words, bool enabled = true) {
    if (!shows(part) && !isElsewhere(part)) act(part, w_.menuItem(name, words, false, {}, enabled));
  }

  /// The width of a text, at least that in English: what else the header has room for is the same in
  /// languages with shorter words.
  static float widthIn(ImFont* font, std::string_view words) {
    const float own = textWidth(font, words);
    const AsIs english;
    return std::max(own, textWidth(font, words));
  }

  // The sentence, Causal and Heads, with their names where there is room. Of the other buttons three keep
  // their places, on a phone none: it has them at the bottom, and in the menu.
  void mostImportant() {
    constexpr float kLeast = 52, kFew = 110, kMost = 200, kButtons = 2 * 44;
    const float causalWide = widthIn(c_.fonts.strong, "Causal") + 42,
                word = widthIn(c_.fonts.text, "Heads") + 6, step = 34 + gap_;
    float headsWide = c_.roomy() ? 132.0f : 84.0f;
    // The same for any count of two digits, so that nothing moves at ten heads.
    const float counted = kButtons + textWidth(c_.fonts.text, base::message({16, " heads"})) + 10;
    if (hasToolbar()) right_ += gap_ - 5, gap_ = 5;
    const float others = causalWide + 2 * gap_ + (hasToolbar() ? counted : word + headsWide + 3 * step),
                room = right_ - left_ - others, least = hasToolbar() ? kLeast : kFew;
    hasSentence_ = !c_.layout.side.empty() && room >= least;
    if (hasSentence_) {
      const float most = hasToolbar() ? room : room - 140 - step;  // with the examples, and one button more
      sentenceField(c_, w_, "labels", fromLeft(std::clamp(most, least, kMost)), false);
    }
    const Box box = fromLeft(causalWide);
    if (w_.toggle("causal", box, "Causal", c_.state.causal, true))
      c_.requests.set(OptionId::causal, !c_.state.causal);
    base::Message count = std::to_string(c_.state.heads);
    if (hasSentence_ && hasToolbar()) {
      headsWide = counted;
      count = base::message({c_.state.heads, c_.state.heads == 1 ? " head" : " heads"});
    } else {
      const float free = right_ - left_, undo = hasToolbar() ? 0 : step;  // Undo comes before a word
      headsWide = std::min(headsWide, free - undo >= 112 ? free - undo : free);
      if (word + headsWide + undo <= free) {
        textMiddle(ImGui::GetWindowDrawList(), c_.fonts.text, left_, middle_, c_.palette.text, "Heads");
        left_ += word;
      }
    }
    const HeadSteps steps(c_);
    steps.ask(c_, w_.stepper("heads", fromLeft(headsWide), count, steps.less > 0, steps.more > 0));
  }

  void nextTheme() { c_.requests.set(OptionId::theme, std::string(c_.palette.dark ? "light" : "dark")); }

  Context& c_;
  Widgets w_;
  /// around_: pixels of padding in a tab.
  float middle_, left_ = 0, right_ = 0, gap_ = 10, around_ = kAround;
  bool shown_[std::size(kParts)] = {}, hasSentence_ = false;
};

struct KeyLine {
  const char *keys, *what;  ///< null: the longest, which is loaded with the help
};

constexpr KeyLine kKeys[] = {
    {"drag", "change a number, or a weight that is selected (Shift finer, Alt coarser)"},
    {"with a finger", nullptr},
    {"Ctrl + wheel, + − 0", "enlarge the board; a double-click fits it again"},
    {"double-click, Enter, 0 … 9", "type a number; also renames a token"},
    {"↑ ↓", "one step up or down (Shift finer, Alt coarser)"},
    {"← →, Ctrl + arrows", "to the next cell"},
    {"Shift + click, Ctrl + Shift + arrows", "select a range; Ctrl + drag too"},
    {"Ctrl + C, Ctrl + V", "cells as tab-separated text"},
    {"Ctrl + Z, Ctrl + Shift + Z", "undo, redo"},
    {"Ctrl + K", "find a command, a lesson, a term …"},
    {"Tab, Shift + Tab while typing", "enter, and type the next or previous cell"},
    {"Delete", "write 0"},
    {"Space, Shift + Space", "on scores or weights: mask the cell, or the key; or show it"},
    {"q k v s w o x", "go to that matrix"},
    {"c, d, m, p", "causal, ÷ √d_k, input mode, paint the mask"},
    {"y, P, l", "next view of the card; pin the board; hold to see the pinned one"},
    {"u, U", "what would raise the selected value; one step of all that would"},
    {"i, ← → Space Esc", "step through the selected row: back, forward, play, end"},
    {"h H, n N, t T", "more or fewer heads, next head, tokens"},
    {"[ ]", "temperature down, up"},
    {"O", "the options, by arrows and Enter; Esc goes back"},
    {"b, g, e", "block, segments, experiments; 1 … 6 one of them; Esc goes back"},
    {"j J, a", "next or previous layer of a model; all its heads"},
    {"f, z Z", "present (Esc goes back); larger, smaller"},
    {"r, ?, Esc", "reset, this list, close or deselect"},
    {"F10", "all controls and tables, by Tab; Esc goes back"},  // on a page alone: a window has no tables
};

}  // namespace

void header(Context& c) {
  if (!c.layout.header.empty()) Header(c).draw();
}

void help(Context& c) {
  Scroller& page = c.view.help.page;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  // To take the focus takes a press away from what is below, unless that is the header.
  const bool isOnHeader = c.layout.header.contains(mouse.x, mouse.y);
  const Box box = beginDialog(c, "##help", 560, !isOnHeader || !ImGui::IsMouseDown(ImGuiMouseButton_Left));
  const float width = box.width;
  Widgets w(c);
  ImDrawList* list = sharp(ImGui::GetWindowDrawList());
  const float x = box.x + 22, top = ImGui::GetCursorScreenPos().y;
  textMiddle(list, c.fonts.title, x, top + 30, c.palette.text, "Keys and pointer");
  if (w.icon("help-close", {box.right() - 48, top + 16, 30, 28}, Icon::close)) c.view.help.open = false;
  const float column = width >= 480 ? 236.0f : width * 0.42f;
  float y = top + 66;
  const bool isPage = c.view.help.parts.empty();
  for (const KeyLine& k : std::span(kKeys).first(isPage ? std::size(kKeys) : std::size(kKeys) - 1)) {
    const char* const words =
        k.what ? k.what
               : "tap a number to select it; hold it, then drag, to change it; two fingers enlarge "
                 "the board, a double tap fits it again";
    const float keys = paragraph({list, c.fonts.small, c.palette.text}, x, y - 7, column - 10, k.keys);
    const float what =
        paragraph({list, c.fonts.small, c.palette.muted}, x + column, y - 7, width - column - 36, words);
    y += std::max(keys, what) + 8;
  }
  const std::string_view version = AP_VERSION;
  base::Message about =
      base::message({"Attention Playground ", version, " · arithmetic by the ", c.kernel, " kernels"});
  if (c.view.help.frameMs > 0)
    about +=
        base::message({" · ", formatNumber(static_cast<double>(c.view.help.frameMs), 1), " ms per frame"});
  y += paragraph({list, c.fonts.small, c.palette.muted}, x, y + 5, width - 44, about) + 25;
  if (!c.view.help.keptIn.empty()) {
    const base::Message kept = base::message(
        {"This board is kept in ", c.view.help.keptIn,
         ", with what undo takes back, and comes back after a crash. Nothing leaves this machine."});
    y += paragraph({list, c.fonts.small, c.palette.muted}, x, y - 12, width - 44, kept) + 8;
  }
  if (!c.view.help.parts.empty()) {
    const base::Message parts = base::message(
        {"It contains ", c.view.help.parts, "; attention-playground --licenses prints their licences."});
    y += paragraph({list, c.fonts.small, c.palette.muted}, x, y - 12, width - 44, parts) + 8;
  }
  float left = x;
  const auto link = [&](std::string_view name, std::string_view words, Command command) {
    const Box place{left, y - 14, textWidth(c.fonts.small, words), 20};
    if (w.link(name, place, words)) c.requests.ask(command);
    left = place.right() + 20;
  };
  if (isPage) link("help-notices", "Third-party licences", Command::notices);
  link("help-report", "Copy report", Command::report);
  y += 18;
  if (page.content != y - top) c.view.busy = true;  // it gets its new size in the next frame
  page.content = y - top;
  ImGui::SetCursorScreenPos({box.x, y - 1});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, page);
  page.update(box);
  const auto button = c.widgetRects.find("help");  // which closes it when it is released
  const bool isOnButton =
      isOnHeader && button != c.widgetRects.end() && button->second.contains(mouse.x, mouse.y);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box.contains(mouse.x, mouse.y) && !isOnButton)
    c.view.help.open = false;
  ImGui::End();
}

}  // namespace views
