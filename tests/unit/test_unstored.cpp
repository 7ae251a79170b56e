// Layers whose tensors of pairs are not stored: every number is, to the bit, the one that forward() stores.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/mechanisms/mechanism.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

/// One way to hide keys, by its name.
struct Mask {
  const char* name;
  std::function<void(Layer&, Random&)> put;
};

const Mask kMasks[] = {
    {"none", [](Layer&, Random&) {}},
    {"causal", [](Layer& l, Random&) { l.spec.causal = true; }},
    {"causal, later", [](Layer& l, Random&) { l.spec.causal = true, l.spec.causalOffset = 3; }},
    {"window", [](Layer& l, Random&) { l.spec.windowLeft = 4, l.spec.windowRight = 2; }},
    {"prefix", [](Layer& l, Random&) { l.spec.causal = true, l.spec.prefix = 5; }},
    {"padding", [](Layer& l, Random&) { l.spec.keyLength = 17; }},
    {"pattern", [](Layer& l, Random&) { l.spec.pattern = {3, 2, 7, 0, 1, 2, 5}; }},
    {"painted",
     [](Layer& l, Random& random) {
       l.paintNothing();
       for (std::uint8_t& cell : l.painted.blocked) cell = random.chance(0.3);
     }},
    {"bias",
     [](Layer& l, Random& random) {
       test::fill(l.bias = {l.spec.heads, l.spec.queryCount, l.spec.keyCount}, random);
       for (float& b : l.bias.values())
         if (random.chance(0.2)) b = -std::numeric_limits<float>::infinity();
     }},
    {"after the normaliser", [](Layer& l, Random&) { l.spec.causal = l.spec.maskAfterSoftmax = true; }},
};

/// What differs between what the engine reads, in an order of rows of its own, and what is stored; or "".
std::string differing(const Trace& now, const Trace& whole, Random& random) {
  for (int i = 0; i < kTensorCount; ++i) {
    const auto id = static_cast<TensorId>(i);
    const Tensor *made = intermediate(now, id), *all = intermediate(whole, id);
    if (!made != !all) return std::string(name(id)) + " is there in one of them";
    if (!made) continue;
    if (isOfPairs(id) == made->isStored()) return std::string(name(id)) + " is stored, or should be";
    if (!made->sameShape(*all)) return std::string(name(id)) + " has another shape";
    const bool inOrder = random.chance(0.5);
    for (int n = 0; n < made->heads() * made->rows(); ++n) {
      const int at = inOrder ? n : random.below(made->heads() * made->rows());
      const int h = at / made->rows(), r = at % made->rows();
      const float *a = made->row(h, r), *b = all->row(h, r);
      for (int c = 0; c < made->cols(); ++c)
        if (a[c] != b[c])
          return std::string(name(id)) + " of row " + std::to_string(r) + ", column " + std::to_string(c) +
                 " is " + std::to_string(a[c]) + ", stored " + std::to_string(b[c]);
    }
  }
  return "";
}

/// Reads the layer through an engine that stores no pairs.
std::string wrongWhenRead(const Layer& layer, Random& random) {
  Trace whole;
  forward(layer.spec, layer.inputs(), whole);
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  if (std::string bad = differing(engine.trace(), whole, random); !bad.empty()) return bad;
  const Tensor* const mean = &engine.summaries().mean(TensorId::weights, layer.spec, engine.trace());
  for (int i = 0; i < mean->rows(); i += 5) {
    double sum = 0;
    for (int h = 0; h < layer.spec.heads; ++h) sum += double{whole.weights.at(h, i, i % mean->cols())};
    if (mean->at(0, i, i % mean->cols()) != static_cast<float>(sum * (1.0 / layer.spec.heads)))
      return "the mean of the weights";
  }
  return "";
}

}  // namespace

