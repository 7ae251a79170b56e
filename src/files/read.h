// The readers of files: bytes in, what they say or one sentence out. Each may be given anything at all.
#pragma once

#include <string_view>

#include "document/text.h"
#include "files/tensors_json.h"

namespace files {

/// The state that a file describes: a state text, or tensors as `attn run` takes them; the same reader, and the same numbers.
/// `current` gives the theme, the decimals and, for tensors, the seed where the file does not say them. The items of a
/// batch are those of the board. A mask of true and false is painted where all heads and items share it; another
/// one is the bias. Refused, with a sentence: what readTensorsFile() and document::fromText() refuse, and what the board
/// cannot hold.
Result<document::State> readState(std::string_view bytes, const document::State& current);

/// The same of tensors that have been read.
Result<document::State> stateOf(TensorsFile file, const document::State& current);

}  // namespace files
