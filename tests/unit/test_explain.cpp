// explain(): the wording, and arithmetic that is correct when it is read back from the text.
#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <limits>

#include "attention/layer/explain.h"
#include "attention/layer/formula.h"
#include "attention/layer/loops.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

const std::vector<std::string> kWords = {"I", "saw", "a", "saw"};

Layer designBoard() {
  Layer layer;
  layer.spec = test::shape(1, 1, 4, 4, 3, 3);
  layer.spec.causal = true;
  layer.q = layer.k = layer.v = Tensor(1, 4, 3);
  const float q[] = {0.9f, -0.4f, 0.3f, 1.2f, 0.6f, -0.5f, -0.3f, 1.1f, 0.8f, 0.2f, -0.7f, 1.6f};
  const float k[] = {1.1f, 0.2f, -0.6f, -0.2f, 1.3f, 0.4f, 0.3f, -0.5f, 1.4f, 0.8f, 0.9f, -0.2f};
  const float v[] = {0.7f, 0.3f, 0.0f, -0.4f, 0.9f, 0.2f, 0.1f, -0.2f, 1.0f, 0.5f, 0.5f, -0.8f};
  std::copy_n(q, 12, layer.q.data());
  std::copy_n(k, 12, layer.k.data());
  std::copy_n(v, 12, layer.v.data());
  return layer;
}

Explanation explained(const Layer& layer, CellRef cell, int decimals = 2,
                      const std::vector<std::string>& labels = kWords) {
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  return explain({layer.spec, layer.inputs(), trace}, cell, labels, decimals);
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

std::string lineOf(const Term& term) { return term.label.english() + ": " + term.text.english(); }

/// The value of "a×b + c×d", read from the text alone.
double sumOfProducts(const std::string& text) {
  const std::string plain =
      replaced(replaced(replaced(replaced(text, "−", "-"), "×", "*"), "(", ""), ")", "");
  const char* at = plain.c_str();
  double sum = 0.0;
  for (;;) {
    char* end = nullptr;
    double term = std::strtod(at, &end);
    if (end == at) return sum;
    if (*end == '*') term *= std::strtod(end + 1, &end);
    sum += term;
    at = end;
    if (std::strncmp(at, " + ", 3) != 0) return sum;
    at += 3;
  }
}

/// Checks that the left side of " = " equals the right side and the value of the term.
void checkAddsUp(const Term& term, double tolerance) {
  const std::string text = term.text.english();
  CAPTURE(text);
  const std::size_t equals = text.rfind(" = ");
  REQUIRE(equals != std::string::npos);
  const double left = sumOfProducts(text.substr(0, equals));
  const double right = std::atof(replaced(text.substr(equals + 3), "−", "-").c_str());
  CHECK(std::abs(left - right) <= tolerance);
  CHECK(std::abs(right - term.value) <= tolerance);
}

}  // namespace

TEST_CASE("explain: the lines of the design's picture") {
  const Explanation e = explained(designBoard(), {TensorId::weights, 0, 3, 2});
  CHECK(e.text() ==
        "W[saw₄, a₃] = 0.69\n"
        "q₄ · k₃: 0.20×0.30 + (−0.70)×(−0.50) + 1.60×1.40 = 2.65\n"
        "÷ √3: 2.65 ÷ 1.73 = 1.53\n"
        "mask: key 3 ≤ query 4, so visible\n"
        "exp(s − max): exp(1.53 − 1.53) = 1.00\n"
        "÷ Σ row: 1.00 ÷ 1.45 = 0.69\n"
        "adds to output: 0.69 × v₃ = [0.07, −0.14, 0.69]");
  CHECK(e.terms[0].cells.size() == 6);
  CHECK(e.terms[0].cells[1] == CellRef{TensorId::k, 0, 2, 0});
  CHECK(e.terms[0].value == doctest::Approx(2.65));
}

