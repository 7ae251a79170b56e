#include "views/palette.h"

#include <imgui.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sentence.h"
#include "views/board/board.h"
#include "views/guide/glossary.h"
#include "views/marked.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using base::joined;
using End = PaletteView::End;
using Kind = Finding::Kind;

/// "find:command:causal".
std::string nameOf(const Finding& finding) {
  constexpr std::string_view kNames[] = {"command",  "option",  "lesson", "puzzle",
                                         "question", "example", "term",   "token"};
  return joined({"find:", kNames[static_cast<std::size_t>(finding.kind)], ":", finding.id});
}

/// Findings depend on what is typed, and on what has been loaded meanwhile.
std::string sourceOf(const Context& c, const PaletteView& p) {
  const std::size_t cards = c.view.guide ? c.view.guide->entries.size() : 0,
                    texts = c.view.guide ? c.view.guide->texts.size() : 0;
  return joined({cards, ",", texts, ",", c.view.glossary ? c.view.glossary->terms.size() : std::size_t{0},
                 ",", c.revision, ":", p.typed});
}

void closePalette(Context& c) {
  PaletteView& p = *c.view.palette;
  p.isOpen = false;
  if (c.view.text && c.view.text->kind == TextTarget::Kind::palette) c.requests.dropsText = true;
}

void choose(Context& c, const Finding& finding, const Box& near) {
  if (const base::Message why = obstacleTo(c, finding); !why.empty())
    return c.requests.say(base::message({why, "."}));
  closePalette(c);
  switch (finding.kind) {
    case Kind::command:
    case Kind::option: return begin(c, c.view.palette->action, finding.id);
    case Kind::lesson:
    case Kind::puzzle:
    case Kind::question: return c.requests.guide.push_back({GuideAct::What::open, 0, finding.id, {}});
    case Kind::example: c.requests.preset = finding.id; return;
    case Kind::term: return openTerm(c, finding.id, near);
    case Kind::token: return goTo(c, cellOf(c, finding));
  }
}

class PalettePanel {
 public:
  explicit PalettePanel(Context& c)
      : c_(c),
        p_(*c.view.palette),
        search_(p_.typed),
        row_(c.touch ? kTouchRow : kRow) {
    if (std::string source = sourceOf(c, p_); source != p_.foundFor) {
      p_.findings = find(c, search_);
      p_.foundFor = std::move(source);
    }
    p_.chosen = std::clamp(p_.chosen, 0, std::max(0, count() - 1));
    place();
  }

  const Box& box() const { return box_; }

  void draw() {
    const Palette& colors = c_.palette;
    ImDrawList* list = sharp(ImGui::GetWindowDrawList());
    list->PushClipRectFullScreen();
    list->AddRectFilled({box_.x, box_.y + 3}, {box_.right(), box_.bottom() + 5},
                        withAlpha(IM_COL32(0, 0, 0, 255), colors.dark ? 0.4f : 0.1f), 10);
    list->AddRectFilled({box_.x, box_.y}, {box_.right(), box_.bottom()}, colors.panel, 8);
    list->AddRect({box_.x, box_.y}, {box_.right(), box_.bottom()}, colors.border, 8);
    list->PopClipRect();
    field(list);
    rows();
    if (hasFoot_) foot(list);
    c_.widgetRects["palette"] = box_;
  }

  /// What Enter, or a press on a row, asks for; null if nothing.
  const Finding* asked() const { return asked_; }
  const Box& near() const { return near_; }

  void moveBy(int by) {
    if (count() == 0) return;
    p_.chosen = (p_.chosen + by + count()) % count();
    reveals_ = true;
  }
  void enter() { enters_ = true; }
  bool enters() const { return enters_; }

  void type() {
    TextTarget t;
    t.kind = TextTarget::Kind::palette;
    t.name = "Find a command, a lesson, a term or a token";
    t.text = p_.typed, t.selectAll = false, t.searches = kLetters;
    t.box = {box_.x + 44, box_.y + 8, box_.width - 44 - kPad - countWidth(), kField - 16};
    c_.requests.text = t;
  }

