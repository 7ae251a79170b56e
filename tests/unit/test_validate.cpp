// All errors of attention::validate(): the sentence names the field, the value and the fix.
#include <doctest/doctest.h>

#include <limits>

#include "layer.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

Layer good() {
  Random random(1);
  return test::direct(test::shape(6, 3, 4, 5, 3, 2), random);
}

Layer goodProjected() {
  Random random(1);
  return test::projected(test::shape(4, 2, 5, 5, 3, 2), 8, 7, random);
}

std::string refusal(const Layer& layer) {
  const auto ok = validate(layer.spec, layer.inputs());
  if (ok) return "accepted";
  CHECK(!ok.error().field.empty());
  CHECK(ok.error().message().back() == '.');
  return ok.error().message();
}

std::string with(int Spec::* field, int value) {
  Layer layer = good();
  layer.spec.*field = value;
  return refusal(layer);
}

std::string with(float Spec::* field, float value) {
  Layer layer = good();
  layer.spec.*field = value;
  return refusal(layer);
}

}  // namespace

TEST_CASE("validate: sound layers pass") {
  CHECK(refusal(good()) == "accepted");
  CHECK(refusal(goodProjected()) == "accepted");
  Layer layer = good();
  layer.paintNothing();
  CHECK(refusal(layer) == "accepted");
}

TEST_CASE("validate: head counts") {
  CHECK(with(&Spec::kvHeads, 4) == "heads: 4 key-value heads do not divide 6 heads; use 1, 2, 3 or 6.");
  CHECK(with(&Spec::kvHeads, 12) == "heads: 12 key-value heads do not divide 6 heads; use 1, 2, 3 or 6.");
  CHECK(with(&Spec::kvHeads, 0) == "kvHeads: 0 is out of range; use 1 to 64.");
  CHECK(with(&Spec::heads, -2147483647 - 1) == "heads: -2147483648 is out of range; use 1 to 64.");
}

TEST_CASE("validate: sizes are checked before anything is multiplied") {
  CHECK(with(&Spec::queryCount, 2147483647) == "queryCount: 2147483647 is out of range; use 1 to 131072.");
  CHECK(with(&Spec::keyCount, 0) == "keyCount: 0 is out of range; use 1 to 131072.");
  CHECK(with(&Spec::headDim, 513) == "headDim: 513 is out of range; use 1 to 512.");
  CHECK(with(&Spec::valueDim, -1) == "valueDim: -1 is out of range; use 1 to 512.");
  Layer layer = good();
  layer.spec = test::shape(64, 64, 8192, 8192, 3, 2);
  const auto ok = validate(layer.spec, layer.inputs());
  REQUIRE_FALSE(ok);
  CHECK(ok.error().kind == Error::Kind::memory);
  CHECK(ok.error().message() ==
        "heads: 64 heads of 8192 queries and 8192 keys are 4294967296 scores; at most 1073741824 fit, "
        "so use fewer heads or tokens.");
}

TEST_CASE("validate: options") {
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              infinity = std::numeric_limits<float>::infinity();
  CHECK(with(&Spec::temperature, 0.0f) == "temperature: 0 is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, -0.5f) == "temperature: -0.5 is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, nan) == "temperature: NaN is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, infinity) == "temperature: infinity is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, 1e-45f) == "temperature: 1e-45 is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, 3e38f) == "temperature: 3e+38 is out of range; use 1e-06 to 1000000.");
  CHECK(with(&Spec::temperature, 1e-6f) == "accepted");
  CHECK(with(&Spec::temperature, 1e6f) == "accepted");
  CHECK(with(&Spec::scale, -infinity) ==
        "scale: -infinity is not a finite number; use 0 for 1/√d_k, or any other number.");
  CHECK(with(&Spec::causalOffset, -3) ==
        "causalOffset: -3 is negative; use 0, or the number of cached keys.");
  CHECK(with(&Spec::windowLeft, -2) == "windowLeft: -2 is out of range; use -1 for no limit, or 0 and more.");
  CHECK(with(&Spec::windowRight, -9) ==
        "windowRight: -9 is out of range; use -1 for no limit, or 0 and more.");
}

