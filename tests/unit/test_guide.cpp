// The Guide on a board without a screen: steps, answers, checks in the same frame as the edit, solutions,
// what is kept and what is locked.
#include "app_fixture.h"
#include "document/verdict.h"
#include "painted.h"

#include <chrono>
#include <string>

namespace {

const std::string kLesson = R"({"lesson": 1, "id": "mine", "title": "What does a query ask?", "steps": [
  {"preset": "i-saw-a-saw", "select": ["weights", 0, 3, 0], "text": "At first [q:3] met {k:2,2}.\nIt had {weights:3,2}.",
   "predict": {"question": "Which?", "choices": ["I", "saw", "a"], "answer": 0, "because": ["{q:3,2} of {before q:3,2}", "b", "c"], "after": [{"tensor": "q", "at": [0, 3, 2], "value": -0.8}]},
   "try": {"task": "Look at [k:0|I].", "hint": "Which sign?", "allow": ["q"], "check": {"tensor": "weights", "at": [0, 3, 0], "min": 0.5}, "solution": [{"tensor": "q", "at": [0, 3, 2], "value": -1.6}]}},
  {"set": {"causal": false}, "text": "All is seen."}]})";

class Reader : public Fixture {
 public:
  using Fixture::Fixture;
  void open(int step = 0) {
    const auto ok = app().openLesson(kLesson, "", "", step);
    REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
    settle();
  }
  bool shows(std::string_view name) {
    return app().items().find("\"name\":\"" + std::string(name) + "\"") != std::string::npos;
  }
  int count(app::Event::Type type) { return host.count(type); }
  static std::string shown(double value) { return document::shownNumber(value, 2); }
};

}  // namespace

TEST_CASE("guide: a step begins on its own board, with its cell selected") {
  Reader f;
  (void)f.app().set("causal", "false");
  f.open();
  CHECK(f.option("causal") == "true");
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
  const auto isStep = [](const app::Event& e) { return e.type == app::Event::Type::step; };
  CHECK(std::find_if(f.host.events.begin(), f.host.events.end(), isStep)->detail ==
        "{\"lesson\":\"mine\",\"step\":0,\"steps\":2,\"title\":\"What does a query ask?\"}");
  CHECK(f.app().undo());  // the reader's own board is not lost
  CHECK(f.option("causal") == "false");
}

TEST_CASE("guide: predicted, tried, passed, and on; a check is answered in the frame of the edit") {
  Reader f;
  f.open();
  CHECK(!f.shows("guide-show"));
  f.click(f.at("guide-next"));  // disabled
  CHECK(f.count(app::Event::Type::step) == 1);
  f.click(f.at("guide:choice:1"));
  f.settle();
  CHECK(f.q(3, 2) == doctest::Approx(-0.8f));
  CHECK(f.shows("guide:bar"));
  CHECK(!f.shows("guide:passed"));
  (void)f.app().set("focus_head", "0");
  const float values[] = {0.2f, -0.7f, -1.6f};
  Tensor q = **f.app().tensor("q");
  std::copy(values, values + 3, q.row(0, 3));
  const int shape[] = {2, 4, 3};
  REQUIRE(f.app().setTensor("q", q.values(), shape));
  f.frame();
  CHECK(f.shows("guide:passed"));
  CHECK(f.count(app::Event::Type::passed) == 1);
  f.click(f.at("guide-next"));
  CHECK(f.option("causal") == "false");
  CHECK(f.count(app::Event::Type::passed) == 2);  // that step has no task
  const auto last = f.host.events.end() - 2;
  CHECK(last->type == app::Event::Type::step);  // first the step, then `passed`
}

TEST_CASE("guide: a lesson ends with what was found in it, from the numbers that were checked") {
  Reader f;
  f.open();
  f.click(f.at("guide:choice:0"));
  f.settle();
  f.click(f.at("guide-show"));
  f.settle();
  const double after = double{(*f.app().tensor("weights"))->at(0, 3, 0)};
  f.click(f.at("guide-next"));
  f.settle();
  const app::Rect box = f.at("guide:done");
  const std::string words = test::Painted().in(box.x, box.y, box.x + box.width, box.y + box.height);
  CHECK_MESSAGE(words.find("W[saw₄, I₁] went from ") != std::string::npos, words);
  CHECK_MESSAGE(words.find(" to " + f.shown(after) + ".") != std::string::npos, words);
}

TEST_CASE("guide: below a lesson stand the terms and puzzles of its subject, which open") {
  Reader f;
  f.click(f.at("panel:guide"));
  REQUIRE(f.app().setLessons(
      R"({"lessons": [{"id": "why-attention", "kind": "lesson", "title": "Why?", "steps": 1}, {"id": "mine", "kind": "lesson", "title": "Masks", "steps": 2, "puzzles": ["p"]}, {"id": "p", "kind": "puzzle", "title": "Hide it", "steps": 1}]})"));
  REQUIRE(f.app().setGlossary(
      R"({"language": "English", "terms": [{"id": "mask", "term": "Mask", "words": "Hides keys.", "lesson": "mine"}]})",
      ""));
  f.settle();
  const app::Rect lesson = f.at("guide:open:mine"), term = f.at("guide-term:mask"),
                  puzzle = f.at("guide-go:p");
  CHECK(term.y >= lesson.y + lesson.height - 5);
  CHECK(puzzle.y > term.y);
  f.click(term);
  CHECK(f.shows("term"));
  f.key(ImGuiKey_Escape);
  f.click(puzzle);
  CHECK(f.host.lesson == "p");
}