TEST_CASE("explain: general, additive and cosine scores, with their numbers") {
  Layer layer = designBoard();
  layer.spec.score = Score::general;
  layer.wA = Tensor(1, 3, 3);
  for (int c = 0; c < 3; ++c) layer.wA.at(0, c, 2 - c) = 1.0f;  // reverses the columns
  CHECK(explained(layer, {TensorId::raw, 0, 3, 2}).text() ==
        "raw[saw₄, a₃] = 1.11\n"
        "q₄ᵀ · W_a: [1.60, −0.70, 0.20]\n"
        "that · k₃: 1.60×0.30 + (−0.70)×(−0.50) + 0.20×1.40 = 1.11");
  layer.spec.score = Score::cosine;
  CHECK(explained(layer, {TensorId::scores, 0, 3, 2}).text() ==
        "S[saw₄, a₃] = 0.99\n"
        "q₄ · k₃: 0.20×0.30 + (−0.70)×(−0.50) + 1.60×1.40 = 2.65\n"
        "|q₄|: √(0.20² + (−0.70)² + 1.60²) = 1.76\n"
        "|k₃|: √(0.30² + (−0.50)² + 1.40²) = 1.52\n"
        "÷ lengths: 2.65 ÷ (1.76 × 1.52) = 0.99");
  for (int c = 0; c < 3; ++c) layer.k.at(0, 2, c) = 0.0f;
  CHECK(explained(layer, {TensorId::raw, 0, 3, 2}).terms.back().text ==
        "a row of zeros has no direction, so 0.00");
  layer = designBoard();
  layer.spec.score = Score::additive;
  layer.wA = layer.uA = Tensor(1, 3, 3), layer.vA = Tensor(1, 1, 3, 0.5f);
  for (int c = 0; c < 3; ++c) layer.wA.at(0, c, c) = 1.0f, layer.uA.at(0, c, c) = 0.5f;
  CHECK(explained(layer, {TensorId::scores, 0, 3, 2}).text() ==
        "S[saw₄, a₃] = 0.29\n"
        "W_a · q₄: [0.20, −0.70, 1.60]\n"
        "U_a · k₃: [0.15, −0.25, 0.70]\n"
        "v_a · tanh: 0.50×tanh(0.20 + 0.15) + 0.50×tanh(−0.70 + (−0.25)) + 0.50×tanh(1.60 + 0.70) = 0.29");
}

