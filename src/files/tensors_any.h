// Arbitrary tensors in JSON, with their types, for conversions. Layers are read by tensors_json.h.
#pragma once

#include <functional>
#include <string_view>

#include "files/stored.h"

namespace files {

/// Reads {"name": {"shape", "data", "dtype"}, …}, where a nested list or a single value may replace an
/// object, or one nested list, which is called `name`. Lists of texts become tensors of texts, and "options"
/// a note. Numbers without a dtype are float32. "nan", "inf" and
/// "-inf" are numbers. An error, with the position, for invalid JSON, ragged rows, and values that do not
/// match type or shape.
Result<StoredFile> readAnyJson(std::string_view text, std::string_view name);

/// Writes plain() tensors in the format of readAnyJson(), float32 exactly like writeTensors(). Stops when
/// `put` returns false, and returns its result.
bool writeAnyJson(const StoredFile& file, const std::function<bool(std::string_view)>& put);

}  // namespace files
