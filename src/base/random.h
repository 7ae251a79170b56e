// Random numbers that are the same on every machine, because they are computed from integers; the last bits
// of log() and cos() differ between libraries.
#pragma once

#include <cstdint>

namespace base {

/// The output function of SplitMix64 (Steele, Lea and Flood 2014): every bit of the input affects every bit
/// of the result.
inline std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One standard deviation of normalSum(): 65536 · √(16/12), rounded up to an integer.
inline constexpr std::int64_t kNormalUnit = 75675;

/// Approximately normal with mean 0: the sum of sixteen uniform 16-bit numbers, taken from `bits` and from
/// further words that mix() derives from it. Its kurtosis is 2.93, that of a normal distribution 3. Rejected:
/// the Box–Muller transform, whose logarithm and cosine differ from one library to the next.
inline std::int64_t normalSum(std::uint64_t bits) {
  constexpr std::int64_t kMean = 16 * 65535 / 2;
  constexpr std::uint64_t kParts = 0x0000ffff0000ffffu;
  std::uint64_t sums = 0;  // two 32-bit halves; neither overflows
  for (int word = 0; word < 4; ++word) {
    sums += (bits & kParts) + (bits >> 16 & kParts);
    bits = mix(bits);
  }
  return static_cast<std::int64_t>((sums & 0xffffffffu) + (sums >> 32)) - kMean;
}

/// A stream of independent draws from N(0, 1), determined by a seed.
class NormalRandom {
 public:
  /// Skips the first `first` draws.
  explicit NormalRandom(std::uint64_t seed, std::uint64_t first = 0) : state_(mix(seed) + first) {}
  double next() { return static_cast<double>(normalSum(mix(state_++))) / static_cast<double>(kNormalUnit); }

 private:
  std::uint64_t state_;
};

}  // namespace base
