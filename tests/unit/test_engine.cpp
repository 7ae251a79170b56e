// The incremental engine: after any history of edits its trace is what a recomputation would give.
#include <doctest/doctest.h>

#include <limits>
#include <vector>

#include "attention/engine.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

using What = Change::What;

/// A number as people and files bring them: mostly ordinary, at times zero, equal to others, tiny or huge.
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

/// A layer, its engine, and edits of every kind made to both.
class Editing {
 public:
  Editing(Layer layer, std::uint64_t seed) : layer_(std::move(layer)), random_(seed) {
    layer_.paintNothing();
    apply({Change{}});
  }

  void edit() {
    if (!restore_.empty() && random_.chance(0.1)) return restoreAll();
    std::vector<Change> changes{one()};
    while (random_.chance(0.1)) changes.push_back(one());
    apply(changes);
  }
  /// Takes out the huge numbers, which make every bound too wide to say anything, and leaves what they did.
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
  std::string wrong() const {
    return test::difference(layer_, engine_.trace(), reference(layer_.spec, layer_.inputs()));
  }
  const Layer& layer() const { return layer_; }
  const Trace& trace() const { return engine_.trace(); }

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
    if (kind < 96) return option(What::temperature);
    return tokens();
  }

  Change cells() {
    using enum TensorId;
    const TensorId given[] = {q, k, v}, made[] = {x, w_q, w_k, w_v, w_o};
    const TensorId id = layer_.projected ? made[random_.below(layer_.withOutputWeights ? 5 : 4)] : given[random_.below(3)];
    Tensor& tensor = layer_.input(id);
    const int head = random_.below(tensor.heads()), row = random_.below(tensor.rows()), col = random_.below(tensor.cols());
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

  /// One token more or less, at its end or by copying: the engine is only told that there is.
  Change tokens() {
    const int before = layer_.spec.queryCount;
    const bool insert = before < 4 || (before < 12 && random_.chance(0.5));
    const int after = before + (insert ? 1 : -1);
    layer_.spec.queryCount = after;
    layer_.spec.keyCount += after - before;
    for (Tensor* t : {&layer_.x, &layer_.q, &layer_.k, &layer_.v}) {
      if (t->empty()) continue;
      Tensor next(t->heads(), t->rows() + after - before, t->cols());
      for (int h = 0; h < t->heads(); ++h) {
        for (int r = 0; r < next.rows(); ++r) std::copy_n(t->row(h, r % t->rows()), t->cols(), next.row(h, r));
      }
      *t = next;
    }
    layer_.paintNothing();
    Change change;
    change.what = insert ? What::tokensInserted : What::tokensRemoved;
    change.row = after - 1, change.rows = 1;
    return change;
  }

  struct Restore {
    TensorId id;
    int head, row, col;
    float value;
  };

  Layer layer_;
  Random random_;
  Engine engine_;
  std::vector<Restore> restore_;
};

bool isSound(const Trace& trace) {
  for (const Tensor* t : {&trace.weights, &trace.output, &trace.rowSum, &trace.exponentials}) {
    for (float v : t->values()) {
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
    if (!editing.isTame()) continue;  // bounds that follow 1e38 say nothing; what is left when it is gone does
    REQUIRE(editing.wrong() == "");
  }
  editing.restoreAll();
  CHECK(editing.wrong() == "");
}

}  // namespace

// 100,000 edits in all, over layers of every kind.
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
}
TEST_CASE("engine: 3,000 random edits where blocks of keys are updated, not made anew") {
  Random random(5);
  property(Editing(test::direct(test::shape(2, 2, 33, 130, 5, 6), random), 15), 3'000, 25);
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
  layer.v.at(0, 39, 2) = 1e30f;  // seen by the last query alone, and there to stay
  engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::v, 0, 39, 2, 1, 1});
  for (float value : {1e20f, 0.25f}) {
    layer.v.at(0, 1, 2) = value;
    engine.apply(layer.spec, layer.inputs(), Change{What::cells, TensorId::v, 0, 1, 2, 1, 1});
  }
  const ReferenceTrace exact = reference(layer.spec, layer.inputs());
  for (int i = 0; i < 5; ++i) CHECK(std::abs(double{engine.trace().output.at(0, i, 2)} - exact.output.at(0, i, 2)) < 1e-6);
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