TEST_CASE("unstored: rows are those that forward() stores, for every score, normaliser, position and mask") {
  Random random(71);
  for (const Score score : test::kScores)
    for (const Normalizer normalizer : test::kNormalizers)
      for (const Mask& mask : kMasks) {
        Layer layer = test::withScore(
            test::direct(test::shape(2, 1, 37, 29 + random.below(20), 6, 5), random), score, random);
        layer.spec.normalizer = normalizer;
        if (random.chance(0.3)) layer.spec.softcap = 2.0f;
        if (random.chance(0.3)) layer.spec.temperature = 0.4f;
        const Position position = test::kPositions[random.below(4)];
        if (position == Position::alibi || (position == Position::rotary && score != Score::additive))
          layer.spec.position = position;
        if (normalizer == Normalizer::softmax && random.chance(0.3)) layer = test::withSink(layer, random);
        mask.put(layer, random);
        if (!validate(layer.spec, layer.inputs())) continue;
        CAPTURE(static_cast<int>(score));
        CAPTURE(static_cast<int>(normalizer));
        CAPTURE(mask.name);
        CHECK(wrongWhenRead(layer, random) == "");
      }
}

TEST_CASE("unstored: what a score makes of queries and keys is kept, and made anew after an edit of either") {
  Random random(75);
  for (const Score score : test::kScores) {
    CAPTURE(static_cast<int>(score));
    Layer layer = test::withScore(test::direct(test::shape(4, 2, 90, 83, 6, 5), random), score, random);
    Engine engine;
    engine.setMost({0, 0});
    engine.apply(layer.spec, layer.inputs(), Change{});
    while (engine.hasMore()) engine.computeNext(true);
    Trace first;
    forward(layer.spec, layer.inputs(), first);
    const Tensor& mean = engine.summaries().overview(kMeanWeights)->blocks();
    for (int i = 0; i < mean.rows(); ++i)
      for (int j = 0; j < mean.cols(); ++j) {
        double sum = 0;
        for (int h = 0; h < 4; ++h) sum += double{first.weights.at(h, i, j)};
        CHECK(mean.at(0, i, j) == static_cast<float>(sum / 4));
      }
    for (int n = 0; n < 12; ++n)
      for (const TensorId id :
           {TensorId::q, TensorId::k, TensorId::v, TensorId::w_a, TensorId::u_a, TensorId::v_a}) {
        Tensor& input = layer.input(id);
        if (input.empty()) continue;
        const int head = random.below(input.heads()), row = random.below(input.rows()),
                  col = random.below(input.cols());
        CAPTURE(name(id));
        input.at(head, row, col) += random.normal();
        engine.apply(layer.spec, layer.inputs(), {Change::What::cells, id, head, row, col, 1, 1});
        if (n % 2 == 0 && engine.hasMore()) engine.computeNext();
        Trace whole;
        forward(layer.spec, layer.inputs(), whole);
        CHECK(differing(engine.trace(), whole, random) == "");
      }
  }
}

TEST_CASE("unstored: rows of more than one block of a kernel, plain and projected") {
  Random random(72);
  for (const int keys : {70, 515}) {
    Layer layer = test::direct(test::shape(2, 2, 420, keys, 16, 16), random);
    CHECK(wrongWhenRead(layer, random) == "");
    layer.spec.causal = true;
    CHECK(wrongWhenRead(layer, random) == "");
    CHECK(wrongWhenRead(test::projected(test::shape(2, 1, 420, keys, 8, 8), 12, 6, random), random) == "");
  }
}

TEST_CASE("unstored: a block of an overview has the number of its cells that is farthest from 0") {
  Random random(73);
  Layer layer = test::direct(test::shape(2, 2, 700, 1100, 4, 4), random);
  layer.spec.causal = true;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  const Trace& trace = engine.trace();
  const Overview* small = engine.summaries().overview(TensorId::masked);
  REQUIRE(small);
  CHECK(small->side() == 2);
  CHECK(small->blocks().rows() == 350);
  CHECK(small->blocks().cols() == 550);
  for (int n = 0; n < 300; ++n) {
    const int h = random.below(2), i = random.below(350), j = random.below(550);
    float best = -std::numeric_limits<float>::infinity();
    for (int r = 2 * i; r < 2 * i + 2; ++r)
      for (int c = 2 * j; c < 2 * j + 2; ++c) {
        const float v = trace.masked.at(h, r, c);
        if (std::isfinite(v) && !(std::isfinite(best) && std::abs(best) >= std::abs(v))) best = v;
      }
    CHECK(small->blocks().at(h, i, j) == best);
  }
  CHECK_FALSE(engine.summaries().overview(TensorId::raw));
}

