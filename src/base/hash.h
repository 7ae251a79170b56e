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
    for (; count >= 8; at += 8, count -= 8) {
      std::uint64_t word;
      std::memcpy(&word, at, 8);
      add(word);
    }
    std::uint64_t rest = count;
    std::memcpy(&rest, at, count);
    add(rest);
  }
  void add(std::uint64_t word) { value_ = std::rotl((value_ ^ word) * 0x9e3779b97f4a7c15, 29); }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x243f6a8885a308d3;
};

}  // namespace base
