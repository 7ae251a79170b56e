// What a step of the Guide asks about is on the screen with it, not covered, with numbers that can be read:
// before the answer, and after the change that it makes. Every step of all lessons, puzzles and questions, in
// four sizes of the window.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>

#include "app_fixture.h"
#include "base/sentence.h"
#include "document/derived.h"
#include "document/lesson.h"
#include "lessons.h"
#include "painted.h"
#include "thorough.h"

namespace {

using document::Cells;
using document::Goal;
using test::Painted;

struct Window {
  float width, height;
};
constexpr Window kWindows[] = {{1440, 900}, {1024, 768}, {640, 440}, {390, 844}};

struct Card {
  document::Lesson lesson;
  std::string_view name, text;
};

std::vector<Card> ours() {
  std::vector<Card> cards;
  for (const auto& file : lessons::files) {
    if (file.name.starts_with("glossary.") || !file.name.ends_with(".json")) continue;
    auto lessons = document::readLessons(file.text);
    REQUIRE(lessons);
    for (document::Lesson& lesson : *lessons) cards.push_back({std::move(lesson), file.name, file.text});
  }
  return cards;
}

void add(std::vector<Cells>& to, const Goal& goal) {
  if (goal.what == Goal::What::cells || goal.what == Goal::What::argmax) to.push_back(goal.cells);
  if (goal.like) to.push_back(*goal.like);
}
/// References to a row or a cell; those to all of Q, K … are about the matrix as such.
void add(std::vector<Cells>& to, const document::Markup& text) {
  for (const document::Run& run : text)
    if (run.kind == document::Run::Kind::cells && run.cells.at.size() > 1) to.push_back(run.cells);
}
void add(std::vector<Cells>& to, const std::vector<document::Move>& moves) {
  for (const document::Move& move : moves)
    if (move.what == document::Move::What::cells && move.visible) to.push_back(move.cells);
}

/// Of the question: what it names, what its answers are about, and what changes with it.
std::vector<Cells> questioned(const document::Step& step) {
  std::vector<Cells> all;
  if (step.select) all.push_back(*step.select);
  if (!step.predict) return all;
  add(all, step.predict->question);
  add(all, step.predict->after);
  for (const auto& claim : step.predict->claim)
    for (const Goal& goal : claim) add(all, goal);
  return all;
}
/// Of the exercise: what it names, what is checked, and what solves it.
std::vector<Cells> tried(const document::Step& step) {
  std::vector<Cells> all;
  if (step.select) all.push_back(*step.select);
  add(all, step.attempt->task);
  for (const Goal& goal : step.attempt->check) add(all, goal);
  add(all, step.attempt->solution);
  return all;
}

class Watcher : public Fixture {
 public:
  explicit Watcher(Window window) : Fixture(window.width, window.height), window_(window) {
    host.touch = window.width < 600;
    settle();
  }

  void open(const Card& card, int step) {
    step_ = &card.lesson.steps[static_cast<std::size_t>(step)];
    REQUIRE(app().openLesson(card.text, card.name, card.lesson.id, step));
    if (option("view") == "\"spread\"")
      REQUIRE(app().set("spread_draws", "1"));  // they take long, and their number does not matter here
    settle();
  }
  bool shows(std::string_view name) { return static_cast<bool>(app().locate(name, 0, 0, 0)); }
  bool press(std::string_view name) {
    if (!shows(name)) return false;
    click(at(name));
    moveTo(-1000, -1000);
    while (app().wantsFrame()) frame(0.5f);
    return true;
  }
  /// Goes through the step as a reader does, and looks at each of its states.
  void go() {
    if (step_->predict) {
      look("asked", questioned(*step_));
      if (press("guide-answer")) look("asked, with the choices", questioned(*step_));
      REQUIRE(press("guide:choice:0"));
      look("answered", questioned(*step_));
    } else if (!step_->attempt) {
      look("read", questioned(*step_));
    }
    if (!step_->attempt) return;
    look("to be tried", tried(*step_));
    if (!press("guide-show") && press("guide-whole"))
      press("guide-show");  // the bar of a small window has no room for it
    look("solved", tried(*step_));
  }

  void lookWhileTrying(const char* when) { look(when, tried(*step_)); }

  std::vector<std::string> wrong;
  int cells = 0, ofOtherHeads = 0;

 private:
  void look(const char* when, const std::vector<Cells>& asked) {
    room_ = free();  // which may scroll the Guide, to find its controls
    while (app().wantsFrame()) frame();
    painted_.emplace();
    std::set<std::string> found;
    for (const Cells& c : asked) {
      const auto tensor = app().tensor(c.tensor);
      if (!tensor) continue;  // only the steps of an option, which the other answers are about, make it
      const auto range = [&](std::size_t axis, int count) {
        const int at = axis < c.at.size() ? c.at[axis] : Cells::kAny;
        return at < 0 ? std::pair{0, count} : std::pair{at, at + 1};
      };
      const auto [fromHead, toHead] = range(0, (*tensor)->heads());
      const auto [fromRow, toRow] = range(1, (*tensor)->rows());
      const auto [fromCol, toCol] = range(2, (*tensor)->cols());
      for (int h = fromHead; h < toHead; ++h)
        for (int r = fromRow; r < toRow; ++r)
          for (int col = fromCol; col < toCol; ++col)
            if (std::string why = fault(c.tensor, h, r, col); !why.empty())
              found.insert(c.tensor + " " + why);
    }
    for (const std::string& one : found) wrong.push_back(std::string(when) + ": " + one);
  }