TEST_CASE("unstored: some rows at a time, the head in view first; an edit leaves what it does not touch") {
  Random random(74);
  Layer layer = test::direct(test::shape(3, 3, 500, 500, 4, 4), random);
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  const Trace& soon = engine.traceSoon(1);
  CHECK_FALSE(engine.isWhole());
  CHECK(soon.rowSum.at(1, 0, 0) > 0.0f);
  CHECK(soon.rowSum.at(1, 499, 0) == 0.0f);
  CHECK(engine.summaries().isComputed(TensorId::weights, 1));
  CHECK_FALSE(engine.summaries().isComputed(TensorId::weights, 0));
  while (soon.rowSum.at(1, 499, 0) == 0.0f) engine.computeNext();
  CHECK(soon.rowSum.at(0, 0, 0) == 0.0f);
  while (engine.hasMore()) engine.computeNext();

  // A row of Q: its row, at once.
  const Tensor before = soon.headOutput;
  layer.q.at(2, 321, 1) += 2.0f;
  Change change{Change::What::cells, TensorId::q, 2, 321, 1, 1, 1};
  engine.apply(layer.spec, layer.inputs(), change);
  CHECK_FALSE(engine.hasMore());
  for (int h = 0; h < 3; ++h)
    for (int i = 0; i < 500; ++i)
      CHECK((before.at(h, i, 0) != soon.headOutput.at(h, i, 0)) == (h == 2 && i == 321));
  // The mean follows each edit of a drag, wherever it goes.
  const Tensor& mean = engine.summaries().mean(TensorId::weights, layer.spec, soon);
  for (const int row : {321, 321, 321, 77, 77, 321})
    for (const int head : {2, 1}) {
      layer.q.at(head, row, 1) += 0.5f;
      engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::q, head, row, 1, 1, 1});
      Trace whole;
      forward(layer.spec, layer.inputs(), whole);
      for (int j = 0; j < 500; j += 9) {
        double sum = 0;
        for (int h = 0; h < 3; ++h) sum += double{whole.weights.at(h, row, j)};
        CHECK(mean.at(0, row, j) == doctest::Approx(sum / 3));
      }
    }
  // A row of K or V: its head, some rows at a time. Outputs are foreseen, and reading a row does not wait.
  for (const TensorId id : {TensorId::k, TensorId::v})
    for (int n = 0; n < 20; ++n) {
      const int row = random.below(500), col = random.below(4);
      layer.input(id).at(0, row, col) += random.normal() * 2.0f;
      engine.apply(layer.spec, layer.inputs(), {Change::What::cells, id, 0, row, col, 1, 1});
      CHECK_FALSE(engine.isWhole());
      if (n % 10 == 0) engine.computeNext();
      Trace whole;
      forward(layer.spec, layer.inputs(), whole);
      CHECK(soon.weights.at(0, 444, 7) == whole.weights.at(0, 444, 7));
      for (int i = 0; i < 500; i += 7) {
        CHECK(std::abs(soon.headOutput.at(0, i, 1) - whole.headOutput.at(0, i, 1)) < 1e-5f);
        CHECK(std::abs(soon.rowSum.at(0, i, 0) / whole.rowSum.at(0, i, 0) - 1) < 1e-4f);
      }
      if (n == 19) CHECK(engine.trace().headOutput == whole.headOutput);
    }
}

