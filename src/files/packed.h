// A state as bytes: for the page, where what reads files is another program than what draws.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "files/state_tensors.h"
#include "document/state.h"

namespace files {

/// Options as text, then the numbers as they lie in memory; not for files. Theme, decimals and fields that nobody knows are left out.
std::string packed(const document::State& state);
/// The same with other options than its own, which differ in how it is shown.
std::string packed(const document::State& state, const document::Settings& shown);

/// Does it begin as such bytes do?
bool isPacked(std::string_view bytes);
/// Back, with the theme and the decimals of `current`. Refused: bytes that packed() did not make, and what document::check() refuses.
Result<document::State> unpacked(std::string_view bytes, const document::State& current);

/// The same of many states, one after another; fast where they differ in their numbers alone.
class Unpacker {
 public:
  Unpacker();
  ~Unpacker();
  Result<document::State> read(std::string_view bytes, const document::State& current);

 private:
  struct Head;
  std::unique_ptr<Head> head_;
};

/// A line "causal true" of an option; false where it is none.
bool readOption(std::string_view line, document::Settings& settings);

/// The same of its tensors.
std::string packed(const StateTensors& tensors);
Result<StateTensors> unpackedTensors(std::string_view bytes);

}  // namespace files
