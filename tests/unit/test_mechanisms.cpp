// All scores, normalisers, masks and positions: against the reference, and by the properties that define
// them.
#include <doctest/doctest.h>

#include <chrono>
#include <limits>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/backward.h"
#include "layer.h"
#include "thorough.h"

using namespace attention;
using test::kNormalizers;
using test::kPositions;
using test::kScores;
using test::Layer;
using test::Random;

namespace {

const std::vector<int> kLengths = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65};

/// Rotary positions exclude the additive score and need pairs of columns; sinusoidal positions need X.
bool isMeaningful(const Layer& layer) { return bool(validate(layer.spec, layer.inputs())); }

Trace traced(const Layer& layer) {
  const auto ok = validate(layer.spec, layer.inputs());
  REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  return trace;
}

std::string checked(const Layer& layer) {
  return test::difference(layer, traced(layer), reference(layer.spec, layer.inputs()));
}

/// Calls `use` with every score, every normaliser and every position that can be combined with it. Under the
/// sanitizers, with one combination of eight, another one in each turn: each part goes through memory in its
/// own way, whatever it is combined with.
template <class Use>
void forMechanisms(const Layer& plain, Random& random, Use use) {
  static int turn = 0;
  for (Score score : kScores) {
    Layer layer = test::withScore(plain, score, random);
    for (Position position : kPositions) {
      layer.spec.position = position;
      for (Normalizer normalizer : kNormalizers) {
        layer.spec.normalizer = normalizer;
        if (!isMeaningful(layer) || (turn++ % 8 != 0 && test::kSanitized)) continue;
        CAPTURE(static_cast<int>(score));
        CAPTURE(static_cast<int>(position));
        CAPTURE(static_cast<int>(normalizer));
        use(layer);
      }
    }
  }
}

double largestDifference(const Tensor& a, int headA, int rowA, const Tensor& b, int headB, int rowB) {
  double most = 0.0;
  for (int c = 0; c < a.cols(); ++c) {
    most = std::max(most, std::abs(double{a.at(headA, rowA, c)} - double{b.at(headB, rowB, c)}));
  }
  return most;
}

/// The first rows of a tensor.
Tensor firstRows(const Tensor& tensor, int rows) {
  Tensor out(tensor.heads(), rows, tensor.cols());
  for (int h = 0; h < out.heads(); ++h) {
    for (int i = 0; i < rows; ++i) std::copy_n(tensor.row(h, i), tensor.cols(), out.row(h, i));
  }
  return out;
}

}  // namespace

TEST_CASE("mechanisms: each at lengths around the vector width, as queries and keys, d_k and d_v") {
  Random random(1);
  for (int n : kLengths) {
    CAPTURE(n);
    Layer layer = test::direct(test::shape(2, 1, n, n + 2, 6, 3), random);
    layer.spec.causal = true, layer.spec.causalOffset = 2;
    forMechanisms(layer, random, [](const Layer& l) { CHECK(checked(l) == ""); });
    forMechanisms(test::direct(test::shape(1, 1, 5, 6, n, n), random), random,
                  [](const Layer& l) { CHECK(checked(l) == ""); });
  }
}

TEST_CASE("mechanisms: each in projected layers, alone and across two sequences") {
  Random random(2);
  for (int n : {1, 4, 9, 17, 33}) {
    CAPTURE(n);
    const Layer self = test::projected(test::shape(4, 2, n, n, 4, 3), 6, 5, random);
    forMechanisms(self, random, [](const Layer& l) { CHECK(checked(l) == ""); });
    forMechanisms(test::withBiases(self, random), random, [](const Layer& l) { CHECK(checked(l) == ""); });
    const Layer cross = test::projected(test::shape(4, 2, n, n + 3, 4, 3), 6, 5, random);
    forMechanisms(cross, random, [](const Layer& l) { CHECK(checked(l) == ""); });
  }
}

