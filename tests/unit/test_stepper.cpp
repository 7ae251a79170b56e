// Stepping through a row, and interactive arithmetic, with real Dear ImGui input.
#include "app_fixture.h"
#include "painted.h"
#include "thorough.h"
#include "views/panels/arithmetic.h"

namespace {

double cell(Fixture& f, std::string_view tensor, int row, int col) {
  return double{(*f.app().tensor(tensor))->at(0, row, col)};
}

void rest(Fixture& f, float seconds = 1.0f / 60) {
  for (int i = 0; i < 400 && f.app().wantsFrame(); ++i) f.frame(seconds);
}

}  // namespace

TEST_CASE(
    "stepper: the button in the inspector begins at the first step of the selected row, and keys go through "
    "it") {
  Fixture f;
  CHECK(f.option("stepper") == "0");
  f.click(f.at("stepper"));
  CHECK(f.option("stepper") == "1");
  rest(f);
  f.key(ImGuiKey_RightArrow);
  CHECK(f.option("stepper") == "2");
  f.key(ImGuiKey_RightArrow);
  f.key(ImGuiKey_LeftArrow);
  CHECK(f.option("stepper") == "2");
  f.key(ImGuiKey_End);
  CHECK(f.option("stepper") == "9");  // q·k, ÷ √d_k, mask, max, exp, Σ, weights, × V, output
  f.key(ImGuiKey_RightArrow);
  CHECK(f.option("stepper") == "9");
  f.key(ImGuiKey_Home);
  CHECK(f.option("stepper") == "1");
  f.key(ImGuiKey_Escape);
  CHECK(f.option("stepper") == "0");
  f.type('i');
  CHECK(f.option("stepper") == "1");
  f.type('i');
  CHECK(f.option("stepper") == "0");
  f.key(ImGuiKey_LeftArrow);  // the previous cell is selected, as without steps
  CHECK(f.option("stepper") == "0");
}

TEST_CASE("stepper: play goes to the end by itself and stops there; nothing is drawn afterwards") {
  Fixture f;
  f.type('i');
  f.key(ImGuiKey_Space);
  int frames = 0;
  for (; frames < 4000 && f.app().wantsFrame(); ++frames) f.frame();
  CHECK(f.option("stepper") == "9");
  CHECK(!f.app().wantsFrame());
  f.io().AddKeyEvent(ImGuiKey_Space, true);  // starts again at the first step
  for (int i = 0; i < 30; ++i) f.frame();
  CHECK(f.option("stepper") == "1");
  f.io().AddKeyEvent(ImGuiKey_Space, false);
  for (int i = 0; i < 60; ++i) f.frame();
  f.key(ImGuiKey_Space);  // pauses
  const std::string there = f.option("stepper");
  CHECK(there == "2");
  rest(f);
  for (int i = 0; i < 200; ++i) f.frame();
  CHECK(f.option("stepper") == there);
}

TEST_CASE("stepper: playing takes 2.88 s, twice that at half speed and half of it at double speed") {
  Fixture f;
  f.type('i');
  for (const float seconds : {2.88f, 1.44f, 5.76f}) {
    f.key(ImGuiKey_End);  // from where it begins anew
    f.io().AddKeyEvent(ImGuiKey_Space, true);
    f.frame();
    f.io().AddKeyEvent(ImGuiKey_Space, false);
    int frames = 1;
    for (; frames < 2000 && f.option("stepper") != "9"; ++frames) f.frame();
    CHECK(static_cast<float>(frames) / 60 == doctest::Approx(seconds).epsilon(0.05));
    rest(f);
    f.click(f.at("stepper-speed"));
  }
}

TEST_CASE("stepper: the track is dragged back and forth, stays where it is left, and plays on from there") {
  Fixture f;
  f.type('i');
  rest(f);
  const app::Rect first = f.at("stepper:1"), last = f.at("stepper:8");
  const float y = first.y + 13;
  f.moveTo(first.x + first.width * 0.2f, y);
  f.button(true);
  f.moveTo(first.x + first.width * 0.3f, y);
  CHECK(f.option("stepper") == "1");
  CHECK(f.app().locate("stepper-caption", 0, 0, 0));
  f.moveTo(last.x + last.width / 2, y);
  CHECK(f.option("stepper") == "8");
  f.moveTo(first.x + first.width * 0.3f, y);
  CHECK(f.option("stepper") == "1");
  f.button(false);
  rest(f);
  CHECK(!f.app().wantsFrame());
  CHECK(f.option("stepper") == "1");
  CHECK(f.app().locate("stepper-caption", 0, 0, 0));  // still on its way
  f.key(ImGuiKey_Space);
  for (int i = 0; i < 400 && f.option("stepper") != "9"; ++i) f.frame();
  CHECK(f.option("stepper") == "9");
  rest(f);
  CHECK(!f.app().locate("stepper-caption", 0, 0, 0));
}

