// A first visit: its board, the bar over it, and the three steps of the coach, done with the mouse.
#include <algorithm>
#include <cctype>
#include <optional>
#include <sstream>
#include <string>
#include <tuple>

#include "app_fixture.h"
#include "base/sentence.h"
#include "document/preset.h"
#include "document/text.h"
#include "files/formats/language.h"
#include "languages.h"
#include "painted.h"
#include "views/words.h"

namespace {

class Visitor : public Fixture {
 public:
  explicit Visitor(float width = 1440, float height = 900) : Fixture(width, height, true) {
    app().beginCoach();
    settle();
  }
  bool shows(std::string_view name) { return static_cast<bool>(app().locate(name, 0, 0, 0)); }
  bool says(const std::string& words) {
    return test::Painted().in(at("coach")).find(words) != std::string::npos;
  }
  std::string headOne() {
    std::string numbers;
    for (int r = 0; r < 4; ++r)
      for (int c = 0; c < 3; ++c) numbers += std::to_string((**app().tensor("q")).at(0, r, c)) + " ";
    return numbers;
  }
};

bool isApart(const app::Rect& a, const app::Rect& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}

}  // namespace

TEST_CASE(
    "first visit: one head of I saw a saw, nothing masked, the column closed, and the bar over the board") {
  Visitor f;
  CHECK(f.app().state() == document::toText(document::firstBoard()));
  CHECK(document::check(document::firstBoard()));
  for (const char* name : {"panel:controls", "panel:guide", "labels", "causal", "heads+", "step-through"}) {
    CAPTURE(name);
    CHECK(f.shows(name));
  }
  CHECK(!f.shows("tokens+"));
  f.click(f.at("panel:controls"));
  CHECK(f.shows("tokens+"));
  CHECK(!f.shows("step-through"));
  f.click(f.at("panel:close"));
  CHECK(!f.shows("tokens+"));
  CHECK(f.shows("step-through"));
  f.click(f.at("panel:guide"));
  CHECK(f.shows("guide-close"));
  CHECK(f.shows("causal"));  // the bar stays beside a lesson
  f.click(f.at("guide-close"));
  CHECK(f.shows("panel:guide"));
  CHECK(!f.shows("guide-close"));
}

TEST_CASE(
    "first visit: the three steps are done by doing them, with three mouse actions and no scrolling, from a "
    "phone to a desk") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f},
                                      {2560.0f, 1440.0f},
                                      {1100.0f, 700.0f},
                                      {1024.0f, 768.0f},
                                      {640.0f, 440.0f},
                                      {390.0f, 844.0f}}) {
    CAPTURE(width);
    Visitor f(width, height);
    const auto stands = [&] {
      const app::Rect box = f.at("coach");
      CHECK((box.x >= 0 && box.y >= 0 && box.x + box.width <= width && box.y + box.height <= height));
      for (const char* name : {"q", "k", "weights"})
        for (int r = 0; r < 4; ++r)
          for (int c = 0; c < 3; ++c) CHECK(isApart(box, f.at(name, 0, r, c)));
    };
    REQUIRE(f.says("Drag this number:"));
    stands();
    f.drag(f.at("q", 0, 3, 2), -60, 0);
    REQUIRE(f.says("Flip Causal:"));
    stands();
    f.click(f.at("causal"));
    REQUIRE(f.says("Add a head:"));
    stands();
    const std::string before = f.headOne();
    f.click(f.at("heads+"));
    CHECK(f.option("heads") == "2");
    CHECK(f.option("d_k") == "3");
    CHECK(f.headOne() == before);
    CHECK(f.app().notice() == "2 heads with d_k 3, as before.");
    REQUIRE(f.shows("coach:guide"));
    stands();
    f.click(f.at("coach:guide"));
    CHECK(!f.shows("coach:guide"));
  }
}

namespace {

/// While it lives, boards speak German.
class German {
 public:
  German() { test::Faces::shared().all.words = &words_; }
  ~German() { test::Faces::shared().all.words = nullptr; }

