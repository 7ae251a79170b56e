// The line at the top: presets, undo, files and theme; on small screens the two options that matter most.
#include <algorithm>
#include <cmath>

#include "document/preset.h"
#include "views/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::OptionId;
using Icon = Widgets::Icon;

class Header {
 public:
  explicit Header(Context& c) : c_(c), w_(c), middle_(c.layout.header.midY()) {}

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
  bool hidden(std::string_view name) const { return listed(c_.hide, name); }

  void wide() {
    logo();
    left_ += 14;
    presets(std::clamp(textWidth(c_.fonts.text, presetTitle()) + 38, 110.0f, 220.0f));
    history();
    if (w_.icon("theme", fromRight(34), Icon::theme)) nextTheme();
    if (w_.icon("help", fromRight(34), Icon::help, true, c_.view.help)) c_.view.help = !c_.view.help;
    if (w_.icon("present", fromRight(34), Icon::expand)) c_.wishes.set(OptionId::present, true);
    if (!hidden("export")) exports();
    if (!hidden("import") && w_.button("import", fromRight(66), "Import")) c_.wishes.ask(Command::pickFile);
    experiments();
  }

  // A title, and the way back.
  void presented() {
    textMiddle(ImGui::GetWindowDrawList(), c_.fonts.title, left_, middle_, c_.palette.text,
               elide(c_.fonts.title, presetTitle(), right_ - left_ - 48));
    if (w_.icon("present", fromRight(34), Icon::close)) c_.wishes.set(OptionId::present, false);
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

  std::string_view presetTitle() const {
    if (c_.ownSentence()) return "Your own sentence";
    for (const document::Preset& p : document::presets()) {
      if (p.name == c_.state.preset) return p.title;
    }
    return "Your own";
  }

  void presets(float width) {
    w_.menuButton("preset", fromLeft(width), presetTitle());
    presetMenu();
  }

  void presetMenu() {
    if (!w_.beginMenu("preset", 280)) return;
    std::string_view about;
    for (const document::Preset& p : document::presets()) {
      const bool chosen = p.name == c_.state.preset;
      if (w_.menuItem("preset:" + std::string(p.name), p.title, chosen)) c_.wishes.preset = std::string(p.name);
      if (ImGui::IsItemHovered() || (chosen && about.empty())) about = p.about;
    }
    w_.menuText(about);
    w_.endMenu();
  }

  void history() {
    if (w_.icon("undo", fromLeft(34), Icon::undo, c_.canUndo)) c_.wishes.ask(Command::undo);
    if (w_.icon("redo", fromLeft(34), Icon::redo, c_.canRedo)) c_.wishes.ask(Command::redo);
    if (w_.icon("reset", fromLeft(34), Icon::reset)) c_.wishes.ask(Command::reset);
  }

  void exports() {
    w_.menuButton("export", fromRight(86), "Export");
    if (!w_.beginMenu("export")) return;
    exportItems();
    w_.endMenu();
  }

  void exportItems() {
    if (w_.menuItem("export:save", "Save as JSON")) c_.wishes.ask(Command::saveState);
    if (w_.menuItem("export:copy-state", "Copy state as JSON")) c_.wishes.ask(Command::copyState);
    if (w_.menuItem("export:copy-weights", "Copy weights as table")) c_.wishes.ask(Command::copyWeights);
  }

  // What the header shows only where there is room for it: the first ones first.
  enum class Part { undo, redo, reset, fullscreen, help, theme, experiments };
  static constexpr Part kParts[] = {Part::reset, Part::undo, Part::redo, Part::fullscreen, Part::help, Part::theme, Part::experiments};

  // Controls from the left, the menu of all that has no room at the right, and between them as much as fits.
  void compact() {
    const float width = c_.layout.header.width;
    if (width < 420) gap_ = 8;
    if (!c_.layout.side.empty() && w_.icon("panel", fromLeft(34), Icon::menu, true, c_.view.drawer)) {
      c_.view.drawer = !c_.view.drawer;
    }
    causal(width);
    headCount(width);
    const Box more = fromRight(34);
    float room = right_ - left_;
    const bool presetShown = room >= 130 + 4 * (34 + gap_);
    if (presetShown) room -= 130 + gap_;
    for (const Part part : kParts) {
      const bool isWord = part == Part::experiments;
      const float needs = (isWord ? 102.0f : 34.0f) + gap_;
      shown_[static_cast<std::size_t>(part)] = !(isWord && hidden("experiments")) && needs <= room + gap_;
      if (shown_[static_cast<std::size_t>(part)]) room -= needs;
    }
    for (const Part part : {Part::fullscreen, Part::reset, Part::redo, Part::undo, Part::theme, Part::help, Part::experiments}) {
      if (shows(part)) shownPart(part);
    }
    if (presetShown) presets(std::min(right_ - left_, 180.0f));
    else presetMenu();
    if (w_.icon("more", more, Icon::more)) w_.openMenu("more", more);
    moreMenu(more, presetShown);
  }

  bool shows(Part part) const { return shown_[static_cast<std::size_t>(part)]; }

  void shownPart(Part part) {
    switch (part) {
      case Part::undo: return act(part, w_.icon("undo", fromRight(34), Icon::undo, c_.canUndo));
      case Part::redo: return act(part, w_.icon("redo", fromRight(34), Icon::redo, c_.canRedo));
      case Part::reset: return act(part, w_.icon("reset", fromRight(34), Icon::reset));
      case Part::fullscreen: return act(part, w_.icon("fullscreen", fromRight(34), Icon::expand));
      case Part::help: return act(part, w_.icon("help", fromRight(34), Icon::help, true, c_.view.help));
      case Part::theme: return act(part, w_.icon("theme", fromRight(34), Icon::theme));
      case Part::experiments: return experiments();
    }
  }

  void act(Part part, bool asked) {
    if (!asked) return;
    switch (part) {
      case Part::undo: return c_.wishes.ask(Command::undo);
      case Part::redo: return c_.wishes.ask(Command::redo);
      case Part::reset: return c_.wishes.ask(Command::reset);
      case Part::fullscreen: return c_.wishes.ask(Command::fullscreen);
      case Part::help: c_.view.help = !c_.view.help; return;
      case Part::theme: return nextTheme();
      case Part::experiments: return openExperiments();
    }
  }

  void moreMenu(const Box& button, bool presetShown) {
    if (!w_.beginMenu("more", 190)) return;
    const bool examples = !presetShown && w_.menuItem("preset", "Examples …");
    moreItem(Part::undo, "undo", "Undo", c_.canUndo);
    moreItem(Part::redo, "redo", "Redo", c_.canRedo);
    moreItem(Part::reset, "reset", "Start again");
    if (!hidden("experiments")) moreItem(Part::experiments, "experiments", "Experiments");
    moreItem(Part::help, "help", "Keys and pointer");
    moreItem(Part::theme, "theme", c_.palette.dark ? "Light colours" : "Dark colours");
    moreItem(Part::fullscreen, "fullscreen", "Full screen");
    if (w_.menuItem("present", "Present")) c_.wishes.set(OptionId::present, true);
    if (!hidden("import") && w_.menuItem("import", "Open a file …")) c_.wishes.ask(Command::pickFile);
    if (!hidden("export")) exportItems();
    w_.endMenu();
    if (examples) w_.openMenu("preset", button);
  }

  void moreItem(Part part, std::string_view name, std::string_view words, bool enabled = true) {
    if (!shows(part)) act(part, w_.menuItem(name, words, false, {}, enabled));
  }

  void causal(float width) {
    const bool words = width >= 345;
    const float room = words ? textWidth(c_.fonts.strong, "Causal") + 42 : 36;
    if (w_.toggle("causal", {left_, middle_ - 14, room, 28}, words ? "Causal" : "", c_.state.causal, true)) {
      c_.wishes.set(OptionId::causal, !c_.state.causal);
    }
    left_ += room + gap_;
  }

  void headCount(float width) {
    if (width >= 375) {
      textMiddle(ImGui::GetWindowDrawList(), c_.fonts.text, left_, middle_, c_.palette.text, "Heads");
      left_ += textWidth(c_.fonts.text, "Heads") + 6;
    }
    const HeadSteps steps(c_.state);
    const int step = w_.stepper("heads", fromLeft(84), std::to_string(c_.state.heads), steps.less > 0, steps.more > 0);
    if (step != 0) c_.wishes.set(OptionId::heads, static_cast<double>(step < 0 ? steps.less : steps.more));
  }

  void experiments() {
    if (!hidden("experiments") && w_.button("experiments", fromRight(102), "Experiments")) openExperiments();
  }

  void openExperiments() {
    using Page = document::Experiment;
    showPage(c_, c_.experiment() == Page::none ? c_.view.lab.last : Page::none);
  }

  void nextTheme() { c_.wishes.set(OptionId::theme, std::string(c_.palette.dark ? "light" : "dark")); }

  Context& c_;
  Widgets w_;
  float middle_, left_ = 0, right_ = 0, gap_ = 10;
  bool shown_[std::size(kParts)] = {};
};

struct KeyLine {
  const char *keys, *what;
};

constexpr KeyLine kKeys[] = {
    {"drag", "change a number (Shift finer, Alt coarser)"},
    {"double-click, Enter, 0 … 9", "type a number; also renames a token"},
    {"↑ ↓", "one step up or down (Shift finer, Alt coarser)"},
    {"← →, Ctrl + arrows", "to the next cell"},
    {"Shift + click, Ctrl + Shift + arrows", "select a range; Ctrl + drag too"},
    {"Ctrl + C, Ctrl + V", "cells as tab-separated text"},
    {"Ctrl + Z, Ctrl + Shift + Z", "undo, redo"},
    {"Tab, Shift + Tab while typing", "enter, and type the next or previous cell"},
    {"Delete", "write 0"},
    {"Space", "on scores or weights: mask the cell, or show it"},
    {"q k v s w o x", "go to that matrix"},
    {"c, d, m, p", "causal, ÷ √d_k, input mode, paint the mask"},
    {"h H, n N, t T", "more or fewer heads, next head, tokens"},
    {"[ ]", "temperature down, up"},
    {"O", "the options, by arrows and Enter; Esc goes back"},
    {"e", "the experiments; 1 … 5 their pages"},
    {"f, z Z", "present (Esc goes back); larger, smaller"},
    {"r, ?, Esc", "reset, this list, close or deselect"},
};

}  // namespace

