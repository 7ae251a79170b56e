// Input by hand on the board: dragging, typing, pasting, single keys, and what each of them must not do.
#include "app_fixture.h"

#include <array>

namespace {

using app::TextEnd;
using Type = app::Event::Type;

/// Characters that arrive within one frame, as from pasting or an input method.
void burst(Fixture& f, std::string_view words) {
  for (const char c : words) Fixture::io().AddInputCharacter(static_cast<unsigned>(c));
  f.settle();
}

bool isThere(Fixture& f, std::string_view place) {
  f.settle();
  return f.app().items().find("\"" + std::string(place) + "\"") != std::string::npos;
}

void pressAndDrag(Fixture& f, const app::Rect& r, float dx, float dy) {
  f.moveTo(r);
  f.button(true);
  const ImVec2 from = Fixture::io().MousePos;
  for (int i = 1; i <= 8; ++i)
    f.moveTo(from.x + dx * static_cast<float>(i) / 8, from.y + dy * static_cast<float>(i) / 8);
}

}  // namespace

// ---- what is explained

TEST_CASE("editing: a press that ends on a smaller board than it began on selects a cell that exists") {
  for (const char* name : {"weights", "q"}) {
    CAPTURE(name);
    Fixture f;
    f.moveTo(f.at(name, 0, 3, 2));
    f.button(true);
    REQUIRE(f.app().set("tokens", "2"));
    f.button(false);
    f.settle();
    const attention::CellRef cell = f.app().explained();
    CHECK((*f.app().tensor(attention::name(cell.tensor)))->contains(cell.head, cell.row, cell.col));
  }
}

TEST_CASE("editing: while an input is dragged the selected weight stays explained") {
  for (const char* input : {"q", "k", "v"}) {
    CAPTURE(input);
    Fixture f;
    f.click(f.at("weights", 0, 3, 0));
    f.moveTo(-1000, -1000);
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
    pressAndDrag(f, f.at(input, 0, 1, 1), 0, -90);
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
    f.button(false);
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
    CHECK(f.app().copyCells().find('\t') == std::string::npos);  // a single cell: the one that was dragged
    const float before = (*f.app().tensor(input))->at(0, 1, 1);
    f.key(ImGuiKey_UpArrow);
    CHECK((*f.app().tensor(input))->at(0, 1, 1) == doctest::Approx(before + 0.1f));
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
  }
}

TEST_CASE(
    "editing: X and the projections are dragged with a weight in view, and Q is explained where it is "
    "computed") {
  Fixture f;
  REQUIRE(f.app().set("mode", "\"x\""));
  f.click(f.at("weights", 0, 2, 1));
  for (const char* input : {"x", "w_q", "w_k", "w_v"}) {
    CAPTURE(input);
    f.drag(f.at(input, 0, 0, 0), 40, 0);
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 2, 1});
  }
  f.click(f.at("q", 0, 1, 2));
  f.moveTo(-1000, -1000);
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::q, 0, 1, 2});
}

TEST_CASE("editing: after a drag nothing is hovered until the pointer has moved") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 0));
  const app::Rect from = f.at("q", 0, 1, 1), below = f.at("q", 0, 3, 1);
  pressAndDrag(f, from, 0, below.y - from.y);
  f.button(false);
  f.settle();
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
  const ImVec2 at = Fixture::io().MousePos;
  f.moveTo(at.x + 1, at.y);
  CHECK(f.app().explained().tensor == attention::TensorId::weights);
  f.moveTo(at.x + 6, at.y);
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::q, 0, 3, 1});
  const float was = f.q(1, 1);
  f.key(ImGuiKey_UpArrow);
  CHECK(f.q(1, 1) == doctest::Approx(was + 0.1f));
  CHECK(f.app().explained().tensor == attention::TensorId::weights);
}

