// The steps of a row from its scores to the output: they follow from the options, and every number that a
// step shows is that of the tensor.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "attention/layer/row_steps.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;
using Step = RowStep;

namespace {

const std::vector<std::string> kNoLabels;

struct Stepped {
  explicit Stepped(Layer theLayer) : layer(std::move(theLayer)), in(layer.inputs()) {
    const auto valid = validate(layer.spec, in);
    REQUIRE_MESSAGE(valid, (valid ? "" : valid.error().message()));
    forward(layer.spec, in, trace);
  }
  std::vector<Step> steps(bool cached = false) const { return stepsOf(layer.spec, in, cached); }
  std::string names(bool cached = false) const {
    std::string all;
    for (const Step s : steps(cached)) all += (all.empty() ? "" : ", ") + nameOf(s, layer.spec, in);
    return all;
  }
  std::vector<Term> lines(Step step, StepPlace at, int decimals = 6) const {
    return linesOf(step, {layer.spec, in, trace}, at, kNoLabels, decimals);
  }
  double at(CellRef c) const { return double{find(in, trace, c.tensor)->at(c.head, c.row, c.col)}; }

  Layer layer;
  Inputs in;
  Trace trace;
};

double numberAt(const std::string& text, std::size_t at) {
  std::string plain;
  if (text.compare(at, 3, "−") == 0) plain = "-", at += 3;
  if (text.compare(at, 3, "∞") == 0) return plain.empty() ? HUGE_VAL : -HUGE_VAL;
  for (; at < text.size() && (std::isdigit(static_cast<unsigned char>(text[at])) || text[at] == '.'); ++at)
    plain += text[at];
  return std::atof(plain.c_str());
}

/// Checks that every number marked as a cell's has that cell's value; returns how many there were.
int checkMarks(const Stepped& w, const Term& line) {
  CAPTURE(line.label);
  CAPTURE(line.text.english());
  int count = 0;
  std::size_t cell = 0;
  for (std::size_t i = 0; i < line.text.english().size(); ++i) {
    if (line.text.english()[i] == mark::kCell) {
      REQUIRE(cell < line.cells.size());
      const double shown = numberAt(line.text.english(), i + 1), value = w.at(line.cells[cell]);
      if (std::isinf(value)) CHECK(shown == value);
      else CHECK(shown == doctest::Approx(value).epsilon(1e-5).scale(1));
      ++count;
    }
    cell += line.text.english()[i] == mark::kCell || line.text.english()[i] == mark::kMade;
  }
  return count;
}

/// The number after the last " = " of a line, or else after its last ", so ".
double result(const std::string& text) {
  const std::size_t equals = text.rfind(" = "), so = text.rfind(", so ");
  REQUIRE((equals != std::string::npos || so != std::string::npos));
  std::size_t at = equals != std::string::npos ? equals + 3 : so + 5;
  while (at < text.size() && static_cast<unsigned char>(text[at]) < ' ') ++at;
  return numberAt(text, at);
}

void checkSteps(const Stepped& w) {
  CAPTURE(w.names());
  const Spec& s = w.layer.spec;
  const std::vector<Step> steps = w.steps(s.causal);
  REQUIRE(std::is_sorted(steps.begin(), steps.end()));
  REQUIRE(steps.back() == Step::output);
  int marks = 0;
  for (int h = 0; h < s.heads; ++h) {
    for (int i = 0; i < s.queryCount; ++i) {
      for (int j = 0; j < s.keyCount; ++j) {
        const StepPlace at{h, i, j, 0};
        for (const Step step : steps) {
          const std::vector<Term> lines = w.lines(step, at);
          REQUIRE(!lines.empty());
          for (const Term& line : lines) {
            marks += checkMarks(w, line);
            CHECK(line.step == step);
            CHECK(line.text.english().find("×−") == std::string::npos);
            CHECK(line.text.english().find("-") == std::string::npos);
          }
          const auto comes = [&](TensorId id, int row, int col) {
            const double value = w.at({id, h, row, col}), shown = result(lines.back().text.english());
            CAPTURE(lines.back().text.english());
            if (std::isinf(value)) CHECK(lines.back().text.english().find("−∞") != std::string::npos);
            else CHECK(shown == doctest::Approx(value).epsilon(2e-5).scale(1));
          };
          const bool isHidden = lines.back().cells.empty() || std::isinf(w.at({TensorId::masked, h, i, j}));
          switch (step) {
            case Step::raw: comes(TensorId::raw, i, j); break;
            case Step::scaled: comes(TensorId::scores, i, j); break;
            case Step::capped: comes(TensorId::softcapped, i, j); break;
            case Step::biased: comes(TensorId::biased, i, j); break;
            case Step::maximum:
              if (!lines.back().cells.empty() && isSoftmax(s)) comes(TensorId::row_max, i, 0);
              break;
            case Step::exponentials:
              if (!isHidden) comes(TensorId::exponentials, i, j);
              break;
            case Step::sum:
              if (!lines.back().cells.empty()) comes(TensorId::row_sum, i, 0);
              break;
            case Step::weights:
              if (!isHidden && !s.maskAfterSoftmax) comes(TensorId::weights, i, j);
              break;
            default: break;
          }
        }
      }
    }
  }
  CHECK(marks > 0);
}

}  // namespace