 private:
  static std::string_view table() {
    for (const auto& file : languages::files)
      if (file.name == "de.json") return file.text;
    return {};
  }
  views::Words words_{*files::wordsOf(table())};
};

// A word has two letters: "W" is a symbol. Not counted are the words of the sentence beside rows and columns,
// which name them, and the cards below the matrices, which show the same once more: the design has 100 words
// with them, and the first look is at the board.
int wordsSeen(Visitor& f, float height) {
  const float cards = f.shows("inspector") ? f.at("inspector").y - 8 : height;
  int above = 0;
  const test::Painted painted;
  for (const test::Words& run : painted.words()) {
    std::istringstream words(run.text);
    for (std::string word; words >> word;) {
      if (std::count_if(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c) != 0; }) < 2)
        continue;
      const bool isLabel = run.text == "saw";
      above += isLabel || run.midY() > cards ? 0 : 1;
    }
  }
  return above;
}

}  // namespace

TEST_CASE("first visit: at most 60 words stand in the header, the bar, the coach and the titles") {
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1024.0f, 768.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    for (const bool isGerman : {false, true}) {
      std::optional<German> german;
      if (isGerman) german.emplace();
      CAPTURE(width);
      CAPTURE(isGerman);
      Visitor f(width, height);
      const int seen = wordsSeen(f, height);
      MESSAGE(width << std::string(isGerman ? ", German: " : ": ") << seen);
      CHECK(seen >= (width > 1000 ? 30 : 20));  // they are found
      CHECK(seen <= 60);
    }
  }
}

TEST_CASE(
    "first visit: what the coach says has as many lines as it needs, and room above what can be pressed") {
  const German german;
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    CAPTURE(width);
    Visitor f(width, height);
    f.drag(f.at("q", 0, 3, 2), -60, 0);
    f.click(f.at("causal"));
    f.click(f.at("heads+"));
    REQUIRE(f.shows("coach:close"));
    const app::Rect box = f.at("coach");
    const test::Painted painted;
    float last = 0, links = 0;
    for (const test::Words& run : painted.words()) {
      if (run.left < box.x || run.right > box.x + box.width || run.top < box.y ||
          run.bottom > box.y + box.height)
        continue;
      if (run.text == "Schließen") links = run.midY();
      else if (run.text.find("ffnen") == std::string::npos) last = std::max(last, run.midY());
    }
    CHECK(links - last >= 22);
  }
}

TEST_CASE("first visit: the sentence, Causal and Heads stand over the board at every width") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f},
                                      {1100.0f, 700.0f},
                                      {1024.0f, 768.0f},
                                      {820.0f, 1180.0f},
                                      {640.0f, 440.0f},
                                      {600.0f, 600.0f},
                                      {430.0f, 932.0f},
                                      {390.0f, 844.0f},
                                      {360.0f, 740.0f}}) {
    Fixture f(width, height, true);
    CAPTURE(width);
    float end = 0;
    for (const char* name : {"labels", "causal", "heads"}) {
      CAPTURE(name);
      const app::Rect box = f.at(name);
      CHECK(box.x >= end);
      CHECK(box.y < 92);
      end = box.x + box.width;
    }
    CHECK(end <= width);
    f.tap(f.at("labels"));
    REQUIRE(f.host.texts.size() == 1);
    CHECK(f.host.texts.front().text == "I saw a saw");
  }
}

TEST_CASE("first visit: whatever sentence the reader types, no step stands over its words or numbers") {
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1024.0f, 768.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    Visitor f(width, height);
    for (const int words : {1, 2, 4, 12, 25, 64, 4}) {
      CAPTURE(width);
      CAPTURE(words);
      f.click(f.at("labels"));
      REQUIRE(!f.host.texts.empty());
      std::string sentence;
      for (int i = 0; i < words; ++i) sentence += i % 2 == 0 ? "jumps " : "over ";
      f.app().endText(app::TextEnd::commit, sentence);
      f.settle();
      REQUIRE(f.option("tokens") == std::to_string(words));
      CHECK((words != 4 || f.shows("coach")));
      if (!f.shows("coach")) continue;
      const app::Rect coach = f.at("coach");
      for (const std::string_view tensor : {"q", "k", "scores", "weights", "v", "head_output"})
        if (f.shows(base::joined({"matrix:", tensor})))
          CHECK(isApart(coach, f.at(base::joined({"matrix:", tensor}))));
      for (const char* where : {"above", "left", "keys", "right"})
        for (int i = 0; i < words; ++i)
          if (const std::string label = base::joined({"label:", where, ":", i}); f.shows(label))
            CHECK(isApart(coach, f.at(label)));
    }
  }
}

