// Tensors as text printed by NumPy, PyTorch or Python, for pasting.
#pragma once

#include <string>
#include <string_view>

#include "files/formats/array.h"

namespace files {

/// Does the text start like a printed tensor, a list or a dictionary ("[[", "tensor(", "array(", "q = [",
/// "{'q': ")?
bool isPrinted(std::string_view text);

/// Converts it to JSON: a nested list, or an object if the tensors have names. Understands [[1. 2.] [3. 4.]]
/// without commas, tensor(…) and array(…) with additional arguments, tuples, True, False, nan and inf. An
/// error, with the position, for numbers abbreviated with "..." by the printing program, and for anything
/// else.
Result<std::string> jsonOfPrinted(std::string_view text);

}  // namespace files
