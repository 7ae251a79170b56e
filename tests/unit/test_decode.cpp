// Decoding with a cache: what each step adds, reuses and evicts, and that all steps together give the whole
// layer.
#include <doctest/doctest.h>

#include "attention/engine/decode.h"
#include "layer.h"

using namespace attention;

namespace {

std::string text(KeyRange keys) {
  return keys.begin >= keys.end ? "-" : std::to_string(keys.begin) + "…" + std::to_string(keys.end - 1);
}

std::string picture(const Spec& spec) {
  std::string out;
  for (int i = 0; i < spec.queryCount; ++i) {
    const CacheStep step = cacheStep(spec, i);
    out += "+" + text(step.added) + " =" + text(step.reused) + " x" + text(step.evicted) + "; ";
  }
  return out;
}

/// `count` rows of a tensor, starting at `from`.
Tensor rowsOf(const Tensor& tensor, int from, int count) {
  Tensor out(tensor.heads(), count, tensor.cols());
  for (int h = 0; h < out.heads(); ++h) {
    for (int i = 0; i < count; ++i) std::copy_n(tensor.row(h, from + i), tensor.cols(), out.row(h, i));
  }
  return out;
}

}  // namespace

TEST_CASE("decode: a cache that grows, and one with a window") {
  Spec spec = test::shape(1, 1, 4, 4, 2, 2);
  spec.causal = true;
  CHECK(picture(spec) == "+0…0 =- x-; +1…1 =0…0 x-; +2…2 =0…1 x-; +3…3 =0…2 x-; ");
  spec.windowLeft = 1;
  CHECK(picture(spec) == "+0…0 =- x-; +1…1 =0…0 x-; +2…2 =1…1 x0…0; +3…3 =2…2 x1…1; ");
  spec.windowLeft = 0;
  CHECK(picture(spec) == "+0…0 =- x-; +1…1 =- x0…0; +2…2 =- x1…1; +3…3 =- x2…2; ");
}

TEST_CASE("decode: past keys are there from the first step, a prefix comes with it") {
  Spec spec = test::shape(1, 1, 2, 6, 2, 2);
  spec.causal = true, spec.causalOffset = 4;
  CHECK(picture(spec) == "+4…4 =0…3 x-; +5…5 =0…4 x-; ");
  spec.windowLeft = 2;
  CHECK(picture(spec) == "+4…4 =2…3 x0…1; +5…5 =3…4 x2…2; ");
  spec = test::shape(1, 1, 4, 4, 2, 2);
  spec.causal = true, spec.prefix = 3;
  CHECK(picture(spec) == "+0…2 =- x-; +- =0…2 x-; +- =0…2 x-; +3…3 =0…2 x-; ");
}

TEST_CASE(
    "decode: the steps make the rows of the whole, with a window, a pattern, a prefix, padding and rotary "
    "positions") {
  test::Random random(1);
  test::Layer whole = test::direct(test::shape(4, 2, 9, 12, 4, 3), random);
  whole.spec.causal = true, whole.spec.causalOffset = 3, whole.spec.windowLeft = 6, whole.spec.prefix = 5;
  whole.spec.keyLength = 11, whole.spec.pattern = {3, 1, 4, 0, 1, 2, 9},
  whole.spec.position = Position::rotary;
  Trace all, one;
  REQUIRE(validate(whole.spec, whole.inputs()));
  forward(whole.spec, whole.inputs(), all);
  for (int i = 0; i < 9; ++i) {
    test::Layer step = whole;
    step.spec = stepOf(whole.spec, i);
    step.q = rowsOf(whole.q, i, 1);
    step.k = rowsOf(whole.k, 0, step.spec.keyCount), step.v = rowsOf(whole.v, 0, step.spec.keyCount);
    REQUIRE(validate(step.spec, step.inputs()));
    forward(step.spec, step.inputs(), one);
    for (int c = 0; c < 12; ++c) CHECK(std::abs(one.output.at(0, 0, c) - all.output.at(0, i, c)) < 1e-5f);
    // No evicted key is seen.
    const CacheStep cache = cacheStep(whole.spec, i);
    for (int j = 0; j < cache.evicted.end; ++j) CHECK(!isVisible(whole.spec, i, j));
  }
}

TEST_CASE("decode: shared key heads and narrow values make a small cache") {
  CHECK(cacheBytes(test::shape(8, 8, 1, 1, 64, 64), 1024) == 4'194'304);
  CHECK(cacheBytes(test::shape(8, 2, 1, 1, 64, 64), 1024) == 1'048'576);
  CHECK(cacheBytes(test::shape(8, 1, 1, 1, 64, 32), 1024) == 393'216);
}
