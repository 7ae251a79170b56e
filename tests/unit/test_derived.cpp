// Tensors around and beside the layer, by name: computed on request, and only once.
#include <cmath>
#include <set>

#include "attention/steps/forward.h"
#include "document/derived.h"
#include "document_support.h"

using namespace document;
using attention::Distribution;

namespace {

struct Layer {
  State state = test::start();
  attention::Trace trace;
  DerivedTensors derived{state, trace};

  Layer() { compute(); }
  void compute() {
    attention::forward(spec(state), inputs(state), trace);
    derived.changed();
  }
  const Tensor& tensor(TensorId id) { return **derived.tensor(id); }
};

}  // namespace

TEST_CASE("derived tensors: every tensor has a name of its own, by which it is found") {
  std::set<std::string> names;
  Layer layer;
  CHECK(layer.derived.tensor(TensorId::memory_gates).error().message() ==
        "memory:gates: a tanh network has no gates; set memory_cell to \"lstm\".");
  layer.state.experiments.memory.cell = attention::CellKind::lstm;
  layer.derived.changed();
  for (int i = 0; i < attention::kDerivedTensors.size(); ++i) {
    const TensorId id = attention::kDerivedTensors[i];
    CAPTURE(name(id));
    CHECK(names.emplace(name(id)).second);
    CHECK(derivedNamed(name(id)) == id);
    CHECK(!attention::tensorNamed(name(id)));
    REQUIRE(layer.derived.tensor(id));
    CHECK_FALSE(layer.tensor(id).empty());
  }
  CHECK(name(TensorId::block_attention) == "block:attention");
  CHECK(name(TensorId::gamma_1) == "gamma_1");
  CHECK(name(TensorId::reach_curve) == "reach:curve");
  CHECK(!derivedNamed("block:"));
  CHECK(!derivedNamed("spread"));
}

TEST_CASE("derived tensors: computed when it is asked for, once for every change") {
  Layer layer;
  const BlockRun* block = &layer.derived.block();
  const float before = block->trace[attention::BlockStage::norm_2].at(0, 0, 0);
  layer.state.q.at(0, 0, 0) += 3;
  attention::forward(spec(layer.state), inputs(layer.state), layer.trace);
  CHECK(layer.derived.block().trace[attention::BlockStage::norm_2].at(0, 0, 0) == before);
  layer.derived.changed();
  CHECK(layer.derived.block().trace[attention::BlockStage::norm_2].at(0, 0, 0) != before);
  const std::uint64_t version = (layer.derived.comparison(), layer.derived.experiments.comparisonVersion());
  layer.derived.comparison();
  CHECK(layer.derived.experiments.comparisonVersion() == version);
  layer.state.experiments.dense.amount = 2;
  layer.derived.comparison();
  CHECK(layer.derived.experiments.comparisonVersion() == version + 1);
}

TEST_CASE("derived tensors: the spread as a table, a curve and a histogram") {
  Layer layer;
  layer.state.experiments.spread = {0.5, 2.0, 16};
  const attention::Spread spread = layer.derived.experiments.spreads().at;
  const Tensor table = layer.tensor(TensorId::spread_table), curve = layer.tensor(TensorId::spread_curve);
  const Tensor counts = layer.tensor(TensorId::spread_counts);
  REQUIRE(table.cols() == 9);
  REQUIRE(curve.rows() == 11);
  const Tensor saturation = layer.tensor(TensorId::spread_saturation);
  REQUIRE(saturation.rows() == 12);
  REQUIRE(counts.rows() == Distribution::kBins);
  for (int head = 0; head < 2; ++head) {
    const Distribution& d = head == 0 ? spread.raw : spread.scaled;
    const double want[] = {
        16, 0.5, 2, d.mean, d.predictedMean, d.deviation, d.predictedDeviation, d.largestWeight, d.entropy};
    const double reaches[] = {16, 0.5, 2, d.jacobian, d.meanJacobian, d.gradient, d.meanGradient};
    double sum = 0, mean = 0;
    for (int c = 0; c < 9; ++c) {
      CHECK(table.at(head, 0, c) == static_cast<float>(want[c]));
      CHECK(curve.at(head, 4, c) == table.at(head, 0, c));  // row 4 of the curve is for 2⁴ = 16
    }
    for (int c = 0; c < 7; ++c) {
      CHECK(saturation.at(head, 0, c) == static_cast<float>(reaches[c]));
      CHECK(saturation.at(head, 5, c) == saturation.at(head, 0, c));
    }
    for (int bin = 0; bin < counts.rows(); ++bin) {
      sum += static_cast<double>(counts.at(head, bin, 1));
      mean += static_cast<double>(counts.at(head, bin, 0) * counts.at(head, bin, 1));
    }
    CHECK(sum == attention::SpreadDraws::queries * attention::SpreadDraws::keys);
    CHECK(std::abs(mean / sum - d.mean) < (d.high - d.low) / Distribution::kBins);
  }
}

TEST_CASE("derived tensors: the token that moves is one that there is") {
  Layer layer;
  layer.state.experiments.dense.token = 1000;
  CHECK(layer.tensor(TensorId::weights_fixed) == layer.trace.weights);
  CHECK(layer.derived.experiments.denseToken() == layer.state.tokens - 1);
}

