// Summaries of a document: after edits, options, tokens, undo and redo they agree with a scan.
#include <doctest/doctest.h>

#include <limits>

#include "document/document.h"
#include "document/preset.h"
#include "layer.h"
#include "summary_check.h"

using namespace attention;
using document::Document;
using document::OptionId;

namespace {

/// A document and its engine, with a check of the summaries after every step.
class Board {
 public:
  Board() : document_(*document::preset(document::presets().front().name)) { look(); }

  void apply(const document::Edit& edit) {
    if (document_.apply(edit)) look();
  }
  void set(OptionId id, document::Value value) { apply(document::SetOption{id, std::move(value)}); }
  void undo() { document_.undo(), look(); }
  void redo() { document_.redo(), look(); }
  const document::State& state() const { return document_.state(); }
  Engine& engine() { return engine_; }

 private:
  void look() {
    const Spec spec = document::spec(state());
    const Inputs inputs = document::inputs(state());
    auto changes = document_.takeChanges();
    if (isNew_) changes.assign(1, Change{});
    isNew_ = false;
    engine_.apply(spec, inputs, changes);
    REQUIRE(check_.wrong(engine_, inputs) == "");
  }

  Document document_;
  Engine engine_;
  test::SummaryCheck check_;
  bool isNew_ = true;
};

}  // namespace

TEST_CASE("summaries: edits, options, tokens, undo and redo") {
  test::Random random(21);
  Board board;
  board.set(OptionId::tokens, 70.0);  // from 64 on, tokens are moved instead of recomputing everything
  board.set(OptionId::d_k, 4.0);
  board.set(OptionId::heads, 2.0);
  for (int n = 0; n < 300; ++n) {
    CAPTURE(n);
    const document::State& s = board.state();
    const int kind = random.below(13), row = random.below(s.tokens), col = random.below(s.headDim);
    const TensorId ids[] = {TensorId::q, TensorId::k, TensorId::v};
    if (kind < 5)
      board.apply(
          document::SetCells{ids[random.below(3)], random.below(s.heads), row, col, 1, 1, {random.normal()}});
    else if (kind == 5) board.set(OptionId::causal, random.chance(0.5));
    else if (kind == 6) board.set(OptionId::temperature, random.chance(0.5) ? 1.0 : 2.0);
    else if (kind == 7)
      board.apply(document::PaintCells{row, random.below(s.tokens), 1, 1, {std::uint8_t{1}}});
    else if (kind == 8) board.set(OptionId::tokens, static_cast<double>(s.tokens + (s.tokens > 70 ? -1 : 1)));
    else if (kind == 9) board.set(OptionId::normalizer, std::string(random.chance(0.3) ? "none" : "softmax"));
    else if (kind == 10) board.undo();
    else if (kind == 11)
      board.set(OptionId::hidden_heads,
                random.chance(0.5) ? std::vector<int>{} : std::vector<int>{random.below(2)});
    else board.redo();
  }
}

TEST_CASE("summaries: an edit of one query is looked at as one row") {
  test::Random random(22);
  test::Layer layer = test::direct(test::shape(2, 2, 40, 40, 4, 4), random);
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  Summaries& s = engine.summaries();
  const std::uint32_t before = s.now();
  layer.q.at(1, 7, 2) += 1.0f;
  engine.apply(layer.spec, layer.inputs(), Change{Change::What::cells, TensorId::q, 1, 7, 2, 1, 1});
  for (TensorId id : {TensorId::q, TensorId::masked, TensorId::weights, TensorId::head_output}) {
    CHECK(!s.stamps(id, 0).isNewer(before));
    for (int r = 0; r < 40; ++r) CHECK(s.stamps(id, 1).rowIsNewer(r, before) == (r == 7));
  }
  CHECK(!s.stamps(TensorId::k, 1).isNewer(before));
  CHECK(!s.maskStamps().isNewer(before));
}

