// A question in front of the board: which tensors of a file are Q, K and V.
#include <algorithm>
#include <cmath>

#include "base/sentence.h"
#include "document/form.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

constexpr float kWidth = 560, kPad = 22, kLabel = 170;
constexpr int kMostInMenu = 100;  ///< more choices are stepped through one by one

/// Draws one form, and records the choices.
class FormPanel {
 public:
  FormPanel(Context& c, const document::Form& form) : c_(c), w_(c), form_(form) {}

  void draw(const Box& box) {
    ImDrawList* list = sharp(ImGui::GetWindowDrawList());
    const Palette& p = c_.palette;
    const float x = box.x + kPad, width = box.width - 2 * kPad;
    Scroller& page = c_.view.help.page;
    const float top = ImGui::GetCursorScreenPos().y;
    float y = top + 18;
    y += paragraph({list, c_.fonts.title, p.text}, x, y, width - 40, form_.title) + 12;
    const float cross = high(28);
    if (w_.icon("form-close", {box.right() - 18 - cross, top + 28 - cross / 2, cross, cross},
                Widgets::Icon::close))
      answer_ = "";
    const float label = std::min(kLabel, width * 0.36f);
    for (const document::Field& field : form_.fields) {
      textMiddle(list, c_.fonts.text, x, y + high(28) / 2, p.muted,
                 elide(c_.fonts.text, field.label, label - 8));
      choice(field, {x + label, y, width - label, high(28)});
      y += high(28) + 10;
    }
    y += 6;
    y += paragraph({list, c_.fonts.text, form_.isReady ? p.text : p.error}, x, y, width, form_.says) + 16;
    const Box open{box.right() - kPad - 84, y, 84, high(30)};
    if (!form_.answers.empty()) {
      answers(box.right() - kPad, y);
    } else if (form_.isReady) {
      if (w_.button("form-open", open, "Open", true)) answer_ = choices(true);
    } else {
      list->AddRectFilled({open.x, open.y}, {open.right(), open.bottom()}, p.track, 5);
      textCentered(list, c_.fonts.strong, open.midX(), open.midY(), p.faint, "Open");
    }
    const float cancel = std::max(84.0f, std::ceil(textWidth(c_.fonts.text, "Cancel")) + 28);
    if (form_.answers.empty() &&
        w_.button("form-cancel", {open.x - 8 - cancel, y, cancel, high(30)}, "Cancel"))
      answer_ = "";
    y += high(30) + 18;
    if (page.content != y - top) c_.view.busy = true;
    page.content = y - top;
    ImGui::SetCursorScreenPos({box.x, y - 1});
    ImGui::Dummy({1, 1});
    if (form_.answers.empty() && form_.isReady && ImGui::IsKeyPressed(ImGuiKey_Enter) &&
        c_.view.menu.name.empty())
      answer_ = choices(true);
    if (ImGui::IsKeyPressed(ImGuiKey_Escape) && !ImGui::IsPopupOpen("", ImGuiPopupFlags_AnyPopup))
      answer_ = "";
  }

  const std::optional<std::string>& answer() const { return answer_; }

 private:
  float high(float usual) const { return c_.roomy() ? 44 : usual; }

  void choice(const document::Field& field, const Box& box) {
    const std::string name = "form:" + field.name;
    const auto at = static_cast<std::size_t>(field.chosen);
    const int count = static_cast<int>(field.choices.size());
    if (count > kMostInMenu) {
      const int by = w_.stepper(name, box, elide(c_.fonts.text, field.choices[at], box.width - 84),
                                field.chosen > 0, field.chosen + 1 < count);
      if (by != 0) chosen(field, field.chosen + by);
      return;
    }
    w_.menuButton(name, box, elide(c_.fonts.text, field.choices[at], box.width - 40));
    if (!w_.beginMenu(name, box.width - 40)) return;
    for (int i = 0; i < count; ++i)
      if (w_.menuItem(base::joined({name, ":", i}), field.choices[static_cast<std::size_t>(i)],
                      i == field.chosen))
        chosen(field, i);
    w_.endMenu();
  }

  /// From right to left, starting with the first one. Their first letters are shortcuts.
  void answers(float right, float y) {
    for (std::size_t i = 0; i < form_.answers.size(); ++i) {
      const std::string& words = form_.answers[i];
      std::string name = words;
      for (char& letter : name) letter = letter == ' ' ? '-' : static_cast<char>(letter | 0x20);
      const float wide = textWidth(c_.fonts.strong, words) + 36;
      const auto key = static_cast<ImGuiKey>(ImGuiKey_A + (name.front() - 'a'));
      const bool isPressed = w_.button("form-" + name, {right - wide, y, wide, high(30)}, words, i == 0);
      if (isPressed || ImGui::IsKeyPressed(key) || (i == 0 && ImGui::IsKeyPressed(ImGuiKey_Enter)))
        answer_ = name == "cancel" ? "" : "!" + name;
      right -= wide + 8;
    }
  }

  /// Another layer, or another interpretation, has other tensors, so later choices are reset.
  void chosen(const document::Field& field, int choice) {
    document::Choices all;
    const bool isAnew = field.name == "layer" || field.name == "as";
    for (const document::Field& other : form_.fields) {
      if (other.name == field.name) all.emplace_back(field.name, choice);
      else if (!isAnew || other.name == "layer") all.emplace_back(other.name, other.chosen);
    }
    answer_ = document::toLines(all, false);
    c_.view.form->isReady = false;  // until the result of the choices is known
  }

  std::string choices(bool isFinal) const {
    document::Choices all;
    for (const document::Field& field : form_.fields) all.emplace_back(field.name, field.chosen);
    return document::toLines(all, isFinal);
  }

  Context& c_;
  Widgets w_;
  const document::Form& form_;
  std::optional<std::string> answer_;
};

}  // namespace

void form(Context& c) {
  const std::shared_ptr<document::Form> form = c.view.form;
  const ImVec2 size = ImGui::GetIO().DisplaySize;
  // The content below is dimmed, and receives no input.
  ImGui::SetNextWindowPos({0, 0});
  ImGui::SetNextWindowSize(size);
  ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
  ImGui::PushStyleColor(ImGuiCol_WindowBg, withAlpha(IM_COL32(0, 0, 0, 255), 0.35f));
  ImGui::Begin("##form-back", nullptr, kFixedWindow | ImGuiWindowFlags_NoScrollbar);
  const bool isBehind = ImGui::IsWindowFocused();  // it was clicked
  ImGui::End();
  ImGui::PopStyleColor();
  ImGui::PopStyleVar();
  Scroller& page = c.view.help.page;
  const Box box = beginDialog(c, "##form", kWidth, isBehind);
  c.widgetRects["form"] = box;
  FormPanel panel(c, *form);
  panel.draw(box);
  scrollWithFinger(c, page);
  page.update(box);
  ImGui::End();
  if (panel.answer()) {
    c.requests.chosen = *panel.answer();
    if (panel.answer()->empty() || panel.answer()->starts_with('!')) c.view.form.reset();
  }
}

}  // namespace views