TEST_CASE("mechanisms: temperatures, soft caps and painted cells with each") {
  Random random(3);
  for (float temperature : {0.1f, 3.0f}) {
    for (float softcap : {0.5f, 30.0f}) {
      Layer layer = test::direct(test::shape(2, 2, 9, 9, 4, 3), random);
      layer.spec.temperature = temperature, layer.spec.softcap = softcap;
      layer.paintNothing();
      for (std::uint8_t& cell : layer.painted.blocked) cell = random.chance(0.4);
      for (int j = 0; j < 9; ++j) layer.paint(4, j) = 1;
      forMechanisms(layer, random, [](const Layer& l) {
        CHECK(checked(l) == "");
        const Trace trace = traced(l);
        for (int j = 0; j < 9; ++j) CHECK(trace.weights.at(1, 4, j) == 0.0f);
      });
    }
  }
}

TEST_CASE("mechanisms: a bias for all heads or for each, and what it masks") {
  Random random(22);
  for (int heads : {1, 4}) {
    Layer layer = test::direct(test::shape(4, 2, 7, 9, 4, 3), random);
    layer.spec.causal = true, layer.spec.causalOffset = 2, layer.spec.softcap = 3.0f;
    test::fill(layer.bias = {heads, 7, 9}, random);
    for (float& b : layer.bias.values()) {
      if (random.chance(0.3)) b = -std::numeric_limits<float>::infinity();
    }
    forMechanisms(layer, random, [](const Layer& l) { CHECK(checked(l) == ""); });
    layer.bias.at(0, 3, 2) = std::numeric_limits<float>::infinity();
    CHECK(validate(layer.spec, layer.inputs()).error().field == "bias");
    layer.bias = Tensor(2, 7, 9);
    CHECK(validate(layer.spec, layer.inputs()).error().message() ==
          "bias.shape: [2, 7, 9] does not fit the scores; use [4, 7, 9], or one head for all.");
  }
}

TEST_CASE("mechanisms: steps that a layer does not have leave no tensor") {
  Random random(4);
  Layer layer = test::direct(test::shape(1, 1, 3, 3, 4, 2), random);
  Trace trace;
  layer.spec.softcap = 5.0f, layer.spec.position = Position::rotary;
  forward(layer.spec, layer.inputs(), trace);
  CHECK(find(layer.inputs(), trace, TensorId::softcapped));
  CHECK(find(layer.inputs(), trace, TensorId::q_rotated));
  CHECK(find(layer.inputs(), trace, TensorId::row_sum));
  layer.spec.softcap = 0.0f, layer.spec.position = Position::none, layer.spec.normalizer = Normalizer::relu;
  forward(layer.spec, layer.inputs(), trace);
  for (TensorId id :
       {TensorId::softcapped, TensorId::biased, TensorId::positions, TensorId::q_rotated, TensorId::k_rotated,
        TensorId::x_positioned, TensorId::exponentials, TensorId::row_max, TensorId::row_sum}) {
    CAPTURE(name(id));
    CHECK(!find(layer.inputs(), trace, id));
  }
}

TEST_CASE("mechanisms: no NaN from finite input, however large") {
  Random random(5);
  for (float size : {1e-45f, 1e-30f, 1e19f, 3e38f, std::numeric_limits<float>::max()}) {
    for (float temperature : {1e-6f, 1.0f, 1e6f}) {
      Layer layer = test::direct(test::shape(2, 1, 5, 7, 4, 3), random);
      layer.spec.temperature = temperature, layer.spec.softcap = temperature;
      for (Tensor* t : {&layer.q, &layer.k, &layer.v}) {
        for (float& v : t->values()) v = random.chance(0.3) ? 0.0f : random.chance(0.5) ? size : -size;
      }
      for (float softcap : {0.0f, 1e-6f, 1e30f}) {
        layer.spec.softcap = softcap;
        CAPTURE(size);
        CAPTURE(temperature);
        CAPTURE(softcap);
        forMechanisms(layer, random, [&](Layer l) {
          for (Tensor* t : {&l.wA, &l.uA, &l.vA}) {
            for (float& v : t->values()) v = v < 0.0f ? -size : size;
          }
          const Trace trace = traced(l);
          for (int t = static_cast<int>(TensorId::q); t < kTensorCount; ++t) {
            const Tensor* tensor = find(l.inputs(), trace, static_cast<TensorId>(t));
            if (!tensor) continue;
            for (float v : tensor->values()) REQUIRE(std::isfinite(v));  // nothing is masked here
          }
        });
      }
    }
  }
}