TEST_CASE(
    "summaries: of more than 1,024 tokens the picture of the mask has the visible share of neighbours") {
  test::Random random(25);
  test::Layer layer = test::direct(test::shape(1, 1, 1101, 1301, 2, 1), random);
  layer.spec.causal = true, layer.spec.causalOffset = 100;
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  Summaries& s = engine.summaries();
  const auto check = [&] {
    const Tensor& visible = s.visible(layer.spec, layer.inputs());
    REQUIRE(visible.rows() == 551);
    REQUIRE(visible.cols() == 651);
    double count = 0;
    for (int r = 0; r < 551; ++r)
      for (int c = 0; c < 651; ++c)
        count += double{visible.at(0, r, c)} * (r == 550 ? 1 : 2) * (c == 650 ? 1 : 2);
    CHECK(count == static_cast<double>(s.visibleCount(layer.spec, layer.inputs())));
  };
  check();
  CHECK(s.visibleCount(layer.spec, layer.inputs()) == 1101 * 100 + 1101 * 1102 / 2);
  CHECK(s.visible(layer.spec, layer.inputs()).at(0, 0, 49) == 1);
  CHECK(s.visible(layer.spec, layer.inputs()).at(0, 0, 50) == 0.75f);
  layer.painted.rows = 1101, layer.painted.cols = 1301;
  layer.painted.blocked.assign(1101 * 1301, 0);
  layer.painted.blocked[1301] = 1;
  engine.apply(layer.spec, layer.inputs(), Change{Change::What::painted, TensorId::q, 0, 1, 0, 1, 1});
  check();
  CHECK(s.visible(layer.spec, layer.inputs()).at(0, 0, 0) == 0.75f);
}

TEST_CASE("summaries: a key that the bias masks in every head is not visible, one that a head sees is") {
  test::Random random(24);
  test::Layer layer = test::direct(test::shape(2, 2, 4, 4, 3, 3), random);
  layer.spec.causal = false;
  const float hidden = -std::numeric_limits<float>::infinity();
  layer.bias = {2, 4, 4};
  layer.bias.at(0, 1, 2) = layer.bias.at(1, 1, 2) = layer.bias.at(0, 3, 0) = hidden;
  Engine engine;
  test::SummaryCheck check;
  engine.apply(layer.spec, layer.inputs(), Change{});
  Summaries& s = engine.summaries();
  CHECK(s.visible(layer.spec, layer.inputs()).at(0, 1, 2) == 0);
  CHECK(s.visible(layer.spec, layer.inputs()).at(0, 3, 0) == 1);
  CHECK(s.visibleCount(layer.spec, layer.inputs()) == 15);
  layer.bias.at(1, 3, 0) = hidden;
  engine.apply(layer.spec, layer.inputs(), Change{Change::What::cells, TensorId::bias, 1, 3, 0, 1, 1});
  CHECK(s.visibleCount(layer.spec, layer.inputs()) == 14);
  CHECK(check.wrong(engine, layer.inputs()) == "");
  layer.bias = Tensor(1, 4, 4, hidden);  // the same for all heads
  engine.apply(layer.spec, layer.inputs(), Change{});
  CHECK(s.visibleCount(layer.spec, layer.inputs()) == 0);
}

TEST_CASE("summaries: a key edited is a column of the scores") {
  test::Random random(23);
  test::Layer layer = test::direct(test::shape(1, 1, 40, 40, 4, 4), random);
  Engine engine;
  engine.apply(layer.spec, layer.inputs(), Change{});
  const std::uint32_t before = engine.summaries().now();
  layer.k.at(0, 7, 2) += 0.01f;
  engine.apply(layer.spec, layer.inputs(), Change{Change::What::cells, TensorId::k, 0, 7, 2, 1, 1});
  const Stamps& stamps = engine.summaries().stamps(TensorId::masked, 0);
  for (int r = 0; r < 40; ++r) CHECK(!stamps.rowIsNewer(r, before));
  for (std::size_t c = 0; c < 40; ++c) CHECK((stamps.cols[c] > before) == (c == 7));
}
