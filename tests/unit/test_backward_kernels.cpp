// The fused backward pass of every kernel against the double reference.
#include <doctest/doctest.h>

#include "attention/kernels/kernels.h"
#include "layer.h"
#include "reference/backward.h"
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
  f.causal = spec.causal, f.causalOffset = spec.causalOffset, f.windowLeft = spec.windowLeft,
  f.windowRight = spec.windowRight;
  f.keyLength = spec.keyLength;
  if (!layer.painted.empty())
    f.blocked = layer.painted.blocked.data(), f.blockedRowStride = layer.painted.cols;
  if (!layer.bias.empty())
    f.bias = {layer.bias.data(),
              layer.bias.heads() == 1 ? 0 : std::ptrdiff_t{spec.queryCount} * spec.keyCount, spec.keyCount};
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

/// Gradients that come in, of the output, of the weights, or of both, and what follows from them in double.
struct Exact {
  Tensor dOutput, dWeights;
  bool ofOutput, ofWeights;
  ReferenceTrace trace;
  ReferenceGradients wanted;
};

Exact exactOf(const Layer& layer, bool ofOutput, bool ofWeights, Random& random) {
  const Spec& spec = layer.spec;
  Exact exact{{spec.heads, spec.queryCount, spec.valueDim},
              {spec.heads, spec.queryCount, spec.keyCount},
              ofOutput,
              ofWeights,
              reference(spec, layer.inputs()),
              {}};
  if (ofOutput) test::fill(exact.dOutput, random);
  if (ofWeights) test::fill(exact.dWeights, random);
  ReferenceGradients upstream;
  upstream[TensorId::head_output] = inDouble(exact.dOutput),
  upstream[TensorId::weights] = inDouble(exact.dWeights);
  exact.wanted = referenceBackward(spec, layer.inputs(), exact.trace, upstream);
  return exact;
}

/// Runs the backward pass with `kernel`.
double shareOfBound(kernels::Kernel kernel, const Layer& layer, const Exact& exact, int threads = 1) {
  const Spec& spec = layer.spec;
  kernels::Backward call = callOf(layer);
  if (exact.ofOutput) call.dOutput = reading(exact.dOutput);
  if (exact.ofWeights) call.dWeights = reading(exact.dWeights);
  Tensor dQ(spec.heads, spec.queryCount, spec.headDim, 7.0f),
      dK(spec.kvHeads, spec.keyCount, spec.headDim, 7.0f);
  Tensor dV(spec.kvHeads, spec.keyCount, spec.valueDim, 7.0f);
  call.dQ = writing(dQ), call.dK = writing(dK), call.dV = writing(dV);
  kernels::Workspace workspace(threads);
  REQUIRE(kernels::backward(kernel, call, workspace));

  const double size = std::max(1.0, exact.trace.masked.largest() / double{spec.temperature});
  const double readers = std::sqrt(double(spec.queryCount) * (spec.heads / spec.kvHeads));
  const double most = 2e-7 * std::sqrt(spec.keyCount) * size;
  const double gradient = exact.wanted[TensorId::weights].largest() * std::abs(double{scaleFactor(spec)}) /
                          double{spec.temperature};
  return std::max({share(dQ, exact.wanted[TensorId::q], most * gradient * largest(layer.k) * readers),
                   share(dK, exact.wanted[TensorId::k], most * gradient * largest(layer.q) * readers),
                   share(dV, exact.wanted[TensorId::v], most * largest(exact.dOutput) * readers)});
}

/// The worst share of the bound of every kernel, each against the same reference, which takes longer than all
/// of them.
class Shares {
 public:
  void check(const Layer& layer, bool ofOutput, bool ofWeights, Random& random, int threads = 1) {
    const Exact exact = exactOf(layer, ofOutput, ofWeights, random);
    for (std::size_t i = 0; i < worst_.size(); ++i) {
      const kernels::Kernel kernel = kernels::available()[i];
      CAPTURE(kernels::name(kernel));
      const double worst = shareOfBound(kernel, layer, exact, threads);
      CHECK(worst <= 1.0);
      worst_[i] = std::max(worst_[i], worst);
    }
  }
  void tell() const {
    for (std::size_t i = 0; i < worst_.size(); ++i)
      MESSAGE(kernels::name(kernels::available()[i]), ": worst ", worst_[i], " of the bound");
  }

 private:
  std::vector<double> worst_ = std::vector<double>(kernels::available().size());
};

}  // namespace

TEST_CASE("backward kernels: lengths around the vector width, every kernel") {
  Random random(1);
  Shares shares;
  for (int n : {1, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 65}) {
    CAPTURE(n);
    Layer layer = test::direct(test::shape(2, 1, n, n + 2, n, 5), random);
    shares.check(layer, true, false, random);
    layer.spec.causal = true, layer.spec.causalOffset = 2;
    shares.check(layer, true, true, random);
    layer = test::direct(test::shape(3, 3, n + 40, 3 * n, 8, n), random);
    shares.check(layer, false, true, random);
    layer.spec.causal = true;
    shares.check(layer, true, false, random);
  }
  shares.tell();
}

TEST_CASE("backward kernels: every option, and more than one block of keys and columns") {
  Random random(2);
  Shares shares;
  for (int i = 0; i < test::rounds(60); ++i) {
    CAPTURE(i);
    const bool isLarge = i % 20 == 0;
    const int kvHeads = 1 + random.below(2), heads = kvHeads * (1 + random.below(3));
    const int queries = 1 + random.below(isLarge ? 150 : 70), keys = 1 + random.below(isLarge ? 700 : 90);
    Layer layer = test::direct(test::shape(heads, kvHeads, queries, keys,
                                           1 + random.below(isLarge ? 256 : 40), 1 + random.below(40)),
                               random);
    Spec& s = layer.spec;
    s.causal = random.chance(0.5), s.causalOffset = random.below(20);
    if (random.chance(0.3)) s.scale = random.normal();
    if (random.chance(0.3)) s.softcap = 1.0f + static_cast<float>(random.below(20));
    if (random.chance(0.3)) s.temperature = 0.25f + static_cast<float>(random.below(4));
    if (random.chance(0.3)) s.windowLeft = random.below(30);
    if (random.chance(0.3)) s.windowRight = random.below(30);
    if (random.chance(0.3)) s.keyLength = random.below(keys + 1);
    test::maybeMask(layer, 0.5, random);
    const int threads = 1 + random.below(2);
    const bool ofWeights = random.chance(0.4), ofOutput = random.chance(0.8);
    shares.check(layer, ofOutput, ofWeights, random, threads);
  }
  shares.tell();
}

TEST_CASE(
    "backward kernels: numbers too large for floats give no NaN, and those before them what they gave") {
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
    CHECK(shareOfBound(kernel, careful, exactOf(careful, true, true, random)) <= 1.0);
  }
}

TEST_CASE(
    "backward kernels: the numbers do not depend on the threads, and unwanted gradients are not touched") {
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
