// The pictures of the heads beside the matrices, and all heads on a page of their own.
#include <imgui_internal.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "app_fixture.h"
#include "painted.h"

namespace {

bool has(Fixture& f, std::string_view name) {
  return f.app().items().find("\"" + std::string(name) + "\"") != std::string::npos;
}

/// They share the columns, so there must be enough of them.
void setHeads(Fixture& f, std::string_view heads) {
  REQUIRE(f.app().set("heads", "1"));
  REQUIRE(f.app().set("d_k", "8"));
  REQUIRE(f.app().set("heads", heads));
}

struct Heads : Fixture {
  explicit Heads(std::string_view labels, std::string_view heads, float width = 1440, float height = 900)
      : Fixture(width, height) {
    REQUIRE(app().set("labels", labels));
    setHeads(*this, heads);
    settle();
  }
  std::string title() { return test::Painted().in(at("title:weights")); }
  /// Is there a line of just these words?
  bool hasLine(std::string_view words) {
    const test::Painted painted;
    return std::any_of(painted.words().begin(), painted.words().end(),
                       [&](const test::Words& w) { return w.text == words; });
  }
  bool says(std::string_view words) { return test::Painted().find(words) != nullptr; }
};

constexpr std::string_view kTwelve =
    "[\"I\",\"saw\",\"a\",\"saw\",\"by\",\"the\",\"mill\",\"and\",\"I\",\"saw\",\"a\",\"mill\"]";

}  // namespace

TEST_CASE("heads: while the pointer is on a picture the board shows that head, and a press keeps it") {
  Heads f("[\"I\",\"saw\",\"a\",\"saw\"]", "2");
  const std::string own = f.title();
  const int events = static_cast<int>(f.host.events.size());
  f.moveTo(f.at("head:1"));
  const std::string other = f.title();
  CHECK(other != own);
  CHECK(f.option("focus_head") == "0");
  f.moveTo(f.at("head:mean"));
  CHECK(f.title() != own);
  CHECK(f.title() != other);
  CHECK(f.option("average_heads") == "false");
  f.moveTo(-1000, -1000);
  CHECK(f.title() == own);
  CHECK(static_cast<int>(f.host.events.size()) == events);
  f.click(f.at("head:1"));
  f.moveTo(-1000, -1000);
  CHECK(f.title() == other);
  CHECK(f.option("focus_head") == "1");
}

TEST_CASE(
    "heads: a finger sees a head while it is down on its picture, and one that slides away keeps nothing") {
  Heads f("[\"I\",\"saw\",\"a\",\"saw\"]", "2");
  const std::string own = f.title();
  f.press(f.at("head:1"));
  CHECK(f.title() != own);
  f.moveTo(-1000, -1000);
  CHECK(f.title() == own);
  f.lift();
  CHECK(f.option("focus_head") == "0");
}

TEST_CASE("heads: from eight tokens on measures stand below each picture where they have room") {
  Heads f(kTwelve, "2", 1440, 1200);
  for (const char* name : {"back", "previous", "itself"}) CHECK_MESSAGE(f.says(name), name);
  CHECK_FALSE(Heads("[\"I\",\"saw\",\"a\",\"saw\"]", "2", 1440, 1200).says("previous"));
}

TEST_CASE("heads: all of a layer have their measures on the page, which a switch hides") {
  Heads f(kTwelve, "4");
  REQUIRE(f.app().set("view", "\"model\""));
  f.settle();
  CHECK(f.hasLine("itself"));
  f.click(f.at("model:numbers"));
  CHECK_FALSE(f.hasLine("itself"));
  f.click(f.at("model:numbers"));
  CHECK(f.hasLine("itself"));
}