 private:
  static constexpr float kWide = 480, kNarrow = 344,
                         kLarge = 700;  // widths of the palette, and of a window for the larger
  static constexpr float kField = 48, kRow = 32, kTouchRow = 44, kHeading = 28, kFoot = 34, kPad = 16,
                         kEdge = 8, kLetters = 16;

  int count() const { return static_cast<int>(p_.findings.shown.size()); }
  float countWidth() const { return 76; }

  float contentHeight() const {
    if (count() == 0) return 64;
    float height = 8;
    for (std::size_t i = 0; i < p_.findings.shown.size(); ++i)
      height += row_ + (beginsGroup(i) ? kHeading : 0);
    return height + 4;
  }

  bool beginsGroup(std::size_t i) const {
    return i == 0 || p_.findings.shown[i].kind != p_.findings.shown[i - 1].kind;
  }

  // 96 from the top of a large window; nearer to that of a small one, whose lower half a keyboard may cover.
  void place() {
    const ImVec2 screen = ImGui::GetIO().DisplaySize;
    const float width = std::min(screen.x >= kLarge ? kWide : kNarrow, screen.x - 2 * kEdge),
                top = std::max(kEdge, std::min(96.0f, std::floor(screen.y / 10)));
    hasFoot_ = !c_.touch && screen.y >= 300;
    const float most = screen.y - top - 2 * kEdge;
    box_ = {std::floor((screen.x - width) / 2), top, width,
            std::min(most, kField + contentHeight() + (hasFoot_ ? kFoot : 0))};
  }

  void field(ImDrawList* list) {
    magnifier(list, {box_.x + 25, box_.y + kField / 2}, c_.palette.muted);
    const bool isTyped = c_.view.text && c_.view.text->kind == TextTarget::Kind::palette;
    const Box words{box_.x + 40, box_.y, box_.width - 40 - kPad - countWidth(), kField};
    if (!isTyped) {
      const AsIs own;
      textMiddle(list, c_.fonts.text, words.x + 4, words.midY(), c_.palette.text,
                 elide(c_.fonts.text, p_.typed, words.width - 8));
      if (Widgets(c_).area("palette:field", words, Mirror::Role::field)) type();
    }
    if (!search_.empty())
      textRight(list, c_.fonts.small, box_.right() - kPad, words.midY(), c_.palette.muted,
                base::message({p_.findings.count, " found"}));
    list->AddLine({box_.x, box_.y + kField - 0.5f}, {box_.right(), box_.y + kField - 0.5f},
                  c_.palette.border);
  }

  void rows() {
    const Box page{box_.x + 1, box_.y + kField, box_.width - 2,
                   box_.height - kField - (hasFoot_ ? kFoot : 0)};
    const NarrowScrollbar scrollbar(c_.palette, c_.palette.panel);
    ImGui::SetCursorScreenPos({page.x, page.y});
    p_.page.begin();
    ImGui::BeginChild("##palette-rows", {page.width, page.height}, 0,
                      ImGuiWindowFlags_NoNav | ImGuiWindowFlags_NoBackground);
    ImDrawList* list = sharp(ImGui::GetWindowDrawList());
    const ImVec2 origin = ImGui::GetCursorScreenPos();
    float y = origin.y + 4;
    if (count() == 0) {
      paragraph({list, c_.fonts.text, c_.palette.muted}, box_.x + kPad, y + 16, box_.width - 2 * kPad,
                "Nothing matches; try fewer words, or others.");
      y = origin.y + 60;
    }
    for (std::size_t i = 0; i < p_.findings.shown.size(); ++i) {
      if (beginsGroup(i)) {
        textMiddle(list, c_.fonts.smallStrong, box_.x + kPad, y + kHeading / 2 + 3, c_.palette.muted,
                   headingOf(p_.findings.shown[i].kind));
        y += kHeading;
      }
      row(list, static_cast<int>(i), {box_.x + 6, y, box_.width - 12, row_});
      y += row_;
    }
    ImGui::SetCursorScreenPos({origin.x, y});
    ImGui::Dummy({1, 1});
    scrollWithFinger(c_, p_.page);
    p_.page.update(page);
    ImGui::EndChild();
  }

