// What a finger does: taps, holds and swipes, as sequences of events and times, and what they do to the
// board.
#include "app_fixture.h"

#include <algorithm>
#include <array>

#include "lessons.h"
#include "painted.h"
#include "views/finger.h"

namespace {

using views::Finger;
using Does = Finger::Does;
using attention::CellRef;
using attention::TensorId;

struct Moment {
  double at;   ///< seconds since the press
  float x, y;  ///< from where it was pressed
};

Does after(bool grips, std::initializer_list<Moment> moments) {
  Finger finger;
  finger.press(100, 200, 5);
  if (grips) finger.grip();
  for (const Moment& m : moments) finger.move(100 + m.x, 200 + m.y, 5 + m.at);
  return finger.does;
}

constexpr double kHeld = Finger::kHold;  // the age of a press that holds

bool isThere(Fixture& f, std::string_view place) {
  return f.app().items().find("\"" + std::string(place) + "\"") != std::string::npos;
}

bool isSelected(Fixture& f, const CellRef& cell) {
  const float* row = (*f.app().tensor(attention::name(cell.tensor)))->row(cell.head, cell.row);
  return std::fabs(std::stof(f.app().copyCells()) - row[cell.col]) < 1e-4f;
}

/// A lesson on a phone, with its sheet drawn up.
void openQuery(Fixture& f) {
  const auto file = std::find_if(std::begin(lessons::files), std::end(lessons::files),
                                 [](const auto& one) { return one.name == "query.json"; });
  REQUIRE(file != std::end(lessons::files));
  REQUIRE(f.app().openLesson(file->text, file->name, "query", 1));
  f.settle();
  if (!isThere(f, "guide-close")) f.tap(f.at("guide-handle"));
  f.settle();
}

}  // namespace

TEST_CASE("finger: 8 pixels decide whether it scrolls or drags, and 0.3 seconds whether it holds") {
  for (const bool grips : {false, true}) {
    CAPTURE(grips);
    CHECK(after(grips, {}) == Does::waits);
    CHECK(after(grips, {{0.1, 8, -8}}) == Does::waits);
    CHECK(after(grips, {{0.1, 3, 8.5f}}) == Does::scrolls);
    CHECK(after(grips, {{0.1, -2, -9}}) == Does::scrolls);
    CHECK(after(grips, {{0.1, 9, 2}}) == Does::drags);
    CHECK(after(grips, {{0.1, -9, 9}}) == Does::drags);  // a draw is not a swipe
    CHECK(after(grips, {{0.1, 4, 4}, {0.2, 4, 12}, {0.9, 90, 12}}) == Does::scrolls);  // decided once
    CHECK(after(grips, {{0.29, 0, 0}}) == Does::waits);
  }
  CHECK(after(true, {{0.31, 0, 0}}) == Does::holds);
  CHECK(after(true, {{0.1, 5, 5}, {0.35, 5, 5}, {0.4, 5, 90}}) == Does::holds);
  CHECK(after(true, {{0.4, 0, 60}}) == Does::holds);  // it had rested until then
  CHECK(after(false, {{2, 0, 0}}) == Does::waits);
  CHECK(after(false, {{2, 0, 60}}) == Does::scrolls);
}

TEST_CASE("finger: a movement that is handled late has happened before the finger held anything") {
  for (const auto& [moved, does] : {std::pair{0.1, Does::scrolls}, {0.31, Does::holds}}) {
    Finger finger;
    finger.press(100, 200, 5);
    finger.grip();
    finger.rest(5.5);  // a frame
    REQUIRE(finger.does == Does::holds);
    finger.move(100, 260, 5 + moved);
    CHECK(finger.does == does);
  }
}

TEST_CASE(
    "finger: a small control has 44 by 44 pixels, of which the nearest control has its part, and cells keep "
    "theirs") {
  const std::map<std::string, views::Box, std::less<>> rects = {{"undo", {100, 100, 34, 28}},
                                                                {"redo", {150, 100, 34, 28}},
                                                                {"matrix:q", {100, 140, 200, 100}},
                                                                {"panel:text", {0, 0, 400, 400}}};
  const auto aimed = [&](float x, float y) {
    const ImVec2 by = views::aim(rects, x, y);
    return std::pair{x + by.x, y + by.y};
  };
  CHECK(aimed(117, 93) == std::pair{117.0f, 101.0f});  // 7 above
  CHECK(aimed(96, 114) == std::pair{101.0f, 114.0f});  // 4 to the left
  CHECK(aimed(117, 91) == std::pair{117.0f, 91.0f});   // 9 above: beyond 44
  CHECK(aimed(139, 114).first == 133);  // between both, 5 from the first and 11 from the second
  CHECK(aimed(147, 114).first == 151);
  CHECK(aimed(110, 142) == std::pair{110.0f, 142.0f});  // on a cell
}

