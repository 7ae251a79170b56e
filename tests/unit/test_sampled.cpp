// Layers of which only the rows that are read are computed: these are right, and nothing is shown of others.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

constexpr int kTokens = 1100;  // two a side of a block

bool isNear(float a, float b) { return a == b || std::fabs(a - b) <= 2e-5f * std::max(1.0f, std::fabs(b)); }

/// The first number of these rows that is not what forward() makes of the layer; or "".
std::string wrongRow(const Trace& now, const Trace& whole, int row) {
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorId id = kLayerTensors[i];
    const Tensor *made = intermediate(now, id), *all = intermediate(whole, id);
    if (!made != !all) return std::string(name(id)) + " is there in one of them";
    if (!made || id < TensorId::raw) continue;
    if (made->isStored() || !made->sameShape(*all)) return std::string(name(id)) + " is stored, or another";
    for (int c = 0; c < made->cols(); ++c)
      if (!isNear(made->at(0, row, c), all->at(0, row, c)))
        return std::string(name(id)) + " of row " + std::to_string(row) + ", column " + std::to_string(c) +
               " is " + std::to_string(made->at(0, row, c)) + ", not " + std::to_string(all->at(0, row, c));
  }
  return "";
}

/// The first part of a row that is not; some of the rows are read more than once.
std::string wrongPart(const Trace& now, const Trace& whole, Random& random) {
  for (int n = 0; n < 60; ++n) {
    const int row = random.below(12) * 90;
    for (const TensorId id : {TensorId::masked, TensorId::weights, TensorId::head_output, TensorId::output}) {
      const Tensor &made = *intermediate(now, id), &all = *intermediate(whole, id);
      const int count = 1 + random.below(std::min(made.cols(), 40)),
                first = random.below(made.cols() - count + 1);
      const float* const part = made.part(0, row, first, count);
      for (int c = 0; c < count; ++c)
        if (!isNear(part[c], all.at(0, row, first + c)))
          return "a part of " + std::string(name(id)) + " of row " + std::to_string(row);
    }
  }
  return "";
}

struct Sampled {
  explicit Sampled(Layer given) : layer(std::move(given)) {
    engine.setMost({0, 0, 0});
    apply({});
  }
  void apply(const Change& change) { engine.apply(layer.spec, layer.inputs(), change); }
  /// What is wrong with some rows in any order, with the picture of all, and with the outputs that are known.
  std::string wrong(Random& random) {
    Trace whole;
    forward(layer.spec, layer.inputs(), whole);
    for (int n = 0; n < 12; ++n)
      if (std::string bad = wrongRow(engine.trace(), whole, random.below(kTokens)); !bad.empty()) return bad;
    if (std::string bad = wrongPart(engine.trace(), whole, random); !bad.empty()) return bad;
    while (engine.hasMore()) engine.computeNext();
    const Summaries& summaries = engine.summaries();
    const Tensor& blocks = summaries.overview(TensorId::weights)->blocks();
    for (int n = 0; n < 200; ++n) {
      const int row = random.below(blocks.rows()), block = random.below(blocks.cols());
      const float* const weights = whole.weights.row(0, summaries.sampleOf(2 * row));
      const int last = std::min(2 * block + 1, kTokens - 1);
      if (!isNear(blocks.at(0, row, block), farther(weights[2 * block], weights[last])))
        return "block " + std::to_string(row) + ", " + std::to_string(block);
    }
    int known = 0;
    for (const TensorId id : {TensorId::head_output, TensorId::output})
      for (int i = 0; i < kTokens; ++i) {
        const float* const out = summaries.outputs(id)->row(i);
        if (std::isinf(out[0])) continue;
        ++known;
        if (!isNear(out[0], intermediate(whole, id)->at(0, i, 0))) return "an output that is known";
      }
    return known >= kTokens ? "" : "too few outputs are known";
  }

  Layer layer;
  Engine engine;
};

}  // namespace

TEST_CASE("sampled: rows that are read are those of forward(), whatever score, normaliser and mask") {
  Random random(91);
  for (const Score score : test::kScores)
    for (const Normalizer normalizer : {Normalizer::softmax, Normalizer::sparsemax, Normalizer::entmax15}) {
      Layer layer =
          test::withScore(test::direct(test::shape(1, 1, kTokens, kTokens, 4, 3), random), score, random);
      layer.spec.normalizer = normalizer, layer.spec.causal = random.chance(0.5);
      if (random.chance(0.3)) layer.spec.pattern = {40, 1, 7, 0, 1, 2, 5};
      CAPTURE(static_cast<int>(score));
      CAPTURE(static_cast<int>(normalizer));
      CHECK(Sampled(layer).wrong(random) == "");
    }
}

