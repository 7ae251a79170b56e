// The incremental engine: after any sequence of edits its trace equals that of a recomputation.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/engine/inserted_rows.h"
#include "layer.h"
#include "summary_check.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

using What = Change::What;

/// A number as people and files provide them: mostly ordinary, sometimes zero, repeated, tiny or huge.
float anyNumber(Random& random, bool wild) {
  const int kind = random.below(wild ? 40 : 20);
  if (kind == 0) return 0.0f;
  if (kind == 1) return 1.0f;
  if (kind == 2) return random.normal() * 30.0f;
  if (kind == 20) return random.normal() * 1e10f;
  if (kind == 21) return random.chance(0.5) ? 1e30f : -1e30f;
  if (kind == 22) return random.chance(0.5) ? 3.4e38f : -3.4e38f;
  if (kind == 23) return random.normal() * 1e-40f;
  return random.normal();
}

/// A layer and its engine, with edits of every kind applied to both.
class Editing {
 public:
  /// Layers with more scores than `stored` a head do not store their tensors of pairs.
  Editing(Layer layer, std::uint64_t seed, std::int64_t stored = std::int64_t{1} << 20)
      : layer_(std::move(layer)),
        random_(seed),
        most_(2 * std::min(layer_.spec.queryCount, layer_.spec.keyCount)) {
    engine_.setMost({stored, Limits::stored});
    layer_.paintNothing();
    apply({Change{}});
  }

  void edit() {
    if (!restore_.empty() && random_.chance(0.1)) return restoreAll();
    std::vector<Change> changes{random_.chance(0.06) ? tokens() : one()};
    while (random_.chance(0.1)) changes.push_back(one());
    apply(changes);
  }
  /// Replaces the huge numbers, which make all bounds too wide to be useful, by the ones before; what they
  /// leave behind shows then.
  void restoreAll() {
    std::vector<Change> changes;
    for (const auto& [id, head, row, col, value] : restore_) {
      Tensor& tensor = layer_.input(id);
      if (!tensor.contains(head, row, col)) continue;
      tensor.at(head, row, col) = value;
      changes.push_back(block(id, head, row, col, 1, 1));
    }
    restore_.clear();
    if (changes.empty()) return;
    apply(changes);
  }
  bool isTame() const { return restore_.empty(); }
  std::string wrong() {
    return test::difference(layer_, engine_.trace(), reference(layer_.spec, layer_.inputs()));
  }
  const Layer& layer() const { return layer_; }
  const Trace& trace() { return engine_.trace(); }
  std::string wrongSummary() { return summaries_.wrong(engine_, layer_.inputs()); }

 private:
  void apply(const std::vector<Change>& changes) { engine_.apply(layer_.spec, layer_.inputs(), changes); }

  static Change block(TensorId id, int head, int row, int col, int rows, int cols) {
    return {What::cells, id, head, row, col, rows, cols};
  }

  Change one() {
    const int kind = random_.below(100);
    if (kind < 74) return cells();
    if (kind < 86) return paint();
    if (kind < 90) return option(What::causal);
    if (kind < 93) return option(What::scale);
    return option(What::temperature);
  }

  Change cells() {
    using enum TensorId;
    const TensorId given[] = {q, k, v}, made[] = {x, w_q, w_k, w_v, b_q, b_k, b_v, b_o, w_o};
    TensorId id =
        layer_.projected ? made[random_.below(layer_.withOutputWeights ? 9 : 7)] : given[random_.below(3)];
    if (layer_.input(id).empty()) id = id == b_o ? w_o : x;
    Tensor& tensor = layer_.input(id);
    const int head = random_.below(tensor.heads()), row = random_.below(tensor.rows()),
              col = random_.below(tensor.cols());
    const bool isCell = random_.chance(0.7), isRow = random_.chance(0.5);
    const int rows = isCell || isRow ? 1 : 1 + random_.below(tensor.rows() - row);
    const int cols = isCell ? 1 : 1 + random_.below(tensor.cols() - col);
    const bool wild = random_.chance(0.05);
    for (int r = row; r < row + rows; ++r) {
      for (int c = col; c < col + cols; ++c) {
        float& cell = tensor.at(head, r, c);
        if (wild) restore_.push_back({id, head, r, c, random_.normal()});
        cell = anyNumber(random_, wild);
      }
    }
    return block(id, head, row, col, rows, cols);
  }