TEST_CASE("derived tensors: where nothing is normalised, the sentence offers what would") {
  Layer layer;
  const auto refused = [&](attention::NormPlace norm) {
    layer.state.block.norm = norm;
    layer.derived.changed();
    return layer.derived.tensor(TensorId::block_norm_1).error().message();
  };
  CHECK(refused(attention::NormPlace::none) ==
        "block:norm_1: nothing is normalised here; set block_norm to \"post\" or \"pre\".");
  layer.state.valueDim += 1;  // x and the output of attention differ in width, so the normalisation before
                              // attention does not exist
  layer.state.v = Tensor(layer.state.kvHeads, layer.state.keyTokens, layer.state.valueDim, 1.0f);
  layer.compute();
  CHECK(refused(attention::NormPlace::pre) ==
        "block:norm_1: nothing is normalised here; set block_norm to \"post\".");
}

namespace {

/// A layer whose trace is that of an engine, as in the app.
struct Computed {
  State state = test::start();
  attention::Engine engine;
  DerivedTensors derived{state, engine};

  void compute() {
    engine.apply(spec(state), inputs(state), attention::Change{});
    derived.changed();
  }
};

/// In the last bits they may differ: rows of another number are computed by other steps of the kernels.
bool isClose(const Tensor& some, const Tensor& all, int first) {
  for (int h = 0; h < some.heads(); ++h)
    for (int r = 0; r < some.rows(); ++r)
      for (int c = 0; c < some.cols(); ++c)
        if (std::abs(some.at(h, r, c) - all.at(h, first + r, c)) > 1e-5f) return false;
  return some.cols() == all.cols() && some.heads() == all.heads();
}

}  // namespace

TEST_CASE("derived tensors: some rows of the block are those of all") {
  Computed layer;
  layer.state.block.dropout = 0.5f;
  for (const auto norm :
       {attention::NormPlace::none, attention::NormPlace::post, attention::NormPlace::pre}) {
    for (const Mode mode : {Mode::qkv, Mode::x}) {
      CAPTURE(norm);
      layer.state.block.norm = norm, layer.state.mode = mode;
      layer.compute();
      const BlockRun all = layer.derived.block(), some = layer.derived.block({1, 3});
      CHECK(all.spec.norm == some.spec.norm);
      REQUIRE(some.attended.rows() == 2);
      CHECK(isClose(some.x, all.x, 1));
      CHECK(isClose(some.heads, all.heads, 1));
      CHECK(isClose(some.dropMasks[0], all.dropMasks[0], 1));
      for (int i = 0; i < attention::kBlockStages; ++i) {
        const auto stage = static_cast<attention::BlockStage>(i);
        if (!all.trace[stage].empty()) CHECK(isClose(some.trace[stage], all.trace[stage], 1));
        if (all.trace[stage].empty()) continue;
        const auto words = [&](const BlockRun& run, int row) {
          return attention::explain(run.spec, run.inputs(), run.trace, {stage, row, 0}, layer.state.labels, 2)
              .text();
        };
        CHECK(words(some, 1).english() == words(all, 2).english());
      }
    }
  }
}

TEST_CASE(
    "derived tensors: what a page shows is computed in slices, and what was there stays until it is whole") {
  Computed layer;
  layer.compute();
  for (const View view : {View::segments, View::memory, View::spread}) {
    CAPTURE(static_cast<int>(view));
    CHECK(layer.derived.lacks(view));
    CHECK(layer.derived.compute(view, 0));  // no time, so nothing is done
    while (layer.derived.compute(view, 1)) continue;
    CHECK_FALSE(layer.derived.lacks(view));
  }
  const SegmentsRun* segments = layer.derived.segmentsSoon();
  const MemoryRun* memory = layer.derived.memorySoon();
  REQUIRE(segments);
  REQUIRE(memory);
  const Tensor before = segments->trace.tokens.weights;
  layer.state.segments.seed += 1;
  layer.derived.changed(false);
  CHECK(layer.derived.lacks(View::segments));
  CHECK(layer.derived.segmentsSoon()->trace.tokens.weights == before);
  CHECK_FALSE(layer.derived.segments().trace.tokens.weights == before);
  CHECK(layer.derived.segmentsSoon() == &layer.derived.segments());
  CHECK_FALSE(layer.derived.lacks(View::segments));
}

TEST_CASE("derived tensors: pre-norm of a layer stays as it is while only the block changes") {
  Computed layer;
  layer.state.mode = Mode::x, layer.state.block.norm = attention::NormPlace::pre;
  layer.compute();
  CHECK(layer.derived.lacks(View::block));
  CHECK(layer.derived.blockSoon({0, 2}) == nullptr);
  while (layer.derived.compute(View::block, 1)) continue;
  const Tensor before = layer.derived.blockSoon({0, 2})->attended;
  layer.state.block.activation = attention::Activation::tanh;
  layer.derived.changed(false);
  CHECK_FALSE(layer.derived.lacks(View::block));
  layer.state.block.epsilon = 0.5f;
  layer.derived.changed(false);
  CHECK(layer.derived.lacks(View::block));
  CHECK(layer.derived.blockSoon({0, 2})->attended == before);  // as it was, until that has been computed
  CHECK_FALSE(layer.derived.block({0, 2}).attended == before);
}

TEST_CASE("derived tensors: what a page of too many tokens would show is not computed") {
  Computed layer;
  layer.state.tokens = layer.state.keyTokens = attention::Limits::modelTokens + 1;
  for (const View view : {View::block, View::segments, View::dense, View::memory}) {
    CHECK(layer.derived.isTooLong(view));
    CHECK_FALSE(layer.derived.lacks(view));
  }
  for (const View view : {View::spread, View::cost, View::train, View::model})
    CHECK_FALSE(layer.derived.isTooLong(view));
}