TEST_CASE("validate: masks, caps and hidden heads") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(with(&Spec::softcap, -1.0f) == "softcap: -1 is out of range; use 0 for none, or the largest score.");
  CHECK(with(&Spec::softcap, nan) == "softcap: NaN is out of range; use 0 for none, or the largest score.");
  CHECK(with(&Spec::prefix, 6) == "prefix: 6 is out of range; use 0 for none, to 5.");
  CHECK(with(&Spec::prefix, -1) == "prefix: -1 is out of range; use 0 for none, to 5.");
  CHECK(with(&Spec::keyLength, 6) == "keyLength: 6 is out of range; use -1 for no padding, or 0 to 5.");
  CHECK(with(&Spec::keyLength, -2) == "keyLength: -2 is out of range; use -1 for no padding, or 0 to 5.");
  CHECK(with(&Spec::keyLength, 0) == "accepted");
  Layer layer = good();
  layer.spec.hiddenHeads = 1ull << 6;
  CHECK(refusal(layer) == "hiddenHeads: 64 has bits for more than 6 heads; use those of heads 0 to 5.");
  layer.spec.hiddenHeads = (1ull << 6) - 1;
  CHECK(refusal(layer) == "accepted");
  layer = good();
  layer.spec.pattern.block = -2;
  CHECK(refusal(layer) == "pattern.block: -2 is negative; use 0 for none of it, or more.");
  layer = good();
  layer.spec.pattern.dilation = 0;
  CHECK(refusal(layer) == "pattern.dilation: 0 is out of range; use 1 for every key, or more.");
  layer = good();
  layer.spec.maskAfterSoftmax = true, layer.spec.normalizer = Normalizer::relu;
  CHECK(
      refusal(layer) ==
      "maskAfterSoftmax: it is on although there is no softmax; turn it off, or use the normaliser softmax.");
}

TEST_CASE("validate: scores and positions that do not go together") {
  Random random(2);
  Layer layer = good();
  layer.spec.position = Position::sinusoidal;
  CHECK(
      refusal(layer) ==
      "position: sinusoidal positions are added to x, which this layer does not have; use rotary or alibi.");
  layer.spec.position = Position::rotary;
  CHECK(refusal(layer) ==
        "headDim: 3 columns do not form pairs, which rotary positions rotate; use an even number.");
  layer = test::withScore(layer, Score::additive, random);
  CHECK(refusal(layer) ==
        "position: rotary turns dot products, and the additive score has none; use the score dot, scaled, "
        "general or cosine, or other positions.");
  layer = test::direct(test::shape(1, 1, 4, 5, 4, 2), random);
  Layer odd = good();
  odd.spec.position = Position::rotary, odd.spec.rotary.dims = 2;
  CHECK(refusal(odd) == "accepted");
  odd.spec.rotary.dims = 1;
  CHECK(refusal(odd) ==
        "rotary.dims: 1 columns do not form pairs, which rotary positions rotate; use an even number, or 0 "
        "for all.");
  odd.spec.rotary.dims = 2, odd.spec.rotary.base = 1.0f;
  CHECK(refusal(odd) == "rotary.base: 1 is out of range; use 10000, or another number above 1.");
  odd.spec.rotary.base = 10000.0f, odd.spec.rotary.factor = 0.0f;
  CHECK(refusal(odd) == "rotary.factor: 0 is out of range; use 1 for none, or another number above 0.");
  odd.spec.rotary.factor = 1.0f, odd.spec.positionIds = {0, -1};
  CHECK(refusal(odd) == "positionIds: -1 is no position; use 0 to 1000000.");
  layer.spec.position = Position::rotary, layer.spec.causalOffset = 131069;
  CHECK(refusal(layer) ==
        "causalOffset: 131069 puts the last query beyond position 131072; use at most 131068, or alibi.");
  layer.spec.causalOffset = 131068;
  CHECK(refusal(layer) == "accepted");
}

TEST_CASE("validate: hidden units of the additive score") {
  Random random(5);
  Layer layer = test::withScore(good(), Score::additive, random);
  layer.wA = Tensor(6, 8, 3), layer.uA = Tensor(6, 8, 3), layer.vA = Tensor(6, 1, 8);
  CHECK(refusal(layer) == "accepted");
  layer.uA = Tensor(6, 7, 3);
  CHECK(refusal(layer) == "u_a.shape: [6, 7, 3] does not fit the other sizes; use [6, 8, 3].");
  layer.uA = Tensor(6, 8, 3), layer.spec.score = Score::general;
  CHECK(refusal(layer) == "w_a.shape: [6, 8, 3] does not fit the other sizes; use [6, 3, 3].");
}

TEST_CASE("validate: an X of the values") {
  Layer layer = goodProjected();
  layer.xV = Tensor(1, 5, 8);
  CHECK(refusal(layer) == "accepted");
  layer.xV = Tensor(1, 4, 8);
  CHECK(refusal(layer) == "x_v.shape: [1, 4, 8] does not fit the other sizes; use [1, 5, 8].");
}

TEST_CASE("validate: where memory is the limit, tokens and columns are as many as there are") {
  Random random(6);
  Layer layer = test::direct(test::shape(1, 1, 140000, 3, 600, 2), random);
  layer.spec.position = Position::rotary, layer.spec.causalOffset = 5000;
  CHECK(refusal(layer) == "queryCount: 140000 is out of range; use 1 to 131072.");
  CHECK(validate(layer.spec, layer.inputs(), Room::memory));
  layer.spec.causalOffset = Limits::longest;
  CHECK(validate(layer.spec, layer.inputs(), Room::memory).error().field == "causalOffset");
}

