// Random numbers that are the same on every machine: made from integers, and not by a logarithm or cosine whose last bits differ.
#pragma once

#include <cstdint>

namespace base {

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit of the result.
inline std::uint64_t mix(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/// One standard deviation of normalSum(): 65536 · √(16/12), to the next whole number.
inline constexpr std::int64_t kNormalUnit = 75675;

/// Approximately normal, with mean 0: the sum of sixteen uniform draws of 16 bits, made from `bits` and what mix() makes of them.
/// Its kurtosis is 2.93 where a normal number has 3. Rejected: Box and Muller's transform, whose logarithm and cosine
/// differ from one library to the next.
inline std::int64_t normalSum(std::uint64_t bits) {
  constexpr std::int64_t kMean = 16 * 65535 / 2;
  constexpr std::uint64_t kParts = 0x0000ffff0000ffffu;
  std::uint64_t sums = 0;  // two of 32 bits, which sixteen parts of 16 bits cannot fill
  for (int word = 0; word < 4; ++word) {
    sums += (bits & kParts) + (bits >> 16 & kParts);
    bits = mix(bits);
  }
  return static_cast<std::int64_t>((sums & 0xffffffffu) + (sums >> 32)) - kMean;
}

/// A stream of draws, each from N(0, 1), for one seed.
class NormalRandom {
 public:
  /// `first` draws are left out.
  explicit NormalRandom(std::uint64_t seed, std::uint64_t first = 0) : state_(mix(seed) + first) {}
  double next() { return static_cast<double>(normalSum(mix(state_++))) / static_cast<double>(kNormalUnit); }

 private:
  std::uint64_t state_;
};

}  // namespace base