TEST_CASE("stepper: the steps of every mechanism, by their names") {
  Random random(3);
  Layer layer = test::direct(test::shape(2, 1, 4, 4, 4, 3), random);
  const auto names = [&](auto change, bool cached = false) {
    Layer other = layer;
    change(other);
    return Stepped(other).names(cached);
  };
  const std::string tail = "max, exp, Σ, weights, × V, output";
  CHECK(names([](Layer& l) { l.spec.causal = true; }) == "q·k, ÷ √d_k, mask, " + tail);
  CHECK(names([](Layer&) {}) == "q·k, ÷ √d_k, " + tail);
  CHECK(names([](Layer& l) { l.spec.causal = true; }, true) == "cache, q·k, ÷ √d_k, mask, " + tail);
  CHECK(names([](Layer& l) { l.spec.score = Score::dot; }) == "q·k, " + tail);
  CHECK(names([](Layer& l) { l.spec.scale = 0.5f; }) == "q·k, × scale, " + tail);
  CHECK(names([](Layer& l) { l.spec.score = Score::cosine; }) == "q·k, |q|, |k|, ÷ |q||k|, " + tail);
  CHECK(names([](Layer& l) { l.spec.position = Position::rotary; }) ==
        "turn q, turn k, q·k, ÷ √d_k, " + tail);
  CHECK(names([](Layer& l) { l.spec.position = Position::alibi, l.spec.softcap = 3; }) ==
        "q·k, ÷ √d_k, soft cap, ALiBi, " + tail);
  CHECK(names([](Layer& l) { l.spec.temperature = 2; }) == "q·k, ÷ √d_k, ÷ T, " + tail);
  CHECK(names([](Layer& l) { l.spec.causal = l.spec.maskAfterSoftmax = true; }) ==
        "q·k, ÷ √d_k, max, exp, Σ, weights, mask, × V, output");
  for (const Normalizer n : {Normalizer::sparsemax, Normalizer::entmax15})
    CHECK(names([&](Layer& l) { l.spec.normalizer = n; }) == "q·k, ÷ √d_k, threshold, weights, × V, output");
  CHECK(names([](Layer& l) { l.spec.normalizer = Normalizer::hardmax; }) ==
        "q·k, ÷ √d_k, max, weights, × V, output");
  for (const Normalizer n : {Normalizer::sigmoid, Normalizer::relu, Normalizer::none})
    CHECK(names([&](Layer& l) { l.spec.normalizer = n; }) == "q·k, ÷ √d_k, weights, × V, output");
  CHECK(Stepped(test::withScore(layer, Score::general, random)).names() == "qᵀW_a, · k, " + tail);
  CHECK(Stepped(test::withScore(layer, Score::additive, random)).names() ==
        "W_a q, U_a k, v_a tanh, " + tail);
  const Layer projected = test::projected(test::shape(2, 2, 3, 3, 4, 2), 6, 4, random);
  const std::string own = Stepped(projected).names();
  CHECK(own == (projected.withOutputWeights ? "q·k, ÷ √d_k, max, exp, Σ, weights, × V, concat, output"
                                            : "q·k, ÷ √d_k, max, exp, Σ, weights, × V, output"));
}

