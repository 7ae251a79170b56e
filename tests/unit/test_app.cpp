// Whole frames without a screen: real Dear ImGui input to a real App, drawn into lists that nobody renders.
#include <set>

#include "app_fixture.h"
#include "attention/steps/forward.h"

namespace {

using base::Error;

}  // namespace

TEST_CASE("app: a file that is opened takes the place of the question about another") {
  Fixture f;
  f.app().ask({"a.npz", "3 tokens.", true, {{"q", "Q", 0, {"one", "two"}}}});
  f.settle();
  REQUIRE(f.app().locate("form", 0, 0, 0));
  CHECK(!f.app().openText("nothing", "c.json"));
  f.settle();
  CHECK(f.app().locate("form", 0, 0, 0));  // a file that is refused leaves it
  REQUIRE(f.app().openText(R"({"q": [[1]], "k": [[1]], "v": [[1]]})", "b.json"));
  f.settle();
  CHECK(!f.app().locate("form", 0, 0, 0));
}

TEST_CASE("app: the name of a narrow column is not cut at the edge of a phone") {
  Fixture f(390, 844);
  REQUIRE(f.app().openPreset("cosine", true));
  f.settle();
  const app::Rect name = f.at("label:below:4");
  CHECK(name.x + name.width < 390);
}

TEST_CASE("app: the name of a narrow column leaves the sums of the rows their room") {
  Fixture f;
  REQUIRE(f.app().openPreset("cosine", true));
  REQUIRE(f.app().set("labels", R"(["east", "EAST", "north", "NORTH", "north-north-east"])"));
  f.settle();
  const app::Rect name = f.at("label:above:4"), last = f.at("weights", 0, 0, 4);
  CHECK((name.x + name.width < last.x + last.width + 14 ||
         name.y + name.height <= last.y));  // written at an angle, it is above them
}

TEST_CASE("app: an example of shared keys shows how many heads they have") {
  Fixture f;
  f.settle();
  CHECK_FALSE(f.app().locate("kv_heads+", 0, 0, 0));
  REQUIRE(f.app().openPreset("grouped-query", true));
  f.settle();
  CHECK(f.app().locate("kv_heads+", 0, 0, 0));
}

TEST_CASE("app: a mask that comes too late begins with a row that it makes wrong") {
  Fixture f;
  REQUIRE(f.app().openPreset("mask-after-softmax", true));
  f.settle();
  CHECK(std::stof(f.app().copyCells()) == doctest::Approx(0.1857).epsilon(0.001));
  for (int i = 0; i < 2; ++i) f.key(ImGuiKey_RightArrow);
  CHECK(std::stof(f.app().copyCells()) == 0.0f);  // the last key in that row
}

TEST_CASE("app: the table of positions has a row for every position, and not a token for each") {
  for (const char* const more : {"causal_offset", "key_tokens"}) {
    Fixture f(1440, 1800);
    REQUIRE(f.app().openPreset("rotary", true));
    const int tokens = std::stoi(f.option("tokens"));
    REQUIRE(f.app().set("cross", "true"));
    REQUIRE(f.app().set(more, std::to_string(tokens + 7)));
    f.settle();
    CHECK((*f.app().tensor("positions"))->rows() > tokens);
    CHECK(f.app().items().find("label:left:" + std::to_string(tokens - 1)) != std::string::npos);
    CHECK(f.app().items().find("label:left:" + std::to_string(tokens)) == std::string::npos);
  }
}

TEST_CASE("app: the legend of the weights leaves out the title, however long its size makes it") {
  for (const char* const tokens : {"40", "64", "100", "1024"}) {
    CAPTURE(tokens);
    Fixture f(1440, 900, true);
    REQUIRE(f.app().set("tokens", tokens));
    f.settle();
    const auto title = f.app().locate("title:weights", 0, 0, 0),
               legend = f.app().locate("weight-legend", 0, 0, 0);
    REQUIRE(title);
    REQUIRE(legend);
    CHECK((title->x + title->width < legend->x || title->y + title->height <= legend->y ||
           legend->y + legend->height <= title->y));
  }
}

TEST_CASE("app: settles, and then wants no frame") {
  Fixture f;
  CHECK(f.settle() < 10);
  CHECK_FALSE(f.app().wantsFrame());
}

TEST_CASE("app: dragging a cell of Q changes it, the weights follow, and it is one step of undo") {
  Fixture f;
  const std::string start = f.app().state();
  f.drag(f.at("q", 0, 3, 0), 40, 0);
  CHECK(f.q(3, 0) == doctest::Approx(0.6).epsilon(1e-4));
  f.checkWeights();
  CHECK(f.host.count(app::Event::Type::input) >= 4);
  CHECK(f.host.count(app::Event::Type::change) == 1);
  CHECK(f.app().undo());
  CHECK(f.app().state() == start);
  CHECK_FALSE(f.app().undo());
  CHECK(f.app().redo());
  CHECK(f.q(3, 0) == doctest::Approx(0.6).epsilon(1e-4));
}

TEST_CASE("app: Shift drags finer, Alt coarser, upwards is more") {
  Fixture f;
  f.io().AddKeyEvent(ImGuiMod_Alt, true);
  f.drag(f.at("q", 0, 0, 1), 10, 0);
  f.io().AddKeyEvent(ImGuiMod_Alt, false);
  CHECK(f.q(0, 1) == doctest::Approx(0.6).epsilon(1e-4));
  f.drag(f.at("q", 0, 0, 2), 0, -20);
  CHECK(f.q(0, 2) == doctest::Approx(0.5).epsilon(1e-4));
  const app::Rect cell = f.at("q", 0, 1, 1);
  f.moveTo(cell);
  f.button(true);
  f.io().AddKeyEvent(ImGuiMod_Shift, true);
  f.moveTo(cell.x + cell.width / 2 + 10, cell.y + cell.height / 2);
  f.moveTo(cell.x + cell.width / 2 + 20, cell.y + cell.height / 2);
  f.button(false);
  f.io().AddKeyEvent(ImGuiMod_Shift, false);
  CHECK(f.q(1, 1) > 0.6f);
  CHECK(f.q(1, 1) < 0.63f);
  f.checkWeights();
}

TEST_CASE("app: arrow keys change and move, digits begin to type, Delete writes 0") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  f.key(ImGuiKey_UpArrow);
  CHECK(f.q(0, 0) == doctest::Approx(1.0));
  f.key(ImGuiKey_DownArrow, {ImGuiMod_Shift});
  CHECK(f.q(0, 0) == doctest::Approx(0.99));
  f.key(ImGuiKey_DownArrow, {ImGuiMod_Alt});
  CHECK(f.q(0, 0) == doctest::Approx(-0.01));
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_Delete);
  CHECK(f.q(0, 1) == 0.0f);
  f.key(ImGuiKey_DownArrow, {ImGuiMod_Ctrl});
  f.type('7');
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts[0].text == "7");
  f.app().endText(app::TextEnd::commit, "7.25");
  CHECK(f.q(1, 1) == 7.25f);
  f.key(ImGuiKey_Enter);
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts[1].text == "7.25");
  f.app().endText(app::TextEnd::cancel, "99");
  CHECK(f.q(1, 1) == 7.25f);
  f.checkWeights();
}

TEST_CASE("app: to open the field of a cell and enter it changes nothing, to the last bit") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  for (const float value : {1.0f / 3, 0.1f + 0.2f, -1e-7f / 3, 16777217.0f / 7}) {
    const std::vector<float> data(24, value);
    const int shape[] = {2, 4, 3};
    CHECK(f.app().setTensor("q", data, shape));
    f.settle();
    f.key(ImGuiKey_Enter);
    f.app().endText(app::TextEnd::commit, f.host.texts.back().text);
    f.settle();
    CHECK(f.q(0, 0) == value);
  }
}

TEST_CASE("app: a double-click opens a field, and letting go of the button leaves it open") {
  Fixture f;
  const app::Rect cell = f.at("q", 0, 2, 2);
  f.click(cell);
  f.io().AddMouseButtonEvent(0, true);
  f.settle();
  REQUIRE(f.host.texts.size() == 1);
  f.button(false);
  CHECK(f.host.drops == 0);
  f.app().endText(app::TextEnd::commit, "-3");
  CHECK(f.q(2, 2) == -3.0f);
  f.checkWeights();
}