TEST_CASE("explain: soft cap, bias and positions") {
  Layer layer = designBoard();
  layer.spec.softcap = 1.0f, layer.spec.position = Position::alibi;
  const Explanation e = explained(layer, {TensorId::weights, 0, 3, 1});
  CHECK(lineOf(e.terms[2]) == "soft cap: 1.00 × tanh(−0.18 ÷ 1.00) = −0.18");
  CHECK(lineOf(e.terms[3]) == "ALiBi: −0.18 − 0.0039 × 2 = −0.18");
  CHECK(e.terms[4].text == "key 2 ≤ query 4, so visible");
  Random random(8);
  Layer rotated = test::direct(test::shape(1, 1, 3, 3, 4, 2), random);
  rotated.spec.position = Position::rotary, rotated.spec.causalOffset = 1;
  std::fill(rotated.q.values().begin(), rotated.q.values().end(), 0.5f);
  CHECK(explained(rotated, {TensorId::positions, 0, 3, 1}).text() ==
        "P[4, 2] = 0.03\nangle: 3 ÷ 10000^(2/4) = 0.03");
  CHECK(explained(rotated, {TensorId::q_rotated, 0, 1, 0}).text() ==
        "Q rotated[saw₂, 1] = −0.66\nrotated by 2.00: 0.50×cos(2.00) − 0.50×sin(2.00) = −0.66");
  CHECK(explained(rotated, {TensorId::q_rotated, 0, 1, 1}).text() ==
        "Q rotated[saw₂, 2] = 0.25\nrotated by 2.00: 0.50×sin(2.00) + 0.50×cos(2.00) = 0.25");
  CHECK(explained(rotated, {TensorId::raw, 0, 1, 1}).terms[0].cells[0] ==
        CellRef{TensorId::q_rotated, 0, 1, 0});
  rotated.spec.rotary.pairs = RotaryPairs::half, rotated.spec.positionIds = {0, 0, 5};
  CHECK(explained(rotated, {TensorId::positions, 0, 3, 1}).text() ==
        "P[4, 2] = 0.06\nangle: 6 ÷ 10000^(2/4) = 0.06");
  CHECK(explained(rotated, {TensorId::q_rotated, 0, 1, 2}).text() ==
        "Q rotated[saw₂, 3] = −0.34\nrotated by 5.00: 0.50×sin(5.00) + 0.50×cos(5.00) = −0.34");
  CHECK(explained(rotated, {TensorId::q_rotated, 0, 1, 2}).terms[0].cells ==
        std::vector<CellRef>{{TensorId::q, 0, 1, 0}, {TensorId::q, 0, 1, 2}, {TensorId::positions, 0, 2, 0}});
  rotated.spec.rotary.dims = 2, rotated.spec.rotary.scaling = RotaryScaling::linear,
  rotated.spec.rotary.factor = 2.5f;
  CHECK(explained(rotated, {TensorId::positions, 0, 2, 0}).text() ==
        "P[3, 1] = 2.00\nangle: 5 ÷ 2.5 ÷ 10000^(0/2) = 2.00");
  CHECK(explained(rotated, {TensorId::q_rotated, 0, 1, 3}).text() ==
        "Q rotated[saw₂, 4] = 0.50\nnot rotated: only the first 2 columns are, so 0.50");
  rotated.spec.rotary.dims = 0, rotated.spec.rotary.scaling = RotaryScaling::ntk;
  CHECK(explained(rotated, {TensorId::positions, 0, 2, 1}).terms[0].text ==
        "5 ÷ (10000 × 2.5^(4/2))^(2/4) = 0.02");
  Layer waves = test::projected(test::shape(1, 1, 3, 3, 4, 2), 4, 0, random);
  waves.spec.position = Position::sinusoidal;
  waves.x.at(0, 2, 3) = 1.0f;
  CHECK(explained(waves, {TensorId::positions, 0, 2, 3}).text() ==
        "P[3, 4] = 1.00\ncosine: cos(2 ÷ 10000^(2/4)) = 1.00");
  CHECK(explained(waves, {TensorId::x_positioned, 0, 2, 3}).text() ==
        "X + P[a₃, 4] = 2.00\nx + position: 1.00 + 1.00 = 2.00");
  CHECK(explained(waves, {TensorId::k, 0, 2, 0}).terms[0].cells[0] ==
        CellRef{TensorId::x_positioned, 0, 2, 0});
}

TEST_CASE("explain: every normaliser") {
  Layer layer = designBoard();
  const auto last = [&](Normalizer normalizer, int key) {
    layer.spec.normalizer = normalizer;
    const Explanation e = explained(layer, {TensorId::weights, 0, 2, key});
    const Term& term = e.terms[e.terms.size() - 2];  // the one before "adds to output"
    return lineOf(term);
  };
  CHECK(last(Normalizer::sigmoid, 0) == "sigmoid: 1 ÷ (1 + exp(0.34)) = 0.42");
  CHECK(last(Normalizer::relu, 0) == "ReLU: max(−0.34, 0) = 0.00");
  CHECK(last(Normalizer::none, 0) == "no normaliser: the score itself, so −0.34");
  CHECK(last(Normalizer::hardmax, 0) == "hard maximum: key 2 has the largest score, 1.05, so 0.00");
  CHECK(last(Normalizer::sparsemax, 2) == "max(s − t, 0): max(0.28 − 0.16, 0) = 0.12");
  CHECK(last(Normalizer::sparsemax, 3) == "normaliser: hidden, so 0.00");
  CHECK(last(Normalizer::entmax15, 2) == "max(s ÷ 2 − t, 0)²: max(0.28 ÷ 2 − (−0.34), 0)² = 0.23");
  CHECK(last(Normalizer::entmax15, 3) == "normaliser: hidden, so 0.00");
  const std::string entmax = explained(layer, {TensorId::weights, 0, 2, 2}).text().english();
  CHECK(entmax.find("mean m: (−0.34 + 1.05 + 0.28) ÷ 2 ÷ 3 = 0.16\n"
                    "Σ(s ÷ 2 − m)²: (−0.34 ÷ 2 − 0.16)² + (1.05 ÷ 2 − 0.16)² + (0.28 ÷ 2 − 0.16)² = 0.24\n"
                    "threshold t: 0.16 − √((1 − 0.24) ÷ 3) = −0.34\n") != std::string::npos);
  layer.spec.normalizer = Normalizer::sparsemax;
  CHECK(explained(layer, {TensorId::weights, 0, 2, 2})
            .text()
            .english()
            .find("threshold t: (1.05 + 0.28 − 1) ÷ 2 = 0.16") != std::string::npos);
  layer.spec.temperature = 0.5f;
  CHECK(explained(layer, {TensorId::weights, 0, 2, 2})
            .text()
            .english()
            .find("÷ temperature: 0.28 ÷ 0.50 = 0.55") != std::string::npos);
}