TEST_CASE("stepper: a decoder keeps what no window has left behind") {
  Random random(5);
  Layer layer = test::direct(test::shape(1, 1, 5, 5, 2, 2), random);
  layer.spec.causal = true;
  const auto said = [&](int window, int row) {
    layer.spec.windowLeft = window;
    return Stepped(layer).lines(Step::cache, {0, row, row}).front().text;
  };
  CHECK(said(-1, 0) == "the first token, so nothing is kept yet");
  CHECK(said(-1, 4) == "those of 1 to 4 are kept, so only 5 is computed");
  CHECK(said(2, 4) == "those of 3 to 4 are kept, so only 5 is computed");
  CHECK(said(1, 4) == "that of 4 is kept, so only 5 is computed");
  CHECK(said(0, 4) == "none is kept, so only 5 is computed");
  layer.spec.windowLeft = 2;
  const Stepped windowed(layer);
  const StepCells cells = cellsOf(Step::cache, layer.spec, windowed.in, windowed.trace, {0, 4, 4});
  CHECK(cells.from.front() == Region{TensorId::k, 0, 2, 0, 3, 2});
  CHECK(cells.made.front() == Region{TensorId::k, 0, 4, 0, 1, 2});
}

TEST_CASE(
    "stepper: every number of every mechanism is the tensor's, and the last step is the row of the output") {
  Random random(4);
  const Layer plain = test::direct(test::shape(2, 1, 3, 4, 4, 3), random);
  for (const Score score : test::kScores) {
    for (const Normalizer normalizer : test::kNormalizers) {
      for (const Position position : {Position::none, Position::rotary, Position::alibi}) {
        if (score == Score::additive && position == Position::rotary)
          continue;  // it has no dot product that rotary positions could act on
        Layer layer = test::withScore(plain, score, random);
        layer.spec.normalizer = normalizer, layer.spec.position = position, layer.spec.causal = true;
        layer.spec.softcap = position == Position::alibi ? 2.0f : 0.0f;
        layer.spec.temperature = position == Position::rotary ? 0.5f : 1.0f;
        checkSteps(Stepped(layer));
      }
    }
  }
  for (const int units : {1, 6}) {
    Layer layer = test::withScore(plain, Score::additive, random);
    fill(layer.wA = {2, units, 4}, random), fill(layer.uA = {2, units, 4}, random),
        fill(layer.vA = {2, 1, units}, random);
    checkSteps(Stepped(layer));
  }
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::half}) {
    Layer layer = plain;
    layer.spec.position = Position::rotary, layer.spec.rotary.pairs = pairs, layer.spec.rotary.dims = 2,
    layer.spec.positionIds = {2, 9};
    checkSteps(Stepped(layer));
  }
  Layer late = plain;
  late.spec.causal = late.spec.maskAfterSoftmax = true;
  checkSteps(Stepped(late));
  Layer blind = plain;
  blind.paintNothing();
  for (int j = 0; j < 4; ++j) blind.paint(1, j) = 1;
  checkSteps(Stepped(blind));
}

TEST_CASE("stepper: the last step equals the output row, with W_O and without, hidden heads left out") {
  Random random(5);
  for (const bool isProjected : {false, true}) {
    Layer layer = isProjected ? test::projected(test::shape(2, 2, 3, 3, 4, 2), 4, 3, random)
                              : test::direct(test::shape(3, 3, 3, 3, 4, 3), random);
    if (!isProjected) layer.spec.hiddenHeads = 2;
    const Stepped w(layer);
    const Tensor& output = w.trace.output;
    for (int i = 0; i < 3; ++i) {
      std::vector<double> shown;
      const auto lines = linesOf(Step::output, {layer.spec, w.in, w.trace}, {0, i, 0, 0}, kNoLabels, 6, 9);
      for (const Term& line : lines) {
        checkMarks(w, line);
        if (w.in.wO) {
          shown.push_back(result(line.text.english()));
          continue;
        }
        for (std::size_t at = 0; at < line.text.english().size(); ++at)
          if (line.text.english()[at] == mark::kCell) shown.push_back(numberAt(line.text.english(), at + 1));
        if (line.text.english() == "hidden, so 0")
          shown.insert(shown.end(), static_cast<std::size_t>(layer.spec.valueDim), 0.0);
      }
      REQUIRE(shown.size() == static_cast<std::size_t>(output.cols()));
      for (int c = 0; c < output.cols(); ++c)
        CHECK(shown[static_cast<std::size_t>(c)] ==
              doctest::Approx(double{output.at(0, i, c)}).epsilon(1e-5).scale(1));
    }
  }
}