TEST_CASE("app: Escape closes a menu and keeps the selection") {
  Fixture f;
  f.click(f.at("preset"));
  CHECK(f.app().locate("preset:pronoun", 0, 0, 0));
  f.key(ImGuiKey_Escape);
  CHECK_FALSE(f.app().locate("preset:pronoun", 0, 0, 0));
  CHECK_FALSE(f.app().copyCells().empty());
}

TEST_CASE("app: the palette takes the place of Help") {
  Fixture f;
  f.type('?');
  REQUIRE(f.app().locate("help-close", 0, 0, 0));
  f.key(ImGuiKey_K, {ImGuiMod_Ctrl});
  CHECK(f.app().locate("palette", 0, 0, 0));
  CHECK_FALSE(f.app().locate("help-close", 0, 0, 0));
}

TEST_CASE("app: a press on the header closes Help and does what it says; one elsewhere only closes it") {
  Fixture f;
  const auto isOpen = [&f] { return static_cast<bool>(f.app().locate("help-close", 0, 0, 0)); };
  f.type('?');
  REQUIRE(isOpen());
  f.click(f.at("export"));
  CHECK_FALSE(isOpen());
  CHECK(f.app().locate("export:save", 0, 0, 0));
  f.key(ImGuiKey_Escape);
  f.click(f.at("help"));
  REQUIRE(isOpen());
  f.click(f.at("help"));
  CHECK_FALSE(isOpen());
  f.click(f.at("help"));
  f.click(f.at("search"));
  CHECK_FALSE(isOpen());
  CHECK(f.app().locate("palette", 0, 0, 0));
  f.app().endText(app::TextEnd::cancel, "");
  f.settle();
  const std::string state = f.app().state();
  f.type('?');
  REQUIRE(isOpen());
  f.click(f.at("causal"));
  CHECK_FALSE(isOpen());
  CHECK(f.app().state() == state);
}

TEST_CASE("app: a message goes when there was time to read it; an error, and one pointed at, stay") {
  Fixture f;
  f.app().notify("Done.", false);
  f.rest();
  CHECK(f.app().wakesIn() > 7500);
  CHECK(f.app().wakesIn() <= 8000);
  f.frame(5), f.rest();
  CHECK(f.app().notice() == "Done.");
  f.frame(5), f.rest();
  CHECK(f.app().notice().empty());
  CHECK_FALSE(f.app().locate("notice", 0, 0, 0));
  CHECK(f.app().wakesIn() == 0);

  f.app().notify("Done.", false);
  f.rest();
  f.moveTo(f.at("notice"));
  f.frame(60), f.rest();
  CHECK(f.app().notice() == "Done.");
  f.moveTo(-1000, -1000);
  CHECK(f.app().notice().empty());

  f.app().notify("This went wrong.", true);
  f.rest();
  f.frame(60), f.rest();
  CHECK(f.app().notice() == "This went wrong.");
  f.key(ImGuiKey_Escape);
  CHECK(f.app().notice().empty());
}

TEST_CASE("app: a message goes when something else comes into view, and with the next key that acts") {
  Fixture f;
  f.click(f.at("q", 0, 1, 1));
  const app::Rect cell = f.at("weights", 0, 1, 1);
  const std::function<void()> acts[] = {
      [&] { f.key(ImGuiKey_RightArrow); },
      [&] { CHECK(f.app().pinch(cell.x, cell.y, 3, 0, 0)); },
      [&] { CHECK(f.app().pinch(cell.x, cell.y, 1, -20, -20)); },
      [&] { CHECK(f.app().set("view", "\"block\"")); },
  };
  for (const auto& act : acts) {
    f.app().notify("Done.", false);
    f.rest();
    CHECK(f.app().notice() == "Done.");
    act();
    f.rest();
    CHECK(f.app().notice().empty());
  }
  CHECK(f.app().set("view", "\"layer\""));
  f.settle();
  f.app().notify("This went wrong.", true);
  f.key(ImGuiKey_RightArrow);
  CHECK(f.app().notice() == "This went wrong.");
}

TEST_CASE("app: arrows lead through an open menu, and Enter presses a choice; the selection stays") {
  Fixture f;
  f.click(f.at("q", 0, 1, 1));
  const std::string selected = f.app().copyCells();
  const auto chosen = [&](std::initializer_list<ImGuiKey> keys) {
    f.click(f.at("score"));
    REQUIRE(f.app().locate("score:dot", 0, 0, 0));
    for (const ImGuiKey key : keys) f.key(key);
    CHECK_FALSE(f.app().locate("score:dot", 0, 0, 0));
    return f.option("score");
  };
  CHECK(chosen({ImGuiKey_DownArrow, ImGuiKey_DownArrow, ImGuiKey_Enter}) == "\"dot\"");
  CHECK(chosen({ImGuiKey_UpArrow, ImGuiKey_Enter}) == "\"cosine\"");
  CHECK(chosen({ImGuiKey_End, ImGuiKey_DownArrow, ImGuiKey_Space}) == "\"scaled\"");
  CHECK(chosen({ImGuiKey_DownArrow, ImGuiKey_Escape}) == "\"scaled\"");
  CHECK(f.app().copyCells() == selected);
}

TEST_CASE("app: a word is no number; the cell keeps its value and a sentence says so") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  f.key(ImGuiKey_Enter);
  f.app().endText(app::TextEnd::commit, "seven");
  CHECK(f.q(0, 0) == 0.9f);
  REQUIRE(f.host.count(app::Event::Type::error) == 1);
}

TEST_CASE("app: ranges are selected with Shift, copied and pasted as a table") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  f.io().AddKeyEvent(ImGuiMod_Shift, true);
  f.click(f.at("q", 0, 1, 1));
  f.io().AddKeyEvent(ImGuiMod_Shift, false);
  CHECK(f.app().copyCells() == "0.9\t-0.4\n1.2\t0.6\n");
  f.click(f.at("q", 0, 2, 1));
  CHECK(f.app().pasteCells("1\t2\n3\t4\n"));
  CHECK(f.q(2, 1) == 1.0f);
  CHECK(f.q(3, 2) == 4.0f);
  f.checkWeights();
  CHECK(f.app().undo());
  CHECK(f.q(3, 2) == 1.6f);
  const std::string before = f.app().state();
  CHECK_FALSE(f.app().pasteCells("1\t2\n3\n"));
  CHECK_FALSE(f.app().pasteCells("1\t2\t3\t4\t5\t6\t7\n"));
  CHECK(f.app().state() == before);
}

TEST_CASE("app: controls do what they say when clicked") {
  Fixture f;
  f.click(f.at("causal"));
  CHECK(f.option("causal") == "false");
  f.checkWeights();
  f.click(f.at("scale"));
  CHECK(f.option("scale") == "false");
  f.checkWeights();
  f.click(f.at("heads+"));
  CHECK(f.option("heads") == "3");
  f.checkWeights();
  f.click(f.at("heads-"));
  CHECK(f.option("heads") == "2");
  f.click(f.at("tokens+"));
  CHECK(f.option("tokens") == "5");
  f.checkWeights();
  f.click(f.at("d_k+"));
  CHECK(f.option("d_k") == "4");
  f.checkWeights();
  f.click(f.at("mode:x"));
  CHECK(f.option("mode") == "\"x\"");
  f.checkWeights();
}

TEST_CASE("app: a head count that does not divide the width is refused with those that do") {
  Fixture f;
  const std::string before = f.app().state();
  const auto done = f.app().set("heads", "4");
  REQUIRE_FALSE(done);
  CHECK(done.error().kind == Error::Kind::range);
  CHECK(done.error().field == "heads");
  for (const char* allowed : {"1", "2", "3", "6"})
    CHECK(done.error().message().find(allowed) != std::string::npos);
  CHECK(f.app().state() == before);
}

TEST_CASE("app: painting hides cells of the mask, a stroke is one step") {
  Fixture f;
  f.click(f.at("paint"));
  const app::Rect from = f.at("scores", 0, 3, 0), to = f.at("scores", 0, 3, 2);
  f.moveTo(from);
  f.button(true);
  f.moveTo((from.x + to.x) / 2 + from.width / 2, from.y + from.height / 2);
  f.moveTo(to);
  f.button(false);
  const Tensor& w = **f.app().tensor("weights");
  CHECK(w.at(0, 3, 0) == 0.0f);
  CHECK(w.at(0, 3, 1) == 0.0f);
  CHECK(w.at(0, 3, 2) == 0.0f);
  CHECK(w.at(0, 3, 3) == 1.0f);
  CHECK(f.app().undo());
  CHECK((*f.app().tensor("weights"))->at(0, 3, 0) > 0.0f);
  CHECK_FALSE(f.app().undo());
}