TEST_CASE("finger: beside a button it is pressed, and the rows of the sheet are 44 apart") {
  Fixture f(390, 844);
  f.host.touch = true;
  const app::Rect causal = f.at("causal");
  const std::string was = f.option("causal");
  CHECK(causal.height == 44);
  f.press(causal.x + 30, causal.y + 3);
  f.lift();
  CHECK(f.option("causal") != was);
  f.tap(f.at("panel"));
  const char* rows[] = {"tokens", "cross", "heads", "d_k"};
  for (int i = 0; i < 3; ++i) CHECK(f.at(rows[i + 1]).y - f.at(rows[i]).y >= 43);
  for (const char* name : {"tokens-", "tokens-value", "tokens+"}) CHECK(f.at(name).width >= 43);
  CHECK(f.at("tokens+").height >= 40);
  f.tap(f.at("tokens+"));
  CHECK(f.option("tokens") == "5");
}

TEST_CASE("finger: swiped down by its handle a sheet closes; up, or not far, it stays") {
  Fixture f(390, 844);
  f.host.touch = true;
  const auto swipe = [&](const app::Rect& handle, float by) {
    f.press(handle.x + handle.width / 2, handle.y + 8);
    f.swipe(0, by);
    f.lift();
    f.settle();
  };
  f.tap(f.at("panel"));
  const app::Rect cross = f.at("panel:close");
  const app::Rect head{0, cross.y, 390, 44};
  swipe(head, -60);
  REQUIRE(isThere(f, "panel:close"));
  swipe(head, 15);
  REQUIRE(isThere(f, "panel:close"));
  swipe(head, 80);
  CHECK_FALSE(isThere(f, "panel:close"));
}

TEST_CASE(
    "finger: the cross of a lesson on a phone leaves its bar, and what was done; that of the list closes "
    "it") {
  Fixture f(390, 844);
  f.host.touch = true;
  openQuery(f);
  REQUIRE(isThere(f, "guide-close"));
  CHECK(f.at("guide-close").height >= 44);
  f.tap(f.at("guide-close"));
  f.settle();
  CHECK_FALSE(isThere(f, "guide-close"));
  const app::Rect bar = f.at("guide-sheet"), toolbar = f.at("toolbar");
  CHECK(bar.height <= 140);
  CHECK(bar.y + bar.height <= toolbar.y + 1);
  CHECK(isThere(f, "guide-next"));
  f.tap(f.at("guide-handle"));
  f.settle();
  CHECK(isThere(f, "guide-close"));
  f.tap(f.at("panel:guide"));  // below it, which closes both
  f.settle();
  CHECK_FALSE(isThere(f, "guide-close"));
  CHECK_FALSE(isThere(f, "guide-sheet"));
}

TEST_CASE("finger: on a phone the reason of an answer is in view") {
  Fixture f(390, 844);
  f.host.touch = true;
  openQuery(f);
  f.tap(f.at("guide:choice:0"));
  f.rest();
  const test::Painted painted;
  CHECK(painted.find("No.") != nullptr);
  CHECK(painted.find("product is positive too.") != nullptr);  // its end
}

TEST_CASE("layout: on a phone the legend of many words stands below the weights, over none of them") {
  Fixture f(390, 844);
  REQUIRE(f.app().set("tokens", "300"));
  f.settle();
  const app::Rect weights = f.at("matrix:weights"), legend = f.at("weight-legend");
  CHECK(legend.y > weights.y + weights.height + 20);
  CHECK(legend.y + legend.height <= f.at("inspector").y);
}

TEST_CASE("finger: pressed again it begins anew, and what it held is forgotten") {
  Finger finger;
  finger.press(0, 0, 1);
  finger.grip();
  finger.rest(1.5);
  REQUIRE(finger.does == Does::holds);
  finger.press(50, 50, 2);
  CHECK(finger.does == Does::waits);
  finger.rest(3);
  CHECK(finger.does == Does::waits);
  finger.move(50, 80, 3);
  CHECK(finger.does == Does::scrolls);
}

