// Where the numbers of a step are, at any time: boundaries, sums, and the same picture forwards and
// backwards.
#include <algorithm>
#include <cmath>
#include <map>

#include <doctest/doctest.h>
#include "views/board/motion.h"

namespace {

using attention::RowStep;
using attention::TensorId;
using views::Box;
using views::Motion;
using views::Piece;

constexpr float kCell = 48;

/// A row of three queries, the column of a key, four keys, and three columns of V above the output.
views::Stage stage(bool turned = false) {
  views::Stage s;
  const auto cell = [&](float x, float y) {
    return turned ? Box{y, x, kCell, kCell} : Box{x, y, kCell, kCell};
  };
  for (int i = 0; i < 3; ++i) {
    const float at = kCell * static_cast<float>(i);
    s.query.push_back(cell(100 + at, 400)), s.key.push_back(cell(500, 100 + at)),
        s.output.push_back(cell(1000 + at, 400));
  }
  for (int j = 0; j < 4; ++j) {
    const float at = kCell * static_cast<float>(j);
    s.score.push_back(cell(404 + at, 400)), s.weight.push_back(cell(700 + at, 400));
    for (int c = 0; c < 3; ++c) s.value.push_back(cell(1000 + kCell * static_cast<float>(c), 100 + at));
  }
  s.queries = {0.2f, -0.7f, 1.6f}, s.keys = {0.3f, -0.5f, 1.4f};
  s.raw = {-0.88f, -0.31f, 2.65f, -0.8f};
  for (const float r : s.raw) s.scaled.push_back(r / std::sqrt(3.0f));
  s.sum = 0;
  for (const float x : s.scaled)
    s.exponentials.push_back(std::exp(x - s.scaled[2])), s.sum += s.exponentials.back();
  for (const float e : s.exponentials) s.weights.push_back(e / s.sum);
  s.values = {0.7f, 0.3f, 0, -0.4f, 0.9f, 0.2f, 0.1f, -0.2f, 1, 0.5f, 0.5f, -0.8f};
  s.outputs.assign(3, 0);
  for (std::size_t i = 0; i < s.values.size(); ++i) s.outputs[i % 3] += s.weights[i / 3] * s.values[i];
  s.example = 2;
  return s;
}

/// The topmost visible cell or bar at a place; null if there is none.
const Piece* top(const std::vector<Piece>& pieces, const Box& at) {
  for (auto p = pieces.rbegin(); p != pieces.rend(); ++p)
    if ((p->kind == Piece::Kind::cell || p->kind == Piece::Kind::bar) && p->opacity > 0.99f &&
        std::hypot(p->x - at.midX(), p->y - at.midY()) < 0.01f)
      return &*p;
  return nullptr;
}

/// Each place holds that number, and a whole cell there is of that tensor.
void holds(const std::vector<Piece>& pieces, const std::vector<Box>& places,
           const std::vector<float>& numbers, TensorId of) {
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Piece* p = top(pieces, places[i]);
    REQUIRE(p);
    CHECK(p->value == numbers[i]);
    CHECK(p->of == of);
    CHECK(p->width == doctest::Approx(places[i].width));
    CHECK(std::fabs(p->tilt) < 1e-5f);
  }
}

std::vector<Box> beside(const views::Stage& s, float by, bool turned) {
  std::vector<Box> out = s.key;
  for (Box& b : out) (turned ? b.y : b.x) += by;
  return out;
}

}  // namespace

TEST_CASE("motion: the steps take the times of the design, 2.88 s in all with and without a mask") {
  for (const bool causal : {false, true}) {
    attention::Spec spec;
    spec.headDim = 3, spec.causal = causal;
    const attention::Inputs inputs;
    const auto steps = attention::stepsOf(spec, inputs, false);
    std::map<Motion, float> times;
    float all = 0, softmax = 0;
    for (const RowStep step : steps)
      for (const views::Beat& b : views::beatsOf(step, steps, spec)) {
        times[b.motion] += b.ms, all += b.ms;
        if (step >= RowStep::masked && step <= RowStep::weights) softmax += b.ms;
      }
    CHECK(all == doctest::Approx(2880));
    CHECK(softmax == doctest::Approx(660));
    for (const auto& [motion, ms] : {std::pair{Motion::slide, 420},
                                     {Motion::multiply, 360},
                                     {Motion::add, 420},
                                     {Motion::divide, 300},
                                     {Motion::pour, 720}})
      CHECK(times[motion] == static_cast<float>(ms));
  }
}

TEST_CASE("motion: scores that are no dot products and other normalisers move nothing that is not so") {
  const attention::Inputs inputs;
  attention::Spec spec;
  spec.headDim = 3;
  const auto motions = [&] {
    std::vector<Motion> out;
    const auto steps = attention::stepsOf(spec, inputs, false);
    for (const RowStep step : steps)
      for (const views::Beat& b : views::beatsOf(step, steps, spec)) out.push_back(b.motion);
    return out;
  };
  const auto has = [&](Motion m) {
    const auto all = motions();
    return std::find(all.begin(), all.end(), m) != all.end();
  };
  for (const attention::Score score : {attention::Score::additive, attention::Score::general}) {
    spec.score = score;
    CHECK(!has(Motion::slide));
    CHECK(!has(Motion::add));
    CHECK(!has(Motion::divide));
    CHECK(has(Motion::pour));
  }
  spec.score = attention::Score::cosine;
  CHECK(has(Motion::add));
  CHECK(!has(Motion::divide));
  spec.score = attention::Score::scaled, spec.normalizer = attention::Normalizer::sparsemax;
  CHECK(!has(Motion::share));
  CHECK(has(Motion::move));
}

