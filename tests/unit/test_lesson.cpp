// Lessons: reading, errors with their positions, and comparison of checks, predictions and solutions with the
// board.
#include <doctest/doctest.h>

#include "document/preset.h"
#include "document/verdict.h"

using namespace document;

namespace {

const std::string kQuery = R"({"lesson": 1, "id": "query", "title": "What does a query ask?", "steps": [
  {"preset": "i-saw-a-saw", "select": ["weights", 0, 3, 2], "text": "At first [q:3] met the {k:2,2} of [k:2|a], so **saw** looked at it with {weights:3,2}.\nNext.",
   "predict": {"question": "Turn it to `−0.80`. Which word gains most?", "choices": ["I", "saw", "a"], "answer": 0,
     "because": ["It adds {q:3,2 * k:0,2} to {before weights:3,0}.", "No.", "No."],
     "after": [{"tensor": "q", "at": [0, 3, 2], "value": -0.8}],
     "claim": {"tensor": "weights", "at": [0, 3], "of": "change", "argmax": [0, 1, 2]}},
   "try": {"task": "Look at [k:0|I].", "hint": "Which sign?", "allow": ["q", "k"],
     "check": [{"tensor": "weights", "at": [0, 3, 0], "min": 0.5}], "solution": [{"tensor": "q", "at": [0, 3, 2], "value": -1.6}]}},
  {"set": {"causal": false}, "view": "block", "text": "Without [causal] all is seen: [view:layer], [lesson:other]."}]})";

Lesson read(const std::string& text) {
  auto lessons = readLessons(text);
  REQUIRE_MESSAGE(lessons, (lessons ? "" : lessons.error().message()));
  return lessons->front();
}

std::string with(std::string text, const std::string& what, const std::string& by) {
  const std::size_t at = text.find(what);
  REQUIRE_MESSAGE(at != std::string::npos, what);
  return text.replace(at, what.size(), by);
}

/// The first error of reading the lesson or of running its steps.
std::string refusal(const std::string& text) {
  const auto lessons = readLessons(text);
  if (!lessons) return lessons.error().message();
  for (const Lesson& lesson : *lessons) {
    const Rehearsal said = rehearse(lesson, true);
    if (!said.refused.empty()) return said.refused.front().message();
  }
  return "";
}

std::string untruth(const std::string& text) {
  const Rehearsal said = rehearse(read(text));
  CHECK(said.refused.empty());
  return said.untrue.empty() ? "" : said.untrue.front().message();
}

}  // namespace

TEST_CASE("lesson: a whole one is read") {
  const Lesson lesson = read(kQuery);
  CHECK(lesson.id == "query");
  REQUIRE(lesson.steps.size() == 2);
  const Step& step = lesson.steps[0];
  CHECK(step.select->tensor == "weights");
  CHECK(step.predict->choices.size() == 3);
  CHECK(step.predict->claim.size() == 3);
  CHECK(step.predict->claim[2][0].argmax == 2);
  CHECK(step.attempt->check[0].min == 0.5);
  std::vector<Run::Kind> kinds;
  for (const Run& run : step.text) kinds.push_back(run.kind);
  using K = Run::Kind;
  CHECK(kinds == std::vector<K>{K::plain, K::cells, K::plain, K::computed, K::plain, K::cells, K::plain,
                                K::strong, K::plain, K::computed, K::plain, K::paragraph, K::plain});
  CHECK(step.text[5].words == "a");
  CHECK(lesson.steps[1].set.size() == 2);
}

TEST_CASE("lesson: what it says is held against the board") {
  const Rehearsal said = rehearse(read(kQuery));
  CHECK(said.refused.empty());
  CHECK(said.untrue.empty());
  REQUIRE(said.steps.size() == 2);
  CHECK(said.steps[0] ==
        "predict: largest change of W[saw₄] is I₁ (I₁); try: W[saw₄, I₁] is 0.41, then 0.52 (≥ 0.50)");
}