TEST_CASE("guide: the first that a lesson of the list leads to is the one after it there") {
  Reader f;
  std::string lesson = kLesson;
  lesson.insert(lesson.find("\"steps\""), "\"next\": [\"old\", \"p\"], ");
  REQUIRE(f.app().openLesson(lesson, "", "", 1));
  f.settle();
  CHECK((f.shows("guide-go:old") && f.shows("guide-go:p")));
  REQUIRE(f.app().setLessons(
      R"({"lessons": [{"id": "mine", "kind": "lesson", "title": "Mine"}, {"id": "p", "kind": "puzzle", "title": "P"}, {"id": "new", "kind": "lesson", "title": "New"}]})"));
  f.settle();
  CHECK((f.shows("guide-go:new") && f.shows("guide-go:p") && !f.shows("guide-go:old")));
}

TEST_CASE("guide: the solution moves, and is one step of undo") {
  Reader f;
  f.open();
  f.click(f.at("guide:choice:0"));
  f.settle();
  f.click(f.at("guide-hint"));
  f.moveTo(f.at("guide-show"));
  f.io().AddMouseButtonEvent(0, true);
  f.frame();
  f.io().AddMouseButtonEvent(0, false);
  f.frame();
  f.frame();
  f.frame();
  CHECK(f.q(3, 2) > -1.6f);  // the animation is under way
  f.settle();
  CHECK(f.q(3, 2) == -1.6f);
  CHECK(f.shows("guide:passed"));
  CHECK(f.app().undo());
  CHECK(f.q(3, 2) == doctest::Approx(-0.8f));
}

TEST_CASE("guide: what a try does not allow is locked, until the Guide is closed") {
  Reader f;
  f.open();
  f.drag(f.at("k", 0, 0, 0), 100, 0);
  CHECK((*f.app().tensor("k"))->at(0, 0, 0) == 1.1f);
  f.click(f.at("guide-close"));
  f.drag(f.at("k", 0, 0, 0), 100, 0);
  CHECK((*f.app().tensor("k"))->at(0, 0, 0) > 1.5f);
}

TEST_CASE(
    "guide: what an exercise has locked says what may be changed, where it is pointed at and where it is "
    "pressed") {
  Reader f;
  f.open();
  const std::string before = f.option("causal");
  f.click(f.at("causal"));
  CHECK(f.option("causal") == before);
  CHECK(f.app().notice() == "In this exercise only this can be changed: Q.");
  f.moveTo(-1000, -1000);
  f.key(ImGuiKey_Escape);
  for (const char* name : {"causal", "heads+"}) {
    CAPTURE(name);
    f.moveTo(f.at(name));
    for (int i = 0; i < 40; ++i) f.frame();  // it rests for more than 0.4 s
    REQUIRE(f.shows("tip"));
    const std::string words =
        test::Painted().in(f.at("tip"));  // with those that it covers, between its lines
    CHECK(words.find("In this exercise only this can be") != std::string::npos);
    CHECK(words.find("changed: Q") != std::string::npos);
    f.moveTo(-1000, -1000);
  }
  f.drag(f.at("k", 0, 0, 0), 100, 0);
  CHECK(f.app().notice() == "In this exercise only this can be changed: Q.");
  f.click(f.at("guide-close"));
  f.click(f.at("causal"));
  CHECK(f.option("causal") != before);
}

TEST_CASE("guide: where the page locks lessons, no other one is opened by a reader") {
  Reader f;
  f.open();
  REQUIRE(f.app().setLessons(
      R"({"lessons": [{"id": "other", "kind": "lesson", "title": "Another", "steps": 1}]})"));
  f.app().setEmbed({"", "lessons"});
  f.settle();
  f.click(f.at("guide-list"));
  const std::string before = f.app().state();
  f.click(f.at("guide:open:other"));
  CHECK(f.app().state() == before);
  CHECK(f.host.lesson.empty());
  f.app().setEmbed({"", ""});
  f.settle();
  f.click(f.at("guide:open:other"));
  CHECK(f.host.lesson == "other");
}

TEST_CASE("guide: by keys alone") {
  Reader f;
  f.open();
  f.type('O');
  REQUIRE(f.focusOn("guide:choice:0"));
  f.key(ImGuiKey_Enter);
  f.settle();
  CHECK(f.count(app::Event::Type::answer) == 1);
  REQUIRE(f.focusOn("guide-show"));
  f.key(ImGuiKey_Enter);
  f.settle();
  CHECK(f.count(app::Event::Type::passed) == 1);
  REQUIRE(f.focusOn("guide-next"));
  f.key(ImGuiKey_Enter);
  CHECK(f.count(app::Event::Type::step) == 2);
}

