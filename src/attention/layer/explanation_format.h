// How explanations write sums and indices.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "attention/layer/explain.h"

namespace attention::explanation_format {

/// "₁₂" for 12.
std::string subscript(int number);
/// "saw₂" for the second token; only its name if that is t2, and only its number if it has none.
std::string token(const std::vector<std::string>& labels, int index);
/// "q₁" for q and 0.
inline std::string nth(const char* letter, int index) { return letter + subscript(index + 1); }

/// A number after an operator, or as a factor: in parentheses if negative. It may be preceded by a mark.
std::string operand(std::string number);

/// The text of one summand, and the cells whose numbers appear in it.
using Piece = std::pair<std::string, std::vector<CellRef>>;

/// Appends "a + b + … + y + z": `count` pieces separated by `between`. The middle of a long sum is omitted,
/// with its cells.
void join(const std::function<Piece(int)>& piece, int count, const char* between, std::string& text,
          std::vector<CellRef>& cells);

/// Adds the lines that make a weight of a score: exp(s − max) over these scores, and the division, called
/// `divides`, by the sum of all of them.
void addSoftmax(std::span<const float> scores, double score, double weight, base::Message divides,
                int decimals, Explanation& to);

}  // namespace attention::explanation_format
