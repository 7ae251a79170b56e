#include "views/guide/list.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/sentence.h"
#include "base/sort.h"
#include "views/guide/glossary.h"
#include "views/marked.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {
namespace {

using base::joined;
using document::LessonKind;
using document::Search;
using What = GuideAct::What;

std::string_view headingOf(LessonKind kind) {
  switch (kind) {
    case LessonKind::lesson: return "LESSONS";
    case LessonKind::puzzle: return "PUZZLES";
    case LessonKind::question: return "QUESTIONS";
    case LessonKind::example: break;
  }
  return "EXAMPLES";
}

/// The tabs. Examples stand below the lessons, whose boards they show.
struct ListTab {
  LessonKind kind;
  std::string_view name, title;
};
constexpr ListTab kListTabs[] = {{LessonKind::lesson, "guide:tab:lesson", "Lessons"},
                                 {LessonKind::puzzle, "guide:tab:puzzle", "Puzzles"},
                                 {LessonKind::question, "guide:tab:question", "Questions"}};

/// A lesson of ours begins a group that says what they show; other lists have none.
struct ListGroup {
  std::string_view first, title;
};
constexpr ListGroup kListGroups[] = {{"why-attention", "ONE WORD LOOKS AT OTHERS"},
                                     {"masks", "SHAPES OF ATTENTION"},
                                     {"around-the-layer", "BEYOND ONE LAYER"},
                                     {"gradients", "HOW IT LEARNS, AND WHAT WEIGHTS SAY"}};

class GuideList {
 public:
  GuideList(Context& c, FocusRing* keys, const Box& at)
      : c_(c),
        g_(*c.view.guide),
        w_(c, keys),
        list_(ImGui::GetWindowDrawList()),
        search_(g_.search),
        x_(at.x),
        y_(at.y),
        width_(at.width) {}

  float y() const { return y_; }

  void draw() {
    progress();
    field();
    if (g_.entries.empty()) return said("There are no lessons here.");
    if (!search_.empty()) return found();
    tabs();
    entries(g_.tab);
    if (g_.tab != LessonKind::lesson || count(LessonKind::example) == 0) return;
    heading(headingOf(LessonKind::example), {});
    entries(LessonKind::example);
  }

 private:
  static constexpr float kIndent = 50;  // of the title of a numbered entry
  static constexpr std::size_t kOfEach = 2;

  void ask(GuideAct act) { c_.requests.guide.push_back(std::move(act)); }
  void said(std::string_view words) {
    y_ += paragraph({list_, c_.fonts.text, c_.palette.muted}, x_, y_ + 12, width_, words) + 24;
  }

  int count(LessonKind kind) const {
    return static_cast<int>(std::count_if(g_.entries.begin(), g_.entries.end(),
                                          [&](const GuideEntry& e) { return e.kind == kind; }));
  }

  static bool isPassed(const GuideEntry& e) { return e.passed >= e.steps && e.kind != LessonKind::example; }
  bool isPresent(const GuideEntry& e) const {
    return e.id == g_.last && !isPassed(e) && e.kind == LessonKind::lesson;
  }

  // "3 of 17 lessons" and a bar.
  void progress() {
    int lessons = 0, passed = 0, steps = 0, done = 0;
    for (const GuideEntry& e : g_.entries) {
      if (e.kind != LessonKind::lesson) continue;
      ++lessons, passed += isPassed(e), steps += e.steps, done += e.passed;
    }
    if (lessons == 0) return;
    const Palette& p = c_.palette;
    textMiddle(list_, c_.fonts.strong, x_, y_ + 6, p.text,
               base::message({passed, " of ", lessons, " lessons"}));
    textRight(list_, c_.fonts.small, x_ + width_, y_ + 6, p.muted,
              base::message({done, " of ", steps, " steps"}));
    const Box track{x_, y_ + 21, width_, 6};
    const float part =
        std::clamp(static_cast<float>(done) / static_cast<float>(std::max(steps, 1)), 0.0f, 1.0f);
    list_->AddRectFilled({track.x, track.y}, {track.right(), track.bottom()}, p.track, 3);
    if (part > 0)
      list_->AddRectFilled({track.x, track.y}, {track.x + std::max(6.0f, track.width * part), track.bottom()},
                           p.on, 3);
    c_.widgetRects["guide:progress"] = track;
    y_ += 43;
  }