TEST_CASE("heads: the words beside the large picture of a head are apart from each other") {
  for (const int tokens : {12, 24, 28}) {
    Fixture f(1440, 900);
    for (const auto& [option, value] : {std::pair("tokens", std::to_string(tokens)),
                                        {"batch", "2"},
                                        {"batch_of", "\"layers\""},
                                        {"view", "\"model\""}})
      REQUIRE(f.app().set(option, value));
    f.settle();
    const test::Painted painted;
    std::vector<test::Words> names;
    for (const test::Words& w : painted.words())
      if (w.left > 880 && w.right < 970 && w.top > 180 && w.bottom < 500) names.push_back(w);
    CAPTURE(tokens);
    REQUIRE(names.size() > 6);
    std::ranges::sort(names, {}, &test::Words::top);
    for (std::size_t i = 1; i < names.size(); ++i) CHECK(names[i].top >= names[i - 1].top + 11);
    // A token that is called by its number has it once.
    const std::string links = painted.in(1150, 180, 1440, 500);
    CHECK(links.find("saw") != std::string::npos);
    for (int t = 5; t <= tokens; ++t)
      CHECK_MESSAGE(links.find("t" + std::to_string(t) + " " + std::to_string(t)) == std::string::npos,
                    links);
  }
}

TEST_CASE("heads: by likeness each has a place, and none twice") {
  Heads f(kTwelve, "8");
  REQUIRE(f.app().set("view", "\"model\""));
  f.settle();
  f.click(f.at("model:by"));
  f.click(f.at("model:by:10"));
  f.moveTo(-1000, -1000);
  CHECK(f.says("Heads with the same tag stand together"));
  for (int h = 0; h < 8; ++h) CHECK(has(f, "layer:0:" + std::to_string(h)));
  f.click(f.at("layer:0:5"));
  CHECK(f.option("view") == "\"layer\"");
  CHECK(f.option("focus_head") == "5");
}

TEST_CASE(
    "heads: two with Shift stand side by side with their difference, and what differs most is written") {
  Heads f(kTwelve, "4");
  REQUIRE(f.app().set("view", "\"model\""));
  f.settle();
  CHECK_FALSE(has(f, "model:pair:0"));
  f.io().AddKeyEvent(ImGuiMod_Shift, true);
  f.click(f.at("layer:0:2"));
  f.io().AddKeyEvent(ImGuiMod_Shift, false);
  f.moveTo(-1000, -1000);
  CHECK(f.option("view") == "\"model\"");
  CHECK(has(f, "model:pair:2"));
  CHECK(f.says("Where they differ most:"));
  const attention::Tensor& w = **f.app().tensor("weights");
  const auto two = [](float value) { return attention::formatNumber(double{value}, 2); };
  // The cell under the pointer: row 7, column 3 of 12.
  const app::Rect difference = f.at("model:pair:2");
  const float cell = difference.width / 12;
  f.moveTo(difference.x + 3.5f * cell, difference.y + 7.5f * cell);
  CHECK(f.says("The cell under the pointer:"));
  const float first = w.at(0, 7, 3), second = w.at(2, 7, 3);
  CHECK_MESSAGE(f.says("− " + two(second) + " = " + two(first - second)), two(first));
  // The same by buttons, for fingers and keys.
  f.click(f.at("model:pair-close"));
  CHECK_FALSE(has(f, "model:pair:0"));
  f.click(f.at("model:compare"));
  CHECK(f.says("Press the head to compare it with."));
  f.click(f.at("layer:0:3"));
  CHECK(has(f, "model:pair:1"));
  CHECK(f.option("view") == "\"model\"");
}

