#include "views/tooltip.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "attention/layer/tensors.h"
#include "base/sentence.h"
#include "document/remedy.h"
#include "views/board/board.h"
#include "views/guide/guide_page.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr double kRests = 0.4, kHolds = 0.5;  // seconds: a pointer that is still, a finger that is pressed
constexpr double kNeighbour = 0.3;            // from one control to the next, across the gap between them
constexpr float kMostWide = 264, kPad = 14, kEdge = 8, kAway = 8, kKey = 20;

/// Why an option cannot be switched, or has no lower or higher value.
base::Message obstacle(const document::Settings& s, std::string_view name) {
  const document::Option* option = document::optionNamed(controlOf(name));
  if (!option) return {};
  const document::Value now = document::get(s, option->id);
  if (const bool* on = std::get_if<bool>(&now)) return sentence(document::reason(s, option->id, !*on));
  const double* number = std::get_if<double>(&now);
  const double by = name.ends_with('+') ? 1 : name.ends_with('-') ? -1 : 0;
  if (!number || by == 0) return {};
  return sentence(document::reason(s, option->id, *number + by));
}

/// Minus signs, which the sentence of an option has not, because it is printed on terminals too.
std::string withMinus(std::string words) {
  for (std::size_t at = 0; (at = words.find('-', at)) != std::string::npos; ++at) {
    const bool begins = at == 0 || words[at - 1] == ' ' || words[at - 1] == '(',
               isOfNumber = at + 1 < words.size() &&
                            (words[at + 1] == ' ' || (words[at + 1] >= '0' && words[at + 1] <= '9'));
    if (begins && isOfNumber) words.replace(at, 1, "\u2212");
  }
  return words;
}

/// What stands in the second half of "4 × 3: a row for each query, a column for each component".
const char* axisWords(attention::Size size, bool isRow) {
  using attention::Size;
  switch (size) {
    case Size::one: return isRow ? "one row" : "one column";
    case Size::queries: return isRow ? "a row for each query" : "a column for each query";
    case Size::keys: return isRow ? "a row for each key" : "a column for each key";
    case Size::positions: return isRow ? "a row for each position" : "a column for each position";
    case Size::scoreUnits: return isRow ? "a row for each hidden unit" : "a column for each hidden unit";
    default: return isRow ? "a row for each component" : "a column for each component";
  }
}

/// Of the title of a matrix: what the matrix is, and what its rows and columns are.
About aboutMatrix(const Context& c, std::string_view name) {
  About says = about(name);
  for (const MatrixPlace& m : c.layout.matrices) {
    if (titleName(m.tensor) != name) continue;
    const attention::TensorRow& row = attention::tensorRow(m.tensor);
    const std::string_view words = row.caption.empty() ? m.caption : row.caption;
    if (!words.empty()) says.title = words;
    attention::Size rows = row.rows, columns = row.columns;
    if (m.tensor == attention::TensorId::w_a && c.state.score == attention::Score::general)
      rows = attention::Size::queryDim;
    if (m.transposed) std::swap(rows, columns);
    says.words = base::message({m.rows, " × ", m.cols, ": ", base::Message(axisWords(rows, true)), ", ",
                                base::Message(axisWords(columns, false))});
  }
  return says;
}

class Drawn {
 public:
  Drawn(Context& c, const Tooltip::Place& of, About says)
      : c_(c),
        of_(of),
        says_(std::move(says)),
        list_(sharp(ImGui::GetForegroundDrawList())) {
    if (c_.touch) says_.key.clear();
    for (std::string* one : {&says_.title, &says_.key}) *one = inWords(*one);
    const bool isFree = of.isOn && !c.locked(controlOf(of.name));
    const base::Message why = isFree ? base::Message() : whyNot(c, of.name);
    words_ = withMinus(inWords(why.empty() ? says_.words : why));
  }