  void field() {
    const Palette& p = c_.palette;
    const float high = c_.roomy() ? 44 : 30;
    const Box field{x_, y_, width_, high}, words{x_, y_, width_ - (g_.search.empty() ? 0 : high + 2), high};
    const bool isTyped = c_.view.text && c_.view.text->kind == TextTarget::Kind::search;
    const std::string name = "Search lessons, puzzles, questions";
    if (w_.keys("guide-search", words).press || w_.area("guide-search", words, Mirror::Role::field)) {
      TextTarget t;
      t.kind = TextTarget::Kind::search;
      t.name = name, t.text = g_.search, t.searches = 13.5f;
      t.box = {field.x + 30, field.midY() - 12 + c_.view.side.at, field.width - 62,
               field.height - 6};  // at the top, from where what is found is read
      c_.view.side.wanted = 0;
      c_.requests.text = t;
    }
    list_->AddRect({field.x, field.y}, {field.right(), field.bottom()}, isTyped ? p.query : p.border, 5, 0,
                   isTyped ? 1.8f : 1.0f);
    magnifier(list_, {field.x + 17, field.midY()}, p.muted);
    if (!isTyped && g_.search.empty())
      textMiddle(list_, c_.fonts.text, field.x + 32, field.midY(), p.muted,
                 elide(c_.fonts.text, name, field.width - 40));
    if (!isTyped && !g_.search.empty()) {
      const AsIs own;
      textMiddle(list_, c_.fonts.text, field.x + 32, field.midY(), p.text,
                 elide(c_.fonts.text, g_.search, field.width - 64));
    }
    if (!g_.search.empty() &&
        w_.cross("guide-search-clear", {field.right() - high, field.y + 1, high - 2, high - 2}))
      ask({What::search, 0, "", {}});
    y_ += high + 12;
  }

  void tabs() {
    const float high = c_.roomy() ? 44 : 30, middle = y_ + high / 2 - 2;
    float x = x_;
    for (const ListTab& one : kListTabs) {
      const bool isOpen = g_.tab == one.kind;
      const std::string number = std::to_string(count(one.kind));
      ImFont* font = isOpen ? c_.fonts.strong : c_.fonts.text;
      const float words = textWidth(font, one.title), width = words + 6 + textWidth(c_.fonts.small, number);
      const Box box{x, y_, width, high};
      if (w_.keys(one.name, box).press || w_.area(one.name, box, Mirror::Role::choice, isOpen))
        g_.tab = one.kind, c_.view.side.wanted = 0, c_.view.busy = true;
      textMiddle(list_, font, x, middle,
                 isOpen || ImGui::IsItemHovered() ? c_.palette.text : c_.palette.muted, one.title);
      textMiddle(list_, c_.fonts.small, x + words + 6, middle, c_.palette.muted, number);
      if (isOpen) list_->AddRectFilled({x, box.bottom() - 2}, {x + width, box.bottom()}, c_.palette.ink);
      x += width + 18;
    }
    y_ += high;
    list_->AddLine({x_ - 16, y_ - 0.5f}, {x_ + width_ + 16, y_ - 0.5f}, c_.palette.border);
    y_ += 8;
  }

  void heading(base::MessageView words, base::MessageView aside) {
    y_ += 8;
    textMiddle(list_, c_.fonts.smallStrong, x_, y_ + 8, c_.palette.muted, words);
    textRight(list_, c_.fonts.small, x_ + width_, y_ + 8, c_.palette.muted, aside);
    y_ += 24;
  }

  void entries(LessonKind kind) {
    int number = 0;
    for (const GuideEntry& e : g_.entries) {
      if (e.kind != kind) continue;
      for (const ListGroup& group : kListGroups)
        if (kind == LessonKind::lesson && group.first == e.id) heading(group.title, {});
      entry(e, ++number);
      if (kind == LessonKind::lesson) subjects(e);
    }
  }

  /// A tick, a ring with the share that is done, or a hollow ring.
  void state(const GuideEntry& e, ImVec2 at) {
    const Palette& p = c_.palette;
    constexpr float kPi = 3.14159265f;
    if (isPassed(e)) {
      list_->AddCircleFilled(at, 9, p.on, 24);
      const ImVec2 points[] = {{at.x - 4, at.y}, {at.x - 1, at.y + 3}, {at.x + 4.2f, at.y - 3}};
      list_->AddPolyline(points, 3, p.panel, 0, 1.8f);
      return;
    }
    list_->AddCircle(at, 8, p.track, 24, 2.4f);
    if (e.passed == 0) return list_->AddCircle(at, 8, withAlpha(p.faint, 0.6f), 24, 1.4f);
    list_->PathArcTo(
        at, 8, -kPi / 2,
        -kPi / 2 + 2 * kPi * static_cast<float>(e.passed) / static_cast<float>(std::max(e.steps, 1)), 24);
    list_->PathStroke(p.ink, 0, 2.4f);
  }

  /// What stands at the right: steps, or the edits that a puzzle takes.
  base::Message asideOf(const GuideEntry& e) const {
    using base::message;
    if (e.kind == LessonKind::puzzle)
      return e.best > 0 ? message({"par ", e.par, ", yours ", e.best}) : message({"par ", e.par});
    if (e.kind != LessonKind::lesson || isPassed(e)) return {};
    return e.passed > 0 ? message({e.passed, "/", e.steps}) : message({e.steps, " steps"});
  }

