// The explanation card below the matrices, used with the pointer.
#include <sstream>

#include "app_fixture.h"
#include "document/resize.h"
#include "painted.h"
#include "training/trainer.h"

namespace {

app::Rect placeOf(Fixture& f, const char* name) { return *f.app().locate(name, 0, 0, 0); }

}  // namespace

TEST_CASE("card: a notice covers no arithmetic") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f}, {1280.0f, 720.0f}, {390.0f, 844.0f}}) {
    CAPTURE(width);
    Fixture f(width, height);
    f.app().notify("Opened layer.npz. Its numbers are those of a layer with a rather long name.", false);
    f.settle();
    const app::Rect said = f.at("notice"), card = f.at("inspector");
    CHECK(
        (said.x + said.width <= card.x || said.y + said.height <= card.y || said.y >= card.y + card.height));
  }
}

TEST_CASE("card: a tip that is dragged within a frame or over many leaves the plane as it is") {
  for (const bool atOnce : {false, true}) {
    Fixture f;
    REQUIRE(f.app().set("card", "\"plane\""));
    f.settle();
    const app::Rect origin = placeOf(f, "plane:origin"), tip = placeOf(f, "tip:q:3");
    const float x = tip.x + tip.width / 2, y = tip.y + tip.height / 2;
    f.io().AddMousePosEvent(x, y);
    f.io().AddMouseButtonEvent(0, true);
    for (int i = 1; i <= 6; ++i) {
      if (!atOnce) f.frame();
      f.io().AddMousePosEvent(x - 8 * static_cast<float>(i), y - 5 * static_cast<float>(i));
    }
    f.io().AddMouseButtonEvent(0, false);
    f.settle();
    const app::Rect now = placeOf(f, "plane:origin"), to = placeOf(f, "tip:q:3");
    CAPTURE(atOnce);
    CHECK(std::fabs(now.x - origin.x) < 0.01f);
    CHECK(std::fabs(now.y - origin.y) < 0.01f);
    CHECK(std::fabs(to.x - tip.x + 48) < 0.5f);
    CHECK(std::fabs(to.y - tip.y + 30) < 0.5f);
    CHECK(f.app().undo());
    CHECK_FALSE(f.app().document().canUndo());
  }
}

TEST_CASE("card: where tokens are patches, it shows the picture, lit where the pointed patch looks") {
  Fixture f;
  REQUIRE(f.app().openPreset("image-patches", false));
  REQUIRE(f.app().select("weights", 0, 0, 8));
  f.settle();
  const auto box = [&](int patch) { return f.at("query:" + std::to_string(patch)); };
  const auto white = [&](int patch) {
    const app::Rect b = box(patch);
    return test::Painted().extent(IM_COL32_WHITE, {b.x, b.y, b.x + b.width, b.y + b.height});
  };
  const test::Rectangle stroke = white(0);  // the right half of A1
  CHECK(std::fabs(stroke.left - (box(0).x + box(0).width / 2)) < 1.5f);
  CHECK(stroke.height() > box(0).height - 2);
  CHECK(white(1).width() < 0);
  CHECK(box(3).y >= box(0).y + box(0).height);  // a new row
  CHECK(test::Painted().in(box(8)) == "0.19");
  f.moveTo(box(1));
  CHECK(test::Painted().in(box(8)) == "0.01");
  CHECK(test::Painted().in(box(7)) == "0.47");
  REQUIRE(f.app().set("mode", "\"qkv\""));  // no pixels
  f.settle();
  CHECK(white(0).width() < 0);
  REQUIRE(f.app().set("patch_columns", "0"));
  f.settle();
  CHECK(test::Painted().find("Arcs"));
}

TEST_CASE("card: patches of a recorded model have its pixels, in colour") {
  Fixture f;
  document::State s;
  s.mode = document::Mode::qkv, s.causal = false;
  s.tokens = s.keyTokens = 4, s.heads = s.kvHeads = 1, s.headDim = s.valueDim = 2, s.modelDim = 12;
  s.labels = {"0,0", "0,1", "1,0", "1,1"}, s.patchColumns = 2;
  for (const attention::TensorId id : document::inputIds())
    if (hasInput(s, id)) fillSeeded(s, id);
  std::fill_n(s.x.data(), 48, 0.0f);
  for (int i = 0; i < 12; ++i) s.x.at(0, 1, i) = i % 3 == 0 ? 1.0f : -1.0f;  // red
  REQUIRE(f.app().openState(std::move(s), "patches.npz"));
  f.settle();
  const auto red = [&](int patch) {
    const app::Rect b = f.at("query:" + std::to_string(patch));
    return test::Painted().extent(IM_COL32(255, 0, 0, 255), {b.x, b.y, b.x + b.width, b.y + b.height});
  };
  CHECK(red(1).width() > f.at("query:1").width - 2);
  CHECK(red(1).height() > f.at("query:1").height - 2);
  CHECK(red(0).width() < 0);  // a blank one
}

