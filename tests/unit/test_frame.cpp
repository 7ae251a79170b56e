// One frame: input is applied before the frame is drawn, and page scripts are notified.
#include "app_fixture.h"
#include "attention/layer/explain.h"
#include "base/number.h"
#include "painted.h"

#include <numeric>

namespace {

using app::Event;

/// Checks that the numbers the last frame drew in row 3 of a matrix are those of its tensor.
void checkRowIsDrawn(Fixture& f, const char* name) {
  const test::Painted painted;
  const Tensor& t = **f.app().tensor(name);
  for (int col = 0; col < t.cols(); ++col) {
    CAPTURE(std::string(name));
    CAPTURE(col);
    const auto cell = f.app().locate(name, 0, 3, col);
    REQUIRE(cell);
    // Masked weights are drawn without a number.
    const bool isMasked =
        std::string_view(name) == "weights" && std::isinf((*f.app().tensor("masked"))->at(0, 3, col));
    CHECK(painted.in(*cell) == (isMasked ? ""
                                         : attention::formatNumber(static_cast<double>(t.at(0, 3, col)),
                                                                   f.app().document().state().decimals)));
  }
}

/// The detail of the last event, which must have this type.
std::string last(const Fixture& f, Event::Type type) {
  for (auto e = f.host.events.rbegin(); e != f.host.events.rend(); ++e) {
    if (e->type == Event::Type::select) continue;
    CHECK(e->type == type);
    return e->detail;
  }
  return "";
}

}  // namespace

TEST_CASE(
    "frame: a drag shows in the frame that takes its move, in the cell and in all that follows from it") {
  Fixture f;
  const app::Rect at = f.at("q", 0, 3, 2);
  const float x = at.x + at.width / 2, y = at.y + at.height / 2;
  f.moveTo(x, y);
  f.button(true);
  for (int i = 1; i <= 5; ++i) {
    const float before = f.q(3, 2);
    f.io().AddMousePosEvent(x + 20 * static_cast<float>(i), y);
    f.frame();
    CHECK(f.q(3, 2) != before);
    for (const char* name : {"q", "weights", "head_output"}) checkRowIsDrawn(f, name);
  }
}

TEST_CASE("frame: a last move that comes in one frame with the release counts") {
  Fixture f;
  const app::Rect at = f.at("q", 0, 3, 2);
  const float x = at.x + at.width / 2, y = at.y + at.height / 2, before = f.q(3, 2);
  f.moveTo(x, y);
  f.button(true);
  f.moveTo(x + 10, y);
  f.io().AddMousePosEvent(x + 40, y);
  f.io().AddMouseButtonEvent(0, false);
  f.frame();
  CHECK(f.q(3, 2) == doctest::Approx(before + 0.4f));
  checkRowIsDrawn(f, "weights");
  CHECK(f.host.count(Event::Type::change) == 1);
}

TEST_CASE("frame: what a control sets shows in the same frame, the control itself included") {
  Fixture f;
  f.moveTo(f.at("causal"));
  f.button(true);
  const std::string before = f.option("causal");
  f.io().AddMouseButtonEvent(0, false);
  f.frame();
  CHECK(f.option("causal") != before);
  checkRowIsDrawn(f, "weights");
  const app::Rect undo = *f.app().locate("undo", 0, 0, 0);
  const auto icon = test::Painted().extent(views::palette(false).text,
                                           {undo.x, undo.y, undo.x + undo.width, undo.y + undo.height});
  CHECK(icon.right > icon.left);  // visible, as there is something to undo
}

TEST_CASE("frame: a key changes sizes, layout and pictures of the frame that takes it") {
  Fixture f;
  const int tokens = f.app().document().state().tokens;
  f.io().AddInputCharacter('t');
  f.frame();
  CHECK(f.app().document().state().tokens == tokens + 1);
  CHECK(f.app().items().find("\"label:left:" + std::to_string(tokens) + '"') != std::string::npos);
  CHECK(test::Painted().find(std::to_string(tokens + 1) + " tokens.") !=
        nullptr);  // the message at the bottom
  for (const char* name : {"q", "weights"}) checkRowIsDrawn(f, name);
}

TEST_CASE("frame: all of the board scrolls in the frame that takes the wheel") {
  Fixture f(1200, 420);
  f.app().set("heads", "2");
  f.settle();
  const auto places = [&f] {
    return std::pair{f.app().locate("head:0", 0, 0, 0)->y, f.app().locate("matrix:weights", 0, 0, 0)->y};
  };
  const app::Rect board = *f.app().locate("matrix:weights", 0, 0, 0);
  f.moveTo(board.x - 6, 200);
  const auto before = places();
  f.io().AddMouseWheelEvent(0, -1);
  f.frame();
  const auto after = places();
  CHECK(after.second < before.second);
  CHECK(after.first - before.first == after.second - before.second);
}

TEST_CASE("frame: files and dialogs wait until the frame is drawn") {
  Fixture f;
  f.io().AddKeyEvent(ImGuiMod_Ctrl, true);
  f.io().AddKeyEvent(ImGuiKey_S, true);
  test::build(f.app());
  CHECK(f.host.saved.empty());
  f.app().carryOut();
  CHECK(f.host.saved.find("\"version\"") != std::string::npos);
}