TEST_CASE("mechanisms: what the bounds leave") {
  Random random(6);
  double worst = 0.0;
  std::string_view where;
  const auto measure = [&](const Layer& layer) {
    const Trace trace = traced(layer);
    const ReferenceTrace exact = reference(layer.spec, layer.inputs());
    for (int t = 0; t < kTensorCount; ++t) {
      const TensorId id = static_cast<TensorId>(t);
      const double share = test::worstCell(layer, trace, exact, id).share;
      if (share > worst) worst = share, where = name(id);
    }
  };
  for (int n : kLengths) {
    Layer layer = test::direct(test::shape(2, 1, n, 17, n + n % 2, 5), random);
    layer.spec.softcap = n % 2 == 0 ? 3.0f : 0.0f;
    forMechanisms(layer, random, measure);
    forMechanisms(test::projected(test::shape(2, 1, 5, n, 4, n), 8, 6, random), random, measure);
  }
  MESSAGE("the worst is ", where, ", ", worst, " of its bound");
  CHECK(worst <= 1.0);
}

TEST_CASE("scores: general with the identity is the dot product, cosine does not see lengths") {
  Random random(7);
  Layer layer = test::direct(test::shape(2, 1, 4, 5, 6, 2), random);
  layer.spec.score = Score::dot;
  const Trace dot = traced(layer);
  Layer general = test::withScore(layer, Score::general, random);
  std::fill(general.wA.values().begin(), general.wA.values().end(), 0.0f);
  for (int h = 0; h < 2; ++h) {
    for (int c = 0; c < 6; ++c) general.wA.at(h, c, c) = 1.0f;
  }
  const Trace byMatrix = traced(general);
  for (int i = 0; i < 4; ++i) CHECK(largestDifference(byMatrix.raw, 1, i, dot.raw, 1, i) < 1e-5);
  layer.spec.score = Score::cosine;
  const Trace before = traced(layer);
  for (float& v : layer.q.values()) v *= 1024.0f;
  for (float& v : layer.k.values()) v *= 0.03125f;
  CHECK(traced(layer).raw == before.raw);
  for (float v : before.raw.values()) CHECK(std::abs(v) <= 1.0f);
  for (int c = 0; c < 6; ++c) layer.k.at(0, 3, c) = 0.0f;
  CHECK(traced(layer).raw.at(1, 2, 3) == 0.0f);
}

TEST_CASE("scores: additive where both sums are so large that their exponentials are not numbers") {
  Random random(15);
  for (const float size : {10.0f, 40.0f, 200.0f, 1e30f}) {
    CAPTURE(size);
    CHECK(checked(test::withOppositeSums(size, random)) == "");
  }
  Layer layer = test::withOppositeSums(100.0f, random);
  for (float& v : layer.vA.values()) v = 3e38f;
  CHECK(checked(layer) == "");
}

TEST_CASE("scores: only the scaled one is scaled") {
  Random random(8);
  Layer layer = test::direct(test::shape(1, 1, 3, 4, 4, 2), random);
  for (Score score : kScores) {
    Layer scored = test::withScore(layer, score, random);
    scored.spec.scale = 0.25f;
    const Trace trace = traced(scored);
    CHECK((trace.scores == trace.raw) == (score != Score::scaled));
  }
}

TEST_CASE(
    "scores: each reads the parameters that it says it takes, and is a product of q and k only if it says "
    "so") {
  Random random(78);
  const Layer plain = test::direct(test::shape(2, 1, 3, 4, 4, 3), random);
  for (const Score score : kScores) {
    CAPTURE(kScoreNames[static_cast<std::size_t>(score)]);
    const ScoreMechanism& says = mechanismOf(score);
    const Layer layer = test::withScore(plain, score, random);
    const Inputs inputs = layer.inputs();
    const Trace trace = traced(layer);
    InputSet read = 0, taken = 0;
    RowStep last = RowStep::none;
    for (const ScorePart& part : textOf(score).parts) {
      for (const TensorId id : part.reads) read |= inputSet(id);
      if (part.step != RowStep::none) CHECK(part.step > last), last = part.step;
    }
    CHECK(last == RowStep::raw);
    for (const TensorId id : kScoreParameters) {
      CHECK(exists(id, layer.spec, inputs) == takes(score, id));
      if (!takes(score, id)) continue;
      taken |= inputSet(id);
      Inputs without = inputs;
      without.*tensorRow(id).given = nullptr;
      CHECK(!validate(layer.spec, without));
    }
    CHECK((read & ~(inputSet(TensorId::x) | inputSet(TensorId::q) | inputSet(TensorId::k))) == taken);
    double most = 0.0;
    for (int i = 0; i < 3; ++i)
      for (int j = 0; j < 4; ++j) {
        double product = 0.0;
        for (int c = 0; c < 4; ++c) product += double{layer.q.at(1, i, c)} * double{layer.k.at(0, j, c)};
        most = std::max(most, std::abs(product - double{trace.raw.at(1, i, j)}));
      }
    CHECK((most < 1e-5) == says.isProduct);
    Layer rotated = layer;
    rotated.spec.position = Position::rotary;
    CHECK(bool(validate(rotated.spec, rotated.inputs())) == says.isDot());
  }
}

