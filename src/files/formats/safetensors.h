// The .safetensors format, as defined by Hugging Face: the length of a JSON header in 8 bytes, the header,
// the numbers.
#pragma once

#include <functional>
#include <string_view>

#include "files/formats/stored.h"

namespace files {

/// Reads a file without copying its numbers. Supports floats of 16 to 64 bits, bfloat16, integers and
/// booleans. An error, with a sentence that names the tensor, for invalid headers, tensors that overlap,
/// leave gaps or extend beyond the end, 8-bit floats, complex numbers, and more than 100,000 tensors.
Result<StoredFile> readSafetensors(std::string_view bytes);

/// Do the bytes start like such a file: with a length that fits and an object?
bool isSafetensors(std::string_view bytes);

/// The same file with its texts moved to the notes, lists as JSON: safetensors stores texts only in its
/// metadata.
StoredFile withNotes(const StoredFile& file);
/// Writes plain() tensors, aligned to their type, largest types first and then by name, as the safetensors
/// package does. Texts must be converted by withNotes() first. Stops when `put` returns false, and returns
/// its result.
bool writeSafetensors(const StoredFile& file, const std::function<bool(std::string_view)>& put);

}  // namespace files