TEST_CASE("finger: a swipe scrolls from wherever it begins, and neither edits nor selects") {
  for (const auto& [width, height] : {std::pair{390.0f, 500.0f}, {640.0f, 440.0f}, {900.0f, 420.0f}}) {
    CAPTURE(width);
    Fixture f(width, height);
    f.at("weights", 0, 3, 2);
    f.tap(f.at("weights", 0, 3, 2));
    for (const auto& [name, row, col] :
         {std::tuple{"q", 1, 1}, {"k", 1, 1}, {"weights", 2, 1}, {"weights", 3, 2}}) {
      CAPTURE(name);
      const std::string state = f.app().state();
      const CellRef shown = f.app().explained();
      f.at("q", 0, 0, 0);
      const app::Rect cell = f.at(name, 0, row, col), before = *f.app().locate("matrix:q", 0, 0, 0);
      f.press(cell);
      f.swipe(-5, -60);
      const app::Rect now = *f.app().locate("matrix:q", 0, 0, 0);
      f.lift();
      CHECK(now.y < before.y - 40);
      CHECK(f.app().state() == state);
      CHECK(f.app().explained() == shown);
      CHECK_FALSE(f.app().fingerHolds());
    }
  }
}

TEST_CASE("finger: sideways it edits nothing, except the selected number") {
  Fixture f(390, 844);
  const float before = f.q(1, 1);
  f.press(f.at("q", 0, 1, 1));
  f.swipe(60, 4);
  f.lift();
  CHECK(f.q(1, 1) == before);
  f.tap(f.at("q", 0, 1, 1));
  CHECK(isSelected(f, {TensorId::q, 0, 1, 1}));
  f.press(f.at("q", 0, 1, 2));  // its neighbour
  f.swipe(60, 4);
  f.lift();
  CHECK(isSelected(f, {TensorId::q, 0, 1, 1}));
  const float other = f.q(1, 2);
  f.press(f.at("q", 0, 1, 1));
  f.swipe(60, 0);
  CHECK(isThere(f, "bubble"));
  f.lift();
  CHECK(f.q(1, 1) == doctest::Approx(before + 0.6f));
  CHECK(f.q(1, 2) == other);
  f.press(f.at("q", 0, 1, 1));
  f.swipe(4, 60);
  f.lift();
  CHECK(f.q(1, 1) == doctest::Approx(before + 0.6f));
  CHECK(f.app().undo());
  CHECK(f.q(1, 1) == before);
  CHECK_FALSE(f.app().undo());
}

TEST_CASE(
    "finger: held on a number it selects it, drags it in any direction as one step, and nothing scrolls") {
  for (const float height : {844.0f, 420.0f}) {
    Fixture f(390, height);
    for (const char* name : {"q", "k", "v"}) {
      CAPTURE(name);
      const app::Rect cell = f.at(name, 0, 1, 1);
      const float before = (*f.app().tensor(name))->at(0, 1, 1);
      f.press(cell, kHeld);
      CHECK(f.app().fingerHolds());
      CHECK(f.app().copyCells().find('\t') == std::string::npos);
      CHECK((*f.app().tensor(name))->at(0, 1, 1) == before);
      f.swipe(0, -60);
      CHECK(isThere(f, "bubble"));
      const app::Rect bubble = *f.app().locate("bubble", 0, 0, 0);
      f.swipe(20, 0);
      CHECK(f.app().locate(name, 0, 1, 1)->y == cell.y);
      f.lift();
      CHECK(bubble.y + bubble.height < cell.y + 1);
      CHECK((*f.app().tensor(name))->at(0, 1, 1) == doctest::Approx(before + 0.8f));
      CHECK(f.app().undo());
      CHECK((*f.app().tensor(name))->at(0, 1, 1) == before);
      CHECK_FALSE(f.app().undo());
    }
  }
}