  float valueOf(std::string_view tensor, int h, int r, int c) {
    const auto found = app().tensor(tensor);
    return (*found)->at(h, r, c);
  }

  // What keeps a reader from seeing the cell; "" for nothing. Of several heads the board shows one, and the
  // others small beside it.
  std::string fault(const std::string& tensor, int h, int r, int c) {
    const std::string head = option("focus_head");
    const auto rect = app().locate(tensor, h, r, c);
    if (!rect) return "is not there: " + rect.error().message();
    if (option("focus_head") != head) {
      REQUIRE(app().set("focus_head", head));
      while (app().wantsFrame()) frame();
      return ++ofOtherHeads, "";
    }
    ++cells;
    if (app().wantsFrame()) {  // to where locate() has scrolled it
      while (app().wantsFrame()) frame();
      painted_.emplace();
      return "has to be scrolled to";
    }
    const bool isIn = rect->x >= room_.x - 0.5f && rect->x + rect->width <= room_.x + room_.width + 0.5f &&
                      rect->y >= room_.y - 0.5f && rect->y + rect->height <= room_.y + room_.height + 0.5f;
    if (!isIn) return "is cut off, or under the Guide";
    return attention::tensorNamed(tensor) ? written(tensor, h, r, c, *rect) : "";
  }

  std::string written(const std::string& tensor, int h, int r, int c, const app::Rect& cell) {
    bool isThere = false;
    for (const test::Words& w : painted_->words()) {
      const bool isHere = w.midX() > cell.x && w.midX() < cell.x + cell.width && w.midY() > cell.y &&
                          w.midY() < cell.y + cell.height;
      if (!isHere || w.text.find_first_of("0123456789") == std::string::npos) continue;
      if (painted_->isCovered(w)) return "is covered";
      isThere = true;
    }
    const float value = valueOf(tensor, h, r, c);
    const bool isHidden = tensor == "weights" && value == 0 &&
                          (std::isinf(valueOf("masked", h, r, c)) || option("mask_after_softmax") == "true");
    return isThere || isHidden || std::isinf(value) ? "" : "has no number";
  }

  // What header, Guide and toolbar leave of the window.
  app::Rect free() {
    float left = 0, top = 44, bottom = window_.height;
    for (const char* bar : {"guide-strip", "guide-sheet", "guide-handle", "toolbar"})
      if (const auto at = app().locate(bar, 0, 0, 0)) bottom = std::min(bottom, at->y);
    if (window_.width >= 600 && shows("panel:guide") && shows("guide-close")) left = 320;
    return {left, top, window_.width - left, bottom - top};
  }

  Window window_;
  app::Rect room_{};  ///< what the Guide leaves to the board
  const document::Step* step_ = nullptr;
  std::optional<Painted> painted_;
};

}  // namespace

TEST_CASE(
    "visible: what a step asks about is in view, uncovered and legible, before its change and after it") {
  const std::vector<Card> cards = ours();
  REQUIRE(cards.size() > 60);
  int turn = 0, cells = 0;
  for (const Window& window : kWindows) {
    const std::string size =
        base::joined({static_cast<int>(window.width), "x", static_cast<int>(window.height)});
    CAPTURE(size);
    for (const Card& card : cards) {
      for (int step = 0; step < static_cast<int>(card.lesson.steps.size()); ++step) {
        if (!test::kWhole && turn++ % 20 != 0) continue;
        const std::string name = base::joined({card.lesson.id, " ", step + 1});
        CAPTURE(name);
        Watcher f(window);
        f.open(card, step);
        f.go();
        cells += f.cells;
        CHECK_MESSAGE(f.wrong.empty(), (f.wrong.empty() ? "" : f.wrong.front()));
      }
    }
  }
  MESSAGE(cells << " cells");
}

TEST_CASE(
    "visible: the controls open beside a lesson, whose goal and cells stay in view, and a press leads back") {
  const std::vector<Card> cards = ours();
  const auto query =
      std::find_if(cards.begin(), cards.end(), [](const Card& c) { return c.lesson.id == "query"; });
  REQUIRE(query != cards.end());
  for (const Window& window : kWindows) {
    CAPTURE(window.width);
    Watcher f(window);
    f.open(*query, 5);
    REQUIRE(f.press(window.width < 1100 ? "panel" : "panel:controls"));
    CHECK(f.shows("d_k"));
    f.lookWhileTrying("with the controls");
    CHECK_MESSAGE(f.wrong.empty(), (f.wrong.empty() ? "" : f.wrong.front()));
    const char* goal = f.shows("guide-goal") ? "guide-goal" : "guide-strip";
    const std::string said = Painted().in(f.at(goal));
    CAPTURE(said);
    CHECK(said.find("Make the last") != std::string::npos);
    CHECK(said.find("to go") != std::string::npos);  // how far it is
    if (!f.press("guide-goal")) continue;
    CHECK(f.shows("guide-next"));
    CHECK(!f.shows("d_k"));
  }
}
