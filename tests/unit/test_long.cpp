// Boards of so many tokens that their cells cannot be told apart: enlarged by keys, with a map of all, and
// with what rows and columns add up to.
#include "app_fixture.h"
#include "attention/engine/engine.h"
#include "document/not_finite.h"
#include "layer.h"
#include "painted.h"

using namespace attention;

namespace {

struct LongBoard : Fixture {
  LongBoard() {
    REQUIRE(app().set("tokens", "300"));
    REQUIRE(app().set("causal", "true"));
    settle();
  }
};

void pressKey(Fixture& f, ImGuiKey key, unsigned character = 0) {
  for (const bool down : {true, false}) {
    f.io().AddKeyEvent(key, down);
    if (down && character != 0) f.io().AddInputCharacter(character);
    f.settle();
  }
}

}  // namespace

TEST_CASE(
    "long: + and − enlarge the cells about the selected one, 0 shows all; a small board zooms instead") {
  LongBoard f;
  f.click(f.at("weights", 0, 200, 100));
  const app::Rect before = f.at("matrix:weights"), cell = f.at("weights", 0, 200, 100);
  pressKey(f, ImGuiKey_Equal, '+');
  CHECK(f.at("matrix:weights").width == doctest::Approx(2 * before.width));
  CHECK(*f.app().get("zoom") == "0");
  const app::Rect after = f.at("weights", 0, 200, 100);
  CHECK(std::abs(after.x + after.width / 2 - cell.x - cell.width / 2) < 4);
  CHECK(std::abs(after.y + after.height / 2 - cell.y - cell.height / 2) < 4);
  pressKey(f, ImGuiKey_Minus, '-');
  CHECK(f.at("matrix:weights").width == doctest::Approx(before.width));
  for (int i = 0; i < 4; ++i) pressKey(f, ImGuiKey_Equal, '+');
  CHECK(f.at("matrix:weights").width > 5 * before.width);
  pressKey(f, ImGuiKey_0, '0');
  CHECK(f.at("matrix:weights").width == doctest::Approx(before.width));
  CHECK(f.host.texts.empty());

  Fixture small;
  const float width = small.at("matrix:weights").width;
  pressKey(small, ImGuiKey_Equal, '+');
  CHECK(*small.app().get("zoom") != "0");
  CHECK(small.at("matrix:weights").width != doctest::Approx(2 * width));
}

TEST_CASE("long: without a selection the arrows move the enlarged board; of a board in view nothing") {
  LongBoard f;
  pressKey(f, ImGuiKey_Escape);
  CHECK_FALSE(f.app().usesKey(ImGuiKey_RightArrow, false, false, false));
  for (int i = 0; i < 3; ++i) pressKey(f, ImGuiKey_Equal, '+');
  CHECK(f.app().usesKey(ImGuiKey_RightArrow, false, false, false));
  const app::Rect before = f.at("matrix:weights");
  pressKey(f, ImGuiKey_LeftArrow), pressKey(f, ImGuiKey_UpArrow);
  const app::Rect after = f.at("matrix:weights");
  CHECK(after.x > before.x);
  CHECK(after.y > before.y);
}

TEST_CASE(
    "long: the map of all weights is there while some are out of view, and a drag of it moves the board") {
  LongBoard f;
  CHECK_FALSE(f.app().locate("minimap", 0, 0, 0));
  f.click(f.at("weights", 0, 200, 100));
  for (int i = 0; i < 3; ++i) pressKey(f, ImGuiKey_Equal, '+');
  const app::Rect map = f.at("minimap"), before = f.at("matrix:weights");
  f.drag({map.x + map.width - 30, map.y + map.height - 30, 2, 2}, 0, 0);
  const app::Rect after = f.at("matrix:weights");
  CHECK(after.x < before.x);
  CHECK(after.y < before.y);
  // What was pressed there is in the middle of the board now; the cells below the map are as they were.
  CHECK(f.app().explained().row == 200);
  pressKey(f, ImGuiKey_0, '0');
  CHECK_FALSE(f.app().locate("minimap", 0, 0, 0));
}