  Change paint() {
    Change change;
    change.what = What::painted;
    change.row = random_.below(layer_.spec.queryCount), change.col = random_.below(layer_.spec.keyCount);
    const bool isCell = random_.chance(0.8);
    change.rows = isCell ? 1 : 1 + random_.below(layer_.spec.queryCount - change.row);
    change.cols = isCell ? 1 : 1 + random_.below(layer_.spec.keyCount - change.col);
    const std::uint8_t value = random_.chance(0.4);
    for (int r = change.row; r < change.row + change.rows; ++r) {
      for (int c = change.col; c < change.col + change.cols; ++c) layer_.paint(r, c) = value;
    }
    return change;
  }

  Change option(What what) {
    Spec& spec = layer_.spec;
    if (what == What::causal) {
      spec.causal = random_.chance(0.5);
      spec.causalOffset = random_.chance(0.7) ? 0 : random_.below(4);
      spec.windowLeft = random_.chance(0.7) ? -1 : random_.below(4);
      spec.windowRight = random_.chance(0.7) ? -1 : random_.below(4);
    } else if (what == What::scale) {
      spec.score = random_.chance(0.3) ? Score::dot : Score::scaled;
      spec.scale = random_.chance(0.5) ? 0.0f : random_.normal();
    } else {
      const float temperatures[] = {1.0f, 1.0f, 0.5f, 0.1f, 3.0f, 50.0f};
      spec.temperature = temperatures[random_.below(6)];
    }
    Change change;
    change.what = what;
    return change;
  }

  /// Inserts or removes some tokens, in queries and keys alike; the painted cells of the others move along.
  Change tokens() {
    Spec& spec = layer_.spec;
    const int shorter = std::min(spec.queryCount, spec.keyCount), count = random_.chance(0.8) ? 1 : 2;
    const bool insert = shorter < 4 || (shorter < most_ && random_.chance(0.5));
    const int at = random_.below(insert ? shorter + 1 : shorter - count + 1), delta = insert ? count : -count;
    const auto before = [&](int place) {
      return place < at ? place : insert && place < at + count ? -1 : place - delta;
    };
    spec.queryCount += delta, spec.keyCount += delta;
    for (Tensor* t : {&layer_.x, &layer_.q, &layer_.k, &layer_.v}) {
      if (t->empty()) continue;
      Tensor next(t->heads(), t->rows() + delta, t->cols());
      for (int h = 0; h < t->heads(); ++h) {
        for (int r = 0; r < next.rows(); ++r) {
          for (int c = 0; c < t->cols(); ++c)
            next.at(h, r, c) = before(r) < 0 ? anyNumber(random_, false) : t->at(h, before(r), c);
        }
      }
      *t = next;
    }
    const PaintedMask painted = layer_.painted;
    layer_.paintNothing();
    for (int r = 0; r < spec.queryCount; ++r) {
      for (int c = 0; c < spec.keyCount; ++c) {
        layer_.paint(r, c) =
            before(r) < 0 || before(c) < 0 ? random_.chance(0.2) : painted.isBlocked(before(r), before(c));
      }
    }
    std::erase_if(restore_, [&](Restore& cell) {
      if (!isOfTokens(cell.id)) return false;
      const bool isGone = !insert && cell.row >= at && cell.row < at + count;
      if (cell.row >= at) cell.row += delta;
      return isGone;
    });
    return {};
  }

  static bool isOfTokens(TensorId id) {
    return id == TensorId::x || id == TensorId::q || id == TensorId::k || id == TensorId::v;
  }

