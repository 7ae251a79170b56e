// Layers as in widely used models, against NumPy (tests/golden/real_models.py): the float version, the
// reference, and the gradients of both.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "attention/steps/backward.h"
#include "attention/steps/position.h"
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
constexpr double kFloat = 1e-5;  ///< both relative to the larger of 1 and the largest number of the tensor

test::Layer layerOf(const json& from) {
  test::Layer layer;
  const json &inputs = from.at("inputs"), &o = from.at("options");
  layer.projected = inputs.contains("x"), layer.withOutputWeights = inputs.contains("w_o");
  for (const auto& [key, value] : inputs.items()) layer.input(*tensorNamed(key)) = tensorOf(value);
  Spec& s = layer.spec;
  s.heads = o.at("heads"), s.kvHeads = o.at("kv_heads"), s.causal = o.value("causal", false),
  s.causalOffset = o.value("causal_offset", 0);
  s.position = chosen<Position>(o.value("position", "none"), {"none", "sinusoidal", "rotary", "alibi"});
  s.rotary.pairs = chosen<RotaryPairs>(o.value("rotary_pairs", "adjacent"), {"adjacent", "half"});
  s.rotary.scaling = chosen<RotaryScaling>(o.value("rotary_scaling", "none"), {"none", "linear", "ntk"});
  s.rotary.base = o.value("rotary_base", 10000.0f), s.rotary.dims = o.value("rotary_dims", 0),
  s.rotary.factor = o.value("rotary_factor", 1.0f);
  s.positionIds = o.value("position_ids", std::vector<int>());
  if (inputs.contains("v_a")) s.score = Score::additive;
  s.queryCount = layer.projected ? layer.x.rows() : layer.q.rows();
  s.keyCount = layer.projected ? layer.x.rows() : layer.k.rows();
  s.headDim = layer.projected ? layer.wQ.cols() / s.heads : layer.q.cols();
  s.valueDim = layer.projected ? layer.wV.cols() / s.kvHeads : layer.v.cols();
  return layer;
}

const json& stored() {
  static const json all = json::parse(golden::real_models.begin(), golden::real_models.end());
  return all.at("cases");
}

}  // namespace

TEST_CASE("real models: every stored layer, forward and backward") {
  REQUIRE(stored().size() >= 12);
  for (const json& from : stored()) {
    CAPTURE(from.at("name").get<std::string>());
    const test::Layer layer = layerOf(from);
    const Inputs in = layer.inputs();
    const auto ok = validate(layer.spec, in);
    REQUIRE_MESSAGE(ok, (ok ? "" : ok.error().message()));
    Trace trace;
    forward(layer.spec, in, trace);
    const ReferenceTrace exact = reference(layer.spec, in);
    for (const auto& [key, wanted] : from.at("expected").items()) {
      CAPTURE(key);
      const TensorId id = *tensorNamed(key);
      CHECK(off(find(in, trace, id)->values(), wanted) <= kFloat);
      CHECK(off(intermediate(exact, id)->values, wanted) <= kExact);
    }
    const Tensor dOutput = tensorOf(from.at("d_output")), dWeights = tensorOf(from.at("d_weights"));
    ReferenceGradients upstream;
    upstream[TensorId::output] = inDouble(dOutput), upstream[TensorId::weights] = inDouble(dWeights);
    const ReferenceGradients all = referenceBackward(layer.spec, in, exact, upstream);
    const Upstream given[] = {{TensorId::output, &dOutput}, {TensorId::weights, &dWeights}};
    Gradients gradients;
    BackwardScratch scratch;
    backward({layer.spec, in, trace}, given, kAllInputs, gradients, scratch);
    for (const auto& [key, wanted] : from.at("gradients").items()) {
      CAPTURE(key);
      const TensorId id = *tensorNamed(key);
      CHECK(off(all[id].values, wanted) <= kExact);
      CHECK(off(gradients[id].values(), wanted) <= kFloat);
    }
  }
}

TEST_CASE("rotary: each column is in one pair or none, whatever the convention") {
  for (const RotaryPairs pairs : {RotaryPairs::adjacent, RotaryPairs::half}) {
    for (const int dims : {0, 2, 4, 8, 12}) {
      Spec spec = test::shape(1, 1, 1, 1, 8, 1);
      spec.position = Position::rotary, spec.rotary.pairs = pairs, spec.rotary.dims = dims;
      std::vector<int> times(8);
      for (int p = 0; p < rotatedColumns(spec) / 2; ++p) {
        const auto [a, b] = columnsOfPair(spec, p);
        CHECK(pairOfColumn(spec, a) == p);
        CHECK(pairOfColumn(spec, b) == p);
        ++times[static_cast<std::size_t>(a)], ++times[static_cast<std::size_t>(b)];
      }
      for (int c = 0; c < 8; ++c) {
        CHECK(times[static_cast<std::size_t>(c)] == (c < rotatedColumns(spec) ? 1 : 0));
        if (c >= rotatedColumns(spec)) CHECK(pairOfColumn(spec, c) == -1);
      }
    }
  }
}

TEST_CASE("ALiBi: the slopes are those of the paper, and of its code where the heads are no power of two") {
  const std::vector<std::pair<int, std::vector<double>>> lists = {
      {1, {8}},
      {2, {4, 8}},
      {3, {4, 8, 2}},
      {5, {2, 4, 6, 8, 1}},
      {6, {2, 4, 6, 8, 1, 3}},
      {8, {1, 2, 3, 4, 5, 6, 7, 8}},
      {12, {1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5}}};
  for (const auto& [heads, exponents] : lists) {
    const Spec spec = test::shape(heads, 1, 1, 1, 1, 1);
    for (int h = 0; h < heads; ++h)
      CHECK(slopeOf(spec, h) == doctest::Approx(std::exp2(-exponents[static_cast<std::size_t>(h)])));
  }
}

TEST_CASE(
    "rotary: NTK-aware scaling leaves the fastest pair, and turns the slowest as much slower as linear "
    "scaling does") {
  Spec spec = test::shape(1, 1, 1, 1, 16, 1), scaled = spec;
  scaled.rotary.scaling = RotaryScaling::ntk, scaled.rotary.factor = 8.0f;
  CHECK(rotarySpeed(scaled, 0) == doctest::Approx(rotarySpeed(spec, 0)));
  CHECK(rotarySpeed(scaled, 7) * 8 == doctest::Approx(rotarySpeed(spec, 7)));
  spec.rotary.scaling = RotaryScaling::linear, spec.rotary.factor = 8.0f;
  CHECK(rotarySpeed(spec, 0) == doctest::Approx(0.125));
}