void header(Context& c) {
  if (!c.layout.header.empty()) Header(c).draw();
}

void help(Context& c) {
  if (!c.view.help) return;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  Scroller& page = c.view.helpPage;
  const float width = std::min(560.0f, size.x - 24);
  const float height = std::min(page.content, size.y - 24);  // as it was measured in the frame before
  const Box box{std::floor((size.x - width) / 2), std::floor((size.y - height) / 2), width, height};
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowRounding, 10);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleColor(ImGuiCol_WindowBg, c.palette.panel);
  ImGui::PushStyleColor(ImGuiCol_Border, c.palette.border);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarBg, c.palette.panel);
  ImGui::PushStyleColor(ImGuiCol_ScrollbarGrab, withAlpha(c.palette.faint, 0.35f));
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarSize, 8);
  ImGui::PushStyleVar(ImGuiStyleVar_ScrollbarRounding, 4);
  ImGui::Begin("##help", nullptr,
               ImGuiWindowFlags_NoTitleBar | ImGuiWindowFlags_NoResize | ImGuiWindowFlags_NoMove |
                   ImGuiWindowFlags_NoSavedSettings | ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoCollapse);
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(4);
  Widgets w(c);
  ImDrawList* list = sharp(ImGui::GetWindowDrawList());
  const float x = box.x + 22, top = ImGui::GetCursorScreenPos().y;
  textMiddle(list, c.fonts.title, x, top + 30, c.palette.text, "Keys and pointer");
  if (w.icon("help-close", {box.right() - 48, top + 16, 30, 28}, Icon::close)) c.view.help = false;
  const float column = width >= 480 ? 236.0f : width * 0.42f;
  float y = top + 66;
  for (const KeyLine& k : kKeys) {
    const float keys = paragraph(list, c.fonts.small, x, y - 7, column - 10, c.palette.text, k.keys);
    const float what = paragraph(list, c.fonts.small, x + column, y - 7, width - column - 36, c.palette.muted, k.what);
    y += std::max(keys, what) + 9;
  }
  const std::string about = "Attention Playground " AP_VERSION " · arithmetic by the " + std::string(c.kernel) + " kernels";
  y += paragraph(list, c.fonts.small, x, y + 5, width - 44, c.palette.muted, about) + 25;
  if (page.content != y - top) c.view.busy = true;  // it gets that size in the next frame
  page.content = y - top;
  ImGui::SetCursorScreenPos({box.x, y - 1});
  ImGui::Dummy({1, 1});
  scrollWithFinger(c, page);
  page.update(box);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y) &&
      !c.layout.header.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y)) {
    c.view.help = false;
  }
  ImGui::End();
}

}  // namespace views