TEST_CASE("app: letters switch options; a locked one stays, and a locked matrix does not ask for a drag") {
  Fixture f;
  CHECK(f.app().locate("caption:q", 0, 0, 0));
  f.type('c');
  CHECK(f.option("causal") == "false");
  f.app().setEmbed({"", "causal,q"});
  f.settle();
  f.type('c');
  CHECK(f.option("causal") == "false");
  f.click(f.at("causal"));
  CHECK(f.option("causal") == "false");
  const float before = f.q(0, 0);
  f.drag(f.at("q", 0, 0, 0), 30, 0);
  CHECK(f.q(0, 0) == before);
  CHECK_FALSE(f.app().locate("caption:q", 0, 0, 0));
}

TEST_CASE(
    "options: every one in the side panel is reached and changed by keys, each key is one step of undo") {
  for (const auto& size : {std::pair{1440.0f, 900.0f}, {390.0f, 844.0f}, {640.0f, 440.0f}}) {
    Fixture f(size.first, size.second);
    for (const auto& [name, value] :
         {std::pair{"mode", "\"x\""}, {"heads", "2"}, {"pattern", "\"bigbird\""}}) {
      REQUIRE(f.app().set(name, value));
    }
    // Options of the view are not part of the history.
    const auto ofView = [](const std::string& name) {
      return name == "whole_projections" || name == "decimals" || name == "step";
    };
    f.type('O');
    for (const char* fold : {"more-sizes", "window", "more-masks"}) {
      REQUIRE(f.focusOn(fold));
      f.key(ImGuiKey_RightArrow);
    }
    for (const std::string name : {"mode",
                                   "tokens",
                                   "cross",
                                   "heads",
                                   "d_k",
                                   "model_dim",
                                   "whole_projections",
                                   "d_v",
                                   "kv_heads",
                                   "batch",
                                   "position",
                                   "causal",
                                   "window_left",
                                   "window_right",
                                   "pattern",
                                   "pattern_local",
                                   "pattern_dilation",
                                   "pattern_stride",
                                   "pattern_block",
                                   "pattern_global",
                                   "pattern_random",
                                   "pattern_seed",
                                   "causal_offset",
                                   "prefix",
                                   "key_length",
                                   "mask_after_softmax",
                                   "score",
                                   "scale",
                                   "softcap",
                                   "temperature",
                                   "normalizer",
                                   "decimals",
                                   "step"}) {
      CAPTURE(name);
      CAPTURE(size.first);
      REQUIRE(f.focusOn(name));
      const auto ring = f.app().locate("focus:" + name, 0, 0, 0);
      CHECK(ring->y >= 0);
      CHECK(ring->y + ring->height <= size.second);
      const std::string before = f.option(name), state = f.app().state();
      f.key(ImGuiKey_RightArrow);
      const bool atLimit = f.option(name) == before;
      if (atLimit) f.key(ImGuiKey_LeftArrow);
      CHECK(f.option(name) != before);
      if (!ofView(name)) f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
      else f.key(atLimit ? ImGuiKey_RightArrow : ImGuiKey_LeftArrow);
      CHECK(f.option(name) == before);
      CHECK(f.app().state() == state);
    }
  }
}

TEST_CASE("options: O takes the keys from the board, Escape and a press on the board give them back") {
  Fixture f(390, 844);
  f.click(f.at("q", 0, 0, 0));
  CHECK(f.focus().empty());
  CHECK_FALSE(f.app().usesKey(ImGuiKey_Home, false, false, false));
  f.type('O');
  CHECK(f.focus() == "mode");
  CHECK(f.app().locate("tokens+", 0, 0, 0));
  const float before = f.q(0, 0);
  f.key(ImGuiKey_UpArrow);
  CHECK(f.focus() == "panel:close");
  f.key(ImGuiKey_UpArrow);
  CHECK(f.focus() == "step");
  f.key(ImGuiKey_Delete);
  f.type('7');
  CHECK(f.q(0, 0) == before);
  CHECK(f.host.texts.empty());
  CHECK(f.app().usesKey(ImGuiKey_Home, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_Delete, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_7, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_Tab, false, false, false));
  f.type('c');
  CHECK(f.option("causal") == "false");
  f.key(ImGuiKey_Escape);
  CHECK(f.focus().empty());
  CHECK_FALSE(f.app().locate("tokens+", 0, 0, 0));
  f.key(ImGuiKey_UpArrow);
  CHECK(f.q(0, 0) == doctest::Approx(before + 0.1f));
  f.app().setEmbed({"panel", ""});
  f.type('O');
  CHECK(f.focus().empty());
  Fixture wide;
  wide.type('O');
  CHECK(wide.focus() == "mode");
  wide.click(wide.at("q", 0, 0, 0));
  CHECK(wide.focus().empty());
}

TEST_CASE(
    "options: Enter activates, what is locked or can do nothing is passed over, what is gone gives its "
    "place") {
  Fixture f;
  f.app().setEmbed({"", "mode,causal,temperature,scale"});
  f.settle();
  f.type('O');
  CHECK(f.focus() == "labels");
  f.key(ImGuiKey_Enter);
  REQUIRE(f.host.texts.size() == 1);
  f.app().endText(app::TextEnd::commit, "one two three");
  f.settle();
  CHECK(f.option("tokens") == "3");
  for (const char* name : {"mode", "causal", "temperature", "scale", "scale-value", "batch_item"}) {
    CAPTURE(name);
    CHECK_FALSE(f.focusOn(name));
  }
  const app::Rect mode = f.at("mode:x");
  f.click(mode);
  CHECK(f.option("mode") == "\"qkv\"");
  REQUIRE(f.focusOn("softcap"));
  f.key(ImGuiKey_Enter);
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts[1].text == "0");
  f.app().endText(app::TextEnd::commit, "2.5");
  f.settle();
  CHECK(f.option("softcap") == "2.5");
  CHECK(f.focus() == "softcap");
  REQUIRE(f.focusOn("window"));
  f.key(ImGuiKey_Space);
  CHECK(f.focusOn("window_left"));
  REQUIRE(f.focusOn("window"));
  f.key(ImGuiKey_LeftArrow);
  CHECK_FALSE(f.focusOn("window_left"));
  REQUIRE(f.focusOn("cross"));
  f.key(ImGuiKey_Enter);
  REQUIRE(f.focusOn("key_tokens"));
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK_FALSE(f.focus().empty());
}

TEST_CASE("options: choices go round, and offer what is possible") {
  Fixture f;
  f.type('O');
  REQUIRE(f.focusOn("normalizer"));
  const std::string first = f.option("normalizer");
  std::vector<std::string> seen;
  do {
    f.key(ImGuiKey_Enter);
    seen.push_back(f.option("normalizer"));
  } while (seen.back() != first && seen.size() < 20);
  REQUIRE(seen.size() == attention::kNormalizerCount);
  f.key(ImGuiKey_LeftArrow);
  CHECK(f.option("normalizer") == seen[seen.size() - 2]);
}

TEST_CASE("options: an arrow key that is held goes on, through choices too, as one step of undo") {
  Fixture f;
  f.type('O');
  for (const char* name : {"normalizer", "tokens"}) {
    CAPTURE(name);
    REQUIRE(f.focusOn(name));
    const std::string was = f.option(name);
    std::set<std::string> seen;
    f.io().AddKeyEvent(ImGuiKey_RightArrow, true);
    for (int i = 0; i < 60; ++i) f.frame(), seen.insert(f.option(name));
    f.io().AddKeyEvent(ImGuiKey_RightArrow, false);
    f.settle();
    CHECK(seen.size() >= 4);
    CHECK(f.app().undo());
    CHECK(f.option(name) == was);
    CHECK_FALSE(f.app().undo());
  }
}