TEST_CASE("finger: held and lifted, a number is selected and unchanged; a computed one is inspected") {
  Fixture f(390, 844);
  const std::string state = f.app().state();
  f.press(f.at("q", 0, 2, 0), kHeld);
  f.lift();
  CHECK(isSelected(f, {TensorId::q, 0, 2, 0}));
  for (const auto& [name, id] : {std::pair{"scores", TensorId::scores},
                                 {"weights", TensorId::weights},
                                 {"head_output", TensorId::head_output}}) {
    CAPTURE(name);
    f.press(f.at(name, 0, 2, 1), kHeld);
    f.lift();
    CHECK(f.app().explained() == CellRef{id, 0, 2, 1});
    f.tap(f.at(name, 0, 3, 0));
    CHECK(f.app().explained() == CellRef{id, 0, 3, 0});
    CHECK(f.app().notice().empty());
  }
  CHECK(f.app().state() == state);
}

TEST_CASE("finger: the mask is painted by taps, and by a finger that holds; a swipe scrolls") {
  Fixture f(390, 500);
  REQUIRE(f.app().set("causal", "false"));
  f.click(f.at("weights", 0, 3, 3));
  f.type('p');
  const auto weight = [&](int row, int col) { return (*f.app().tensor("weights"))->at(0, row, col); };
  f.tap(f.at("weights", 0, 0, 1));
  CHECK(weight(0, 1) == 0);
  const app::Rect from = f.at("weights", 0, 1, 0), to = f.at("weights", 0, 1, 3);
  f.press(from);
  f.swipe(0, -60);
  f.lift();
  f.press(from);
  f.swipe(60, 0);
  f.lift();
  CHECK(weight(1, 0) > 0);
  f.press(f.at("weights", 0, 1, 0), kHeld);
  f.swipe(to.x - from.x, 0);
  f.lift();
  for (const int col : {0, 1, 2, 3}) CHECK(weight(1, col) == 0);
  CHECK(f.app().undo());
  CHECK(weight(1, 0) > 0);
  CHECK(weight(0, 1) == 0);
}

// ---- two fingers

TEST_CASE(
    "fingers: two of them magnify the matrices about where they are, up to three times, and a double tap "
    "fits the board again") {
  for (const auto& [width, height] : {std::pair{390.0f, 844.0f}, {640.0f, 440.0f}, {1024.0f, 768.0f}}) {
    CAPTURE(width);
    Fixture f(width, height);
    const std::string state = f.app().state();
    const app::Rect fit = f.at("matrix:weights");
    const float x = fit.x + fit.width * 0.75f, y = fit.y + fit.height * 0.75f;
    CHECK(f.app().pinch(x, y, 1.5f, 0, 0));
    f.settle();
    const app::Rect larger = *f.app().locate("matrix:weights", 0, 0, 0);
    CHECK(larger.width == doctest::Approx(fit.width * 1.5f));
    CHECK(larger.x + larger.width * 0.75f == doctest::Approx(x).epsilon(0.01));
    CHECK(larger.y + larger.height * 0.75f == doctest::Approx(y).epsilon(0.01));
    CHECK(f.app().pinch(x - 20, y - 10, 1, -20, -10));
    f.settle();
    const app::Rect moved = *f.app().locate("matrix:weights", 0, 0, 0);
    CHECK(moved.x == doctest::Approx(larger.x - 20).epsilon(0.01));
    CHECK(moved.y == doctest::Approx(larger.y - 10).epsilon(0.01));
    for (int i = 0; i < 9; ++i) CHECK(f.app().pinch(x, y, 1.5f, 0, 0));
    f.settle();
    CHECK(f.app().locate("matrix:weights", 0, 0, 0)->width == doctest::Approx(fit.width * 3));
    CHECK(f.app().state() == state);
    for (int i = 0; i < 9; ++i) CHECK(f.app().pinch(x, y, 0.5f, 0, 0));
    f.settle();
    CHECK(f.app().locate("matrix:weights", 0, 0, 0)->width == doctest::Approx(fit.width));
    CHECK(f.app().locate("matrix:weights", 0, 0, 0)->x == doctest::Approx(fit.x));
  }
}

TEST_CASE(
    "fingers: a magnified board is moved in both directions by one finger, and fits again after two taps") {
  Fixture f(390, 844);
  const app::Rect fit = f.at("matrix:weights");
  CHECK(f.app().pinch(200, 300, 2.5f, 0, 0));
  f.settle();
  const auto now = [&] { return *f.app().locate("matrix:weights", 0, 0, 0); };
  const app::Rect before = now();
  f.press(200, 400);
  f.swipe(-60, 10);  // sideways
  f.lift();
  CHECK(now().x < before.x - 40);
  const app::Rect across = now();
  f.press(200, 400);
  f.swipe(20, -60);
  CHECK(now().y < across.y - 40);
  CHECK(now().x > across.x);
  f.lift();
  for (int i = 0; i < 2; ++i) {
    f.press(200, 400);
    f.button(false);
  }
  const app::Rect cell = f.at("weights", 0, 0, 0);
  CHECK(cell.width == doctest::Approx(fit.width / 4));
  CHECK(cell.x == doctest::Approx(fit.x));
}