TEST_CASE("editing: what is explained stays inside the layer when that changes") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 3));
  f.click(f.at("q", 0, 0, 0));
  f.moveTo(-1000, -1000);
  REQUIRE(f.app().set("tokens", "2"));
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 1, 1});
  REQUIRE(f.app().set("tokens", "4"));
  REQUIRE(f.app().set("d_k", "4"));
  REQUIRE(f.app().set("position", "\"rotary\""));
  f.settle();
  f.click(f.at("q_rotated", 0, 1, 1));
  f.click(f.at("q", 0, 0, 0));
  f.moveTo(-1000, -1000);
  CHECK(f.app().explained().tensor == attention::TensorId::q_rotated);
  REQUIRE(f.app().set("position", "\"none\""));
  f.settle();
  CHECK(f.app().explained().tensor == attention::TensorId::weights);
}

TEST_CASE("editing: a bubble says what the drag makes of the number, below the matrix") {
  Fixture f;
  CHECK_FALSE(isThere(f, "bubble"));
  pressAndDrag(f, f.at("q", 0, 3, 2), 40, 0);
  REQUIRE(isThere(f, "bubble"));
  const app::Rect bubble = *f.app().locate("bubble", 0, 0, 0), matrix = *f.app().locate("matrix:q", 0, 0, 0);
  CHECK(bubble.y > matrix.y + matrix.height);
  CHECK(bubble.y < matrix.y + matrix.height + 20);
  f.button(false);
  CHECK_FALSE(isThere(f, "bubble"));
  f.press(f.at("q", 0, 3, 2), 0.3);
  f.swipe(-40, 0);
  REQUIRE(isThere(f, "bubble"));
  const app::Rect above = *f.app().locate("bubble", 0, 0, 0);
  CHECK(above.y + above.height < matrix.y);
}

TEST_CASE("editing: the bubble stays on the board where the matrix does not") {
  Fixture f(640, 440);
  REQUIRE(f.app().set("tokens", "40"));
  f.settle();
  for (const int row : {0, 20, 39}) {
    pressAndDrag(f, f.at("q", 0, row, 1), 30, 0);
    const app::Rect bubble = *f.app().locate("bubble", 0, 0, 0);
    CHECK(bubble.y >= 0);
    CHECK(bubble.y + bubble.height <= 440);
    CHECK(bubble.x >= 0);
    CHECK(bubble.x + bubble.width <= 640);
    f.button(false);
  }
}

// ---- numbers

TEST_CASE("editing: numbers are typed with a decimal comma, a real minus and spaces around") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  const std::pair<const char*, float> typed[] = {
      {"-0,8", -0.8f},       {"\u22120,8", -0.8f}, {"\u20111,5", -1.5f}, {" 1,5 ", 1.5f},
      {"\u2212.25", -0.25f}, {",5", 0.5f},         {"2,5e1", 25.0f},     {"+3", 3.0f}};
  for (const auto& [words, value] : typed) {
    CAPTURE(words);
    f.key(ImGuiKey_Enter);
    f.app().endText(TextEnd::commit, words);
    CHECK(f.q(0, 0) == value);
  }
  CHECK(f.host.count(Type::error) == 0);
}

TEST_CASE("editing: what is refused stays in the field with the reason") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  for (const char* words : {"seven", "1,2,3", "1.234,5", "1 2", "", "1e99"}) {
    CAPTURE(words);
    f.key(ImGuiKey_Enter);
    const std::size_t count = f.host.texts.size();
    f.app().endText(TextEnd::commit, words);
    CHECK(f.q(0, 0) == 0.9f);
    REQUIRE(f.host.texts.size() == count + 1);
    const app::TextField& again = f.host.texts.back();
    CHECK(again.text == words);
    CHECK(again.wrong == f.app().notice());
    CHECK(again.wrong.starts_with("q: "));
    CHECK(again.wrong.back() == '.');
    CHECK_FALSE(again.selectAll);
    f.app().endText(TextEnd::cancel, words);
    CHECK(f.host.texts.size() == count + 1);
  }
}

TEST_CASE("editing: a press elsewhere does not take away what was refused; a second one gives it up") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  const app::Rect other = f.at("q", 0, 2, 2);
  f.key(ImGuiKey_Enter);
  // As on the desktop: the field sees the press in the same frame as the board.
  const auto leaves = [&] { f.app().endText(TextEnd::leave, "seven"); };
  f.host.duringFrame = leaves;
  f.moveTo(other);
  CHECK(f.host.drops == 0);
  CHECK(f.host.texts.size() == 2);
  f.host.duringFrame = leaves;
  f.button(true);
  f.button(false);
  CHECK(f.host.texts.size() == 2);
  CHECK(f.q(0, 0) == 0.9f);
  CHECK(f.app().copyCells() == "0.8\n");
}

