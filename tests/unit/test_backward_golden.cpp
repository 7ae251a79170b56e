// Gradients against PyTorch's autograd in float64 (tests/golden/gradients.py): the reference, the float
// version and the recurrent cells.
#include <doctest/doctest.h>

#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "attention/models/recurrent.h"
#include "attention/steps/backward.h"
#include "golden.h"
#include "golden_json.h"
#include "layer.h"
#include "reference/backward.h"

using namespace attention;
using nlohmann::json;
using test::chosen;
using test::inDouble;
using test::off;
using test::tensorOf;

namespace {

constexpr double kExact = 1e-9;  ///< stored with 12 digits
constexpr double kFloat = 1e-5;  ///< both relative to the larger of 1 and the largest gradient

const json& stored() {
  static const json all = json::parse(golden::gradients.begin(), golden::gradients.end());
  return all;
}

test::Layer layerOf(const json& from) {
  test::Layer layer;
  const json &inputs = from.at("inputs"), &o = from.at("options");
  layer.projected = inputs.contains("x"), layer.withOutputWeights = inputs.contains("w_o");
  for (const auto& [key, value] : inputs.items())
    (key == "bias" ? layer.bias : layer.input(*tensorNamed(key))) = tensorOf(value);
  Spec& s = layer.spec;
  s.heads = o.at("heads"), s.kvHeads = o.at("kvHeads");
  s.score = chosen<Score>(o.at("score"), {"dot", "scaled", "general", "additive", "cosine"});
  s.normalizer = chosen<Normalizer>(o.value("normalizer", "softmax"), kNormalizerNames);
  s.position = chosen<Position>(o.value("position", "none"), {"none", "sinusoidal", "rotary", "alibi"});
  s.scale = o.at("scale"), s.temperature = o.at("temperature"), s.softcap = o.value("softcap", 0.0f);
  s.causal = o.at("causal"), s.causalOffset = o.at("causalOffset"), s.windowLeft = o.at("windowLeft"),
  s.windowRight = o.at("windowRight");
  s.keyLength = o.value("keyLength", -1), s.maskAfterSoftmax = o.value("maskAfterSoftmax", false),
  s.hiddenHeads = o.value("hiddenHeads", std::uint64_t{0});
  s.sink = inputs.contains("sink");
  s.queryCount = layer.projected ? layer.x.rows() : layer.q.rows();
  s.keyCount = !layer.projected ? layer.k.rows() : layer.xKv.empty() ? layer.x.rows() : layer.xKv.rows();
  s.headDim = layer.projected ? layer.wK.cols() / s.kvHeads : layer.k.cols();
  s.queryDim = layer.projected ? layer.wQ.cols() / s.heads : layer.q.cols();
  s.valueDim = layer.projected ? layer.wV.cols() / s.kvHeads : layer.v.cols();
  return layer;
}

}  // namespace

TEST_CASE("backward golden: layers against PyTorch") {
  double worst = 0.0;
  for (const json& from : stored().at("layers")) {
    CAPTURE(from.at("name").get<std::string>());
    const test::Layer layer = layerOf(from);
    const Inputs in = layer.inputs();
    REQUIRE(validate(layer.spec, in));
    const Tensor dOutput = tensorOf(from.at("d_output")), dWeights = tensorOf(from.at("d_weights"));
    ReferenceGradients upstream;
    upstream[TensorId::output] = inDouble(dOutput), upstream[TensorId::weights] = inDouble(dWeights);
    const ReferenceGradients exact = referenceBackward(layer.spec, in, reference(layer.spec, in), upstream);
    Trace trace;
    forward(layer.spec, in, trace);
    const Upstream given[] = {{TensorId::output, &dOutput}, {TensorId::weights, &dWeights}};
    Gradients fast;
    BackwardScratch scratch;
    backward({layer.spec, in, trace}, given, kAllInputs, fast, scratch);
    for (const auto& [key, wanted] : from.at("gradients").items()) {
      CAPTURE(key);
      const TensorId id = *tensorNamed(key);
      CHECK(off(exact[id].values, wanted) <= kExact);
      const double share = off(fast[id].values(), wanted);
      CHECK(share <= kFloat);
      worst = std::max(worst, share);
    }
  }
  MESSAGE("float: worst ", worst);
}

TEST_CASE("backward golden: RNN and LSTM against PyTorch") {
  Products products;
  for (const json& from : stored().at("recurrent")) {
    std::map<std::string, Tensor> t;
    for (const auto& [key, value] : from.at("inputs").items()) t[key] = tensorOf(value);
    const bool isLstm = from.at("cell") == "lstm";
    const RecurrentInputs in{isLstm ? CellKind::lstm : CellKind::tanh,
                             &t["x"],
                             &t["w"],
                             &t["u"],
                             &t["b"],
                             &t["h0"],
                             isLstm ? &t["c0"] : nullptr};
    REQUIRE(validate(in));
    RecurrentTrace trace;
    forwardRecurrent(in, trace, products);
    CHECK(off(trace.states.values(), from.at("states")) <= 1e-6);
    RecurrentGradients g;
    backwardRecurrent(in, trace, tensorOf(from.at("d_states")), g, products);
    const std::map<std::string, const Tensor*> found{{"x", &g.x}, {"w", &g.w},   {"u", &g.u},
                                                     {"b", &g.b}, {"h0", &g.h0}, {"c0", &g.c0}};
    for (const auto& [key, wanted] : from.at("gradients").items()) {
      CAPTURE(key);
      CHECK(off(found.at(key)->values(), wanted) <= kFloat);
    }
  }
}