TEST_CASE(
    "fingers: a board of many tokens grows until its cells can be read, with names at its edges, and keys "
    "keep "
    "their cell in view") {
  Fixture f;
  REQUIRE(f.app().set("tokens", "200"));
  f.settle();
  const app::Rect fit = f.at("matrix:weights");
  const float x = fit.x + fit.width / 2, y = fit.y + fit.height / 2;
  for (int i = 0; i < 12; ++i) CHECK(f.app().pinch(x, y, 1.5f, 0, 0));
  f.settle();
  const auto now = [&] { return *f.app().locate("matrix:weights", 0, 0, 0); };
  CHECK(now().width == doctest::Approx(200 * 36).epsilon(0.01));
  const int row = static_cast<int>((y - now().y) / 36), col = static_cast<int>((x - now().x) / 36);
  const auto name = f.app().locate("label:left:" + std::to_string(row), 0, 0, 0);
  REQUIRE(name);
  CHECK(std::fabs(y - name->y - name->height / 2) <= 19);  // half a cell
  CHECK(name->x + name->width < 340);                      // beside the controls
  CHECK(f.app().locate("label:above:" + std::to_string(col / 2 * 2), 0, 0, 0)->y < 80);
  f.moveTo(x, y);
  f.button(true);
  f.button(false);
  for (int i = 0; i < 40; ++i) f.key(ImGuiKey_RightArrow, {ImGuiMod_Ctrl});
  for (int i = 0; i < 40; ++i) f.key(ImGuiKey_DownArrow, {ImGuiMod_Ctrl});
  const float left = now().x + static_cast<float>(col + 40) * 36,
              top = now().y + static_cast<float>(row + 40) * 36;
  CHECK(left > 320);
  CHECK(left + 36 < 1440);
  CHECK(top > 60);
  CHECK(top + 36 < 900);
}

TEST_CASE("fingers: where no board is, two of them are the page's") {
  Fixture f(390, 844);
  CHECK_FALSE(f.app().pinch(200, 20, 2, 0, 0));  // the header
  REQUIRE(f.app().set("view", "\"block\""));
  f.settle();
  CHECK_FALSE(f.app().pinch(200, 400, 2, 0, 0));
}

// ---- the strip for a number

TEST_CASE(
    "editing: a number that a finger taps gets a strip with − and +, a slider, and its value as it was; the "
    "board keeps its place") {
  for (const auto& [width, height] :
       {std::pair{390.0f, 844.0f}, {320.0f, 568.0f}, {640.0f, 440.0f}, {1024.0f, 768.0f}}) {
    CAPTURE(width);
    Fixture f(width, height);
    f.press(f.at("q", 0, 1, 1));
    const app::Rect before = f.at("matrix:weights");
    f.lift();
    REQUIRE(isThere(f, "editing"));
    const app::Rect after = f.at("matrix:weights");
    CHECK(after.x == before.x);
    CHECK(after.y == before.y);
    CHECK(after.width == before.width);
    const app::Rect strip = f.at("editing");
    CHECK(strip.height == 64);
    CHECK(strip.y + strip.height <= height);
    for (const char* name : {"editing-less", "editing-more", "editing-slider", "editing-value"}) {
      CAPTURE(name);
      const app::Rect r = f.at(name);
      CHECK(r.height >= 44);
      CHECK(r.width >= 44);
      CHECK(r.x >= strip.x);
      CHECK(r.x + r.width <= strip.x + strip.width);
    }
    const float was = f.q(1, 1);
    f.tap(f.at("editing-more"));
    CHECK(f.q(1, 1) == doctest::Approx(was + 0.1f));
    f.tap(f.at("editing-less"));
    f.tap(f.at("editing-less"));
    CHECK(f.q(1, 1) == doctest::Approx(was - 0.1f));
    const app::Rect slider = f.at("editing-slider");
    const float from = slider.x + 11, length = slider.width - 22;
    f.press(from + length / 2, slider.y + 22);
    f.swipe(length / 2 - 2, 0);
    f.lift();
    CHECK(f.q(1, 1) == doctest::Approx(2).epsilon(0.05));
    const double steps = static_cast<double>(f.q(1, 1)) / 0.05;
    CHECK(std::fabs(steps - std::round(steps)) < 1e-3);
    CHECK(f.app().undo());
    CHECK(f.q(1, 1) == doctest::Approx(was - 0.1f));
    f.press(from + length * (was + 2) / 4, slider.y + 22);
    f.lift();
    CHECK(f.q(1, 1) == was);
    f.checkWeights();
  }
}

