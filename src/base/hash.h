// A 64-bit hash of bytes, to tell quickly whether content has changed.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace base {

/// Mixes in eight bytes at a time. Not resistant to deliberately constructed collisions.
class Hash {
 public:
  void add(const void* bytes, std::size_t count) {
    const auto* at = static_cast<const unsigned char*>(bytes);
    if (count >= kLong) {
      // Four independent hashes, because one waits for each multiplication.
      std::uint64_t lanes[4] = {value_, value_ + 1, value_ + 2, value_ + 3};
      for (; count >= sizeof lanes; at += sizeof lanes, count -= sizeof lanes) {
        std::uint64_t words[4];
        std::memcpy(words, at, sizeof words);
        for (int k = 0; k < 4; ++k) lanes[k] = mixed(lanes[k], words[k]);
      }
      for (const std::uint64_t lane : lanes) add(lane);
    }
    for (; count >= 8; at += 8, count -= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      add(word);
    }
    std::uint64_t rest = count;
    std::memcpy(&rest, at, count);
    add(rest);
  }
  void add(std::uint64_t word) { value_ = mixed(value_, word); }
  std::uint64_t value() const { return value_; }

 private:
  static constexpr std::size_t kLong = 256;
  static std::uint64_t mixed(std::uint64_t value, std::uint64_t word) {
    return std::rotl((value ^ word) * 0x9e3779b97f4a7c15, 29);
  }

  std::uint64_t value_ = 0x243f6a8885a308d3;
};

}  // namespace base