  /// Texts of lessons, which are not those of the interface. Only measures without a list.
  static float lines(const Pen& pen, float x, float y, float width, std::string_view words) {
    const AsIs own;
    return words.empty() ? 0 : paragraph(pen, x, y, width, words);
  }

  bool press(const GuideEntry& e, const Box& row, bool isPlain) {
    const std::string name = "guide:open:" + e.id;
    const bool pressed = w_.keys(name, row).press || w_.area(name, row);
    const bool isOver = ImGui::IsItemHovered();
    if (isOver || !isPlain)
      list_->AddRectFilled({row.x, row.y}, {row.right(), row.bottom()},
                           isOver ? c_.palette.hover : c_.palette.background, 5);
    return pressed;
  }

  void entry(const GuideEntry& e, int number) {
    const Palette& p = c_.palette;
    const bool isNext = isPresent(e), isNumbered = e.kind == LessonKind::lesson,
               isStated = e.kind != LessonKind::example;
    const float x = x_ + (isNumbered ? kIndent
                          : isStated ? 30.0f
                                     : 0.0f),
                right = x_ + width_, wide = right - x;
    const base::Message aside = asideOf(e);
    const float room = wide - (aside.empty() ? 0 : textWidth(c_.fonts.small, aside) + 10);
    ImFont* font = isNext ? c_.fonts.strong : c_.fonts.text;
    const float title = lines({nullptr, font, 0}, 0, 0, room, e.title),
                about = lines({nullptr, c_.fonts.small, 0}, 0, 0, wide, e.about);
    const float inside = title + (about > 0 ? about + 2 : 0) + (isNext ? 24 : 0);
    const Box row{x_ - 10, y_, width_ + 20, std::max(inside + 14, c_.roomy() ? 44.0f : 0.0f)};
    const bool pressed = press(e, row, !isNext);
    const float top = row.y + (row.height - inside) / 2, middle = top + 8;
    if (isStated) state(e, {x_ + 9, about > 0 ? middle + 9 : row.midY()});
    if (isNumbered) textRight(list_, font, x_ + 42, middle, p.muted, std::to_string(number));
    lines({list_, font, p.text}, x, top, room, e.title);
    lines({list_, c_.fonts.small, p.muted}, x, top + title + 2, wide, e.about);
    const bool isGood = e.best > 0 && e.best <= e.par;
    textRight(list_, c_.fonts.small, right, middle, isGood ? p.value : p.muted, aside);
    if (isNext)
      textMiddle(list_, c_.fonts.strong, x, row.bottom() - 17, p.query,
                 base::message({"Continue at step ", g_.lastStep + 1}));
    y_ += row.height;
    if (pressed) ask({What::open, isNext ? std::min(g_.lastStep, e.steps - 1) : 0, e.id, {}});
  }

  // --- below a lesson: the terms and the puzzles of its subject

  /// Words from left to right, with a line of their own where they do not fit; the height of a line.
  float lineHeight() const { return c_.roomy() ? 44.0f : 20.0f; }
  Box next(float& x, std::string_view words) {
    const float wide = textWidth(c_.fonts.small, words);
    if (x > x_ + kIndent && x + wide > x_ + width_) x = x_ + kIndent, y_ += lineHeight();
    const Box box{x, y_, wide, lineHeight()};
    x += wide;
    return box;
  }
  void label(float& x, std::string_view words) {
    const Box box = next(x, words);
    textMiddle(list_, c_.fonts.small, box.x, box.midY(), c_.palette.faint, words);
    x += 5;
    afterLabel_ = x;
  }
  // The first one stays beside its label, shortened if it is too long.
  bool subject(float& x, std::string_view name, std::string_view title, bool isLast) {
    const AsIs own;  // terms are in the reader's language, titles are those of the lessons
    const std::string words =
        x == afterLabel_ ? elide(c_.fonts.small, title, x_ + width_ - x) : std::string(title);
    const Box box = next(x, words);
    const bool pressed = w_.keys(name, box).press || w_.area(name, box);
    const bool isOver = ImGui::IsItemHovered();
    textMiddle(list_, c_.fonts.small, box.x, box.midY(), isOver ? c_.palette.text : c_.palette.muted, words);
    if (isOver) dots(list_, box.x, box.right(), box.midY() + 8, c_.palette.text);
    if (!isLast) plainMiddle(list_, c_.fonts.small, box.right(), box.midY(), c_.palette.muted, ",");
    x += isLast ? 0.0f : 8.0f;
    return pressed;
  }

