// qᵀ·W_a·k (Luong et al. 2015, eq. 8, "general").
#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

void explainGeneral(ExplainedCell& cell) {
  using namespace explanation_format;
  const std::vector<double> made =
      cell.addTurned(RowStep::query_side, nth("q", cell.row) + "ᵀ · W_a", TensorId::w_a, true,
                     [&](int c) { return cell.queryCell(c); });
  const double raw = cell.at(TensorId::raw);
  cell.addJoined(RowStep::raw, base::message({"that · ", nth("k", cell.col)}), raw,
                 {{}, " + ", cell.equals(raw)}, cell.spec.headDim, [&](int c) {
                   const CellRef key = cell.keyCell(c);
                   return Piece(operand(cell.number(made[static_cast<std::size_t>(c)], mark::kSum)) + "×" +
                                    cell.operand(key),
                                {key});
                 });
}

/// From t_i = Σ_j d_ij·k_j, the gradient of q·W_a: ∂q_i = W_a·t_i, ∂W_a = Σ_i q_i·t_iᵀ.
void gradientOfProduct(const Matrix& q, const Matrix& w, Products& products, ScoreSideMemory& memory) {
  products.abT(matrixOf(memory.dMade), w, memory.dRows.data(), q.cols);
  products.aTb(q, matrixOf(memory.dMade), memory.dParameter.data(), w.cols);
}

}  // namespace

constinit const ScoreMechanism general{
    .title = "General",
    .about = "q·W_a·k (Luong)",
    .parameters = {kScoreParameters, 1},
    .query = {TensorId::w_a,
              [](const Matrix& q, const Matrix& w, Products& products, Tensor& made) {
                made.reshape(1, q.rows, w.cols);
                products.ab(q, w, made.data(), w.cols);
              },
              gradientOfProduct},
};

constinit const ScoreText generalText{
    .formula = "Q·W_a·K^T",
    .columns = "K^T·W_a^T·Q",
    .symbols = "q_{i}ᵀ · W_a · k_{j}",
    .latex = R"(Q W_a K^\top)",
    .parts = {{{RowStep::query_side, "qᵀW_a", {TensorId::q, TensorId::w_a}},
               {RowStep::raw, "· k", {TensorId::k}}}},
    .explain = explainGeneral,
    .loops = R"(for a in 1 … {e}:
  for b in 1 … {d}: s = s + {q}[i,a] × W_a[a,b] × {k}[j,b])",
    .program = "scores = q @ w_a @ k{T}",
};

}  // namespace attention::scores
