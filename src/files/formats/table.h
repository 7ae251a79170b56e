// Tables of numbers as text, .csv and .tsv, as written by spreadsheets, pandas and numpy.savetxt.
#pragma once

#include <functional>
#include <string_view>

#include "files/formats/stored.h"

namespace files {

/// Reads a table as one tensor called `name`, float64, or bool if every cell is true or false. Empty lines
/// between blocks of equal size give a third axis. Cells are separated by `mark`; if that is a comma but the
/// first line that is no comment has semicolons, these separate, and commas are decimal. A first row of words
/// without any number is a heading, which is skipped and named in StoredFile::heading; a first column of
/// words becomes the tensor "labels", unless its first cell alone is a word. Lines end with LF, CR or both;
/// those beginning with # are comments. An error, with a sentence that names row and column counted from 1 as
/// in spreadsheets, for ragged rows, empty cells, cells that are not numbers, and unclosed quotation marks.
Result<StoredFile> readTable(std::string_view text, char mark, std::string_view name);

/// An error if a table cannot hold the tensor: it must be numbers or booleans with at most three axes.
Result<void> checkTable(const Stored& tensor);

/// Writes a plain() tensor that passes checkTable(), with the fewest digits that read back to the same value;
/// a single axis is written as a column. Stops when `put` returns false, and returns its result.
bool writeTable(const Stored& tensor, char mark, const std::function<bool(std::string_view)>& put);

/// A value of a plain() tensor as text: with the fewest digits needed for its type, "inf", "nan", "true".
std::string textOf(const Stored& tensor, std::size_t index);

}  // namespace files
