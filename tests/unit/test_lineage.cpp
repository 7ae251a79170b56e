// sources() and feeds() against brute force: every input cell is changed in turn, and the cells that change
// are compared.
#include <doctest/doctest.h>

#include <map>
#include <set>
#include <tuple>

#include "attention/layer/explain.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

using Cell = std::tuple<TensorId, int, int, int>;

std::set<Cell> cellsOf(const std::vector<Region>& regions) {
  std::set<Cell> cells;
  for (const Region& r : regions) {
    for (int i = r.row; i < r.row + r.rows; ++i) {
      for (int j = r.col; j < r.col + r.cols; ++j) cells.insert({r.tensor, r.head, i, j});
    }
  }
  return cells;
}

void addChanged(const Inputs& inputs, const Trace& before, const Trace& after, std::set<Cell>& changed) {
  for (int t = static_cast<int>(TensorId::q); t < kTensorCount; ++t) {
    const TensorId id = static_cast<TensorId>(t);
    if (!intermediate(before, id)) continue;
    const Tensor &a = *find(inputs, before, id), &b = *find(inputs, after, id);
    for (int h = 0; h < a.heads(); ++h) {
      for (int i = 0; i < a.rows(); ++i) {
        for (int j = 0; j < a.cols(); ++j) {
          if (a.at(h, i, j) != b.at(h, i, j)) changed.insert({id, h, i, j});
        }
      }
    }
  }
}

/// The cells that change when one input cell takes several other values, small and large.
std::set<Cell> changedBy(Layer& layer, TensorId id, int head, int row, int col, const Trace& before) {
  std::set<Cell> changed;
  float& cell = layer.input(id).at(head, row, col);
  const float kept = cell;
  Trace after;
  Scratch scratch;
  for (float delta : {0.3f, -0.4f, 1.5f, -1.5f, 6.0f, -6.0f, 5000.0f, -5000.0f}) {
    cell = kept + delta;
    forward(layer.spec, layer.inputs(), after, scratch);
    addChanged(layer.inputs(), before, after, changed);
  }
  cell = kept;
  if (!layer.projected)
    changed.erase(Cell(id, head, row, col));  // the trace holds a copy of the input itself
  return changed;
}

bool contains(const std::set<Cell>& set, const std::set<Cell>& subset) {
  return std::includes(set.begin(), set.end(), subset.begin(), subset.end());
}

int seenBy(const Trace& trace, int head, int row) {
  int count = 0;
  for (int j = 0; j < trace.masked.cols(); ++j) count += std::isfinite(trace.masked.at(head, row, j));
  return count;
}

/// True for a cell that depends on the input by the structure but may not change with these numbers: with one
/// visible key the weight is always 1, and a maximum (and everything that it fixes at 1) changes only with
/// the score of its own key.
bool mayStand(const Trace& trace, const Cell& cell) {
  const auto [id, head, row, col] = cell;
  if (id == TensorId::row_max) return true;
  if (id == TensorId::exponentials && trace.exponentials.at(head, row, col) == 1.0f) return true;
  if (id < TensorId::exponentials || id > TensorId::head_output) {
    if (id != TensorId::concat && id != TensorId::output) return false;
    for (int h = 0; h < trace.masked.heads(); ++h) {
      if (seenBy(trace, h, row) > 1) return false;
    }
    return true;
  }
  return seenBy(trace, head, row) <= 1;
}

std::vector<TensorId> inputsOf(const Layer& layer) {
  std::vector<TensorId> ids{TensorId::q, TensorId::k, TensorId::v};
  if (layer.projected) ids = {TensorId::x, TensorId::w_q, TensorId::w_k, TensorId::w_v};
  if (layer.projected && layer.withOutputWeights) ids.push_back(TensorId::w_o);
  for (TensorId id : {TensorId::x_kv, TensorId::w_a, TensorId::u_a, TensorId::v_a, TensorId::b_q,
                      TensorId::b_k, TensorId::b_v, TensorId::b_o, TensorId::x_v, TensorId::sink}) {
    if (find(layer.inputs(), Trace{}, id)) ids.push_back(id);
  }
  return ids;
}