TEST_CASE("normalisers: what each says of its weights is so") {
  Random random(77);
  for (const Normalizer normalizer : kNormalizers) {
    CAPTURE(kNormalizerNames[static_cast<std::size_t>(normalizer)]);
    const NormalizerMechanism& says = mechanismOf(normalizer);
    double least = 1.0, most = 0.0, off = 0.0;
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<float> scores(static_cast<std::size_t>(3 + random.below(8)));
      for (float& s : scores) s = random.normal() * 2.0f;
      const std::size_t hidden = scores.size() - 1;
      scores[hidden] = -std::numeric_limits<float>::infinity();
      const int count = static_cast<int>(scores.size());
      std::vector<float> weights(scores.size()), others(scores.size()), gradient(scores.size(), 1.0f);
      says.weigh(scores.data(), count, weights.data());
      CHECK(weights[hidden] == 0.0f);
      double sum = 0.0;
      for (std::size_t i = 0; i < hidden; ++i)
        sum += double{weights[i]}, least = std::min(least, double{weights[i]}),
                                   most = std::max(most, double{weights[i]});
      off = std::max(off, std::abs(sum - 1.0));
      // By cell: the weight of the first key does not depend on the others.
      const std::vector<float> moved = {scores[0], scores[hidden - 1] + 1.0f, scores[hidden]};
      says.weigh(moved.data(), 3, others.data());
      if (says.isByCell) CHECK(others[0] == weights[0]);
      if (says.isStep()) continue;
      says.gradient(scores.data(), weights.data(), gradient.data(), count, gradient.data());
      CHECK(gradient[hidden] == 0.0f);
      double total = 0.0;  // of ∂(Σ weights)/∂(score i): 0 where the sum is always 1
      for (const float g : gradient) total += std::abs(double{g});
      if (says.sumsToOne) CHECK(total < 1e-5);
    }
    CHECK((off < 2e-6) == says.sumsToOne);
    CHECK(least >= says.least);
    CHECK(most <= says.most);
    CHECK((least > says.least && most < 1.0) == says.isOpen);
  }
}

TEST_CASE("arithmetic: an expression is written with the parentheses that it needs") {
  using namespace arithmetic;
  const Expression a("a"), b("b"), minus("−2.00"), marked(std::string(1, mark::kCell) + "−2.00"),
      zero("0.00");
  CHECK((a - (b - 1)).text == "a − (b − 1)");
  CHECK((a + (b - 1)).text == "a + b − 1");
  CHECK((a - b / 2).text == "a − b ÷ 2");
  CHECK(((a - b) / 2).text == "(a − b) ÷ 2");
  CHECK((a / (b / 2)).text == "a ÷ (b ÷ 2)");
  CHECK((1 / (1 + exp(-a))).text == "1 ÷ (1 + exp(−a))");
  CHECK(exp(-(a / 2)).text == "exp(−(a ÷ 2))");
  CHECK(square(positive(a - minus)).text == "max(a − (−2.00), 0)²");
  CHECK((minus - marked).text == "−2.00 − (\1−2.00)");
  CHECK((-minus).text == "2.00");
  CHECK((-marked).text == "2.00");
  CHECK((-Expression("2.00")).text == "−2.00");
  CHECK((-zero).text == "0.00");
  CHECK((a - Expression("")).text == "a − ");
  const Expression x("x", python("np")), t("t", python("np"));
  CHECK(square(positive(x / 2 - t)).text == "(x / 2 - t).clip(0) ** 2");
  CHECK((1 / (1 + exp(-x))).text == "1 / (1 + np.exp(-x))");
}

