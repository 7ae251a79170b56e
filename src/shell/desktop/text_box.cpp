#include "shell/desktop/text_box.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "views/widgets.h"

namespace shell {
namespace {

constexpr float kPadding = 6;

/// The byte offset of the caret position nearest to x, measured from the left end of the line.
int byteAt(const std::vector<PangoText::Place>& carets, float x) {
  const auto near = std::min_element(carets.begin(), carets.end(), [x](const auto& a, const auto& b) {
    return std::fabs(a.x - x) < std::fabs(b.x - x);
  });
  return near == carets.end() ? 0 : static_cast<int>(near->byte);
}

float placeOf(const std::vector<PangoText::Place>& carets, int byte) {
  const auto at = std::find_if(carets.begin(), carets.end(),
                               [byte](const auto& c) { return static_cast<int>(c.byte) >= byte; });
  return at == carets.end() ? 0 : at->x;
}

/// ImGui::SetKeyboardFocusHere() does not always work after a press on another window, or while a key is
/// pressed.
void askForKeys(ImGuiID field) {
  ImGuiContext& g = *ImGui::GetCurrentContext();
  ImGui::FocusWindow(g.CurrentWindow);
  g.NavNextActivateId = field, g.NavNextActivateFlags = ImGuiActivateFlags_PreferInput;
}

}  // namespace

void TextBox::begin(const app::TextField& field) {
  field_ = field;
  buffer_.fill(0);
  std::memcpy(buffer_.data(), field.text.data(), std::min(field.text.size(), buffer_.size() - 1));
  left_ = field.rect.x + kPadding;
  passedOn_ = buffer_.data();
  ++count_;
  hasKeys_ = false, toEnd_ = !field.selectAll;
}

/// Handles characters typed before the field has the keyboard. Dear ImGui ignores them up to and including
/// the frame in which it gets the focus.
void TextBox::takeEarly() {
  ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
  for (const ImWchar ch : typed) {
    if (!toEnd_) buffer_.fill(0), toEnd_ = true;  // replaces the text, all of which was selected
    char utf8[5];
    ImTextCharToUtf8(utf8, ch);
    if (std::strlen(buffer_.data()) + std::strlen(utf8) < buffer_.size()) std::strcat(buffer_.data(), utf8);
  }
  typed.resize(0);
}

/// Moves the caret out of a grapheme cluster in the direction of its movement, and to the position of the
/// pointer.
void TextBox::keepBetweenCharacters(ImGuiInputTextCallbackData& data) {
  const auto whole = [&](int byte, bool forward) {
    auto after = std::find_if(carets_.begin(), carets_.end(),
                              [byte](const auto& c) { return static_cast<int>(c.byte) >= byte; });
    if (after == carets_.end() || data.BufTextLen != static_cast<int>(std::strlen(buffer_.data())))
      return byte;
    if (static_cast<int>(after->byte) == byte || forward || after == carets_.begin())
      return static_cast<int>(after->byte);
    return static_cast<int>(std::prev(after)->byte);
  };
  const bool isSelection = data.HasSelection(), forward = data.CursorPos > caret_;
  data.CursorPos = whole(data.CursorPos, forward);
  data.SelectionEnd = isSelection ? whole(data.SelectionEnd, forward) : data.CursorPos;
  data.SelectionStart = isSelection ? whole(data.SelectionStart, forward) : data.CursorPos;
  if (ImGui::IsItemHovered() || ImGui::IsMouseDragging(ImGuiMouseButton_Left, 0)) {
    const int there = byteAt(carets_, ImGui::GetIO().MousePos.x - left_);
    if (ImGui::IsMouseClicked(ImGuiMouseButton_Left))
      data.SelectionStart = data.SelectionEnd = data.CursorPos = there;
    else if (ImGui::IsMouseDown(ImGuiMouseButton_Left)) data.SelectionEnd = data.CursorPos = there;
  }
  caret_ = data.CursorPos, selectionStart_ = data.SelectionStart, selectionEnd_ = data.SelectionEnd;
}

int TextBox::moveCaret(ImGuiInputTextCallbackData& data) {
  // Dear ImGui selects everything when a field gets the focus, so the next digit would replace the previous
  // ones.
  if (std::exchange(toEnd_, false))
    data.CursorPos = data.SelectionStart = data.SelectionEnd = data.BufTextLen;
  if (isShaped_) keepBetweenCharacters(data);
  return 0;
}

void TextBox::drawShaped(ImFont* font) {
  const app::Rect& r = field_->rect;
  const views::Palette& palette = views::palette(field_->dark);
  ImDrawList* list = views::sharp(ImGui::GetWindowDrawList());
  const float caret = placeOf(carets_, caret_), room = r.width - 2 * kPadding, inset = r.x + kPadding;
  const float width = views::textWidth(font, buffer_.data());
  // Scrolls to the left as far as the caret requires, but not beyond the end of the line.
  left_ = std::clamp(left_, inset - std::max(0.0f, width - room), inset);
  left_ = std::clamp(left_, inset - caret, inset + room - caret);
  const float middle = r.y + r.height / 2, top = middle - 9, bottom = middle + 9;
  list->PushClipRect({r.x + 1, r.y}, {r.x + r.width - 1, r.y + r.height}, true);
  const float from = placeOf(carets_, selectionStart_), to = placeOf(carets_, selectionEnd_);
  if (from != to)
    list->AddRectFilled({left_ + std::min(from, to), top}, {left_ + std::max(from, to), bottom},
                        views::withAlpha(palette.query, 0.35f));
  views::textMiddle(list, font, left_, middle, palette.text, buffer_.data());
  list->AddLine({left_ + caret + 0.5f, top}, {left_ + caret + 0.5f, bottom}, palette.text);
  list->PopClipRect();
}

std::optional<TextBox::Typed> TextBox::draw(const views::Fonts& fonts, PangoText& pango) {
  if (!field_) return {};
  const app::Rect& r = field_->rect;
  const views::Palette& palette = views::palette(field_->dark);
  ImGui::SetNextWindowPos({r.x, r.y});
  ImGui::SetNextWindowSize({r.width, r.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {8, 8});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {kPadding, std::max(0.0f, (r.height - 16) / 2)});
  ImGui::PushStyleColor(ImGuiCol_FrameBg, palette.panel);
  ImFont* font = field_->numeric ? fonts.mono : fonts.text;
  isShaped_ = views::linesFor(font, buffer_.data()) != nullptr;
  ImGui::PushStyleColor(ImGuiCol_Text, isShaped_ ? 0 : palette.text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, isShaped_ ? 0 : views::withAlpha(palette.query, 0.35f));
  ImGui::PushStyleColor(ImGuiCol_Border, field_->wrong.empty() ? palette.query : palette.error);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, field_->searches > 0    ? 0.0f
                                                     : field_->wrong.empty() ? 1.0f
                                                                             : 2.0f);
  ImGui::Begin("##text", nullptr,
               ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                   ImGuiWindowFlags_NoNavInputs);
  ImGui::PushFont(font);
  ImGui::SetNextItemWidth(r.width);
  ImGui::PushID(count_);
  if (!hasKeys_) takeEarly();
  if (!hasKeys_) askForKeys(ImGui::GetID("##field"));
  const auto look = [&] {
    const float scale = ImGui::GetIO().FontGlobalScale;
    const draw::Face face = views::faceOf(font);
    carets_ = pango.carets(buffer_.data(), {face.size / scale, face.weight});
    for (PangoText::Place& place : carets_) place.x *= scale;
  };
  if (isShaped_) look();
  const std::string hint = field_->searches > 0 ? field_->name : std::string();
  const bool entered = ImGui::InputTextWithHint(
      "##field", hint.c_str(), buffer_.data(), buffer_.size(),
      ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways,
      [](ImGuiInputTextCallbackData* data) {
        return static_cast<TextBox*>(data->UserData)->moveCaret(*data);
      },
      this);
  const bool left = ImGui::IsItemDeactivated() && hasKeys_;
  hasKeys_ = hasKeys_ || ImGui::IsItemActive();
  ImGui::PopID();
  if (isShaped_) look(), drawShaped(font);  // includes what was typed in this frame
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(4);
  const bool cancelled = ImGui::IsKeyPressed(ImGuiKey_Escape, false),
             tab = hasKeys_ && ImGui::IsKeyPressed(ImGuiKey_Tab, false);
  if (!cancelled && !entered && !left && !tab) {
    if (field_->searches <= 0 || passedOn_ == buffer_.data()) return {};
    return Typed{app::TextEnd::typing, passedOn_ = buffer_.data()};
  }
  const bool isCell = field_->isCell, back = ImGui::GetIO().KeyShift;
  field_.reset();
  app::TextEnd how = entered ? app::TextEnd::commit : app::TextEnd::leave;
  if (tab) how = !isCell ? app::TextEnd::commit : back ? app::TextEnd::previous : app::TextEnd::next;
  return Typed{cancelled ? app::TextEnd::cancel : how, buffer_.data()};
}

}  // namespace shell
