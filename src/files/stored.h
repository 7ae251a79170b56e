// Tensors as files hold them: bytes of some type, in some order. Nothing is rounded on the way from one file to another.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/tensors_json.h"

namespace files {

using Shape = std::vector<std::int64_t>;

/// The types that files know. Texts are those of NumPy (U and S) and of JSON.
enum class Type : std::uint8_t {
  float64, float32, float16, bfloat16, int8, int16, int32, int64, uint8, uint16, uint32, uint64, boolean, text
};

std::string_view name(Type type);  ///< "float64", …, "bool", "text"
std::optional<Type> typeNamed(std::string_view name);
int bytesOf(Type type);            ///< of one value; 0 of a text

/// One tensor. `bytes` points into the file, which outlives it, or into `owned`.
struct Stored {
  std::string name;
  Type type = Type::float32;
  Shape shape;
  bool isColumnMajor = false;  ///< the first axis runs fastest (Fortran)
  bool isBigEndian = false;
  std::string_view bytes;      ///< as many as shape and type ask for
  std::shared_ptr<const char[]> owned;
  std::vector<std::string> texts;  ///< of Type::text, instead of bytes
};

/// What a file holds.
struct StoredFile {
  std::vector<Stored> tensors;
  std::vector<std::pair<std::string, std::string>> notes;  ///< of safetensors: its metadata
};

/// The product of the sizes; none where one is negative or the product is beyond 2^60.
std::optional<std::int64_t> checkedCount(const Shape& shape);

/// Memory for so many bytes, not zeroed; null where there is none.
std::shared_ptr<char[]> memoryFor(std::size_t bytes);

/// The same tensor row after row and with the low byte first, as safetensors, NumPy's default and our writers have it. What
/// is so already is not copied. Refused: too little memory.
Result<Stored> plain(Stored tensor);

/// Its values as 32-bit floats, row after row, rounded once to the nearest. `isMask` allows infinities, and true and false;
/// other tensors must be finite. Refused, with a sentence that names the tensor and the place: NaN, numbers beyond 32 bits,
/// texts, and a mask of integers, which could be meant to be added or as true and false.
Result<Array> arrayOf(Stored tensor, bool isMask);

/// A tensor of 32-bit floats that are the caller's.
Stored storedOf(std::string name, Shape shape, const std::vector<float>& values);

/// One value as a double or a whole number; `tensor` must be plain().
struct Number {
  enum class Kind : std::uint8_t { real, whole, natural, boolean };
  Kind kind = Kind::real;
  double real = 0;
  std::int64_t whole = 0;
  std::uint64_t natural = 0;
};
Number valueAt(const Stored& tensor, std::size_t index);

/// A name from a file as the field of a sentence: on one line, valid UTF-8, not too long; "file" where it is empty.
std::string fieldOf(std::string_view name);

/// "[0, 3, 2]" of a value of a shape.
std::string placeOf(const Shape& shape, std::size_t index);

/// Binary16 and bfloat16 by their bits (IEEE 754-2019, 3.4; bfloat16 is the upper half of binary32).
float floatOfHalf(std::uint16_t bits);
float floatOfBrain(std::uint16_t bits);
/// To the nearest, ties to even; NaN stays one, numbers beyond the range are infinite.
std::uint16_t halfOf(double value);
std::uint16_t brainOf(double value);

}  // namespace files
