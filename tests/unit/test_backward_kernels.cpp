// The fused backward pass of every kernel against the double reference.
#include <doctest/doctest.h>

#include "attention/kernels/kernels.h"
#include "attention/reference/backward.h"
#include "layer.h"
#include "thorough.h"

using namespace attention;
using test::Layer;
using test::Random;

namespace {

kernels::In reading(const Tensor& t) { return {t.data(), std::ptrdiff_t{t.rows()} * t.cols(), t.cols()}; }
kernels::Out writing(Tensor& t) { return {t.data(), std::ptrdiff_t{t.rows()} * t.cols(), t.cols()}; }

kernels::Backward callOf(const Layer& layer) {
  const Spec& spec = layer.spec;
  kernels::Backward call;
  kernels::Forward& f = call.forward;
  f.heads = spec.heads, f.kvHeads = spec.kvHeads, f.queryCount = spec.queryCount, f.keyCount = spec.keyCount;
  f.headDim = spec.headDim, f.valueDim = spec.valueDim;
  f.q = reading(layer.q), f.k = reading(layer.k), f.v = reading(layer.v);
  f.scale = scaleFactor(spec), f.softcap = spec.softcap, f.temperature = spec.temperature;
  f.causal = spec.causal, f.causalOffset = spec.causalOffset, f.windowLeft = spec.windowLeft, f.windowRight = spec.windowRight;
  f.keyLength = spec.keyLength;
  if (!layer.painted.empty()) f.blocked = layer.painted.blocked.data(), f.blockedRowStride = layer.painted.cols;
  if (!layer.bias.empty()) f.bias = {layer.bias.data(), layer.bias.heads() == 1 ? 0 : std::ptrdiff_t{spec.queryCount} * spec.keyCount, spec.keyCount};
  return call;
}

double largest(const Tensor& tensor) {
  double most = 0.0;
  for (float v : tensor.values()) most = std::max(most, std::abs(double{v}));
  return most;
}

ReferenceTensor inDouble(const Tensor& from) {
  ReferenceTensor out(from.heads(), from.rows(), from.cols());
  std::copy(from.values().begin(), from.values().end(), out.values.begin());
  return out;
}

/// The largest error of one tensor, as a share of the bound in kernels.h.
double share(const Tensor& fast, const ReferenceTensor& exact, double bound) {
  double worst = 0.0;
  for (std::size_t i = 0; i < fast.size(); ++i) {
    const double off = std::abs(double{fast.data()[i]} - exact.values[i]);
    if (std::isnan(off) || off > bound) return 2.0;
    if (off > 0.0) worst = std::max(worst, off / bound);
  }
  return worst;
}

/// Runs the backward pass with `kernel` from gradients of the output, of the weights, or of both.
double shareOfBound(kernels::Kernel kernel, const Layer& layer, bool ofOutput, bool ofWeights, Random& random, int threads = 1) {
  const Spec& spec = layer.spec;
  Tensor dOutput(spec.heads, spec.queryCount, spec.valueDim), dWeights(spec.heads, spec.queryCount, spec.keyCount);
  if (ofOutput) test::fill(dOutput, random);
  if (ofWeights) test::fill(dWeights, random);
  const ReferenceTrace exact = reference(spec, layer.inputs());
  ReferenceGradients upstream;
  upstream[TensorId::head_output] = inDouble(dOutput), upstream[TensorId::weights] = inDouble(dWeights);
  const ReferenceGradients wanted = referenceBackward(spec, layer.inputs(), exact, upstream);

  kernels::Backward call = callOf(layer);
  if (ofOutput) call.dOutput = reading(dOutput);
  if (ofWeights) call.dWeights = reading(dWeights);
  Tensor dQ(spec.heads, spec.queryCount, spec.headDim, 7.0f), dK(spec.kvHeads, spec.keyCount, spec.headDim, 7.0f);
  Tensor dV(spec.kvHeads, spec.keyCount, spec.valueDim, 7.0f);
  call.dQ = writing(dQ), call.dK = writing(dK), call.dV = writing(dV);
  kernels::Workspace workspace(threads);
  REQUIRE(kernels::backward(kernel, call, workspace));

  const double size = std::max(1.0, exact.masked.largest() / double{spec.temperature});
  const double readers = std::sqrt(double(spec.queryCount) * (spec.heads / spec.kvHeads));
  const double most = 2e-7 * std::sqrt(spec.keyCount) * size;
  const double gradient = wanted[TensorId::weights].largest() * std::abs(double{scaleFactor(spec)}) / double{spec.temperature};
  return std::max({share(dQ, wanted[TensorId::q], most * gradient * largest(layer.k) * readers),
                   share(dK, wanted[TensorId::k], most * gradient * largest(layer.q) * readers),
                   share(dV, wanted[TensorId::v], most * largest(dOutput) * readers)});
}

}  // namespace

