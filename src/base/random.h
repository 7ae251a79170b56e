// Random numbers that are the same on every machine, because they are computed from integers; the last bits
// of log() and cos() differ between libraries.
#pragma once

#include <array>
#include <cstddef>
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

/// One standard deviation of normalSums(): 65536 · √(16/12), rounded up to an integer.
inline constexpr std::int64_t kNormalUnit = 75675;

/// Approximately normal with mean 0: each the sum of sixteen uniform 16-bit numbers, taken from `bits` and
/// from further words that mix() derives from it. Its kurtosis is 2.93, that of a normal distribution 3. Two
/// at once take less time than one after the other, because each mix() waits for the one before it. Rejected:
/// the Box–Muller transform, whose logarithm and cosine differ from one library to the next.
template <std::size_t count>
std::array<std::int64_t, count> normalSums(std::array<std::uint64_t, count> bits) {
  constexpr std::int64_t kMean = 16 * 65535 / 2;
  constexpr std::uint64_t kParts = 0x0000ffff0000ffffu;
  std::array<std::uint64_t, count> sums{};  // each of two 32-bit halves, which do not overflow
  for (int word = 0; word < 4; ++word)
    for (std::size_t i = 0; i < count; ++i) {
      sums[i] += (bits[i] & kParts) + (bits[i] >> 16 & kParts);
      bits[i] = mix(bits[i]);
    }
  std::array<std::int64_t, count> out;
  for (std::size_t i = 0; i < count; ++i)
    out[i] = static_cast<std::int64_t>((sums[i] & 0xffffffffu) + (sums[i] >> 32)) - kMean;
  return out;
}

/// A stream of independent draws from N(0, 1), determined by a seed.
class NormalRandom {
 public:
  /// Skips the first `first` draws.
  explicit NormalRandom(std::uint64_t seed, std::uint64_t first = 0) : state_(mix(seed) + first) {}
  double next() {
    return static_cast<double>(normalSums<1>({mix(state_++)})[0]) / static_cast<double>(kNormalUnit);
  }

 private:
  std::uint64_t state_;
};

}  // namespace base
