// The palette on a board without a screen: what is found, what Enter and presses do, and what stays as it
// was.
#include "app_fixture.h"

#include <string>

#include "document/glossary.h"
#include "files/formats/language.h"
#include "languages.h"
#include "painted.h"
#include "views/tooltip.h"
#include "views/words.h"

namespace {

constexpr std::string_view kList =
    R"({"lessons": [{"id": "mine", "kind": "lesson", "title": "What does a query ask?", "steps": 1, "about": "A row scores."},
  {"id": "why", "kind": "question", "title": "Why scale?", "steps": 1}, {"id": "secret", "kind": "puzzle", "title": "A mask that keeps a secret", "steps": 1, "par": 2}]})";
constexpr std::string_view kMine =
    R"({"lesson": 1, "id": "mine", "title": "What does a query ask?", "steps": [{"preset": "i-saw-a-saw", "text": "Perpendicular arrows score 0."}]})";

class Reader : public Fixture {
 public:
  using Fixture::Fixture;
  bool shows(std::string_view name) {
    return app().items().find("\"name\":\"" + std::string(name) + "\"") != std::string::npos;
  }
  void open() { key(ImGuiKey_K, {ImGuiMod_Ctrl}); }
  void find(std::string_view words) {
    if (!shows("palette")) open();
    app().endText(app::TextEnd::typing, words);
    settle();
  }
  void end(app::TextEnd how, std::string_view words) {
    app().endText(how, words);
    settle();
  }
  void enter(std::string_view words) { find(words), end(app::TextEnd::commit, words); }
};

constexpr std::string_view kNowhere = "This board has no such control now.";

}  // namespace

TEST_CASE("palette: Ctrl + K opens it with a field, and Enter does what was found") {
  Reader f;
  f.open();
  REQUIRE(f.shows("palette"));
  REQUIRE(!f.host.texts.empty());
  CHECK(f.host.texts.back().searches == 16);
  const std::string before = f.option("causal");
  f.find("caus");
  CHECK(f.shows("find:command:causal"));
  CHECK(!f.shows("find:option:temperature"));
  f.end(app::TextEnd::commit, "causal");
  CHECK(!f.shows("palette"));
  CHECK(f.option("causal") != before);
  CHECK(f.app().undo());
  CHECK(f.option("causal") == before);
}

TEST_CASE(
    "palette: an option that is no switch gets the keyboard in the controls, also where it is folded away") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    CAPTURE(width);
    Reader f(width, height);
    f.enter("temperature");
    CHECK(f.focus() == "temperature");
    f.key(ImGuiKey_Escape);
    f.enter("Keys ahead");
    CHECK(f.focus() == "window_right");
  }
}

TEST_CASE("palette: an option whose name begins like that of a page does not open the page") {
  Reader f;
  REQUIRE(f.app().set("mode", "\"x\""));
  f.settle();
  f.enter("Width of X");
  CHECK(f.option("view") == "\"layer\"");
  CHECK(f.focus().starts_with("model_dim"));
}

TEST_CASE("palette: no command that it lists leads nowhere, at any size") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {390.0f, 844.0f}}) {
    int done = 0;
    for (const std::string_view name : views::controlNames()) {
      if (name.find('*') != std::string_view::npos || name == "fullscreen") continue;
      Reader f(width, height);
      f.find(views::about(name).title);
      const std::string row = "find:command:" + std::string(name);
      if (!f.shows(row)) continue;
      f.click(f.at(row));
      CHECK_MESSAGE(f.app().notice() != kNowhere, name);
      CHECK_MESSAGE(f.shows("palette") == (name == "undo" || name == "redo"),
                    name);  // there is nothing to take back
      ++done;
    }
    CHECK(done > 20);
  }
}

TEST_CASE("palette: arrows choose, and Esc or a press beside it closes it alone") {
  Reader f;
  REQUIRE(f.app().openLesson(kMine, "", "", 0));
  f.settle();
  f.find("heads");
  const std::string before = f.app().state();
  f.key(ImGuiKey_DownArrow);
  f.end(app::TextEnd::cancel, "");
  CHECK(!f.shows("palette"));
  CHECK(f.shows("guide-list"));
  f.open();
  const app::Rect cell = f.at("q", 0, 0, 0);
  f.click({10, 880, 4, 4});
  CHECK(!f.shows("palette"));
  f.open();
  f.drag({cell.x + 2, 880, 4, 4}, 60, 0);
  CHECK(f.app().state() == before);
}

TEST_CASE("palette: a press in it that is on no row leaves it open, with its field") {
  Reader f;
  f.find("heads");
  const app::Rect box = f.at("palette");
  const std::size_t fields = f.host.texts.size();
  f.moveTo(box.x + 12, box.y + 10);
  f.io().AddMouseButtonEvent(0, true);
  f.app().endText(app::TextEnd::leave, "heads");  // as a browser does
  f.settle();
  f.button(false);
  CHECK(f.shows("palette"));
  CHECK(f.host.texts.size() == fields + 1);
  CHECK(f.host.texts.back().text == "heads");
  f.app().endText(app::TextEnd::leave, "heads");  // for something else of the page
  f.moveTo(2, 890);
  CHECK(!f.shows("palette"));
}