TEST_CASE("experiments: e opens them, Escape closes them, and the board keeps still meanwhile") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  f.moveTo(-1000, -1000);  // or Escape closes the tooltip of what is under the pointer
  CHECK_FALSE(f.app().locate("lab-close", 0, 0, 0));
  f.type('e');
  REQUIRE(f.app().locate("lab-close", 0, 0, 0));
  const std::string before = f.app().state();
  CHECK_FALSE(f.app().wantsFrame());
  for (const char c : {'c', 'm', 'h', '9'}) f.type(c);
  f.key(ImGuiKey_UpArrow);
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_Delete);
  CHECK(f.app().state() == before);
  CHECK(f.app().usesKey(ImGuiKey_3, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_C, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_Tab, false, false, false));
  f.key(ImGuiKey_Escape);
  CHECK_FALSE(f.app().locate("lab-close", 0, 0, 0));
  CHECK_FALSE(f.app().copyCells().empty());
  f.app().setEmbed({"experiments", ""});
  f.type('e');
  CHECK_FALSE(f.app().locate("lab-close", 0, 0, 0));
}

TEST_CASE("views: a tab each, and a page is in the place of the board while header and side panel stay") {
  Fixture f;
  const app::Rect tokens = f.at("tokens+");
  CHECK(f.at("matrix:q").width > 0);
  for (const auto& [tab, view] :
       {std::pair{"view:block", "block"}, {"view:segments", "segments"}, {"lab:1", "spread"}}) {
    if (tab != std::string_view("view:block")) f.click(f.at("views:more"));
    f.click(f.at(tab));
    CHECK(f.option("view") == '"' + std::string(view) + '"');
    CHECK_FALSE(f.app().locate("matrix:q", 0, 0, 0));
    CHECK_FALSE(f.app().locate("arcs", 0, 0, 0));
    CHECK(f.at("tokens+").x == tokens.x);
    f.click({20, 880, 4, 4});  // a page is not a dialog: a click beside it does not close it
    CHECK(f.option("view") == '"' + std::string(view) + '"');
  }
  f.click(f.at("lab:3"));
  f.click(f.at("view:layer"));
  f.type('e');
  CHECK(f.option("view") == "\"memory\"");  // the experiment that was open last
  f.click(f.at("tokens+"));
  CHECK(f.option("tokens") == "5");
  f.click(f.at("view:layer"));
  CHECK(f.option("view") == "\"layer\"");
  CHECK(f.at("matrix:q").width > 0);
  const app::Rect tabs = f.at("views");
  CHECK(tabs.x + tabs.width / 2 == doctest::Approx(720).epsilon(0.01));
}

TEST_CASE(
    "keys: a letter or sign does something where the board says that the key is its own, and nothing "
    "elsewhere") {
  std::vector<std::pair<char, ImGuiKey>> all{
      {'[', ImGuiKey_LeftBracket}, {']', ImGuiKey_RightBracket}, {'-', ImGuiKey_Minus}, {'0', ImGuiKey_0}};
  for (char letter = 'a'; letter <= 'z'; ++letter)
    all.emplace_back(letter, static_cast<ImGuiKey>(ImGuiKey_A + (letter - 'a')));
  int used = 0;
  for (const auto& [character, key] : all) {
    Fixture f;
    CAPTURE(character);
    const std::string before = f.app().state(), said = f.app().notice();
    const bool isOurs = f.app().usesKey(key, false, false, false);
    f.type(character);
    CHECK(isOurs == (f.app().state() != before || f.app().notice() != said));
    CHECK_FALSE(f.app().usesKey(key, false, false, true));
    used += isOurs;
  }
  CHECK(used == 29);
  Fixture f;
  for (const ImGuiKey key : {ImGuiKey_Slash, ImGuiKey_Equal}) {
    CHECK_FALSE(f.app().usesKey(key, false, false, false));
    CHECK(f.app().usesKey(key, false, true, false));
  }
  CHECK(f.app().usesKey(ImGuiKey_KeypadAdd, false, false, false));
  f.type('O');
  CHECK(f.app().usesKey(ImGuiKey_C, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_0, false, false, false));
  CHECK_FALSE(f.app().usesKey(ImGuiKey_KeypadAdd, false, false, false));
}

TEST_CASE("views: b, g and e open a page and go back, and what is hidden or locked stays away") {
  Fixture f;
  for (const auto& [key, view] : {std::pair{'b', "\"block\""}, {'g', "\"segments\""}, {'e', "\"spread\""}}) {
    CHECK(f.app().usesKey(ImGuiKey_A + (key - 'a'), false, false, false));
    f.type(key);
    CHECK(f.option("view") == view);
    f.type(key);
    CHECK(f.option("view") == "\"layer\"");
  }
  f.app().setEmbed({"views", ""});
  f.frame();
  f.frame();
  for (const char* name : {"views", "view:block", "views:more"}) CHECK_FALSE(f.app().locate(name, 0, 0, 0));
  f.type('b');
  CHECK(f.option("view") == "\"layer\"");
  CHECK(f.app().set("view", "\"block\""));  // an author may show a single page
  f.settle();
  CHECK(f.at("block:norm_2").width > 0);
  f.key(ImGuiKey_Escape);
  CHECK(f.option("view") == "\"block\"");
  f.app().setEmbed({"", "view"});
  f.settle();
  f.click(f.at("view:layer"));
  f.key(ImGuiKey_Escape);
  CHECK(f.option("view") == "\"block\"");
}

TEST_CASE("views: on narrow windows a menu holds them, and a page says which it is") {
  for (const auto& size : {std::pair{390.0f, 844.0f}, {640.0f, 440.0f}, {320.0f, 320.0f}}) {
    Fixture f(size.first, size.second);
    f.click(f.at("more"));
    f.click(f.at("views:more"));
    f.click(f.at("view:segments"));
    CHECK(f.option("view") == "\"segments\"");
    f.click(f.at("views"));
    f.click(f.at("view:layer"));
    CHECK(f.option("view") == "\"layer\"");
    f.click(f.at("more"));
    f.click(f.at("views:more"));
    f.click(f.at("lab:1"));
    CHECK(f.option("view") == "\"spread\"");
    CHECK(f.at("lab:draw").width > 0);
  }
}

TEST_CASE("views: drops are drawn again without new weights, and plain dropout leaves what it keeps") {
  Fixture f;
  f.type('b');
  CHECK(f.app().set("block_dropout", "0.5"));
  f.settle();
  f.click(f.at("stage:dropout_1"));
  const auto tensor = [&](const char* name) { return **f.app().tensor(name); };
  const Tensor w = tensor("w_1"), before = tensor("block:drop_mask_1"), whole = tensor("block:attention");
  const std::string state = f.app().state();
  CHECK(f.at("block:drop_mask_1", 0, 1, 1).width > 0);
  f.press("block_dropout_seed", "block_seed", "1");
  CHECK(f.option("block_dropout_seed") == "2");
  CHECK(tensor("w_1") == w);
  CHECK_FALSE(tensor("block:drop_mask_1") == before);
  for (const float factor : {2.0f, 1.0f}) {
    const Tensor z = tensor("block:drop_mask_1"), kept = tensor("block:dropout_1");
    for (std::size_t i = 0; i < z.size(); ++i)
      CHECK(kept.data()[i] == whole.data()[i] * z.data()[i] * factor);
    if (factor == 2.0f) f.click(f.at("block_dropout_kind:1"));
  }
  CHECK(f.option("block_dropout_kind") == "\"plain\"");
  CHECK(f.app().undo());
  CHECK(f.app().undo());
  CHECK(f.app().state() == state);
}

TEST_CASE("views: what the experiments are set to is in the state, undone, and typed") {
  Fixture f;
  f.type('e');
  f.press("lab:scaled", "spread_scaled", "false");
  f.click(f.at("spread_dim-value"));
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts[0].name == "Width of a head, d_k");  // as in its tooltip, not as in scripts
  f.app().endText(app::TextEnd::commit, "37");
  CHECK(f.option("spread_dim") == "37");
  CHECK((*f.app().tensor("spread:table"))->at(0, 0, 0) == 37.0f);
  f.settle();
  f.app().endText(app::TextEnd::cancel, "");
  f.drag(f.at("slider:mean"), 40, 0);
  CHECK(f.option("spread_mean") != "0");
  CHECK(f.app().undo());
  CHECK(f.option("spread_mean") == "0");
  CHECK(f.app().undo());
  CHECK(f.option("spread_dim") == "64");
  f.type('2');
  f.press("lab:token+", "dense_token", "1");
  f.press("lab:moved:0", "dense_moved", "\"values\"");
  f.type('3');
  f.press("lab:draw", "reach_seed", "2");
  f.app().setEmbed({"", "reach_lead"});
  const std::string before = f.app().state();
  f.drag(f.at("slider:lead"), 30, 0);
  CHECK(f.app().state() == before);
}