TEST_CASE(
    "heads: all of a large layer are drawn pale, from some of their rows, before the next is computed") {
  Fixture f;
  setHeads(f, "8");
  REQUIRE(f.app().set("tokens", "1024"));
  const auto isPale = [] {  // is there a picture of some rows?
    draw::Values values;
    draw::Heatmap look;
    for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists)
      for (const ImDrawCmd& command : list->CmdBuffer)
        if (draw::Heatmaps::queued(command, values, look) && look.opacity < 1 && values.rows == 64)
          return true;
    return false;
  };
  bool wasPale = false;
  f.app().wake();
  int frames = 0;
  for (; f.app().wantsFrame() && frames < 10'000; ++frames) {
    const bool isDue = f.app().heads(false) == 8 && f.app().heads(true) < 8;
    f.frame();
    if (isDue) CHECK(isPale());
    wasPale |= isDue;
    if (f.app().heads(true) > 1) CHECK(f.app().heads(false) == 8);
  }
  CHECK(frames < 10'000);
  CHECK(wasPale);
  CHECK(f.app().heads(true) == 8);
  CHECK_FALSE(isPale());
}

TEST_CASE(
    "heads: of a large layer neither a frame nor a page computes all heads, whatever is made of them, and "
    "numbers stay the same") {
  for (const char* option : {"average_heads", "output_projection"}) {
    CAPTURE(option);
    Fixture f;
    setHeads(f, "8");
    REQUIRE(f.app().set("mode", "\"x\""));
    REQUIRE(f.app().set(option, "true"));
    f.settle();
    REQUIRE(f.app().set("tokens", "1024"));
    const auto drawn = [&f] {
      for (int frames = 0; f.app().wantsFrame() && frames < 10'000; ++frames) {
        const int before = f.app().heads(true);
        f.frame();
        // A slice of a few milliseconds after the frame, and the head that is shown.
        CHECK(f.app().heads(true) - before < 8);
      }
      return f.app().heads(true);
    };
    f.frame();
    CHECK(f.app().heads(true) == 0);
    CHECK(f.app().heads(false) >= 1);
    REQUIRE(f.app().set("view", "\"model\""));
    f.frame();
    REQUIRE(f.app().set("view", "\"layer\""));
    CHECK(f.app().heads(true) == 0);
    CHECK(drawn() == 8);
    REQUIRE(f.app().set("temperature", "1.5"));
    f.frame();
    CHECK(f.app().heads(true) <= 1);
    CHECK(drawn() == 8);
    // The mirror asks for the arithmetic of a cell.
    REQUIRE(f.app().set("temperature", "1.25"));
    REQUIRE(f.app().explain("weights", 0, 7, 3));
    CHECK(f.app().heads(true) == 1);
    const attention::Tensor weights = **f.app().tensor("weights"), output = **f.app().tensor("output");
    CHECK(f.app().heads(true) == 8);
    REQUIRE(f.app().set("temperature", "2"));
    REQUIRE(f.app().set("temperature", "1.25"));
    CHECK(drawn() == 8);
    CHECK(**f.app().tensor("weights") == weights);
    CHECK(**f.app().tensor("output") == output);
  }
}