TEST_CASE("unstored: Q, K and V of a head are projected when it is first read, also after an edit of X") {
  Random random(81);
  Layer layer = test::projected(test::shape(4, 2, 90, 90, 6, 5), 12, 10, random);
  layer.spec.position = Position::rotary;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  Summaries& summaries = engine.summaries();
  CHECK_FALSE(summaries.isComputed(TensorId::q, 0));
  const auto isAsStored = [&](const Trace& now, int head) {
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    for (const auto& [a, b, h] : {std::tuple{&now.q, &whole.q, head},
                                  {&now.qRotated, &whole.qRotated, head},
                                  {&now.k, &whole.k, head / 2},
                                  {&now.kRotated, &whole.kRotated, head / 2},
                                  {&now.v, &whole.v, head / 2}})
      if (!std::equal(a->head(h), a->head(h) + std::ptrdiff_t{a->rows()} * a->cols(), b->head(h)))
        return false;
    return true;
  };
  CHECK(isAsStored(engine.traceSoon(1), 1));
  CHECK(summaries.isComputed(TensorId::q, 1));
  CHECK(summaries.isComputed(TensorId::k, 0));
  CHECK_FALSE(summaries.isComputed(TensorId::q, 0));
  CHECK_FALSE(summaries.isComputed(TensorId::v, 1));
  while (engine.hasMore()) engine.computeNext();
  CHECK(isAsStored(engine.shapes(), 3));
  layer.x.at(0, 7, 3) += 2.0f;
  Change edit;
  edit.what = Change::What::cells, edit.tensor = TensorId::x, edit.row = 7, edit.col = 3;
  edit.rows = edit.cols = 1;
  engine.apply(layer.spec, layer.inputs(), edit);
  CHECK(isAsStored(engine.traceSoon(2), 2));
  CHECK_FALSE(isAsStored(engine.shapes(), 3));
  CHECK(isAsStored(engine.traceOfInputs(), 3));
  CHECK(isAsStored(engine.shapes(), 0));
}

TEST_CASE("unstored: an edit while the mean over heads is made is in it") {
  Random random(80);
  Layer layer = test::direct(test::shape(3, 3, 420, 300, 8, 8), random);
  Engine engine, other;
  for (Engine* one : {&engine, &other}) one->setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  while (!engine.isWhole()) engine.computeNext();
  engine.computeNext();  // adds weights of the first head
  layer.q.at(0, 5, 1) += 2.0f;
  engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::q, 0, 5, 1, 1, 1});
  CHECK(engine.isWhole());
  while (engine.hasMore()) engine.computeNext();
  other.apply(layer.spec, layer.inputs(), Change{});
  while (other.hasMore()) other.computeNext();
  CHECK(engine.summaries().overview(kMeanWeights)->blocks() ==
        other.summaries().overview(kMeanWeights)->blocks());
}

TEST_CASE("unstored: cells painted in many heads are at once in the one in view, and soon in all") {
  Random random(81);
  Layer layer = test::direct(test::shape(8, 8, 1100, 1100, 2, 2), random);
  layer.paintNothing();
  Engine engine, other;
  for (Engine* one : {&engine, &other}) one->setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  (void)engine.traceSoon(2);
  while (engine.hasMore()) engine.computeNext();
  const std::int64_t before = engine.madeRows();
  const auto paint = [&](int row) {
    Change change;
    change.what = Change::What::painted, change.row = row, change.col = 7, change.rows = 64, change.cols = 1;
    for (int i = row; i < row + 64; ++i) layer.painted.blocked[static_cast<std::size_t>(i * 1100 + 7)] = 1;
    engine.apply(layer.spec, layer.inputs(), change);
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    CHECK(engine.isWhole(2));
    CHECK_FALSE(engine.isWhole(3));
    CHECK(engine.shapes().rowSum.at(2, row + 9, 0) == whole.rowSum.at(2, row + 9, 0));
    CHECK(engine.shapes().weights.at(3, row + 9, 8) == whole.weights.at(3, row + 9, 8));
  };
  paint(400);
  engine.computeNext();
  paint(500), paint(300);
  while (engine.hasMore()) engine.computeNext();
  CHECK(engine.madeRows() - before < 2 * 8 * 400);  // nothing but the painted rows, and those between them
  other.apply(layer.spec, layer.inputs(), Change{});
  while (other.hasMore()) other.computeNext();
  for (const TensorId id : {TensorId::row_max, TensorId::row_sum, TensorId::head_output, TensorId::output})
    CHECK(*intermediate(engine.shapes(), id) == *intermediate(other.shapes(), id));
  for (const TensorId id : {TensorId::masked, TensorId::weights, kMeanWeights})
    CHECK(engine.summaries().overview(id)->blocks() == other.summaries().overview(id)->blocks());
}

