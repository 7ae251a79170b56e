// Tensors of any type and rank in JSON.
#pragma once

#include <functional>
#include <string_view>

#include "files/formats/stored.h"

namespace files {

/// Reads {"name": {"shape", "data", "dtype"}, …}, where a nested list or a single value may replace an
/// object, or one nested list, which is called `name`. Lists of texts become tensors of texts, and "options"
/// a note. Numbers without a dtype are float32. "nan", "inf" and "-inf" are numbers. A text with "version" is
/// a state (StoredFile::isState), and read no further. An error, with the position, for invalid JSON, ragged
/// rows, duplicate names, and values that do not match type or shape.
Result<StoredFile> readJson(std::string_view text, std::string_view name);

/// Writes plain() tensors in the format of readJson(), one per line. Floats have the fewest digits that read
/// back to the same bits. Stops when `put` returns false, and returns its result.
bool writeJson(const StoredFile& file, const std::function<bool(std::string_view)>& put);

}  // namespace files
