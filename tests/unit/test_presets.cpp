// Every preset shows what it says that it shows. The weights are computed by the layer, and again here.
#include <algorithm>
#include <cmath>

#include "attention/forward.h"
#include "document_support.h"

using namespace document;

namespace {

using Matrix = std::vector<std::vector<double>>;

/// softmax(q·k·scale) of one head, in double, from the state alone.
Matrix weightsOf(const State& s, int head, bool scale) {
  Matrix out;
  for (int i = 0; i < s.tokens; ++i) {
    std::vector<double> row;
    double sum = 0;
    for (int j = 0; j < s.tokens; ++j) {
      double dot = 0;
      for (int c = 0; c < s.headDim; ++c)
        dot += static_cast<double>(s.q.at(head, i, c)) * static_cast<double>(s.k.at(head, j, c));
      const bool visible = !s.causal || j <= i;
      row.push_back(visible ? std::exp(scale ? dot / std::sqrt(s.headDim) : dot) : 0.0);
      sum += row.back();
    }
    for (double& w : row) w /= sum;
    out.push_back(row);
  }
  return out;
}

attention::Trace traced(const State& s) {
  CHECK(test::refusal(attention::validate(spec(s), inputs(s))) == "accepted");
  attention::Trace trace;
  attention::forward(spec(s), inputs(s), trace);
  return trace;
}

int strongest(const std::vector<double>& row) {
  return static_cast<int>(std::max_element(row.begin(), row.end()) - row.begin());
}

State named(std::string_view name) {
  auto state = preset(name);
  REQUIRE(test::refusal(state) == "accepted");
  return *state;
}

double rounded(double value) { return std::round(value * 100.0) / 100.0; }

}  // namespace

TEST_CASE("presets: names, and states that are whole") {
  REQUIRE(presets().size() == 6);
  CHECK(presets()[0].name == "i-saw-a-saw");
  CHECK(presets()[0].title == "I saw a saw");
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    const State s = named(p.name);
    CHECK(test::refusal(check(s)) == "accepted");
    CHECK(s.preset == p.name);
    CHECK(s.mode == Mode::qkv);
    CHECK(!p.title.empty());
    CHECK(p.about.back() == '.');
    for (const TensorId id : inputIds())
      for (const float v : input(s, id)->values())
        CHECK(std::abs(v * 100.0f - std::round(v * 100.0f)) < 1e-3f);
    const auto again = fromText(toText(s), {});
    REQUIRE(again);
    CHECK(sameBits(*again, s));
  }
  CHECK(test::refusal(preset("nope")) ==
        "preset: \"nope\" is unknown; use \"i-saw-a-saw\", \"pronoun\", \"previous-token\", \"look-up\", "
        "\"uniform\" or \"saturated\".");
}

TEST_CASE("presets: the layer agrees with plain arithmetic") {
  for (const Preset& p : presets()) {
    const State s = named(p.name);
    const attention::Trace trace = traced(s);
    for (int h = 0; h < s.heads; ++h) {
      const Matrix want = weightsOf(s, h, s.score == attention::Score::scaled);
      for (int i = 0; i < s.tokens; ++i)
        for (int j = 0; j < s.tokens; ++j)
          CHECK(std::abs(static_cast<double>(trace.weights.at(h, i, j)) -
                         want[static_cast<std::size_t>(i)][static_cast<std::size_t>(j)]) < 1e-6);
    }
  }
}

TEST_CASE("presets: X and its weights show the same as Q, K and V, but for the lecture example") {
  for (const Preset& p : presets()) {
    if (p.name == "i-saw-a-saw") continue;
    CAPTURE(p.name);
    State s = named(p.name);
    const attention::Trace direct = traced(s);
    s.mode = Mode::x;
    const attention::Trace projected = traced(s);
    for (std::size_t i = 0; i < direct.weights.size(); ++i)
      CHECK(std::abs(direct.weights.data()[i] - projected.weights.data()[i]) < 1e-6f);
  }
}