TEST_CASE("pages: of many tokens some are shown, which a slider chooses; a cell that is asked for is shown") {
  Fixture f(1440, 900);
  REQUIRE(f.app().set("tokens", "400"));
  f.type('b');
  f.settle();
  const app::Rect first = f.at("block:norm_2", 0, 0, 0), tenth = f.at("block:norm_2", 0, 10, 0);
  CHECK(tenth.y - first.y == doctest::Approx(10 * first.height).epsilon(0.01));
  f.drag(f.at("slider:tokens"), 400, 0);
  f.settle();
  const app::Rect last = f.at("block:norm_2", 0, 399, 0), before = f.at("block:norm_2", 0, 399 - 127, 0);
  CHECK(last.y - before.y == doctest::Approx(127 * last.height).epsilon(0.01));
  CHECK(last.height == doctest::Approx(first.height).epsilon(0.01));
  (void)f.at("block:norm_2", 0, 150, 0);  // is not there: the page moves to it
  f.settle();
  const app::Rect moved = f.at("block:norm_2", 0, 150, 0), beside = f.at("block:norm_2", 0, 151, 0);
  CHECK(beside.y - moved.y == doctest::Approx(moved.height).epsilon(0.01));
  f.type('2');
  f.settle();
  f.drag(f.at("lab:token"), 400, 0);
  CHECK(f.option("dense_token") == "399");
}

TEST_CASE("experiments: the pages fit into the window at all widths, in both input modes") {
  for (const auto& size : {std::pair{1440.0f, 900.0f},
                           {1100.0f, 700.0f},
                           {640.0f, 440.0f},
                           {390.0f, 844.0f},
                           {320.0f, 320.0f}}) {
    Fixture f(size.first, size.second);
    f.type('m');
    f.type('e');
    const float left = size.first < 480 ? 14 : 24, right = size.first - left;
    for (const char page : {'1', '2', '3', '4', '5'}) {
      f.type(page);
      CAPTURE(size.first);
      CAPTURE(page);
      int found = 0;
      for (const char* name :
           {"lab-close", "lab:1", "lab:5", "lab:draw", "slider:d_k", "slider:amount", "slider:lead",
            "lab:moved:2", "block_norm:0", "block:norm_2", "stage:hidden", "segment_tokens+", "segment:1",
            "segment_seed", "slider:mean", "slider:steps", "block_seed"}) {
        const auto r = f.app().locate(name, 0, 0, 0);
        if (!r) continue;
        ++found;
        CAPTURE(name);
        CHECK(r->x >= left);
        CHECK(r->x + r->width <= right);
      }
      CHECK(found >= 4);  // in narrow windows the tabs are a menu
    }
  }
}

TEST_CASE("experiments: a finger scrolls the page from a slider too, and does not reach the board behind") {
  Fixture f(390, 844);
  const app::Rect cell = f.at("q", 0, 1, 1);
  f.press(cell, 0.3);
  CHECK(f.app().fingerHolds());
  f.lift();
  f.type('e');
  for (const app::Rect& place : {f.at("slider:d_k"), cell}) {
    f.press(place, 0.3);
    CHECK_FALSE(f.app().fingerHolds());
    f.lift();
  }
  CHECK(f.app().scrollsAt(200, 600, 1));
  CHECK_FALSE(f.app().scrollsAt(200, 600, -1));
}

TEST_CASE("experiments: stages of the block open, and those that are switched off are gone") {
  Fixture f;
  f.type('e');
  f.type('4');
  const auto width = [&](const char* name) {
    const app::Rect last = f.at(name, 0, 0, (*f.app().tensor(name))->cols() - 1);
    return last.x + last.width - f.at(name).x;
  };
  const float norm = width("block:norm_2");
  f.click(f.at("stage:hidden"));
  CHECK(width("block:hidden") == doctest::Approx(2 * norm));
  f.click(f.at("block_hidden+"));
  CHECK(width("block:hidden") > 2 * norm);
  CHECK(f.app().locate("stage:residual_1", 0, 0, 0));
  CHECK_FALSE(f.app().locate("stage:dropout_1", 0, 0, 0));
  f.click(f.at("block_residual"));
  CHECK_FALSE(f.app().locate("stage:residual_1", 0, 0, 0));
  f.drag(f.at("slider:block_dropout"), 20, 0);
  CHECK(f.app().locate("stage:dropout_1", 0, 0, 0));
  f.click(f.at("block_norm:2"));
  CHECK(f.app().locate("stage:norm_1", 0, 0, 0)->x < f.app().locate("stage:attention", 0, 0, 0)->x);
  f.click(f.at("block_norm:0"));
  CHECK_FALSE(f.app().locate("stage:norm_1", 0, 0, 0));
}

TEST_CASE("experiments: controls of the block and of the segments are options of the document") {
  Fixture f;
  const std::string before = f.app().state();
  const Tensor weights = **f.app().tensor("weights");
  f.type('e');
  f.type('4');
  f.press("block_residual", "block_residual", "false");
  f.press("block_norm:2", "block_norm", "\"pre\"");
  f.press("block_activation:1", "block_activation", "\"gelu\"");
  f.press("block_hidden-", "block_hidden", "1");
  CHECK(f.app().set("block_dropout", "0.35"));
  f.press("block_seed", "block_seed", "2");
  f.type('5');
  f.press("segment_tokens+", "segment_tokens", "3");
  f.press("segment_by:1", "segment_by", "\"punctuation\"");
  f.press("segment_seed", "segment_seed", "2");
  CHECK(**f.app().tensor("weights") == weights);
  const std::string after = f.app().state();
  for (int steps = 0; steps < 9; ++steps) f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  f.type('e');
  CHECK(f.app().state() == before);
  CHECK_FALSE(f.app().undo());
  CHECK(f.app().setState(after, true));
  CHECK(f.app().state() == after);
}

TEST_CASE("experiments: a drag of the dropout is one step of undo, each key is one") {
  Fixture f;
  f.type('e');
  f.type('4');
  const int before = f.host.count(app::Event::Type::change);
  f.drag(f.at("slider:block_dropout"), 20, 0);
  const std::string dragged = f.option("block_dropout");
  CHECK(dragged != "0");
  CHECK(f.host.count(app::Event::Type::change) == before + 1);
  CHECK(f.app().undo());
  CHECK(f.option("block_dropout") == "0");
  CHECK_FALSE(f.app().undo());
  for (int i = 0; i < 5; ++i) f.key(ImGuiKey_DownArrow);
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_RightArrow);
  CHECK(f.option("block_dropout") == "0.1");
  CHECK(f.app().undo());
  CHECK(f.option("block_dropout") == "0.05");
}

TEST_CASE("experiments: what the host page locked stays, for the mouse and for keys") {
  Fixture f;
  f.app().setEmbed(
      {"", "block_residual,block_norm,block_activation,block_dropout,segment_by,segment_tokens"});
  const std::string before = f.app().state();
  f.type('e');
  f.type('4');
  f.click(f.at("block_residual"));
  f.click(f.at("block_norm:0"));
  f.drag(f.at("slider:block_dropout"), 20, 0);
  f.key(ImGuiKey_DownArrow);
  CHECK(f.focus() == "block_hidden");
  f.type('5');
  f.click(f.at("segment_by:1"));
  f.click(f.at("segment_tokens+"));
  f.key(ImGuiKey_DownArrow);
  CHECK(f.focus() == "segment_seed");
  f.type('e');
  CHECK(f.app().state() == before);
}

TEST_CASE("experiments: the option says which page is open, whoever opened it") {
  Fixture f;
  CHECK(f.option("experiment") == "\"none\"");
  CHECK(f.app().set("experiment", "\"block\""));
  f.settle();
  CHECK(f.at("block:norm_2").width > 0);
  f.click(f.at("views:more"));
  f.press("lab:3", "experiment", "\"reach\"");
  f.key(ImGuiKey_Escape);
  CHECK(f.option("experiment") == "\"none\"");
  f.type('e');
  CHECK(f.option("experiment") == "\"reach\"");
  f.press("lab-close", "experiment", "\"none\"");
  CHECK_FALSE(f.app().undo());
  CHECK(f.app().openPreset("segments", true));
  f.settle();
  CHECK(f.at("segment:2").width > 0);
  CHECK(f.app().openPreset("decoder", true));
  CHECK(f.option("experiment") == "\"none\"");
  CHECK(f.option("step") == "5");
  f.settle();
  f.app().setEmbed({"", "experiment"});
  f.type('e');
  CHECK(f.option("experiment") == "\"none\"");
  f.app().setEmbed({"experiments", ""});
  CHECK(f.app().set("experiment", "\"block\""));
  f.settle();
  CHECK_FALSE(f.app().locate("lab-close", 0, 0, 0));
}

