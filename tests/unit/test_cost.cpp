// The cost of a layer, compared with loops that count the operations.
#include <doctest/doctest.h>

#include "attention/experiments/cost.h"
#include "attention/mechanisms/mechanism.h"
#include "document/derived.h"
#include "document_support.h"
#include "layer.h"

using namespace attention;
using test::Random;

namespace {

/// Computes a layer number by number, and counts the operations.
Cost counted(const CostSpec& spec) {
  const Spec& s = spec.layer;
  const int n = static_cast<int>(spec.tokens), m = spec.keys < 0 ? n : static_cast<int>(spec.keys),
            model = spec.modelDim;
  const int units = s.score == Score::additive && spec.scoreUnits > 0 ? spec.scoreUnits : s.headDim;
  Cost c;
  const auto product = [](double& count, int rows, int inner, int cols) {
    for (int i = 0; i < rows; ++i)
      for (int j = 0; j < cols; ++j)
        for (int k = 0; k < inner; ++k) ++count;
  };
  if (model > 0) {
    product(c.projections, n, model, s.heads * queryWidth(s));
    product(c.projections, m, model, s.kvHeads * s.headDim);
    product(c.projections, m, model, s.kvHeads * s.valueDim);
    product(c.projections, n, s.heads * s.valueDim, model);
    for (const int cols :
         {s.heads * queryWidth(s), s.kvHeads * s.headDim, s.kvHeads * s.valueDim, s.heads * s.valueDim}) {
      for (int i = 0; i < model * cols; ++i) ++c.parameters;
    }
  }
  Spec layer = s;
  layer.queryCount = n, layer.keyCount = m, layer.causalOffset = static_cast<int>(spec.offset);
  for (int h = 0; h < s.heads; ++h) {
    if (s.score == Score::general)
      product(c.scores, n, queryWidth(s), s.headDim), c.parameters += queryWidth(s) * s.headDim;
    if (s.score == Score::additive) {
      product(c.scores, n, queryWidth(s), units), product(c.scores, m, s.headDim, units);
      c.parameters += (queryWidth(s) + s.headDim) * units + units;
    }
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < m; ++j) {
        if (!isVisible(layer, i, j)) continue;
        ++c.scoreNumbers;
        for (int u = 0; u < units; ++u) {
          ++c.scores;
          if (s.score == Score::additive) ++c.tanhs, ++c.scoreNumbers;
        }
        for (int k = 0; k < s.valueDim; ++k) ++c.sums;
      }
    }
  }
  if (s.score == Score::cosine) {
    for (int v = 0; v < n * s.heads + m * s.kvHeads; ++v) c.scores += s.headDim;
  }
  for (int t = 0; t < m; ++t)
    for (int h = 0; h < s.kvHeads; ++h) c.keptNumbers += s.headDim + s.valueDim;
  c.steps = 1;
  return c;
}

void compare(const Cost& got, const Cost& want) {
  CHECK(got.parameters == want.parameters);
  CHECK(got.projections == want.projections);
  CHECK(got.scores == want.scores);
  CHECK(got.sums == want.sums);
  CHECK(got.tanhs == want.tanhs);
  CHECK(got.keptNumbers == want.keptNumbers);
  CHECK(got.scoreNumbers == want.scoreNumbers);
  CHECK(got.steps == want.steps);
}

}  // namespace

TEST_CASE("cost: formulas are what loops count, for every score, mask and size") {
  Random random(41);
  for (int n = 0; n < 300; ++n) {
    CAPTURE(n);
    const int kvHeads = 1 + random.below(2);
    CostSpec spec;
    spec.layer =
        test::shape(kvHeads * (1 + random.below(3)), kvHeads, 0, 0, 1 + random.below(4), 1 + random.below(4));
    spec.layer.score = static_cast<Score>(random.below(5));
    if (takes(spec.layer.score, TensorId::w_a)) spec.layer.queryDim = random.below(6);
    spec.layer.causal = random.chance(0.5);
    if (random.chance(0.5)) spec.layer.windowLeft = random.below(12);
    if (random.chance(0.5)) spec.layer.windowRight = random.below(12);
    spec.tokens = 1 + random.below(9);
    if (random.chance(0.5)) spec.keys = random.below(12), spec.offset = random.below(20) - 8;
    spec.modelDim = random.chance(0.5) ? 1 + random.below(5) : 0;
    spec.scoreUnits = random.chance(0.5) ? 1 + random.below(9) : 0;
    compare(costOf(spec), counted(spec));
  }
}