  void row(ImDrawList* list, int at, const Box& box) {
    const Palette& colors = c_.palette;
    const Finding& finding = p_.findings.shown[static_cast<std::size_t>(at)];
    const ImVec2 by = ImGui::GetIO().MouseDelta;
    const bool pressed = Widgets(c_).area(nameOf(finding), box, Mirror::Role::button);
    if (ImGui::IsItemHovered() && (by.x != 0 || by.y != 0)) p_.chosen = at;
    const bool isChosen = at == p_.chosen, isOff = !obstacleTo(c_, finding).empty();
    if (pressed || (enters_ && isChosen)) asked_ = &finding, near_ = box;
    if (isChosen) {
      list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, colors.hover, 5);
      list->AddRectFilled({box.x, box.y + 2}, {box.x + 2.5f, box.bottom() - 2}, colors.ink, 1);
      if (reveals_) ImGui::SetScrollFromPosY(box.midY() - ImGui::GetWindowPos().y, 0.5f), c_.view.busy = true;
    }
    markedText(c_, {list, c_.fonts.text, isOff ? colors.muted : colors.text}, {box.x + 10, box.midY()},
               box.width - 20 - asideWidth(finding), finding.title, search_);
    aside(list, finding, box);
  }

  /// Its width, with the gap before it.
  float asideWidth(const Finding& finding) const {
    if (finding.aside.empty()) return 0;
    const AsIs translated;
    const float wide = std::ceil(textWidth(c_.fonts.small, finding.aside));
    return (finding.isKey ? std::max(22.0f, wide + 12) : wide) + 16;
  }

  /// A key in a frame, or a remark.
  void aside(ImDrawList* list, const Finding& finding, const Box& box) const {
    const AsIs translated;
    if (!finding.isKey)
      return textRight(list, c_.fonts.small, box.right() - 10, box.midY(), c_.palette.muted, finding.aside);
    const float width = asideWidth(finding) - 16;
    const Box key{box.right() - 10 - width, box.midY() - 10, width, 20};
    list->AddRectFilled({key.x, key.y}, {key.right(), key.bottom()}, c_.palette.panel, 4);
    list->AddRect({key.x, key.y}, {key.right(), key.bottom()}, c_.palette.border, 4);
    textCentered(list, c_.fonts.small, key.midX(), key.midY(), c_.palette.muted, finding.aside);
  }

  // What the keys do, or why the chosen row cannot be done.
  void foot(ImDrawList* list) {
    const Box line{box_.x, box_.bottom() - kFoot, box_.width, kFoot};
    list->AddLine({line.x, line.y + 0.5f}, {line.right(), line.y + 0.5f}, c_.palette.border);
    float x = line.x + kPad;
    const base::Message why = count() > 0
                                  ? obstacleTo(c_, p_.findings.shown[static_cast<std::size_t>(p_.chosen)])
                                  : base::Message();
    if (!why.empty())
      return textMiddle(list, c_.fonts.small, x, line.midY(), c_.palette.text,
                        elide(c_.fonts.small, why, line.width - 2 * kPad));
    for (const auto& [key, does] : {std::pair{"↑↓", "move"}, {"Enter", "do"}, {"Esc", "close"}}) {
      textMiddle(list, c_.fonts.smallStrong, x, line.midY(), c_.palette.text, key);
      x += textWidth(c_.fonts.smallStrong, key) + 6;
      textMiddle(list, c_.fonts.small, x, line.midY(), c_.palette.muted, does);
      x += textWidth(c_.fonts.small, does) + 18;
    }
  }

  Context& c_;
  PaletteView& p_;
  document::Search search_;
  float row_;
  Box box_, near_;
  bool hasFoot_ = true, reveals_ = false, enters_ = false;
  const Finding* asked_ = nullptr;
};