/// Checks every cell of every input: feeds() contains all cells that change, and sources() is its converse.
/// With `isExact` also that all cells in feeds() change, which with some mechanisms the numbers do not allow.
void checkAll(Layer& layer, bool isExact = true) {
  REQUIRE(validate(layer.spec, layer.inputs()));
  Trace before;
  forward(layer.spec, layer.inputs(), before);
  std::map<Cell, std::set<Cell>> sourcesOf, feedsOf;
  const std::vector<TensorId> ids = inputsOf(layer);
  for (TensorId id : ids) {
    const Tensor& input = layer.input(id);
    for (int h = 0; h < input.heads(); ++h) {
      for (int i = 0; i < input.rows(); ++i) {
        for (int j = 0; j < input.cols(); ++j) {
          CAPTURE(name(id));
          CAPTURE(h);
          CAPTURE(i);
          CAPTURE(j);
          const std::set<Cell>& fed = feedsOf[{id, h, i, j}] =
              cellsOf(feeds(layer.spec, layer.inputs(), {id, h, i, j}));
          const std::set<Cell> changed = changedBy(layer, id, h, i, j, before);
          CHECK(contains(fed, changed));
          for (const Cell& cell : fed) {
            const bool moved = !isExact || changed.count(cell) > 0 || mayStand(before, cell);
            CHECK_MESSAGE(moved, name(std::get<0>(cell)), " ", std::get<1>(cell), " ", std::get<2>(cell), " ",
                          std::get<3>(cell));
            const auto [t, ch, ci, cj] = cell;
            auto [known, isNew] = sourcesOf.try_emplace(cell);
            if (isNew) known->second = cellsOf(sources(layer.spec, layer.inputs(), {t, ch, ci, cj}));
            CHECK(known->second.count(Cell(id, h, i, j)) == 1);
          }
        }
      }
    }
  }
  // The converse: every input cell among the sources of a value feeds that value.
  for (const auto& [cell, from] : sourcesOf) {
    for (const auto& [id, h, i, j] : from) {
      if (std::find(ids.begin(), ids.end(), id) == ids.end()) continue;
      CHECK(feedsOf[{id, h, i, j}].count(cell) == 1);
    }
  }
}

}  // namespace

TEST_CASE("lineage: direct layers") {
  Random random(1);
  Layer layer = test::direct(test::shape(4, 2, 4, 5, 2, 2), random);
  checkAll(layer);
  layer.spec.causal = true;
  checkAll(layer);
  layer.spec.causalOffset = 1;
  layer.paintNothing();
  layer.paint(1, 1) = layer.paint(2, 0) = layer.paint(3, 2) = 1;
  for (int j = 0; j < 5; ++j) layer.paint(0, j) = 1;
  checkAll(layer);
  layer.spec.causal = false, layer.spec.windowLeft = 2, layer.spec.windowRight = 1;
  checkAll(layer);
}

TEST_CASE("lineage: projected layers, with and without W_O") {
  Random random(2);
  Layer layer = test::projected(test::shape(2, 1, 4, 4, 2, 2), 3, 3, random);
  checkAll(layer);
  layer.spec.causal = true;
  checkAll(layer);
  layer.withOutputWeights = false;
  layer.paintNothing();
  layer.paint(2, 1) = 1;
  checkAll(layer);
}

TEST_CASE("lineage: biases of the projections") {
  Random random(16);
  Layer layer = test::withBiases(test::projected(test::shape(2, 1, 4, 4, 2, 2), 3, 3, random), random);
  layer.spec.causal = true;
  checkAll(layer, false);
  layer.bQ = {}, layer.bV = {};
  checkAll(layer);
  test::fill(layer.xV = {1, 4, 3}, random);
  checkAll(layer);
}

TEST_CASE("lineage: scores, caps, biases and rotary positions") {
  Random random(5);
  const Layer plain = test::direct(test::shape(2, 1, 3, 4, 4, 2), random);
  for (Score score : {Score::dot, Score::general, Score::additive, Score::cosine}) {
    for (Position position : {Position::none, Position::rotary, Position::alibi}) {
      Layer layer = test::withScore(plain, score, random);
      layer.spec.position = position, layer.spec.causal = true, layer.spec.causalOffset = 1;
      if (score == Score::additive && position == Position::rotary) continue;
      CAPTURE(static_cast<int>(score));
      CAPTURE(static_cast<int>(position));
      checkAll(layer, false);
      layer.spec.softcap = 4.0f, layer.spec.pattern.local = 2;
      checkAll(layer, false);
    }
  }
}

TEST_CASE("lineage: rotary positions by halves, and of the first columns") {
  Random random(15);
  Layer layer = test::direct(test::shape(2, 1, 3, 4, 7, 2), random);
  layer.spec.position = Position::rotary, layer.spec.causal = true, layer.spec.causalOffset = 1,
  layer.spec.positionIds = {1, 4, 5};
  for (const RotaryPairs pairs : {RotaryPairs::half, RotaryPairs::adjacent}) {
    layer.spec.rotary.pairs = pairs, layer.spec.rotary.dims = 6;
    checkAll(layer);
    layer.spec.rotary.dims = 2;
    checkAll(layer);
  }
}

TEST_CASE("lineage: normalisers, and the mask after softmax") {
  Random random(6);
  Layer layer = test::direct(test::shape(2, 1, 4, 4, 2, 2), random);
  layer.spec.causal = true;
  for (Normalizer normalizer :
       {Normalizer::sparsemax, Normalizer::sigmoid, Normalizer::relu, Normalizer::hardmax}) {
    layer.spec.normalizer = normalizer;
    CAPTURE(static_cast<int>(normalizer));
    checkAll(layer, false);
  }
  layer.spec.normalizer = Normalizer::softmax, layer.spec.maskAfterSoftmax = true;
  checkAll(layer, false);
}