TEST_CASE("editing: − and + repeat while they are held, as one step of undo") {
  Fixture f(390, 844);
  f.tap(f.at("k", 0, 2, 1));
  const float was = (*f.app().tensor("k"))->at(0, 2, 1);
  f.press(f.at("editing-more"));
  for (int i = 0; i < 90; ++i) f.frame();
  f.lift();
  const float now = (*f.app().tensor("k"))->at(0, 2, 1);
  CHECK(now > was + 0.35f);
  CHECK(f.app().undo());
  CHECK((*f.app().tensor("k"))->at(0, 2, 1) == was);
}

TEST_CASE(
    "editing: the strip goes with a tap elsewhere, on a computed number, under a sheet, and with the mouse; "
    "it is not there where the number is locked") {
  Fixture f(390, 844);
  const auto opens = [&] {
    f.tap(f.at("v", 0, 1, 1));
    return isThere(f, "editing");
  };
  CHECK(opens());
  const app::Rect cell = f.at("v", 0, 1, 1), strip = f.at("editing");
  CHECK(cell.y + cell.height <= strip.y);
  f.tap(f.at("head_output", 0, 1, 1));
  CHECK_FALSE(isThere(f, "editing"));
  CHECK(opens());
  f.tap({2, cell.y + 18, 4, 4});  // beside the matrices
  CHECK_FALSE(isThere(f, "editing"));
  CHECK(opens());
  f.tap(f.at("done"));
  CHECK_FALSE(isThere(f, "editing"));
  f.tap(f.at("panel"));  // one sheet at a time, and the numbers above it
  f.tap(f.at("q", 0, 1, 1));
  CHECK_FALSE(isThere(f, "editing"));
  f.tap(f.at("panel"));
  CHECK(isThere(f, "editing"));
  f.host.touch = false;
  f.settle();
  CHECK_FALSE(isThere(f, "editing"));
  f.tap(f.at("weights", 0, 1, 1));
  app::Embed embed;
  embed.lock = "v";
  f.app().setEmbed(embed);
  f.settle();
  CHECK_FALSE(opens());
}

TEST_CASE("editing: the keys are of our own, 44 pixels high, and leave the upper 344 of a phone free") {
  for (const auto& [width, height] :
       {std::pair{390.0f, 844.0f}, {320.0f, 568.0f}, {640.0f, 440.0f}, {768.0f, 1024.0f}, {390.0f, 480.0f}}) {
    CAPTURE(width);
    CAPTURE(height);
    Fixture f(width, height);
    f.tap(f.at("q", 0, 1, 1));
    CHECK_FALSE(isThere(f, "key:1"));
    f.tap(f.at("keys"));
    CHECK(f.host.texts.empty());
    const app::Rect strip = f.at("editing"), cell = f.at("q", 0, 1, 1);
    CHECK(cell.y + cell.height <= strip.y);
    if (height > 800) CHECK(strip.y >= 344);
    for (const char* name :
         {"key:0", "key:1", "key:9", "key:sign", "key:point", "key:erase", "key:previous", "key:next"}) {
      CAPTURE(name);
      const app::Rect r = f.at(name);
      CHECK(r.height == 44);
      CHECK(r.width >= 44);
      CHECK(r.x >= 0);
      CHECK(r.x + r.width <= width);
      CHECK(r.y >= strip.y + 64);
      CHECK(r.y + r.height <= strip.y + strip.height);
    }
    CHECK((f.at("key:6").y > f.at("key:5").y) == (width < 600 || height > 600));  // a low window has two rows
    f.tap(f.at("done"));
    CHECK_FALSE(isThere(f, "editing"));
    f.tap(f.at("k", 0, 1, 1));
    CHECK(isThere(f, "key:1"));  // remembered
    f.tap(f.at("editing-value"));
    CHECK_FALSE(isThere(f, "key:1"));
  }
}