TEST_CASE("explain: mask after softmax, hidden heads and the other sequence's words") {
  Layer layer = designBoard();
  layer.spec.maskAfterSoftmax = true;
  const std::string text = explained(layer, {TensorId::weights, 0, 1, 2}).text().english();
  CHECK(text.find("W[saw₂, a₃] = 0.00") == 0);
  CHECK(text.find("÷ Σ row: 0.25 ÷ 2.62 = 0.10\nmask after softmax: key 3 > query 2, so hidden (weight 0)") !=
        std::string::npos);
  layer.spec.maskAfterSoftmax = false, layer.spec.hiddenHeads = 1;
  CHECK(explained(layer, {TensorId::output, 0, 1, 2}).text() ==
        "output[saw₂, 3] = 0.00\nhead 1: hidden, so 0");
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  CHECK(explain({layer.spec, layer.inputs(), trace}, {TensorId::masked, 0, 3, 1}, {kWords, {"ich", "sah"}}, 2)
            .title() == "S masked[saw₄, sah₂] = −0.18");
  CHECK(explain({layer.spec, layer.inputs(), trace}, {TensorId::v, 0, 1, 1}, {kWords, {"ich", "sah"}}, 2)
            .title() == "V[sah₂, 2] = 0.90");
}

TEST_CASE("explain: a token that is named by its number has it once") {
  const Layer layer = designBoard();
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  const std::vector<std::string> words = {"I", "t2", "t2", ""};
  const auto title = [&](int row, int col) {
    return explain({layer.spec, layer.inputs(), trace}, {TensorId::masked, 0, row, col}, {words, words}, 2)
        .title();
  };
  CHECK(title(1, 0) == "S masked[t2, I₁] = 1.00");
  CHECK(title(3, 2) == "S masked[4, t2₃] = 1.53");
}

TEST_CASE("explain: why a key is hidden") {
  Layer layer = designBoard();
  CHECK(explained(layer, {TensorId::weights, 0, 1, 2}).text() ==
        "W[saw₂, a₃] = 0.00\n"
        "q₂ · k₃: 1.20×0.30 + 0.60×(−0.50) + (−0.50)×1.40 = −0.64\n"
        "÷ √3: −0.64 ÷ 1.73 = −0.37\n"
        "mask: key 3 > query 2, so hidden (−∞)\n"
        "exp(s − max): exp(−∞) = 0.00\n"
        "÷ Σ row: 0.00 ÷ 1.45 = 0.00\n"
        "adds to output: 0.00 × v₃ = [0.00, 0.00, 0.00]");
  const auto mask = [&](int i, int j) {
    return explained(layer, {TensorId::masked, 0, i, j}).terms.back().text;
  };
  layer.spec.causalOffset = 1;
  CHECK(mask(0, 1) == "key 2 ≤ query 1 + 1, so visible");
  CHECK(mask(0, 3) == "key 4 > query 1 + 1, so hidden (−∞)");
  layer.spec.causalOffset = 0, layer.spec.windowLeft = 1;
  CHECK(mask(3, 0) == "key 1 outside window 3…4, so hidden (−∞)");
  CHECK(mask(3, 3) == "key 4 in window 3…4, so visible");
  layer.spec.windowLeft = -1;
  layer.paintNothing();
  layer.paint(3, 2) = 1;
  CHECK(mask(3, 2) == "key 3 is painted out, so hidden (−∞)");
  layer.spec.causal = false;
  CHECK(mask(0, 3) == "no mask, so visible");
  layer.spec.keyLength = 3;
  CHECK(mask(0, 3) == "key 4 is padding, so hidden (−∞)");
  layer.spec.keyLength = -1, layer.spec.pattern.local = 2;
  CHECK(mask(0, 3) == "key 4 is not in the pattern, so hidden (−∞)");
  CHECK(mask(2, 3) == "key 4 is in the pattern, so visible");
  layer.spec.pattern = {}, layer.spec.causal = true, layer.spec.prefix = 2;
  CHECK(mask(0, 1) == "key 2 is in the prefix, so visible");
  CHECK(mask(0, 2) == "key 3 > query 1, so hidden (−∞)");
}