TEST_CASE("long: a row of NaN is marked beside the matrices and in the map, and said") {
  LongBoard f;
  document::State s = f.app().document().state();
  s.q.at(0, 200, 0) = NAN, s.k.at(0, 200, 1) = NAN;
  REQUIRE(document::hideNotFinite(s));
  REQUIRE(f.app().openState(std::move(s), "layer.npz"));
  f.settle();
  CHECK(f.app().notice() ==
        "Opened layer.npz. q[0, 200, 0] of the file (head, token, column, from 0) is NaN, the first of 2 "
        "numbers that are not finite. Such rows are 0 here, and hidden.");
  const app::Rect weights = f.at("matrix:weights"), row = f.at("not-finite:weights"),
                  column = f.at("not-finite:weights:above");
  CHECK(row.x < weights.x);
  CHECK(row.y == doctest::Approx(weights.y + weights.height * 200 / 300).epsilon(0.01));
  CHECK(column.x == doctest::Approx(weights.x + weights.width * 200 / 300).epsilon(0.01));
  CHECK(f.app().locate("not-finite:q", 0, 0, 0));
  f.click(f.at("weights", 0, 220, 100));
  for (int i = 0; i < 3; ++i) pressKey(f, ImGuiKey_Equal, '+');
  const app::Rect map = f.at("minimap"), mark = f.at("not-finite:minimap");
  CHECK(mark.y == doctest::Approx(map.y + 26 + (map.height - 34) * 200 / 300).epsilon(0.02));
}