TEST_CASE("stepper: a lesson that opens it plays the whole way, and a script only its step") {
  for (const bool isLesson : {true, false}) {
    Fixture f;
    if (isLesson)
      REQUIRE(f.app().openLesson(
          R"({"lesson": 1, "id": "walk", "title": "Walk", "steps": [{"preset": "i-saw-a-saw", "set": {"stepper": 1}, "text": "Look."}]})",
          "", "", 0));
    else REQUIRE(f.app().set("stepper", "1"));
    f.settle();
    rest(f);
    CHECK(f.option("stepper") == (isLesson ? "9" : "1"));
  }
}

TEST_CASE("stepper: a drag of a number ends it") {
  Fixture f;
  f.type('i');
  f.key(ImGuiKey_Space);
  f.drag(f.at("q", 0, 3, 2), 30, 0);
  CHECK(f.option("stepper") == "0");
  CHECK(!f.app().locate("stepper-caption", 0, 0, 0));
}

TEST_CASE("stepper: a typed number ends it, and so does one changed by an arrow key") {
  Fixture f;
  f.type('i');
  f.key(ImGuiKey_Space);
  f.click(f.at("q", 0, 3, 2));
  f.key(ImGuiKey_Enter);
  f.app().endText(app::TextEnd::commit, "0.5");
  f.settle();
  CHECK(cell(f, "q", 3, 2) == doctest::Approx(0.5));
  CHECK(f.option("stepper") == "0");
  CHECK(!f.app().locate("stepper-caption", 0, 0, 0));
  REQUIRE(f.app().undo());
  CHECK(cell(f, "q", 3, 2) == doctest::Approx(1.6));
  f.type('i');
  f.key(ImGuiKey_UpArrow);
  CHECK(f.option("stepper") == "0");
}