TEST_CASE("app: scripts read the stages of the block and both levels of the segments") {
  Fixture f;
  const auto tensor = [&](const char* name) -> Tensor {
    const auto found = f.app().tensor(name);
    REQUIRE_MESSAGE(found, name);
    return **found;
  };
  CHECK(tensor("block:attention") == tensor("output"));
  const Tensor norm = tensor("block:norm_2");
  for (int r = 0; r < norm.rows(); ++r) {
    double mean = 0;
    for (int col = 0; col < norm.cols(); ++col) mean += static_cast<double>(norm.at(0, r, col)) / norm.cols();
    CHECK(mean == doctest::Approx(0).epsilon(1e-5));
  }
  CHECK(tensor("block:hidden").cols() == 2 * norm.cols());
  CHECK(f.app().set("block_hidden", "3"));
  CHECK(tensor("block:hidden").cols() == 3 * norm.cols());
  CHECK(f.app().set("block_norm", "\"none\""));
  REQUIRE_FALSE(f.app().tensor("block:norm_2"));
  CHECK(f.app().tensor("block:norm_2").error().message() ==
        "block:norm_2: nothing is normalised here; set block_norm to \"post\" or \"pre\".");
  CHECK_FALSE(f.app().tensor("block:nonsense"));
  const std::vector<float> data{1};
  const std::vector<int> shape{1};
  CHECK(f.app()
            .setTensor("block:hidden", data, shape)
            .error()
            .message()
            .starts_with("block:hidden: it is computed; set one of x,"));
  const int tokens = tensor("weights").rows();
  CHECK(f.app().set("segment_tokens", std::to_string(tokens)));
  CHECK(tensor("segment_weights").values().size() == 1);
  CHECK(tensor("segment_weights").at(0, 0, 0) == 1.0f);
  double sum = 0;
  const Tensor each = tensor("token_weights");
  for (const float v : each.values()) sum += static_cast<double>(v);
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("experiments: a parameter of the block is dragged, a drag is one step of undo") {
  Fixture f;
  f.type('e');
  f.type('4');
  const std::string before = f.app().state();
  const Tensor ones = **f.app().tensor("gamma_2");
  const app::Rect gamma = f.at("slider:gamma_2");
  const app::Rect first{gamma.x, gamma.y, gamma.height, gamma.height};
  f.click(first);
  CHECK(f.app().state() == before);
  f.drag(first, 0, -40);
  CHECK(static_cast<double>((*f.app().tensor("gamma_2"))->at(0, 0, 0)) == doctest::Approx(1.4));
  CHECK((*f.app().tensor("gamma_2"))->at(0, 0, 1) == 1.0f);
  CHECK(f.app().undo());
  CHECK(f.app().state() == before);
  CHECK_FALSE(f.app().undo());
  f.app().setEmbed({"", "gamma_2"});
  f.drag(first, 0, -40);
  CHECK(f.app().state() == before);
  f.press("block_epsilon+", "block_epsilon", "0.0001");
}

TEST_CASE("experiments: a cell of a parameter is typed and changed by keys") {
  Fixture f;
  f.type('e');
  f.type('4');
  const auto gamma = [&](int col) {
    return static_cast<double>((*f.app().tensor("gamma_2"))->at(0, 0, col));
  };
  const app::Rect all = f.at("slider:gamma_2"), first{all.x, all.y, all.height, all.height};
  const app::Rect second{all.x + all.height, all.y, all.height, all.height};
  f.click(second);
  f.io().AddMouseButtonEvent(0, true);
  f.settle();
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts[0].name == "gamma_2, row 1, column 2");
  CHECK(f.host.texts[0].text == "1");
  CHECK(f.host.texts[0].numeric);
  CHECK(f.host.texts[0].rect.x < second.x + second.width / 2);
  f.button(false);
  f.app().endText(app::TextEnd::commit, "-2.5");
  CHECK(gamma(1) == -2.5);
  f.settle();
  f.key(ImGuiKey_UpArrow);
  CHECK(gamma(1) == doctest::Approx(-2.4));
  f.key(ImGuiKey_DownArrow, {ImGuiMod_Shift});
  CHECK(gamma(1) == doctest::Approx(-2.41));
  f.key(ImGuiKey_LeftArrow);
  f.key(ImGuiKey_LeftArrow);
  f.key(ImGuiKey_UpArrow, {ImGuiMod_Alt});
  CHECK(gamma(0) == doctest::Approx(2));
  CHECK(f.app().usesKey(ImGuiKey_7, false, false, false));
  CHECK(f.app().usesKey(ImGuiKey_DownArrow, true, false, false));
  f.type('3');
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts[1].text == "3");
  f.app().endText(app::TextEnd::commit, "three");
  CHECK(f.host.count(app::Event::Type::error) == 1);
  REQUIRE(f.host.texts.size() == 3);  // the field is open again with the refused text
  f.app().endText(app::TextEnd::commit, "1\t2");
  CHECK(f.host.count(app::Event::Type::error) == 2);
  f.app().endText(app::TextEnd::cancel, "");
  CHECK(gamma(0) == doctest::Approx(2));
  f.settle();
  for (const double before : {1.0, 1.0, 1.0, 1.0}) {
    f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
    CHECK(gamma(0) == before);
  }
  CHECK(gamma(1) == 1.0);
  CHECK_FALSE(f.app().undo());
  f.key(ImGuiKey_Escape);
  CHECK(f.focus() == "slider:gamma_2");
  CHECK_FALSE(f.app().usesKey(ImGuiKey_7, false, false, false));
  f.key(ImGuiKey_DownArrow);
  CHECK(f.focus() == "slider:delta_2");
  CHECK(gamma(0) == 1.0);
  f.key(ImGuiKey_Enter);
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_UpArrow);
  CHECK(static_cast<double>((*f.app().tensor("delta_2"))->at(0, 0, 1)) == doctest::Approx(0.1));
  f.key(ImGuiKey_Home);
  f.key(ImGuiKey_UpArrow);
  CHECK(static_cast<double>((*f.app().tensor("delta_2"))->at(0, 0, 1)) == doctest::Approx(0.1));
  f.app().setEmbed({"", "gamma_2"});
  f.click(first);
  f.type('.');
  CHECK(f.host.texts.size() == 4);
  f.key(ImGuiKey_Escape);
  CHECK(f.option("experiment") == "\"none\"");
}

TEST_CASE("app: a field that is drawn into the frame changes numbers only when the frame has been drawn") {
  Fixture f;
  const app::Rect cell = f.at("q", 0, 1, 1);
  f.click(cell);
  f.key(ImGuiKey_Enter);
  REQUIRE(!f.host.texts.empty());
  const float before = (*f.app().tensor("q"))->at(0, 1, 1);
  float during = 0;
  f.host.duringFrame = [&] {
    f.app().endText(app::TextEnd::commit, "7");
    during = (*f.app().tensor("q"))->at(0, 1, 1);
  };
  f.frame();
  CHECK(during == before);
  CHECK((*f.app().tensor("q"))->at(0, 1, 1) == 7.0f);
}

TEST_CASE("experiments: Escape while the dropout is dragged ends the gesture") {
  Fixture f;
  f.type('e');
  f.type('4');
  const int before = f.host.count(app::Event::Type::change);
  const app::Rect slider = f.at("slider:block_dropout");
  f.moveTo(slider);
  f.button(true);
  f.key(ImGuiKey_Escape);
  CHECK(f.option("experiment") == "\"none\"");
  CHECK(f.option("block_dropout") != "0");
  CHECK(f.host.count(app::Event::Type::change) == before + 2);  // one for the page, one for the drag
  f.button(false);
  CHECK(f.app().undo());
  CHECK(f.option("block_dropout") == "0");
}

