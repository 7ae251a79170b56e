// Tooltips: when they open and close, where they stand, what they say, and that they cost nothing while
// nobody points at anything.
#include <algorithm>
#include <string>
#include <utility>

#include "app_fixture.h"
#include "document/option.h"
#include "painted.h"
#include "views/mirror.h"
#include "views/tooltip.h"

namespace {

class Pointer : public Fixture {
 public:
  using Fixture::Fixture;
  bool isOpen() { return static_cast<bool>(app().locate("tip", 0, 0, 0)); }
  /// Lets time pass as a shell does that wakes the board when it asks for that.
  void rest(float seconds) {
    settle();
    frame(seconds);
    settle();
  }
  void pointAt(std::string_view name) {
    moveTo(at(name));
    rest(0.45f);
  }
  std::string says() { return isOpen() ? test::Painted().in(at("tip")) : std::string(); }
  /// Moves the pointer away, and waits until neighbours open no sooner than others.
  void leave() {
    moveTo(-1000, -1000);
    rest(0.5f);
  }
};

bool isApart(const app::Rect& a, const app::Rect& b) {
  return a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
}
bool isWithin(const app::Rect& a, float width, float height) {
  return a.x >= 0 && a.y >= 0 && a.x + a.width <= width && a.y + a.height <= height;
}
bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE(
    "tooltip: it opens when the pointer has been still on a control for 0.4 s, with name, key and the "
    "sentence about the option") {
  Pointer f;
  f.moveTo(f.at("causal"));
  CHECK(!f.isOpen());
  CHECK(f.app().wakesIn() > 350);
  CHECK(f.app().wakesIn() <= 400);
  f.rest(0.2f);
  CHECK(!f.isOpen());
  const app::Rect causal = f.at("causal");
  f.moveTo(causal.x + 3, causal.y + 3);  // not still
  f.rest(0.2f);
  CHECK(!f.isOpen());
  f.rest(0.3f);
  CHECK(f.isOpen());
  const std::string says = f.says();
  CHECK(contains(says, "Causal mask"));
  CHECK(contains(says, "C"));
  CHECK(contains(says, std::string(document::helpOn(document::OptionId::causal)).substr(0, 20)));
  CHECK(f.app().wakesIn() == 0);  // once it is open, nothing is left to wait for
  CHECK(!f.app().wantsFrame());
}

TEST_CASE("tooltip: the focus opens it although the pointer moved and pressed before, in the same frame") {
  Pointer f;
  const app::Rect undo = f.at("undo");
  f.io().AddMousePosEvent(undo.x + 3, undo.y + 3);
  f.io().AddMouseButtonEvent(0, true);
  f.io().AddMouseButtonEvent(0, false);
  f.app().pointAt("causal");
  f.rest(0.45f);
  CHECK(contains(f.says(), "Causal mask"));
  f.moveTo(f.at("undo"));  // later than the focus
  f.rest(0.45f);
  CHECK(contains(f.says(), "Undo"));
}

TEST_CASE("tooltip: that of the focus opens, and stays, while the pointer moves over what has none") {
  Pointer f;
  const app::Rect cell = f.at("weights", 0, 0, 0);
  f.moveTo(cell.x + 3, cell.y + 3);
  f.app().pointAt("causal");
  f.rest(0.2f);
  f.moveTo(cell.x + 6, cell.y + 3);  // a board that scrolled, for example
  f.rest(0.25f);
  CHECK(contains(f.says(), "Causal mask"));
  f.moveTo(cell.x + 9, cell.y + 3);
  CHECK(contains(f.says(), "Causal mask"));
  f.button(true), f.button(false);
  CHECK(!f.isOpen());
}

TEST_CASE("tooltip: it is still there when the tables have read the board") {
  Pointer f;
  f.pointAt("causal");
  REQUIRE(f.isOpen());
  const app::Rect before = f.at("tip");
  views::Mirror mirror;
  test::Faces::shared().all.mirror = &mirror;
  f.frame();
  test::Faces::shared().all.mirror = nullptr;
  REQUIRE(f.isOpen());
  CHECK(f.at("tip").x == before.x);
  CHECK(f.at("tip").y == before.y);
}

TEST_CASE("tooltip: that of a neighbour opens at once, also across the gap between them") {
  Pointer f;
  f.pointAt("undo");
  CHECK(contains(f.says(), "Undo"));
  f.moveTo(f.at("redo"));
  CHECK(contains(f.says(), "Redo"));
  const app::Rect redo = f.at("redo");
  f.moveTo(redo.x + redo.width + 4, redo.y + 10);
  CHECK(!f.isOpen());
  f.moveTo(f.at("reset"));
  CHECK(contains(f.says(), "Start again"));
  f.leave();
  f.moveTo(f.at("undo"));
  CHECK(!f.isOpen());
}

TEST_CASE(
    "tooltip: a press, the wheel and Esc close it, until another control is pointed at; Esc does nothing "
    "else") {
  Pointer f;
  for (const int how : {0, 1, 2}) {
    CAPTURE(how);
    f.leave();
    f.pointAt("causal");
    REQUIRE(f.isOpen());
    if (how == 0) f.button(true), f.button(false);
    if (how == 1) f.io().AddMouseWheelEvent(0, 1), f.settle();
    if (how == 2) {
      CHECK(f.app().usesKey(ImGuiKey_Escape, false, false, false));
      const auto before = f.app().mirror({});
      f.key(ImGuiKey_Escape);
      CHECK(f.app().mirror({}) == before);  // the selection is still there
    }
    CHECK(!f.isOpen());
    f.rest(1);
    CHECK(!f.isOpen());
  }
  f.leave();
  f.pointAt("undo");
  CHECK(f.isOpen());
}

TEST_CASE("tooltip: the keyboard focus opens it, a click does not") {
  Pointer f;
  f.type('O');
  REQUIRE(f.focusOn("causal"));
  f.rest(0.45f);
  CHECK(contains(f.says(), "Causal mask"));
  f.key(ImGuiKey_DownArrow);
  CHECK(f.isOpen());
  CHECK(!contains(f.says(), "Causal mask"));
  CHECK(isApart(f.at("tip"), f.at("focus:" + f.focus())));
  f.key(ImGuiKey_Escape);
  CHECK(!f.isOpen());
  CHECK(!f.focus().empty());
  f.click(f.at("reset"));
  f.moveTo(-1000, -1000);
  f.rest(1);
  CHECK(!f.isOpen());
}

TEST_CASE("tooltip: a control that does nothing now says why") {
  Pointer f;
  f.pointAt("undo");
  CHECK(contains(f.says(), "nothing to take back"));
  REQUIRE(f.app().set("tokens", "1"));
  f.leave();
  f.pointAt("tokens-");
  CHECK(contains(f.says(), "Tokens"));
  CHECK(contains(f.says(), "1"));
  app::Embed embed;
  embed.lock = "causal";
  f.app().setEmbed(embed);
  f.leave();
  f.pointAt("causal");
  CHECK(contains(f.says(), "locked"));
}

TEST_CASE("tooltip: it stays in the window, off its control and off the pointer, at every size") {
  for (const auto& [width, height] : {std::pair{1440.0f, 900.0f},
                                      {1024.0f, 768.0f},
                                      {640.0f, 440.0f},
                                      {390.0f, 844.0f},
                                      {320.0f, 320.0f}}) {
    Pointer f(width, height);
    const bool isDrawer = static_cast<bool>(f.app().locate("panel", 0, 0, 0));
    if (isDrawer) f.click(f.at("panel"));
    int count = 0;
    for (const char* name : {"preset", "undo", "reset", "theme", "help", "more", "causal", "heads+",
                             "heads-value", "labels", "tokens-", "score", "temperature", "normalizer",
                             "paint", "randomize", "weight_by", "card:arcs", "card:loops"}) {
      if (!f.app().locate(name, 0, 0, 0) || (isDrawer && std::string_view(name).starts_with("card:")))
        continue;  // behind the drawer
      f.leave();
      f.pointAt(name);
      if (!f.isOpen()) continue;  // covered by the drawer
      CAPTURE(std::string(name));
      CAPTURE(width);
      ++count;
      const app::Rect tip = f.at("tip");
      CHECK(isWithin(tip, width, height));
      CHECK(isApart(tip, f.at(name)));
      CHECK(isApart(tip, {f.io().MousePos.x, f.io().MousePos.y, 1, 1}));
    }
    CHECK(count >= 7);
  }
}

TEST_CASE("tooltip: of a head it covers neither its tag nor what is measured of it") {
  Pointer f;
  REQUIRE(f.app().set("labels", "[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"i\",\"j\"]"));
  REQUIRE(f.app().set("heads", "1"));
  REQUIRE(f.app().set("d_k", "8"));
  REQUIRE(f.app().set("heads", "8"));
  f.settle();
  // How far the words below a picture reach: the last line is that of the weight on the token itself.
  const auto standsApart = [&](const char* name) {
    CAPTURE(std::string(name));
    f.leave();
    f.pointAt(name);
    REQUIRE(f.isOpen());
    const app::Rect box = f.at(name), tip = f.at("tip");
    float bottom = box.y + box.height;
    const test::Painted painted;
    for (const test::Words& w : painted.words())
      if (w.midX() > box.x && w.midX() < box.x + box.width && w.top > box.y + box.height &&
          w.bottom < box.y + box.height + 90 && isApart(tip, {w.left, w.top, 1, 1}))
        bottom = std::max(bottom, w.bottom);
    CHECK(bottom > box.y + box.height + 10);
    CHECK(isApart(tip, {box.x, box.y, box.width, bottom - box.y}));
  };
  standsApart("head:2");
  REQUIRE(f.app().set("view", "\"model\""));
  f.settle();
  standsApart("layer:0:2");
}

TEST_CASE("tooltip: a finger that is held opens it and operates nothing; a tap operates as ever") {
  Pointer f(390, 844);
  f.host.touch = true;
  f.settle();
  REQUIRE(f.app().set("causal", "false"));
  const app::Rect causal = f.at("causal");
  const auto press = [&] { f.press(causal); };
  const auto release = [&] { f.lift(); };
  press();
  release();
  CHECK(f.option("causal") == "true");
  CHECK(!f.isOpen());
  press();
  CHECK(f.app().wakesIn() > 300);
  for (int i = 0; i < 8; ++i) f.frame(0.1f);
  CHECK(f.isOpen());
  release();
  CHECK(f.option("causal") == "true");
  CHECK(f.isOpen());  // it can be read without the finger in front of it
  CHECK(!f.app().wantsFrame());
  press();
  CHECK(!f.isOpen());
  release();
  CHECK(f.option("causal") == "false");
}

TEST_CASE("tooltip: a board that nobody points at waits for nothing") {
  Pointer f;
  f.leave();
  CHECK(f.app().wakesIn() == 0);
  const app::Rect board = f.at("weights", 0, 0, 0);
  f.moveTo(board.x + 5, board.y + 5);
  CHECK(f.app().wakesIn() == 0);
}

TEST_CASE(
    "tooltip: a choice in a menu, which has a line of its own, has none; parts of a control have that of the "
    "whole") {
  CHECK(views::about("score:dot").title.empty());
  CHECK(views::about("preset:decoder").title.empty());
  CHECK(views::about("guide:choice:1").title.empty());
  CHECK(views::about("heads+").title == "Heads");
  CHECK(views::about("heads+").key == "H");
  CHECK(views::about("heads-").key.empty());
  CHECK(views::about("block_norm:1").words == document::helpOn(document::OptionId::block_norm));
  CHECK(views::about("head:3").title == "Head");
  CHECK(views::about("nothing").title.empty());
  CHECK(views::about("view:block").key == "B");
  CHECK(views::about("view:train").key.empty());  // on the board that key adds a token
  CHECK(views::about("view:cost").key == "6");
  CHECK(views::about("lab:1").title == "Spread of scores");
  CHECK(views::sectionOf("heads+") == "section:inputs");
  CHECK(views::sectionOf("paint") == "section:mask");
  CHECK(views::sectionOf("d_q") == "section:score");
  CHECK(views::sectionOf("step") == "section:numbers");
  CHECK(views::sectionOf("minimap").empty());
}