  struct Restore {
    TensorId id;
    int head, row, col;
    float value;
  };

  Layer layer_;
  Random random_;
  int most_;  // largest number of tokens
  Engine engine_;
  test::SummaryCheck summaries_;
  std::vector<Restore> restore_;
};

bool isSound(const Trace& trace) {
  for (const Tensor* t : {&trace.weights, &trace.output, &trace.rowSum, &trace.exponentials}) {
    const Tensor all = test::stored(*t);
    for (float v : all.values()) {
      if (!std::isfinite(v)) return false;
    }
  }
  return true;
}

void property(Editing editing, int edits, int every) {
  for (int n = 1; n <= edits; ++n) {
    CAPTURE(n);
    editing.edit();
    if (n % every != 0) continue;
    REQUIRE(isSound(editing.trace()));
    REQUIRE(editing.wrongSummary() == "");
    if (!editing.isTame())
      continue;  // bounds proportional to 1e38 are useless; checked once the huge numbers are gone
    REQUIRE(editing.wrong() == "");
  }
  editing.restoreAll();
  CHECK(editing.wrong() == "");
}

}  // namespace

// More than 100,000 edits in total, over layers of every kind.
TEST_CASE("engine: 30,000 random edits of Q, K, V") {
  Random random(1);
  property(Editing(test::direct(test::shape(2, 2, 6, 6, 3, 3), random), 11), 30'000, 20);
}
TEST_CASE("engine: 20,000 random edits with shared key heads, more keys than queries") {
  Random random(2);
  property(Editing(test::direct(test::shape(4, 2, 5, 9, 4, 2), random), 12), 20'000, 20);
}
TEST_CASE("engine: 25,000 random edits of a projected layer with W_O") {
  Random random(3);
  property(Editing(test::projected(test::shape(2, 1, 6, 6, 3, 2), 5, 4, random), 13), 25'000, 20);
}
TEST_CASE("engine: 22,000 random edits of a projected layer without W_O") {
  Random random(4);
  property(Editing(test::projected(test::shape(2, 2, 5, 5, 2, 3), 4, 0, random), 14), 22'000, 20);
  property(
      Editing(test::withBiases(test::projected(test::shape(2, 1, 6, 6, 3, 2), 5, 4, random), random), 18),
      15'000, 20);
}
TEST_CASE("engine: 3,000 random edits where blocks of keys are updated, not made anew") {
  Random random(5);
  property(Editing(test::direct(test::shape(2, 2, 33, 130, 5, 6), random), 15), 3'000, 25);
}

TEST_CASE(
    "engine: 3,000 random edits of layers whose pairs are not stored, or only while they have few tokens") {
  Random random(8);
  property(Editing(test::direct(test::shape(2, 2, 6, 6, 3, 3), random), 19, 0), 1'000, 10);
  property(Editing(test::direct(test::shape(4, 2, 5, 9, 4, 2), random), 20, 50), 1'000, 10);
  property(Editing(test::projected(test::shape(2, 1, 6, 6, 3, 2), 5, 4, random), 21, 36), 1'000, 10);
}

TEST_CASE("gap: rows and columns, at the ends and between") {
  for (const Insertion rows : {Insertion{0, 2}, Insertion{2, 1}, Insertion{4, 3}, Insertion{}}) {
    for (const Insertion cols : {Insertion{0, 1}, Insertion{3, 2}, Insertion{5, 1}, Insertion{}}) {
      Tensor tensor(2, 4, 5);
      for (std::size_t i = 0; i < tensor.size(); ++i) tensor.data()[i] = static_cast<float>(i + 1);
      const Tensor before = tensor;
      insertRows(tensor, rows, cols);
      REQUIRE((tensor.rows() == 4 + rows.count && tensor.cols() == 5 + cols.count));
      const auto inside = [](Insertion inserted, int place) {
        return place >= inserted.at && place < inserted.at + inserted.count;
      };
      const auto outside = [](Insertion inserted, int place) {
        return place < inserted.at ? place : place - inserted.count;
      };
      for (int r = 0; r < tensor.rows(); ++r) {
        for (int c = 0; c < tensor.cols(); ++c) {
          const bool isNew = inside(rows, r) || inside(cols, c);
          CHECK(tensor.at(1, r, c) == (isNew ? 0.0f : before.at(1, outside(rows, r), outside(cols, c))));
        }
      }
      removeRows(tensor, rows, cols);
      CHECK(tensor == before);
    }
  }
}

TEST_CASE("engine: 20,000 edits of one cell do not drift") {
  Random random(6);
  for (TensorId id : {TensorId::k, TensorId::v}) {
    Layer layer = test::direct(test::shape(1, 1, 8, 40, 4, 4), random);
    Engine engine;
    engine.apply(layer.spec, layer.inputs(), Change{});
    for (int n = 0; n < 20'000; ++n) {
      layer.input(id).at(0, 3, 1) = random.normal() * (n % 100 == 0 ? 1e6f : 1.0f);
      engine.apply(layer.spec, layer.inputs(), Change{What::cells, id, 0, 3, 1, 1, 1});
    }
    layer.input(id).at(0, 3, 1) = 0.5f;
    engine.apply(layer.spec, layer.inputs(), Change{What::cells, id, 0, 3, 1, 1, 1});
    CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
  }
}

TEST_CASE("engine: a huge value leaves nothing behind, in its own column and in rows that saw little of it") {
  Random random(7);
  Layer layer = test::direct(test::shape(1, 1, 6, 40, 4, 4), random);
  layer.spec.causal = true, layer.spec.causalOffset = 34;
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  layer.v.at(0, 39, 2) = 1e30f;  // seen only by the last query, and not removed
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::v, 0, 39, 2, 1, 1});
  for (float value : {1e20f, 0.25f}) {
    layer.v.at(0, 1, 2) = value;
    engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::v, 0, 1, 2, 1, 1});
  }
  const ReferenceTrace exact = reference(layer.spec, layer.inputs());
  for (int i = 0; i < 5; ++i)
    CHECK(std::abs(double{engine.trace().output.at(0, i, 2)} - exact.output.at(0, i, 2)) < 1e-6);
}

TEST_CASE("engine: rows that no key reaches come back when they are unmasked") {
  Random random(8);
  Layer layer = test::direct(test::shape(1, 1, 4, 4, 3, 3), random);
  layer.paintNothing();
  Engine engine;
  Change paint;
  paint.what = What::painted, paint.row = 1, paint.rows = 1, paint.cols = 4;
  engine.apply(layer.spec, layer.inputs(), Change{});
  for (int j = 0; j < 4; ++j) layer.paint(1, j) = 1;
  engine.apply(layer.spec, layer.inputs(), paint);
  CHECK(engine.trace().rowSum.at(0, 1, 0) == 0.0f);
  layer.k.at(0, 2, 0) = 5.0f, layer.v.at(0, 2, 0) = 7.0f;
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::k, 0, 2, 0, 1, 1});
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::v, 0, 2, 0, 1, 1});
  CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
  layer.paintNothing();
  engine.apply(layer.spec, layer.inputs(), paint);
  CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
}

TEST_CASE("engine: changes that do not fit the layer recompute it; none at all change nothing") {
  Random random(9);
  Layer layer = test::direct(test::shape(1, 1, 4, 4, 3, 3), random);
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::q, 5, -1, 99, 1, 2000000000});
  CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
  layer.q.at(0, 0, 0) += 1.0f;
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::q, 0, 0, 2147483647, 1, 2147483647});
  CHECK(test::difference(layer, engine.trace(), reference(layer.spec, layer.inputs())) == "");
  const Trace before = engine.trace();
  engine.apply(layer.spec, layer.inputs(), std::span<const Change>{});
  CHECK(before.output == engine.trace().output);
}

