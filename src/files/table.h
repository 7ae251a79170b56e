// Tables of numbers as text: .csv and .tsv, as spreadsheets, pandas and numpy.savetxt write them.
#pragma once

#include <functional>
#include <string_view>

#include "files/stored.h"

namespace files {

/// Reads a table as one tensor of float64, or of bool where every cell is true or false; `name` is its name. Empty lines between blocks of equal size
/// make a third axis. `mark` separates cells; where it is a comma and the first line has semicolons, those do, and commas are decimal. A first
/// row of words is a heading and left out; a first column of words is the tensor "labels" beside it. Lines that begin with # are comments.
/// Refused, with a sentence that names row and column, counted from 1 as spreadsheets do: ragged rows, empty cells, and what is no number.
Result<StoredFile> readTable(std::string_view text, char mark, std::string_view name);

/// Can a table hold it: numbers or booleans of at most three axes?
Result<void> checkTable(const Stored& tensor);

/// Writes a plain() tensor that passes checkTable(), with the fewest digits that read back to the same value; one axis is a column. Stops
/// when `put` returns false, and returns it.
bool writeTable(const Stored& tensor, char mark, const std::function<bool(std::string_view)>& put);

/// A value of a plain() tensor as text: the fewest digits that its type needs, "inf", "nan", "true".
std::string textOf(const Stored& tensor, std::size_t index);

}  // namespace files