TEST_CASE("editing: a press that leaves a refused field selects nothing") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  f.key(ImGuiKey_Enter);
  f.moveTo(f.at("q", 0, 2, 2));
  f.host.duringFrame = [&] { f.app().endText(TextEnd::leave, "seven"); };
  f.button(true);
  f.moveTo(Fixture::io().MousePos.x + 40, Fixture::io().MousePos.y);
  f.button(false);
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts.back().text == "seven");
  CHECK(f.host.drops == 0);
  f.app().endText(TextEnd::commit, "7");
  CHECK(f.q(0, 0) == 7.0f);
  CHECK(f.q(2, 2) == 0.8f);
}

TEST_CASE("editing: other fields keep what was refused too, and take a decimal comma") {
  Fixture f;
  f.type('O');
  REQUIRE(f.focusOn("softcap"));
  f.key(ImGuiKey_Enter);
  f.app().endText(TextEnd::commit, "much");
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts.back().text == "much");
  f.app().endText(TextEnd::commit, "2,5");
  CHECK(f.option("softcap") == "2.5");
}

TEST_CASE(
    "editing: Tab enters a cell and opens the next one, Shift+Tab the one before, until the matrix ends") {
  Fixture f;
  f.click(f.at("q", 0, 0, 1));
  f.key(ImGuiKey_Enter);
  f.app().endText(TextEnd::next, "5");
  CHECK(f.q(0, 1) == 5.0f);
  REQUIRE(f.host.texts.size() == 2);
  CHECK(f.host.texts.back().name == "q, row 1, column 3");
  CHECK(f.host.texts.back().isCell);
  CHECK(f.host.texts.back().selectAll);
  f.app().endText(TextEnd::next, "6");
  REQUIRE(f.host.texts.size() == 3);
  CHECK(f.host.texts.back().name == "q, row 2, column 1");
  f.app().endText(TextEnd::next, "no number");
  REQUIRE(f.host.texts.size() == 4);
  CHECK(f.host.texts.back().name == "q, row 2, column 1");
  f.app().endText(TextEnd::previous, "7");
  REQUIRE(f.host.texts.size() == 5);
  CHECK(f.host.texts.back().name == "q, row 1, column 3");
  f.app().endText(TextEnd::cancel, "");
  CHECK(f.q(0, 2) == 6.0f);
  CHECK(f.q(1, 0) == 7.0f);
  f.click(f.at("q", 0, 3, 2));
  f.key(ImGuiKey_Enter);
  const std::size_t count = f.host.texts.size();
  f.app().endText(TextEnd::next, "8");
  CHECK(f.q(3, 2) == 8.0f);
  CHECK(f.host.texts.size() == count);
  f.click(f.at("k", 0, 3, 1));  // the last cell of the second row of K transposed
  f.key(ImGuiKey_Enter);
  f.app().endText(TextEnd::next, "9");
  CHECK(f.host.texts.back().name == "k, row 1, column 3");
}

// ---- tables

TEST_CASE("editing: K is copied and pasted as it is seen, turned") {
  Fixture f;
  const Tensor k = **f.app().tensor("k");
  f.click(f.at("k", 0, 0, 0));
  f.io().AddKeyEvent(ImGuiMod_Shift, true);
  f.click(f.at("k", 0, 1, 2));  // two tokens, three numbers each
  f.io().AddKeyEvent(ImGuiMod_Shift, false);
  CHECK(f.app().copyCells() == "1.1\t-0.2\n0.2\t1.3\n-0.6\t0.4\n");
  f.click(f.at("k", 0, 0, 0));
  CHECK(f.app().pasteCells("1\t2\t3\t4\n5\t6\t7\t8\n9\t10\t11\t12\n"));
  const Tensor& now = **f.app().tensor("k");
  for (int token = 0; token < 4; ++token) {
    for (int d = 0; d < 3; ++d) CHECK(now.at(0, token, d) == static_cast<float>(1 + d * 4 + token));
  }
  CHECK(f.app().notice().empty());
  f.checkWeights();
}