TEST_CASE("work: between two frames heads go on to be computed, on the board and on the page of all heads") {
  for (const char* view : {"\"layer\"", "\"model\""}) {
    CAPTURE(view);
    Fixture f;
    setHeads(f, "4");
    REQUIRE(f.app().set("tokens", "1500"));
    f.settle();
    REQUIRE(f.app().set("temperature", "1.5"));
    REQUIRE(f.app().set("view", view));
    f.frame(), f.frame(), f.frame();
    REQUIRE(f.app().computes());
    int slices = 0;
    while (f.app().workOn() && slices < 10'000) ++slices;
    CHECK(slices < 10'000);
    CHECK_FALSE(f.app().computes());
    CHECK_FALSE(f.app().workOn());
    f.frame(), f.frame();
    CHECK_FALSE(test::Painted().find("Computing heads"));
  }
}

namespace {

/// Frames of half a second each, by a clock of their own, until it is said that so many tokens take long.
void computeUntilSaid(Fixture& f, const char* heads, const char* tokens) {
  setHeads(f, heads);
  REQUIRE(f.app().set("tokens", tokens));
  f.app().wake();
  for (int frames = 0; f.app().wantsFrame() && !has(f, "work:cancel") && frames < 200; ++frames)
    f.frame(0.5f);
  REQUIRE(has(f, "work:cancel"));
}

}  // namespace

TEST_CASE("work: of one head that is long its rows are counted") {
  Fixture f;
  computeUntilSaid(f, "1", "20000");
  f.frame(), f.frame();
  CHECK(!ImGui::FindWindowByName("##work")->ScrollbarY);  // it would show at the round corners
  CHECK(test::Painted().find("Computing rows: "));
  CHECK(test::Painted().find(" of 20,000"));
}

TEST_CASE(
    "work: while the reader does something a frame computes little, and nothing if that is done between "
    "frames") {
  Fixture f;
  setHeads(f, "4");
  REQUIRE(f.app().set("tokens", "1500"));
  int temperature = 1;
  const auto framesUntilWhole = [&](bool isBusy, bool isBetween) {
    const auto frame = [&] {
      if (isBusy) f.app().wake();  // as an input does
      f.frame();
    };
    REQUIRE(f.app().set("temperature", std::to_string(++temperature)));
    frame(), frame(), frame();
    int frames = 0, slices = 0;
    for (; f.app().computes() && frames < 4000; ++frames) {
      for (int i = 0; i < 3 && isBetween && f.app().computes(); ++i, ++slices) f.app().workOn();
      frame();
    }
    return isBetween ? slices : frames;
  };
  // 4 heads of 1,500 rows, and their mean, of which a slice makes at most 280. Which of them also begins a
  // first picture depends on the frames before.
  const int busy = framesUntilWhole(true, false), between = framesUntilWhole(true, true);
  CHECK(busy > 40);
  CHECK(busy < 4000);
  CHECK(std::abs(busy - between) <= busy / 10);
  CHECK(framesUntilWhole(false, false) < busy);
}

TEST_CASE("work: of a file that is being read it says how much has been, until that is cancelled") {
  Fixture f;
  int frames = 0;
  const auto read = [&](int megabytes) {
    CHECK(f.app().reading(megabytes, 300));
    f.frame(0.5f), ++frames;
  };
  while (!has(f, "work:cancel") && frames < 20) read(frames);
  REQUIRE(has(f, "work:cancel"));
  read(120);
  CHECK(test::Painted().find("Megabytes read: 120 of 300"));
  const app::Rect at = *f.app().locate("work:cancel", 0, 0, 0);
  f.io().AddMousePosEvent(at.x + at.width / 2, at.y + at.height / 2);
  read(121);
  f.io().AddMouseButtonEvent(0, true), read(122);
  f.io().AddMouseButtonEvent(0, false), f.frame();
  CHECK_FALSE(f.app().reading(123, 300));
  for (frames = 0; f.app().wantsFrame() && frames < 50; ++frames) f.frame();
  CHECK(frames < 50);
  CHECK_FALSE(has(f, "work:cancel"));
  CHECK(f.app().reading(1, 300));  // the next file
}

TEST_CASE("work: what takes longer than a second is said in words, can be cancelled and gone on with") {
  Fixture f;
  computeUntilSaid(f, "8", "2048");
  CHECK(test::Painted().find("Computing heads: "));
  const auto press = [&] {
    const app::Rect at = *f.app().locate("work:cancel", 0, 0, 0);
    f.io().AddMousePosEvent(at.x + at.width / 2, at.y + at.height / 2);
    f.frame();
    f.io().AddMouseButtonEvent(0, true), f.frame();
    f.io().AddMouseButtonEvent(0, false), f.frame();
  };
  press();
  int still = 0;
  while (f.app().wantsFrame() && still < 50) f.frame(), ++still;
  CHECK(still < 50);  // no frame is asked for
  CHECK(test::Painted().find("cancelled"));
  press();
  for (int frames = 0; f.app().wantsFrame() && frames < 4000; ++frames) f.frame();
  CHECK_FALSE(has(f, "work:cancel"));
}
