// forward() against the reference: lengths around the vector width, all options, and extreme values.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

std::string checked(const Layer& layer) {
  const auto ok = validate(layer.spec, layer.inputs());
  if (!ok) return ok.error().message();
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  return test::difference(layer, trace, reference(layer.spec, layer.inputs()));
}

bool allFinite(const Tensor& tensor) {
  return std::all_of(tensor.values().begin(), tensor.values().end(),
                     [](float v) { return std::isfinite(v); });
}

/// No NaN anywhere, and infinity only as a masked score or the maximum of an empty row.
bool isSound(const Trace& t) {
  for (const Tensor* tensor : {&t.q, &t.k, &t.v, &t.raw, &t.scores, &t.exponentials, &t.rowSum, &t.weights,
                               &t.headOutput, &t.concat, &t.output}) {
    if (!allFinite(*tensor)) return false;
  }
  for (const Tensor* tensor : {&t.masked, &t.rowMax}) {
    for (float v : tensor->values()) {
      if (std::isnan(v) || v == std::numeric_limits<float>::infinity()) return false;
    }
  }
  return true;
}

double rowSum(const Trace& trace, int head, int row) {
  double sum = 0.0;
  for (int j = 0; j < trace.weights.cols(); ++j) sum += double{trace.weights.at(head, row, j)};
  return sum;
}

const std::vector<int> kLengths = {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65};

}  // namespace

TEST_CASE("forward: lengths around the vector width, as queries, keys, d_k and d_v") {
  Random random(1);
  for (int n : kLengths) {
    CAPTURE(n);
    CHECK(checked(test::direct(test::shape(1, 1, n, n, n, n), random)) == "");
    CHECK(checked(test::direct(test::shape(2, 2, n, 5, 4, 3), random)) == "");
    CHECK(checked(test::direct(test::shape(2, 1, 5, n, 4, 3), random)) == "");
    CHECK(checked(test::direct(test::shape(1, 1, 5, 6, n, 3), random)) == "");
    CHECK(checked(test::direct(test::shape(1, 1, 5, 6, 4, n), random)) == "");
  }
}

TEST_CASE("forward: masks, offsets and windows") {
  Random random(2);
  for (int n : kLengths) {
    CAPTURE(n);
    Layer layer = test::direct(test::shape(2, 2, n, n + 3, 8, 8), random);
    layer.spec.causal = true;
    CHECK(checked(layer) == "");
    layer.spec.causalOffset = 3;
    CHECK(checked(layer) == "");
    layer.spec.windowLeft = 2;
    CHECK(checked(layer) == "");
    layer.spec.causal = false, layer.spec.windowRight = 0;
    CHECK(checked(layer) == "");
    layer.spec.causalOffset = std::numeric_limits<int>::max();
    layer.spec.windowRight = std::numeric_limits<int>::max();
    CHECK(checked(layer) == "");
    layer.spec.windowLeft = std::numeric_limits<int>::max();
    layer.paintNothing();
    for (std::uint8_t& cell : layer.painted.blocked) cell = random.chance(0.5);
    CHECK(checked(layer) == "");
  }
}

TEST_CASE("forward: shared key heads, scores, scales and temperatures") {
  Random random(3);
  for (int kvHeads : {1, 2, 3, 6})
    CHECK(checked(test::direct(test::shape(6, kvHeads, 9, 7, 5, 4), random)) == "");
  Layer layer = test::direct(test::shape(2, 2, 17, 9, 16, 8), random);
  for (float temperature : {0.05f, 0.5f, 2.0f, 100.0f, 1e6f}) {
    CAPTURE(temperature);
    layer.spec.temperature = temperature;
    CHECK(checked(layer) == "");
  }
  layer.spec.temperature = 1.0f;
  layer.spec.scale = -0.7f;
  CHECK(checked(layer) == "");
  layer.spec.score = Score::dot;
  CHECK(checked(layer) == "");
}

TEST_CASE("forward: projected layers") {
  Random random(4);
  for (int n : kLengths) {
    CAPTURE(n);
    CHECK(checked(test::projected(test::shape(1, 1, n, n, 4, 4), n, 0, random)) == "");
    CHECK(checked(test::projected(test::shape(4, 2, n, n, 4, 3), 16, n, random)) == "");
  }
}

