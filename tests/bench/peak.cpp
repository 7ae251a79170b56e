// The most that an instruction set can do: multiply-adds on registers alone, in twelve independent chains, so that neither
// memory nor latency stands in the way. Compiled like the kernels, once per instruction set (KERNEL_LANES, KERNEL_NAMESPACE).
#include "attention/kernels_vector.h"

namespace attention::kernels::KERNEL_NAMESPACE {

/// Floating-point operations done in `rounds` rounds; `seed` must be near 1 and is there so that nothing is known beforehand.
double peak(int rounds, float seed, float* result) {
  constexpr int kChains = 12;
  V chains[kChains];
  const V factor = set(seed * 0.999f), addend = set(seed * 0.001f);
  for (int i = 0; i < kChains; ++i) chains[i] = set(seed + static_cast<float>(i));
  for (int r = 0; r < rounds; ++r)
    for (int i = 0; i < kChains; ++i) chains[i] = mulAdd(chains[i], factor, addend);
  V sum{};
  for (int i = 0; i < kChains; ++i) sum = sum + chains[i];
  *result = sumOfLanes(sum);
  return 2.0 * kChains * kLanes * rounds;
}

}  // namespace attention::kernels::KERNEL_NAMESPACE

#ifdef PEAK_EXPORTED
extern "C" __attribute__((export_name("peak"))) double exportedPeak(int rounds, float seed) {
  float result = 0.0f;
  const double operations = attention::kernels::KERNEL_NAMESPACE::peak(rounds, seed, &result);
  return result == 0.0f ? 0.0 : operations;
}
#endif
