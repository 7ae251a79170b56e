#include "views/guide/glossary.h"

#include <imgui.h>

#include <algorithm>
#include <utility>

#include "base/sentence.h"
#include "views/formula.h"
#include "views/tooltip.h"
#include "views/widgets.h"

namespace views {
namespace {

using document::GlossaryTerm;

constexpr float kTermWidth = 304, kTermPad = 16, kFormulaHeight = 50, kTermEdge = 8;

const GlossaryTerm* termWithId(const Context& c, std::string_view id) {
  if (!c.view.glossary) return nullptr;
  const std::vector<GlossaryTerm>& terms = c.view.glossary->terms;
  const auto at =
      std::find_if(terms.begin(), terms.end(), [&](const GlossaryTerm& term) { return term.id == id; });
  return at == terms.end() ? nullptr : &*at;
}

class Popover {
 public:
  Popover(Context& c, const GlossaryTerm& term) : c_(c), term_(term) {
    words_ = std::min(kTermWidth, ImGui::GetIO().DisplaySize.x - 2 * kTermEdge) - 2 * kTermPad;
    const Fonts& f = c.fonts;
    formula_ =
        Formula({f.text, f.tiny, nullptr, f.strong, f.smallStrong, FormulaLook::Shape::high}, term.formula);
    if (formula_.width() > words_ - 16)
      formula_ = Formula({f.small, f.tiny, nullptr, f.smallStrong, f.tinyStrong, FormulaLook::Shape::high},
                         term.formula);
    formulaHeight_ = term.formula.empty() ? 0 : std::max(kFormulaHeight, formula_.height() + 20);
    find();
  }

  void draw() {
    const AsIs translated;  // the terms are in the reader's language
    const float lines = paragraph({nullptr, c_.fonts.text, 0}, 0, 0, words_, term_.words);
    const float height = 46 + lines + (term_.formula.empty() ? 0 : formulaHeight_ + 12) + 40;
    const Box box = placedBeside(c_.view.glossary->near, {words_ + 2 * kTermPad, height}, c_.touch);
    begin(box);
    ImDrawList* list = sharp(ImGui::GetWindowDrawList());
    list->PushClipRectFullScreen();
    list->AddRectFilled({box.x, box.y + 2}, {box.right(), box.bottom() + 3},
                        withAlpha(c_.palette.text, 0.08f), 9);
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.panel, 8);
    list->AddRect({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.border, 8);
    textMiddle(list, c_.fonts.title, box.x + kTermPad, box.y + 25, c_.palette.text,
               elide(c_.fonts.title, term_.name, words_ - 28));
    if (Widgets(c_).cross("term:close", {box.right() - 40, box.y + 10, 30, 30})) close();
    float y = box.y + 46;
    y += paragraph({list, c_.fonts.text, c_.palette.text}, box.x + kTermPad, y, words_, term_.words) + 10;
    if (!term_.formula.empty())
      formula(list, {box.x + kTermPad, y, words_, formulaHeight_}), y += formulaHeight_ + 12;
    learn(list, box.x + kTermPad, y);
    list->PopClipRect();
    ImGui::End();
    c_.widgetRects["term"] = box;
  }

  void close() const { c_.view.glossary->open.clear(); }

 private:
  void formula(ImDrawList* list, const Box& box) {
    list->AddRectFilled({box.x, box.y}, {box.right(), box.bottom()}, c_.palette.background, 6);
    const float x = box.x + std::max(8.0f, std::min(16.0f, (box.width - formula_.width()) / 2)),
                y = box.midY() + (formula_.above() - formula_.below()) / 2;
    noteFormula(term_.formula, {x, y - 8, formula_.width(), 16});
    formula_.draw(list, x, y, &c_.palette, c_.palette.text);
  }

