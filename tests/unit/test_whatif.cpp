// The smallest change that gives a weight, compared with a search; and the differences between two layers.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "attention/experiments/contrast.h"
#include "attention/experiments/whatif.h"
#include "layer.h"
#include "thorough.h"

using namespace attention;

namespace {

test::Layer drawn(unsigned seed, int tokens, int columns) {
  test::Random random(seed);
  test::Layer layer;
  layer.spec = test::shape(1, 1, tokens, tokens, columns, columns);
  layer.q = Tensor(1, tokens, columns), layer.k = Tensor(1, tokens, columns),
  layer.v = Tensor(1, tokens, columns);
  for (Tensor* t : {&layer.q, &layer.k, &layer.v}) test::fill(*t, random);
  return layer;
}

Trace traceOf(const test::Layer& layer) {
  Trace trace;
  Scratch scratch;
  forward(layer.spec, layer.inputs(), trace, scratch);
  return trace;
}

/// The weight by its definition, in double: softmax of q·k/√d over the keys up to `seen`.
double softmaxWeight(const test::Layer& layer, const std::vector<double>& q, int key, int seen) {
  double sum = 0, mine = 0;
  for (int j = 0; j < seen; ++j) {
    double s = 0;
    for (std::size_t c = 0; c < q.size(); ++c) s += q[c] * double{layer.k.at(0, j, static_cast<int>(c))};
    const double e = std::exp(s / std::sqrt(static_cast<double>(q.size())));
    sum += e, mine += j == key ? e : 0;
  }
  return mine / sum;
}

/// A search over directions and lengths for the shortest change of the query that makes the weight of key 1
/// at least (or at most) `wanted`. Along a direction every step multiplies each exponential by the same
/// number.
double shortestChange(const test::Layer& layer, const std::vector<double>& query, bool isMore,
                      double wanted) {
  constexpr double kStep = 0.005;
  const auto dot = [&layer](int key, double x, double y) {
    return (x * double{layer.k.at(0, key, 0)} + y * double{layer.k.at(0, key, 1)}) / std::numbers::sqrt2;
  };
  double shortest = 1e9;
  for (int turn = 0; turn < 720; ++turn) {
    const double angle = turn * std::numbers::pi / 360;
    double e[5], factor[5];
    for (int j = 0; j < 5; ++j)
      e[j] = std::exp(dot(j, query[0], query[1])),
      factor[j] = std::exp(dot(j, kStep * std::cos(angle), kStep * std::sin(angle)));
    for (double r = 0; r < std::min(shortest, 12.0); r += kStep) {
      const double w = e[1] / (e[0] + e[1] + e[2] + e[3] + e[4]);
      if (isMore ? w >= wanted : w <= wanted) {
        shortest = r;
        break;
      }
      for (int j = 0; j < 5; ++j) e[j] *= factor[j];
    }
  }
  return shortest;
}

}  // namespace

TEST_CASE(
    "what if: the query moves so that the weight is what was asked for, to 1e-4, and no shorter way does "
    "it") {
  for (int seed = 1; seed <= test::rounds(12); ++seed) {
    const test::Layer layer = drawn(static_cast<unsigned>(seed), 5, 2);
    const Trace trace = traceOf(layer);
    const CellRef cell{TensorId::weights, 0, 3, 1};
    for (const double wanted : {0.05, 0.2, 0.4, 0.6}) {
      const WhatIf found = WhatIfSolver().of(layer.spec, layer.inputs(), trace, {cell, wanted, TensorId::q});
      const std::vector<double> query{double{layer.q.at(0, 3, 0)}, double{layer.q.at(0, 3, 1)}};
      const double start = softmaxWeight(layer, query, 1, 5),
                   shortest = shortestChange(layer, query, start < wanted, wanted);
      INFO("seed " << seed << ", wanted " << wanted << ", shortest " << shortest << ": " << found.why);
      if (!found.why.empty()) {
        CHECK(shortest > 7);  // not reachable, or only just
        continue;
      }
      const double w = softmaxWeight(layer, {double{found.row[0]}, double{found.row[1]}}, 1, 5);
      CHECK(std::fabs(w - wanted) < 1e-4);
      CHECK(std::fabs(found.weight - wanted) < 1e-4);
      if (wanted > start)
        CHECK(found.length <= shortest + 0.01);  // there the set is convex, so the nearest point is unique
      const double length = std::hypot(double{found.row[0]} - double{layer.q.at(0, 3, 0)},
                                       double{found.row[1]} - double{layer.q.at(0, 3, 1)});
      CHECK(std::fabs(length - found.length) < 1e-5);
    }
  }
}

TEST_CASE("what if: for a key the closed form, δ = q (φ* − φ) / (c‖q‖²)") {
  const test::Layer layer = drawn(5, 4, 3);
  const Trace trace = traceOf(layer);
  for (const double wanted : {0.01, 0.3, 0.97}) {
    const WhatIf found = WhatIfSolver().of(layer.spec, layer.inputs(), trace,
                                           {{TensorId::weights, 0, 2, 0}, wanted, TensorId::k});
    REQUIRE(found.why.empty());
    const double w = double{trace.weights.at(0, 2, 0)},
                 by = std::log(wanted / (1 - wanted)) - std::log(w / (1 - w));
    double squares = 0;
    for (int c = 0; c < 3; ++c) squares += std::pow(double{layer.q.at(0, 2, c)}, 2);
    for (int c = 0; c < 3; ++c) {
      const double want =
          double{layer.k.at(0, 0, c)} + double{layer.q.at(0, 2, c)} * by * std::sqrt(3.0) / squares;
      CHECK(std::fabs(double{found.row[static_cast<std::size_t>(c)]} - want) < 1e-4);
    }
    CHECK(std::fabs(found.weight - wanted) < 1e-4);
  }
}