TEST_CASE("explain: a row that sees nothing says so") {
  Layer layer = designBoard();
  layer.paintNothing();
  for (int j = 0; j < 4; ++j) layer.paint(2, j) = 1;
  const std::string sentence = "row 3: every key is masked, so weights and output are 0";
  for (TensorId id : {TensorId::weights, TensorId::exponentials, TensorId::row_max, TensorId::row_sum,
                      TensorId::head_output, TensorId::output}) {
    CAPTURE(name(id));
    CHECK(explained(layer, {id, 0, 2, 0}).text().english().find(sentence) != std::string::npos);
  }
  CHECK(explained(layer, {TensorId::row_max, 0, 2, 0}).title() == "max[a₃] = −∞");
}

TEST_CASE("explain: temperature and scale have lines only when they matter") {
  Layer layer = designBoard();
  layer.spec.temperature = 0.5f, layer.spec.scale = 2.0f;
  const Explanation e = explained(layer, {TensorId::weights, 0, 3, 0});
  CHECK(e.terms[1].label == "× scale");
  CHECK(e.terms[1].text == "(−0.88) × 2.00 = −1.76");
  CHECK(e.terms[3].label == "÷ temperature");
  CHECK(e.terms[3].text == "−1.76 ÷ 0.50 = −3.52");
  layer.spec.score = Score::dot;
  CHECK(explained(layer, {TensorId::scores, 0, 3, 0}).terms.size() == 1);
}

namespace {

/// Explains every cell of the trace: titles contain its value, sums of products are correct, the last line
/// gives the value.
void checkEveryCell(const Layer& layer) {
  REQUIRE(validate(layer.spec, layer.inputs()));
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  test::forEveryCell(layer, trace, [&](TensorId id, int h, int i, int j) {
    const double value{find(layer.inputs(), trace, id)->at(h, i, j)};
    const Explanation e = explain({layer.spec, layer.inputs(), trace}, {id, h, i, j}, kWords, 6);
    CAPTURE(e.name);
    REQUIRE(!e.terms.empty());
    CHECK(e.value == formatNumber(value, 6));
    for (const Term& term : e.terms) {
      const std::string label = term.label.english(), text = term.text.english();
      const bool isSum = text.find("×") != std::string::npos && label.find("scale") > 99 &&
                         text.find_first_of("v(") == std::string::npos && label != "ALiBi";
      if (isSum || label.starts_with("Σ row")) checkAddsUp(term, 2e-5);
    }
    const Term& last = e.terms.back();
    const bool isOwn = last.label != "adds to output" && last.label != "x + position";
    if (isOwn) CHECK(last.value == value);
  });
}

}  // namespace

