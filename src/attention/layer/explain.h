// Where a value came from and what it affects: one description for the inspector, for JavaScript and for the
// highlighting of cells.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/trace.h"
#include "base/message.h"

namespace attention {

/// One cell of one tensor.
struct CellRef {
  TensorId tensor = TensorId::weights;
  int head = 0, row = 0, col = 0;
  bool operator==(const CellRef&) const = default;
};

/// A block of cells of one tensor.
struct Region {
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0, rows = 1, cols = 1;
  bool contains(int r, int c) const { return r >= row && r < row + rows && c >= col && c < col + cols; }
  bool operator==(const Region&) const = default;
};

/// The size from which a number of that tensor is not the computed one but a bound: a score or projection too
/// large for a float is replaced by ±FLT_MAX, which the scale may make smaller. Infinity for inputs, which
/// are what they are.
float cutOffFrom(const Spec& spec, const Inputs& inputs, TensorId id);

/// Restricts which blocks are returned: a bit for each tensor, and for tensors with query heads one head, or
/// −1 for all.
struct Wanted {
  std::uint64_t tensors = ~std::uint64_t{0};
  int queryHead = -1;
};

/// The blocks that the cell was computed from, directly and through earlier steps (weights[i,j]: row i of the
/// scores, row i of Q, the rows of K that row i sees …). Empty for an input. In projected layers it reaches
/// back to x and w_*.
std::vector<Region> sources(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted = {});
/// The blocks that the cell contributes to (q[h,i,c]: row i of the scores, weights and head_output of head h,
/// row i of output …). The row of V that a weight is multiplied by is not listed: it is a source of
/// head_output.
std::vector<Region> feeds(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted = {});

/// A number as explanations write it: `decimals` digits after the point (0 to 9), U+2212 as the minus sign,
/// never "−0.00", "−∞" for a masked score, and scientific notation ("3.40e38") from ten million on.
std::string formatNumber(double value, int decimals);
/// A factor such as the temperature: the same, but with all of its digits where rounding would change it by
/// more than 5 %: "0.0003".
std::string formatFactor(float value, int decimals);

/// What a line in the arithmetic of one query row computes, in order of computation.
enum class RowStep : std::uint8_t {
  none,
  /// In a decoder: the key and value of the row's token are added to the cache.
  cache,
  turned_query,
  turned_key,  ///< rotated by rotary positions
  query_side,
  key_side,  ///< a query or key times a matrix of the score
  /// Raw is the score of the pair; dot and lengths are the parts of a cosine.
  dot,
  lengths,
  raw,
  scaled,
  capped,
  biased,
  masked,
  temperatureScaled,
  maximum,
  threshold,
  exponentials,
  sum,
  weights,
  masked_after,  ///< the named mistake: masking the weights after softmax
  values,
  concat,
  output,
};

/// One line of arithmetic, with the real numbers in it.
struct Term {
  base::Message label;         ///< "q₄ · k₃", "÷ √3", "mask", "exp(s − max)", "÷ Σ row", "adds to output"
  base::Message text;          ///< "0.20×0.30 + (−0.70)×(−0.50) + 1.60×1.40 = 2.65"
  double value = 0.0;          ///< the result of the line, unrounded
  std::vector<CellRef> cells;  ///< the cells whose numbers appear in it, in order
  RowStep step = RowStep::none;
};

/// Marks: control characters that explain() puts before a number, when asked to.
namespace mark {
inline constexpr char kCell = 1;  ///< the number is that of the next cell in Term::cells
inline constexpr char kSum = 2;   ///< the number is a sum that is not a cell of any tensor
inline constexpr char kMade = 3;  ///< the number is computed from the next cell in Term::cells
}  // namespace mark

/// How one value was computed.
struct Explanation {
  base::Message name;  ///< "W[saw₄, a₃]"
  std::string value;   ///< "0.69"; empty: not to be told yet
  std::vector<Term> terms;
  base::Message title() const;  ///< "W[saw₄, a₃] = 0.69"
  base::Message text() const;   ///< title and terms as lines
};

/// The labels of the query tokens and of the key tokens, which may be the same. Where a list is too short,
/// numbers are used. An argument: it only refers to them.
struct TokenLabels {
  TokenLabels(const std::vector<std::string>& ofBoth) : queries(ofBoth), keys(ofBoth) {}
  TokenLabels(const std::vector<std::string>& ofQueries, const std::vector<std::string>& ofKeys,
              bool areQueriesColumns = false)
      : queries(ofQueries),
        keys(ofKeys),
        isTurned(areQueriesColumns) {}
  const std::vector<std::string>&queries, &keys;
  bool isTurned = false;  ///< the row of a query is called a column, as where tokens are columns
};

/// Explains one value of the trace with `decimals` digits. A long sum shows only its first and last terms,
/// with "…" between. Never empty for a valid cell. `marked`: every number is preceded by a mark that says
/// where it comes from, for drawing.
Explanation explain(const ComputedLayer& layer, CellRef cell, const TokenLabels& labels, int decimals,
                    bool marked = false);

}  // namespace attention