TEST_CASE("guide: keys lead from the lesson to the controls, back, and out of it") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {1000.0f, 700.0f}}) {
    CAPTURE(width);
    Reader f(width, height);
    f.open();
    f.type('O');
    CHECK(!f.focus().empty());
    CHECK(f.focus() != "panel:controls");  // the task has the focus first
    REQUIRE(f.focusOn("panel:controls"));
    f.key(ImGuiKey_Enter);
    CHECK(f.shows("tokens+"));
    CHECK(!f.focus().empty());
    REQUIRE(f.focusOn("panel:guide"));
    f.key(ImGuiKey_Enter);
    CHECK(f.shows("guide-close"));
    REQUIRE(f.focusOn("guide-close"));
    f.key(ImGuiKey_Enter);
    CHECK(!f.shows("guide-close"));
  }
}

TEST_CASE("guide: what was passed is kept; what cannot be kept is said once") {
  struct RememberingHost : FakeHost {
    std::string kept;
    bool keeps = true;
    bool remember(std::string_view text) override { return kept = text, keeps; }
    std::string remembered() const override { return kept; }
  };
  test::Screen screen(1440, 900);
  draw::Heatmaps heatmaps;
  RememberingHost host;
  const auto frames = [](app::App& app) {
    for (int i = 0; i < 5; ++i) {
      test::build(app);
      app.carryOut();
    }
  };
  {
    app::App app(host, heatmaps);
    REQUIRE(app.openLesson(kLesson, "", "", 1));
    frames(app);
    CHECK(host.kept == "{\"open\":true,\"lesson\":\"mine\",\"step\":1,\"passed\":{\"mine\":[1]}}");
    CHECK(app.notice().empty());
  }
  host.keeps = false;
  app::App app(host, heatmaps);
  REQUIRE(app.openLesson(kLesson, "", "", 0));
  frames(app);
  CHECK(host.kept == "{\"open\":true,\"lesson\":\"mine\",\"step\":0,\"passed\":{\"mine\":[1]}}");
  CHECK(app.notice().find("cannot be stored") != std::string::npos);
  app.notify("Something else.", false);
  REQUIRE(app.openLesson(kLesson, "", "", 1));
  frames(app);
  CHECK(app.notice() == "Something else.");
}

TEST_CASE("guide: the list, its search, and files that are refused while the board stays") {
  Reader f;
  f.click(f.at("panel:guide"));
  REQUIRE(f.app().setLessons(
      R"({"lessons": [{"id": "mine", "kind": "lesson", "title": "What does a query ask?", "steps": 2}, {"id": "why", "kind": "question", "title": "Why scale?", "about": "Variance."}]})"));
  f.settle();
  CHECK(f.shows("guide:open:mine"));
  f.click(f.at("guide-search"));
  f.app().endText(app::TextEnd::commit, "VARIANCE");
  f.settle();
  CHECK(!f.shows("guide:open:mine"));
  CHECK(f.shows("guide:open:why"));
  f.click(f.at("guide-search-clear"));
  CHECK(f.shows("guide:open:mine"));
  CHECK(!f.shows("guide:open:why"));
  f.click(f.at("guide:tab:question"));
  CHECK(f.shows("guide:open:why"));
  f.click(f.at("guide-search"));
  f.app().endText(app::TextEnd::typing, "query");  // found while it is typed, in the other tabs too
  f.settle();
  CHECK(f.shows("guide:open:mine"));
  CHECK(!f.shows("guide:open:why"));
  f.click(f.at("guide-close"));
  f.click(f.at("panel:guide"));
  CHECK(f.shows("guide:open:why"));  // the search ends with the Guide
  const std::string before = f.app().state();
  CHECK(f.app().openText("{\"lesson\": 1, \"id\": \"x\"}", "mine.json").error().message() ==
        "mine.json: title: it is missing; a lesson has id, title and steps.");
  CHECK(f.app().openLesson(kLesson, "a.json", "", 9).error().message() ==
        "a.json: step: 9 is no step of \"mine\"; use 0 to 1.");
  CHECK(f.app().state() == before);
  CHECK(!f.app().setLessons("[]"));
}

TEST_CASE("guide: a lesson opens within 50 ms, and its frames take less than 3 ms") {
  Reader f;
  using Clock = std::chrono::steady_clock;
  const auto since = [](Clock::time_point from) {
    return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
  };
  const auto opened = Clock::now();
  REQUIRE(f.app().openLesson(kLesson, "", "", 0));
  f.frame();
  const double opening = since(opened);
  double worst = 1e9;
  for (int i = 0; i < 5; ++i) {
    const auto begun = Clock::now();
    f.app().wake();
    f.frame();
    worst = std::min(worst, since(begun));
  }
  MESSAGE("opened in " << opening << " ms, a frame " << worst << " ms");
  WARN(opening < 50);
  WARN(worst < 3);
}