TEST_CASE(
    "editing: the first key replaces the number, all of them are one step of undo, and the matrices follow") {
  Fixture f(390, 844);
  const std::string start = f.app().state();
  const auto type = [&](std::initializer_list<const char*> keys) {
    for (const char* key : keys) f.tap(f.at(std::string("key:") + key));
    return f.q(1, 1);
  };
  f.tap(f.at("q", 0, 1, 1));
  f.tap(f.at("editing-value"));
  CHECK(type({"2"}) == 2);
  CHECK(type({"point", "5"}) == 2.5f);
  CHECK(type({"point", "sign"}) == -2.5f);
  CHECK(type({"erase", "erase"}) == -2);
  f.checkWeights();
  CHECK(type({"next", "previous", "1", "2"}) == 12);
  CHECK(f.app().undo());
  f.settle();
  CHECK(f.q(1, 1) == -2);
  CHECK(f.app().undo());
  f.settle();
  CHECK(f.app().state() == start);
  // What is typed begins anew after anything else has changed the number.
  CHECK(type({"7"}) == 7);
  CHECK(type({"erase", "3"}) == 3);
  f.tap(f.at("editing-more"));
  CHECK(type({"4"}) == 4);
  CHECK(type({"sign", "sign"}) == 4);
  f.tap(f.at("key:next"));
  CHECK(f.at("editing-value").y > 0);
  CHECK(type({"erase"}) == 4);  // another number has become 0
  CHECK(f.q(1, 2) == 0);
  f.tap(f.at("key:sign"));
  f.tap(f.at("key:point"));
  f.tap(f.at("key:2"));
  CHECK(f.q(1, 2) == -0.2f);
  for (int i = 0; i < 12; ++i) f.tap(f.at("key:8"));
  CHECK(std::isfinite(f.q(1, 2)));
  f.checkWeights();
}

TEST_CASE("editing: what follows from a number is marked until another is selected") {
  Fixture f(390, 844);
  const auto marks = [&] {
    int all = 0;
    const std::string items = f.app().items();
    for (std::size_t at = 0; (at = items.find("\"changed:", at)) != std::string::npos; ++at) ++all;
    return all;
  };
  f.tap(f.at("q", 0, 1, 1));
  CHECK(marks() == 0);
  f.tap(f.at("editing-more"));
  CHECK(isThere(f, "changed:q:1:1"));
  for (int key = 0; key < 2; ++key) CHECK(isThere(f, "changed:weights:1:" + std::to_string(key)));
  CHECK_FALSE(isThere(f, "changed:weights:0:0"));
  CHECK_FALSE(isThere(f, "changed:weights:3:1"));
  CHECK(f.app().undo());
  f.settle();
  CHECK(marks() == 0);
  f.tap(f.at("editing-more"));
  f.tap(f.at("q", 0, 2, 1));
  CHECK(marks() == 0);
  f.host.touch = false;
  f.settle();
  CHECK(marks() == 0);
}

TEST_CASE("editing: a double tap on a number opens the keys, and a keyboard still types into it") {
  Fixture f(390, 844);
  for (int i = 0; i < 2; ++i) {
    f.press(f.at("q", 0, 0, 0));
    f.button(false);
  }
  f.settle();
  CHECK(isThere(f, "key:1"));
  CHECK(f.host.texts.empty());
  Fixture::io().AddInputCharacter('7');
  f.settle();
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts.back().numeric);
  f.app().endText(app::TextEnd::commit, "7.25");
  CHECK(f.q(0, 0) == 7.25f);
}

// ---- the bar at the bottom of a phone