TEST_CASE("sampled: after every edit, and what it changed is not known any more") {
  Random random(92);
  Sampled direct(test::direct(test::shape(1, 1, kTokens, kTokens, 6, 4), random));
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v, TensorId::q}) {
    const int row = random.below(kTokens);
    direct.layer.input(id).at(0, row, 1) = 2.5f;
    direct.apply({Change::What::cells, id, 0, row, 1, 1, 1});
    if (id == TensorId::q && row != direct.engine.summaries().sampleOf(row))
      CHECK(std::isinf(direct.engine.summaries().outputs(TensorId::output)->row(row)[0]));
    CAPTURE(std::string(name(id)));
    CHECK(direct.wrong(random) == "");
  }
  direct.layer.spec.causal = true;
  direct.apply({.what = Change::What::causal});
  CHECK(direct.wrong(random) == "");
  direct.layer.spec.temperature = 0.5f;
  direct.apply({.what = Change::What::temperature});
  CHECK(direct.wrong(random) == "");
  Sampled made(test::projected(test::shape(1, 1, kTokens, kTokens, 4, 4), 5, 3, random));
  CHECK(made.wrong(random) == "");
  made.layer.wO.at(0, 1, 1) = 3;
  made.apply({Change::What::cells, TensorId::w_o, 0, 1, 1, 1, 1});
  CHECK(made.wrong(random) == "");
  made.layer.x.at(0, 700, 2) = 3;
  made.apply({Change::What::cells, TensorId::x, 0, 700, 2, 1, 1});
  CHECK(made.wrong(random) == "");
}

TEST_CASE("sampled: a row that is read takes no other's place, and is made once") {
  Random random(94);
  Sampled board(test::direct(test::shape(1, 1, kTokens, kTokens, 6, 4), random));
  const Trace& now = board.engine.trace();
  const auto look = [&] {
    const std::int64_t before = board.engine.madeRows();
    now.weights.expect(0, 500, 20);
    now.weights.row(0, 3);  // as the card does
    return board.engine.madeRows() - before;
  };
  CHECK(look() == 21);
  CHECK(look() == 0);
}

TEST_CASE("sampled: of outputs, rows that are seen are known, also after an edit; others are not") {
  Random random(99);
  Sampled board(test::direct(test::shape(1, 1, kTokens, kTokens, 6, 4), random));
  Detail& detail = board.engine.summaries().detail();
  const Summaries::Outputs& outputs = *board.engine.summaries().outputs(TensorId::head_output);
  const auto settle = [&] {
    while (board.engine.hasMore()) board.engine.computeNext();
  };
  detail.ask({0, {300, 340}, {0, 1}, 1, kTokens, kTokens});
  settle();
  detail.ask({0, {700, 740}, {0, 1}, 1, kTokens, kTokens});
  settle();
  CHECK(outputs.has(300));
  for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v}) {
    board.layer.input(id).at(0, 710, 0) += 1;
    board.apply({Change::What::cells, id, 0, 710, 0, 1, 1});
    CHECK(outputs.has(710));
    CHECK(outputs.has(300) == (id == TensorId::q));  // of the others, every row has become another
    if (id == TensorId::q) CHECK_FALSE(detail.hasMore());
    settle();
    CHECK(outputs.has(711));
    Trace whole;
    forward(board.layer.spec, board.layer.inputs(), whole);
    CHECK(isNear(outputs.row(710)[0], whole.headOutput.at(0, 710, 0)));
  }
}

TEST_CASE("sampled: what is looked at is made of its own rows, and made again when they change") {
  Random random(93);
  Sampled board(test::direct(test::shape(1, 1, kTokens, kTokens, 4, 3), random));
  board.layer.spec.causal = true;
  board.apply({.what = Change::What::causal});
  Detail& detail = board.engine.summaries().detail();
  for (const int side : {1, 2, 4}) {
    const Detail::Area seen{0, {300, 340}, {200, 290}, side, kTokens, kTokens};
    detail.ask(seen);
    CHECK(detail.hasMore());
    for (int edit = 0; edit < 3; ++edit) {
      while (board.engine.hasMore()) board.engine.computeNext();
      Trace whole;
      forward(board.layer.spec, board.layer.inputs(), whole);
      const Detail::Area& area = detail.area();
      CHECK(area.rows.begin <= 300);
      CHECK(area.cols.end >= 290);
      CHECK(detail.made().begin == 0);
      CHECK(detail.made().end == detail.blocks(TensorId::weights).rows());
      int wrong = 0;
      for (int b = 0; b < detail.made().end; ++b) {
        const int row = std::min(area.rows.begin + b * side + side / 2, area.rows.end - 1);
        for (int c = 0; c < detail.blocks(TensorId::weights).cols(); ++c) {
          float most = 0;
          for (int j = area.cols.begin + c * side;
               j < std::min(area.cols.begin + (c + 1) * side, area.cols.end); ++j)
            most = std::max(most, whole.weights.at(0, row, j));
          wrong += !isNear(detail.blocks(TensorId::weights).at(0, b, c), most);
        }
        const RowTotals now = totalsOf(whole.weights.row(0, row), kTokens);
        wrong +=
            !isNear(static_cast<float>(detail.totals(b).sum), 1) || !isNear(detail.totals(b).high, now.high);
      }
      CHECK(wrong == 0);
      const TensorId id = edit == 0 ? TensorId::q : TensorId::k;
      board.layer.input(id).at(0, 310, 0) += 1;
      board.apply({Change::What::cells, id, 0, 310, 0, 1, 1});
      CHECK(detail.hasMore() == (id == TensorId::k));  // one row is made at once
    }
  }
}