TEST_CASE("presets: I saw a saw has the numbers of the picture") {
  const State s = named("i-saw-a-saw");
  CHECK(s.causal);
  CHECK(s.labels == std::vector<std::string>{"I", "saw", "a", "saw"});
  const attention::Trace trace = traced(s);
  const double scores[] = {-0.51, -0.18, 1.53, -0.46}, weights[] = {0.09, 0.12, 0.69, 0.09},
               output[] = {0.13, 0.05, 0.64};
  for (int j = 0; j < 4; ++j) {
    CHECK(rounded(static_cast<double>(trace.scores.at(0, 3, j))) == doctest::Approx(scores[j]));
    CHECK(rounded(static_cast<double>(trace.weights.at(0, 3, j))) == doctest::Approx(weights[j]));
  }
  for (int c = 0; c < 3; ++c)
    CHECK(rounded(static_cast<double>(trace.headOutput.at(0, 3, c))) == doctest::Approx(output[c]));
  const Matrix second = weightsOf(s, 1, true);
  for (int i = 0; i < 4; ++i) {
    CHECK(strongest(second[static_cast<std::size_t>(i)]) == i);
    CHECK(second[static_cast<std::size_t>(i)][static_cast<std::size_t>(i)] > 0.6);
  }
}

TEST_CASE("presets: I saw a saw from X: one-hot words, and the second saw looks at a") {
  State s = named("i-saw-a-saw");
  s.mode = Mode::x;
  CHECK(s.modelDim == 3);
  for (int c = 0; c < 3; ++c) CHECK(s.x.at(0, 1, c) == s.x.at(0, 3, c));
  const attention::Trace trace = traced(s);
  CHECK(trace.weights.at(0, 3, 2) > 0.7f);
  CHECK(trace.weights.at(0, 1, 2) == 0.0f);  // the first saw cannot see it
  // The output says which words were mixed: a most of all.
  CHECK(trace.output.cols() == 3);
  CHECK(trace.output.at(0, 3, 2) > trace.output.at(0, 3, 0));
  CHECK(trace.output.at(0, 3, 2) > trace.output.at(0, 3, 1));
}

TEST_CASE("presets: the pronoun looks at the animal, and every row makes sense") {
  const State s = named("pronoun");
  REQUIRE(s.tokens == 10);
  const int who[] = {1, 1, 3, 1, 5, 5, 9, 1, 9, 1}, what[] = {3, 3, 3, 3, 3, 3, 3, 9, 9, 9};
  const Matrix first = weightsOf(s, 0, true), second = weightsOf(s, 1, true);
  CHECK(first[7][1] > 0.9);
  for (std::size_t i = 0; i < 10; ++i) {
    CAPTURE(i);
    // "cross" has two that take part, "because" joins two events: the second of them is as good.
    if (i == 3)
      CHECK(first[i][1] + first[i][5] > 0.8);
    else if (i == 6)
      CHECK(first[i][3] + first[i][9] > 0.9);
    else
      CHECK(strongest(first[i]) == who[i]);
    if (i == 6)
      CHECK(second[i][3] + second[i][9] > 0.9);
    else
      CHECK(strongest(second[i]) == what[i]);
    if (i != 3 && i != 6) CHECK(first[i][static_cast<std::size_t>(who[i])] > 0.65);
  }
}

TEST_CASE("presets: previous token") {
  const Matrix w = weightsOf(named("previous-token"), 0, true);
  CHECK(w[0][0] == 1.0);
  for (std::size_t i = 1; i < w.size(); ++i) CHECK(w[i][i - 1] > 0.99);
}

TEST_CASE("presets: look-up takes one value whole") {
  const State s = named("look-up");
  const attention::Trace trace = traced(s);
  const int found[] = {0, 1, 2, 3, 2, 1};
  for (int i = 0; i < 6; ++i) {
    CHECK(trace.weights.at(0, i, found[i]) > 0.998f);
    for (int c = 0; c < 4; ++c)
      CHECK(std::abs(trace.headOutput.at(0, i, c) - s.v.at(0, found[i], c)) < 0.005f);
  }
}

TEST_CASE("presets: uniform gives the mean") {
  const State s = named("uniform");
  const attention::Trace trace = traced(s);
  for (const float w : trace.weights.values()) CHECK(w == doctest::Approx(0.2));
  for (int c = 0; c < s.headDim; ++c) {
    float mean = 0;
    for (int t = 0; t < s.tokens; ++t) mean += s.v.at(0, t, c) / static_cast<float>(s.tokens);
    CHECK(std::abs(trace.headOutput.at(0, 2, c) - mean) < 1e-6f);
  }
}

TEST_CASE("presets: saturated without ÷ √d_k, and not with it") {
  const State s = named("saturated");
  CHECK(s.score == attention::Score::dot);
  const Matrix raw = weightsOf(s, 0, false), scaled = weightsOf(s, 0, true);
  for (std::size_t i = 0; i < raw.size(); ++i) {
    CHECK(raw[i][static_cast<std::size_t>(strongest(raw[i]))] > 0.95);
    CHECK(scaled[i][static_cast<std::size_t>(strongest(scaled[i]))] < 0.5);
  }
}
