// The strip for a number that a finger has selected: its name and value, − and +, a slider that goes back to
// where it was, and a keypad, because that of the system would cover what follows from the number.
#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "base/number.h"
#include "document/verdict.h"
#include "views/board/board.h"
#include "views/panels/changes.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

// What is typed as a number, also where the decimals are still to come.
float valueOf(std::string_view typed) {
  if (typed.ends_with('.')) typed.remove_suffix(1);
  return base::parseFloat(typed).value_or(0.0f);
}

class EditingStrip {
 public:
  EditingStrip(Context& c, CellRef cell, float value)
      : c_(c),
        w_(c),
        list_(ImGui::GetWindowDrawList()),
        box_(c.layout.editing),
        cell_(cell),
        edited_(*c.view.edited),
        value_(double{value}),
        before_(double{edited_.before}),
        end_(std::ceil(std::max({kLeastEnd, std::fabs(value_), std::fabs(before_)}))) {
    box_.height -= c.layout.keypad.height;
    if (edited_.typed.empty() || valueOf(edited_.typed) != value)
      edited_.typed.clear(), edited_.isWhole = true;
  }

  void draw() {
    const Palette& p = c_.palette;
    c_.widgetRects["editing"] = c_.layout.editing;
    list_->AddRectFilled({box_.x, box_.y}, {box_.right(), c_.layout.editing.bottom()}, p.panel);
    list_->AddLine({box_.x, box_.y + 0.5f}, {box_.right(), box_.y + 0.5f}, p.border);
    const float buttons = c_.layout.toolbar.empty() ? 2 * (kTarget + kGap) : 0;
    const float width = std::min(box_.width, kMost + buttons), left = box_.midX() - width / 2 + kPad,
                right = box_.midX() + width / 2 - kPad - buttons;
    const float y = box_.midY() - kTarget / 2, words = std::clamp((width - buttons) * 0.22f, 68.0f, 110.0f);
    number({left, y, words, kTarget});
    const float track = left + words + kGap + kTarget + kGap;
    const double by = kStep * (step("editing-less", {track - kGap - kTarget, y, kTarget, kTarget}, -1) +
                               step("editing-more", {right - kTarget, y, kTarget, kTarget}, 1));
    if (by != 0) set(moved(static_cast<float>(value_), by), c_.requests.held);
    slider({track, y, right - kTarget - kGap - track, kTarget});
    if (buttons > 0) ways({right + kGap, y, kTarget, kTarget});
    if (c_.layout.keypad.height > 0) keypad();
  }

 private:
  static constexpr float kTarget = 44, kPad = 16, kGap = 8,
                         kMost = 560;                       // kMost: the width of what is in the strip
  static constexpr float kKnob = 11, kDot = 5, kCatch = 9;  // kCatch: pixels around the dot that mean it
  static constexpr double kStep = 0.1, kFine = 0.05, kLeastEnd = 2;
  static constexpr float kApart = 30;         // between two numbers below the track
  static constexpr std::size_t kLongest = 8;  // of a typed number

  // What is typed, or the value. A tap on it opens the keys.
  void number(const Box& box) {
    const ImU32 color = hue(c_.palette, cell_.tensor);
    const std::string name = document::nameOf(
        {std::string(attention::name(cell_.tensor)), {cell_.head, cell_.row, cell_.col}}, c_.state);
    {
      const AsIs asIs;
      textMiddle(list_, c_.fonts.small, box.x, box.y + 10, c_.palette.muted,
                 elide(c_.fonts.small, name, box.width));
    }
    const std::string words =
        edited_.typed.empty() ? formatNumber(value_, std::max(c_.state.decimals, 2)) : edited_.typed;
    const float scale = std::min(16.0f / 13, box.width / textWidth(c_.fonts.mono, words)),
                wide = textWidth(c_.fonts.mono, words) * scale;
    digitsCentered({list_, c_.fonts.mono, color}, scale, box.x + wide / 2, box.y + 31, words);
    if (!edited_.isWhole)
      list_->AddRectFilled({box.x + wide + 2, box.y + 22}, {box.x + wide + 3.5f, box.y + 40}, color);
    if (w_.area("editing-value", box)) c_.view.keys = !c_.view.keys;
  }