TEST_CASE("lesson: untruths are found") {
  CHECK(untruth(with(kQuery, "\"answer\": 0", "\"answer\": 1"))
            .starts_with("step 1, predict.answer: choice 0 is said to be wrong"));
  CHECK(untruth(with(kQuery, "-1.6", "-0.9")) ==
        "step 1, try.solution: after it W[saw₄, I₁] is 0.43, and should be ≥ 0.50.");
  CHECK(untruth(with(kQuery, "\"min\": 0.5", "\"min\": 0.3")) ==
        "step 1, try.check: it holds at the start already; ask for more.");
  CHECK(untruth(with(kQuery, "[\"q\", \"k\"]", "[\"k\"]")) ==
        "step 1, try.allow: the solution changes q, which is not allowed; allow it.");
  CHECK(untruth(with(kQuery, R"(, "solution": [{"tensor": "q", "at": [0, 3, 2], "value": -1.6}])", ""))
            .starts_with("step 1, try.solution: it is missing"));
}

TEST_CASE("lesson: its text may lead to every page") {
  for (const std::string_view view : option(OptionId::view).choices)
    CHECK_MESSAGE(readLessons(with(kQuery, "[view:layer]", "[view:" + std::string(view) + "]")), view);
}

TEST_CASE("lesson: every mistake of a stranger is refused by step and field") {
  const struct {
    std::string what, by, says;
  } mistakes[] = {
      {"\"lesson\": 1", "\"lesson\": 2", "lesson: 2 is not a version"},
      {"\"lesson\": 1, ", "", "lesson: it is missing"},
      {"\"id\": \"query\"", "\"id\": \"What is it?\"", "id: \"What is it?\" is no id"},
      {"\"title\"", "\"titel\"", "the field \"titel\" is unknown"},
      {"\"steps\": [", "\"steps\": [3, ", "step 1, step: a number is not an object"},
      {"\"hint\"", "\"hnit\"", "step 1, try: the field \"hnit\" is unknown"},
      {"i-saw-a-saw", "i-saw", "step 1, preset: there is no \"i-saw\""},
      {"\"weights\", 0, 3, 2", "\"weights\", 0, 3", "step 1, select: give a tensor"},
      {"\"weights\", 0, 3, 2", "\"weights\", 0, 3, 9", "step 1, select: there is no column 9 in weights"},
      {"[q:3]", "[q:9]", "step 1, text: there is no row 9 in q"},
      {"[q:3]", "[qq:3]", "step 1, text: there is no \"qq\""},
      {"[q:3]", "[q:x]", "step 1, text: there is no \"q:x\""},
      {"[q:3]", "[q:1,2,3,4]", "step 1, text: the place of \"q\""},
      {"[q:3]", "[q:3", "step 1, text: there is no"},
      {"**saw**", "**saw", "step 1, text: \"**\" at"},
      {"**saw**", "<b>saw</b>", "looks like HTML"},
      {"**saw**", "<script>alert(1)</script>", "looks like HTML"},
      {"**saw**", "\\u0007", "control character"},
      {"{weights:3,2}", "{weights:3}", "a computed number needs one cell"},
      {"{weights:3,2}", "{1 / 0 - 1}", "computed number"},
      {"{weights:3,2}", "{weights:3,2", "is not closed by"},
      {"\"answer\": 0", "\"answer\": 3", "step 1, predict.answer: 3 does not fit"},
      {"\"answer\": 0", "\"answer\": \"I\"", "step 1, predict.answer:"},
      {"\"answer\": 0,", "", "step 1, predict.answer: it is missing"},
      {"[\"I\", \"saw\", \"a\"]", "[\"I\"]", "step 1, predict.choices: there is one choice"},
      {"\"argmax\": [0, 1, 2]", "\"argmax\": [0, 1]",
       "step 1, predict.claim.argmax: 2 are given for 3 choices"},
      {"\"argmax\": [0, 1, 2]", "\"argmax\": [0, 1, 9]", "there is no column 9 in weights"},
      {"\"No.\", \"No.\"", "\"No.\"", "step 1, predict.because: 2 reasons are given for 3 choices"},
      {"\"tensor\": \"weights\", \"at\": [0, 3, 0]", "\"tensor\": \"wieghts\", \"at\": [0, 3, 0]",
       "step 1, try.check[0].tensor: there is no \"wieghts\""},
      {"[0, 3, 0], \"min\"", "[0, 3, 4], \"min\"", "step 1, try.check[0]: there is no column 4 in weights"},
      {"[0, 3, 0], \"min\"", "[0, -3, 0], \"min\"", "step 1, try.check[0].at: -3 is no place"},
      {"\"min\": 0.5", "\"min\": \"0.5\"", "step 1, try.check[0].min:"},
      {", \"min\": 0.5", "", "step 1, try.check[0]: it asks for nothing"},
      {"\"min\": 0.5", "\"min\": 0.5, \"edits\": {\"max\": 1}",
       "step 1, try.check[0]: a check is about one thing"},
      {"\"min\": 0.5", "\"min\": 0.5, \"max\": 0.1", "min is above max"},
      {"\"min\": 0.5", "\"change\": \"up\"", "change is for the claim of a prediction"},
      {"\"value\": -1.6", "\"value\": 1e99", "step 1, try.solution[0].value:"},
      {"\"value\": -1.6", "\"values\": [1, 2]", "step 1, try.solution[0]: 2 numbers are given for 1 cells"},
      {"\"tensor\": \"q\", \"at\": [0, 3, 2], \"value\": -1.6",
       "\"tensor\": \"weights\", \"at\": [0, 3, 2], \"value\": 1",
       "step 1, try.solution[0]: weights is computed"},
      {"\"tensor\": \"q\", \"at\": [0, 3, 2], \"value\": -1.6",
       "\"tensor\": \"w_q\", \"at\": [0, 1, 1], \"value\": 1", "step 1, try.solution[0]: w_q:"},
      {"\"causal\": false", "\"causal\": \"no\"", "step 2, set.causal:"},
      {"\"causal\": false", "\"casual\": false", "step 2, set: there is no \"casual\""},
      {"\"causal\": false", "\"weights\": [[1]]", "step 2, set.weights: it is computed"},
      {"\"causal\": false", "\"heads\": 5", "step 2, set.heads: heads: 5 does not divide"},
      {"\"causal\": false", "\"tokens\": 1000", "step 2, set.tokens: 2 heads of 1000"},
      {"\"causal\": false", "\"q\": [[1, 2], [3]]", "step 2, set.q"},
      {"\"view\": \"block\"", "\"view\": \"blok\"", "step 2, view:"},
      {"[view:layer]", "[view:nowhere]", "step 2, text: there is no \"nowhere\""},
      {"[lesson:other]", "[lesson:No!]", "step 2, text: \"No!\" is no id"},
      {"]})", "]", "ends too early"},
  };
  for (const auto& mistake : mistakes) {
    if (mistake.what == "]})") {
      CHECK(refusal(kQuery.substr(0, kQuery.size() - 2)).find(mistake.says) != std::string::npos);
      continue;
    }
    const std::string says = refusal(with(kQuery, mistake.what, mistake.by));
    CHECK_MESSAGE(says.find(mistake.says) != std::string::npos, mistake.by << ": " << says);
    CHECK_MESSAGE((says.empty() || says.back() == '.' || says.back() == '?'), says);
  }
  std::string many = R"({"lesson": 1, "id": "a", "title": "a", "steps": [{"text": "a"})";
  for (int i = 0; i < 40; ++i) many += R"(, {"text": "a"})";
  CHECK(refusal(many + "]}").find("41 are too many; use at most 24") != std::string::npos);
  CHECK(refusal(with(kQuery, "Next.", std::string(3000, 'x'))).find("at most 2000") != std::string::npos);
  CHECK(refusal(std::string(kMaxLessonBytes + 1, ' ')).find("bytes; at most") != std::string::npos);
}

