// What tables of numbers as text, .csv and .tsv, can hold.
#pragma once

#include <string>

#include "files/formats/stored.h"

namespace files {

/// An error if a table cannot hold the tensor: it must be numbers or booleans with at most three axes.
Result<void> checkTable(const Stored& tensor);

/// A value of a plain() tensor as text: with the fewest digits needed for its type, "inf", "nan", "true".
std::string textOf(const Stored& tensor, std::size_t index);

}  // namespace files