TEST_CASE(
    "toolbar: Undo, Redo, Controls and Guide at the bottom of a phone, and one sheet at a time, half as high "
    "as the window") {
  Fixture f(390, 844);
  const app::Rect bar = f.at("toolbar");
  CHECK(bar.y + bar.height == 844);
  CHECK(bar.height == 56);
  for (const char* name : {"undo", "redo", "panel", "panel:guide"}) {
    CAPTURE(name);
    const app::Rect r = f.at(name);
    CHECK(r.width >= 44);
    CHECK(r.height >= 44);
    CHECK(r.y >= bar.y);
  }
  const app::Rect matrix = f.at("matrix:weights");
  f.tap(f.at("panel"));
  CHECK(isThere(f, "section:inputs"));
  CHECK(f.at("panel:close").y >= 420);
  CHECK(f.at("matrix:weights").y == matrix.y);
  CHECK(matrix.y + matrix.height < 422);  // all of it stands above the sheet
  f.tap(f.at("causal"));                  // in the header, beside which the sheet stays
  CHECK(isThere(f, "section:inputs"));
  f.tap(f.at("undo"));
  CHECK(isThere(f, "section:inputs"));
  CHECK(f.option("causal") == "true");
  f.tap(f.at("panel:guide"));
  CHECK_FALSE(isThere(f, "section:inputs"));
  CHECK(isThere(f, "guide-close"));
  CHECK(f.at("guide-close").y >= 420);
  f.tap(f.at("panel"));
  CHECK(isThere(f, "section:inputs"));
  CHECK_FALSE(isThere(f, "guide-close"));
  f.tap(f.at("panel:guide"));  // the Guide waited
  CHECK(isThere(f, "guide-close"));
  f.tap(f.at("panel:guide"));
  CHECK_FALSE(isThere(f, "guide-close"));
  f.tap(f.at("panel"));
  f.tap(f.at("panel:close"));
  CHECK_FALSE(isThere(f, "section:inputs"));
  const app::Rect undo = f.at("undo"), redo = f.at("redo"), controls = f.at("panel"),
                  guide = f.at("panel:guide");
  f.tap(f.at("q", 0, 0, 0));
  CHECK(f.at("undo").x == undo.x);
  CHECK(f.at("redo").x == redo.x);
  CHECK(f.at("keys").x == controls.x);
  CHECK(f.at("done").x == guide.x);
  CHECK_FALSE(isThere(f, "panel"));
}

TEST_CASE("toolbar: where a narrow window is too low for it, the header has Undo") {
  for (const auto& [width, height] : {std::pair{390.0f, 440.0f}, {480.0f, 360.0f}, {640.0f, 440.0f}}) {
    Fixture f(width, height);
    CAPTURE(width);
    CHECK_FALSE(isThere(f, "toolbar"));
    CHECK(f.at("undo").y < 44);
  }
}

TEST_CASE("toolbar: it is there on phones only, without what the page hid") {
  for (const auto& [width, height] : {std::pair{390.0f, 440.0f}, {640.0f, 844.0f}, {1440.0f, 900.0f}}) {
    Fixture f(width, height);
    CHECK_FALSE(isThere(f, "toolbar"));
  }
  Fixture f(390, 844);
  app::Embed embed;
  embed.hide = "guide";
  f.app().setEmbed(embed);
  f.settle();
  CHECK(isThere(f, "toolbar"));
  CHECK_FALSE(isThere(f, "panel:guide"));
  embed.hide = "header";
  f.app().setEmbed(embed);
  f.settle();
  CHECK_FALSE(isThere(f, "toolbar"));
}

TEST_CASE("controls: a phone's sheet has closed sections with their values in words, one of which is open") {
  Fixture f(390, 844);
  f.tap(f.at("panel"));
  constexpr std::array kSections{"section:view", "section:inputs", "section:mask", "section:score",
                                 "section:numbers"};
  float below = 0;
  for (const char* name : kSections) {
    const app::Rect row = f.at(name);
    CHECK(row.height == 49);
    CHECK(row.y >= below);
    below = row.y + row.height;
  }
  for (const char* name : {"mode:x", "causal", "temperature", "decimals"})
    CHECK(isThere(f, name) == (std::string(name) == "causal"));  // of which there is one in the header
  f.tap(f.at("section:mask"));
  CHECK(isThere(f, "pattern"));
  f.tap(f.at("section:score"));
  CHECK(isThere(f, "temperature"));
  CHECK_FALSE(isThere(f, "pattern"));
  f.tap(f.at("section:score"));
  CHECK_FALSE(isThere(f, "temperature"));
  // What is asked for is in a section that opens, and then in view.
  const app::Rect row = f.at("section:numbers");
  CHECK(f.app().locate("decimals", 0, 0, 0)->y == row.y);
  f.settle();
  CHECK(f.app().locate("decimals", 0, 0, 0)->y > row.y);
  CHECK_FALSE(f.app().locate("temperatur", 0, 0, 0));
  f.tap(f.at("section:view"));
  f.tap(f.at("view:block"));
  CHECK(f.option("view") == "\"block\"");
  CHECK_FALSE(isThere(f, "section:view"));
}