TEST_CASE("lesson: cards, puzzles with par, and kinds of goals") {
  const std::string puzzle =
      R"({"lesson": 1, "cards": [{"id": "sum", "title": "Sum", "kind": "puzzle", "par": 2, "steps": [
    {"preset": "i-saw-a-saw", "try": {"task": "Do.", "check": [
      {"tensor": "weights", "at": [0, 3], "of": "sum", "near": 1}, {"tensor": "weights", "at": [0, 3], "of": "entropy", "max": 2},
      {"tensor": "weights", "at": [0, 0, 3], "max": 0.9}, {"option": "causal", "is": false}, {"option": "temperature", "min": 2},
      {"tensor": "q", "at": [], "min": -5, "max": 5}, {"tensor": "q", "at": [0, 3], "like": {"tensor": "q", "at": [0, 3]}},
      {"tensor": "q", "at": [0, 3], "near": [0.2, -0.7, 1.6]}, {"tensor": "weights", "at": [0, 3], "argmax": 2}, {"edits": {"max": 2}}],
      "solution": [{"option": "causal", "is": false}, {"option": "temperature", "is": 2}]}}]}]})";
  const Rehearsal said = rehearse(read(puzzle));
  CHECK(said.refused.empty());
  CHECK(said.untrue.empty());
  if (!said.untrue.empty()) MESSAGE(said.untrue.front().message());
  for (const Error& e : said.refused) MESSAGE(e.message());
  CHECK(said.steps[0].ends_with("par 2"));
  REQUIRE(said.untrue.empty());
  CHECK(rehearse(read(with(puzzle, "\"par\": 2", "\"par\": 3")))
            .untrue.front()
            .message()
            .starts_with("step 1, par: it is 3, but the solution takes 2 edits"));
  CHECK(refusal(with(puzzle, "\"par\": 2, ", "")).find("par: it is missing") != std::string::npos);
  CHECK(refusal(with(puzzle, "0.2, -0.7, 1.6", "0.2, -0.7")).find("2 numbers are asked of 3 cells") !=
        std::string::npos);
}

