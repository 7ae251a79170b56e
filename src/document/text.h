// State text: JSON in and out.
#pragma once

#include <string>
#include <string_view>

#include "document/option.h"

namespace document {

/// The longest text that is read, in bytes.
inline constexpr std::size_t kMaxTextBytes = 64u << 20;

/// Version-1 state text. Floats are written with the fewest digits that read back to the same bits.
/// {"version": 1, "preset": …, <options by name>, "x": {"shape": […], "data": […]}, "w_q": …, "mask": …}
/// Options that came later than others are left out where they have their default (Stored, option.h).
/// "pages" (only of a batch) are the other items in their order: {"labels": […], "q": …, "k": …, …} each.
/// Parameters around the layer ("gamma_1", "w_1", "token_query" …, parameter.h) stand there only where they were changed.
/// "bias" [1 or heads, tokens, key tokens] stands there only where something is added to the scores; "-inf" masks.
/// "mask" (only if something is painted) is {"shape", "dtype": "bool", "data"}: true where visible.
std::string toText(const State& state);

/// Reads state text. Tensors may be nested lists too. `current` gives the theme and the decimals where the text does not
/// say them. Files that are tensors alone are for files::readState(). Strict: unknown major versions, wrong types, sizes (before allocation), ragged rows, NaN and
/// infinities are refused, each with a sentence.
Result<State> fromText(std::string_view text, const State& current);

/// One value as JSON text ("true", "0.5", "\"auto\"", "[\"I\",\"saw\"]"), and back.
std::string toJson(const Value& value);
Result<Value> valueFromJson(std::string_view json, std::string_view field);

/// Cells as tab-separated text, rows ended by line feeds, and back (tabs, semicolons, commas or spaces between
/// numbers; − and - are minus; beside tabs and semicolons a comma is decimal). Ragged rows and words that are no
/// numbers are refused. `transposed`: a column of the tensor is a row of the text.
std::string toTsv(const Tensor& tensor, int head, int row, int col, int rows, int cols, bool transposed = false);
struct CellBlock {
  int rows = 0, cols = 0;
  std::vector<float> values;
};
Result<CellBlock> fromTsv(std::string_view text);
/// The one number that the text is: "-0.8", " −0,8 ", "1e-3".
Result<float> numberFrom(std::string_view text, std::string_view field);

}  // namespace document
