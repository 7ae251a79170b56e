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
  const attention::Spread spread = layer.derived.experiments.spread();
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
