// Conversion of numbers to text, by the best method of each platform.
#pragma once

#include <string>

namespace files {

/// The fewest digits that read back to the same bits. Finite numbers only.
std::string digitsOf(float value);
std::string digitsOf(double value);

}  // namespace files
