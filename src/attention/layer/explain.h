// Where a value came from and what it feeds: one description for the inspector, for JavaScript and for the
// highlighting of cells.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/trace.h"

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

/// Which of the blocks are asked for: a bit for each tensor, and of those with query heads one head, or −1 for all.
struct Wanted {
  std::uint64_t tensors = ~std::uint64_t{0};
  int queryHead = -1;
};

/// The blocks that the cell was computed from, directly and through the steps before it (weights[i,j]: scores row i,
/// Q row i, K rows that the row sees …). Empty for an input. In projected layers it reaches back to x and w_*.
std::vector<Region> sources(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted = {});
/// The blocks that the cell has a part in (q[h,i,c]: scores, weights, head_output row i of head h, output row i …).
/// For weights also the row of V that it multiplies is NOT listed: that is a source of head_output.
std::vector<Region> feeds(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted = {});

/// A number as explanations write it: `decimals` digits after the point (0 to 9), U+2212 for minus, never "−0.00",
/// "−∞" for a masked score, and "3.40e38" from ten million on.
std::string formatNumber(double value, int decimals);

/// What a line of the arithmetic of a row makes, in the order in which it is made.
enum class RowStep : std::uint8_t {
  none,
  cache,                           ///< of a decoder: the keys and values of its token go to the others
  turned_query, turned_key,        ///< by rotary positions
  query_side, key_side,            ///< a row times a matrix of the score
  dot, lengths, raw,               ///< raw: the score of the pair; before it q·k and the lengths of a cosine
  scaled, capped, biased, masked, tempered,
  maximum, threshold, exponentials, sum, weights,
  masked_after,                    ///< by the mistake of masking the weights
  values, concat, output,
};

/// One line of arithmetic, with the real numbers in it.
struct Term {
  std::string label;   ///< "q₄ · k₃", "÷ √3", "mask", "exp(s − max)", "÷ Σ row", "adds to output"
  std::string text;    ///< "0.20×0.30 + (−0.70)×(−0.50) + 1.60×1.40 = 2.65"
  double value = 0.0;  ///< what the line comes to, unrounded
  std::vector<CellRef> cells;  ///< the cells whose numbers appear in it, in order
  RowStep step = RowStep::none;
};

/// What an explanation puts before a number where it is asked for with marks.
namespace mark {
inline constexpr char kCell = 1;  ///< the number of the next one of Term::cells
inline constexpr char kSum = 2;   ///< a sum that is no cell of a tensor
inline constexpr char kMade = 3;  ///< made of the next one of Term::cells
}  // namespace mark

/// The whole reason for one value.
struct Explanation {
  std::string title;  ///< "W[saw₄, a₃] = 0.69"
  std::vector<Term> terms;
  std::string text() const;  ///< title and terms as plain lines, for screen readers and JavaScript
};

/// Explains one value of the trace with `decimals` digits. `labels` and `keyLabels` are the labels of the tokens that
/// ask and of those that are looked at (they may be shorter than the rows; then numbers stand in). A long sum shows its
/// first and last terms around "…". Never empty for a valid cell. `marked`: numbers have a mark before them that says where
/// they are from, for those who draw the lines.
Explanation explain(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                    const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals, bool marked = false);
/// For self-attention, where the two are the same tokens.
inline Explanation explain(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                           const std::vector<std::string>& labels, int decimals) {
  return explain(spec, inputs, trace, cell, labels, labels, decimals);
}

/// −Σ w·log2(w) of one row of weights, in bits; 0 for a fully masked row.
double entropyBits(const Trace& trace, int head, int row);

}  // namespace attention