TEST_CASE("normalisers: rows of softmax, sparsemax and entmax sum to 1, hardmax has one 1") {
  Random random(9);
  Layer layer = test::direct(test::shape(1, 1, 16, 300, 8, 2), random);
  for (Normalizer normalizer :
       {Normalizer::softmax, Normalizer::sparsemax, Normalizer::entmax15, Normalizer::hardmax}) {
    for (float temperature : {0.01f, 1.0f, 100.0f}) {
      layer.spec.normalizer = normalizer, layer.spec.temperature = temperature;
      const Trace trace = traced(layer);
      for (int i = 0; i < 16; ++i) {
        double sum = 0.0;
        for (float w : std::span(trace.weights.row(0, i), 300)) sum += double{w};
        CHECK(std::abs(sum - 1.0) < 2e-6);
      }
    }
  }
}

TEST_CASE("normalisers: sparsemax is the nearest point of the simplex") {
  // Martins and Astudillo 2016, equation 2: min |p - z|² over the simplex. The Karush-Kuhn-Tucker conditions:
  // z_i - p_i is the same number wherever p_i > 0, and nowhere larger.
  Random random(10);
  Layer layer = test::direct(test::shape(1, 1, 20, 33, 6, 2), random);
  layer.spec.normalizer = Normalizer::sparsemax, layer.spec.causal = true, layer.spec.causalOffset = 5;
  const Trace trace = traced(layer);
  int kept = 0;
  for (int i = 0; i < 20; ++i) {
    double threshold = -std::numeric_limits<double>::infinity();
    for (int j = 0; j < 33; ++j) {
      if (trace.weights.at(0, i, j) > 0.0f) {
        threshold = std::max(threshold, double{trace.masked.at(0, i, j)} - double{trace.weights.at(0, i, j)});
      }
    }
    for (int j = 0; j < 33; ++j) {
      const double rest = double{trace.masked.at(0, i, j)} - double{trace.weights.at(0, i, j)};
      CHECK(rest <= threshold + 1e-6);
      if (trace.weights.at(0, i, j) == 0.0f) continue;
      CHECK(rest >= threshold - 1e-6);
      ++kept;
    }
  }
  CHECK(kept < 20 * 10);  // sparse, as the name says
}

TEST_CASE(
    "normalisers: the first of equal scores wins hardmax, and huge scores keep their share of sparsemax") {
  Random random(11);
  Layer layer = test::direct(test::shape(1, 1, 2, 5, 2, 2), random);
  std::fill(layer.q.values().begin(), layer.q.values().end(), 0.0f);
  layer.spec.normalizer = Normalizer::hardmax;
  for (int j = 0; j < 5; ++j) CHECK(traced(layer).weights.at(0, 1, j) == (j == 0 ? 1.0f : 0.0f));
  layer.spec.normalizer = Normalizer::sparsemax;
  for (float& v : layer.q.values()) v = 3e38f;
  for (float& v : layer.k.values()) v = 3e38f;
  for (int j = 0; j < 5; ++j) CHECK(traced(layer).weights.at(0, 1, j) == doctest::Approx(0.2));
}

TEST_CASE("positions: rotary scores depend on the distance alone, and position 0 turns nothing") {
  Random random(12);
  Layer layer = test::direct(test::shape(1, 1, 6, 6, 8, 2), random);
  layer.spec.position = Position::rotary;
  for (int i = 1; i < 6; ++i) {
    std::copy_n(layer.q.row(0, 0), 8, layer.q.row(0, i));
    std::copy_n(layer.k.row(0, 0), 8, layer.k.row(0, i));
  }
  const Trace trace = traced(layer);
  for (int i = 1; i < 6; ++i) {
    for (int j = 1; j < 6; ++j)
      CHECK(std::abs(trace.raw.at(0, i, j) - trace.raw.at(0, i - 1, j - 1)) < 2e-5f);
  }
  for (int c = 0; c < 8; ++c) CHECK(trace.qRotated.at(0, 0, c) == trace.q.at(0, 0, c));
}

