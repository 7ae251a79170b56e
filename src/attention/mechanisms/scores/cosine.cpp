// q·k / (|q|·|k|) (Graves et al. 2014, eq. 6); 0 where one of them is 0.
#include <algorithm>
#include <cmath>

#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

/// 1 ÷ the norm, in double, where it neither overflows nor underflows; 0 for a row of zeros.
double perNorm(const float* row, int count) {
  double squares = 0.0;
  for (int c = 0; c < count; ++c) squares += double{row[c]} * double{row[c]};
  return squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
}

/// x ÷ |x|, and ∂x = (∂u − (∂u·u)·u) ÷ |x| for u = x ÷ |x|; 0 where x is 0.
constexpr ScoreSide kDirection{
    .make =
        [](const Matrix& rows, const Matrix&, Products&, Tensor& made) {
          made.reshape(1, rows.rows, rows.cols);
          for (int i = 0; i < rows.rows; ++i) {
            const float* row = rows.data + i * rows.stride;
            const double factor = perNorm(row, rows.cols);
            for (int c = 0; c < rows.cols; ++c)
              made.at(0, i, c) = static_cast<float>(double{row[c]} * factor);
          }
        },
    .gradient =
        [](const Matrix& rows, const Matrix&, Products&, ScoreSideMemory& memory) {
          for (int i = 0; i < rows.rows; ++i) {
            const float *unit = memory.made.row(0, i), *d = memory.dMade.row(0, i);
            const double factor = perNorm(rows.data + i * rows.stride, rows.cols);
            double along = 0.0;
            for (int c = 0; c < rows.cols; ++c) along += double{d[c]} * double{unit[c]};
            for (int c = 0; c < rows.cols; ++c)
              memory.dRows.at(0, i, c) = saturate((double{d[c]} - along * double{unit[c]}) * factor);
          }
        },
};

/// Adds the line for the norm of a row, and returns the norm.
double addNorm(ExplainedCell& cell, const std::string& row, const std::function<CellRef(int)>& column) {
  double squares = 0.0;
  for (int c = 0; c < cell.spec.headDim; ++c) squares += cell.at(column(c)) * cell.at(column(c));
  const double norm = std::sqrt(squares);
  cell.addJoined(
      RowStep::lengths, "|" + row + "|", norm, {"√(", " + ", ")" + cell.equals(norm)}, cell.spec.headDim,
      [&](int c) { return explanation_format::Piece(cell.operand(column(c)) + "²", {column(c)}); });
  return norm;
}

void explainCosine(ExplainedCell& cell) {
  double dot = 0.0;
  for (int c = 0; c < cell.spec.headDim; ++c) dot += cell.at(cell.queryCell(c)) * cell.at(cell.keyCell(c));
  cell.addDot(RowStep::dot, dot);
  const double q =
      addNorm(cell, explanation_format::nth("q", cell.row), [&](int c) { return cell.queryCell(c); });
  const double k =
      addNorm(cell, explanation_format::nth("k", cell.col), [&](int c) { return cell.keyCell(c); });
  const double raw = cell.at(TensorId::raw);
  cell.add(RowStep::raw, "÷ lengths",
           q == 0.0 || k == 0.0
               ? base::message({base::Message("a row of zeros has no direction"), ", so ", cell.number(raw)})
               : base::Message(cell.number(dot) + " ÷ (" + cell.number(q) + " × " + cell.number(k) +
                               ") = " + cell.number(raw)),
           raw, {});
}

}  // namespace

constinit const ScoreMechanism cosine{
    .title = "Cosine",
    .about = "q·k ÷ (|q|·|k|)",
    .query = kDirection,
    .key = kDirection,
    .compare =
        [](const Compared& rows, int query, const float*, float* raw) {
          const Matrix& keys = rows.keys;
          kernels::dots(kernels::best(), rows.queries.data + query * keys.cols, keys.data, keys.stride,
                        keys.rows, keys.cols, raw, 1);
          for (int j = 0; j < keys.rows; ++j)
            raw[j] = std::clamp(raw[j], -1.0f, 1.0f);  // rounding may exceed ±1
        },
};

constinit const ScoreText cosineText{
    .formula = "cos(q, k)",
    .symbols = "q_{i} · k_{j} ÷ (|q_{i}| · |k_{j}|)",
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
