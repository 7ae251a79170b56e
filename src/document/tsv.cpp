#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/text.h"

namespace document {
namespace {

using ErrorKind = Error::Kind;

// Characters that are read as a minus: hyphens and dashes that word processors substitute, and the minus sign
// itself.
constexpr std::string_view kMinuses[] = {"\u2010", "\u2011", "\u2012", "\u2013", "\u2212"};
constexpr std::string_view kBlank = " \r\f\v";

std::string_view trimmed(std::string_view text, std::string_view blank = kBlank) {
  const std::size_t first = text.find_first_not_of(blank);
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, text.find_last_not_of(blank) - first + 1);
}

// Commas separate numbers only if there are neither tabs nor semicolons, otherwise they are decimal; spaces
// separate only if nothing else does.
std::string_view marksOf(std::string_view text) {
  for (const std::string_view marks : {"\t", ";", ","})
    if (text.find(marks) != std::string_view::npos) return marks;
  return " ";
}

std::vector<std::string_view> cellsOf(std::string_view line, std::string_view marks) {
  std::vector<std::string_view> cells;
  for (std::size_t at = 0; at <= line.size() && static_cast<std::int64_t>(cells.size()) <=
                                                    kMaxNumbers;) {  // a longer list is refused in any case
    const std::size_t end = std::min(line.find_first_of(marks, at), line.size());
    const std::string_view cell = trimmed(line.substr(at, end - at));
    if (marks != " " || !cell.empty()) cells.push_back(cell);
    at = end + 1;
  }
  return cells;
}

std::optional<float> numberIn(std::string_view cell) {
  std::string number(cell);
  for (const std::string_view minus : kMinuses)
    if (cell.starts_with(minus)) number.replace(0, minus.size(), "-");
  const std::size_t comma = number.find(',');
  if (comma != std::string::npos && number.find('.') == std::string::npos) number[comma] = '.';
  return base::parseFloat(number);
}

Result<void> addRow(std::string_view line, std::string_view marks, CellBlock& block) {
  const std::vector<std::string_view> cells = cellsOf(line, marks);
  if (block.rows > 0 && static_cast<int>(cells.size()) != block.cols)
    return base::refuse(ErrorKind::range, "cells",
                        {"row ", block.rows + 1, " has ", cells.size(), " numbers, the rows before it ",
                         block.cols, "; give every row the same length."});
  for (std::size_t i = 0; i < cells.size(); ++i) {
    const auto value = numberIn(cells[i]);
    if (!value || !std::isfinite(*value))
      return base::refuse(
          ErrorKind::range, "cells",
          {"row ", block.rows + 1, ", column ", i + 1, ": ", base::inQuotes(cells[i]),
           (value ? " is too large; use -3.4e38 to 3.4e38." : " is no number; give numbers such as -0.5.")});
    block.values.push_back(*value);
  }
  block.cols = static_cast<int>(cells.size());
  ++block.rows;
  return {};
}

Result<void> readRows(std::string_view text, CellBlock& block) {
  if (text.size() > kMaxTextBytes)
    return base::refuse(ErrorKind::memory, "cells",
                        {text.size(), " bytes are too many; use at most ", kMaxTextBytes, "."});
  const std::string_view marks = marksOf(text);
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of("\n\r"), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (trimmed(line).find_first_not_of('\t') == std::string_view::npos) continue;
    if (auto ok = addRow(line, marks, block); !ok) return ok;
    if (static_cast<std::int64_t>(block.values.size()) > kMaxNumbers)
      return base::refuse(ErrorKind::memory, "cells",
                          {"there are more than ", kMaxNumbers, " numbers; give fewer."});
  }
  if (block.rows > 0) return {};
  return base::refuse(ErrorKind::range, "cells", {"there is no number; give numbers separated by tabs."});
}

}  // namespace

std::string toTsv(const Tensor& tensor, const CellRange& cells, bool transposed) {
  std::string out;
  auto [head, row, col, rows, cols] = cells;
  if (transposed) std::swap(row, col), std::swap(rows, cols);
  for (int r = row; r < row + rows; ++r)
    for (int c = col; c < col + cols; ++c) {
      const int i = transposed ? c : r, j = transposed ? r : c;
      if (!tensor.contains(head, i, j)) return {};
      const float value = tensor.at(head, i, j);
      // Masked scores are minus infinity, which spreadsheets know under this name.
      out += std::isfinite(value) ? base::shortest(value) : value < 0 ? "-inf" : "inf";
      out += c + 1 < col + cols ? '\t' : '\n';
    }
  return out;
}

Result<float> numberFrom(std::string_view text, std::string_view field) {
  const std::string_view cell = trimmed(text, " \t\r\n");
  const auto value = numberIn(cell);
  if (value && std::isfinite(*value)) return *value;
  return base::refuse(ErrorKind::range, field,
                      {base::inQuotes(cell), value ? " is too large; use -3.4e38 to 3.4e38."
                                                   : " is not one number; give a number such as -0.5."});
}

Result<CellBlock> fromTsv(std::string_view text) {
  CellBlock block;
  if (auto ok = readRows(text, block); !ok) return ok;
  return block;
}

}  // namespace document
