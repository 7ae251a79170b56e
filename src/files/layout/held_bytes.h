// Bytes that are kept for long, most of which may be numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace files {

/// Numbers that are hundredths, as seeds and readers give, take half of their memory.
class HeldBytes {
 public:
  HeldBytes() = default;
  explicit HeldBytes(std::string bytes);

  std::size_t size() const { return plain_.size() + sizeof(float) * numbers_.size(); }
  /// Hands them over in pieces.
  void put(const std::function<void(std::string_view)>& to) const;
  std::string text() const;

 private:
  struct Run {
    std::size_t plain = 0, numbers = 0;  ///< so many bytes as they are, and then so many numbers
  };
  std::string plain_;
  std::vector<std::int16_t> numbers_;
  std::vector<Run> runs_;
};

}  // namespace files
