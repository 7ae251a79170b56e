// The readers of files. They accept arbitrary bytes, and return either the content or an error with one
// sentence.
#pragma once

#include <string_view>

#include "document/text.h"
#include "files/layout/tensors_file.h"

namespace files {

/// The state that a file describes: a state text, or tensors as for `attn run`, with the same reader and the
/// same numbers. `current` provides theme and decimals and, for tensors, the seed, where the file does not
/// contain them. The items of a batch become those of the board. A boolean mask shared by all heads and items
/// is painted; any other mask becomes the bias. An error, with a sentence, for what readTensorsFile() and
/// document::fromText() refuse, and what the board cannot hold.
Result<document::State> readState(std::string_view bytes, const document::State& current);

/// The same for tensors that are already in memory.
Result<document::State> stateOf(TensorsFile file, const document::State& current);
/// The same before document::hideNotFinite() and document::check().
Result<document::State> rawStateOf(TensorsFile file, const document::State& current);

}  // namespace files