  void subjects(const GuideEntry& e) {
    std::vector<const document::GlossaryTerm*> terms;
    for (std::size_t i = 0; c_.view.glossary && i < c_.view.glossary->terms.size(); ++i)
      if (c_.view.glossary->terms[i].lesson == e.id) terms.push_back(&c_.view.glossary->terms[i]);
    std::vector<const GuideEntry*> puzzles;
    for (const GuideEntry& one : g_.entries)
      if (std::find(e.puzzles.begin(), e.puzzles.end(), one.id) != e.puzzles.end()) puzzles.push_back(&one);
    if (terms.empty() && puzzles.empty()) return;
    y_ -= 4;
    float x = x_ + kIndent;
    if (!terms.empty()) label(x, "Terms:");
    for (const document::GlossaryTerm* term : terms) {
      const Box near{x, y_, 1, lineHeight()};
      if (subject(x, "guide-term:" + term->id, term->name, term == terms.back()))
        openTerm(c_, term->id, near);
    }
    if (!terms.empty() && !puzzles.empty()) x = x_ + kIndent, y_ += lineHeight();
    if (!puzzles.empty()) label(x, puzzles.size() == 1 ? "Puzzle:" : "Puzzles:");
    for (const GuideEntry* one : puzzles)
      if (subject(x, "guide-go:" + one->id, one->title, one == puzzles.back()))
        ask({What::open, 0, one->id, {}});
    y_ += lineHeight() + 6;
  }

  // --- what a search finds, over all kinds

  void found() {
    if (!std::exchange(g_.isSearched, true)) ask({What::texts, 0, "", {}});
    bool isAny = false;
    for (const LessonKind kind :
         {LessonKind::lesson, LessonKind::puzzle, LessonKind::question, LessonKind::example})
      isAny = foundOf(kind) || isAny;
    if (!isAny) said("Nothing matches; try fewer words, or clear the search.");
  }

  struct Hit {
    const GuideEntry* entry;
    int number;
    Search::Found found;
  };

  bool foundOf(LessonKind kind) {
    std::vector<Hit> hits;
    int number = 0;
    for (const GuideEntry& e : g_.entries) {
      if (e.kind != kind) continue;
      ++number;
      if (const Search::Found found = foundIn(g_, e, search_); found != Search::Found::no)
        hits.push_back({&e, number, found});
    }
    if (hits.empty()) return false;
    base::stableSort(hits, [](const Hit& a, const Hit& b) { return a.found > b.found; });
    heading(headingOf(kind), base::message({hits.size(), " of ", number}));
    const std::string group = joined({document::name(kind), ":", g_.search});
    const std::size_t shown = g_.expanded == group ? hits.size() : std::min(hits.size(), kOfEach);
    for (std::size_t i = 0; i < shown; ++i) hit(hits[i]);
    if (shown < hits.size() && more(kind, hits.size() - shown)) g_.expanded = group, c_.view.busy = true;
    return true;
  }

  bool more(LessonKind kind, std::size_t count) {
    const base::Message words{count, " more"};
    const bool pressed = w_.link(joined({"guide:more:", document::name(kind)}),
                                 {x_, y_ + 2, textWidth(c_.fonts.small, words), 20}, words);
    y_ += 26;
    return pressed;
  }

  void hit(const Hit& one) {
    const GuideEntry& e = *one.entry;
    const bool isLesson = e.kind == LessonKind::lesson;
    const Box row{x_ - 10, y_, width_ + 20, isLesson ? 46.0f : 30.0f};
    const bool pressed = press(e, row, true);
    markedText(c_, {list_, c_.fonts.text, c_.palette.text}, {x_, isLesson ? row.y + 15 : row.midY()}, width_,
               e.title, search_);
    if (isLesson) {
      const std::string number = inWords(base::message({"Lesson ", one.number})) + " · ";
      float x = x_;
      {
        const AsIs translated;
        textMiddle(list_, c_.fonts.small, x, row.y + 33, c_.palette.muted, number);
        x += textWidth(c_.fonts.small, number);
      }
      markedText(c_, {list_, c_.fonts.small, c_.palette.muted}, {x, row.y + 33}, x_ + width_ - x, e.about,
                 search_);
    }
    y_ += row.height;
    if (pressed) ask({What::open, 0, e.id, {}});
  }

  Context& c_;
  GuideView& g_;
  Widgets w_;
  ImDrawList* list_;
  Search search_;
  float x_, y_, width_;
  float afterLabel_ = 0;  // where the words of a subject begin
};

}  // namespace

document::Search::Found foundIn(const GuideView& guide, const GuideEntry& entry,
                                const document::Search& search) {
  const auto text = guide.texts.find(entry.id);
  return search.in(entry.title, text == guide.texts.end()
                                    ? document::folded(entry.about)
                                    : joined({document::folded(entry.about), "\n", text->second}));
}

float guideList(Context& c, FocusRing* keys, const Box& at) {
  GuideList list(c, keys, at);
  list.draw();
  return list.y();
}

}  // namespace views
