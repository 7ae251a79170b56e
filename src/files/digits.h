// Numbers as text, by what each platform does it with at its best.
#pragma once

#include <string>

namespace files {

/// The fewest digits that read back to the same bits. Finite numbers only.
std::string digitsOf(float value);
std::string digitsOf(double value);

}  // namespace files