TEST_CASE("app: scripts read and write the parameters around the layer") {
  Fixture f;
  const Tensor norm = **f.app().tensor("block:norm_2");
  const int width = norm.cols();
  const std::vector<float> data(static_cast<std::size_t>(width), 3.0f);
  const std::vector<int> shape{width};
  CHECK(f.app().setTensor("delta_2", data, shape));
  CHECK((*f.app().tensor("delta_2"))->at(0, 0, width - 1) == 3.0f);
  CHECK(static_cast<double>((*f.app().tensor("block:norm_2"))->at(0, 0, 0)) ==
        doctest::Approx(static_cast<double>(norm.at(0, 0, 0)) + 3));
  CHECK(f.app().undo());
  CHECK(**f.app().tensor("block:norm_2") == norm);
  const std::vector<int> wrong{width + 1};
  CHECK(f.app().setTensor("delta_2", data, wrong).error().message().starts_with("delta_2: shape ["));
  CHECK((*f.app().tensor("token_query"))->rows() == 1);
}

TEST_CASE("experiments: arrow keys choose a control and change it") {
  Fixture f;
  f.type('e');
  f.type('5');
  CHECK(f.app().locate("segment:1", 0, 0, 0));
  f.key(ImGuiKey_DownArrow);
  f.key(ImGuiKey_DownArrow);
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_RightArrow);
  CHECK_FALSE(f.app().locate("segment:1", 0, 0, 0));
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_LeftArrow);
  f.key(ImGuiKey_LeftArrow);
  f.key(ImGuiKey_LeftArrow);
  CHECK(f.app().locate("segment:3", 0, 0, 0));
  f.key(ImGuiKey_UpArrow);
  f.key(ImGuiKey_RightArrow);
  CHECK_FALSE(f.app().locate("segment_tokens+", 0, 0, 0));
  CHECK_FALSE(f.app().locate("segment:1", 0, 0, 0));
}

TEST_CASE("experiments: every page opens over every mechanism") {
  const std::pair<const char*, const char*> options[] = {{"d_k", "4"},
                                                         {"causal", "false"},
                                                         {"score", "\"additive\""},
                                                         {"score", "\"scaled\""},
                                                         {"position", "\"sinusoidal\""},
                                                         {"softcap", "2"},
                                                         {"position", "\"rotary\""},
                                                         {"normalizer", "\"sparsemax\""},
                                                         {"position", "\"alibi\""},
                                                         {"kv_heads", "1"},
                                                         {"d_v", "2"},
                                                         {"hidden_heads", "[0]"},
                                                         {"cross", "true"},
                                                         {"key_tokens", "7"},
                                                         {"key_tokens", "2"}};
  for (const char* mode : {"\"qkv\"", "\"x\""}) {
    Fixture f;
    CHECK(f.app().set("mode", mode));
    f.type('e');
    int accepted = 0;  // Q and K that are entered directly have no sinusoidal positions
    for (const auto& [name, value] : options) {
      accepted += bool(f.app().set(name, value));
      for (const char page : {'2', '4', '5'}) {
        f.type(page);
        REQUIRE(f.app().locate(page == '2'   ? "lab:draw"
                               : page == '4' ? "block_seed"
                                             : "segment_seed",
                               0, 0, 0));
        if (page != '4') continue;
        f.click(f.at("block_norm:2"));
        f.click(f.at("block_norm:1"));
      }
    }
    CHECK(accepted >= 14);
  }
}

TEST_CASE("app: a cell around the layer is found and explained where its page is open") {
  Fixture f;
  const auto where = [&](const char* name, int row = 0, int col = 0) {
    return f.app().locate(name, 0, row, col);
  };
  CHECK(where("block:norm_2").error().message() ==
        "block:norm_2: it is not on the screen; open it in the experiments first.");
  f.type('e');
  f.type('4');
  REQUIRE(where("block:norm_2", 1, 2));
  CHECK(where("block:norm_2", 1, 2)->x ==
        doctest::Approx(where("block:norm_2")->x + 2 * where("block:norm_2")->width));
  CHECK(where("block:norm_2", 1, 2)->y ==
        doctest::Approx(where("block:norm_2")->y + where("block:norm_2")->height));
  CHECK(where("gamma_2", 0, 3)->x ==
        doctest::Approx(where("slider:gamma_2")->x + 3 * where("gamma_2")->width));
  CHECK_FALSE(where("block:hidden"));
  CHECK(where("block:norm_2", 99)
            .error()
            .message()
            .starts_with("block:norm_2: there is no cell [0, 99, 0]; the shape is [1, "));
  CHECK_FALSE(where("segment_weights"));
  f.type('5');
  CHECK(where("segment_weights", 1)->y == where("segment:1")->y);
  CHECK(where("token_weights", 1)->y > where("token_weights", 0)->y);
  const app::Rect last = *where("segment_b", 0, 3);
  CHECK(last.y + last.height <= 900);  // the page is scrolled to its end
  f.settle();
  CHECK(where("slider:segment_b")->y == doctest::Approx(last.y));

  const auto explained = [&](const char* name) { return f.app().explain(name, 0, 1, 0); };
  CHECK(explained("block:hidden")->find("\"terms\":[{") != std::string::npos);
  CHECK(explained("token_weights")->find("exp") != std::string::npos);
  CHECK(explained("segment_weights"));
  CHECK(f.app()
            .explain("token_weights", 0, 0, 1)
            .error()
            .message()
            .starts_with("token_weights: there is no cell [0, 0, 1]"));
  CHECK(explained("x").error().message() == "x: it is not in use here; set mode to \"x\" to change it.");
  CHECK(explained("w_a").error().message() ==
        "w_a: it is not in use here; set score to \"general\" or \"additive\" to change it.");
  CHECK(explained("gamma_2").error().message().starts_with("tensor: there is no \"gamma_2\"; use one of "));
  CHECK(explained("block:norm2").error().message().find("perhaps block:norm_") != std::string::npos);
  CHECK(f.app().tensor("spread:curves").error().message().find("perhaps spread:curve") != std::string::npos);
  CHECK(f.app().set("block_norm", "\"none\""));
  CHECK(explained("block:norm_2").error().message().starts_with("block:norm_2: nothing is normalised"));
}

TEST_CASE("app: scripts read the numbers of the experiments as they are on the screen") {
  Fixture f;
  const auto at = [&](const char* name, int row, int col) {
    return (*f.app().tensor(name))->at(0, row, col);
  };
  f.type('e');
  CHECK(at("spread:table", 0, 0) == 64.0f);
  const app::Rect slider = f.at("slider:d_k");
  f.click({slider.x + slider.width - 2, slider.y, 2, slider.height});
  CHECK(at("spread:table", 0, 0) == 1024.0f);
  CHECK(at("spread:curve", 10, 5) == at("spread:table", 0, 5));
  const float drawn = at("spread:table", 0, 5);
  f.click(f.at("lab:draw"));
  CHECK(at("spread:table", 0, 5) != drawn);
  f.type('2');
  CHECK(**f.app().tensor("weights:fixed") == **f.app().tensor("weights"));
  CHECK_FALSE(**f.app().tensor("weights:following") == **f.app().tensor("weights"));
  f.click(f.at("lab:moved:0"));
  CHECK(**f.app().tensor("weights:following") == **f.app().tensor("weights"));
  CHECK(static_cast<double>(at("weights:connected", 2, 1)) ==
        doctest::Approx(static_cast<double>(at("weights:attended", 2, 1))).epsilon(1e-6));
  f.type('3');
  CHECK((*f.app().tensor("reach:curve"))->rows() == 32);
  CHECK(at("reach:curve", 31, 3) == 1.0f / 32);
  const std::vector<float> data{1};
  const std::vector<int> shape{1};
  CHECK(f.app()
            .setTensor("reach:curve", data, shape)
            .error()
            .message()
            .starts_with("reach:curve: it is computed; set one of x,"));
}

TEST_CASE("app: locate brings a cell of another head, or one below the edge, into view") {
  Fixture f(390, 844);
  const app::Rect v = f.at("v", 1, 2, 1);
  CHECK(f.option("focus_head") == "1");
  CHECK(v.y >= 0);
  CHECK(v.y + v.height <= 844);
  f.drag(f.at("v", 1, 2, 1), 25, 0);
  const float after = (*f.app().tensor("v"))->at(1, 2, 1);
  CHECK(f.app().undo());
  CHECK(after == doctest::Approx((*f.app().tensor("v"))->at(1, 2, 1) + 0.25f).epsilon(1e-4));
}

