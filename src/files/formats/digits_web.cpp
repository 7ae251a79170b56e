// std::to_chars would add 120 KB of tables.
#include "base/number.h"
#include "files/formats/digits.h"

namespace files {

std::string digitsOf(float value) { return base::shortest(value); }
std::string digitsOf(double value) { return base::shortest(value); }

}  // namespace files