TEST_CASE("header: on a phone the count of heads has room between its buttons") {
  for (const float width : {360.0f, 390.0f}) {
    Fixture f(width, 844);
    for (const char* heads : {"2", "12"}) {
      REQUIRE(f.app().set("d_k", "6"));
      REQUIRE(f.app().set("heads", heads));
      f.settle();
      const test::Painted painted;
      const test::Words* const count = painted.find(std::string(heads) + " heads");
      REQUIRE(count);
      const app::Rect less = f.at("heads-"), more = f.at("heads+");
      CHECK(count->left > less.x + less.width + 3);
      CHECK(count->right < more.x - 3);
      CHECK(f.app().locate("labels", 0, 0, 0));
    }
  }
}

TEST_CASE("train: the rows of the table count every saw, also on a phone") {
  const auto counted = [](float width, float height) {
    Fixture f(width, height);
    REQUIRE(f.app().set("view", "\"train\""));
    REQUIRE(f.app().train(2));
    for (int i = 0; i < 10'000 && f.app().trains(); ++i) f.frame();
    f.settle();
    const app::Rect table = f.at("train:confusion");
    const test::Painted painted;
    for (const char* const name : {"said noun", "said verb", "said other"}) {
      const test::Words* const words = painted.find(name);
      REQUIRE(words);
      CHECK(words->right <= table.x + table.width);
    }
    std::vector<int> numbers;
    std::istringstream all(painted.in(table));
    for (std::string word; all >> word;)
      if (word.find_first_not_of("0123456789") == std::string::npos) numbers.push_back(std::stoi(word));
    return numbers;
  };
  const std::vector<int> numbers = counted(1440, 900);
  REQUIRE(numbers.size() == 6);
  const auto trainer = training::Trainer::of(training::recommended(training::Task::tags));
  REQUIRE(trainer);
  const training::Examples& examples = (*trainer)->examples();
  int saws[2] = {};
  for (const training::Sequence& s : examples.heldOut)
    for (std::size_t i = 0; i < s.tokens.size(); ++i)
      if (s.tokens[i] == examples.saw) ++saws[s.targets[i] == examples.verb];
  CHECK(numbers[0] + numbers[1] + numbers[2] == saws[0]);
  CHECK(numbers[3] + numbers[4] + numbers[5] == saws[1]);
  CHECK(counted(390, 844) == numbers);
}

TEST_CASE("train: curves begin at the first step, not with a stroke from what was measured before it") {
  Fixture f;
  REQUIRE(f.app().set("view", "\"train\""));
  REQUIRE(f.app().train(20));
  for (int i = 0; i < 10'000 && f.app().trains(); ++i) f.frame();
  f.settle();
  const app::Rect chart = f.at("train:loss");
  const ImU32 heldOut = views::palette(false).query;
  const test::Painted painted;
  const test::Rectangle belowLegend{chart.x, chart.y + 40, chart.x + chart.width, chart.y + chart.height};
  const test::Rectangle line = painted.extent(heldOut, belowLegend);
  REQUIRE(line.width() > 100);
  CHECK(
      painted.extent(heldOut, {line.left - 1, belowLegend.top, line.left + 4, belowLegend.bottom}).height() <
      6);
}

TEST_CASE("train: numbers in the maps of heads do not touch each other") {
  for (const char* heads : {"1", "2"}) {
    Fixture f;
    REQUIRE(f.app().set("view", "\"train\""));
    REQUIRE(f.app().set("train_task", "\"sort\""));
    REQUIRE(f.app().set("train_heads", heads));
    f.settle();
    const app::Rect map = f.at("train:map:0:0");
    int numbers = 0;
    const test::Painted painted;
    for (const test::Words& words : painted.words()) {
      const bool isOver = words.left > map.x - 4 && words.right < map.x + map.width + 4 &&
                          words.top > map.y - 2 && words.bottom < map.y + map.height + 2;
      if (!isOver) continue;
      ++numbers;
      CHECK_MESSAGE(std::count(words.text.begin(), words.text.end(), '.') <= 1, words.text);
    }
    CHECK(numbers > 0);
  }
}