TEST_CASE("first visit: at most 55 numbers in the matrices, until the reader goes to S, V or O") {
  struct Reader : Visitor {
    using Visitor::Visitor;
    int numbersOf(std::string_view name) {
      const test::Painted painted;
      const Tensor& t = **app().tensor(name);
      int count = 0;
      for (int r = 0; r < t.rows(); ++r)
        for (int c = 0; c < t.cols(); ++c) count += painted.in(at(name, 0, r, c)).empty() ? 0 : 1;
      return count;
    }
    int numbers() {
      int count = 0;
      for (const char* name : {"q", "k", "v", "scores", "weights", "head_output"}) count += numbersOf(name);
      return count;
    }
  };
  for (const auto& [width, height] : {std::pair{1024.0f, 768.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    CAPTURE(width);
    CHECK(Reader(width, height).numbers() <= 55);
  }
  Reader f;
  CHECK(f.numbers() == 12 + 12 + 16 + 4 + 3 + 3);
  const app::Rect cell = f.at("scores", 0, 0, 0);
  f.moveTo(cell.x + cell.width / 2, cell.y + cell.height / 2);
  f.settle();
  CHECK(f.numbersOf("scores") == 16);
  CHECK(f.numbersOf("v") == 3);
  f.moveTo(2, 2);
  f.settle();
  CHECK(f.numbersOf("scores") == 16);  // for good
  f.click(f.at("coach:skip"));
  CHECK(f.numbers() == 12 + 12 + 16 + 16 + 12 + 12);

  Reader guided;
  guided.click(guided.at("panel:guide"));
  guided.click(guided.at("guide-close"));
  CHECK(guided.numbersOf("v") == 12);
}

TEST_CASE(
    "first visit: the steps may be done in any order, and are skipped by Skip, by Esc, or when something "
    "else changes the board") {
  Visitor any;
  any.click(any.at("heads+"));
  CHECK(any.says("Drag this number:"));
  any.click(any.at("causal"));
  CHECK(any.says("Drag this number:"));
  any.drag(any.at("q", 0, 3, 2), -40, 0);
  CHECK(any.says("What next?"));
  any.click(any.at("coach:close"));
  CHECK(!any.shows("coach:guide"));

  Visitor skips;
  skips.click(skips.at("coach:skip"));
  CHECK(!skips.shows("coach"));

  Visitor escapes;
  escapes.key(ImGuiKey_Escape);
  CHECK(!escapes.shows("coach"));

  Visitor scripted;
  REQUIRE(scripted.app().set("tokens", "6"));
  scripted.settle();
  CHECK(!scripted.shows("coach"));

  Visitor hidden;
  hidden.app().setEmbed({"", "q,causal"});
  hidden.settle();
  CHECK(hidden.says("Add a head:"));  // what cannot be done here is passed over
  hidden.click(hidden.at("heads+"));
  CHECK(hidden.shows("coach:guide"));
}

TEST_CASE(
    "heads: a board of the reader's own gains and loses heads that keep their columns, as one step of undo") {
  Visitor f;
  const std::string before = f.app().state(), first = f.headOne();
  for (int heads = 2; heads <= 4; ++heads) {
    f.click(f.at("heads+"));
    CHECK(f.option("heads") == std::to_string(heads));
    CHECK(f.option("d_k") == "3");
    CHECK(f.option("d_v") == "3");
    CHECK(f.headOne() == first);
  }
  for (int heads = 3; heads >= 1; --heads) {
    f.click(f.at("heads-"));
    CHECK(f.option("heads") == std::to_string(heads));
    CHECK(f.option("d_k") == "3");
  }
  CHECK(f.headOne() == first);
  for (int i = 0; i < 6; ++i) f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK(f.app().state() == before);
  for (const auto& [name, size, width, few, heads] :
       {std::tuple("tokens", "11000", "21", "7", "8"),
        {"d_k", "300", "3", "1", "1"}}) {  // one more is too many: nothing changes
    CAPTURE(name);
    Visitor most;
    REQUIRE(most.app().set("d_k", width));
    REQUIRE(most.app().set("heads", few));
    REQUIRE(most.app().set(name, size));
    most.settle();
    for (int i = 0; i < 2; ++i) most.type('h');
    CHECK(most.option("heads") == heads);
    CHECK(most.option(name) == size);
    CHECK(most.app().notice() == "There cannot be more heads in this layer.");
  }
  Fixture example;  // heads of an example share its width
  example.click(example.at("heads+"));
  CHECK(example.option("heads") == "3");
  CHECK(example.option("d_k") == "2");
}
