// A state as bytes, for the web page, where files are read by a different program (WebAssembly module) from
// the one that draws.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "document/state.h"
#include "files/layout/state_tensors.h"

namespace files {

/// Options as text, followed by the numbers in memory format; not meant for files. Theme, decimals and
/// unknown fields are omitted.
std::string packed(const document::State& state);
/// The same with the options in `shown`, which may only differ in view options.
std::string packed(const document::State& state, const document::Settings& shown);

/// The same bytes to be read one after the other, without a copy of the numbers: valid as long as the state
/// is as it was.
class Packing {
 public:
  Packing(const document::State& state, const document::Settings& shown);
  std::size_t size() const { return size_; }
  /// All that precedes the numbers.
  const std::string& head() const { return head_; }
  /// All of them as pieces that follow each other, the head first; none is empty, and there is none beyond
  /// the last.
  std::string_view piece(std::size_t index) const {
    return index == 0                 ? std::string_view(head_)
           : index <= numbers_.size() ? numbers_[index - 1]
                                      : std::string_view();
  }
  void read(std::size_t from, std::size_t count, char* to) const;
  std::string whole() const;

 private:
  template <class Number>
  void add(std::span<const Number> numbers) {
    if (numbers.empty()) return;
    numbers_.emplace_back(reinterpret_cast<const char*>(numbers.data()), numbers.size_bytes());
    size_ += numbers.size_bytes();
  }

  std::string head_;
  std::vector<std::string_view> numbers_;
  std::size_t size_ = 0;
};

/// Do the bytes start like the result of packed()?
bool isPacked(std::string_view bytes);
/// The inverse of packed(), with theme and decimals of `current`. An error for bytes that packed() did not
/// write. document::check() is left to Document::open(), which reads all numbers for it.
Result<document::State> unpacked(std::string_view bytes, const document::State& current);

/// The same for a sequence of states; fast if they differ only in their numbers.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Result<document::State> read(std::string_view bytes, const document::State& current);

 private:
  struct Head;
  std::unique_ptr<Head> head_;
};

/// Reads a line with one option, such as "causal true"; false if it is not one.
bool readOption(std::string_view line, document::Settings& settings);

/// The same for the tensors of a state.
std::string packed(const StateTensors& tensors);
Result<StateTensors> unpackedTensors(std::string_view bytes);

}  // namespace files
