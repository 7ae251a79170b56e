// The glossary: its files are whole in every language, and its terms open beside the words of a lesson.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "app_fixture.h"
#include "document/glossary.h"
#include "document/lesson_list.h"
#include "lessons.h"
#include "painted.h"
#include "views/guide/glossary.h"

namespace {

std::string_view fileOf(std::string_view name) {
  for (const auto& file : lessons::files)
    if (file.name == name) return file.text;
  return {};
}

std::set<std::string> lessonIds() {
  std::set<std::string> ids;
  const nlohmann::json index = nlohmann::json::parse(document::lessonListOf(lessons::files));
  for (const auto& lesson : index.at("lessons"))
    if (lesson.at("kind") == "lesson") ids.insert(lesson.at("id"));
  return ids;
}

constexpr const char* kLesson = R"({"lesson": 1, "id": "own", "title": "Own", "steps": [
  {"preset": "i-saw-a-saw", "text": "A query meets every key. The query asks, and softmax makes weights."}]})";

class Reader : public Fixture {
 public:
  explicit Reader(float width = 1440, float height = 900) : Fixture(width, height) {
    REQUIRE(app().openLesson(kLesson, "own.json", "", 0));
    REQUIRE(app().setLessons(document::lessonListOf(lessons::files)));
    REQUIRE(app().setGlossary(fileOf("glossary.en.json"), {}));
    settle();
  }
  bool isThere(std::string_view name) {
    return app().items().find("\"" + std::string(name) + "\"") != std::string::npos;
  }
  std::string says() { return test::Painted().in(at("term")); }
};

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("glossary: some forty terms, each with its sentence in every language, and a lesson that exists") {
  const std::set<std::string> ids = lessonIds();
  REQUIRE(ids.size() >= 17);
  const auto english = document::readGlossary(fileOf("glossary.en.json"));
  REQUIRE_MESSAGE(english, english.error().message());
  CHECK(english->size() >= 40);
  std::set<std::string> forms;
  for (const document::GlossaryTerm& term : *english) {
    CHECK_MESSAGE(ids.count(term.lesson) == 1, term.id);
    CHECK_MESSAGE(term.words.back() == '.', term.id);
    for (const std::string& form : term.forms) CHECK_MESSAGE(forms.insert(form).second, form);
  }
  int files = 0;
  for (const auto& file : lessons::files) {
    if (!file.name.starts_with("glossary.")) continue;
    ++files;
    CAPTURE(file.name);
    const auto own = file.name == "glossary.en.json"
                         ? document::readGlossary(file.text)
                         : document::readGlossary(fileOf("glossary.en.json"), file.text);
    REQUIRE_MESSAGE(own, own.error().message());
    for (std::size_t i = 0; i < own->size(); ++i) {
      CHECK(!(*own)[i].words.empty());
      CHECK((file.name == "glossary.en.json" || (*own)[i].words != (*english)[i].words));
      CHECK((*own)[i].formula == (*english)[i].formula);
    }
  }
  CHECK(files == 3);
}

TEST_CASE("glossary: a file with something missing, twice or unknown is refused by term and field") {
  const auto refusal = [](std::string_view english, std::string_view own = {}) {
    const auto read = document::readGlossary(english, own);
    REQUIRE_FALSE(read);
    return read.error().message();
  };
  const std::string one = R"({"terms": [{"id": "a", "term": "A", "words": "It is.", "lesson": "query"}]})";
  CHECK(document::readGlossary(one));
  CHECK(contains(refusal(R"({"terms": [{"id": "a", "term": "A", "lesson": "query"}]})"), "a.words"));
  CHECK(contains(refusal(R"({"terms": [{"id": "a", "term": "", "words": "x", "lesson": "query"}]})"),
                 "a.term"));
  CHECK(contains(refusal(R"({"terms": [{"id": "a", "term": "A", "words": "x"}]})"), "a.lesson"));
  CHECK(
      contains(refusal(R"({"terms": [{"id": "a", "term": "A", "words": "x", "lesson": "q", "more": "y"}]})"),
               "a.more"));
  CHECK(contains(
      refusal(
          R"({"terms": [{"id": "a", "term": "A", "words": "x", "lesson": "q"}, {"id": "a", "term": "B", "words": "y", "lesson": "q"}]})"),
      "twice"));
  CHECK(contains(refusal(one, R"({"terms": [{"id": "b", "term": "B", "words": "x"}]})"), "lacks"));
  CHECK(contains(
      refusal(
          one,
          R"({"terms": [{"id": "a", "term": "B", "words": "x"}, {"id": "b", "term": "B", "words": "x"}]})"),
      "English"));
  CHECK(contains(refusal(one, R"({"terms": [{"id": "a", "term": "B", "words": "x", "formula": "y"}]})"),
                 "a.formula"));
  CHECK(contains(refusal("{}"), "terms"));
  refusal("no JSON");
  refusal("[]");
  CHECK(document::readGlossary(one, R"({"terms": [{"id": "a", "term": "B", "words": "y"}]})")->front().name ==
        "B");
}

TEST_CASE("glossary: a word of a lesson opens its term, once in a text; Esc and a press beside it close it") {
  Reader f;
  CHECK(f.isThere("guide:text:term:0"));   // query
  CHECK(f.isThere("guide:text:term:3"));   // weights
  CHECK(!f.isThere("guide:text:term:4"));  // the second "query" is none
  f.click(f.at("guide:text:term:0"));
  REQUIRE(f.isThere("term"));
  CHECK(contains(f.says(), "Query"));
  CHECK(contains(f.says(), "lesson 2"));
  CHECK(f.app().usesKey(ImGuiKey_Escape, false, false, false));
  f.key(ImGuiKey_Escape);
  CHECK(!f.isThere("term"));
  f.click(f.at("guide:text:term:1"));
  CHECK(contains(f.says(), "Key"));
  f.click(f.at("guide:text:term:2"));
  CHECK(contains(f.says(), "Softmax"));
  f.click(f.at("guide:text:term:2"));
  CHECK(!f.isThere("term"));
  f.click(f.at("guide:text:term:2"));
  f.click(f.at("weights", 0, 0, 0));
  CHECK(!f.isThere("term"));
  f.click(f.at("guide:text:term:0"));
  f.click(f.at("term:close"));
  CHECK(!f.isThere("term"));
}

TEST_CASE("glossary: a term leads to its lesson") {
  Reader f;
  f.click(f.at("guide:text:term:2"));
  f.click(f.at("term:learn"));
  CHECK(f.host.lesson == "softmax");
  CHECK(!f.isThere("term"));
}

TEST_CASE("glossary: a term stands in the window, off its word, at every size") {
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1024.0f, 768.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    Reader f(width, height);
    CAPTURE(width);
    if (!f.isThere("guide:text:term:0"))
      f.click(f.at(f.isThere("guide-whole") ? "guide-whole" : "guide-handle"));
    f.settle();
    REQUIRE(f.isThere("guide:text:term:0"));
    const app::Rect word = f.at("guide:text:term:0");
    f.click(word);
    REQUIRE(f.isThere("term"));
    const app::Rect term = f.at("term");
    CHECK(term.x >= 0);
    CHECK(term.y >= 0);
    CHECK(term.x + term.width <= width);
    CHECK(term.y + term.height <= height);
    CHECK((term.y >= word.y + word.height || term.y + term.height <= word.y ||
           term.x >= word.x + word.width || term.x + term.width <= word.x));
  }
}