TEST_CASE("editing: what a message says of an edit goes when the edit is undone") {
  Fixture f;
  burst(f, "h");
  const std::string said = f.app().notice();
  CHECK(said.find("heads share the width") != std::string::npos);
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK(f.app().notice().empty());
  f.app().notify("Something else.", false);
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl, ImGuiMod_Shift});
  CHECK(f.app().notice().empty());
  f.app().notify("Something else.", false);
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl, ImGuiMod_Shift});  // there is nothing to redo
  CHECK(f.app().notice() == "Something else.");
}

TEST_CASE("editing: a block that fits into K only the other way is put there, and that is said") {
  Fixture f;
  f.click(f.at("k", 0, 0, 0));
  CHECK(f.app().pasteCells("1\t2\t3\n4\t5\t6\n7\t8\t9\n10\t11\t12\n"));
  CHECK((*f.app().tensor("k"))->at(0, 3, 2) == 12.0f);
  CHECK(f.app().notice() == "The 4 × 3 numbers fit only as rows of K: each row has become a column of Kᵀ.");
  f.click(f.at("q", 0, 0, 0));
  const std::string before = f.app().state();
  const auto done = f.app().pasteCells("1\t2\t3\t4\n5\t6\t7\t8\n");
  REQUIRE_FALSE(done);
  CHECK(done.error().message() ==
        "paste: 2 × 4 numbers do not fit into Q, which has room for 4 × 3 from the selected cell on; turned "
        "over (rows as columns) "
        "they would.");
  REQUIRE_FALSE(f.app().pasteCells("1\t2\t3\t4\n5\t6\t7\t8\n1\t2\t3\t4\n5\t6\t7\t8\n"));
  CHECK(f.app().state() == before);
}

TEST_CASE("editing: pasted tables have decimal commas where tabs or semicolons separate") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  CHECK(f.app().pasteCells("0,5\t\u22121,5\n2,25\t1\n"));
  CHECK(f.q(0, 0) == 0.5f);
  CHECK(f.q(0, 1) == -1.5f);
  CHECK(f.q(1, 0) == 2.25f);
  CHECK(f.app().pasteCells("0,1;0,2\n"));
  CHECK(f.q(0, 1) == 0.2f);
  CHECK(f.app().pasteCells("7, 8\n"));
  CHECK(f.q(0, 1) == 8.0f);
  f.click(f.at("q", 0, 2, 2));
  CHECK(f.app().pasteCells("\u22120,8\r\n"));
  CHECK(f.q(2, 2) == -0.8f);
}

// ---- what is computed

TEST_CASE("editing: what is computed says what to change instead, with links there") {
  Fixture f;
  f.click(f.at("scores", 0, 2, 1));
  f.type('4');
  CHECK(f.host.texts.empty());
  CHECK(f.app().notice() == "S is computed: change Q or K.");
  f.click(f.at("notice:k"));
  CHECK(f.app().notice().empty());
  const float was = (*f.app().tensor("k"))->at(0, 1, 0);
  f.key(ImGuiKey_UpArrow);
  CHECK((*f.app().tensor("k"))->at(0, 1, 0) == doctest::Approx(was + 0.1f));
  f.click(f.at("head_output", 0, 3, 1));
  for (const ImGuiKey key : {ImGuiKey_Enter, ImGuiKey_F2, ImGuiKey_Delete, ImGuiKey_Backspace}) {
    f.key(key);
    CHECK(f.app().notice() == "O is computed: change V, Q or K.");
    f.frame(0.5f);  // with the click before, one at once would be a double-click
    f.click(f.at("head_output", 0, 3, 1));
    CHECK(f.app().notice().empty());
  }
}

TEST_CASE("editing: a drag on a computed matrix selects, and says so; so does a double-click, and a paste") {
  Fixture f;
  f.drag(f.at("weights", 0, 2, 0), 60, 0);
  CHECK(f.app().notice() == "W is computed: change Q or K.");
  CHECK(f.app().copyCells().find('\t') != std::string::npos);
  REQUIRE_FALSE(f.app().pasteCells("1"));
  CHECK(f.app().notice() == "W is computed: change Q or K.");
  REQUIRE(f.app().set("mode", "\"x\""));
  f.settle();
  f.drag(f.at("q", 0, 1, 1), 0, 40);
  CHECK(f.app().notice() == "Q is computed: change X or W_Q.");
  f.click(f.at("notice:w_q"));
  f.key(ImGuiKey_Enter);
  REQUIRE_FALSE(f.host.texts.empty());
  CHECK(f.host.texts.back().name.starts_with("w_q"));
}