  /// Returns where it is.
  Box draw() {
    const AsIs translated;
    const float most = std::min(kMostWide, ImGui::GetIO().DisplaySize.x - 2 * kEdge) - 2 * kPad;
    const float key =
        says_.key.empty() ? 0 : std::max(22.0f, std::ceil(textWidth(c_.fonts.small, says_.key)) + 12);
    const float title = std::min(textWidth(c_.fonts.strong, says_.title), most - key - (key > 0 ? 10 : 0));
    const float text = std::max(title + key + (key > 0 ? 10 : 0),
                                std::min(most, std::ceil(textWidth(c_.fonts.small, words_))));
    const float lines = words_.empty() ? 0 : paragraph({nullptr, c_.fonts.small, 0}, 0, 0, text, words_);
    const Box box = placedBeside(of_.box, {text + 2 * kPad, (lines > 0 ? 40 : 36) + lines}, c_.touch);
    const ImU32 ink = c_.palette.ink, on = c_.palette.inkText;
    tail(box);
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, ink, 6);
    const float x = box.x + kPad, midY = box.y + 18;
    textMiddle(list_, c_.fonts.strong, x, midY, on, elide(c_.fonts.strong, says_.title, title + 1));
    if (key > 0) {
      const Box k{box.right() - kPad - key, midY - kKey / 2, key, kKey};
      list_->AddRectFilled({k.x, k.y}, {k.right(), k.bottom()}, withAlpha(on, 0.14f), 4);
      textCentered(list_, c_.fonts.small, k.midX(), k.midY(), on, says_.key);
    }
    if (lines > 0) paragraph({list_, c_.fonts.small, withAlpha(on, 0.86f)}, x, box.y + 30, text, words_);
    return c_.widgetRects["tip"] = box;
  }

 private:
  // Points to the control that the box is below or above.
  void tail(const Box& box) const {
    const float x = std::clamp(std::min(of_.box.midX(), of_.box.x + 40), box.x + 12, box.right() - 12);
    if (x < of_.box.x || x > of_.box.right()) return;
    if (box.y >= of_.box.bottom())
      list_->AddTriangleFilled({x - 6, box.y + 0.5f}, {x, box.y - 6}, {x + 6, box.y + 0.5f}, c_.palette.ink);
    else if (box.bottom() <= of_.box.y)
      list_->AddTriangleFilled({x - 6, box.bottom() - 0.5f}, {x + 6, box.bottom() - 0.5f},
                               {x, box.bottom() + 6}, c_.palette.ink);
  }

  Context& c_;
  const Tooltip::Place& of_;
  About says_;
  std::string words_;
  ImDrawList* list_;
};

bool isDismissed() { return ImGui::IsMouseDown(ImGuiMouseButton_Left) || ImGui::GetIO().MouseWheel != 0; }

int millisecondsFrom(double now, double to) {
  return std::max(1, static_cast<int>(std::ceil((to - now) * 1000)));
}

// A mouse, or the keyboard focus.
void follow(Context& c) {
  Tooltip& t = c.view.tip;
  const double now = ImGui::GetTime();
  const ImVec2 by = ImGui::GetIO().MouseDelta;
  const bool moves = by.x != 0 || by.y != 0;
  if (const auto at = c.widgetRects.find(t.named); at != c.widgetRects.end()) t.focus = {t.named, at->second};
  // The focus of a frame is younger than the pointer's events in it, which wait for the frame.
  const bool isFocused = t.focus.name != t.focused && !t.focus.name.empty();
  // That of the focus stays while the pointer moves over what has none (WCAG 1.4.13, persistent): a page that
  // scrolls to the focus moves the board under a pointer that is still.
  if (isFocused) t.byKeys = true;
  else if (t.focus.name.empty() || (moves && !t.over.name.empty())) t.byKeys = false;
  const Tooltip::Place& here = t.byKeys ? t.focus : t.over;
  if (here.name != t.of.name) {
    const bool goesOn = t.isOpen || now - t.left < kNeighbour;
    if (t.isOpen) t.left = now;
    t.isOpen = goesOn && !here.name.empty(), t.isShut = false, t.since = now;
  } else if (moves && !t.byKeys) {
    t.since = now;
  }
  t.of = here;
  if ((isDismissed() && !isFocused) || c.view.text) t.isOpen = false, t.isShut = true, t.left = -1;
  if (t.isShut || t.isOpen || here.name.empty()) return;
  t.isOpen = now - t.since >= kRests;
  if (!t.isOpen) t.wait = millisecondsFrom(now, t.since + kRests);
}