TEST_CASE("backward kernels: lengths around the vector width, every kernel") {
  for (const kernels::Kernel kernel : kernels::available()) {
    CAPTURE(kernels::name(kernel));
    Random random(1);
    double worst = 0.0;
    for (int n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65}) {
      CAPTURE(n);
      Layer layer = test::direct(test::shape(2, 1, n, n + 2, n, 5), random);
      worst = std::max(worst, shareOfBound(kernel, layer, true, false, random));
      layer.spec.causal = true, layer.spec.causalOffset = 2;
      worst = std::max(worst, shareOfBound(kernel, layer, true, true, random));
      layer = test::direct(test::shape(3, 3, n + 40, 3 * n, 8, n), random);
      worst = std::max(worst, shareOfBound(kernel, layer, false, true, random));
      layer.spec.causal = true;
      worst = std::max(worst, shareOfBound(kernel, layer, true, false, random));
      CHECK(worst <= 1.0);
    }
    MESSAGE(kernels::name(kernel), ": worst ", worst, " of the bound");
  }
}

TEST_CASE("backward kernels: every option, and more than one block of keys and columns") {
  for (const kernels::Kernel kernel : kernels::available()) {
    CAPTURE(kernels::name(kernel));
    Random random(2);
    double worst = 0.0;
    for (int i = 0; i < test::rounds(60); ++i) {
      CAPTURE(i);
      const bool isLarge = i % 20 == 0;
      const int kvHeads = 1 + random.below(2), heads = kvHeads * (1 + random.below(3));
      const int queries = 1 + random.below(isLarge ? 150 : 70), keys = 1 + random.below(isLarge ? 700 : 90);
      Layer layer = test::direct(test::shape(heads, kvHeads, queries, keys, 1 + random.below(isLarge ? 256 : 40), 1 + random.below(40)), random);
      Spec& s = layer.spec;
      s.causal = random.chance(0.5), s.causalOffset = random.below(20);
      if (random.chance(0.3)) s.scale = random.normal();
      if (random.chance(0.3)) s.softcap = 1.0f + static_cast<float>(random.below(20));
      if (random.chance(0.3)) s.temperature = 0.25f + static_cast<float>(random.below(4));
      if (random.chance(0.3)) s.windowLeft = random.below(30);
      if (random.chance(0.3)) s.windowRight = random.below(30);
      if (random.chance(0.3)) s.keyLength = random.below(keys + 1);
      test::maybeMask(layer, 0.5, random);
      worst = std::max(worst, shareOfBound(kernel, layer, random.chance(0.8), random.chance(0.4), random, 1 + random.below(2)));
      CHECK(worst <= 1.0);
    }
    MESSAGE(kernels::name(kernel), ": worst ", worst, " of the bound");
  }
}

TEST_CASE("backward kernels: numbers too large for floats give no NaN, and those before them what they gave") {
  for (const kernels::Kernel kernel : kernels::available()) {
    CAPTURE(kernels::name(kernel));
    Random random(3);
    for (float size : {1e18f, 1e25f, 3e38f}) {
      Layer layer = test::direct(test::shape(2, 2, 9, 11, 4, 3), random);
      for (Tensor* t : {&layer.q, &layer.k, &layer.v}) {
        for (float& v : t->values()) v = random.chance(0.5) ? v : v < 0.0f ? -size : size;
      }
      kernels::Backward call = callOf(layer);
      Tensor dOutput(2, 9, 3, size), dQ(2, 9, 4), dK(2, 11, 4), dV(2, 11, 3);
      call.dOutput = reading(dOutput), call.dQ = writing(dQ), call.dK = writing(dK), call.dV = writing(dV);
      kernels::Workspace workspace;
      REQUIRE(kernels::backward(kernel, call, workspace));
      for (const Tensor* t : {&dQ, &dK, &dV}) {
        for (float v : t->values()) CHECK(std::isfinite(v));
      }
    }
    Layer careful = test::direct(test::shape(2, 1, 5, 6, 4, 3), random);
    careful.spec.causal = true, careful.spec.softcap = 2.0f;
    for (float& v : careful.v.values()) v *= 1e34f;  // too large for the float path; double has enough range
    CHECK(shareOfBound(kernel, careful, true, true, random) <= 1.0);
  }
}

TEST_CASE("backward kernels: the numbers do not depend on the threads, and unwanted gradients are not touched") {
  Random random(4);
  const Layer layer = test::direct(test::shape(4, 4, 130, 130, 32, 32), random);
  Tensor dOutput(4, 130, 32);
  test::fill(dOutput, random);
  Tensor first;
  for (int threads : {1, 2, 3}) {
    Tensor dK(4, 130, 32);
    kernels::Backward call = callOf(layer);
    call.dOutput = reading(dOutput), call.dK = writing(dK);
    kernels::Workspace workspace(threads);
    REQUIRE(kernels::backward(kernels::best(), call, workspace));
    if (first.empty()) first = dK;
    CHECK(dK == first);
  }
}
