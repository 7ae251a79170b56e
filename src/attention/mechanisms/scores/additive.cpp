// v_aᵀ·tanh(W_a·q + U_a·k) (Bahdanau et al. 2015, appendix A.1.2).
#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

void explainAdditive(ExplainedCell& cell) {
  using namespace explanation_format;
  const std::vector<double> wq =
      cell.addTurned(RowStep::query_side, "W_a · " + nth("q", cell.row), TensorId::w_a, false, [&](int c) { return cell.queryCell(c); });
  const std::vector<double> uk =
      cell.addTurned(RowStep::key_side, "U_a · " + nth("k", cell.col), TensorId::u_a, false, [&](int c) { return cell.keyCell(c); });
  std::string text;
  std::vector<CellRef> cells;
  join([&](int c) {
    const CellRef v{TensorId::v_a, cell.head, 0, c};
    const auto i = static_cast<std::size_t>(c);
    return Piece(cell.operand(v) + "×tanh(" + cell.number(wq[i], mark::kSum) + " + " + operand(cell.number(uk[i], mark::kSum)) + ")", {v});
  }, static_cast<int>(wq.size()), " + ", text, cells);
  const double raw = cell.at(TensorId::raw);
  cell.add(RowStep::raw, "v_a · tanh", text + " = " + cell.number(raw), raw, std::move(cells));
}

}  // namespace

constinit const ScoreMechanism additive{
    .title = "Additive",
    .about = "v_a·tanh(W_a·q + U_a·k) (Bahdanau)",
    .isDot = false,
    .parameters = kScoreParameters,
};

constinit const ScoreText additiveText{
    .formula = "v_a·tanh(W_a·q + U_a·k)",
    .latex = R"(v_a^\top \tanh(W_a q_i + U_a k_j))",
    .parts = {{{RowStep::query_side, "W_a q", {TensorId::q, TensorId::w_a}},
               {RowStep::key_side, "U_a k", {TensorId::k, TensorId::u_a}},
               {RowStep::raw, "v_a tanh", {TensorId::v_a}}}},
    .explain = explainAdditive,
    .loops = R"(for u in 1 … {u}:
  z = 0
  for c in 1 … {d}: z = z + W_a[u,c] × {q}[i,c] + U_a[u,c] × {k}[j,c]
  s = s + v_a[u] × tanh(z))",
    .program = R"(hidden = {np}.tanh((q @ w_a{T})[:, :, None] + (k @ u_a{T})[:, None])
scores = (hidden * v_a[:, :, None]).sum(-1))",
};

}  // namespace attention::scores
