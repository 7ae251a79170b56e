// What stands around the layer and beside it, by name: computed when it is asked for, and once.
#include <cmath>
#include <set>

#include "attention/forward.h"
#include "document/around.h"
#include "document_support.h"

using namespace document;
using attention::Distribution;

namespace {

struct Layer {
  State state = test::start();
  attention::Trace trace;
  Around around{state, trace};

  Layer() { compute(); }
  void compute() {
    attention::forward(spec(state), inputs(state), trace);
    around.changed();
  }
  const Tensor& tensor(AroundId id) { return **around.tensor(id); }
};

}  // namespace

TEST_CASE("around: every tensor has a name of its own, by which it is found") {
  std::set<std::string> names;
  Layer layer;
  for (int i = 0; i < kAroundCount; ++i) {
    const auto id = static_cast<AroundId>(i);
    CAPTURE(name(id));
    CHECK(names.insert(name(id)).second);
    CHECK(aroundNamed(name(id)) == id);
    CHECK(!attention::tensorNamed(name(id)));
    REQUIRE(layer.around.tensor(id));
    CHECK_FALSE(layer.tensor(id).empty());
  }
  CHECK(name(AroundId::stages) == "block:attention");
  CHECK(name(AroundId::parameters) == "gamma_1");
  CHECK(name(AroundId::reach_curve) == "reach:curve");
  CHECK(!aroundNamed("block:"));
  CHECK(!aroundNamed("spread"));
}

TEST_CASE("around: computed when it is asked for, once for every change") {
  Layer layer;
  const BlockRun* block = &layer.around.block();
  const float before = block->trace[attention::BlockStage::norm_2].at(0, 0, 0);
  layer.state.q.at(0, 0, 0) += 3;
  attention::forward(spec(layer.state), inputs(layer.state), layer.trace);
  CHECK(layer.around.block().trace[attention::BlockStage::norm_2].at(0, 0, 0) == before);
  layer.around.changed();
  CHECK(layer.around.block().trace[attention::BlockStage::norm_2].at(0, 0, 0) != before);
  const std::uint64_t version = (layer.around.comparison(), layer.around.experiments.comparisonVersion());
  layer.around.comparison();
  CHECK(layer.around.experiments.comparisonVersion() == version);
  layer.around.experiments.comparisonSpec.amount = 2;
  layer.around.comparison();
  CHECK(layer.around.experiments.comparisonVersion() == version + 1);
}

TEST_CASE("around: the spread as a table, a curve and a histogram") {
  Layer layer;
  layer.around.experiments.spreadSpec = {0.5, 2.0, 16};
  const attention::Spread spread = layer.around.experiments.spread();
  const Tensor table = layer.tensor(AroundId::spread_table), curve = layer.tensor(AroundId::spread_curve);
  const Tensor counts = layer.tensor(AroundId::spread_counts);
  REQUIRE(table.cols() == 9);
  REQUIRE(curve.rows() == 11);
  REQUIRE(counts.rows() == Distribution::kBins);
  for (int head = 0; head < 2; ++head) {
    const Distribution& d = head == 0 ? spread.raw : spread.scaled;
    const double want[] = {16, 0.5, 2, d.mean, d.predictedMean, d.deviation, d.predictedDeviation, d.largestWeight, d.entropy};
    double sum = 0, mean = 0;
    for (int c = 0; c < 9; ++c) {
      CHECK(table.at(head, 0, c) == static_cast<float>(want[c]));
      CHECK(curve.at(head, 4, c) == table.at(head, 0, c));  // 2⁴ = 16
    }
    for (int bin = 0; bin < counts.rows(); ++bin) {
      sum += static_cast<double>(counts.at(head, bin, 1));
      mean += static_cast<double>(counts.at(head, bin, 0) * counts.at(head, bin, 1));
    }
    CHECK(sum == attention::SpreadDraws::queries * attention::SpreadDraws::keys);
    CHECK(std::abs(mean / sum - d.mean) < (d.high - d.low) / Distribution::kBins);
  }
}

TEST_CASE("around: the token that moves is one that there is") {
  Layer layer;
  layer.around.experiments.comparisonSpec.token = 1000;
  CHECK(layer.tensor(AroundId::weights_fixed) == layer.trace.weights);
  CHECK(layer.around.experiments.comparisonSpec.token == layer.state.tokens - 1);
}

TEST_CASE("around: where nothing is normalised, the sentence offers what would") {
  Layer layer;
  const auto refused = [&](attention::NormPlace norm) {
    layer.state.block.norm = norm;
    layer.around.changed();
    return layer.around.tensor(static_cast<AroundId>(attention::BlockStage::norm_1)).error().message;
  };
  CHECK(refused(attention::NormPlace::none) == "block:norm_1: nothing is normalised here; set block_norm to \"post\" or \"pre\".");
  layer.state.valueDim += 1;  // x is not as wide as what attention gives: there is nothing to normalise before it
  layer.state.v = Tensor(layer.state.kvHeads, layer.state.keyTokens, layer.state.valueDim, 1.0f);
  layer.compute();
  CHECK(refused(attention::NormPlace::pre) == "block:norm_1: nothing is normalised here; set block_norm to \"post\".");
}