TEST_CASE("explain: every printed sum adds up, and its result is the trace's value") {
  Random random(5);
  for (const bool isProjected : {false, true}) {
    Layer layer = isProjected ? test::projected(test::shape(2, 1, 5, 5, 4, 2), 6, 4, random)
                              : test::direct(test::shape(4, 2, 5, 6, 4, 3), random);
    layer.spec.causal = true;
    checkEveryCell(layer);
    for (Score score : {Score::general, Score::additive, Score::cosine}) {
      Layer scored = test::withScore(layer, score, random);
      scored.spec.position = score == Score::additive ? Position::alibi : Position::rotary;
      scored.spec.softcap = 2.0f, scored.spec.keyLength = 4;
      for (Normalizer normalizer :
           {Normalizer::softmax, Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::none}) {
        scored.spec.normalizer = normalizer;
        checkEveryCell(scored);
      }
    }
  }
  checkEveryCell(test::withBiases(test::projected(test::shape(2, 1, 4, 4, 4, 2), 5, 3, random), random));
  Layer apart = test::projected(test::shape(2, 1, 3, 5, 4, 2), 6, 4, random);
  apart.spec.position = Position::sinusoidal;
  fill(apart.xV = {1, 5, 6}, random);
  checkEveryCell(apart);
  for (const int units : {2, 7}) {  // hidden units of the additive score
    Layer additive =
        test::withScore(test::direct(test::shape(2, 1, 3, 4, 4, 2), random), Score::additive, random);
    fill(additive.wA = {2, units, 4}, random), fill(additive.uA = {2, units, 4}, random),
        fill(additive.vA = {2, 1, units}, random);
    checkEveryCell(additive);
  }
  for (const Score score : {Score::general, Score::additive}) {
    for (const int width : {2, 7}) {
      for (const Layer& plain : {test::direct(test::shape(2, 1, 3, 4, 4, 2), random),
                                 test::projected(test::shape(2, 1, 3, 3, 4, 2), 5, 3, random)})
        checkEveryCell(test::withQueryWidth(test::withScore(plain, score, random), width, random));
    }
  }
  Layer turned = test::direct(test::shape(2, 1, 3, 4, 6, 2), random);
  turned.spec.position = Position::rotary,
  turned.spec.rotary = {RotaryPairs::half, 50.0f, 4, RotaryScaling::ntk, 3.0f}, turned.spec.positionIds = {7};
  checkEveryCell(turned);
  Layer cross = test::projected(test::shape(2, 2, 3, 5, 4, 2), 6, 4, random);
  cross.spec.position = Position::sinusoidal, cross.spec.hiddenHeads = 2, cross.spec.maskAfterSoftmax = true;
  cross.spec.causal = true;
  checkEveryCell(cross);
  for (const float temperature : {1.0f, 0.5f}) {
    Layer sunk = test::withSink(test::direct(test::shape(2, 1, 4, 5, 3, 2), random), random);
    sunk.spec.temperature = temperature, sunk.spec.causal = true;
    checkEveryCell(sunk);
  }
}

TEST_CASE("explain: a sink is one more number of the maximum and of the sum") {
  Random random(8);
  Layer layer = test::withSink(test::direct(test::shape(1, 1, 2, 2, 2, 2), random), random);
  layer.sink.at(0, 0, 0) = 3.0f;
  layer.q.values()[0] = layer.q.values()[1] = 0.0f;  // both scores of the first query are 0
  CHECK(explained(layer, {TensorId::sink, 0, 0, 0}).terms[0].text ==
        "yours to change; it goes into the sum of every row");
  CHECK(explained(layer, {TensorId::row_max, 0, 0, 0}).terms[0].text == "max(0.00, 0.00, 3.00) = 3.00");
  const Explanation sum = explained(layer, {TensorId::row_sum, 0, 0, 0});
  CHECK(lineOf(sum.terms[0]) == "exp(sink − max): exp(3.00 − 3.00) = 1.00");
  CHECK(sum.terms[1].text == "0.05 + 0.05 + 1.00 = 1.10");
  layer.spec.temperature = 2.0f;
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  const CellRef weight{TensorId::weights, 0, 0, 1};
  CHECK(formulaOf(layer.spec, layer.inputs(), trace, weight, {}, 2).symbols ==
        "w_12 = exp(s_12 ÷ T) ÷ (Σ_j exp(s_1j ÷ T) + exp(sink ÷ T))");
}