TEST_CASE("stepper: what stands in the row at each step, and what it reads") {
  Random random(6);
  Layer layer = test::direct(test::shape(1, 1, 4, 4, 3, 3), random);
  layer.spec.causal = true;
  const Stepped w(layer);
  const auto there = [&](TensorId id, Step step) {
    const DisplayState s = displayState(id, step, layer.spec, w.in);
    return s.isThere ? std::string(name(s.tensor)) : std::string("-");
  };
  CHECK(there(TensorId::scores, Step::turned_key) == "-");
  CHECK(there(TensorId::scores, Step::raw) == "raw");
  CHECK(there(TensorId::scores, Step::scaled) == "scores");
  CHECK(there(TensorId::scores, Step::masked) == "masked");
  CHECK(there(TensorId::weights, Step::maximum) == "-");
  CHECK(there(TensorId::weights, Step::exponentials) == "exponentials");
  CHECK(there(TensorId::weights, Step::weights) == "weights");
  CHECK(there(TensorId::head_output, Step::weights) == "-");
  CHECK(there(TensorId::head_output, Step::values) == "head_output");
  CHECK(there(TensorId::output, Step::values) == "-");
  CHECK(there(TensorId::q, Step::raw) == "q");
  const StepCells raw = cellsOf(Step::raw, layer.spec, w.in, w.trace, {0, 3, 2, 0});
  REQUIRE(raw.from.size() == 2);
  CHECK(raw.from[0] == Region{TensorId::q, 0, 3, 0, 1, 3});
  CHECK(raw.from[1] == Region{TensorId::k, 0, 2, 0, 1, 3});
  CHECK(raw.made[0] == Region{TensorId::scores, 0, 3, 0, 1, 4});
  // The cells of every step exist.
  for (const Step step : w.steps(true)) {
    const StepCells cells = cellsOf(step, layer.spec, w.in, w.trace, {0, 3, 2, 0});
    CHECK(!cells.from.empty());
    for (const auto* part : {&cells.from, &cells.made})
      for (const Region& r : *part) {
        const Tensor* t = find(w.in, w.trace, r.tensor);
        REQUIRE(t);
        CHECK(t->contains(r.head, r.row, r.col));
        CHECK(t->contains(r.head, r.row + r.rows - 1, r.col + r.cols - 1));
      }
  }
}

TEST_CASE("stepper: a number that is a sum opens into it") {
  Random random(7);
  const Layer plain = test::direct(test::shape(1, 1, 3, 3, 4, 2), random);
  for (const auto& [score, width] :
       {std::pair(Score::general, 4), {Score::additive, 4}, {Score::general, 7}, {Score::additive, 2}}) {
    const Stepped w(test::withQueryWidth(test::withScore(plain, score, random), width, random));
    for (const Step step : {Step::query_side, Step::key_side, Step::raw}) {
      if (score == Score::general && step == Step::key_side) continue;
      const Term line = w.lines(step, {0, 2, 1, 0}).back();
      int ordinal = 0;
      for (std::size_t at = 0; at < line.text.english().size(); ++at) {
        if (line.text.english()[at] != mark::kSum) continue;
        const auto sum =
            sumBehind(line, ordinal++, {w.layer.spec, w.in, w.trace}, {TensorId::weights, 0, 2, 1}, 6);
        REQUIRE(sum);
        checkMarks(w, *sum);
        CHECK(sum->value == doctest::Approx(numberAt(line.text.english(), at + 1)).epsilon(1e-5).scale(1));
      }
      CHECK(ordinal == (score == Score::additive && step == Step::raw ? 8 : 4));
    }
  }
  const Stepped w(plain);
  CHECK(!sumBehind(w.lines(Step::raw, {0, 2, 1, 0}).back(), 0, {plain.spec, w.in, w.trace},
                   {TensorId::weights, 0, 2, 1}, 2));
}