TEST_CASE("app: setTensor replaces all heads in one step and checks the shape") {
  Fixture f;
  const std::string before = f.app().state();
  std::vector<float> data(24, 0.5f);
  const int shape[] = {2, 4, 3};
  CHECK(f.app().setTensor("q", data, shape));
  CHECK(f.q(3, 2, 1) == 0.5f);
  f.checkWeights();
  CHECK(f.app().undo());
  CHECK(f.app().state() == before);
  data[5] = std::nanf("");
  const auto done = f.app().setTensor("q", data, shape);
  REQUIRE_FALSE(done);
  CHECK(done.error().message().find("NaN") != std::string::npos);
  const int ragged[] = {4, 4};
  CHECK_FALSE(f.app().setTensor("q", data, ragged));
  CHECK_FALSE(f.app().setTensor("weights", data, shape));
  CHECK_FALSE(f.app().setTensor("zebra", data, shape));
  CHECK(f.app().state() == before);
}

TEST_CASE("app: a tensor that the layer does not have is refused by name") {
  Fixture f;
  for (const char* name : {"softcapped", "positions", "q_rotated", "w_a", "x_kv"}) {
    CAPTURE(name);
    const auto none = f.app().tensor(name);
    REQUIRE_FALSE(none);
    CHECK(none.error().field == name);
  }
  CHECK(f.app().set("score", "\"additive\""));
  REQUIRE(f.app().tensor("u_a"));
  CHECK((*f.app().tensor("u_a"))->at(0, 1, 1) == 1.0f);
}

TEST_CASE("app: reset gives the very same start") {
  Fixture f;
  const std::string start = f.app().state();
  f.drag(f.at("q", 0, 0, 0), 40, 0);
  f.click(f.at("causal"));
  f.click(f.at("tokens+"));
  f.app().reset();
  CHECK(f.app().state() == start);
  CHECK(f.app().undo());
  CHECK(f.option("tokens") == "5");
}

TEST_CASE("app: a refused state changes nothing, at whatever byte it was cut") {
  Fixture f;
  const std::string whole = f.app().state();
  for (std::size_t length = 0; length + 1 < whole.size(); length += 37) {
    const auto done = f.app().setState(std::string_view(whole).substr(0, length), true);
    REQUIRE_FALSE(done);
    CHECK_FALSE(done.error().message().empty());
  }
  CHECK(f.app().state() == whole);
}

TEST_CASE("app: every named thing on the screen lies inside of it, at all widths") {
  for (const auto& size : {std::pair{1440.0f, 900.0f},
                           {1100.0f, 700.0f},
                           {640.0f, 440.0f},
                           {390.0f, 844.0f},
                           {320.0f, 320.0f}}) {
    Fixture f(size.first, size.second);
    for (const char* name : {"causal", "heads+", "heads-", "reset"}) {
      CAPTURE(name);
      CAPTURE(size.first);
      if (!f.app().locate(name, 0, 0, 0)) f.click(f.at("more"));  // where the header has no room
      const app::Rect r = f.at(name);
      CHECK(r.x >= 0);
      CHECK(r.y >= 0);
      CHECK(r.x + r.width <= size.first);
      CHECK(r.y + r.height <= size.second);
    }
  }
}

TEST_CASE("app: everything grows with a large window, by hand, and where it is presented") {
  Fixture f;
  CHECK(f.app().zoomFor(1440, 900) == 1);
  CHECK(f.app().zoomFor(640, 440) == 1);
  CHECK(f.app().zoomFor(2560, 1440) == 1.5f);
  CHECK(f.app().zoomFor(3840, 2160) == 2.25f);
  // Set by hand, in steps of a quarter with keys; 0 returns to the automatic zoom.
  for (const char* zoom : {"1.25", "1.5", "2.5"}) {
    REQUIRE(f.app().set("zoom", zoom));
    CHECK(f.app().zoomFor(1440, 900) == std::stof(zoom));
  }
  REQUIRE(f.app().set("zoom", "0"));
  CHECK(f.app().zoomFor(2560, 1440) == 1.5f);
  REQUIRE(f.app().set("present", "true"));
  CHECK(f.app().zoomFor(3840, 2160) == 2.5f);
  CHECK(f.app().zoomFor(2560, 1440) >= 2.25f);
  CHECK(f.app().zoomFor(1920, 1080) >= 1.75f);
  CHECK(f.app().zoomFor(1440, 900) >= 1.25f);
  REQUIRE(f.app().set("zoom", "2"));
  CHECK(f.app().zoomFor(1440, 900) == 2);
  CHECK(f.app().zoomFor(320, 320) == 1);
  CHECK(f.app().zoomFor(1440, 900) == 2);
  const auto done = f.app().set("zoom", "0.5");
  REQUIRE_FALSE(done);
  CHECK(done.error().message().find("zoom") != std::string::npos);
  CHECK(*f.app().get("zoom") == "2");
}

TEST_CASE("app: the gradient of a cell, and what has none") {
  Fixture f;
  const auto found = f.app().gradient("weights", 0, 2, 0, "q");
  REQUIRE(found);
  CHECK((*found)->sameShape(**f.app().tensor("q")));
  const Tensor& q = **found;
  bool isReached = false;
  for (int c = 0; c < q.cols(); ++c) {
    isReached = isReached || q.at(0, 2, c) != 0.0f;
    CHECK(q.at(0, 1, c) == 0.0f);  // the row of another query
  }
  CHECK(isReached);
  CHECK(f.app().gradient("weights", 0, 9, 0, "q").error().field == "row");
  CHECK(f.app().gradient("weights", 0, 0, 0, "output").error().field == "wrt");
  CHECK(f.app().gradient("wieghts", 0, 0, 0, "q").error().message().find("weights") != std::string::npos);
  CHECK(f.app().gradient("weights", 0, 0, 0, "qq").error().kind == base::Error::Kind::range);
}

TEST_CASE("app: between late frames a run goes on, to the same numbers, and says so after the next frame") {
  const auto losses = [](bool isLate) {
    Fixture f;
    REQUIRE(f.app().set("train_d_model", "4"));
    CHECK_FALSE(f.app().trains());
    CHECK_FALSE(f.app().workOn());
    REQUIRE(f.app().train(60));
    CHECK(f.app().trains());
    if (isLate) {
      const int before = f.host.count(app::Event::Type::train);
      while (f.app().workOn()) {}
      CHECK((*f.app().tensor("train:loss"))->rows() == 60);
      CHECK(f.host.count(app::Event::Type::train) == before);
    }
    for (int i = 0; i < 10'000 && f.app().trains(); ++i) f.frame();
    CHECK_FALSE(f.app().trains());
    CHECK(f.host.events.back().detail.find("\"isDone\":true") != std::string::npos);
    const attention::Tensor& loss = **f.app().tensor("train:loss");
    return std::vector<float>(loss.values().begin(), loss.values().end());
  };
  const std::vector<float> late = losses(true);
  CHECK(late.size() == 3 * 60);
  CHECK(late == losses(false));
}

TEST_CASE("app: of a board whose weights are not stored, scripts read and edit the same numbers") {
  Fixture f;
  REQUIRE(f.app().set("tokens", "1100"));
  REQUIRE(f.app().set("causal", "true"));
  f.settle();
  const auto computed = [&f] {
    const Tensor q = **f.app().tensor("q"), k = **f.app().tensor("k"), v = **f.app().tensor("v");
    attention::Spec spec;
    spec.heads = q.heads(), spec.kvHeads = k.heads();
    spec.queryCount = spec.keyCount = q.rows(), spec.headDim = q.cols(), spec.valueDim = v.cols();
    spec.causal = true;
    attention::Inputs in;
    in.q = &q, in.k = &k, in.v = &v;
    attention::Trace whole;
    attention::forward(spec, in, whole);
    return whole;
  };
  const attention::Trace before = computed();
  CHECK(**f.app().tensor("weights") == before.weights);
  CHECK(**f.app().tensor("head_output") == before.headOutput);
  CHECK(f.app().gradient("weights", 0, 1000, 7, "q"));
  CHECK(f.app().explain("weights", 0, 1000, 7));
  CHECK(f.app().tensors());

  Tensor k = **f.app().tensor("k");
  k.at(0, 3, 0) += 1.0f;
  const int shape[] = {k.heads(), k.rows(), k.cols()};
  REQUIRE(f.app().setTensor("k", k.values(), shape));
  f.settle();
  const attention::Trace after = computed();
  CHECK_FALSE(before.weights == after.weights);
  CHECK(**f.app().tensor("weights") == after.weights);
  CHECK(**f.app().tensor("output") == after.output);
}
