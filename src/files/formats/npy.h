// Arrays as NumPy's formats have them, .npy alone and .npz in an archive. Defined in numpy.lib.format,
// versions 1.0, 2.0 and 3.0.
#pragma once

#include <string>
#include <string_view>

#include "files/formats/stored.h"

namespace files {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Reads an array without copying its numbers. Supports both byte orders, C and Fortran order, floats of 16
/// to 64 bits, integers, booleans and texts; <V2 is read as bfloat16, as ml_dtypes writes it. An error with
/// field `name`, saying what was found and what is expected, for invalid headers, arrays of Python objects
/// (which are pickled), records, complex numbers, dates, and files that are too short or too long.
Result<Stored> readNpyArray(std::string_view bytes, std::string_view name);

/// The header for the numbers of a plain() tensor, or for fixed-width texts. Version 1.0, byte for byte as
/// NumPy writes it; `descr` is NumPy's name of the type.
std::string npyHeader(std::string_view descr, const Shape& shape);
/// NumPy's name of a type: "<f4", "|b1" …, "<V2" for bfloat16. Not for Type::text, whose name depends on the
/// width.
std::string npyDescr(Type type);
/// The tensor with float32 for bfloat16, which NumPy does not have.
Stored npyNumbers(const Stored& tensor);

}  // namespace files