TEST_CASE("positions: the slopes of ALiBi are those of its paper") {
  const Spec eight = test::shape(8, 8, 2, 2, 2, 2);
  Random random(13);
  Layer layer = test::direct(eight, random);
  layer.spec.position = Position::alibi;
  const Trace trace = traced(layer);
  for (int h = 0; h < 8; ++h) {
    const float off = trace.scores.at(h, 1, 0) - trace.biased.at(h, 1, 0);
    CHECK(off == doctest::Approx(std::ldexp(1.0, -(h + 1))).epsilon(1e-4));
    CHECK(trace.biased.at(h, 1, 1) == trace.scores.at(h, 1, 1));
  }
}

TEST_CASE("properties: a permutation of keys and values leaves the output") {
  Random random(14);
  forMechanisms(test::direct(test::shape(2, 1, 4, 9, 4, 3), random), random, [&](const Layer& layer) {
    if (layer.spec.position != Position::none) return;
    Layer rotated = layer;
    for (int j = 0; j < 9; ++j) {
      const int from = (j * 4 + 2) % 9;
      std::copy_n(layer.k.row(0, from), 4, rotated.k.row(0, j));
      std::copy_n(layer.v.row(0, from), 3, rotated.v.row(0, j));
    }
    const Trace a = traced(layer), b = traced(rotated);
    for (int i = 0; i < 4; ++i) CHECK(largestDifference(a.output, 0, i, b.output, 0, i) < 2e-5);
  });
}

TEST_CASE("properties: the causal output of a prefix is the prefix of the output") {
  Random random(15);
  Layer whole = test::projected(test::shape(2, 2, 9, 9, 4, 3), 6, 5, random);
  whole.spec.causal = true;
  whole.spec.pattern.random = 3, whole.spec.pattern.local = 2;
  forMechanisms(whole, random, [](const Layer& layer) {
    const Trace all = traced(layer);
    for (int n : {1, 4, 8}) {
      Layer prefix = layer;
      prefix.spec.queryCount = prefix.spec.keyCount = n;
      prefix.x = firstRows(layer.x, n);
      const Trace some = traced(prefix);
      for (int i = 0; i < n; ++i) CHECK(largestDifference(some.output, 0, i, all.output, 0, i) < 2e-5);
    }
  });
}

TEST_CASE("properties: decoding with a cache, one token at a time, is one pass") {
  Random random(16);
  Layer whole = test::direct(test::shape(4, 2, 12, 12, 4, 3), random);
  whole.spec.causal = true, whole.spec.windowLeft = 6;
  whole.spec.pattern.random = 2, whole.spec.pattern.stride = 3, whole.spec.pattern.global = 1;
  forMechanisms(whole, random, [](const Layer& layer) {
    const Trace all = traced(layer);
    for (int n = 1; n <= 12; ++n) {
      Layer step = layer;
      step.spec.queryCount = 1, step.spec.keyCount = n, step.spec.causalOffset = n - 1;
      step.k = firstRows(layer.k, n), step.v = firstRows(layer.v, n), step.q = Tensor(4, 1, 4);
      for (int h = 0; h < 4; ++h) std::copy_n(layer.q.row(h, n - 1), 4, step.q.row(h, 0));
      const Trace one = traced(step);
      CHECK(largestDifference(one.output, 0, 0, all.output, 0, n - 1) < 2e-5);
    }
  });
}

TEST_CASE("properties: as many key heads as heads, each a copy, are plain heads") {
  Random random(17);
  forMechanisms(test::direct(test::shape(4, 2, 5, 6, 4, 3), random), random, [](const Layer& grouped) {
    Layer plain = grouped;
    plain.spec.kvHeads = 4;
    plain.k = Tensor(4, 6, 4), plain.v = Tensor(4, 6, 3);
    for (int h = 0; h < 4; ++h) {
      std::copy_n(grouped.k.head(h / 2), 24, plain.k.head(h));
      std::copy_n(grouped.v.head(h / 2), 18, plain.v.head(h));
    }
    CHECK(traced(plain).output == traced(grouped).output);
  });
}

