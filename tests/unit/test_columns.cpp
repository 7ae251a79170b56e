// The columns of Q and K: their names, and the layout with tokens as columns.
#include "app_fixture.h"
#include "document_support.h"
#include "painted.h"

#include "views/board/layout.h"

namespace {

using document::Document;
using document::OptionId;
using document::Value;
using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("columns: names are set as a list or between commas, undone, and kept in the text") {
  Document d(test::start());
  REQUIRE(d.apply(document::SetOption{OptionId::column_names, std::string("noun, , first person ,")}));
  CHECK(d.state().columnNames == Names{"noun", "", "first person"});
  CHECK(document::columnName(d.state(), 0, 2) == "first person");
  CHECK(document::columnName(d.state(), 0, 1).empty());
  const auto again = document::fromText(document::toText(d.state()), {});
  REQUIRE(again);
  CHECK(again->columnNames == d.state().columnNames);
  REQUIRE(d.apply(document::SetOption{OptionId::column_names, Names{"a"}}));
  CHECK(d.undo());
  CHECK(d.state().columnNames == Names{"noun", "", "first person"});
  CHECK(d.undo());
  CHECK(d.state().columnNames.empty());
  CHECK(document::toText(d.state()).find("column_names") == std::string::npos);
}

TEST_CASE("columns: what is no name is refused by its field, and nothing changes") {
  Document d(test::start());
  const auto sentence = [&](Value value) {
    const auto done = d.apply(document::SetOption{OptionId::column_names, std::move(value)});
    return done ? std::string("accepted") : done.error().message();
  };
  CHECK(sentence(3.0) == "column_names: 3 is not a list of texts; use one, or [] for none.");
  CHECK(sentence(std::vector<int>{1, 2}) ==
        "column_names: a list of numbers is not a list of texts; use one, or [] for none.");
  CHECK(sentence(Names(4097, "x")) == "column_names: there are 4097; use at most 4096.");
  CHECK(sentence(Names{"a", "b\nc"}).find("column_names[1]: ") == 0);
  CHECK(sentence(Names{std::string(65, 'x')}).find("is 65 bytes long") != std::string::npos);
  CHECK(d.state().columnNames.empty());
  CHECK(sentence(std::vector<int>{}) == "accepted");
}

TEST_CASE("columns: names stay with their columns where d_k or the heads change") {
  Document d(test::start());
  REQUIRE(d.apply(document::SetOption{OptionId::heads, 1.0}));
  const int width = d.state().headDim;
  REQUIRE(width % 2 == 0);
  Names names;
  for (int c = 0; c < width; ++c) names.push_back("c" + std::to_string(c));
  REQUIRE(d.apply(document::SetOption{OptionId::column_names, names}));
  REQUIRE(d.apply(document::SetOption{OptionId::heads, 2.0}));
  CHECK(document::columnName(d.state(), 1, 0) == "c" + std::to_string(width / 2));
  REQUIRE(d.apply(document::SetOption{OptionId::d_k, width / 2 + 2.0}));
  CHECK(document::columnName(d.state(), 1, 0) == "c" + std::to_string(width / 2));
  CHECK(document::columnName(d.state(), 0, width / 2).empty());
  CHECK(d.undo());
  CHECK(d.state().columnNames == names);
}

TEST_CASE("columns: a heading is named by a double-click, above Q and beside Kᵀ, and both show it") {
  Fixture f;
  for (const char* place : {"q", "k"}) {
    CAPTURE(place);
    app::Rect at = f.at(place, 0, 0, 1);
    if (*place == 'q') at.y -= at.height / 2 + 12;
    else at.x -= at.width / 2 + 20;
    f.click(at);
    f.button(true), f.button(false);
    REQUIRE(!f.host.texts.empty());
    CHECK(f.host.texts.back().name == "Name of column 2");
    f.app().endText(app::TextEnd::commit, std::string("noun ") + place);
    CHECK(f.option("column_names") == std::string("[\"\", \"noun ") + place + "\"]");
    f.settle();
    for (const char* tensor : {"column:q:1", "column:k:1"}) CHECK(f.at(tensor).width > 0);
    f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
    CHECK(f.option("column_names") == "[]");
    f.host.texts.clear();
  }
}

TEST_CASE(
    "columns: what makes Q and K has their names too, of one head or of all, and they are given there") {
  Fixture f;
  REQUIRE(f.app().set("mode", "\"x\""));
  REQUIRE(f.app().set("kv_heads", "1"));
  REQUIRE(f.app().set("column_names",
                      "[\"\", \"noun\", \"\", \"verb\"]"));  // "verb" is a column of the second head
  const auto has = [&](const char* place) { return static_cast<bool>(f.app().locate(place, 0, 0, 0)); };
  for (const char* layout : {"false", "true"}) {
    CAPTURE(layout);
    REQUIRE(f.app().set("column_layout", layout));
    REQUIRE(f.app().set("whole_projections", "false"));
    f.settle();
    for (const char* place : {"column:q:1", "column:k:1", "column:w_q:1", "column:w_k:1"})
      CHECK(f.at(place).width > 0);
    CHECK(!has("column:w_v:1"));
    CHECK(!has("column:w_q:0"));
    REQUIRE(f.app().set("whole_projections", "true"));
    f.settle();
    CHECK(f.at("column:w_q:1").width > 0);
    CHECK(f.at("column:w_q:3").width > 0);
    CHECK(f.at("column:w_k:1").width > 0);
  }
  REQUIRE(f.app().set("column_layout", "false"));
  app::Rect at = f.at("w_q", 0, 0, 3);
  at.y -= at.height / 2 + 12;
  f.click(at);
  f.button(true), f.button(false);
  REQUIRE(!f.host.texts.empty());
  f.app().endText(app::TextEnd::commit, "adverb");
  CHECK(f.option("column_names") == "[\"\", \"noun\", \"\", \"adverb\"]");
}

TEST_CASE("columns: names stand clear of titles and other matrices, in both layouts and at all sizes") {
  for (const auto& [width, height] :
       {std::pair{1440.0f, 900.0f}, {1100.0f, 700.0f}, {640.0f, 440.0f}, {390.0f, 844.0f}}) {
    Fixture f(width, height);
    REQUIRE(f.app().set("mode", "\"x\""));
    REQUIRE(f.app().set("column_names", "[\"first person\", \"noun\", \"past participle\"]"));
    for (const char* layout : {"false", "true"}) {
      REQUIRE(f.app().set("column_layout", layout));
      for (const char* whole : {"false", "true"}) {
        REQUIRE(f.app().set("whole_projections", whole));
        for (const char* tensor : {"w_q", "w_k"}) {
          const app::Rect title = f.at(tensor, 0, 0, 0),
                          above = f.at((std::string("title:") + tensor).c_str());  // scrolls it into view
          CHECK(above.y >= 44);
          CHECK(above.y + above.height <= title.y);
          for (int i = 0; i < 3; ++i) {
            const std::string place = std::string("column:") + tensor + ":" + std::to_string(i);
            CAPTURE(place);
            CAPTURE(width);
            CAPTURE(layout);
            const app::Rect name = f.at(place.c_str()), head = f.at((std::string("title:") + tensor).c_str());
            const bool apart = name.y >= head.y + head.height - 2 || name.x + name.width <= head.x + 1 ||
                               name.x >= head.x + head.width - 1;
            CHECK(apart);
            for (const char* other : {"matrix:x", "matrix:w_q", "matrix:w_k", "matrix:k", "matrix:q"}) {
              const auto there = f.app().locate(other, 0, 0, 0);
              if (!there) continue;
              const bool clear =
                  name.x + name.width <= there->x + 1 || name.x >= there->x + there->width - 1 ||
                  name.y + name.height <= there->y + 1 || name.y >= there->y + there->height - 1;
              CHECK_MESSAGE(clear, other);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("columns: biases have the names of what they are added to, of all heads; turned rows have none") {
  Fixture f;
  for (const auto& [option, value] : {std::pair{"mode", "\"x\""},
                                      {"d_k", "4"},
                                      {"position", "\"rotary\""},
                                      {"projection_bias", "true"},
                                      {"column_names", "[\"\", \"noun\", \"\", \"\", \"\", \"verb\"]"}})
    REQUIRE(f.app().set(option, value));
  for (const char* layout : {"false", "true"}) {
    REQUIRE(f.app().set("column_layout", layout));
    for (const char* place : {"column:b_q:1", "column:b_q:5", "column:b_k:1", "column:b_k:5"}) {
      f.at(std::string_view(place).substr(7, 3), 0, 0, place[11] - '0');  // scrolls it into view
      CHECK_MESSAGE(f.at(place).width > 0, place);
    }
    for (const char* place : {"column:b_v:1", "column:b_q:0", "column:q_rotated:1"})
      CHECK_MESSAGE(!f.app().locate(place, 0, 0, 0), place);
  }
}

TEST_CASE("columns: the matrices of a line begin at one height, whether their columns have names or not") {
  int pairs = 0;
  for (const float width : {1440.0f, 800.0f}) {
    Fixture f(width, 900);
    for (const auto& [option, value] : {std::pair{"mode", "\"x\""}, {"column_names", "[\"noun\"]"}})
      REQUIRE(f.app().set(option, value));
    for (const char* layout : {"false", "true"}) {
      REQUIRE(f.app().set("column_layout", layout));
      for (const char* other : {"w_k", "w_v"}) {
        f.at(other);  // scrolls it into view
        const auto first = f.app().locate("w_q", 0, 0, 0), second = f.app().locate(other, 0, 0, 0);
        REQUIRE(first);
        REQUIRE(second);
        if (std::fabs(first->y - second->y) > 60) continue;  // on another line
        CHECK_MESSAGE(first->y == second->y, other);
        ++pairs;
      }
    }
  }
  CHECK(pairs >= 4);
}

TEST_CASE("columns: a page that locks their names keeps them") {
  Fixture f;
  f.app().setEmbed({"", "column_names"});
  f.settle();
  app::Rect at = f.at("q", 0, 0, 0);
  at.y -= at.height / 2 + 12;
  f.click(at);
  f.button(true), f.button(false);
  CHECK(f.host.texts.empty());
}

TEST_CASE("column layout: rows and columns meet where tokens are columns, and no number changes") {
  Fixture f;
  const Tensor before = **f.app().tensor("output");
  REQUIRE(f.app().set("column_layout", "true"));
  f.settle();
  const auto at = [&](const char* tensor, int row, int col) { return f.at(tensor, 0, row, col); };
  CHECK(at("q", 2, 1).x == at("scores", 2, 0).x);             // query 3 is a column
  CHECK(at("k", 1, 0).y == at("scores", 0, 1).y);             // key 2 is a row of Kᵀ
  CHECK(at("weights", 2, 0).x == at("head_output", 2, 0).x);  // the weights are above the output
  CHECK(at("v", 1, 2).y == at("head_output", 0, 2).y);
  CHECK(at("q", 0, 1).y > at("q", 0, 0).y);
  CHECK(at("v", 1, 0).x > at("v", 0, 0).x);
  const Tensor after = **f.app().tensor("output");
  CHECK(document::sameBits(before, after));
}

TEST_CASE("column layout: cells are dragged, typed, walked and painted where they are drawn") {
  Fixture f;
  REQUIRE(f.app().set("column_layout", "true"));
  f.settle();
  const float before = f.q(3, 2);
  f.drag(f.at("q", 0, 3, 2), 40, 0);
  CHECK(f.q(3, 2) == doctest::Approx(before + 0.4f));
  f.checkWeights();
  f.click(f.at("q", 0, 3, 2));
  f.key(ImGuiKey_LeftArrow);
  CHECK(f.app().explained().tensor !=
        attention::TensorId::q);  // the selection moved to query 3, which is an input and has no explanation
  f.type('5');
  REQUIRE(!f.host.texts.empty());
  f.app().endText(app::TextEnd::commit, "0.75");
  CHECK(f.q(2, 2) == 0.75f);
  f.checkWeights();
  f.click(f.at("weights", 0, 3, 1));
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 1});
  f.key(ImGuiKey_DownArrow);
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 2});
}

TEST_CASE(
    "column layout: what was a row is called a column, in the arithmetic, beside its bars and below the "
    "matrices") {
  Fixture f;
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(-1000, -1000);
  const auto said = [&](std::string_view words) {
    const test::Painted painted;
    for (const test::Words& w : painted.words())
      if (w.text.find(words) != std::string::npos) return true;
    return false;
  };
  CHECK(said("row"));
  REQUIRE(f.app().set("column_layout", "true"));
  f.at("inspector");
  for (const char* step : {"0", "3", "5", "6", "7"}) {
    REQUIRE(f.app().set("stepper", step));
    f.settle();
    CAPTURE(step);
    CHECK(!said("Σ row"));
    CHECK(!said("of row"));
    CHECK(!said("row 4"));
  }
  CHECK(said("Σ column"));
}

TEST_CASE("column layout: the legend of weights is in the corner that the causal mask leaves empty") {
  for (const bool columns : {false, true}) {
    CAPTURE(columns);
    Fixture f(1440, 900);
    REQUIRE(f.app().set("tokens", "200"));
    REQUIRE(f.app().set("column_layout", columns ? "true" : "false"));
    f.settle();
    const app::Rect first = f.at("weights", 0, 0, 0), last = f.at("weights", 0, 199, 199),
                    legend = f.at("weight-legend");
    const float side = last.x + last.width - first.x;
    for (const bool right : {false, true}) {
      for (const bool below : {false, true}) {
        const float x = legend.x + (right ? legend.width : 0) - first.x,
                    y = legend.y + (below ? legend.height : 0) - first.y;
        CHECK(x > 0);
        CHECK(y > 0);
        CHECK(std::max(x, y) < side);
        CHECK((columns ? y > x : x > y));  // keys beyond the query: to the right of the diagonal, or below it
      }
    }
  }
}

TEST_CASE("column layout: the legend of weights stands clear of the outline around the row in focus") {
  for (const bool columns : {false, true}) {
    CAPTURE(columns);
    Fixture f(1440, 900);
    REQUIRE(f.app().set("tokens", "64"));
    REQUIRE(f.app().set("column_layout", columns ? "true" : "false"));
    f.settle();
    for (const int row : {3, 20}) {
      CAPTURE(row);
      f.click(f.at("weights", 0, row, 2));
      f.moveTo(-1000, -1000);
      f.settle();
      const app::Rect cell = f.at("weights", 0, row, 2), legend = f.at("weight-legend");
      if (columns) CHECK((cell.x + cell.width < legend.x || cell.x > legend.x + legend.width));
      else CHECK((cell.y + cell.height < legend.y || cell.y > legend.y + legend.height));
    }
  }
}

TEST_CASE("column layout: undo leaves it alone, as all of how things are shown") {
  Fixture f;
  f.drag(f.at("q", 0, 0, 0), 30, 0);
  REQUIRE(f.app().set("column_layout", "true"));
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK(f.option("column_layout") == "true");
}

TEST_CASE(
    "bars: one is chosen by a press and dragged by the next, as its weight is; undo takes it back at once") {
  Fixture f;
  REQUIRE(f.app().set("card", "\"loops\""));
  f.click(f.at("weights", 0, 3, 2));
  f.moveTo(-1000, -1000);
  f.click(f.at("bar:3:0"));
  CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
  const float before = (*f.app().tensor("weights"))->at(0, 3, 0);
  const Tensor q = **f.app().tensor("q");
  app::Rect elsewhere = f.at("bar:3:0");  // at the same place it would be a double-click
  elsewhere.x += 30;
  f.drag(elsewhere, 20, 0);
  CHECK((*f.app().tensor("weights"))->at(0, 3, 0) == doctest::Approx(before + 0.1f).epsilon(0.03));
  f.checkWeights();
  f.key(ImGuiKey_Z, {ImGuiMod_Ctrl});
  CHECK(document::sameBits(q, **f.app().tensor("q")));
}

TEST_CASE(
    "bars: those beside the matrices of a small board are dragged to the right, and by a finger after a "
    "tap") {
  for (const bool touch : {false, true}) {
    CAPTURE(touch);
    Fixture f(640, 440);
    const auto press = [&](const app::Rect& r) { touch ? f.tap(r) : f.click(r); };
    const auto drag = [&](const app::Rect& r) {
      if (!touch) return f.drag(r, 20, 0);
      f.press(r);
      f.swipe(20, 0);
      f.lift();
    };
    press(f.at("weights", 0, 3, 2));
    f.moveTo(-1000, -1000);
    const float before = (*f.app().tensor("weights"))->at(0, 3, 0);
    if (touch) drag(f.at("bar:3:0:brief"));  // not tapped yet
    CHECK((*f.app().tensor("weights"))->at(0, 3, 0) == before);
    press(f.at("bar:3:0:brief"));
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 3, 0});
    if (touch) drag(f.at("bar:3:1:brief"));
    CHECK((*f.app().tensor("weights"))->at(0, 3, 0) == before);
    app::Rect bar = f.at("bar:3:0:brief");
    bar.x += 30;  // at the same place it would be a double-click
    drag(bar);
    CHECK((*f.app().tensor("weights"))->at(0, 3, 0) == doctest::Approx(before + 0.1f).epsilon(0.03));
    f.checkWeights();
  }
}

TEST_CASE(
    "bars: of many keys there is none to press, and a press on the name of the chosen one is harmless") {
  int seen = 0;  // where the bars are below the terms, and not beside them
  for (const auto& [width, height] :
       {std::pair{1270.0f, 1000.0f}, {1150.0f, 900.0f}, {1024.0f, 768.0f}, {820.0f, 1180.0f}}) {
    CAPTURE(width);
    Fixture f(width, height);
    REQUIRE(f.app().set("tokens", "80"));
    f.settle();
    REQUIRE(f.app().set("view", "\"layer\""));
    f.click(f.at("weights", 0, 40, 2));
    f.moveTo(-1000, -1000);
    if (!f.app().locate("bar:chosen", 0, 0, 0)) continue;
    ++seen;
    f.click(f.at("bar:chosen"));
    CHECK(f.app().explained() == attention::CellRef{attention::TensorId::weights, 0, 40, 2});
  }
  CHECK(seen > 0);
}