/// A window in front of everything.
void beginWindow(const char* name, const Box& box, bool isNew) {
  ImGui::SetNextWindowPos({box.x, box.y});
  ImGui::SetNextWindowSize({box.width, box.height});
  if (isNew) ImGui::SetNextWindowFocus();
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::Begin(name, nullptr,
               kFixedWindow | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoScrollWithMouse |
                   ImGuiWindowFlags_NoBackground);
  ImGui::PopStyleVar(2);
}

// Keys while the field is open reach it: of those only the ones that it passes on come here.
void readKeys(Context& c, PalettePanel& panel) {
  PaletteView& p = *c.view.palette;
  const auto pressed = [](ImGuiKey key) { return ImGui::IsKeyPressed(key); };
  const int by = pressed(ImGuiKey_DownArrow) - pressed(ImGuiKey_UpArrow);
  if (by != 0) panel.moveBy(by);
  const bool isTyped = c.view.text.has_value();
  const End end = std::exchange(p.end, End::none);
  if (end == End::leave) p.isLeft = true;
  if (end == End::enter || (!isTyped && (pressed(ImGuiKey_Enter) || pressed(ImGuiKey_KeypadEnter))))
    panel.enter();
  if (end == End::close || (!isTyped && pressed(ImGuiKey_Escape))) closePalette(c);
}

// A press beside it closes it. One inside takes the keyboard from the field, which gets it back unless a row
// was meant; on a touch screen it stays away, because its keyboard would cover the rows.
void readPress(Context& c, PalettePanel& panel, bool isNew) {
  PaletteView& p = *c.view.palette;
  const ImVec2 mouse = ImGui::GetIO().MousePos;
  const bool isInside = panel.box().contains(mouse.x, mouse.y),
             isDown = ImGui::IsMouseDown(ImGuiMouseButton_Left);
  if (!isNew && !isInside && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) return closePalette(c);
  if (!p.isLeft || isDown) return;
  p.isLeft = false;
  if (c.touch || !p.isOpen) return;
  if (isInside) panel.type();
  else closePalette(c);
}

}  // namespace

void openPalette(Context& c) {
  if (!c.view.palette) c.view.palette = std::make_shared<PaletteView>();
  PaletteView& p = *c.view.palette;
  p = {};
  p.isOpen = p.isNew = true;
  // Both would take the focus from it in every frame.
  c.view.help.open = false;
  if (c.view.glossary) c.view.glossary->open.clear();
  c.requests.guide.push_back({GuideAct::What::index, 0, "", {}});
  c.view.busy = true;
}

bool paletteUsesKey(const Context& c, ImGuiKey key, bool command) {
  if (command && key == ImGuiKey_K) return true;
  const bool leads = key == ImGuiKey_UpArrow || key == ImGuiKey_DownArrow || key == ImGuiKey_Enter ||
                     key == ImGuiKey_KeypadEnter || key == ImGuiKey_Escape;
  return c.view.palette && c.view.palette->isOpen && leads;
}

void palette(Context& c) {
  PaletteView& p = *c.view.palette;
  advance(c, p.action);
  if (!p.typed.empty() && !std::exchange(p.hasAsked, true))
    c.requests.guide.push_back({GuideAct::What::texts, 0, "", {}});
  if (!p.isOpen) return;
  if (c.view.help.open) return closePalette(c);  // that was opened later, in the tables
  const bool isNew = std::exchange(p.isNew, false);
  const ImVec2 screen = ImGui::GetIO().DisplaySize;
  beginWindow("##palette-back", {0, 0, screen.x, screen.y}, isNew);  // what is below receives no input
  ImGui::End();
  PalettePanel panel(c);
  beginWindow("##palette", panel.box(), isNew || ImGui::IsMouseClicked(ImGuiMouseButton_Left));
  readKeys(c, panel);
  panel.draw();
  ImGui::End();
  if (p.isOpen && panel.asked()) choose(c, *panel.asked(), panel.near());
  if (p.isOpen && (isNew || panel.enters())) panel.type();  // also if nothing came of Enter
  if (p.isOpen) readPress(c, panel, isNew);
}

}  // namespace views