  // Where there is no bar below: the keys, and the way out.
  void ways(Box box) {
    if (w_.icon("keys", box, Widgets::Icon::keys, true, c_.view.keys)) c_.view.keys = !c_.view.keys;
    box.x += kTarget + kGap;
    if (w_.icon("done", box, Widgets::Icon::done)) endEditing(c_);
  }

  void frame(const Box& box) {
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         ImGui::IsItemActive() ? c_.palette.hover : c_.palette.panel, 6);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 6);
  }

  // − or +, repeatedly while it is held.
  int step(std::string_view name, const Box& box, int sign) {
    const bool pressed = w_.held(name, box, true);
    frame(box);
    const float x = std::round(box.midX()), y = std::round(box.midY());
    list_->AddRectFilled({x - 6, y - 1}, {x + 6, y + 1}, c_.palette.text);
    if (sign > 0) list_->AddRectFilled({x - 1, y - 6}, {x + 1, y + 6}, c_.palette.text);
    return pressed ? sign : 0;
  }

  // From −end to end. A hollow dot is at the number as it was when it was selected; a tap there goes back to
  // it.
  void slider(const Box& box) {
    const float from = box.x + kKnob, length = std::max(box.width - 2 * kKnob, 1.0f), y = box.midY();
    const auto at = [&](double value) {
      return from + length * static_cast<float>((value + end_) / (2 * end_));
    };
    const bool tapped = w_.area("editing-slider", box, Mirror::Role::slider,
                                static_cast<int>(std::lround((value_ + end_) / (2 * end_) * 100)));
    if (ImGui::IsItemActive() ? c_.view.finger.does == Finger::Does::drags : tapped) {
      const float finger = std::clamp(ImGui::GetIO().MousePos.x, from, from + length);
      const double wanted = (static_cast<double>(finger - from) / static_cast<double>(length) * 2 - 1) * end_;
      set(std::fabs(finger - at(before_)) < kCatch ? static_cast<float>(before_)
                                                   : moved(0, std::round(wanted / kFine) * kFine),
          kSliderGesture);
    }
    if (ImGui::IsItemDeactivated()) c_.requests.endGesture = true;
    const Palette& p = c_.palette;
    const ImU32 color = hue(p, cell_.tensor);
    const float zero = at(0), now = at(value_);
    list_->AddRectFilled({box.x, y - 2}, {box.right(), y + 2}, p.track, 2);
    list_->AddRectFilled({std::min(zero, now), y - 2}, {std::max(zero, now), y + 2}, color);
    list_->AddLine({zero, y - 6}, {zero, y + 6}, p.faint);
    list_->AddCircleFilled({at(before_), y}, kDot, p.panel, 24);
    list_->AddCircle({at(before_), y}, kDot, p.muted, 24, 1.5f);
    list_->AddCircleFilled({now, y}, kKnob, p.ink, 32);
    marks(box, at(before_));
  }

  // Numbers below the track: its least one, 0, and the value before, where they do not touch.
  void marks(const Box& box, float before) {
    const float y = box.bottom() - 4, zero = box.midX();
    const auto mark = [&](float x, double value, int decimals) {
      digitsCentered({list_, c_.fonts.monoSmall, c_.palette.muted}, 1, x, y, formatNumber(value, decimals));
    };
    mark(box.x + kKnob, -end_, 0);
    mark(zero, 0, 0);
    if (before_ != value_ && std::fabs(before - zero) > kApart && before - box.x > kApart)
      mark(before, before_, std::max(c_.state.decimals, 2));
  }

  // Ten digits, and what else a number is made of; the last two lead to the numbers beside this one.
  void keypad() {
    using Icon = Widgets::Icon;
    const KeyGrid grid = keyGrid(c_.layout.keypad);
    const auto place = [&](int index) { return grid.key(c_.layout.keypad, index); };
    for (int i = 0; i < 10; ++i) {
      const std::string digit = std::to_string((i + 1) % 10);
      if (key("key:" + digit, place(i), digit)) type(digit);
    }
    if (key("key:sign", place(10), "±")) turn();
    if (key("key:point", place(11), inNumbers("0.1", own_).substr(1, 1))) type(".");
    if (w_.icon("key:erase", place(12), Icon::erase)) erase();
    if (w_.icon("key:previous", place(13), Icon::previous)) go(-1);
    if (w_.icon("key:next", place(14), Icon::next)) go(1);
  }

  // What was typed goes on being one step of undo when a key is released.
  bool key(std::string_view name, const Box& box, std::string_view sign) {
    const bool pressed = w_.area(name, box);
    if (pressed) c_.requests.endGesture = false;
    frame(box);
    const AsIs asIs;
    textCentered(list_, c_.fonts.title, box.midX(), box.midY(), c_.palette.text, sign);
    return pressed;
  }

  void type(std::string_view sign) {
    std::string& typed = edited_.typed;
    // After ± the first digit leaves the sign.
    if (std::exchange(edited_.isWhole, false)) typed = typed.starts_with('-') ? "-" : "";
    const bool isPoint = sign == ".";
    if (typed.size() >= kLongest || (isPoint && typed.find('.') != std::string::npos)) return;
    const bool isZero = typed == "0" || typed == "-0", isBare = typed.empty() || typed == "-";
    if (isZero && !isPoint) typed.pop_back();
    if (isBare && isPoint) typed += '0';
    write(typed.append(sign));
  }

  void turn() {
    std::string typed = edited_.typed.empty() ? base::shortest(static_cast<float>(value_)) : edited_.typed;
    if (typed.starts_with('-')) typed.erase(0, 1);
    else typed.insert(0, 1, '-');
    write(std::move(typed));
  }

  void erase() {
    std::string typed = edited_.typed;
    if (!typed.empty()) typed.pop_back();
    if (edited_.isWhole || typed.empty() || typed == "-") typed = "0", edited_.isWhole = true;
    write(std::move(typed));
  }

  void write(std::string typed) {
    edited_.typed = std::move(typed);
    if (edited_.gesture == 0) edited_.gesture = c_.view.nextGesture++;
    c_.requests.endGesture = false;
    set(valueOf(edited_.typed), edited_.gesture);
  }

  void go(int by) {
    const MatrixPlace* m = c_.layout.find(cell_.tensor);
    const auto to = m ? neighbour(*m, sliceOf(c_.state, cell_.tensor), cell_, by) : std::nullopt;
    if (!to) return;
    c_.view.selection = {true, to->tensor, to->row, to->col, to->row, to->col};
    c_.requests.moved = true;
  }

  void set(float to, std::uint64_t gesture) {
    if (to != static_cast<float>(value_))
      c_.requests.edit(document::SetCells{cell_.tensor, cell_.head, cell_.row, cell_.col, 1, 1, {to}},
                       gesture);
  }

  Context& c_;
  Widgets w_;
  ImDrawList* list_;
  Box box_;
  CellRef cell_;
  Edited& edited_;
  double value_, before_, end_;
  std::string own_;
};

