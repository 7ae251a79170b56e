// Numbers with a shape, as formats read and write them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"

namespace files {

using Shape = std::vector<std::int64_t>;  ///< the sizes of a tensor's axes

using base::Error;
using base::Result;

/// Numbers with a shape; the number of values is the product of the sizes.
struct Array {
  enum class Type : std::uint8_t { float32, float16, boolean };
  Type type = Type::float32;  ///< float16: every value is representable in 16 bits
  Shape shape;                ///< sizes may be 0
  std::vector<float> values;  ///< 0 and 1 for booleans
  bool isFinite = true;       ///< false if there are NaN or infinities
};

/// A tensor with its name in files.
struct NamedArray {
  std::string name;
  Shape shape;
  std::vector<float> values;
  bool isWhole = false;  ///< they are indices, to be stored as int64
};

}  // namespace files
