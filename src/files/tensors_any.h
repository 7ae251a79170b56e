// Tensors of any names in JSON, with their types kept: for conversions. What a layer is computed from is read by tensors_json.h.
#pragma once

#include <functional>
#include <string_view>

#include "files/stored.h"

namespace files {

/// Reads {"name": {"shape", "data", "dtype"} or nested lists or one value, …} or one nested list, which is called `name`; lists of
/// texts are tensors of texts, and "options" a note. Without a dtype numbers are float32. "nan", "inf" and "-inf" are numbers.
/// Refused, with a sentence that says where: what is not JSON, ragged rows, values that do not fit type or shape.
Result<StoredFile> readAnyJson(std::string_view text, std::string_view name);

/// Writes plain() tensors as readAnyJson() reads them and, of float32, as writeTensors() does. Stops when `put` returns
/// false, and returns it.
bool writeAnyJson(const StoredFile& file, const std::function<bool(std::string_view)>& put);

}  // namespace files