TEST_CASE("what if: every score, position and normaliser that has an answer gives the weight") {
  for (const Score score : {Score::dot, Score::scaled, Score::cosine, Score::general, Score::additive}) {
    for (const Position position : {Position::none, Position::rotary, Position::alibi}) {
      if (score == Score::additive && position == Position::rotary) continue;
      test::Layer layer = drawn(9, 4, 4);
      layer.spec.score = score, layer.spec.position = position, layer.spec.causal = true,
      layer.spec.softcap = 8, layer.spec.temperature = 0.7f;
      test::Random random(2);
      if (score == Score::general || score == Score::additive)
        layer.wA = Tensor(1, 4, 4), test::fill(layer.wA, random);
      if (score == Score::additive)
        layer.uA = Tensor(1, 4, 4), layer.vA = Tensor(1, 1, 4), test::fill(layer.uA, random),
        test::fill(layer.vA, random);
      const Trace trace = traceOf(layer);
      const CellRef cell{TensorId::weights, 0, 3, 2};
      const double wanted = double{trace.weights.at(0, 3, 2)} * 0.9 + 0.02;
      for (const TensorId by : {TensorId::q, TensorId::k}) {
        const WhatIf found = WhatIfSolver().of(layer.spec, layer.inputs(), trace, {cell, wanted, by});
        INFO("score " << static_cast<int>(score) << ", position " << static_cast<int>(position) << ": "
                      << found.why);
        REQUIRE(found.why.empty());
        test::Layer after = layer;
        std::copy(found.row.begin(), found.row.end(),
                  by == TensorId::q ? after.q.row(0, 3) : after.k.row(0, 2));
        CHECK(std::fabs(double{traceOf(after).weights.at(0, 3, 2)} - wanted) < 1e-4);
      }
    }
  }
}

TEST_CASE("what if: what is not possible is said, and nothing is given") {
  test::Layer layer = drawn(3, 4, 2);
  layer.spec.causal = true;
  Trace trace = traceOf(layer);
  const auto why = [&](int row, int col, double wanted) {
    const WhatIf found = WhatIfSolver().of(layer.spec, layer.inputs(), trace,
                                           {{TensorId::weights, 0, row, col}, wanted, TensorId::q});
    CHECK(found.row.empty());
    return found.why;
  };
  CHECK(why(1, 3, 0.5).find("masked") != std::string::npos);
  CHECK(why(0, 0, 0.5).find("Only one key") != std::string::npos);
  for (const double wanted : {0.0, 1.0, -1.0, 2.0, std::nan("")})
    CHECK(why(3, 1, wanted).find("between 0 and 1") != std::string::npos);
  // A key that is the mean of the others never has a larger weight than all of them.
  for (int c = 0; c < 2; ++c) layer.k.at(0, 1, c) = (layer.k.at(0, 0, c) + layer.k.at(0, 2, c)) / 2;
  layer.spec.queryCount = layer.spec.keyCount = 3, layer.q = Tensor(1, 3, 2), layer.v = Tensor(1, 3, 2);
  Tensor k(1, 3, 2);
  std::copy_n(layer.k.row(0, 0), 6, k.row(0, 0));
  layer.k = k, layer.q.at(0, 2, 0) = 0.5f;
  trace = traceOf(layer);
  CHECK(why(2, 1, 0.6).find("No change of this query") != std::string::npos);
  layer.spec.normalizer = Normalizer::hardmax;
  trace = traceOf(layer);
  CHECK(why(2, 1, 0.6).find("hard maximum") != std::string::npos);
}

TEST_CASE("contrast: the largest changes first, equal ones in order, noise left out") {
  Tensor a(1, 2, 3), b(1, 2, 3);
  for (int i = 0; i < 6; ++i) a.data()[i] = b.data()[i] = static_cast<float>(i);
  b.at(0, 0, 1) += 0.5f, b.at(0, 1, 0) -= 0.5f, b.at(0, 1, 2) += 2, b.at(0, 0, 2) += 1e-7f;
  const Contrast found = contrastOf(TensorId::q, a, b, 2);
  CHECK(found.count == 3);
  REQUIRE(found.largest.size() == 2);
  CHECK(found.largest[0].cell == CellRef{TensorId::q, 0, 1, 2});
  CHECK(found.largest[1].cell == CellRef{TensorId::q, 0, 0, 1});
  CHECK(found.largest[1].before == 1);
  CHECK(found.largest[1].after == 1.5f);
  CHECK(contrastOf(TensorId::q, a, Tensor(1, 3, 2), 4).count == 0);
  b.at(0, 0, 0) = -std::numeric_limits<float>::infinity();
  CHECK(contrastOf(TensorId::masked, a, b, 8).count == 4);
  CHECK(contrastOf(TensorId::masked, a, b, 8).largest.size() == 3);
}
