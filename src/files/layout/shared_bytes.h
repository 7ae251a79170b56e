// Bytes in parts that several may share, and that may have been handed over to where they are kept.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace files {

/// Text that is made of runs of parts. A part never changes, so that a copy costs no more than the list of
/// its runs. Once it has been handed over, only its number and size are left.
class SharedBytes {
 public:
  struct Part {
    std::string bytes;  ///< none once it has been handed over
    std::size_t size = 0;
    std::uint64_t number = 0;  ///< what whoever has it knows it by; 0: nobody

    /// Leaves the bytes, and their memory, to whoever has them now.
    void leaveTo(std::uint64_t holder) {
      number = holder;
      std::string().swap(bytes);  // `= {}` would keep the memory
    }
  };
  struct Run {
    std::shared_ptr<Part> part;
    std::size_t from = 0, count = 0;

    std::string_view bytes() const { return std::string_view(part->bytes).substr(from, count); }
  };

  SharedBytes() = default;
  explicit SharedBytes(std::string bytes) { append(std::move(bytes)); }

  std::size_t size() const { return size_; }
  const std::vector<Run>& runs() const { return runs_; }
  /// Are all of its bytes here?
  bool isHere() const;
  void append(std::string bytes);
  void append(const SharedBytes& other);
  /// So many bytes from there on.
  SharedBytes slice(std::size_t from, std::size_t count) const;
  /// The same bytes, with copies of what is few of a part, so that it need not stay for them.
  SharedBytes compact() const;
  /// All bytes, which must be here, in one piece.
  std::string flat() const;
  /// How many bytes at the beginning, or at the end, are those of the same parts in both.
  std::size_t sharedAtFront(const SharedBytes& other) const;
  std::size_t sharedAtBack(const SharedBytes& other) const;

 private:
  void append(Run run);

  std::vector<Run> runs_;
  std::size_t size_ = 0;
};

}  // namespace files
