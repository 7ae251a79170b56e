// The strip for a number that a finger has selected: its name and value, − and +, and a slider that goes back
// to where it was.
#include <algorithm>
#include <cmath>
#include <string>

#include "document/verdict.h"
#include "views/board/board.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

class EditingStrip {
 public:
  EditingStrip(Context& c, CellRef cell, float value, float before)
      : c_(c),
        w_(c),
        list_(ImGui::GetWindowDrawList()),
        box_(c.layout.editing),
        cell_(cell),
        value_(double{value}),
        before_(double{before}),
        end_(std::ceil(std::max({kLeastEnd, std::fabs(value_), std::fabs(before_)}))) {}

  void draw() {
    const Palette& p = c_.palette;
    list_->AddRectFilled({box_.x, box_.y}, {box_.right(), box_.bottom()}, p.panel);
    list_->AddLine({box_.x, box_.y + 0.5f}, {box_.right(), box_.y + 0.5f}, p.border);
    c_.widgetRects["editing"] = box_;
    const float width = std::min(box_.width, kMost), left = box_.midX() - width / 2 + kPad,
                right = box_.midX() + width / 2 - kPad;
    const float y = box_.midY() - kTarget / 2, words = std::clamp(width * 0.22f, 68.0f, 110.0f);
    number({left, y, words, kTarget});
    const float track = left + words + kGap + kTarget + kGap;
    const double by = kStep * (step("editing-less", {track - kGap - kTarget, y, kTarget, kTarget}, -1) +
                               step("editing-more", {right - kTarget, y, kTarget, kTarget}, 1));
    if (by != 0) set(moved(static_cast<float>(value_), by), c_.requests.held);
    slider({track, y, right - kTarget - kGap - track, kTarget});
  }

 private:
  static constexpr float kTarget = 44, kPad = 16, kGap = 8,
                         kMost = 560;                       // kMost: the width of what is in the strip
  static constexpr float kKnob = 11, kDot = 5, kCatch = 9;  // kCatch: pixels around the dot that mean it
  static constexpr double kStep = 0.1, kFine = 0.05, kLeastEnd = 2;

  // A tap on the value opens the keyboard, to type another one.
  void number(const Box& box) {
    const ImU32 color = hue(c_.palette, cell_.tensor);
    const std::string name = document::nameOf(
        {std::string(attention::name(cell_.tensor)), {cell_.head, cell_.row, cell_.col}}, c_.state);
    {
      const AsIs asIs;
      textMiddle(list_, c_.fonts.small, box.x, box.y + 10, c_.palette.muted,
                 elide(c_.fonts.small, name, box.width));
    }
    const std::string words = formatNumber(value_, std::max(c_.state.decimals, 2));
    const float scale = std::min(16.0f / 13, box.width / textWidth(c_.fonts.mono, words));
    digitsCentered({list_, c_.fonts.mono, color}, scale, box.x + textWidth(c_.fonts.mono, words) * scale / 2,
                   box.y + 31, words);
    if (w_.area("editing-value", box)) typeCell(c_, cell_, {});
  }

  // − or +, repeatedly while it is held.
  int step(std::string_view name, const Box& box, int sign) {
    const bool pressed = w_.held(name, box, true);
    const Palette& p = c_.palette;
    list_->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()},
                         ImGui::IsItemActive() ? p.hover : p.panel, 6);
    list_->AddRect({box.x, box.y}, {box.right(), box.bottom()}, p.border, 6);
    const float x = std::round(box.midX()), y = std::round(box.midY());
    list_->AddRectFilled({x - 6, y - 1}, {x + 6, y + 1}, p.text);
    if (sign > 0) list_->AddRectFilled({x - 1, y - 6}, {x + 1, y + 6}, p.text);
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
  double value_, before_, end_;
};

// The strip must not cover the number that it changes.
void uncover(Context& c, CellRef cell) {
  constexpr float kAir = 16;
  const MatrixPlace* m = c.layout.find(cell.tensor);
  const Slice s = sliceOf(c.state, cell.tensor);
  if (m)
    c.view.scroll =
        std::max(c.view.scroll, m->cellBox(cell.row - s.firstRow, cell.col - s.firstCol).bottom() + kAir -
                                    c.layout.board.height);
}

}  // namespace

void editing(Context& c) {
  const Selection& s = c.view.selection;
  const attention::Tensor* tensor = c.layout.editing.empty() ? nullptr : c.tensor(s.tensor);
  const CellRef cell{s.tensor, tensor ? sliceOf(c.state, s.tensor).head : 0, s.row, s.col};
  if (!tensor || !tensor->contains(cell.head, cell.row, cell.col)) return c.view.edited.reset();
  const float value = tensor->at(cell.head, cell.row, cell.col);
  if (!c.view.edited || !(c.view.edited->cell == cell)) c.view.edited = Edited{cell, value};
  if (!c.view.edited->isInView && !ImGui::IsMouseDown(ImGuiMouseButton_Left))
    uncover(c, cell), c.view.edited->isInView = true;
  EditingStrip(c, cell, value, c.view.edited->before).draw();
}

}  // namespace views