TEST_CASE("lineage: a sink reaches the sums and weights of every row of its head") {
  Random random(9);
  for (const float temperature : {1.0f, 2.0f}) {
    Layer layer = test::withSink(test::direct(test::shape(2, 1, 3, 4, 2, 2), random), random);
    layer.spec.temperature = temperature, layer.spec.causal = true, layer.spec.causalOffset = 1;
    checkAll(layer);
  }
}

TEST_CASE("lineage: weights that are the scores reach just their own cells") {
  Random random(7);
  Layer layer = test::direct(test::shape(2, 1, 4, 4, 2, 2), random);
  layer.spec.causal = true, layer.spec.pattern.stride = 2, layer.spec.pattern.local = 1;
  layer.spec.normalizer = Normalizer::none;
  checkAll(layer);
}

TEST_CASE("lineage: cross-attention, sinusoids and hidden heads") {
  Random random(8);
  Layer cross = test::projected(test::shape(2, 1, 3, 4, 2, 2), 3, 3, random);
  checkAll(cross);
  cross.spec.position = Position::sinusoidal;
  checkAll(cross);
  Layer self = test::projected(test::shape(2, 2, 3, 3, 2, 2), 3, 3, random);
  self.spec.position = Position::sinusoidal, self.spec.causal = true, self.spec.hiddenHeads = 2;
  checkAll(self, false);
  self.withOutputWeights = false;
  checkAll(self, false);
}

namespace {

/// Checks for every pair of cells of the trace: a feeds b if and only if a is a source of b.
void checkConverse(const Layer& layer) {
  REQUIRE(validate(layer.spec, layer.inputs()));
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  std::map<Cell, std::set<Cell>> fed, from;
  test::forEveryCell(layer, trace, [&](TensorId id, int h, int i, int j) {
    fed[{id, h, i, j}] = cellsOf(feeds(layer.spec, layer.inputs(), {id, h, i, j}));
    from[{id, h, i, j}] = cellsOf(sources(layer.spec, layer.inputs(), {id, h, i, j}));
  });
  const auto describe = [](const Cell& c) {
    return std::string(name(std::get<0>(c))) + " " + std::to_string(std::get<1>(c)) + " " +
           std::to_string(std::get<2>(c)) + " " + std::to_string(std::get<3>(c));
  };
  for (const auto& feeding : fed) {
    const Cell& cell = feeding.first;
    for (const Cell& target : feeding.second) {
      CHECK_MESSAGE(from[target].count(cell) == 1, describe(cell), " feeds ", describe(target));
    }
  }
  for (const auto& coming : from) {
    const Cell& cell = coming.first;
    for (const Cell& origin : coming.second) {
      CHECK_MESSAGE(fed[origin].count(cell) == 1, describe(cell), " is from ", describe(origin));
    }
  }
}

}  // namespace

TEST_CASE("lineage: intermediate cells are converse to each other") {
  Random random(3);
  Layer layer = test::direct(test::shape(2, 1, 3, 4, 2, 2), random);
  layer.spec.causal = true, layer.spec.causalOffset = 1;
  checkConverse(layer);
  layer.spec.position = Position::rotary, layer.spec.softcap = 3.0f,
  layer.spec.normalizer = Normalizer::sparsemax;
  checkConverse(layer);
  layer.spec.position = Position::alibi, layer.spec.normalizer = Normalizer::sigmoid;
  checkConverse(test::withScore(layer, Score::additive, random));
  for (const Score score : {Score::general, Score::additive})
    checkConverse(test::withQueryWidth(test::withScore(layer, score, random), 5, random));
  layer.spec.normalizer = Normalizer::softmax, layer.spec.maskAfterSoftmax = true;
  checkConverse(layer);
  Layer cross = test::projected(test::shape(2, 1, 3, 4, 2, 2), 2, 3, random);
  cross.spec.position = Position::sinusoidal, cross.spec.hiddenHeads = 1;
  checkConverse(cross);
  Layer self = test::projected(test::shape(2, 2, 3, 3, 2, 2), 2, 3, random);
  self.spec.position = Position::sinusoidal;
  checkConverse(self);
}

TEST_CASE("lineage: a row of a causal mask is one block, and each region comes once") {
  Random random(4);
  Layer layer = test::direct(test::shape(1, 1, 64, 64, 2, 2), random);
  layer.spec.causal = true;
  const auto from = sources(layer.spec, layer.inputs(), {TensorId::head_output, 0, 40, 1});
  CHECK(from.size() < 16);
  for (std::size_t i = 0; i < from.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) CHECK(!(from[i] == from[j]));
  }
}
