// .safetensors, as Hugging Face defines it: the length of a JSON header in 8 bytes, the header, the numbers.
#pragma once

#include <functional>
#include <string_view>

#include "files/stored.h"

namespace files {

/// Reads one without copying its numbers: floats of 16 to 64 bits, bfloat16, integers, booleans. Refused, with a sentence
/// that names the tensor: headers that are not JSON or lie, tensors that overlap, leave holes or reach beyond the end,
/// types of 8-bit floats, complex numbers, and more than 100,000 tensors.
Result<StoredFile> readSafetensors(std::string_view bytes);

/// Does it begin as one does: a length that the file has, and an object?
bool isSafetensors(std::string_view bytes);

/// The same with texts as notes, lists of them as JSON: in a file they stand in the metadata.
StoredFile withNotes(const StoredFile& file);
/// Writes plain() tensors, largest types first and then by name, each aligned to its type, as the safetensors package does.
/// Stops when `put` returns false, and returns it. Texts cannot be written; they go as notes.
bool writeSafetensors(const StoredFile& file, const std::function<bool(std::string_view)>& put);

}  // namespace files
