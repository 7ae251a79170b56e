// Attention at two levels: against NumPy (tests/golden/derived.py), against a simple version in double, and
// its properties and errors.
#include <doctest/doctest.h>

#include <numeric>

#include "attention/models/hierarchy.h"
#include "attention/steps/forward.h"
#include "derived.h"
#include "document/derived.h"
#include "document_support.h"
#include "layer.h"

using namespace attention;
using nlohmann::json;
using test::Random;

namespace {

struct Hierarchy {
  Tensor h, tokenW, tokenB, tokenQuery, segmentW, segmentB, segmentQuery, classW, classB;
  std::vector<int> starts;

  HierarchyInputs inputs() const {
    const bool classifies = !classW.empty();
    return {&h,
            starts,
            {&tokenW, &tokenB, &tokenQuery},
            {&segmentW, &segmentB, &segmentQuery},
            classifies ? &classW : nullptr,
            classifies ? &classB : nullptr};
  }
  HierarchyTrace run() const {
    const auto ok = validate(inputs());
    REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
    HierarchyTrace trace;
    forwardHierarchy(inputs(), trace);
    return trace;
  }
};

Hierarchy made(int tokens, int width, int units, std::vector<int> starts, Random& random) {
  Hierarchy x;
  test::fill(x.h = {1, tokens, width}, random);
  for (Tensor* w : {&x.tokenW, &x.segmentW}) test::fill(*w = {1, width, units}, random, 0.5f);
  for (Tensor* v : {&x.tokenB, &x.tokenQuery, &x.segmentB, &x.segmentQuery})
    test::fill(*v = {1, 1, units}, random);
  x.starts = std::move(starts);
  return x;
}

// --- One level in double, for the rows of one group: equations 5 to 7 of the paper in order.

using Row = std::vector<double>;

Row weightsOf(const std::vector<Row>& rows, const Tensor& w, const Tensor& b, const Tensor& query) {
  Row weights;
  double total = 0.0;
  for (const Row& h : rows) {
    double score = 0.0;
    for (int c = 0; c < w.cols(); ++c) {
      double u = double{b.at(0, 0, c)};
      for (int i = 0; i < w.rows(); ++i) u += h[static_cast<std::size_t>(i)] * double{w.at(0, i, c)};
      score += std::tanh(u) * double{query.at(0, 0, c)};
    }
    weights.push_back(std::exp(score));
    total += weights.back();
  }
  for (double& a : weights) a /= total;
  return weights;
}

Row sumOf(const std::vector<Row>& rows, const Row& weights) {
  Row sum(rows[0].size());
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < sum.size(); ++c) sum[c] += weights[r] * rows[r][c];
  }
  return sum;
}

struct Reference {
  Row tokenWeights, segmentWeights, document;
};

Reference reference(const Hierarchy& x) {
  Reference out;
  std::vector<Row> segments;
  for (std::size_t s = 0; s < x.starts.size(); ++s) {
    const int end = s + 1 < x.starts.size() ? x.starts[s + 1] : x.h.rows();
    std::vector<Row> rows;
    for (int i = x.starts[s]; i < end; ++i) rows.emplace_back(x.h.row(0, i), x.h.row(0, i) + x.h.cols());
    const Row weights = weightsOf(rows, x.tokenW, x.tokenB, x.tokenQuery);
    out.tokenWeights.insert(out.tokenWeights.end(), weights.begin(), weights.end());
    segments.push_back(sumOf(rows, weights));
  }
  out.segmentWeights = weightsOf(segments, x.segmentW, x.segmentB, x.segmentQuery);
  out.document = sumOf(segments, out.segmentWeights);
  return out;
}

std::string refusal(const Hierarchy& x) {
  const auto ok = validate(x.inputs());
  return ok ? "accepted" : ok.error().message();
}

}  // namespace