TEST_CASE("editing: links name only what can be changed on this page") {
  Fixture f;
  f.app().setEmbed({"", "q"});
  f.settle();
  f.drag(f.at("q", 0, 1, 1), 40, 0);
  CHECK(f.app().notice() == "This page has locked Q.");
  f.drag(f.at("scores", 0, 1, 1), 40, 0);
  CHECK(f.app().notice() == "S is computed: change K.");
  f.app().setEmbed({"", "q,k"});
  f.drag(f.at("scores", 0, 1, 1), 40, 0);
  CHECK(f.app().notice() == "S is computed, and nothing that it is computed from can be changed here.");
}

TEST_CASE("editing: a masked cell has a score behind it") {
  Fixture f;
  f.drag(f.at("weights", 0, 0, 3), 0, 40);
  CHECK(f.app().notice() == "W is computed: change Q or K.");
}

// ---- single keys

TEST_CASE("editing: letters say what they did") {
  Fixture f;
  const std::pair<char, const char*> said[] = {
      {'c', "Causal mask off. Press c again to switch it on."},
      {'c', "Causal mask on. Press c again to switch it off."},
      {'d', "Division by √d_k off. Press d again to switch it on."},
      {'t', "5 tokens. Press T to go back."},
      {'T', "4 tokens. Press t to go back."},
      {'h', "3 heads share the width of 6: d_k is 2 now. Press H to go back."},
      {'n', "Head 2 of 3."},
      {'[', "Temperature 0.80. Press ] to go back."},
      {'m', "The input is X with its projections. Press m again for Q, K and V."},
      {'w', "W: row 1, column 1 is selected."},
      {'p', "Painting: a click or drag on S or W hides cells. Press p again to stop."},
      {'p', "Painting ended."},
      {'r', "Back at the start. Ctrl+Z undoes this."}};
  for (const auto& [letter, words] : said) {
    CAPTURE(letter);
    f.type(letter);
    CHECK(f.app().notice() == words);
  }
  f.app().setEmbed({"", "causal"});
  f.type('c');
  CHECK(f.app().notice() == "This page has locked causal.");
}

TEST_CASE("editing: a minus sign begins a number as a hyphen does") {
  Fixture f;
  f.click(f.at("q", 0, 1, 1));
  f.io().AddInputCharacter(0x2212);
  f.settle();
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts.back().text == "-");
  f.app().endText(app::TextEnd::commit, "\u22120.5");
  f.settle();
  CHECK(f.q(1, 1) == -0.5f);
}

TEST_CASE("editing: a word that finds no field is no row of commands") {
  Fixture f;
  const std::string before = f.app().state();
  f.click(f.at("q", 0, 0, 0));
  for (const char* word : {"cat", "abc", "the", "moth"}) {
    burst(f, word);
    CHECK(f.app().state() == before);
  }
  for (int i = 0; i < 60; ++i) f.frame();  // waits for the end of the burst
  for (const char c : std::string("jam")) f.type(c);
  CHECK(f.app().state() == before);
  for (int i = 0; i < 60; ++i) f.frame();
  f.type('c');
  CHECK(f.option("causal") == "false");
}

TEST_CASE("editing: letters after a refused attempt to type are text") {
  Fixture f;
  const std::string before = f.app().state();
  f.click(f.at("scores", 0, 2, 1));
  f.key(ImGuiKey_Enter);
  for (const char c : std::string("cth")) f.type(c);
  CHECK(f.app().state() == before);
}

TEST_CASE("editing: a number that comes in one frame is whole in its field") {
  Fixture f;
  f.click(f.at("q", 0, 0, 0));
  burst(f, "-3.25");
  REQUIRE(f.host.texts.size() == 1);
  CHECK(f.host.texts[0].text == "-3.25");
  CHECK_FALSE(f.host.texts[0].selectAll);
}