TEST_CASE("heads: a hidden head is left out of concat, and nothing else changes") {
  Random random(18);
  Layer layer = test::projected(test::shape(4, 4, 5, 5, 3, 2), 6, 7, random);
  const Trace all = traced(layer);
  layer.spec.hiddenHeads = 0b0100;
  CHECK(checked(layer) == "");
  const Trace some = traced(layer);
  CHECK(some.headOutput == all.headOutput);
  for (int i = 0; i < 5; ++i) {
    for (int c = 0; c < 8; ++c)
      CHECK(some.concat.at(0, i, c) == (c / 2 == 2 ? 0.0f : all.concat.at(0, i, c)));
  }
  // The contributions of the heads sum to the output.
  Tensor sum(1, 5, 7);
  for (int h = 0; h < 4; ++h) {
    layer.spec.hiddenHeads = 0b1111 & ~(1ull << h);
    const Trace one = traced(layer);
    for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] += one.output.data()[i];
  }
  for (int i = 0; i < 5; ++i) CHECK(largestDifference(sum, 0, i, all.output, 0, i) < 1e-5);
}

TEST_CASE("mask after softmax: rows no longer sum to 1, by just the weights that are masked") {
  Random random(19);
  Layer layer = test::direct(test::shape(2, 1, 6, 6, 4, 3), random);
  const Trace open = traced(layer);
  layer.spec.causal = true, layer.spec.maskAfterSoftmax = true;
  CHECK(checked(layer) == "");
  const Trace wrong = traced(layer);
  for (int i = 0; i < 6; ++i) {
    CHECK(largestDifference(wrong.exponentials, 0, i, open.exponentials, 0, i) < 1e-6);
    CHECK(largestDifference(wrong.masked, 0, i, open.masked, 0, i) < 1e-6);
    double sum = 0.0;
    for (int j = 0; j < 6; ++j) {
      sum += double{wrong.weights.at(0, i, j)};
      CHECK(std::abs(wrong.weights.at(0, i, j) - (j <= i ? open.weights.at(0, i, j) : 0.0f)) < 1e-6f);
    }
    CHECK((std::abs(sum - 1.0) < 1e-6) == (i == 5));
  }
}

TEST_CASE("engine: options change a trace whatever it was before") {
  Random random(20);
  Layer layer = test::direct(test::shape(2, 1, 6, 6, 4, 3), random);
  Engine engine;
  Change change;
  change.what = Change::What::scale;
  forMechanisms(layer, random, [&](const Layer& next) {
    for (const Layer* now : {&next, &std::as_const(layer)}) {  // the plain layer in between
      engine.apply(now->spec, now->inputs(), change);
      CHECK(test::difference(*now, engine.trace(), reference(now->spec, now->inputs())) == "");
    }
  });
}

TEST_CASE("engine: edits of layers without updates, and of W_O, which needs none of the rest") {
  Random random(23);
  Engine engine;
  forMechanisms(test::projected(test::shape(2, 1, 6, 6, 4, 3), 5, 7, random), random, [&](Layer layer) {
    engine.apply(layer.spec, layer.inputs(), Change{});
    for (TensorId id : {TensorId::w_o, TensorId::x, TensorId::w_o, TensorId::w_v}) {
      layer.input(id).at(0, 2, 1) += 1.5f;
      const Change change{
          .what = Change::What::cells, .tensor = id, .row = 2, .col = 1, .rows = 1, .cols = 1};
      engine.apply(layer.spec, layer.inputs(), change);
      CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
    }
  });
}

TEST_CASE("engine: a switch of any option at 16 tokens and 4 heads") {
  Random random(21);
  Engine engine;
  double slowest = 0.0;
  forMechanisms(test::projected(test::shape(4, 4, 16, 16, 16, 16), 64, 64, random), random, [&](Layer layer) {
    layer.spec.causal = true, layer.spec.pattern.random = 3, layer.spec.pattern.local = 4;
    double fastest = 1.0;
    for (int n = 0; n < 5; ++n) {
      const auto start = std::chrono::steady_clock::now();
      engine.apply(layer.spec, layer.inputs(), Change{});
      fastest =
          std::min(fastest, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    slowest = std::max(slowest, fastest);
  });
  MESSAGE("the slowest takes ", slowest * 1e3, " ms");
  WARN(slowest <= 0.3e-3);
}