TEST_CASE("lesson: a step begins where the one before it ends, and cells and the mask are counted as edits") {
  const Lesson lesson = read(kQuery);
  const auto first = startOf(lesson, 0), attempt = tryOf(lesson, 0), second = startOf(lesson, 1);
  REQUIRE((first && attempt && second));
  CHECK(first->q.at(0, 3, 2) == 1.6f);
  CHECK(attempt->q.at(0, 3, 2) == -0.8f);
  CHECK(second->q.at(0, 3, 2) == -1.6f);
  CHECK(!second->causal);
  CHECK(editsBetween(*first, *second) == 2);
  State painted = *first;
  Move mask;
  mask.what = Move::What::mask, mask.cells.at = {3, 0}, mask.visible = false;
  CHECK(play({mask}, painted));
  CHECK(editsBetween(*first, painted) == 1);
  State sparse = *first;
  assign(sparse, OptionId::pattern, std::string("bigbird"));
  CHECK(editsBetween(*first, sparse) == 1);  // by its name
  State other = sparse;
  other.pattern.local += 1;
  CHECK(editsBetween(sparse, other) == 1);
  other.pattern.stride = 3;  // there is no name for it
  CHECK(editsBetween(sparse, other) == 2);
  CHECK(nameOf({"q", {0, 3}}, *first) == "q₄");
  CHECK(nameOf({"weights", {0, 3, 2}}, *first) == "W[saw₄, a₃]");
  CHECK(nameOf({"k", {}}, *first) == "K");
}