  // The lesson, with its number once the list of lessons is there.
  void find() {
    learn_ = "Learn it in a lesson";
    if (!c_.view.guide) return;
    int number = 0;
    for (const GuideEntry& entry : c_.view.guide->entries) {
      number += entry.kind == document::LessonKind::lesson;
      if (entry.id != term_.lesson) continue;
      title_ = entry.title;
      learn_ = base::message({"Learn: lesson ", number});
      return;
    }
  }

  void learn(ImDrawList* list, float x, float y) {
    if (listed(c_.hide, "guide")) return;
    const float width = textWidth(c_.fonts.text, learn_), room = words_ - width - 12;
    if (Widgets(c_).area("term:learn", {x - 4, y, width + 8, 26})) open();
    textMiddle(list, c_.fonts.text, x, y + 13, c_.palette.query, learn_);
    list->AddLine({x, y + 22}, {x + width, y + 22},
                  withAlpha(c_.palette.query, ImGui::IsItemHovered() ? 1.0f : 0.5f));
    if (room > 40 && !title_.empty())
      textMiddle(list, c_.fonts.small, x + width + 12, y + 13, c_.palette.muted,
                 elide(c_.fonts.small, title_, room));
  }

  void open() {
    c_.requests.guide.push_back({GuideAct::What::open, 0, term_.lesson, {}});
    close();
  }

  // A window of its own, so that a press on it is not also a press on what is below.
  static void begin(const Box& box) {
    ImGui::SetNextWindowPos({box.x, box.y});
    ImGui::SetNextWindowSize({box.width, box.height});
    ImGui::SetNextWindowFocus();
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::Begin("##term", nullptr,
                 kFixedWindow | ImGuiWindowFlags_NoScrollbar | ImGuiWindowFlags_NoBackground);
    ImGui::PopStyleVar(2);
  }

  Context& c_;
  const GlossaryTerm& term_;
  float words_;  ///< the width of the text
  Formula formula_;
  float formulaHeight_;
  base::Message learn_;
  std::string title_;
};

}  // namespace

const GlossaryTerm* termNamed(const Context& c, std::string_view word) {
  if (!c.view.glossary) return nullptr;
  while (!word.empty() && std::string_view(".,;:!?()").find(word.back()) != std::string_view::npos)
    word.remove_suffix(1);
  while (word.starts_with('(')) word.remove_prefix(1);
  const std::string wanted = base::lowered(word);
  for (const GlossaryTerm& term : c.view.glossary->terms)
    if (term.id == wanted || std::find(term.forms.begin(), term.forms.end(), wanted) != term.forms.end())
      return &term;
  return nullptr;
}

void openTerm(Context& c, std::string_view id, const Box& near) {
  if (!c.view.glossary) c.view.glossary = std::make_shared<GlossaryView>();
  GlossaryView& g = *c.view.glossary;
  const bool isOpen = (g.open == id || g.left == id) && g.near.x == near.x && g.near.y == near.y;
  g.open = isOpen ? std::string() : std::string(id);
  g.near = near, g.isNew = true;
  c.requests.guide.push_back({GuideAct::What::terms, 0, "", {}});
}

bool escapesTerm(Context& c) {
  if (c.view.glossary->open.empty() || !ImGui::IsKeyPressed(ImGuiKey_Escape)) return false;
  c.view.glossary->open.clear();
  return true;
}

void glossary(Context& c) {
  GlossaryView& g = *c.view.glossary;
  const bool isNew = std::exchange(g.isNew, false);
  if (ImGui::IsMouseClicked(ImGuiMouseButton_Left)) g.left = g.open;
  if (const auto at = c.lastWidgetRects.find("term");
      !isNew && at != c.lastWidgetRects.end() && ImGui::IsMouseClicked(ImGuiMouseButton_Left)) {
    const ImVec2 mouse = ImGui::GetIO().MousePos;
    if (!at->second.contains(mouse.x, mouse.y)) g.open.clear();
  }
  if (ImGui::GetIO().MouseWheel != 0) g.open.clear();
  if (const GlossaryTerm* term = termWithId(c, g.open)) Popover(c, *term).draw();
}

}  // namespace views