TEST_CASE("frame: a large layer shows some rows of the head in focus first, and all as they are computed") {
  const auto pictures = [](int cells) {  // of matrices with so many rows and columns
    int count = 0;
    for (const ImDrawList* list : ImGui::GetDrawData()->CmdLists) {
      for (const ImDrawCmd& command : list->CmdBuffer) {
        draw::Values values;
        draw::Heatmap look;
        count +=
            draw::Heatmaps::queued(command, values, look) && values.rows == cells && values.cols == cells;
      }
    }
    return count;
  };
  Fixture f;
  REQUIRE(f.app().set("mode", "\"qkv\""));
  REQUIRE(f.app().set("heads", "3"));
  REQUIRE(f.app().set("focus_head", "2"));
  f.settle();
  REQUIRE(f.app().set("tokens", "600"));
  f.frame();
  constexpr int kBlocks = 38;
  CHECK(pictures(600) == 1);      // the mask
  CHECK(pictures(kBlocks) == 3);  // of one query in 16: weights, the thumbnail of the head, and of the mean
  CHECK(f.app().wantsFrame());
  f.settle();
  CHECK(pictures(600) == 7);  // scores, weights, those of all heads, and of their mean
  CHECK(pictures(kBlocks) == 0);
  REQUIRE(f.app().set("average_heads", "true"));
  REQUIRE(f.app().set("tokens", "599"));
  REQUIRE(f.app().set("tokens", "600"));
  f.frame();
  CHECK(pictures(600) == 1);
  CHECK(pictures(kBlocks) == 3);
  f.settle();
  CHECK(pictures(600) == 7);
  REQUIRE(f.app().set("average_heads", "false"));
  REQUIRE(f.app().set("tokens", "599"));
  const Tensor& weights = **f.app().tensor("weights");  // what scripts read is whole
  for (int h = 0; h < 3; ++h)
    CHECK(std::accumulate(weights.row(h, 598), weights.row(h, 598) + 599, 0.0f) == doctest::Approx(1));
}

TEST_CASE("events: a change says who made it, what was edited, and the value before and after") {
  Fixture f;
  REQUIRE(f.app().set("causal", "false"));
  REQUIRE(f.app().set("causal", "true"));
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"script","name":"causal","option":"causal","before":false,"after":true})");
  REQUIRE(f.app().set("temperature", "0.5"));
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"script","name":"temperature","option":"temperature","before":1,"after":0.5})");
  const std::vector<float> zeros((*f.app().tensor("q"))->size());
  const Tensor& q = **f.app().tensor("q");
  REQUIRE(f.app().setTensor("q", zeros, std::vector<int>{q.heads(), q.rows(), q.cols()}));
  CHECK(last(f, Event::Type::change) == R"({"source":"script","name":"q"})");

  f.click(f.at("causal"));
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"user","name":"causal","option":"causal","before":true,"after":false})");
  f.click(f.at("q", 0, 1, 2));
  f.key(ImGuiKey_Enter);
  f.app().endText(app::TextEnd::commit, "0.7");
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"user","name":"q","head":0,"row":1,"col":2,"before":0,"after":0.7})");
  f.key(ImGuiKey_Delete);
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"user","name":"q","head":0,"row":1,"col":2,"before":0.7,"after":0})");
}

TEST_CASE("events: a drag says each value as input, and one change from where it began to where it ended") {
  Fixture f;
  const std::string place = R"({"source":"user","name":"q","head":0,"row":3,"col":2,)";
  const auto number = [&f] { return base::shortest(f.q(3, 2)); };
  const std::string began = number();
  f.drag(f.at("q", 0, 3, 2), 40, 0);
  std::vector<std::string> inputs;
  for (const Event& e : f.host.events) {
    if (e.type == Event::Type::input) inputs.push_back(e.detail);
  }
  REQUIRE(inputs.size() >= 2);
  CHECK(inputs.front().rfind(place + "\"before\":" + began + ',', 0) == 0);
  CHECK(inputs.back().find("\"after\":" + number() + '}') != std::string::npos);
  CHECK(f.host.count(Event::Type::change) == 1);
  CHECK(last(f, Event::Type::change) == place + "\"before\":" + began + ",\"after\":" + number() + '}');
}

TEST_CASE("events: painted cells, names and blocks say their place") {
  Fixture f;
  f.click(f.at("weights", 0, 1, 0));
  f.key(ImGuiKey_Space);
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"user","name":"mask","row":1,"col":0,"before":false,"after":true})");
  f.click(f.at("q", 0, 0, 0));
  REQUIRE(f.app().pasteCells("1\t2\n3\t4"));
  CHECK(last(f, Event::Type::change) ==
        R"({"source":"user","name":"q","head":0,"row":0,"col":0,"rows":2,"cols":2})");
}

TEST_CASE("events: undo, redo, reset and what is opened say so") {
  Fixture f;
  REQUIRE(f.app().set("temperature", "2"));
  const auto said = [&f] { return last(f, Event::Type::change); };
  f.app().undo();
  CHECK(said() == R"({"source":"script","action":"undo"})");
  f.app().redo();
  CHECK(said() == R"({"source":"script","action":"redo"})");
  f.app().reset();
  CHECK(said() == R"({"source":"script","action":"reset"})");
  REQUIRE(f.app().openPreset("uniform", true));
  CHECK(said() == R"({"source":"script","action":"open"})");
  REQUIRE(f.app().openText(f.app().state(), "dropped.json"));
  CHECK(said() == R"({"source":"user","action":"open"})");
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK(said() == R"({"source":"user","action":"undo"})");
}