TEST_CASE("hierarchy: both levels of every stored case, from NumPy") {
  const json golden = test::derived();
  for (const json& stored : golden.at("hierarchies")) {
    const std::string caseName = stored.at("name");
    CAPTURE(caseName);
    const json& in = stored.at("inputs");
    Hierarchy x;
    x.h = test::tensorOf(in.at("h")), x.starts = stored.at("starts").get<std::vector<int>>();
    x.tokenW = test::tensorOf(in.at("tokens.w")), x.tokenB = test::tensorOf(in.at("tokens.b"));
    x.tokenQuery = test::tensorOf(in.at("tokens.query")), x.segmentW = test::tensorOf(in.at("segments.w"));
    x.segmentB = test::tensorOf(in.at("segments.b")),
    x.segmentQuery = test::tensorOf(in.at("segments.query"));
    x.classW = test::tensorOf(in.at("class.w")), x.classB = test::tensorOf(in.at("class.b"));
    const HierarchyTrace trace = x.run();
    const json& wanted = stored.at("expected");
    test::compare(wanted.at("tokens.scores"), trace.tokens.scores, 4e-6);
    test::compare(wanted.at("tokens.weights"), trace.tokens.weights, 2e-6);
    test::compare(wanted.at("tokens.sums"), trace.tokens.sums, 4e-6);
    test::compare(wanted.at("segments.scores"), trace.segments.scores, 4e-6);
    test::compare(wanted.at("segments.weights"), trace.segments.weights, 2e-6);
    test::compare(wanted.at("segments.sums"), trace.segments.sums, 4e-6);
    test::compare(wanted.at("class.scores"), trace.classScores, 4e-6);
    test::compare(wanted.at("class.probabilities"), trace.classProbabilities, 2e-6);
    for (int i = 0; i < 3; ++i) {
      const Explanation e = explainClass(x.inputs(), trace, i, "news", 2);
      CHECK(e.name == "p[news]");
      REQUIRE(e.terms.size() == 3);
      CHECK(e.terms[0].value == doctest::Approx(trace.classScores.at(0, 0, i)));
      CHECK(e.terms[2].value == doctest::Approx(trace.classProbabilities.at(0, 0, i)));
    }
  }
}

TEST_CASE("hierarchy: agrees with the readable version, and weights of a group sum to 1") {
  Random random(7);
  for (const auto& [tokens, width, units] : {std::array{1, 1, 1}, {6, 3, 2}, {17, 9, 16}, {40, 33, 8}}) {
    for (int size : {1, 2, 5, 64}) {
      const Hierarchy x = made(tokens, width, units, splitEvery(tokens, size), random);
      const HierarchyTrace trace = x.run();
      const Reference exact = reference(x);
      CAPTURE(tokens);
      CAPTURE(size);
      test::compare(exact.tokenWeights, trace.tokens.weights, 4e-6);
      test::compare(exact.segmentWeights, trace.segments.weights, 4e-6);
      test::compare(exact.document, trace.segments.sums, 1e-5);
      const auto shares = trace.shares.values();
      CHECK(std::abs(std::accumulate(shares.begin(), shares.end(), 0.0) - 1.0) < 2e-6);
    }
  }
}

TEST_CASE(
    "hierarchy: the document is the tokens times their shares, and a query of zeros looks at all alike") {
  Random random(11);
  Hierarchy x = made(7, 4, 5, {0, 3, 5}, random);
  const HierarchyTrace trace = x.run();
  for (int c = 0; c < 4; ++c) {
    double sum = 0.0;
    for (int i = 0; i < 7; ++i) sum += double{trace.shares.at(0, i, 0)} * double{x.h.at(0, i, c)};
    CHECK(std::abs(sum - double{trace.segments.sums.at(0, 0, c)}) < 1e-5);
  }
  x.tokenQuery = x.segmentQuery = Tensor(1, 1, 5);
  const HierarchyTrace even = x.run();
  CHECK(even.tokens.weights.at(0, 0, 0) == doctest::Approx(1.0 / 3));
  CHECK(even.tokens.weights.at(0, 6, 0) == doctest::Approx(0.5));
  CHECK(even.segments.weights.at(0, 2, 0) == doctest::Approx(1.0 / 3));
}

TEST_CASE("hierarchy: what happens in one segment stays in it, until the segments are compared") {
  Random random(13);
  Hierarchy x = made(8, 4, 5, {0, 4}, random);
  const HierarchyTrace before = x.run();
  for (int c = 0; c < 4; ++c) x.h.at(0, 6, c) += 1.0f;
  const HierarchyTrace after = x.run();
  for (int i = 0; i < 4; ++i) CHECK(before.tokens.weights.at(0, i, 0) == after.tokens.weights.at(0, i, 0));
  CHECK(before.tokens.weights.at(0, 5, 0) != after.tokens.weights.at(0, 5, 0));
  CHECK(before.segments.weights.at(0, 0, 0) != after.segments.weights.at(0, 0, 0));
}

TEST_CASE("hierarchy: segments") {
  CHECK(splitEvery(7, 3) == std::vector{0, 3, 6});
  CHECK(splitEvery(2, 9) == std::vector{0});
  CHECK(splitEvery(2, 0) == std::vector{0, 1});
  const std::vector<std::string> words{"I", "came,", "I", "saw", "…", "!", "?", "Then", "home."};
  CHECK(splitAtPunctuation(words) == std::vector{0, 2, 7});
  CHECK(splitAtPunctuation(std::vector<std::string>{".", "."}) == std::vector{0});
  const std::vector<int> starts{0, 2, 7};
  CHECK(segmentOf(starts, 0) == 0);
  CHECK(segmentOf(starts, 2) == 1);
  CHECK(segmentOf(starts, 6) == 1);
  CHECK(segmentOf(starts, 100) == 2);
}

