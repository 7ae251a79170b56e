#include "shell/text_box.h"

#include <imgui.h>

#include <algorithm>
#include <cstring>

namespace shell {

void TextBox::begin(const app::TextField& field) {
  field_ = field;
  buffer_.fill(0);
  std::memcpy(buffer_.data(), field.text.data(), std::min(field.text.size(), buffer_.size() - 1));
  isNew_ = true;
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
  ImGui::Begin("##text", nullptr, ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings);
  ImGui::PushFont(field_->numeric ? fonts.mono : fonts.text);
  ImGui::SetNextItemWidth(r.width);
  if (isNew_) ImGui::SetKeyboardFocusHere();
  const int flags = ImGuiInputTextFlags_EnterReturnsTrue | (field_->selectAll ? ImGuiInputTextFlags_AutoSelectAll : 0);
  const bool entered = ImGui::InputText("##field", buffer_.data(), buffer_.size(), flags);
  const bool left = ImGui::IsItemDeactivated() && !isNew_;
  isNew_ = false;
  ImGui::PopFont();
  ImGui::End();
  ImGui::PopStyleColor(3);
  ImGui::PopStyleVar(3);
  const bool cancelled = ImGui::IsKeyPressed(ImGuiKey_Escape);
  if (!cancelled && !entered && !left) return {};
  field_.reset();
  return Typed{cancelled ? app::Entry::cancel : app::Entry::commit, buffer_.data()};
}

}  // namespace shell
