#include "shell/text_box.h"

#include <imgui.h>
#include <imgui_internal.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace shell {

namespace {

/// Dear ImGui selects all of a field that is given the keys: the next digit would replace those before it.
int moveToEnd(ImGuiInputTextCallbackData* data) {
  bool& toEnd = *static_cast<bool*>(data->UserData);
  if (std::exchange(toEnd, false)) data->CursorPos = data->SelectionStart = data->SelectionEnd = data->BufTextLen;
  return 0;
}

/// ImGui::SetKeyboardFocusHere() is not certain to be heard after a press on another window, or while a key is down.
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
  ++count_;
  hasKeys_ = false, toEnd_ = !field.selectAll;
}

/// What is typed before the field has the keys. Dear ImGui ignores characters up to and in the frame in which it gives them.
void TextBox::takeEarly() {
  ImVector<ImWchar>& typed = ImGui::GetIO().InputQueueCharacters;
  for (const ImWchar ch : typed) {
    if (!toEnd_) buffer_.fill(0), toEnd_ = true;  // all was selected
    char utf8[5];
    ImTextCharToUtf8(utf8, ch);
    if (std::strlen(buffer_.data()) + std::strlen(utf8) < buffer_.size()) std::strcat(buffer_.data(), utf8);
  }
  typed.resize(0);
}

std::optional<TextBox::Typed> TextBox::draw(const views::Fonts& fonts) {
  if (!field_) return {};
  const app::Rect& r = field_->rect;
  const views::Palette& palette = views::palette(field_->dark);
  ImGui::SetNextWindowPos({r.x, r.y});
  ImGui::SetNextWindowSize({r.width, r.height});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
  ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {8, 8});
  ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {6, std::max(0.0f, (r.height - 16) / 2)});
  ImGui::PushStyleColor(ImGuiCol_FrameBg, palette.panel);
  ImGui::PushStyleColor(ImGuiCol_Text, palette.text);
  ImGui::PushStyleColor(ImGuiCol_TextSelectedBg, views::withAlpha(palette.query, 0.35f));
  ImGui::PushStyleColor(ImGuiCol_Border, field_->wrong.empty() ? palette.query : palette.error);
  ImGui::PushStyleVar(ImGuiStyleVar_FrameBorderSize, field_->wrong.empty() ? 1.0f : 2.0f);
  ImGui::Begin("##text", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                                      ImGuiWindowFlags_NoNavInputs);
  ImGui::PushFont(field_->numeric ? fonts.mono : fonts.text);
  ImGui::SetNextItemWidth(r.width);
  ImGui::PushID(count_);
  if (!hasKeys_) takeEarly();
  if (!hasKeys_) askForKeys(ImGui::GetID("##field"));
  const bool entered = ImGui::InputText("##field", buffer_.data(), buffer_.size(),
                                        ImGuiInputTextFlags_EnterReturnsTrue | ImGuiInputTextFlags_CallbackAlways, moveToEnd, &toEnd_);
  const bool left = ImGui::IsItemDeactivated() && hasKeys_;
  hasKeys_ = hasKeys_ || ImGui::IsItemActive();
  ImGui::PopID();
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleColor(4);
  ImGui::PopStyleVar(4);
  const bool cancelled = ImGui::IsKeyPressed(ImGuiKey_Escape, false), tab = hasKeys_ && ImGui::IsKeyPressed(ImGuiKey_Tab, false);
  if (!cancelled && !entered && !left && !tab) return {};
  const bool isCell = field_->isCell, back = ImGui::GetIO().KeyShift;
  field_.reset();
  app::Entry how = entered ? app::Entry::commit : app::Entry::leave;
  if (tab) how = !isCell ? app::Entry::commit : back ? app::Entry::previous : app::Entry::next;
  return Typed{cancelled ? app::Entry::cancel : how, buffer_.data()};
}

}  // namespace shell