namespace {

/// How far overviews, the largest of rows, and outputs are from those of an engine that has computed all, at
/// most; of weights on average, in rows of blocks that differ most.
struct Apart {
  float weights = 0, masked = 0, outputs = 0, peaks = 0;
};
Apart apart(Engine& engine, const Layer& layer, int head) {
  Engine whole;
  whole.setMost({0, 0});
  whole.apply(layer.spec, layer.inputs(), Change{});
  const Trace &now = engine.shapes(), &computed = whole.trace();
  Apart out;
  const auto take = [](float& most, float a, float b) {
    if (a != b) most = std::max(most, std::abs(a - b));
  };
  for (const TensorId id : {TensorId::weights, TensorId::masked}) {
    const bool isOfWeights = id == TensorId::weights;
    const Overview &a = *engine.summaries().overview(id), &b = *whole.summaries().overview(id);
    for (int i = 0; i < a.blocks().rows(); ++i) {
      float sum = 0;
      for (int j = 0; j < a.blocks().cols(); ++j) {
        const float is = a.blocks().at(head, i, j), should = b.blocks().at(head, i, j);
        if (!isOfWeights) take(out.masked, is, should);
        sum += isOfWeights ? std::abs(is - should) : 0.0f;
      }
      if (isOfWeights) take(out.peaks, a.peaks(head)[i], b.peaks(head)[i]);
      out.weights = std::max(out.weights, sum / static_cast<float>(a.blocks().cols()));
    }
  }
  for (int i = 0; i < layer.spec.queryCount; ++i)
    for (int c = 0; c < layer.spec.valueDim; ++c)
      take(out.outputs, now.headOutput.at(head, i, c), computed.headOutput.at(head, i, c));
  return out;
}

void computeAll(Engine& engine) {
  while (engine.hasMore()) engine.computeNext();
}

}  // namespace

TEST_CASE("unstored: a drag of a key is foreseen: outputs, pictures and maxima, without computing a head") {
  Random random(75);
  Layer layer = test::direct(test::shape(2, 2, 1100, 1100, 4, 4), random);
  layer.spec.causal = true, layer.spec.temperature = 0.7f;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  CHECK_FALSE(engine.mayWait());
  computeAll(engine);
  const float start = layer.k.at(1, 333, 2);
  for (int n = 0; n < 400; ++n) {  // there and back: rounding errors must not add up
    layer.k.at(1, 333, 2) = start + 6.0f * std::sin(static_cast<float>(n) * 0.1f);
    engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::k, 1, 333, 2, 1, 1});
    CHECK(engine.mayWait());
  }
  const Apart key = apart(engine, layer, 1);
  CHECK(key.outputs < 2e-6f);
  CHECK(key.masked < 1e-5f);
  CHECK(key.weights < 0.003f);  // on average: the rows of a block may grow by different factors
  CHECK(key.peaks < 0.1f);
  computeAll(engine);
  CHECK(apart(engine, layer, 1).weights == 0.0f);
  CHECK(apart(engine, layer, 1).outputs == 0.0f);
}

TEST_CASE("unstored: a key that takes all of a row's weight is seen as that at once") {
  Random random(76);
  Layer layer = test::direct(test::shape(2, 1, 1100, 1100, 4, 4), random);
  for (float& q : layer.q.values()) q = std::abs(q) + 1.0f;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  computeAll(engine);
  layer.k.at(0, 601, 1) = 60.0f;
  engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::k, 0, 601, 1, 1, 1});
  const Apart key = apart(engine, layer, 1);
  CHECK(key.weights < 1e-4f);
  CHECK(key.peaks < 1e-4f);
  CHECK(key.outputs < 1e-5f);
  const Tensor& blocks = engine.summaries().overview(TensorId::weights)->blocks();
  CHECK(blocks.at(1, 200, 300) > 0.99f);
  CHECK(engine.summaries().row(TensorId::weights, engine.shapes().weights, 1, 400).highAt == 601);
  // Back again in the same drag; but when it has been computed meanwhile, nothing is known of other keys.
  for (const bool isComputed : {false, true}) {
    if (isComputed) computeAll(engine);
    layer.k.at(0, 601, 1) = isComputed ? -900.0f : 1.0f;
    engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::k, 0, 601, 1, 1, 1});
    CHECK(engine.mayWait() == !isComputed);
    if (!isComputed) CHECK(apart(engine, layer, 1).outputs < 1e-5f);
    for (const float number : engine.shapes().headOutput.values()) CHECK(std::isfinite(number));
    layer.k.at(0, 601, 1) = 60.0f;
    engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::k, 0, 601, 1, 1, 1});
  }
  computeAll(engine);
  CHECK(apart(engine, layer, 1).weights == 0.0f);
}

