// How explanations write sums and indices.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "attention/layer/explain.h"

namespace attention::explanation_format {

/// "₁₂" for 12.
std::string subscript(int number);

/// A number behind an operator, or as a factor: in parentheses where it is negative. It may have a mark before it.
std::string operand(std::string number);

/// One summand as written, and the cells whose numbers are in it.
using Piece = std::pair<std::string, std::vector<CellRef>>;

/// Appends "a + b + … + y + z": `count` pieces with `between` between them, the middle of a long sum left out along
/// with its cells.
void join(const std::function<Piece(int)>& piece, int count, const char* between, std::string& text,
          std::vector<CellRef>& cells);

}  // namespace attention::explanation_format