namespace {

/// Layers of every kind with so many scores that their heads are computed one by one.
std::vector<Layer> largeLayers(Random& random) {
  std::vector<Layer> layers;
  layers.push_back(test::direct(test::shape(4, 2, 520, 530, 8, 5), random));
  layers.push_back(test::direct(test::shape(3, 1, 610, 610, 4, 4), random));
  layers.back().spec.causal = true, layers.back().spec.hiddenHeads = 0b10;
  layers.push_back(test::direct(test::shape(4, 4, 520, 520, 3, 3), random));
  layers.back().spec.normalizer = Normalizer::sparsemax;
  layers.push_back(test::projected(test::shape(4, 4, 520, 520, 4, 4), 6, 7, random));
  layers.push_back(test::direct(test::shape(3, 3, 600, 600, 4, 4), random));
  Spec& masked = layers.back().spec;
  masked.causal = true, masked.windowLeft = 400, masked.keyLength = 590, masked.temperature = 1.5f;
  layers.back().painted = {600, 600, std::vector<std::uint8_t>(360'000)};
  for (std::size_t i = 0; i < 360'000; i += 7) layers.back().painted.blocked[i] = 1;
  return layers;
}

}  // namespace

TEST_CASE("engine: heads of a large layer are computed when they are asked for, to the same bits") {
  Random random(31);
  for (const Layer& layer : largeLayers(random)) {
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    Engine engine;
    engine.apply(layer.spec, layer.inputs(), Change{});
    CHECK(!engine.isWhole());
    Summaries& s = engine.summaries();
    const Tensor& weights = engine.traceWith(2).weights;
    CHECK(std::equal(weights.head(2), weights.head(2) + weights.rows() * weights.cols(),
                     whole.weights.head(2)));
    for (int h = 0; h < layer.spec.heads; ++h) CHECK(s.isComputed(TensorId::weights, h) == (h == 2));
    CHECK(!s.isComputed(TensorId::output, 0));
    CHECK(s.range(TensorId::weights, weights) ==
          test::scanned(whole.weights, 2, {0, weights.rows()}, {0, weights.cols()}));
    while (s.firstPictures().hasMore()) engine.computeNext();
    const std::uint32_t before = s.now();
    while (!engine.isWhole(0)) engine.computeNext();
    CHECK(s.stamps(TensorId::weights, 0).isNewer(before));
    CHECK(!s.stamps(TensorId::weights, 2).isNewer(before));
    CHECK(!engine.isWhole());
    const Trace& trace = engine.trace();
    CHECK(engine.isWhole());
    for (int i = 0; i < kTensorCount; ++i) {
      const auto id = static_cast<TensorId>(i);
      const Tensor *now = intermediate(trace, id), *then = intermediate(whole, id);
      CHECK(!now == !then);
      if (now && then) CHECK_MESSAGE(*now == *then, name(id));
    }
    test::SummaryCheck check;
    CHECK(check.wrong(engine, layer.inputs()) == "");
  }
}

TEST_CASE("engine: first all heads of a large layer get a picture of some rows, then each is computed") {
  Random random(33);
  const auto isNear = [](float a, float b) { return std::fabs(a - b) <= 2e-5f; };
  for (const Layer& layer : largeLayers(random))
    for (const bool isStored : {true, false}) {
      CAPTURE(isStored);
      Trace whole;
      forward(layer.spec, layer.inputs(), whole);
      Engine engine;
      if (!isStored) engine.setMost({0, 0});
      engine.apply(layer.spec, layer.inputs(), Change{});
      (void)engine.traceSoon(2);
      const int heads = layer.spec.heads;
      FirstPictures& first = engine.summaries().firstPictures();
      for (; first.hasMore(); engine.computeNext())
        for (int h = 0; h < heads; ++h) CHECK(engine.isWhole(h) == (h == 2 && isStored));
      const Overview& overview = first.overview();
      const Tensor& blocks = overview.blocks();
      CHECK(overview.side() == 16);
      for (int h = 0; h < heads; ++h) {
        CHECK(first.has(h) == (h != 2 || !isStored));
        for (int r = 0; first.has(h) && r < blocks.rows(); ++r) {
          const float* const row = whole.weights.row(h, overview.sampleOf(16 * r));
          for (int c = 0; c < blocks.cols(); ++c) {
            const int last = std::min(16 * c + 16, layer.spec.keyCount);
            CHECK(isNear(blocks.at(h, r, c), *std::max_element(row + 16 * c, row + last)));
          }
        }
      }
      for (; !engine.isWhole(); engine.computeNext())
        for (int h = 0; h < heads; ++h) CHECK(first.has(h) != engine.isWhole(h));
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < layer.spec.queryCount; ++i)
          CHECK(std::equal(whole.weights.row(h, i), whole.weights.row(h, i) + layer.spec.keyCount,
                           std::as_const(engine.trace().weights).row(h, i)));
      CHECK(engine.trace().output == whole.output);
    }
}

TEST_CASE(
    "engine: a first picture that an edit makes stale is made again; there is none where one row is dear") {
  Random random(34);
  Layer layer = test::direct(test::shape(3, 3, 500, 500, 4, 4), random);
  Engine engine;
  engine.setMost({0, 0});
  engine.apply(layer.spec, layer.inputs(), Change{});
  FirstPictures& first = engine.summaries().firstPictures();
  while (first.hasMore()) engine.computeNext();
  const std::uint32_t before = first.version();
  layer.spec.causal = true;
  engine.apply(layer.spec, layer.inputs(), {.what = What::causal});
  CHECK((first.has(0) && first.has(2)));
  while (first.hasMore()) engine.computeNext();
  CHECK(first.version() == before + 3);
  const Tensor& blocks = first.overview().blocks();
  for (int h = 0; h < 3; ++h) CHECK(blocks.at(h, 0, blocks.cols() - 1) == 0.0f);
  while (engine.hasMore()) engine.computeNext();
  CHECK_FALSE(first.has(0));
  // An edit of a layer that is whole leaves its pictures as they are until they are made anew.
  engine.apply(layer.spec, layer.inputs(), {.what = What::temperature});
  CHECK_FALSE(first.hasMore());
  layer = test::withScore(layer, Score::cosine, random);
  engine.apply(layer.spec, layer.inputs(), Change{});
  CHECK_FALSE(first.hasMore());
}

TEST_CASE(
    "engine: a row of weights of a large layer is there without its head, which has the same bits "
    "afterwards") {
  Random random(35);
  for (const Layer& layer : largeLayers(random)) {
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    Engine engine;
    engine.apply(layer.spec, layer.inputs(), Change{});
    while (engine.summaries().firstPictures().hasMore()) engine.computeNext();
    engine.computeNext();  // some rows of the first head
    for (const int head : {0, 2}) {
      const float* const row = engine.weightsSoon(head, 3);
      for (int j = 0; j < layer.spec.keyCount; ++j)
        CHECK(std::fabs(row[j] - whole.weights.at(head, 3, j)) <= 2e-5f);
      CHECK_FALSE(engine.isWhole(head));
    }
    while (!engine.isWhole()) engine.computeNext();
    CHECK(engine.trace().weights == whole.weights);
    CHECK(engine.trace().output == whole.output);
  }
}

TEST_CASE("engine: of a large layer one row of all heads is there before they are, and of their mean") {
  Random random(36);
  for (const Layer& layer : largeLayers(random)) {
    Engine engine, other;
    engine.apply(layer.spec, layer.inputs(), Change{});
    other.apply(layer.spec, layer.inputs(), Change{});
    const Trace& all = other.trace();
    const auto mean = [&](Engine& of) -> const Tensor& {
      return of.summaries().mean(TensorId::weights, layer.spec, of.shapes());
    };
    const auto isNear = [&](const Tensor& now, const Tensor& then, int head, int row) {
      for (int j = 0; j < now.cols(); ++j)
        if (!(std::fabs(now.at(head, row, j) - then.at(head, row, j)) <= 2e-5f)) return false;
      return true;
    };
    const int heads = layer.spec.heads;
    REQUIRE((!FirstPictures::areFor(layer.spec) || engine.isNew(1)));
    const Trace& trace = engine.traceFirst(1, 8);
    CHECK(isNear(trace.weights, all.weights, 1, 8));
    CHECK(isNear(trace.headOutput, all.headOutput, 1, 8));
    FirstPictures& first = engine.summaries().firstPictures();
    for (int h = 0; h < heads; ++h) CHECK(first.has(h) == (h == 1));
    for (const int row : {300, 5}) {
      (void)engine.traceOfAll(row);
      for (int h = 0; h < heads; ++h) CHECK(isNear(trace.weights, all.weights, h, row));
      CHECK(isNear(trace.output, all.output, 0, row));
      CHECK(isNear(mean(engine), mean(other), 0, row));
      CHECK(mean(engine).at(0, row + 1, 0) == 0.0f);
    }
    for (int h = 0; h < heads; ++h) CHECK_FALSE(engine.isWhole(h));
    while (first.hasMore()) engine.computeNext();
    REQUIRE(first.mean());
    float sum = 0;
    int count = 0;
    for (int h = 0; h < heads; ++h)
      if (!isHidden(layer.spec, h)) sum += first.overview().blocks().at(h, 20, 3), ++count;
    CHECK(std::fabs(first.mean()->blocks().at(0, 20, 3) - sum / static_cast<float>(count)) <= 1e-6f);
    while (!engine.isWhole(1)) {
      for (int h = 0; h < heads; ++h) CHECK_FALSE(engine.isWhole(h));
      engine.computeNext();
    }
    CHECK_FALSE(engine.isNew(1));
    (void)mean(engine);
    while (!engine.isWhole()) engine.computeNext();
    CHECK(mean(engine) == mean(other));
    CHECK(trace.weights == all.weights);
    CHECK(trace.output == all.output);
  }
}

TEST_CASE("engine: an option of a large layer is edited one head after the other") {
  Random random(37);
  Layer layer = test::direct(test::shape(3, 3, 620, 620, 4, 4), random);
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  (void)engine.trace();
  const auto edited = [&](Change::What what) {
    engine.apply(layer.spec, layer.inputs(), {.what = what});
    CHECK_FALSE(engine.isNew(0));
    for (int h = 0; h < 3; ++h) CHECK_FALSE(engine.isWhole(h));
    (void)engine.traceWith(2);
    CHECK_FALSE(engine.isWhole(0));
    while (!engine.isWhole()) engine.computeNext();
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    CHECK(engine.trace().weights == whole.weights);
    CHECK(engine.trace().output == whole.output);
    test::SummaryCheck check;
    CHECK(check.wrong(engine, layer.inputs()) == "");
  };
  layer.spec.temperature = 0.7f, edited(What::temperature);
  layer.spec.causal = true, edited(What::causal);
  layer.spec.scale = 0.3f, edited(What::scale);
}

TEST_CASE("engine: edits of a large layer that is not whole") {
  Random random(32);
  for (Layer& layer : largeLayers(random)) {
    layer.paintNothing();
    Engine engine;
    test::SummaryCheck check;
    const auto apply = [&](const Change& change) { engine.apply(layer.spec, layer.inputs(), change); };
    apply(Change{});
    engine.traceWith(1);
    layer.spec.temperature = 2.0f;
    Change change;
    change.what = What::temperature;
    apply(change);
    CHECK(engine.trace().output == [&] {
      Trace whole;
      forward(layer.spec, layer.inputs(), whole);
      return whole.output;
    }());
    apply(Change{});
    engine.computeNext();
    layer.paint(7, 3) = 1;
    change.what = What::painted, change.row = 7, change.col = 3, change.rows = change.cols = 1;
    apply(change);
    CHECK(check.wrong(engine, layer.inputs()) == "");
    CHECK(std::isinf(engine.trace().masked.at(layer.spec.heads - 1, 7, 3)));
  }
}
