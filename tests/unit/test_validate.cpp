// Every refusal: the sentence names the field, the value and the fix.
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
  const Check bad = validate(layer.spec, layer.inputs());
  if (!bad) return "accepted";
  CHECK(!bad->field.empty());
  CHECK(bad->message.back() == '.');
  return bad->message;
}

std::string with(int Spec::*field, int value) {
  Layer layer = good();
  layer.spec.*field = value;
  return refusal(layer);
}

std::string with(float Spec::*field, float value) {
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
  CHECK(with(&Spec::queryCount, 2147483647) == "queryCount: 2147483647 is out of range; use 1 to 1024.");
  CHECK(with(&Spec::keyCount, 0) == "keyCount: 0 is out of range; use 1 to 1024.");
  CHECK(with(&Spec::headDim, 257) == "headDim: 257 is out of range; use 1 to 256.");
  CHECK(with(&Spec::valueDim, -1) == "valueDim: -1 is out of range; use 1 to 256.");
  Layer layer = good();
  layer.spec = test::shape(64, 64, 1024, 1024, 3, 2);
  const Check bad = validate(layer.spec, layer.inputs());
  REQUIRE(bad);
  CHECK(bad->kind == Error::Kind::memory);
  CHECK(bad->message == "heads: 64 heads of 1024 queries and 1024 keys are 67108864 scores; at most 16777216 fit, "
                        "so use fewer heads or tokens.");
}

TEST_CASE("validate: options") {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinity = std::numeric_limits<float>::infinity();
  CHECK(with(&Spec::temperature, 0.0f) ==
        "temperature: 0 is out of range; use 0.000001 to 1000000.");
  CHECK(with(&Spec::temperature, -0.5f) ==
        "temperature: -0.5 is out of range; use 0.000001 to 1000000.");
  CHECK(with(&Spec::temperature, nan) ==
        "temperature: NaN is out of range; use 0.000001 to 1000000.");
  CHECK(with(&Spec::temperature, infinity) == "temperature: infinity is out of range; use 0.000001 to 1000000.");
  CHECK(with(&Spec::temperature, 1e-6f) == "accepted");
  CHECK(with(&Spec::scale, -infinity) ==
        "scale: -infinity is not a finite number; use 0 for 1/√d_k, or any other number.");
  CHECK(with(&Spec::causalOffset, -3) ==
        "causalOffset: -3 is negative; use 0, or the number of cached keys.");
  CHECK(with(&Spec::windowLeft, -2) == "windowLeft: -2 is out of range; use -1 for no limit, or 0 and more.");
  CHECK(with(&Spec::windowRight, -9) == "windowRight: -9 is out of range; use -1 for no limit, or 0 and more.");
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
  CHECK(refusal(layer) ==
        "maskAfterSoftmax: it is on although there is no softmax; turn it off, or use the normaliser softmax.");
}

TEST_CASE("validate: scores and positions that do not go together") {
  Random random(2);
  Layer layer = good();
  layer.spec.position = Position::sinusoidal;
  CHECK(refusal(layer) ==
        "position: sinusoidal positions are added to x, which this layer does not have; use rotary or alibi.");
  layer.spec.position = Position::rotary;
  CHECK(refusal(layer) ==
        "headDim: 3 columns are no pairs, which rotary positions turn; use an even number.");
  layer = test::withScore(layer, Score::additive, random);
  CHECK(refusal(layer) ==
        "position: rotary turns dot products, and the additive score has none; use the score dot, scaled, "
        "general or cosine, or other positions.");
  layer = test::direct(test::shape(1, 1, 4, 5, 4, 2), random);
  layer.spec.position = Position::rotary, layer.spec.causalOffset = 1021;
  CHECK(refusal(layer) ==
        "causalOffset: 1021 puts the last query beyond position 1024; use at most 1020, or alibi.");
  layer.spec.causalOffset = 1020;
  CHECK(refusal(layer) == "accepted");
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
  CHECK(validate(good().spec, inputs)->field == "x_kv");
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
  CHECK(refusal(layer) == "keyCount: 4 keys and 5 queries cannot both be the rows of x; use the same number, "
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
  CHECK(validate(layer.spec, inputs)->message == "k: it is missing; give a tensor of shape [3, 5, 3].");
  CHECK(validate(layer.spec, inputs)->kind == Error::Kind::type);
  CHECK(validate(layer.spec, Inputs{})->message == "q: it is missing; give a tensor of shape [6, 4, 3].");
  inputs = layer.inputs();
  inputs.wO = &layer.q;
  CHECK(validate(layer.spec, inputs)->field == "w_o");
  const Layer other = goodProjected();
  inputs = other.inputs();
  inputs.v = &other.x;
  CHECK(validate(other.spec, inputs)->message ==
        "v: it is given although x is given, which makes it; leave one of the two out.");
  inputs = other.inputs();
  inputs.wV = nullptr;
  CHECK(validate(other.spec, inputs)->message == "w_v: it is missing; give a tensor of shape [1, 8, 4].");
}
