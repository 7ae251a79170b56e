// The inputs that would raise the selected value, on the board: the switch, the list with its buttons, the
// triangles.
#include "app_fixture.h"

#include <numeric>

#include "painted.h"

namespace {

using test::Painted;

struct Board : Fixture {
  using Fixture::Fixture;
  /// The text in an area.
  std::string words(std::string_view place) { return Painted().in(at(place)); }
  bool isThere(std::string_view place) {
    settle();
    return app().items().find("\"" + std::string(place) + "\"") != std::string::npos;
  }
  float value(std::string_view tensor, int row, int col) { return (*app().tensor(tensor))->at(0, row, col); }
  /// W[row, col] of the plain layer by the definition, with one cell of Q or K changed by `by`.
  double weight(int row, int col, std::string_view moved = "", int movedRow = 0, int movedCol = 0,
                double by = 0) {
    const Tensor &q = **app().tensor("q"), &k = **app().tensor("k");
    const auto number = [&](std::string_view name, const Tensor& t, int r, int c) {
      return double{t.at(0, r, c)} + (name == moved && r == movedRow && c == movedCol ? by : 0.0);
    };
    std::vector<double> e;
    for (int j = 0; j <= row; ++j) {
      double s = 0;
      for (int c = 0; c < q.cols(); ++c) s += number("q", q, row, c) * number("k", k, j, c);
      e.push_back(std::exp(s / std::sqrt(q.cols())));
    }
    return e[static_cast<std::size_t>(col)] / std::accumulate(e.begin(), e.end(), 0.0);
  }
};

struct Best {
  std::string tensor;
  int row = 0, col = 0;
  double by = 0, change = 0, slope = 0;
};

/// The cell of Q or K with the largest slope, found by differences, and the effect of a step of 0.10.
Best steepest(Board& f, int row, int col) {
  Best best;
  for (const char* name : {"q", "k"}) {
    const Tensor& t = **f.app().tensor(name);
    for (int r = 0; r < t.rows(); ++r) {
      for (int c = 0; c < t.cols(); ++c) {
        const double slope =
            (f.weight(row, col, name, r, c, 1e-4) - f.weight(row, col, name, r, c, -1e-4)) / 2e-4;
        if (std::fabs(slope) <= std::fabs(best.slope) + 1e-6) continue;
        const double by = slope > 0 ? 0.1 : -0.1;
        best = {name, r, c, by, f.weight(row, col, name, r, c, by) - f.weight(row, col), slope};
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE(
    "raise: the switch of the inspector shows the strongest cells, and a press on Nudge does what it says, "
    "as one step of undo") {
  Board f;
  f.click(f.at("weights", 0, 3, 2));
  CHECK(f.option("gradient") == "false");
  CHECK_FALSE(f.isThere("nudge:1"));
  f.click(f.at("gradient"));
  CHECK(f.option("gradient") == "true");
  CHECK_FALSE(f.app().document().canUndo());  // a switch of the view
  for (const char* name : {"nudge:1", "nudge:5", "nudge:all", "raise-legend"}) CHECK(f.isThere(name));
  const std::string said = f.words("inspector");
  INFO(said);
  CHECK(said.find("W[saw₄, a₃]") != std::string::npos);
  CHECK(f.words("raise-legend").find("raise this cell") != std::string::npos);
  const Best best = steepest(f, 3, 2);
  CHECK(said.find((best.by > 0 ? "+0.10" : "−0.10")) != std::string::npos);
  CHECK(said.find("W +" + attention::formatNumber(best.change, 3)) != std::string::npos);

  const double before = f.weight(3, 2);
  const float cell = f.value(best.tensor, best.row, best.col);
  f.host.events.clear();
  f.click(f.at("nudge:1"));
  CHECK(double{f.value(best.tensor, best.row, best.col)} == doctest::Approx(double{cell} + best.by));
  CHECK(double{f.value("weights", 3, 2)} == doctest::Approx(before + best.change).epsilon(1e-5));
  CHECK(f.host.count(app::Event::Type::change) == 1);
  f.checkWeights();
  CHECK(f.app().undo());
  CHECK(f.value(best.tensor, best.row, best.col) == cell);
  CHECK_FALSE(f.app().document().canUndo());
}

TEST_CASE("raise: Nudge all is one step of 0.10 along the gradient, and one step of undo") {
  Board f;
  f.click(f.at("weights", 0, 3, 2));
  REQUIRE(f.app().set("gradient", "true"));
  f.settle();
  const Tensor q = **f.app().tensor("q"), k = **f.app().tensor("k");
  const double before = double{f.value("weights", 3, 2)};
  f.click(f.at("nudge:all"));
  double length = 0;
  for (const auto& [name, was] : {std::pair<const char*, const Tensor*>{"q", &q}, {"k", &k}}) {
    const Tensor& now = **f.app().tensor(name);
    for (std::size_t i = 0; i < now.size(); ++i)
      length += std::pow(double{now.data()[i]} - double{was->data()[i]}, 2);
  }
  CHECK(std::sqrt(length) == doctest::Approx(0.1).epsilon(1e-4));
  CHECK(double{f.value("weights", 3, 2)} > before);
  f.checkWeights();
  CHECK(f.app().undo());
  CHECK(**f.app().tensor("q") == q);
  CHECK(**f.app().tensor("k") == k);
  CHECK_FALSE(f.app().document().canUndo());
  f.key(ImGuiKey_Escape);
  f.type('U');
  CHECK(f.app().undo());
}

TEST_CASE(
    "raise: u switches it; scores, outputs, means and X·W have it too; what cannot be raised says why") {
  Board f;
  f.type('u');
  CHECK(f.option("gradient") == "true");
  const auto select = [&](const char* name, int row, int col) {
    f.click(f.at(name, 0, row, col));
    f.moveTo(-1000, -1000);
    return f.words("inspector");
  };
  CHECK(select("scores", 3, 1).find("S masked[saw₄, saw₂]") != std::string::npos);
  CHECK(f.isThere("nudge:1"));
  CHECK(select("scores", 0, 3).find("This score is masked: no input reaches it.") != std::string::npos);
  CHECK_FALSE(f.isThere("nudge:1"));
  CHECK(select("weights", 0, 0).find("Only one key is seen in this row") != std::string::npos);
  CHECK(select("head_output", 2, 1).find("V [") != std::string::npos);
  REQUIRE(f.app().set("average_heads", "true"));
  CHECK(select("weights", 3, 1).find("mean W") != std::string::npos);
  CHECK(f.isThere("nudge:5"));
  REQUIRE(f.app().set("average_heads", "false"));
  REQUIRE(f.app().set("normalizer", "\"hardmax\""));
  CHECK(select("weights", 3, 1).find("The hard maximum is a step") != std::string::npos);
  REQUIRE(f.app().set("normalizer", "\"softmax\""));
  REQUIRE(f.app().set("mode", "\"x\""));
  const std::string projected = select("weights", 3, 1);
  CHECK(projected.find("X [") != std::string::npos);
  CHECK(f.isThere("nudge:5"));
  const Tensor x = **f.app().tensor("x"), w = **f.app().tensor("w_q");
  f.click(f.at("nudge:all"));
  CHECK_FALSE(**f.app().tensor("x") == x);
  CHECK_FALSE(**f.app().tensor("w_q") == w);
  f.type('u');
  CHECK(f.option("gradient") == "false");
  CHECK_FALSE(f.isThere("nudge:all"));
}

TEST_CASE("raise: it follows a drag, keeps a locked tensor, and has room on a phone") {
  Board f(390, 844);
  REQUIRE(f.app().set("gradient", "true"));
  f.click(f.at("weights", 0, 3, 2));
  const std::string before = f.words("inspector");
  f.drag(f.at("q", 0, 3, 0), 60, 0);
  CHECK(f.words("inspector") != before);
  app::Embed embed;
  embed.lock = "q";
  f.app().setEmbed(embed);
  const Tensor q = **f.app().tensor("q"), k = **f.app().tensor("k");
  f.settle();
  CHECK(f.words("inspector").find("This is an input that the page has locked") != std::string::npos);
  f.click(f.at("weights", 0, 3, 2));
  f.click(f.at("nudge:all"));
  CHECK(**f.app().tensor("q") == q);
  CHECK_FALSE(**f.app().tensor("k") == k);
  embed.lock = "q,k,v";
  f.app().setEmbed(embed);
  f.settle();
  CHECK(f.words("inspector").find("This page has locked every input.") != std::string::npos);
}