TEST_CASE(
    "palette: lessons are found by title, by what they are about, and by their texts; examples and terms "
    "too") {
  Reader f;
  f.open();
  REQUIRE(f.app().setLessons(kList));
  REQUIRE(f.app().setGlossary(
      R"({"language": "English", "terms": [{"id": "query", "term": "Query", "words": "What a word looks for.", "lesson": "mine", "forms": ["queries"]}]})",
      ""));
  for (const auto& [words, row] : {std::pair{"query ask", "find:lesson:mine"},
                                   {"row scores", "find:lesson:mine"},
                                   {"why scale", "find:question:why"},
                                   {"secret", "find:puzzle:secret"},
                                   {"pronoun", "find:example:pronoun"},
                                   {"looks for", "find:term:query"},
                                   {"queries", "find:term:query"}}) {
    f.find(words);
    CHECK_MESSAGE(f.shows(row), words);
  }
  f.find("perpendicular");
  CHECK(!f.shows("find:lesson:mine"));
  REQUIRE(f.app().addLessonTexts(kMine));
  f.settle();
  CHECK(f.shows("find:lesson:mine"));
  f.end(app::TextEnd::commit, "perpendicular");
  CHECK(f.host.lesson == "mine");
  f.enter("a pronoun");
  CHECK(f.option("tokens") == "10");
  CHECK(!f.app().addLessonTexts("{"));
}

TEST_CASE("palette: what is locked says why and does nothing; what is hidden is not found") {
  Reader f;
  f.app().setEmbed({"", "causal,lessons"});
  f.open();
  REQUIRE(f.app().setLessons(kList));
  const std::string before = f.app().state();
  f.enter("causal");
  CHECK(f.app().notice() == "The author of this page has locked it.");
  f.end(app::TextEnd::cancel, "");
  CHECK(f.app().state() == before);
  f.enter("why scale");
  CHECK(f.host.lesson.empty());
  f.end(app::TextEnd::cancel, "");
  f.app().setEmbed({"panel,guide,views,export,header", ""});
  f.settle();
  for (const auto& [words, row] : {std::pair{"temperature", "find:option:temperature"},
                                   {"why scale", "find:question:why"},
                                   {"block", "find:command:view:block"},
                                   {"save", "find:command:export:save"},
                                   {"pronoun", "find:example:pronoun"}}) {
    f.find(words);
    CHECK_MESSAGE(!f.shows(row), words);
  }
}

TEST_CASE("palette: in the reader's language, and in English") {
  for (const auto& file : languages::files) {
    if (file.name != "de.json") continue;
    views::Words words(*files::wordsOf(file.text));
    test::Faces::shared().all.words = &words;
    {
      Reader f;
      f.find("kausale MASKE");
      CHECK(f.shows("find:command:causal"));
      f.find("causal mask");
      CHECK(f.shows("find:command:causal"));
      f.find("temperatur");
      CHECK(f.shows("find:option:temperature"));
    }
    test::Faces::shared().all.words = nullptr;
  }
}

TEST_CASE("palette: anything may be typed, and what is found nowhere gets a sentence") {
  Reader f;
  for (const std::string& typed :
       {std::string("\xff\xfe"), std::string(5000, 'x'), std::string("🧑‍🤝‍🧑"),
        std::string("שלום עולם"), std::string("\x01\x02"), std::string("%s%n {a} {1}")}) {
    f.find(typed);
    CHECK(f.shows("palette"));
    const std::string before = f.app().state();
    f.end(app::TextEnd::commit, typed);
    CHECK(f.shows("palette"));
    CHECK(f.app().state() == before);
  }
}

TEST_CASE("palette: tokens are found by word and by number, and Enter goes to one") {
  Reader f;
  REQUIRE(f.app().openPreset("i-saw-a-saw", false));
  f.find("saw");
  CHECK(f.shows("find:token:query:1"));
  CHECK(f.shows("find:token:query:3"));
  CHECK(!f.shows("find:token:query:0"));
  CHECK(test::Painted().in(f.at("find:token:query:3")) == "saw token 4 of 4");
  f.end(app::TextEnd::commit, "saw");
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 1, 1});
  REQUIRE(f.app().set("labels", R"(["sawn", "I", "a", "saw"])"));
  f.enter("saw");
  CHECK(f.app().explained().row == 3);  // the whole word, before one that begins so
  REQUIRE(f.app().set("cross", "true"));
  f.find("saw");
  CHECK(test::Painted().in(f.at("find:token:query:3")).ends_with("query 4 of 4"));
  f.click(f.at("find:token:key:3"));
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 3});
  REQUIRE(f.app().set("cross", "false"));
  REQUIRE(f.app().set("causal", "true"));
  REQUIRE(f.app().set("step", "3"));
  f.find("saw");
  CHECK(f.shows("find:token:query:0"));   // sawn
  CHECK(!f.shows("find:token:query:3"));  // which the decoder has not written yet
  REQUIRE(f.app().set("view", "\"train\""));
  f.find("saw");
  CHECK(!f.shows("find:token:query:1"));
}

TEST_CASE("palette: a token that is the word typed comes before titles that begin with it") {
  Reader f;
  REQUIRE(f.app().setLessons(kList));
  REQUIRE(f.app().set("labels", R"(["a", "why", "whyever"])"));
  f.find("why");
  CHECK(f.at("find:token:query:1").y < f.at("find:question:why").y);
  f.find("wh");
  CHECK(f.at("find:token:query:1").y > f.at("find:question:why").y);
}

TEST_CASE("palette: of thousands of tokens eight are listed, and all are counted") {
  Reader f;
  REQUIRE(f.app().set("tokens", "3000"));
  f.settle();
  f.find("t29");
  CHECK(f.shows("find:token:query:28"));  // the word itself
  CHECK(f.shows("find:token:query:295"));
  CHECK(!f.shows("find:token:query:296"));
  CHECK(test::Painted().find("111 found"));
  f.enter("2999");
  CHECK(f.app().explained().row == 2998);
}