TEST_CASE("hierarchy: explanations end in the weight that they explain") {
  Random random(2);
  const Hierarchy x = made(5, 4, 3, {0, 2}, random);
  const HierarchyTrace trace = x.run();
  for (int i = 0; i < 5; ++i) {
    const Explanation e = explain(x.inputs(), trace, Level::tokens, i, {"I", "saw"}, 2);
    REQUIRE(e.terms.size() == 3);
    CHECK(e.terms.back().value == doctest::Approx(trace.tokens.weights.at(0, i, 0)));
    CHECK(e.terms[1].value / e.terms[2].value > 0.0);
  }
  const Explanation e = explain(x.inputs(), trace, Level::segments, 1, {}, 2);
  CHECK(e.name == "a[segment 2]");
  CHECK(e.terms[2].label == "÷ Σ segments");
}

TEST_CASE("hierarchy: refusals") {
  Random random(1);
  const Hierarchy good = made(5, 4, 3, {0, 2}, random);
  CHECK(refusal(good) == "accepted");
  const auto starting = [&](std::vector<int> starts) {
    Hierarchy x = good;
    x.starts = std::move(starts);
    return refusal(x);
  };
  CHECK(starting({}) == "starts: there is no segment; give the first token of each, from 0.");
  CHECK(starting({1}) == "starts[0]: 1 leaves tokens before it; use 0 for the first segment.");
  CHECK(starting({0, 3, 3}) == "starts[2]: 3 does not come after 3; use increasing numbers.");
  CHECK(starting({0, 5}) == "starts[1]: 5 is beyond the last token; use at most 4.");
  Hierarchy x = good;
  x.tokenQuery = Tensor(1, 1, 4);
  CHECK(refusal(x) == "tokens.query.shape: [1, 1, 4] does not fit the other sizes; use [1, 1, 3].");
  x = good;
  x.segmentW = Tensor(1, 5, 3);
  CHECK(refusal(x) == "segments.w.shape: [1, 5, 3] does not fit the other sizes; use [1, 4, 3].");
  x = good;
  x.classW = Tensor(1, 4, 3), x.classB = Tensor(1, 1, 2);
  CHECK(refusal(x) == "class.b.shape: [1, 1, 2] does not fit the other sizes; use [1, 1, 3].");
  x = good;
  x.h.at(0, 1, 2) = NAN;
  CHECK(refusal(x) == "h[0,1,2] is NaN; every number must be finite.");
}

TEST_CASE("hierarchy: the class follows the weights of the words, and its names are of the document") {
  document::Document d(test::start());
  const auto probability = [&] {
    attention::Trace trace;
    forward(spec(d.state()), inputs(d.state()), trace);
    return document::DerivedTensors(d.state(), trace).segments().trace.classProbabilities;
  };
  CHECK(probability().cols() == 2);
  CHECK(document::className(d.state(), 1) == "Class 2");
  const Tensor before = probability();
  REQUIRE(d.apply(document::SetParameter{document::ParameterId::token_query, 0, 0, 1, 1, {4.0f}}));
  CHECK(probability() != before);
  REQUIRE(d.apply(document::SetParameter{document::ParameterId::class_w, 0, 1, 1, 1, {3.0f}}));
  REQUIRE(d.apply(document::SetOption{document::OptionId::segment_classes, std::string("good, bad")}));
  CHECK(document::parameter(d.state(), document::ParameterId::class_w).at(0, 0, 1) == 3.0f);
  REQUIRE(d.apply(document::SetOption{document::OptionId::segment_classes, std::string("good,, bad")}));
  const Tensor three = probability();
  CHECK(three.cols() == 3);
  CHECK(three.at(0, 0, 0) + three.at(0, 0, 1) + three.at(0, 0, 2) == doctest::Approx(1.0));
  CHECK(document::className(d.state(), 1) == "Class 2");
  CHECK(document::className(d.state(), 2) == "bad");
  const auto again = document::fromText(document::toText(d.state()), document::State{});
  REQUIRE(again);
  CHECK(again->segments == d.state().segments);
  const auto refused =
      d.apply(document::SetOption{document::OptionId::segment_classes, std::vector<std::string>(9, "x")});
  REQUIRE(!refused);
  CHECK(refused.error().message() == "segment_classes: there are 9; use at most 8.");
}
