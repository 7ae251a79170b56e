// The peak rate of an instruction set: multiplications and additions on registers only, in twelve independent
// chains, so that neither memory nor latency limits the rate. With fused multiply-add every chain does both.
// Without it half of the chains multiply and half add, because a chain that does both would have twice the
// latency. Compiled like the kernels, once per instruction set (KERNEL_LANES, KERNEL_NAMESPACE).
#include "attention/kernels/kernels_vector.h"

namespace attention::kernels::KERNEL_NAMESPACE {

/// Returns the number of floating-point operations done in `rounds` rounds. `seed` must be 1; it is an
/// argument so that the compiler cannot compute the result in advance.
double peak(int rounds, float seed, float* result) {
  constexpr int kChains = 12;
  V chains[kChains];
  const V factor = set(seed), addend = set(seed * 0.001f);
  for (int i = 0; i < kChains; ++i) chains[i] = set(seed + static_cast<float>(i));
  for (int r = 0; r < rounds; ++r) {
#if defined(__FMA__) || defined(__wasm_relaxed_simd__)
    for (int i = 0; i < kChains; ++i) chains[i] = mulAdd(chains[i], factor, addend);
#else
    for (int i = 0; i < kChains; i += 2)
      chains[i] = chains[i] * factor, chains[i + 1] = chains[i + 1] + addend;
#endif
  }
  V sum{};
  for (int i = 0; i < kChains; ++i) sum = sum + chains[i];
  *result = sumOfLanes(sum);
#if defined(__FMA__) || defined(__wasm_relaxed_simd__)
  return 2.0 * kChains * kLanes * rounds;
#else
  return 1.0 * kChains * kLanes * rounds;
#endif
}

}  // namespace attention::kernels::KERNEL_NAMESPACE

#ifdef PEAK_EXPORTED
extern "C" __attribute__((export_name("peak"))) double exportedPeak(int rounds, float seed) {
  float result = 0.0f;
  const double operations = attention::kernels::KERNEL_NAMESPACE::peak(rounds, seed, &result);
  return result == 0.0f ? 0.0 : operations;
}
#endif
