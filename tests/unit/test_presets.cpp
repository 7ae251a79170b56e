// Every preset shows what its text says. The weights are computed by the layer, and here once more.
#include <algorithm>
#include <cmath>

#include "attention/engine/decode.h"
#include "attention/steps/forward.h"
#include "base/sentence.h"
#include "document/derived.h"
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

double weight(const attention::Trace& trace, int query, int key, int head = 0) {
  return static_cast<double>(trace.weights.at(head, query, key));
}

int strongestKey(const attention::Trace& trace, int query, int head = 0) {
  const float* row = trace.weights.row(head, query);
  return static_cast<int>(std::max_element(row, row + trace.weights.cols()) - row);
}

/// The same state with one option changed.
State with(State s, OptionId id, const Value& value) {
  REQUIRE(test::refusal(check(s, id, value)) == "accepted");
  document::apply(s, SetOption{id, value});
  return s;
}

Value text(const char* word) { return std::string(word); }

double rounded(double value) { return std::round(value * 100.0) / 100.0; }

}  // namespace

TEST_CASE("presets: names, and states that are whole") {
  REQUIRE(presets().size() == 32);
  CHECK(presets()[0].name == "i-saw-a-saw");
  CHECK(presets()[0].title == "I saw a saw");
  for (const Preset& p : presets()) {
    CAPTURE(p.name);
    const State s = named(p.name);
    CHECK(test::refusal(check(s)) == "accepted");
    CHECK(s.preset == p.name);
    CHECK((s.mode == Mode::x) == (p.name == "sinusoidal" || p.name == "target-outputs" ||
                                  p.name == "transformer-block" || p.name == "image-patches"));
    CHECK(!p.title.empty());
    CHECK(p.about.back() == '.');
    for (const TensorId id : inputIds())
      for (const float v : input(s, id)->values())
        CHECK(std::abs(v * 100.0f - std::round(v * 100.0f)) < 1e-3f);
    const auto again = fromText(toText(s), {});
    REQUIRE(again);
    CHECK(sameBits(*again, s));
  }
  // A phone has no room for all names.
  CHECK(test::refusal(preset("i-saw-a-sow"))
            .starts_with(base::joined({"preset: there is no \"i-saw-a-sow\"; use one of ", presets().size(),
                                       " others, perhaps i-saw-a-saw, "})));
  CHECK(test::refusal(preset("nope")).size() < 120);
}