namespace {

/// Goes to a part of a step on the track, and stays there.
void goTo(Fixture& f, int step, float part) {
  const app::Rect to = f.at("stepper:" + std::to_string(step));
  f.moveTo(to.x + to.width / 2, to.y + 13);
  f.button(true);
  f.moveTo(to.x + to.width * part + (part == 0.5f ? 4.0f : 0.0f), to.y + 13);
  f.button(false);
  rest(f);
}

bool holds(const app::Rect& outer, const app::Rect& inner) {
  return inner.x > outer.x - 1 && inner.y > outer.y - 1 &&
         inner.x + inner.width < outer.x + outer.width + 1 &&
         inner.y + inner.height < outer.y + outer.height + 1;
}
bool meet(const app::Rect& a, const app::Rect& b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

}  // namespace

TEST_CASE("stepper: query and key are in view together while they meet, at every size") {
  for (const ImVec2 size :
       {ImVec2{1440, 900}, ImVec2{1024, 768}, ImVec2{640, 440}, ImVec2{390, 844}, ImVec2{320, 568}}) {
    for (const char* tokens : {"4", "12", "64"}) {
      CAPTURE(size.x);
      CAPTURE(tokens);
      Fixture f(size.x, size.y);
      REQUIRE(f.app().set("tokens", tokens));
      f.settle();
      REQUIRE(f.app().set("stepper", "1"));
      rest(f);
      for (const float part : {0.2f, 0.5f}) {
        goTo(f, 1, part);
        const app::Rect bar = f.at("stepper-bar"), board{0, 44, size.x, bar.y - 44},
                        caption = f.at("stepper-caption");
        CHECK(holds(board, caption));
        if (const auto strip = f.app().locate("stepper-strip", 0, 0, 0)) {
          CHECK(holds(board, *strip));
          CHECK(holds(*strip, caption));
        } else {
          const int last = std::stoi(tokens) - 1;
          CHECK(holds(board, f.at("q", 0, last, 0)));
          CHECK(holds(board, f.at("k", 0, last, 2)));
        }
      }
    }
  }
}

TEST_CASE("stepper: the words of a motion lie over no title") {
  Fixture f;
  f.type('i');
  rest(f);
  for (const auto& [step, part] : {std::pair(1, 0.2f), {1, 0.5f}, {1, 0.9f}, {7, 0.5f}, {8, 0.5f}}) {
    goTo(f, step, part);
    const app::Rect caption = f.at("stepper-caption");
    for (const char* of : {"q", "k", "v", "scores", "weights", "head_output"}) {
      CAPTURE(of);
      CHECK(!meet(caption, f.at(std::string("title:") + of)));
    }
  }
}

TEST_CASE("stepper: the step of the mask says whether there is one") {
  for (const char* causal : {"true", "false"}) {
    Fixture f;
    REQUIRE(f.app().set("causal", causal));
    for (const int row : {1, 3}) {
      f.click(f.at("weights", 0, row, 0));
      REQUIRE(f.app().set("stepper", "2"));
      rest(f);
      goTo(f, 3, 0.3f);
      const app::Rect at = f.at("stepper-caption");
      const bool hides = causal == std::string("true");
      const std::string words = !hides     ? "no mask: every key is seen"
                                : row == 1 ? "what may not be seen is left out"
                                           : "the mask hides no key from this query";
      CHECK(test::Painted().in(at.x, at.y, at.x + at.width, at.y + at.height).find(words) !=
            std::string::npos);
      REQUIRE(f.app().set("stepper", "0"));
      f.settle();
    }
  }
}

TEST_CASE("arithmetic: a sum that is too long keeps its result") {
  Fixture f;
  ImFont* font = ImGui::GetIO().Fonts->Fonts[0];
  const std::string_view line = "0.20×0.30 + (−0.70)×(−0.50) + 1.60×1.40 = 2.65";
  const float all = views::textWidth(font, line);
  CHECK(views::shortened(font, line, all) == line);
  CHECK(views::shortened(font, line, all - 1) == "0.20×0.30 + (−0.70)×(−0.50) + … = 2.65");
  CHECK(views::shortened(font, line, all / 2) == "0.20×0.30 + … = 2.65");
  CHECK(views::shortened(font, line, all / 4) == "… = 2.65");
  const std::string_view long64 = "0.20×0.30 + 0.40×0.50 + … + 1.60×1.40 = 2.65";
  CHECK(views::shortened(font, long64, views::textWidth(font, long64) - 1) ==
        "0.20×0.30 + 0.40×0.50 + … = 2.65");
}

TEST_CASE("arithmetic: a sum goes on with its sign in the next line") {
  Fixture f;
  ImFont* font = ImGui::GetIO().Fonts->Fonts[0];
  const auto lines = [&](std::string_view text, float width) {
    std::vector<std::string> out;
    std::size_t begin = 0;
    for (const std::size_t end : views::brokenAt(font, text, width))
      out.emplace_back(text.substr(begin, end - begin)), begin = end + 1;
    return out;
  };
  const std::string_view sum = "0.20×0.30 + 0.40×0.50 = 0.26";
  CHECK(lines(sum, views::textWidth(font, sum)) == std::vector<std::string>{std::string(sum)});
  CHECK(lines(sum, views::textWidth(font, "0.20×0.30 + 0.40")) ==
        std::vector<std::string>{"0.20×0.30", "+ 0.40×0.50", "= 0.26"});
  CHECK(lines("unbreakable", 3).empty());
}

TEST_CASE("stepper: buttons and dots of the bar") {
  Fixture f;
  f.type('i');
  rest(f);
  f.press("stepper-next", "stepper", "2");
  f.press("stepper-last", "stepper", "9");
  f.press("stepper-back", "stepper", "8");
  f.press("stepper:5", "stepper", "5");
  f.press("stepper-first", "stepper", "1");
  f.press("stepper-close", "stepper", "0");
  CHECK(!f.app().locate("stepper-next", 0, 0, 0));
}

TEST_CASE(
    "stepper: undo leaves the steps as they are shown, as it leaves all that is only how the board is looked "
    "at") {
  Fixture f;
  f.drag(f.at("q", 0, 3, 2), 30, 0);
  REQUIRE(f.app().set("stepper", "3"));
  REQUIRE(f.app().undo());
  CHECK(f.option("stepper") == "3");
  CHECK(f.app().redo());
  CHECK(f.option("stepper") == "3");
}

TEST_CASE("stepper: at every size, with every mechanism, and a step that a script asked for") {
  for (const ImVec2 size : {ImVec2{1440, 900}, ImVec2{640, 440}, ImVec2{390, 844}, ImVec2{320, 320}}) {
    Fixture f(size.x, size.y);
    for (const char* score : {"\"dot\"", "\"scaled\"", "\"general\"", "\"additive\"", "\"cosine\""}) {
      for (const char* normalizer : {"\"softmax\"", "\"sparsemax\"", "\"hardmax\""}) {
        REQUIRE(f.app().set("score", score));
        REQUIRE(f.app().set("normalizer", normalizer));
        for (int step = 1; step <= 12; step += test::kWhole ? 1 : 11) {
          REQUIRE(f.app().set("stepper", std::to_string(step)));
          rest(f, 0.1f);  // a tenth of a second each: all that moves is drawn a few times on its way
        }
        const app::Rect bar = f.at("stepper-bar");
        const auto toolbar = f.app().locate("toolbar", 0, 0, 0);  // of a phone
        CHECK(bar.y + bar.height == doctest::Approx(toolbar ? toolbar->y : size.y));
      }
    }
    REQUIRE(f.app().set("tokens", "12"));
    rest(f);
    REQUIRE(f.app().set("view", "\"block\""));
    rest(f);
    CHECK(f.option("stepper") == "12");
  }
  Fixture f;
  CHECK(!f.app().set("stepper", "25"));
  CHECK(!f.app().set("stepper", "-1"));
  CHECK(!f.app().set("stepper", "true"));
}

TEST_CASE("touch: a number under the pointer lights its cell, and a click goes there") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  f.click(f.at("number:k:2:1"));
  CHECK(f.host.events.back().detail.find("\"name\":\"k\"") != std::string::npos);
  // The explanation stays: the selected cell is an input, which has no arithmetic of its own.
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 2});
  f.moveTo(f.at("inspector"));
  CHECK(f.app().locate("number:q:3:2", 0, 0, 0));
}