TEST_CASE(
    "motion: at each boundary the numbers are where the next motion begins, also with tokens as columns") {
  for (const bool turned : {false, true}) {
    const views::Stage s = stage(turned);
    std::vector<float> products;
    for (std::size_t i = 0; i < 3; ++i) products.push_back(s.queries[i] * s.keys[i]);
    holds(piecesAt(s, Motion::slide, 0), s.query, s.queries, TensorId::q);
    for (const Motion m : {Motion::slide, Motion::multiply})
      holds(piecesAt(s, m, 1), beside(s, -kCell, turned), s.queries, TensorId::q);
    holds(piecesAt(s, Motion::multiply, 0), beside(s, -kCell, turned), s.queries, TensorId::q);
    holds(piecesAt(s, Motion::multiply, 1), beside(s, kCell, turned), products, TensorId::scores);
    holds(piecesAt(s, Motion::add, 0), beside(s, kCell, turned), products, TensorId::scores);
    holds(piecesAt(s, Motion::add, 0), beside(s, -kCell, turned), s.queries, TensorId::q);
    holds(piecesAt(s, Motion::add, 1), s.score, s.raw, TensorId::scores);
    holds(piecesAt(s, Motion::divide, 0), s.score, s.raw, TensorId::scores);
    holds(piecesAt(s, Motion::divide, 1), s.score, s.scaled, TensorId::scores);
    holds(piecesAt(s, Motion::share, 1), s.weight, s.weights, TensorId::weights);
    holds(piecesAt(s, Motion::move, 0), s.score, s.scaled, TensorId::scores);
    holds(piecesAt(s, Motion::move, 1), s.weight, s.weights, TensorId::weights);
    holds(piecesAt(s, Motion::pour, 1), s.output, s.outputs, TensorId::head_output);
    const auto grown = piecesAt(s, Motion::grow, 1), shared = piecesAt(s, Motion::share, 0),
               stood = piecesAt(s, Motion::stand, 0.3f);
    REQUIRE(grown.size() == shared.size());
    for (std::size_t i = 0; i < grown.size(); ++i) {
      CHECK(std::hypot(grown[i].x - shared[i].x, grown[i].y - shared[i].y) < 1e-3f);
      CHECK(grown[i].height == doctest::Approx(shared[i].height));
      CHECK(grown[i].height == stood[i].height);
    }
  }
}

TEST_CASE("motion: products come in order, and what has arrived is their sum") {
  const views::Stage s = stage();
  const float first = s.queries[0] * s.keys[0], second = s.queries[1] * s.keys[1];
  std::vector<float> sums;
  for (int i = 0; i <= 100; ++i)
    if (const Piece* p = top(piecesAt(s, Motion::add, static_cast<float>(i) / 100), s.score[2]);
        p && (sums.empty() || sums.back() != p->value))
      sums.push_back(p->value);
  REQUIRE(sums.size() == 3);
  CHECK(sums[0] == doctest::Approx(first));
  CHECK(sums[1] == doctest::Approx(first + second));
  CHECK(sums[2] == s.raw[2]);
}

TEST_CASE(
    "motion: streams are as wide as 9 times their weight, the largest first, and the output only says what "
    "has arrived") {
  const views::Stage s = stage();
  bool isSeen = false;
  for (int i = 1; i < 100; ++i) {
    for (const Piece& p : piecesAt(s, Motion::pour, static_cast<float>(i) / 100)) {
      if (p.kind != Piece::Kind::stream) continue;
      const bool isOfOne = std::any_of(s.weights.begin(), s.weights.end(),
                                       [&](float w) { return std::fabs(p.width - 9 * w) < 1e-4f; });
      CHECK(isOfOne);
      if (!isSeen)
        CHECK(p.width == doctest::Approx(9 * *std::max_element(s.weights.begin(), s.weights.end())));
      isSeen = true;
    }
  }
  CHECK(isSeen);
}

TEST_CASE(
    "motion: every time has one picture, and one token, many tokens and missing matrices have one too") {
  for (int keys : {1, 25}) {
    views::Stage s = stage();
    s.score.assign(static_cast<std::size_t>(keys), {0, 0, 9, 9}), s.weight = s.score;
    for (auto* numbers : {&s.raw, &s.scaled, &s.exponentials, &s.weights})
      numbers->assign(static_cast<std::size_t>(keys), 1.0f / static_cast<float>(keys));
    s.value.assign(static_cast<std::size_t>(keys) * 3, {0, 0, 9, 9}),
        s.values.assign(static_cast<std::size_t>(keys) * 3, 0.5f), s.example = keys - 1;
    for (int m = 0; m <= static_cast<int>(Motion::pour); ++m)
      for (const float t : {0.0f, 0.37f, 1.0f}) {
        const auto pieces = piecesAt(s, static_cast<Motion>(m), t);
        CHECK(std::all_of(pieces.begin(), pieces.end(), [](const Piece& p) {
          return std::isfinite(p.x) && std::isfinite(p.y) && p.width >= 0;
        }));
        if (t > 0) CHECK((m == 0) == pieces.empty());
        CHECK(piecesAt({}, static_cast<Motion>(m), t).empty());
      }
  }
}
