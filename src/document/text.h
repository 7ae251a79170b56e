// State text: JSON in and out.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "document/option.h"

namespace document {

/// The longest text that is read, in bytes.
inline constexpr std::size_t kMaxTextBytes = 166u << 20;

/// Writes version-1 state text. Floats are written with the fewest digits that read back to the same bits.
///   {"version": 1, "preset": …, <options by name>, "x": {"shape": […], "data": […]}, "w_q": …, "mask": …}
/// Options added later are omitted where they have their default (Stored, option.h).
/// "pages" (only with a batch): the other items in order, each {"labels": […], "q": …, "k": …, …}.
/// Parameters around the layer ("gamma_1", "w_1", "token_query" …, parameter.h): only those that were edited.
/// "bias" [1 or heads, tokens, key tokens]: only where something is added to the scores; "-inf" masks.
/// "mask": only if something is painted; {"shape", "dtype": "bool", "data"}, true where visible.
std::string toText(const State& state);
/// The same piece by piece. Stops when `put` returns false, and returns its result.
bool writeText(const State& state, const std::function<bool(std::string_view)>& put);

/// Parses state text. Tensors may also be nested lists. `current` provides theme and decimals where the text
/// does not contain them. Files with only tensors are read by files::readState(). Strict: unknown major
/// versions, wrong types, sizes beyond the limits (before allocation), ragged rows, NaN and infinities are
/// refused, each with a sentence.
Result<State> fromText(std::string_view text, const State& current);

/// One value as JSON text ("true", "0.5", "\"auto\"", "[\"I\",\"saw\"]"), and back.
std::string toJson(const Value& value);
Result<Value> valueFromJson(std::string_view json, std::string_view field);

/// Cells of one head of a tensor.
struct CellRange {
  int head = 0, row = 0, col = 0, rows = 1, cols = 1;
};
/// Cells as tab-separated text with rows ended by line feeds, and back. When reading, numbers may be
/// separated by tabs, semicolons, commas or spaces; both − and - are minus signs; a comma is a decimal
/// separator if there are tabs or semicolons. Ragged rows and words that are not numbers are refused.
/// `transposed`: a column of the tensor is a row of the text.
std::string toTsv(const Tensor& tensor, const CellRange& cells, bool transposed = false);
struct CellBlock {
  int rows = 0, cols = 0;
  std::vector<float> values;
};
Result<CellBlock> fromTsv(std::string_view text);
/// The number in a text: "-0.8", " −0,8 ", "1e-3". An error if there is anything else.
Result<float> numberFrom(std::string_view text, std::string_view field);

}  // namespace document
