// What the fuzz targets share: an invariant that does not hold ends the program, which libFuzzer reports with the input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "attention/error.h"
#include "document/sentence.h"

#define HOLDS(condition) \
  do {                   \
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

/// Every refusal is a sentence that begins with its field, in valid UTF-8.
inline void checkSentence(const attention::Error& error) {
  HOLDS(!error.field.empty());
  HOLDS(error.message.size() > error.field.size() && error.message.starts_with(error.field));
  HOLDS(error.message.back() == '.' || error.message.back() == '?');
  for (std::string_view rest = error.message; !rest.empty();) {
    const int length = document::utf8Length(rest);
    HOLDS(length > 0);
    rest.remove_prefix(static_cast<std::size_t>(length));
  }
}

/// Reads a few choices off the input; 0 once it is used up.
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

}  // namespace fuzz
