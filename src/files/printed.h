// Tensors as people paste them: what NumPy, PyTorch and Python print.
#pragma once

#include <string>
#include <string_view>

#include "files/tensors_json.h"

namespace files {

/// Does the text begin as a printed tensor, a list or a dictionary does ("[[", "tensor(", "array(", "q = [", "{'q': ")?
bool isPrinted(std::string_view text);

/// The same as JSON: a nested list, or an object of them where they have names. Knows [[1. 2.] [3. 4.]] without commas, tensor(…) and
/// array(…) with what follows the numbers in them, tuples, True, False, nan and inf. Refused: numbers that were left out with
/// "..." when it was printed, and what is none of these, with the place.
Result<std::string> jsonOfPrinted(std::string_view text);

}  // namespace files
