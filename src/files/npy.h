// NumPy's .npy: one array. The format: numpy.lib.format, versions 1.0, 2.0 and 3.0.
#pragma once

#include <string>
#include <string_view>

#include "files/stored.h"

namespace files {

inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// Reads one without copying its numbers. Both byte orders, C and Fortran order, floats of 16 to 64 bits, integers, booleans,
/// texts; <V2, as ml_dtypes saves bfloat16, is that. Refused, with a sentence of what was found and what was expected, in the
/// field `name`: headers that lie or are not one, arrays of Python objects, which are pickled, records, complex numbers,
/// dates, and files that end too early or go on.
Result<Stored> readNpy(std::string_view bytes, std::string_view name);

/// The header that stands before the numbers of a plain() tensor, or before texts of a width. Version 1.0, byte for byte as NumPy
/// writes it; `descr` is NumPy's name of the type.
std::string npyHeader(std::string_view descr, const Shape& shape);
/// "<f4", "|b1" …; none of bfloat16 and texts.
std::string npyDescr(Type type);

}  // namespace files
