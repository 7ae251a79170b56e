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
    if (c_.layout.width == Width::full) wide();
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
    if (!hidden("export")) exports();
    if (!hidden("import") && w_.button("import", fromRight(66), "Import")) c_.wishes.ask(Command::pickFile);
    experiments();
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
    for (const document::Preset& p : document::presets()) {
      if (p.name == c_.state.preset) return p.title;
    }
    return "Your own";
  }

  void presets(float width) {
    w_.menuButton("preset", fromLeft(width), presetTitle());
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
    if (w_.menuItem("export:save", "Save as JSON")) c_.wishes.ask(Command::saveState);
    if (w_.menuItem("export:copy-state", "Copy state as JSON")) c_.wishes.ask(Command::copyState);
    if (w_.menuItem("export:copy-weights", "Copy weights as table")) c_.wishes.ask(Command::copyWeights);
    w_.endMenu();
  }

  void compact() {
    const float width = c_.layout.header.width;
    if (width < 420) gap_ = 8;
    if (!c_.layout.side.empty() && w_.icon("panel", fromLeft(34), Icon::menu, true, c_.view.drawer)) {
      c_.view.drawer = !c_.view.drawer;
    }
    if (w_.icon("fullscreen", fromRight(34), Icon::expand)) c_.wishes.ask(Command::fullscreen);
    if (w_.icon("reset", fromRight(34), Icon::reset)) c_.wishes.ask(Command::reset);
    const bool roomy = width >= 760;
    if (roomy) {
      if (w_.icon("theme", fromRight(34), Icon::theme)) nextTheme();
      if (w_.icon("help", fromRight(34), Icon::help, true, c_.view.help)) c_.view.help = !c_.view.help;
    }
    if (width >= 900) experiments();
    causal(width);
    headCount(width);
    if (width >= 560) {
      const Box more = fromRight(34), less = fromRight(34);
      if (w_.icon("redo", more, Icon::redo, c_.canRedo)) c_.wishes.ask(Command::redo);
      if (w_.icon("undo", less, Icon::undo, c_.canUndo)) c_.wishes.ask(Command::undo);
    }
    if (right_ - left_ >= 130) presets(std::min(right_ - left_, 180.0f));
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
    const std::vector<int> allowed = document::allowedHeads(c_.state);
    const auto here = std::find(allowed.begin(), allowed.end(), c_.state.heads);
    const bool less = here != allowed.begin(), more = here != allowed.end() && here + 1 != allowed.end();
    const int step = w_.stepper("heads", fromLeft(84), std::to_string(c_.state.heads), less, more);
    if (step != 0) c_.wishes.set(OptionId::heads, static_cast<double>(*(here + step)));
  }

  void experiments() {
    using Page = document::Experiment;
    if (hidden("experiments") || !w_.button("experiments", fromRight(102), "Experiments")) return;
    showPage(c_, c_.experiment() == Page::none ? c_.view.lab.last : Page::none);
  }

  void nextTheme() { c_.wishes.set(OptionId::theme, std::string(c_.palette.dark ? "light" : "dark")); }

  Context& c_;
  Widgets w_;
  float middle_, left_ = 0, right_ = 0, gap_ = 10;
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
    {"r, ?, Esc", "reset, this list, close or deselect"},
};

}  // namespace

void header(Context& c) {
  if (!c.layout.header.empty()) Header(c).draw();
}

void help(Context& c) {
  if (!c.view.help) return;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  const float width = std::min(560.0f, size.x - 24), line = 24;
  const float wanted = 84 + line * static_cast<float>(std::size(kKeys)) + 34;
  const float height = std::min(wanted, size.y - 24);
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
    textMiddle(list, c.fonts.small, x, y, c.palette.text, elide(c.fonts.small, k.keys, column - 10));
    textMiddle(list, c.fonts.small, x + column, y, c.palette.muted, elide(c.fonts.small, k.what, width - column - 36));
    y += line;
  }
  const std::string about = "Attention Playground " AP_VERSION " · arithmetic by the " + std::string(c.kernel) + " kernels";
  textMiddle(list, c.fonts.small, x, y + 12, c.palette.muted, elide(c.fonts.small, about, width - 44));
  ImGui::SetCursorScreenPos({box.x, top + wanted - 1});
  ImGui::Dummy({1, 1});
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left) && !box.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y) &&
      !c.layout.header.contains(ImGui::GetIO().MousePos.x, ImGui::GetIO().MousePos.y)) {
    c.view.help = false;
  }
  ImGui::End();
}

}  // namespace views