TEST_CASE("explain: the cells of a term are those whose numbers it shows") {
  Random random(6);
  const Layer layer = test::direct(test::shape(2, 1, 4, 4, 3, 2), random);
  const Explanation e = explained(layer, {TensorId::head_output, 1, 2, 1});
  REQUIRE(e.terms.size() == 1);
  REQUIRE(e.terms[0].cells.size() == 8);
  CHECK(e.terms[0].cells[0] == CellRef{TensorId::weights, 1, 2, 0});
  CHECK(e.terms[0].cells[1] == CellRef{TensorId::v, 0, 0, 1});
  CHECK(e.terms[0].cells[7] == CellRef{TensorId::v, 0, 3, 1});
}

TEST_CASE("explain: a long sum shows its first and last terms") {
  Random random(7);
  const Layer layer = test::direct(test::shape(1, 1, 12, 12, 64, 20), random);
  const Explanation e = explained(layer, {TensorId::weights, 0, 11, 9}, 1, {});
  CHECK(e.name == "W[12, 10]");
  CHECK(e.terms[0].label == "q₁₂ · k₁₀");
  CHECK(e.terms[0].cells.size() == 12);
  CHECK(e.terms[0].text.english().find(" + … + ") != std::string::npos);
  CHECK(e.terms.back().text.english().find(", …, ") != std::string::npos);
}

TEST_CASE("explain: inputs say what they feed") {
  CHECK(explained(designBoard(), {TensorId::q, 0, 3, 1}).text() ==
        "Q[saw₄, 2] = −0.70\ninput: yours to change; it goes into the scores of query 4");
}

TEST_CASE("explain: what does not fit a float is said to be a bound") {
  Layer layer = designBoard();
  layer.q.at(0, 0, 0) = layer.k.at(0, 1, 0) = 1e30f, layer.q.at(0, 1, 0) = -1e30f;
  layer.spec.causal = false;
  const auto titled = [&](TensorId id, int row) {
    return explained(layer, {id, 0, row, 1}).title().english();
  };
  CHECK(titled(TensorId::raw, 0) == "q·k[I₁, saw₂] = ≥ 3.40e38");
  CHECK(titled(TensorId::scores, 1) == "S[saw₂, saw₂] = ≤ −1.96e38");
  CHECK(titled(TensorId::scores, 2).find("≥") == std::string::npos);
  CHECK(explained(layer, {TensorId::weights, 0, 0, 1})
            .text()
            .english()
            .find("too large: the largest 32-bit number, 3.4e38, takes its place") != std::string::npos);
  CHECK(explained(layer, {TensorId::weights, 0, 0, 0}).text().english().find("too large") ==
        std::string::npos);
  layer.spec.causal = true;
  CHECK(titled(TensorId::masked, 0).find("≤") == std::string::npos);
}

TEST_CASE("explain: numbers as they are written") {
  CHECK(formatFactor(0.5f, 2) == "0.50");
  CHECK(formatFactor(0.354f, 2) == "0.35");
  CHECK(formatFactor(0.0003f, 2) == "0.0003");
  CHECK(formatFactor(1e-6f, 2) == "1e-06");
  CHECK(formatNumber(-0.004, 2) == "0.00");
  CHECK(formatNumber(-0.006, 2) == "−0.01");
  CHECK(formatNumber(1234567.0, 0) == "1234567");
  CHECK(formatNumber(-3.4e38, 2) == "−3.40e38");
  CHECK(formatNumber(-std::numeric_limits<double>::infinity(), 2) == "−∞");
  CHECK(formatNumber(0.5, -3) == "0");
  CHECK(formatNumber(1.0, 99) == "1.000000000");
}

TEST_CASE("loops: concat is put together, and the output is its product with W_O") {
  Random random(5);
  Layer layer = test::projected(test::shape(2, 2, 3, 3, 2, 2), 3, 5, random);
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  const auto last = [&](TensorId id) {
    return loopsOf(id, layer.spec, layer.inputs(), trace, 0, false).back().text;
  };
  CHECK(last(TensorId::concat) == "concat[i,c] = O[h,i,e]");
  CHECK(last(TensorId::output) == "Y[i,c] = y");
  layer.spec.hiddenHeads = 1;
  CHECK(last(TensorId::concat) == "if h is not 2: concat[i,c] = 0");
}