TEST_CASE("validate: biases of the projections") {
  Random random(4);
  Layer layer = test::withBiases(goodProjected(), random);
  CHECK(refusal(layer) == "accepted");
  layer.bK = Tensor(1, 1, 7);
  CHECK(refusal(layer) == "b_k.shape: [1, 1, 7] does not fit the other sizes; use [1, 1, 6].");
  layer.bK = {}, layer.bO.at(0, 0, 2) = std::numeric_limits<float>::infinity();
  CHECK(refusal(layer).starts_with("b_o"));
  Inputs without = layer.inputs();
  without.wO = nullptr;
  CHECK(validate(layer.spec, without).error().message() ==
        "b_o: it is given although w_o, whose products it is added to, is not; leave one of the two out.");
  const Layer direct = good();
  Inputs given = direct.inputs();
  given.bQ = &layer.bQ;
  CHECK(validate(direct.spec, given).error().field == "b_q");
}

TEST_CASE("validate: the weights of a score") {
  Random random(3);
  Layer layer = good();
  layer.spec.score = Score::general;
  CHECK(refusal(layer) == "w_a: it is missing; give a tensor of shape [6, 3, 3].");
  layer = test::withScore(good(), Score::additive, random);
  CHECK(refusal(layer) == "accepted");
  layer.vA = Tensor(6, 3, 1);
  CHECK(refusal(layer) == "v_a.shape: [6, 3, 1] does not fit the other sizes; use [6, 1, 3].");
  layer.uA = Tensor();
  CHECK(refusal(layer) == "u_a: it is missing; give a tensor of shape [6, 3, 3].");
}

TEST_CASE("validate: cross-attention") {
  Random random(4);
  Layer layer = test::projected(test::shape(2, 2, 4, 6, 3, 2), 8, 5, random);
  CHECK(refusal(layer) == "accepted");
  layer.spec.keyCount = 5;
  CHECK(refusal(layer) == "x_kv.shape: [1, 6, 8] does not fit the other sizes; use [1, 5, 8].");
  Inputs inputs = good().inputs();
  inputs.xKv = &layer.x;
  CHECK(validate(good().spec, inputs).error().field == "x_kv");
}

TEST_CASE("validate: numbers that are not finite, by their position") {
  Layer layer = good();
  layer.q.at(1, 2, 0) = std::numeric_limits<float>::quiet_NaN();
  CHECK(refusal(layer) == "q[1,2,0] is NaN; every number must be finite.");
  layer = good();
  layer.v.at(2, 4, 1) = -std::numeric_limits<float>::infinity();
  CHECK(refusal(layer) == "v[2,4,1] is -infinity; every number must be finite.");
  layer = goodProjected();
  layer.wO.at(0, 7, 6) = std::numeric_limits<float>::infinity();
  CHECK(refusal(layer) == "w_o[0,7,6] is infinity; every number must be finite.");
}

TEST_CASE("validate: shapes") {
  Layer layer = good();
  layer.k = Tensor(3, 4, 3);
  CHECK(refusal(layer) == "k.shape: [3, 4, 3] does not fit the other sizes; use [3, 5, 3].");
  layer = good();
  layer.q = Tensor();
  CHECK(refusal(layer) == "q.shape: [0, 0, 0] does not fit the other sizes; use [6, 4, 3].");
  layer = goodProjected();
  layer.wK = Tensor(1, 8, 12);
  CHECK(refusal(layer) == "w_k.shape: [1, 8, 12] does not fit the other sizes; use [1, 8, 6].");
  layer = goodProjected();
  layer.spec.keyCount = 4;
  CHECK(refusal(layer) ==
        "keyCount: 4 keys and 5 queries cannot both be the rows of x; use the same number, "
        "or give x_kv.");
  layer = goodProjected();
  layer.x = Tensor(1, 5, 0);
  CHECK(refusal(layer) == "x.cols: 0 is out of range; use 1 to 1024.");
  layer = good();
  layer.paintNothing();
  layer.painted.rows = 5;
  CHECK(refusal(layer) == "mask.shape: [5, 5] with 20 cells does not fit the scores; use [4, 5].");
}

TEST_CASE("validate: inputs that are missing, or given twice") {
  const Layer layer = good();
  Inputs inputs = layer.inputs();
  inputs.k = nullptr;
  CHECK(validate(layer.spec, inputs).error().message() ==
        "k: it is missing; give a tensor of shape [3, 5, 3].");
  CHECK(validate(layer.spec, inputs).error().kind == Error::Kind::type);
  CHECK(validate(layer.spec, Inputs{}).error().message() ==
        "q: it is missing; give a tensor of shape [6, 4, 3].");
  inputs = layer.inputs();
  inputs.wO = &layer.q;
  CHECK(validate(layer.spec, inputs).error().field == "w_o");
  const Layer other = goodProjected();
  inputs = other.inputs();
  inputs.v = &other.x;
  CHECK(validate(other.spec, inputs).error().message() ==
        "v: it is given although x is given, which makes it; leave one of the two out.");
  inputs = other.inputs();
  inputs.wV = nullptr;
  CHECK(validate(other.spec, inputs).error().message() ==
        "w_v: it is missing; give a tensor of shape [1, 8, 4].");
}
