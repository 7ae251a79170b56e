// Tensors as stored in files: bytes of some type, in some order. Converting between files does not round.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "files/formats/array.h"

namespace files {

/// The types that occur in files. Texts are those of NumPy (U and S) and of JSON.
enum class Type : std::uint8_t {
  float64,
  float32,
  float16,
  bfloat16,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  boolean,
  text
};

std::string_view name(Type type);  ///< "float64", …, "bool", "text"
std::optional<Type> typeNamed(std::string_view name);
int bytesOf(Type type);  ///< per value; 0 for text

/// One tensor. `bytes` points into the file, which must outlive it, or into `owned`.
struct Stored {
  std::string name;
  Type type = Type::float32;
  Shape shape;
  bool isColumnMajor = false;  ///< the first axis is contiguous (Fortran order)
  bool isBigEndian = false;
  std::string_view bytes;  ///< as many as shape and type require
  std::shared_ptr<const char[]> owned;
  std::vector<std::string> texts;  ///< for Type::text, in place of bytes
};

inline constexpr std::size_t kMaxRank = 32;           ///< of a tensor, as in NumPy
inline constexpr std::size_t kMostTensors = 100'000;  ///< in one file
inline constexpr std::size_t kMostTexts =
    100'000;  ///< in one file: each takes many times its length in memory

/// Texts of a trained model (trained_model.h): notes in safetensors, and tensors of texts elsewhere.
inline constexpr std::string_view kModelTexts[] = {"training", "vocabulary", "classes", "source_vocabulary"};

/// The content of a file.
struct StoredFile {
  bool isState = false;  ///< JSON with "version", for document::fromText(); it has no tensors then
  std::vector<Stored> tensors;
  std::vector<std::pair<std::string, std::string>> notes;  ///< the metadata of safetensors
  /// The row of a table, from 1, that was taken as a heading and left out; 0 if there was none.
  std::size_t heading = 0;
};

/// The one tensor of a file that passes checkWritable() for a format that holds one.
const Stored& onlyOf(const StoredFile& file);

/// A name that two of the tensors have; null if there is none.
const std::string* repeatedName(const StoredFile& file);

/// The product of the sizes; nothing if one is negative or the product exceeds 2^60.
std::optional<std::int64_t> checkedCount(const Shape& shape);

/// Allocates memory without zeroing it; null if there is not enough.
std::shared_ptr<char[]> memoryFor(std::size_t bytes);

/// The same tensor in row-major order and little-endian, as in safetensors, by default in NumPy, and in our
/// own files. Not copied if it already is. An error if there is not enough memory.
Result<Stored> plain(Stored tensor);

/// What a tensor may hold: finite numbers; those of a mask, which are also infinities and booleans; or
/// infinities and NaN as well, which Array::isFinite then says.
enum class Holds : std::uint8_t { finite, mask, any };
/// Its values as row-major 32-bit floats, each rounded once to nearest. An error, with a sentence that names
/// the tensor and the cell, for what it may not hold, numbers beyond the range of float, texts, and integer
/// masks, which could be meant as numbers to add or as booleans.
Result<Array> arrayOf(Stored tensor, Holds holds = Holds::finite);

/// A tensor of 32-bit floats that the caller owns.
Stored storedOf(std::string name, Shape shape, const std::vector<float>& values);
/// The same, or a copy as 64-bit integers if the array holds indices.
Stored storedOf(const NamedArray& array);

/// One value, as a double or an integer; `tensor` must be plain().
struct Number {
  enum class Kind : std::uint8_t { real, whole, natural, boolean };
  Kind kind = Kind::real;
  double real = 0;
  std::int64_t whole = 0;
  std::uint64_t natural = 0;
};
Number valueAt(const Stored& tensor, std::size_t index);

/// A name from a file, for use as the field of an error: on one line, valid UTF-8, of limited length; "file"
/// if it is empty.
std::string fieldOf(std::string_view name);

/// The indices of a value, such as "[0, 3, 2]".
std::string placeOf(const Shape& shape, std::size_t index);

/// Conversion of binary16 and bfloat16 bit patterns (IEEE 754-2019, 3.4; bfloat16 is the upper half of
/// binary32).
float floatOfHalf(std::uint16_t bits);
float floatOfBrain(std::uint16_t bits);
/// Rounds to nearest, ties to even; NaN stays NaN, numbers beyond the range become infinite.
std::uint16_t halfOf(double value);
std::uint16_t brainOf(double value);

}  // namespace files