TEST_CASE("forward: shapes that change leave nothing behind") {
  Random random(5);
  Trace trace;
  for (int n : {9, 3, 17, 1}) {
    const Layer layer = test::direct(test::shape(2, 1, n, n + 1, 4, 5), random);
    forward(layer.spec, layer.inputs(), trace);
    CHECK(test::difference(layer, trace, reference(layer.spec, layer.inputs())) == "");
  }
}

TEST_CASE("forward: rows of weights sum to 1") {
  Random random(6);
  const Layer layer = test::direct(test::shape(1, 1, 16, 1024, 32, 4), random);
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  for (int i = 0; i < 16; ++i) CHECK(std::abs(rowSum(trace, 0, i) - 1.0) < 2e-6);
}

TEST_CASE("forward: a row with every key masked is zeros, and says so by its maximum") {
  Random random(7);
  Layer layer = test::direct(test::shape(2, 2, 4, 5, 3, 2), random);
  layer.paintNothing();
  for (int j = 0; j < 5; ++j) layer.paint(2, j) = 1;
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  for (int h = 0; h < 2; ++h) {
    CHECK(trace.rowMax.at(h, 2, 0) == -std::numeric_limits<float>::infinity());
    CHECK(trace.rowSum.at(h, 2, 0) == 0.0f);
    CHECK(rowSum(trace, h, 2) == 0.0);
    CHECK(rowSum(trace, h, 1) == doctest::Approx(1.0));
    for (int c = 0; c < 2; ++c) CHECK(trace.headOutput.at(h, 2, c) == 0.0f);
  }
  CHECK(isSound(trace));
}

TEST_CASE("forward: no NaN from finite input, however large") {
  Random random(8);
  const float kMost = std::numeric_limits<float>::max();
  for (float size : {1e-45f, 1e-30f, 1e10f, 1e19f, 1e30f, 3e38f, kMost}) {
    for (float temperature : {1e-6f, 1.0f, 1e6f}) {
      CAPTURE(size);
      CAPTURE(temperature);
      for (int n : {1, 2, 5, 17, 33}) {
        Layer layer = test::direct(test::shape(2, 1, n, n, n, n), random);
        for (Tensor* t : {&layer.q, &layer.k, &layer.v}) {
          for (float& v : t->values()) v = random.chance(0.5) ? size : -size;
        }
        layer.spec.temperature = temperature;
        for (bool causal : {false, true}) {
          layer.spec.causal = causal;
          Trace trace;
          forward(layer.spec, layer.inputs(), trace);
          CHECK(isSound(trace));
          for (int i = 0; i < n; ++i) CHECK(std::abs(rowSum(trace, 1, i) - 1.0) < 2e-6);
        }
      }
    }
  }
}

TEST_CASE("forward: huge projections saturate and stay sound") {
  Random random(9);
  for (float size : {1e19f, 1e30f, 3e38f}) {
    Layer layer = test::projected(test::shape(2, 2, 9, 9, 4, 4), 16, 8, random);
    for (Tensor* t : {&layer.x, &layer.wQ, &layer.wK, &layer.wV, &layer.wO}) {
      for (float& v : t->values()) v = random.chance(0.5) ? size : -size;
    }
    Trace trace;
    forward(layer.spec, layer.inputs(), trace);
    CHECK(isSound(trace));
    // Sums of ±size² beyond the range of float saturate alike in both; at 1e19 they fit and are rounded as
    // usual.
    const ReferenceTrace exact = reference(layer.spec, layer.inputs());
    const double bound = errorBound(layer.spec, layer.inputs(), exact, TensorId::q);
    for (std::size_t i = 0; i < trace.q.size(); ++i) {
      CHECK(std::abs(double{trace.q.data()[i]} - exact.q.values[i]) <= bound);
    }
  }
}

TEST_CASE("forward: a dot product that overflows on the way but not in the end is exact") {
  Layer layer;
  layer.spec = test::shape(1, 1, 1, 2, 4, 1);
  layer.spec.score = Score::dot;
  layer.q = Tensor(1, 1, 4), layer.k = Tensor(1, 2, 4), layer.v = Tensor(1, 2, 1);
  const float q[] = {1e30f, 1e30f, 1.0f, 2.0f}, k[] = {1e30f, -1e30f, 3.0f, 4.0f, 0.0f, 0.0f, 3.0f, 3.5f};
  std::copy_n(q, 4, layer.q.data());
  std::copy_n(k, 8, layer.k.data());
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  CHECK(trace.raw.at(0, 0, 0) == 11.0f);
  CHECK(trace.raw.at(0, 0, 1) == 10.0f);
}

