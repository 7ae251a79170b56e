#include "views/guide/list.h"

#include <algorithm>
#include <optional>

#include "base/late.h"
#include "base/sentence.h"
#include "views/widgets.h"

namespace views {
namespace {

using base::late;
using document::LessonKind;
using What = GuideAct::What;

void passedMark(ImDrawList* list, float x, float midY, ImU32 color) {
  const ImVec2 points[] = {{x, midY}, {x + 3.5f, midY + 3.5f}, {x + 9.5f, midY - 4}};
  list->AddPolyline(points, 3, color, 0, 1.8f);
}

std::string_view headingOf(LessonKind kind) {
  switch (kind) {
    case LessonKind::lesson: return "LESSONS";
    case LessonKind::puzzle: return "PUZZLES";
    case LessonKind::question: return "QUESTIONS";
    case LessonKind::example: break;
  }
  return "EXAMPLES";
}

class GuideList {
 public:
  GuideList(Context& c, FocusRing* keys, const Box& at) : c_(c), g_(*c.view.guide), w_(c, keys), list_(ImGui::GetWindowDrawList()), x_(at.x), y_(at.y), width_(at.width) {}

  float y() const { return y_; }

  void draw() {
    const Palette& p = c_.palette;
    const Box field{x_, y_, width_, 28};
    if (w_.field("guide-search", field, g_.search)) {
      TextTarget t;
      t.kind = TextTarget::Kind::search;
      t.name = late<"Search lessons and questions">();
      t.text = g_.search, t.box = field;
      c_.requests.text = t;
    }
    if (g_.search.empty()) textMiddle(list_, c_.fonts.text, field.x + 10, field.midY(), p.muted, late<"Search lessons and questions">());
    else if (w_.icon(late<"guide-search-clear">(), {field.right() - 30, field.y + 2, 26, 24}, Widgets::Icon::close)) ask({What::search, 0, "", {}});
    y_ += 40;
    std::optional<LessonKind> kind;
    int shown = 0, number = 0;
    for (const LessonKind of : {LessonKind::lesson, LessonKind::puzzle, LessonKind::question, LessonKind::example}) {
      number = 0;
      for (const GuideEntry& e : g_.entries) {
        if (e.kind != of) continue;
        ++number;
        if (!matches(e)) continue;
        if (kind != e.kind) {
          kind = e.kind;
          y_ += shown > 0 ? 10 : 0;
          textMiddle(list_, c_.fonts.smallStrong, x_, y_ + 8, p.muted, headingOf(e.kind));
          y_ += 22;
        }
        entry(e, number);
        ++shown;
      }
    }
    if (shown == 0) said(g_.entries.empty() ? late<"There are no lessons here.">() : late<"Nothing has these words; try fewer, or clear the search.">());
  }

 private:
  void ask(GuideAct act) { c_.requests.guide.push_back(std::move(act)); }
  void said(std::string_view words) { y_ += paragraph(list_, c_.fonts.text, x_, y_ + 12, width_, c_.palette.muted, words) + 24; }

  bool matches(const GuideEntry& e) const {
    const std::string all = base::lowered(e.title + " " + e.about);
    std::string_view words = g_.search;
    while (!words.empty()) {
      const std::string_view word = words.substr(0, words.find(' '));
      if (all.find(base::lowered(word)) == std::string::npos) return false;
      words.remove_prefix(std::min(words.size(), word.size() + 1));
    }
    return true;
  }

  void entry(const GuideEntry& e, int number) {
    const Palette& p = c_.palette;
    const std::string name = "guide:open:" + e.id;
    const bool isPassed = e.passed >= e.steps && e.kind != LessonKind::example && e.kind != LessonKind::question;
    std::string aside = e.passed > 0 && !isPassed ? base::joined({e.passed, "/", e.steps}) : e.par > 0 && !isPassed ? base::joined({"par ", e.par}) : "";
    const float room = isPassed ? 18 : aside.empty() ? 0 : textWidth(c_.fonts.small, aside) + 8;
    const std::string words = e.kind == LessonKind::lesson ? base::joined({number, "  ", e.title}) : e.title;
    std::optional<AsIs> asIs(std::in_place);
    const float height = paragraph(nullptr, c_.fonts.text, 0, 0, width_ - 16 - room, 0, words) + 11;
    const Box row{x_ - 8, y_, width_ + 16, height};
    const bool pressed = w_.keys(name, row).press || w_.area(name, row);
    if (ImGui::IsItemHovered()) list_->AddRectFilled({row.x, row.y}, {row.right(), row.bottom()}, p.hover, 5);
    const bool isOpen = g_.lesson && g_.lesson->id == e.id;
    paragraph(list_, isOpen ? c_.fonts.strong : c_.fonts.text, x_, y_ + 5, width_ - room, p.text, words);
    asIs.reset();
    if (isPassed) passedMark(list_, x_ + width_ - 10, row.midY(), p.value);
    else textRight(list_, c_.fonts.small, x_ + width_, row.midY(), p.muted, aside);
    y_ += height;
    if (pressed) ask({What::open, 0, e.id, {}});
  }

  Context& c_;
  GuideView& g_;
  Widgets w_;
  ImDrawList* list_;
  float x_, y_, width_;
};

}  // namespace

float guideList(Context& c, FocusRing* keys, const Box& at) {
  GuideList list(c, keys, at);
  list.draw();
  return list.y();
}

}  // namespace views