TEST_CASE("unstored: a key that is all that a row sees keeps its weight") {
  Random random(78);
  Layer layer = test::direct(test::shape(1, 1, 300, 300, 4, 4), random);
  layer.spec.causal = true;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  computeAll(engine);
  layer.k.at(0, 0, 1) -= 5.0f;
  engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::k, 0, 0, 1, 1, 1});
  CHECK(engine.mayWait());
  CHECK(apart(engine, layer, 0).outputs < 1e-5f);
}

TEST_CASE("unstored: a value changes outputs and nothing of pairs, now or later") {
  Random random(77);
  Layer layer = test::direct(test::shape(2, 2, 500, 500, 4, 4), random);
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  computeAll(engine);
  const std::uint32_t before = engine.summaries().stamps(TensorId::weights, 0).latest;
  layer.v.at(0, 77, 3) = 9.0f;
  engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::v, 0, 77, 3, 1, 1});
  CHECK(engine.mayWait());
  CHECK(apart(engine, layer, 0).outputs < 1e-6f);
  computeAll(engine);
  CHECK(apart(engine, layer, 0).outputs == 0.0f);
  CHECK(engine.summaries().stamps(TensorId::weights, 0).latest == before);
  // After a change that is not foreseen, an edit of a value does not make the head look as if it were.
  layer.spec.temperature = 2.0f;
  engine.apply(layer.spec, layer.inputs(), {.what = Change::What::temperature});
  layer.v.at(0, 77, 3) = 1.0f;
  engine.apply(layer.spec, layer.inputs(), {Change::What::cells, TensorId::v, 0, 77, 3, 1, 1});
  CHECK_FALSE(engine.mayWait());
  computeAll(engine);
  CHECK(apart(engine, layer, 0).weights == 0.0f);
  CHECK(apart(engine, layer, 0).outputs == 0.0f);
}

TEST_CASE(
    "unstored: a drag of a query makes its row and no other, one of a value none, whatever rows are read") {
  Random random(80);
  Layer layer = test::direct(test::shape(2, 2, 1100, 1100, 4, 4), random);
  layer.spec.causal = true;
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  computeAll(engine);
  const Trace& trace = engine.trace();
  Trace whole;
  const auto edit = [&](TensorId id, int row) {
    const std::int64_t before = engine.madeRows();
    layer.input(id).at(1, row, 2) += 0.25f;
    engine.apply(layer.spec, layer.inputs(), {Change::What::cells, id, 1, row, 2, 1, 1});
    forward(layer.spec, layer.inputs(), whole);
    for (const int read : {600, 3, 601, 3})
      for (int j = 0; j < 1100; j += 7) {
        REQUIRE(trace.weights.at(1, read, j) == whole.weights.at(1, read, j));
        REQUIRE(trace.masked.at(1, read, j) == whole.masked.at(1, read, j));
      }
    return engine.madeRows() - before;
  };
  CHECK(edit(TensorId::q, 600) > 1);  // the block of the overviews that it is in, and the row beside it
  for (int n = 0; n < 4; ++n) CHECK(edit(TensorId::q, 600) == 1);
  for (int n = 0; n < 4; ++n) CHECK(edit(TensorId::v, 7) == 0);
  CHECK(edit(TensorId::q, 3) > 1);
  CHECK(edit(TensorId::k, 3) > 1);
  computeAll(engine);
  CHECK(apart(engine, layer, 1).weights == 0.0f);
  CHECK(apart(engine, layer, 1).masked == 0.0f);
  CHECK(engine.trace().headOutput == whole.headOutput);
  CHECK(engine.trace().output == whole.output);
  // Rows that are read in order are made together, also those that begin elsewhere.
  for (int i = 200; i < 700; ++i) REQUIRE(trace.weights.at(1, i, 100) == whole.weights.at(1, i, 100));
}