TEST_CASE("touch: a drag on a number edits its cell as a drag on the cell does, in one step of undo") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  const double before = cell(f, "q", 3, 2);
  f.drag(f.at("number:q:3:2"), 40, 0);
  const double byNumber = cell(f, "q", 3, 2);
  CHECK(byNumber != before);
  f.checkWeights();
  REQUIRE(f.app().undo());
  CHECK(cell(f, "q", 3, 2) == before);
  f.drag(f.at("q", 0, 3, 2), 40, 0);
  CHECK(cell(f, "q", 3, 2) == doctest::Approx(byNumber));
  REQUIRE(f.app().undo());
  // A score is not an input: nothing changes.
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  f.drag(f.at("number:masked:3:2"), 40, 0);
  CHECK(cell(f, "q", 3, 2) == before);
}

TEST_CASE("touch: a number that is a sum opens into it, and closes again") {
  Fixture f;
  REQUIRE(f.app().set("mask_after_softmax", "true"));  // has no formula, so that the arithmetic is in lines
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("inspector"));
  CHECK(!f.app().locate("number:exponentials:3:0", 0, 0, 0));
  f.click(f.at("number:row_sum:3:0"));
  f.moveTo(f.at("inspector"));
  CHECK(f.app().locate("number:exponentials:3:0", 0, 0, 0));
  f.click(f.at("number:exponentials:3:0"));  // expands further: exp(−0.51 − 1.53)
  f.moveTo(f.at("inspector"));
  CHECK(f.app().locate("number:masked:3:0", 0, 0, 0));
  f.click(f.at("number:row_sum:3:0"));
  f.moveTo(f.at("inspector"));
  CHECK(!f.app().locate("number:exponentials:3:0", 0, 0, 0));
  REQUIRE(f.app().set("score", "\"additive\""));
  f.settle();
  f.moveTo(f.at("inspector"));
  f.click(f.at("number:sum:0"));
  f.moveTo(f.at("inspector"));
  CHECK(f.app().locate("number:w_a:0:0", 0, 0, 0));
}

TEST_CASE("touch: a cell that takes part keeps the arithmetic in view, others are explained themselves") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(f.at("q", 0, 3, 0));
  CHECK(f.app().locate("number:q:3:0", 0, 0, 0));
  CHECK(f.app().locate("number:k:2:0", 0, 0, 0));
  f.moveTo(f.at("weights", 0, 1, 0));
  CHECK(!f.app().locate("number:q:3:0", 0, 0, 0));
  CHECK(f.app().locate("number:q:1:0", 0, 0, 0));
}

TEST_CASE("touch: both minus signs are numbers that are typed") {
  for (const char* typed : {"-0.25", "−0.25"}) {
    Fixture f;
    f.click(f.at("q", 0, 3, 2));
    f.key(ImGuiKey_Enter);
    f.app().endText(app::TextEnd::commit, typed);
    f.settle();
    CHECK(cell(f, "q", 3, 2) == doctest::Approx(-0.25));
  }
}