TEST_CASE("presets: the layer agrees with plain arithmetic") {
  for (const Preset& p : presets().first(6)) {
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
    if (p.name == "i-saw-a-saw" || p.name == "sinusoidal" || p.name == "target-outputs" ||
        p.name == "transformer-block" || p.name == "image-patches")
      continue;
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
  CHECK(trace.weights.at(0, 1, 2) == 0.0f);  // the first "saw" cannot see the second
  // The output tells which words were mixed: mostly "a".
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
    // "cross" has two participants and "because" joins two events; in both cases either answer is correct.
    if (i == 3) CHECK(first[i][1] + first[i][5] > 0.8);
    else if (i == 6) CHECK(first[i][3] + first[i][9] > 0.9);
    else CHECK(strongest(first[i]) == who[i]);
    if (i == 6) CHECK(second[i][3] + second[i][9] > 0.9);
    else CHECK(strongest(second[i]) == what[i]);
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

TEST_CASE("presets: additive scores align words that stand in another order") {
  const State s = named("additive");
  CHECK(s.score == attention::Score::additive);
  const attention::Trace trace = traced(s);
  const int wanted[] = {0, 3, 2, 1};
  for (int i = 0; i < 4; ++i) {
    CHECK(weight(trace, i, wanted[i]) > 0.95);
    // v_a · tanh(W_a q + U_a k), by hand, with two units: 2Δ + 1 and 2Δ - 1.
    double scores[4], sum = 0;
    for (int j = 0; j < 4; ++j) {
      const double delta = wanted[i] - j;
      scores[j] = 3 * std::tanh(2 * delta + 1) - 3 * std::tanh(2 * delta - 1);
      CHECK(static_cast<double>(trace.raw.at(0, i, j)) == doctest::Approx(scores[j]));
      sum += std::exp(scores[j]);
    }
    for (int j = 0; j < 4; ++j) CHECK(weight(trace, i, j) == doctest::Approx(std::exp(scores[j]) / sum));
  }
  CHECK(keyLabels(s)[static_cast<std::size_t>(strongestKey(trace, 1))] == "Area");
}

TEST_CASE("presets: general scores look at the opposite, dot products at themselves") {
  const State s = named("general");
  const attention::Trace general = traced(s), dot = traced(with(s, OptionId::score, text("dot")));
  const double strong = std::exp(4.0) / (std::exp(4.0) + 3);
  for (int i = 0; i < 4; ++i) {
    CHECK(weight(general, i, i ^ 1) == doctest::Approx(strong));
    CHECK(weight(dot, i, i) == doctest::Approx(strong));
  }
}

TEST_CASE("presets: cosine does not see lengths, a dot product does") {
  const State s = named("cosine");
  const attention::Trace cosine = traced(s), dot = traced(with(s, OptionId::score, text("dot")));
  for (const int i : {0, 1}) {
    CHECK(weight(cosine, i, 0) == doctest::Approx(weight(cosine, i, 1)));
    CHECK(weight(cosine, i, 0) > 0.48);
    CHECK(weight(dot, i, 1) > 0.99);
  }
  CHECK(weight(cosine, 4, 0) == doctest::Approx(weight(cosine, 4, 3)));
}

TEST_CASE("presets: a translation looks across two sentences of different lengths") {
  const State s = named("alignment");
  CHECK(s.cross);
  CHECK(s.tokens == 4);
  CHECK(s.keyTokens == 3);
  const attention::Trace trace = traced(s);
  const int wanted[] = {0, 1, 2, 2};
  for (int i = 0; i < 4; ++i) {
    CHECK(strongestKey(trace, i) == wanted[i]);
    CHECK(weight(trace, i, wanted[i]) > 0.95);
  }
  CHECK(weight(trace, 2, 2) < weight(trace, 3, 2));
}

TEST_CASE("presets: a window of three makes the mean of three days") {
  const State s = named("local-window");
  const attention::Trace trace = traced(s);
  const double means[] = {12, 13.5, 12, 14, 16, 19, 18};
  for (int i = 0; i < 7; ++i)
    CHECK(static_cast<double>(trace.headOutput.at(0, i, 0)) == doctest::Approx(means[i]));
}

TEST_CASE("presets: sparse patterns see what their names say") {
  const State longformer = named("longformer"), bigbird = named("bigbird"), block = named("block");
  CHECK(get(longformer, OptionId::pattern) == text("longformer"));
  CHECK(get(bigbird, OptionId::pattern) == text("bigbird"));
  CHECK(get(block, OptionId::pattern) == text("block"));
  const attention::Trace wide = traced(longformer), random = traced(bigbird), apart = traced(block);
  for (int i = 0; i < 12; ++i) {
    int drawn = 0;
    for (int j = 0; j < 12; ++j) {
      const bool near = std::abs(i - j) < 2 || i == 0 || j == 0;
      CHECK((wide.weights.at(0, i, j) > 0) == near);
      CHECK((apart.weights.at(0, i, j) > 0) == (i / 4 == j / 4));
      if (near) CHECK(random.weights.at(0, i, j) > 0);
      drawn += !near && random.weights.at(0, i, j) > 0 ? 1 : 0;
    }
    CHECK(drawn <= 1);
  }
  CHECK(attention::visibleCount(spec(bigbird)) > attention::visibleCount(spec(longformer)));
  CHECK(attention::visibleCount(spec(block)) == 48);
}

TEST_CASE("presets: sparsemax gives zeros, softmax does not") {
  const State s = named("sparsemax");
  const attention::Trace sparse = traced(s), soft = traced(with(s, OptionId::normalizer, text("softmax")));
  const double hues[] = {0, 30, 60, 120, 240};
  for (int i = 0; i < 5; ++i) {
    double sum = 0;
    for (int j = 0; j < 5; ++j) {
      const double apart = std::abs(hues[i] - hues[j]);
      if (apart >= 90) CHECK(sparse.weights.at(0, i, j) == 0.0f);
      CHECK(soft.weights.at(0, i, j) > 0);
      sum += weight(sparse, i, j);
    }
    CHECK(sum == doctest::Approx(1));
    CHECK(strongestKey(sparse, i) == i);
  }
  CHECK(weight(sparse, 0, 1) > 0.3);
  CHECK(weight(sparse, 4, 4) == 1);
}

TEST_CASE("presets: heads that share keys and values") {
  const State grouped = named("grouped-query"), multi = named("multi-query");
  CHECK(grouped.heads == 4);
  CHECK(grouped.kvHeads == 2);
  CHECK(multi.kvHeads == 1);
  CHECK(sameBits(grouped.q, multi.q));
  for (const State& s : {grouped, multi}) {
    const attention::Trace trace = traced(s);
    for (int h = 0; h < 4; ++h) {
      State one = s;  // head h of Q with its own copy of the keys and values
      const int kv = h * s.kvHeads / 4;
      one.heads = one.kvHeads = 1;
      one.q = Tensor(1, 5, 3), one.k = Tensor(1, 5, 3), one.v = Tensor(1, 5, 3);
      std::copy_n(s.q.head(h), 15, one.q.data());
      std::copy_n(s.k.head(kv), 15, one.k.data());
      std::copy_n(s.v.head(kv), 15, one.v.data());
      const attention::Trace alone = traced(one);
      for (int i = 0; i < 5; ++i)
        for (int c = 0; c < 3; ++c)
          CHECK(trace.headOutput.at(h, i, c) ==
                doctest::Approx(static_cast<double>(alone.headOutput.at(0, i, c))));
    }
  }
}

TEST_CASE("presets: positions tell equal tokens apart") {
  for (const char* name : {"sinusoidal", "rotary"}) {
    CAPTURE(name);
    const State s = named(name);
    const attention::Trace there = traced(s), gone = traced(with(s, OptionId::position, text("none")));
    for (int i = 1; i < 6; ++i) {
      CHECK(weight(there, i, i - 1) > 0.98);
      CHECK(weight(gone, i, i - 1) == doctest::Approx(1.0 / (i + 1)));
    }
  }
  const attention::Trace alibi = traced(named("alibi"));
  for (int h = 0; h < 4; ++h) {
    const double slope = std::exp2(-2.0 * (h + 1));  // 2^(-8(h+1)/heads)
    double sum = 0;
    for (int j = 0; j < 6; ++j) sum += std::exp(-slope * (5 - j));
    for (int j = 0; j < 6; ++j)
      CHECK(weight(alibi, 5, j, h) == doctest::Approx(std::exp(-slope * (5 - j)) / sum));
  }
}

TEST_CASE("presets: a decoder has something new, something reused and something evicted") {
  const State s = named("decoder");
  CHECK(s.step == 5);
  const attention::CacheStep step = attention::cacheStep(spec(s), s.step - 1);
  CHECK(step.added.end - step.added.begin == 1);
  CHECK(step.reused.end - step.reused.begin == 2);
  CHECK(step.evicted.end - step.evicted.begin == 1);
  const attention::Trace trace = traced(s);
  CHECK(s.labels[static_cast<std::size_t>(strongestKey(trace, 1))] == "she");
  CHECK(s.labels[static_cast<std::size_t>(strongestKey(trace, 4))] == "he");
  CHECK(weight(trace, 4, 0) == 0);
  for (const Preset& p : presets()) CHECK((named(p.name).step > 0) == (p.name == "decoder"));
}

TEST_CASE("presets: the block adds, normalises and goes on") {
  const State s = named("transformer-block");
  CHECK(s.view == View::block);
  const attention::Trace trace = traced(s);
  const double strong = std::exp(3.0) / (std::exp(3.0) + 3);
  const int wanted[] = {2, 2, 1, 2};
  for (int i = 0; i < 4; ++i) CHECK(weight(trace, i, wanted[i]) == doctest::Approx(strong));
  const BlockRun run = DerivedTensors(s, trace).block();
  CHECK(run.spec.residual);
  CHECK(test::refusal(attention::validate(run.spec, run.inputs())) == "accepted");
  const Tensor& sum = run.trace[attention::BlockStage::residual_1];
  const Tensor& norm = run.trace[attention::BlockStage::norm_2];
  for (int i = 0; i < 4; ++i) {
    double mean = 0;
    for (int c = 0; c < 4; ++c) {
      CHECK(sum.at(0, i, c) == s.x.at(0, i, c) + trace.output.at(0, i, c));
      mean += static_cast<double>(norm.at(0, i, c)) / 4;
    }
    CHECK(mean == doctest::Approx(0).epsilon(1e-5));
  }
}

TEST_CASE("presets: three clauses, weighed within and then against each other") {
  const State s = named("segments");
  CHECK(s.view == View::segments);
  const attention::Trace trace = traced(s);
  const SegmentsRun run = DerivedTensors(s, trace).segments();
  CHECK(run.starts == std::vector<int>{0, 3, 6});
  for (int clause = 0; clause < 3; ++clause) {
    double sum = 0;
    for (int t = 3 * clause; t < 3 * clause + 3; ++t)
      sum += static_cast<double>(run.trace.tokens.weights.at(0, t, 0));
    CHECK(sum == doctest::Approx(1));
  }
  const auto weight = [&](int token) { return run.trace.tokens.weights.at(0, token, 0); };
  const auto clause = [&](int i) { return run.trace.segments.weights.at(0, i, 0); };
  for (const int verb : {1, 4, 7}) {
    CHECK(weight(verb) > 2 * weight(verb - 1));
    CHECK(weight(verb - 1) > weight(verb + 1));
  }
  CHECK(clause(2) > 1.2f * clause(1));
  CHECK(clause(1) > 2 * clause(0));
  double sum = 0;
  for (const float w : run.trace.segments.weights.values()) sum += static_cast<double>(w);
  CHECK(sum == doctest::Approx(1));
}

TEST_CASE("presets: a mask after softmax loses a part of one") {
  const State s = named("mask-after-softmax");
  const attention::Trace wrong = traced(s), right = traced(with(s, OptionId::mask_after_softmax, false));
  const double kept[] = {0.197, 0.190, 0.434, 0.914, 1};  // the sums of the rows
  for (int i = 0; i < 5; ++i) {
    CHECK(std::abs(static_cast<double>(wrong.headOutput.at(0, i, 0)) - kept[i]) < 0.0005);
    CHECK(static_cast<double>(right.headOutput.at(0, i, 0)) == doctest::Approx(1));
  }
}

TEST_CASE("presets: what attention is used for") {
  const attention::Trace image = traced(named("image-patches")), speech = traced(named("speech")),
                         caption = traced(named("caption")), summary = traced(named("summary")),
                         series = traced(named("time-series")), next = traced(named("generation"));
  for (const int same : {0, 2, 3, 6, 8}) CHECK(weight(image, 0, same) > 0.19);
  const int heard[] = {1, 3, 6};
  for (int i = 0; i < 3; ++i) {
    CHECK(strongestKey(speech, i) == heard[i]);
    CHECK(weight(speech, i, 0) < 0.005);
  }
  for (const int even : {0, 3}) CHECK(weight(caption, even, 0) == doctest::Approx(0.2));
  CHECK(strongestKey(caption, 4) == 4);
  CHECK(strongestKey(summary, 1) == 6);
  CHECK(series.headOutput.at(0, 7, 0) == doctest::Approx(8.5).epsilon(0.03));
  const int votes[] = {1, 2, 3, 0, 4};
  for (int i = 0; i < 5; ++i) {
    const float* row = next.headOutput.row(0, i);
    CHECK(std::max_element(row, row + 5) - row == votes[i]);
  }
}