TEST_CASE("unstored: the stamps of blocks are the newest of their rows and columns") {
  Random random(79);
  Layer layer = test::direct(test::shape(2, 2, 1100, 1100, 4, 4), random);
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  computeAll(engine);
  Summaries& summaries = engine.summaries();
  for (int edit = 0; edit < 6; ++edit) {
    const TensorId id = edit % 2 == 0 ? TensorId::q : TensorId::k;
    const int row = random.below(1100);
    layer.input(id).at(1, row, 2) += 0.25f;
    engine.apply(layer.spec, layer.inputs(), {Change::What::cells, id, 1, row, 2, 1, 1});
    if (edit == 4) computeAll(engine);
    for (const TensorId pairs : {TensorId::masked, TensorId::weights, kMeanWeights}) {
      const int head = pairs == kMeanWeights ? 0 : 1, side = summaries.overview(pairs)->side();
      const Stamps &all = summaries.stamps(pairs, head), &blocks = summaries.blockStamps(pairs, head);
      CHECK(blocks.latest == all.latest);
      CHECK(blocks.whole == all.whole);
      for (const auto& [lines, newest] : {std::pair(&all.rows, &blocks.rows), {&all.cols, &blocks.cols}}) {
        std::vector<std::uint32_t> wanted((lines->size() + static_cast<std::size_t>(side) - 1) /
                                          static_cast<std::size_t>(side));
        for (std::size_t i = 0; i < lines->size(); ++i) {
          std::uint32_t& block = wanted[i / static_cast<std::size_t>(side)];
          block = std::max(block, (*lines)[i]);
        }
        CHECK(*newest == wanted);
      }
    }
  }
}

TEST_CASE("unstored: a few numbers of a row are made without the others, and are seen as the same") {
  Random random(36);
  for (const Mask& mask : kMasks) {
    CAPTURE(mask.name);
    Layer layer = test::direct(test::shape(2, 2, 60, 60, 8, 4), random);
    layer.spec.temperature = 0.5f;
    mask.put(layer, random);
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    Engine engine;
    engine.setMost({0, 0});
    engine.apply(layer.spec, layer.inputs(), Change{});
    const Trace& now = engine.trace();
    const std::int64_t before = engine.madeRows();
    double worst = 0;
    int hidden = 0;
    for (int n = 0; n < 200; ++n) {
      const int h = random.below(2), row = random.below(60), count = 1 + random.below(20),
                first = random.below(60 - count);
      for (const auto& [made, all] :
           {std::pair(&now.masked, &whole.masked), std::pair(&now.weights, &whole.weights)}) {
        const float* const part = made->part(h, row, first, count);
        for (int c = 0; c < count; ++c) {
          const float wanted = all->at(h, row, first + c);
          if (std::isinf(wanted)) hidden += part[c] != wanted;
          else worst = std::max(worst, double{std::fabs(part[c] - wanted)});
        }
      }
    }
    CHECK(worst < 4e-6);
    CHECK(hidden == 0);
    if (std::string_view(mask.name) == "causal") CHECK(engine.madeRows() == before);
  }
}