TEST_CASE("forward: equal scores share equally, one key takes all, a cold softmax takes the larger") {
  Random random(10);
  Layer layer = test::direct(test::shape(1, 1, 3, 7, 4, 2), random);
  std::fill(layer.q.values().begin(), layer.q.values().end(), 0.0f);
  Trace trace;
  for (float temperature : {1e-6f, 1.0f}) {
    layer.spec.temperature = temperature;
    forward(layer.spec, layer.inputs(), trace);
    for (float w : trace.weights.values()) CHECK(w == doctest::Approx(1.0 / 7.0));
  }
  layer = test::direct(test::shape(1, 1, 3, 7, 4, 2), random);
  layer.spec.temperature = 1e-6f;
  forward(layer.spec, layer.inputs(), trace);
  for (int i = 0; i < 3; ++i) {
    const float* masked = trace.masked.row(0, i);
    const auto winner = std::max_element(masked, masked + 7) - masked;
    for (int j = 0; j < 7; ++j) CHECK(trace.weights.at(0, i, j) == (j == winner ? 1.0f : 0.0f));
  }
}

TEST_CASE("forward: a sink takes a part of every row, with all masks, scores and a temperature") {
  Random random(31);
  for (int n : kLengths) {
    CAPTURE(n);
    Layer layer = test::withSink(test::direct(test::shape(2, 1, n, n + 1, 4, 3), random), random);
    CHECK(checked(layer) == "");
    layer.spec.causal = true, layer.spec.temperature = 0.3f;
    CHECK(checked(layer) == "");
    layer.spec.windowRight = -1, layer.spec.keyLength = 0;  // no key is seen: the sink has the whole row
    CHECK(checked(layer) == "");
    layer.spec.keyLength = -1, layer.spec.maskAfterSoftmax = true;
    CHECK(checked(layer) == "");
    CHECK(checked(test::withSink(test::withScore(layer, Score::additive, random), random)) == "");
  }
}

TEST_CASE(
    "forward: the sink 0 is softmax-1, one far below every score is softmax, and one far above takes all") {
  Random random(32);
  Layer layer = test::direct(test::shape(1, 1, 4, 5, 3, 2), random);
  Trace plain, trace;
  forward(layer.spec, layer.inputs(), plain);
  layer.spec.sink = true;
  layer.sink = Tensor(1, 1, 1);
  forward(layer.spec, layer.inputs(), trace);
  for (int i = 0; i < 4; ++i) {
    double sum = 1.0;
    for (int j = 0; j < 5; ++j) sum += std::exp(double{plain.masked.at(0, i, j)});
    for (int j = 0; j < 5; ++j)
      CHECK(double{trace.weights.at(0, i, j)} ==
            doctest::Approx(std::exp(double{plain.masked.at(0, i, j)}) / sum).epsilon(1e-6));
    CHECK(rowSum(trace, 0, i) < 1.0);
  }
  layer.sink.at(0, 0, 0) = -1e4f;
  forward(layer.spec, layer.inputs(), trace);
  for (std::size_t i = 0; i < trace.weights.size(); ++i)
    CHECK(trace.weights.data()[i] == doctest::Approx(plain.weights.data()[i]).epsilon(1e-6));
  layer.sink.at(0, 0, 0) = 1e4f;
  forward(layer.spec, layer.inputs(), trace);
  for (float w : trace.weights.values()) CHECK(w == 0.0f);
}

TEST_CASE("forward: a sink that is missing, infinite or of other heads is refused") {
  Random random(33);
  Layer layer = test::direct(test::shape(2, 2, 3, 3, 2, 2), random);
  layer.spec.sink = true;
  CHECK(checked(layer) == "sink: it is missing; give a tensor of shape [2, 1, 1].");
  layer.sink = Tensor(1, 1, 1);
  CHECK(checked(layer) != "");
  layer.sink = Tensor(2, 1, 1);
  CHECK(checked(layer) == "");
  layer.sink.at(1, 0, 0) = std::numeric_limits<float>::infinity();
  CHECK(checked(layer).find("sink") == 0);
  layer.spec.normalizer = Normalizer::sparsemax;  // which has no use for it
  CHECK(checked(layer) == "");
}