// A finger that is held on a control opens it, which is then not operated; it stays until the next touch.
// Buttons that repeat while they are held do that.
void hold(Context& c) {
  Tooltip& t = c.view.tip;
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) t.of = t.over, t.isOpen = false;
  const bool isGone = c.widgetRects.find(t.of.name) == c.widgetRects.end();
  if (isGone || c.view.text || c.view.finger.does == Finger::Does::scrolls) return t.forget();
  const bool repeats = t.of.isOn && (t.of.name.ends_with('+') || t.of.name.ends_with('-'));
  if (t.isOpen || repeats || c.view.finger.does != Finger::Does::waits || t.over.name != t.of.name) return;
  const double held = ImGui::GetIO().MouseDownDuration[0];
  t.isOpen = held >= kHolds &&
             !about(t.of.name)
                  .title.empty();  // what has none, such as the board or a button that repeats, is not let go
  if (t.isOpen) ImGui::ClearActiveID();
  else t.wait = millisecondsFrom(held, kHolds);
}

}  // namespace

base::Message whyNot(const Context& c, std::string_view name) {
  if (c.locked(controlOf(name))) {
    const auto instead = allowedInstead(c, controlOf(name));
    if (!instead) return "The author of this page has locked it";
    return base::message({"In this exercise only this can be changed: ", *instead});
  }
  if (name == "undo") return "There is nothing to take back";
  if (name == "redo") return "There is nothing to bring back";
  if (name == "guide-back") return "This is the first step";
  if (name == "guide-next" && c.view.guide)
    return c.view.guide->asks() ? "Answer the question first" : "Pass the check first, or use Show me";
  return obstacle(c.unlabelled(), name);
}

// What is too large for all of that leaves at least the pointer free.
Box placedBeside(const Box& of, ImVec2 size, bool isAbove) {
  const ImVec2 screen = ImGui::GetIO().DisplaySize, mouse = ImGui::GetIO().MousePos;
  const auto inside = [](float at, float length, float whole) {
    return std::clamp(at, kEdge, std::max(kEdge, whole - kEdge - length));
  };
  const auto around = [&](const Box& thing) -> std::optional<Box> {
    const float x = inside(thing.x, size.x, screen.x),
                y = inside(thing.midY() - size.y / 2, size.y, screen.y);
    const Box below{x, thing.bottom() + kAway, size.x, size.y},
        above{x, thing.y - kAway - size.y, size.x, size.y};
    const Box right{thing.right() + kAway, y, size.x, size.y},
        left{thing.x - kAway - size.x, y, size.x, size.y};
    for (const Box& box : {isAbove ? above : below, isAbove ? below : above, right, left})
      if (box.x >= kEdge && box.y >= kEdge && box.right() <= screen.x - kEdge &&
          box.bottom() <= screen.y - kEdge)
        return box;
    return {};
  };
  if (const auto box = around(of)) return *box;
  if (const auto box = around({mouse.x - 8, mouse.y - 8, 16, 24})) return *box;
  return {inside(of.x, size.x, screen.x), inside(of.bottom() + kAway, size.y, screen.y), size.x, size.y};
}

void pointAt(Context& c, std::string_view name, const Box& box, bool isOn) {
  Tooltip::Place& over = c.view.tip.over;
  if (!ImGui::IsMouseHoveringRect({box.x, box.y}, {box.right(), box.bottom()}))
    return;  // cut off where the panel ends
  if (!ImGui::IsWindowHovered(ImGuiHoveredFlags_AllowWhenBlockedByActiveItem)) return;
  if (over.name.empty() || box.width * box.height < over.box.width * over.box.height)
    over = {std::string(name), box, isOn};
}

void pointBelow(Context& c, std::string_view name, float room) {
  for (Tooltip::Place* place : {&c.view.tip.over, &c.view.tip.focus})
    if (place->name == name) place->box.height += room;
}

bool escapesTooltip(Context& c) {
  Tooltip& t = c.view.tip;
  if (!t.isOpen || !ImGui::IsKeyPressed(ImGuiKey_Escape)) return false;
  t.isOpen = false, t.isShut = true, t.left = -1;
  if (c.touch) t.forget();
  return true;
}

void tooltip(Context& c) {
  Tooltip& t = c.view.tip;
  c.touch ? hold(c) : follow(c);
  t.focused = t.focus.name;
  if (!t.isOpen) return;
  if (c.fonts
          .mirror) {  // in the tables it is the description of the control; on the board it is where it was
    if (!t.box.empty()) c.widgetRects["tip"] = t.box;
    return;
  }
  const About says = t.of.name.starts_with("title:") ? aboutMatrix(c, t.of.name) : about(t.of.name);
  t.box = says.title.empty() ? Box{} : Drawn(c, t.of, says).draw();
}

}  // namespace views