TEST_CASE("sampled: rows that are seen are made before those around them, and next to each other") {
  Random random(98);
  Sampled board(test::direct(test::shape(1, 1, kTokens, kTokens, 4, 3), random));
  while (board.engine.hasMore()) board.engine.computeNext();
  Detail& detail = board.engine.summaries().detail();
  for (const int side : {1, 4}) {
    detail.ask({0, {300, 340}, {200, 290}, side, kTokens, kTokens});
    CHECK(detail.find(0, 300) == -1);
    const int first = (300 - detail.area().rows.begin) / side, end = (340 - detail.area().rows.begin) / side;
    for (Span before{first, first}; board.engine.hasMore(); before = detail.made()) {
      board.engine.computeNext();
      const Span made = detail.made();
      CHECK(made.begin <= before.begin);
      CHECK(made.end >= before.end);
      CHECK(made.size() > before.size());
      if (made.begin < first) CHECK(made.end >= end);
    }
    CHECK(detail.made().size() == detail.blocks(TensorId::weights).rows());
    CHECK((detail.find(0, 300) == 300 - detail.area().rows.begin) == (side == 1));
    CHECK(detail.find(1, 300) == -1);
    CHECK(detail.find(0, detail.area().rows.end) == -1);
  }
}

TEST_CASE("sampled: 131,072 tokens are laid out at once, and a row is that of its definition") {
  Random random(94);
  Layer layer = test::direct(test::shape(1, 1, Limits::tokens, Limits::tokens, 16, 16), random);
  layer.spec.causal = true;
  CHECK(validate(layer.spec, layer.inputs()));
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  const Trace& trace = engine.traceSoon(0);
  CHECK_FALSE(trace.output.isStored());
  const int row = 100'003;
  std::vector<double> weights;
  double most = -1e30, sum = 0, worst = 0;
  for (int j = 0; j <= row; ++j) {
    double dot = 0;
    for (int c = 0; c < 16; ++c) dot += double{layer.q.at(0, row, c)} * double{layer.k.at(0, j, c)};
    weights.push_back(dot / 4), most = std::max(most, dot / 4);
  }
  for (double& w : weights) sum += w = std::exp(w - most);
  const float* const made = trace.weights.row(0, row);
  for (int j = 0; j <= row; ++j)
    worst = std::max(worst, std::fabs(double{made[j]} - weights[static_cast<std::size_t>(j)] / sum));
  CHECK(worst < 1e-7);
  CHECK(made[row + 1] == 0.0f);
  CHECK(engine.summaries().overview(TensorId::weights)->blocks().rows() == 512);
  // A row takes a millisecond and more: an input does not wait for all that are looked at.
  engine.summaries().detail().ask({0, {90'000, 90'040}, {0, 90}, 1, Limits::tokens, Limits::tokens});
  const std::int64_t before = engine.madeRows();
  engine.computeNext();
  CHECK(engine.madeRows() > before);
  CHECK(engine.madeRows() <= before + 4);
  CHECK(engine.summaries().visibleCount(layer.spec, layer.inputs()) ==
        std::int64_t{Limits::tokens} * (Limits::tokens + 1) / 2);
}

TEST_CASE("sampled: of rows that are moved by little, only those that come into view are made") {
  Random random(97);
  Layer layer = test::direct(test::shape(1, 1, kTokens, kTokens, 4, 3), random);
  Trace whole;
  forward(layer.spec, layer.inputs(), whole);
  Sampled board(layer);
  while (board.engine.hasMore()) board.engine.computeNext();
  const Trace& now = board.engine.trace();
  std::int64_t before = board.engine.madeRows();
  int at = 500;
  const auto moved = [&](int to) {
    at = to;
    for (const Tensor* const pairs : {&now.masked, &now.weights}) {
      pairs->expect(0, at, 20);
      for (int i = at; i < at + 20; ++i) CHECK(wrongRow(now, whole, i) == "");
    }
    return board.engine.madeRows() - std::exchange(before, board.engine.madeRows());
  };
  CHECK(moved(500) == 20);
  CHECK(moved(503) == 3);
  CHECK(moved(498) == 5);
  CHECK(moved(498) == 0);
  CHECK(moved(517) == 19);
  CHECK(moved(900) == 20);
  // After an edit nothing that was made is true.
  layer.q.at(0, 905, 1) = 2.5f;
  board.layer.q = layer.q;
  board.apply({Change::What::cells, TensorId::q, 0, 905, 1, 1, 1});
  forward(layer.spec, layer.inputs(), whole);
  before = board.engine.madeRows();
  CHECK(moved(901) == 20);
}
