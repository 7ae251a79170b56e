// How web/core.js learns where the members of a call are: a table for each struct that it fills in.
#pragma once

#include <cstddef>

namespace attention {

/// A member under its name in core.js, and which 32-bit word of the struct it is; of a matrix, the first of
/// three: its address, and the strides of heads and rows. A table ends with a null name.
struct CoreWord {
  const char* name;
  std::size_t at;
};

}  // namespace attention
