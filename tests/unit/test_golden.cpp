// The layer against numbers made by NumPy and PyTorch (tests/golden/generate.py).
#include <doctest/doctest.h>

#include <algorithm>
#include <initializer_list>

#include <nlohmann/json.hpp>

#include "golden.h"
#include "golden_json.h"
#include "layer.h"

using namespace attention;
using nlohmann::json;
using test::chosen;
using test::tensorOf;

namespace {

void readOptions(const json& options, Spec& spec) {
  spec.heads = options.at("heads"), spec.kvHeads = options.at("kvHeads");
  spec.score = chosen<Score>(options.at("score"), {"dot", "scaled", "general", "additive", "cosine"});
  spec.scale = options.at("scale"), spec.temperature = options.at("temperature");
  spec.causal = options.at("causal"), spec.causalOffset = options.at("causalOffset");
  spec.windowLeft = options.at("windowLeft"), spec.windowRight = options.at("windowRight");
  spec.softcap = options.value("softcap", 0.0f);
  spec.normalizer = chosen<Normalizer>(options.value("normalizer", "softmax"), kNormalizerNames);
  spec.position =
      chosen<Position>(options.value("position", "none"), {"none", "sinusoidal", "rotary", "alibi"});
  spec.prefix = options.value("prefix", 0), spec.keyLength = options.value("keyLength", -1);
  spec.pattern = {options.value("local", 0), options.value("dilation", 1), options.value("stride", 0),
                  options.value("block", 0), options.value("globals", 0),  options.value("random", 0),
                  options.value("seed", 1u)};
  spec.maskAfterSoftmax = options.value("maskAfterSoftmax", false);
  spec.hiddenHeads = options.value("hiddenHeads", std::uint64_t{0});
}

test::Layer layerOf(const json& stored) {
  test::Layer layer;
  const json& inputs = stored.at("inputs");
  layer.projected = inputs.contains("x");
  layer.withOutputWeights = inputs.contains("w_o");
  for (const auto& [key, value] : inputs.items()) layer.input(*tensorNamed(key)) = tensorOf(value);
  Spec& spec = layer.spec;
  readOptions(stored.at("options"), spec);
  spec.queryCount = layer.projected ? layer.x.rows() : layer.q.rows();
  spec.keyCount = !layer.projected ? layer.k.rows() : layer.xKv.empty() ? layer.x.rows() : layer.xKv.rows();
  spec.headDim = layer.projected ? layer.wK.cols() / spec.kvHeads : layer.k.cols();
  spec.queryDim = layer.projected ? layer.wQ.cols() / spec.heads : layer.q.cols();
  spec.valueDim = layer.projected ? layer.wV.cols() / spec.kvHeads : layer.v.cols();
  if (stored.contains("painted")) {
    layer.paintNothing();
    layer.painted.blocked = stored.at("painted").get<std::vector<std::uint8_t>>();
  }
  return layer;
}

/// Compares one tensor with the stored float64 numbers, where null means a masked score.
void compare(const json& wanted, const Tensor& tensor, double bound) {
  REQUIRE(wanted.size() == tensor.size());
  for (std::size_t i = 0; i < tensor.size(); ++i) {
    CAPTURE(i);
    if (wanted[i].is_null()) {
      CHECK(tensor.data()[i] == -std::numeric_limits<float>::infinity());
    } else {
      CHECK(std::abs(double{tensor.data()[i]} - wanted[i].get<double>()) <= bound);
    }
  }
}

}  // namespace

TEST_CASE("golden: every stored case, from NumPy and PyTorch") {
  const json golden = json::parse(golden::golden.begin(), golden::golden.end());
  int compared = 0;
  for (const json& stored : golden.at("cases")) {
    const std::string caseName = stored.at("name");
    CAPTURE(caseName);
    const test::Layer layer = layerOf(stored);
    const auto ok = validate(layer.spec, layer.inputs());
    REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
    Trace trace;
    forward(layer.spec, layer.inputs(), trace);
    const ReferenceTrace exact = reference(layer.spec, layer.inputs());
    for (const auto& [key, wanted] : stored.at("expected").items()) {
      const std::string tensorName = key;
      CAPTURE(tensorName);
      const TensorId id = *tensorNamed(key);
      compare(wanted, *find(layer.inputs(), trace, id),
              1e-9 + errorBound(layer.spec, layer.inputs(), exact, id));
      ++compared;
    }
  }
  CHECK(compared > 240);
}

TEST_CASE("golden: the reference agrees with NumPy and PyTorch to ten digits") {
  const json golden = json::parse(golden::golden.begin(), golden::golden.end());
  for (const json& stored : golden.at("cases")) {
    const std::string caseName = stored.at("name");
    CAPTURE(caseName);
    const test::Layer layer = layerOf(stored);
    const ReferenceTrace exact = reference(layer.spec, layer.inputs());
    for (const auto& [key, wanted] : stored.at("expected").items()) {
      const std::string tensorName = key;
      CAPTURE(tensorName);
      const ReferenceTensor& tensor = *intermediate(exact, *tensorNamed(key));
      REQUIRE(wanted.size() == tensor.values.size());
      for (std::size_t i = 0; i < wanted.size(); ++i) {
        if (wanted[i].is_null()) {
          CHECK(std::isinf(tensor.values[i]));
        } else {
          CHECK(std::abs(tensor.values[i] - wanted[i].get<double>()) <=
                1e-10 * std::max(1.0, tensor.largest()));
        }
      }
    }
  }
}

TEST_CASE("golden: the board of the design shows the numbers of its picture") {
  const json golden = json::parse(golden::golden.begin(), golden::golden.end());
  const json& board = golden.at("cases").at(0);
  REQUIRE(board.at("name") == "design board");
  const test::Layer layer = layerOf(board);
  Trace trace;
  forward(layer.spec, layer.inputs(), trace);
  const double row[] = {0.09, 0.12, 0.69, 0.09}, output[] = {0.13, 0.05, 0.64};
  for (int j = 0; j < 4; ++j) CHECK(std::abs(double{trace.weights.at(0, 3, j)} - row[j]) < 0.005);
  for (int c = 0; c < 3; ++c) CHECK(std::abs(double{trace.output.at(0, 3, c)} - output[c]) < 0.005);
}