TEST_CASE("cost: a recurrent network, by loops") {
  for (const CellKind cell : {CellKind::tanh, CellKind::lstm}) {
    for (const auto& [tokens, width, units] : {std::tuple(1, 1, 1), {5, 3, 4}, {9, 2, 7}}) {
      const int parts = partsOf(cell);
      Cost want;
      want.parameters = parts * (width * units + units * units + units);
      for (int t = 0; t < tokens; ++t) {
        ++want.steps;
        for (int u = 0; u < parts * units; ++u) {
          for (int i = 0; i < width; ++i) ++want.projections;
          for (int i = 0; i < units; ++i) ++want.scores;
          ++want.tanhs;
        }
        for (int u = 0; u < units && cell == CellKind::lstm; ++u) want.scores += 3, ++want.tanhs;
      }
      want.keptNumbers = cell == CellKind::lstm ? 2 * units : units;
      compare(recurrentCost(cell, tokens, width, units), want);
    }
  }
}

TEST_CASE("cost: a million tokens are counted exactly") {
  CostSpec spec;
  spec.layer = test::shape(12, 12, 0, 0, 64, 64);
  spec.tokens = 1e6, spec.modelDim = 768;
  Cost cost = costOf(spec);
  CHECK(cost.parameters == 4.0 * 768 * 768);
  CHECK(cost.scoreNumbers == 12e12);
  CHECK(cost.multiplyAdds() == 4.0 * 768 * 768 * 1e6 + 2 * 768e12);
  CHECK(cost.cacheBytes() == 4.0 * 2 * 768 * 1e6);
  spec.layer.causal = true;
  CHECK(costOf(spec).scoreNumbers == 12.0 * 500000.5 * 1e6);
  spec.layer.windowLeft = 127, spec.layer.windowRight = 0;
  CHECK(costOf(spec).scoreNumbers == 12.0 * (1e6 * 128 - 127 * 128 / 2));
}

TEST_CASE("cost: the layer of the document and what it is compared with") {
  using namespace document;
  State s = test::start();
  const auto costs = [&](CostOf of, bool other) {
    s.experiments.costOf = of;
    return Experiments(s).cost(1000, other);
  };
  CHECK(Experiments(s).costTokens() == s.tokens);
  s.experiments.costTokens = 77;
  CHECK(Experiments(s).costTokens() == 77);
  const Cost here = costs(CostOf::score, false), additive = costs(CostOf::score, true),
             one = costs(CostOf::heads, true);
  CHECK(additive.tanhs == here.scores);
  CHECK(one.multiplyAdds() == here.multiplyAdds());  // the same width, not split into heads
  CHECK(one.scoreBytes() * s.heads == here.scoreBytes());
  CHECK(costs(CostOf::window, true).scoreNumbers < here.scoreNumbers);
  CHECK(costs(CostOf::recurrent, true).steps == 1000);
  CHECK(here.steps == 1);
  // Eight hidden units in each of two heads, for d_k = 3; 10 pairs of four words are visible in each.
  State eight = *preset("i-saw-a-saw");
  eight.score = Score::additive, eight.additiveDim = 8;
  const Cost units = Experiments(eight).cost(4, false);
  CHECK(units.parameters == 112);
  CHECK(units.tanhs == 160);
  CHECK(test::refusal(check(s, OptionId::cost_tokens, Value(1000001.0))) ==
        "cost_tokens: 1000001 is too large; use 0 to 1000000.");
}
