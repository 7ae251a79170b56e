// Shared by the fuzz targets: a violated invariant aborts the program, which libFuzzer reports together with
// the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/sentence.h"

#define HOLDS(condition)                                            \
  do {                                                              \
    if (!(condition)) fuzz::broken(#condition, __FILE__, __LINE__); \
  } while (false)

namespace fuzz {

[[noreturn]] inline void broken(const char* what, const char* file, int line) {
  std::fprintf(stderr, "%s:%d: this does not hold: %s\n", file, line, what);
  std::abort();
}

inline std::string_view text(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

/// Checks that the error names its field, that its sentence does not repeat the field, and that both are
/// valid UTF-8.
inline void checkSentence(const base::Error& error) {
  HOLDS(!error.field.empty());
  HOLDS(!error.sentence.empty() && !error.sentence.english().starts_with(error.field + ": "));
  const std::string message = error.message();
  HOLDS(message.back() == '.' || message.back() == '?');
  for (std::string_view rest = message; !rest.empty();) {
    const int length = base::utf8Length(rest);
    HOLDS(length > 0);
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
}

/// Reads a few choices from the input; every choice is 0 once the input is used up.
class Bytes {
 public:
  Bytes(const std::uint8_t* data, std::size_t size) : data_(data), size_(size) {}
  bool empty() const { return size_ == 0; }
  int byte() {
    if (size_ == 0) return 0;
    --size_;
    return *data_++;
  }
  int below(int limit) { return limit > 0 ? (byte() << 8 | byte()) % limit : 0; }
  std::string_view rest() const { return text(data_, size_); }

 private:
  const std::uint8_t* data_;
  std::size_t size_;
};

/// The input itself, or `valid` with some bytes changed, depending on the first bit of the input.
inline std::string bytesOrChanged(const std::string& valid, const std::uint8_t* data, std::size_t size) {
  if (size == 0 || data[0] % 2 == 0) return std::string(text(data, size));
  std::string bytes = valid;
  for (Bytes changes(data + 1, size - 1); !changes.empty();) {
    const int place = changes.below(static_cast<int>(bytes.size()));
    bytes[static_cast<std::size_t>(place)] = static_cast<char>(changes.byte());
  }
  return bytes;
}

}  // namespace fuzz
