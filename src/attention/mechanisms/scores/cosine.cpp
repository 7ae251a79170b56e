// q·k / (|q|·|k|) (Graves et al. 2014, eq. 6); 0 where one of them is 0.
#include <cmath>

#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

/// Adds the line for the norm of a row, and returns the norm.
double addNorm(ExplainedCell& cell, const std::string& row, const std::function<CellRef(int)>& column) {
  using namespace explanation_format;
  std::string text = "√(";
  std::vector<CellRef> cells;
  double squares = 0.0;
  for (int c = 0; c < cell.spec.headDim; ++c) squares += cell.at(column(c)) * cell.at(column(c));
  join([&](int c) { return Piece(cell.operand(column(c)) + "²", {column(c)}); }, cell.spec.headDim, " + ", text, cells);
  cell.add(RowStep::lengths, "|" + row + "|", text + ") = " + cell.number(std::sqrt(squares)), std::sqrt(squares), std::move(cells));
  return std::sqrt(squares);
}

void explainCosine(ExplainedCell& cell) {
  double dot = 0.0;
  for (int c = 0; c < cell.spec.headDim; ++c) dot += cell.at(cell.queryCell(c)) * cell.at(cell.keyCell(c));
  cell.addDot(RowStep::dot, dot);
  const double q = addNorm(cell, explanation_format::nth("q", cell.row), [&](int c) { return cell.queryCell(c); });
  const double k = addNorm(cell, explanation_format::nth("k", cell.col), [&](int c) { return cell.keyCell(c); });
  const double raw = cell.at(TensorId::raw);
  cell.add(RowStep::raw, "÷ lengths",
           q == 0.0 || k == 0.0 ? "a row of zeros has no direction : " + cell.number(raw)
                                : cell.number(dot) + " ÷ (" + cell.number(q) + " × " + cell.number(k) + ") = " + cell.number(raw),
           raw, {});
}

}  // namespace

constinit const ScoreMechanism cosine{
    .title = "Cosine",
    .about = "q·k ÷ (|q|·|k|)",
    .hasNorms = true,
};

constinit const ScoreText cosineText{
    .formula = "cos(q, k)",
    .latex = R"(\frac{q_i \cdot k_j}{\lVert q_i \rVert \lVert k_j \rVert})",
    .parts = {{{RowStep::dot, "q·k", {TensorId::q, TensorId::k}},
               {RowStep::lengths, "|q|, |k|", {TensorId::q, TensorId::k}},
               {RowStep::raw, "÷ |q||k|", {TensorId::q, TensorId::k}}}},
    .explain = explainCosine,
    .loops = R"(a = 0
b = 0
for c in 1 … {d}:
  s = s + {q}[i,c] × {k}[j,c]
  a = a + {q}[i,c] × {q}[i,c]
  b = b + {k}[j,c] × {k}[j,c]
if a × b > 0: s = s ÷ √a ÷ √b)",
    .program = R"(lengths = (q ** 2).sum(-1)[:, :, None] ** 0.5 * (k ** 2).sum(-1)[:, None] ** 0.5
scores = q @ k{T} / {np}.where(lengths > 0, lengths, 1.0))",
};

}  // namespace attention::scores