TEST_CASE("unstored: any number of threads makes the same numbers, to the bit") {
  Random random(35);
  Layer layer = test::direct(test::shape(2, 1, 1300, 1100, 24, 16), random);
  layer.spec.causal = true;
  const auto made = [&layer](Engine& engine, int threads) {
    engine.setMost({0, 0});
    engine.setThreads(threads);
    engine.apply(layer.spec, layer.inputs(), Change{});
    engine.summaries().profiles().ask(1, 7);
    while (engine.hasMore()) engine.computeNext();
  };
  Engine one, more;
  made(one, 1), made(more, 3);
  const Trace &a = one.trace(), &b = more.trace();
  for (const TensorId id : {TensorId::row_max, TensorId::row_sum, TensorId::head_output, TensorId::output})
    CHECK(*intermediate(a, id) == *intermediate(b, id));
  for (const TensorId id : {TensorId::masked, TensorId::weights, kMeanWeights}) {
    const Overview &first = *one.summaries().overview(id), &other = *more.summaries().overview(id);
    CHECK(first.blocks() == other.blocks());
    for (int h = 0; h < first.blocks().heads(); ++h)
      CHECK(std::equal(first.peaks(h), first.peaks(h) + first.blocks().rows(), other.peaks(h)));
  }
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < 1300; ++i) {
      const RowSummary &x = one.summaries().row(TensorId::weights, a.weights, h, i),
                       &y = more.summaries().row(TensorId::weights, b.weights, h, i);
      REQUIRE(x.range == y.range);
      REQUIRE((x.highAt == y.highAt && x.links == y.links));
    }
  const Profiles &profiles = one.summaries().profiles(), &same = more.summaries().profiles();
  CHECK(profiles.areThere(1, 1300, 1100));
  CHECK((profiles.received().numbers == same.received().numbers &&
         profiles.entropies().numbers == same.entropies().numbers));
  CHECK(one.summaries().reach(TensorId::masked, a.masked) ==
        more.summaries().reach(TensorId::masked, b.masked));
}

TEST_CASE(
    "unstored: a brief slice makes few rows, however many threads there are, and the same numbers to the "
    "bit") {
  Random random(36);
  constexpr int kHeads = 4, kTokens = 2000, kColumns = 64;
  Layer layer = test::direct(test::shape(kHeads, kHeads, kTokens, kTokens, kColumns, kColumns), random);
  Engine usual, brief;
  for (Engine* engine : {&usual, &brief}) {
    engine->setMost({0, 0});
    engine->apply(layer.spec, layer.inputs(), Change{});
    engine->summaries().profiles().ask(1, 7);
  }
  while (usual.hasMore()) usual.computeNext();
  int slices = 0;
  for (; brief.hasMore(); ++slices) {
    const std::int64_t before = brief.madeRows();
    brief.computeNext(true);
    // A third of what 192 rows of 4,096 keys take.
    CHECK((brief.madeRows() - before) * kTokens <= std::int64_t{192} * 4096 / 3);
  }
  CHECK(slices > kHeads * kTokens / 110);
  const Trace &a = usual.trace(), &b = brief.trace();
  for (const TensorId id : {TensorId::row_max, TensorId::row_sum, TensorId::head_output, TensorId::output})
    CHECK(*intermediate(a, id) == *intermediate(b, id));
  for (const TensorId id : {TensorId::masked, TensorId::weights, kMeanWeights})
    CHECK(usual.summaries().overview(id)->blocks() == brief.summaries().overview(id)->blocks());
  CHECK(usual.summaries().profiles().received().numbers == brief.summaries().profiles().received().numbers);
}

TEST_CASE("unstored: overviews of many heads are small, and never coarser than they must be") {
  const auto sideOf = [](int heads, int tokens) {
    Overview overview;
    overview.reset(heads, tokens, tokens);
    return overview.side();
  };
  CHECK(sideOf(1, 4096) == 4);   // 1,024 a side, 4 MiB
  CHECK(sideOf(8, 4096) == 8);   // 512 a side, 8 MiB in all
  CHECK(sideOf(64, 1448) == 4);  // 362 a side, 32 MiB
}

TEST_CASE("unstored: of 2,048 keys every score and normaliser is the reference") {
  Random random(79);
  for (const Score score : test::kScores)
    for (const Normalizer normalizer : test::kNormalizers) {
      Layer layer = test::withScore(test::direct(test::shape(1, 1, 24, 2048, 6, 3), random), score, random);
      layer.spec.normalizer = normalizer;
      layer.spec.causal = random.chance(0.5), layer.spec.causalOffset = 2024;
      CAPTURE(static_cast<int>(score));
      CAPTURE(static_cast<int>(normalizer));
      Engine engine;
      engine.setMost({0, 0});
      engine.apply(layer.spec, layer.inputs(), Change{});
      CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
    }
}