// The number that is changed must be in view above the strip.
void uncover(Context& c, CellRef cell) {
  constexpr float kAir = 16;
  const MatrixPlace* m = c.layout.find(cell.tensor);
  if (!m) return;
  const Slice s = sliceOf(c.state, cell.tensor);
  const Box box = m->cellBox(cell.row - s.firstRow, cell.col - s.firstCol);
  const float least = std::max(box.bottom() + kAir - c.layout.board.height, 0.0f);
  c.view.scroll = std::clamp(c.view.scroll, least, std::max(box.y - kAir, least));
}

// The functions below are apart from editing(), which runs in every frame, also before they are there.
[[gnu::noinline]] void leaveNumber(Context& c) { c.view.edited.reset(); }

[[gnu::noinline]] void editNumber(Context& c) {
  const Selection& s = c.view.selection;
  const attention::Tensor* tensor = c.tensor(s.tensor);
  const CellRef cell{s.tensor, tensor ? sliceOf(c.state, s.tensor).head : 0, s.row, s.col};
  if (!tensor || !tensor->contains(cell.head, cell.row, cell.col)) return leaveNumber(c);
  const float value = tensor->at(cell.head, cell.row, cell.col);
  std::optional<Edited>& edited = c.view.edited;
  if (!edited || !(edited->cell == cell))
    edited = Edited{.cell = cell, .before = value, .matrices = markable(c)};
  if (edited->seenOn != c.layout.board.height && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
    uncover(c, cell), edited->seenOn = c.layout.board.height;
  EditingStrip(c, cell, value).draw();
}

}  // namespace

void endEditing(Context& c) { c.view.selection.active = false, c.requests.moved = true; }

void editing(Context& c) {
  if (!c.layout.editing.empty()) editNumber(c);
  else if (c.view.edited) leaveNumber(c);
}

}  // namespace views