TEST_CASE("long: the arithmetic of a cell of pairs is there before its head is, and stays the same") {
  Fixture f;
  for (const auto& [option, value] : {std::pair("heads", "2"), {"tokens", "1200"}, {"causal", "true"}})
    REQUIRE(f.app().set(option, value));
  const auto settle = [&f] {
    for (int i = 0; i < 10'000 && f.app().wantsFrame(); ++i) f.frame();
    REQUIRE(f.app().heads(true) == 2);
  };
  settle();
  const Tensor k = **f.app().tensor("k");
  std::vector<float> numbers(k.data(), k.data() + k.size());
  numbers[7] += 0.5f;
  const int shape[] = {k.heads(), k.rows(), k.cols()};
  for (const bool isOption : {true, false}) {
    CAPTURE(isOption);
    if (isOption) REQUIRE(f.app().set("temperature", "1.5"));
    else REQUIRE(f.app().setTensor("k", numbers, shape));
    REQUIRE(f.app().heads(true) < 2);
    for (const char* name : {"weights", "masked", "k"}) {
      CAPTURE(name);
      const int before = f.app().heads(true), col = name[0] == 'k' ? 1 : 3;
      const std::string soon = *f.app().explain(name, 0, 1000, col);
      const float value = f.app().value(name, 0, 1000, col);
      CHECK(f.app().heads(true) == before);
      settle();
      CHECK(f.app().value(name, 0, 1000, col) == doctest::Approx(value));
      CHECK(*f.app().explain(name, 0, 1000, col) == soon);
      if (isOption) REQUIRE(f.app().set("temperature", name[0] == 'w' ? "1.25" : "1.5"));
      else REQUIRE(f.app().setTensor("k", numbers, shape));
      numbers[7] += 0.25f;
    }
    settle();
  }
  CHECK(std::isnan(f.app().value("weights", 2, 0, 0)));
  CHECK(std::isnan(f.app().value("nothing", 0, 0, 0)));
}

TEST_CASE("long: profiles stand beside the weights, and go when the board is small") {
  LongBoard f;
  const app::Rect weights = f.at("matrix:weights"), rows = f.at("profile:rows"),
                  columns = f.at("profile:columns");
  CHECK(rows.x > weights.x + weights.width);
  CHECK(rows.height == doctest::Approx(weights.height));
  CHECK(columns.y > weights.y + weights.height);
  CHECK(columns.width == doctest::Approx(weights.width));
  REQUIRE(f.app().set("tokens", "20"));
  f.settle();
  CHECK_FALSE(f.app().locate("profile:rows", 0, 0, 0));
}

TEST_CASE(
    "long: profiles are the sums of columns and the entropies of rows, whether weights are stored or not") {
  test::Random random(7);
  test::Layer layer = test::direct(test::shape(2, 2, 150, 130, 6, 5), random);
  layer.spec.causal = true;
  Trace whole;
  forward(layer.spec, layer.inputs(), whole);
  for (const bool isStored : {true, false}) {
    CAPTURE(isStored);
    Engine engine;
    if (!isStored) engine.setMost({0, 0});
    engine.apply(layer.spec, layer.inputs(), Change{});
    Profiles& profiles = engine.summaries().profiles();
    while (engine.hasMore()) engine.computeNext();
    profiles.ask(1, 5);
    CHECK(engine.hasMore());
    CHECK(engine.mayWait());
    while (engine.hasMore()) engine.computeNext();
    REQUIRE(profiles.areThere(1, 150, 130));
    CHECK_FALSE(profiles.areThere(0, 150, 130));
    for (int j = 0; j < 130; ++j) {
      double sum = 0;
      for (int i = 0; i < 150; ++i) sum += double{whole.weights.at(1, i, j)};
      CHECK(profiles.received().numbers[static_cast<std::size_t>(j)] == doctest::Approx(sum));
    }
    for (int i = 0; i < 150; ++i) {
      double bits = 0;
      for (int j = 0; j < 130; ++j)
        if (const double w = double{whole.weights.at(1, i, j)}; w > 0) bits -= w * std::log2(w);
      CHECK(std::abs(double{profiles.entropies().numbers[static_cast<std::size_t>(i)]} - bits) < 1e-3);
    }
    profiles.ask(1, 5);
    CHECK_FALSE(engine.hasMore());
    profiles.ask(1, 6);
    CHECK(engine.hasMore());
  }
}

TEST_CASE("long: 131,072 tokens of one head are looked at and enlarged; what does not fit is refused") {
  Fixture f;
  const auto refusal = [&f](const char* option, const char* value) {
    const auto ok = f.app().set(option, value);
    return ok ? std::string("accepted") : ok.error().message();
  };
  for (const auto& [option, value] : {std::pair("heads", "1"), {"d_k", "2"}, {"tokens", "131072"}})
    CHECK(refusal(option, value) == "accepted");
  f.frame();
  CHECK(refusal("tokens", "131073").starts_with("tokens: 131073 is too large; use 1 to 131072."));
  CHECK(refusal("heads", "2") != "accepted");
  CHECK(refusal("d_k", "32").find("for at most 9600000") != std::string::npos);
  CHECK(refusal("view", "\"block\"").find("up to 4096 tokens") != std::string::npos);
  CHECK_FALSE(f.app().tensor("weights"));                 // 17 thousand million numbers
  CHECK_FALSE(f.app().tensor("output"));                  // most rows of which are not computed
  CHECK(f.app().explain("weights", 0, 100'000, 70'000));  // computes one row, not all
  // Enlarged until cells have numbers.
  const auto all = f.app().locate("weights", 0, 100'000, 70'000);
  REQUIRE(all);
  CHECK(f.app().pinch(all->x, all->y, 1e5f, 0, 0));
  f.frame(), f.frame();
  const auto cell = f.app().locate("weights", 0, 100'000, 70'000);
  REQUIRE(cell);
  CHECK(cell->width >= 26);
  CHECK(f.app().locate("minimap", 0, 0, 0));
}

TEST_CASE("long: what is beside an enlarged board has no title over those of others") {
  LongBoard f;
  f.click(f.at("weights", 0, 200, 100));
  for (int i = 0; i < 2; ++i) {
    pressKey(f, ImGuiKey_Equal, '+');
    std::vector<app::Rect> titles;
    for (const char* name :
         {"title:q", "title:k", "title:v", "title:scores", "title:weights", "title:head_output"}) {
      const auto title = f.app().locate(name, 0, 0, 0);
      if (!title) continue;
      for (const app::Rect& other : titles)
        CHECK_MESSAGE((title->x >= other.x + other.width || other.x >= title->x + title->width ||
                       title->y >= other.y + other.height || other.y >= title->y + title->height),
                      name);
      titles.push_back(*title);
    }
    CHECK(titles.size() < 6);
  }
}

TEST_CASE("long: of names above a board on a phone, those without room for all of them are left out") {
  Fixture f(390, 844);
  for (const char* tokens : {"1024", "1500", "4096"}) {
    REQUIRE(f.app().set("tokens", tokens));
    f.settle();
    const test::Painted painted;
    CHECK(painted.slanted().size() > 8);
    for (const test::Words& label : painted.slanted())
      CHECK_MESSAGE(label.text.find("…") == std::string::npos, label.text);
  }
}

TEST_CASE("long: a token that is found is in view, however much the board is enlarged") {
  LongBoard f;
  for (int i = 0; i < 5; ++i) pressKey(f, ImGuiKey_Equal, '+');
  for (const int token : {280, 7, 200}) {
    CAPTURE(token);
    f.key(ImGuiKey_K, {ImGuiMod_Ctrl});
    f.app().endText(app::TextEnd::commit, "t" + std::to_string(token + 1));
    f.settle();
    CHECK(f.app().explained().row == token);
    const app::Rect all = f.at("matrix:weights");
    const float share = (static_cast<float>(token) + 0.5f) / 300, x = all.x + share * all.width,
                y = all.y + share * all.height;
    CHECK(x > 0);
    CHECK(x < 1440);
    CHECK(y > 60);
    CHECK(y < 900);
  }
}
