// v_aᵀ·tanh(W_a·q + U_a·k) (Bahdanau et al. 2015, appendix A.1.2).
#include <algorithm>
#include <cmath>
#include <limits>

#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

constexpr float kMostSum = 40.0f;  // e⁸⁰ and e⁻⁸⁰ are normal numbers

/// Where the exponentials are of what hidden() makes; they follow the sums.
const float* exponentialsOf(const Matrix& made) { return made.data + made.rows * made.cols; }

/// W_a·q or U_a·k, and the gradients. Their exponentials exp(2·it) are in a second head: exp(2·(a + b)) is
/// then a product. A larger sum than kMostSum has NaN there.
constexpr ScoreSide hidden(TensorId parameter) {
  return {parameter,
          [](const Matrix& rows, const Matrix& w, Products& products, Tensor& made) {
            made.reshape(2, rows.rows, w.rows);
            products.abT(rows, w, made.data(), w.rows);
            const int count = rows.rows * w.rows;
            const float* sums = made.data();
            float* out = made.head(1);
            for (int i = 0; i < count; ++i) out[i] = 2.0f * sums[i];
            kernels::exp(kernels::best(), out, 0.0f, count, out);
            for (int i = 0; i < count; ++i)
              if (!(std::abs(sums[i]) <= kMostSum)) out[i] = std::numeric_limits<float>::quiet_NaN();
          },
          [](const Matrix& rows, const Matrix& w, Products& products, ScoreSideMemory& memory) {
            products.ab(matrixOf(memory.dMade), w, memory.dRows.data(), rows.cols);
            products.aTb(matrixOf(memory.dMade), rows, memory.dParameter.data(), rows.cols);
          }};
}

void compareHidden(const Compared& rows, int query, const float* v, float* raw) {
  const int dim = rows.keys.cols, from = query * dim;
  kernels::tanhs(kernels::best(), exponentialsOf(rows.queries) + from, exponentialsOf(rows.keys), v,
                 rows.keys.rows, dim, raw);
  for (int j = 0; j < rows.keys.rows; ++j) {
    if (std::isfinite(raw[j])) continue;
    double sum = 0.0;
    for (int c = 0; c < dim; ++c)
      sum +=
          double{v[c]} * std::tanh(double{rows.queries.data[from + c]} + double{rows.keys.data[j * dim + c]});
    raw[j] = saturate(sum);
  }
}

/// u_ij = d_ij·v∘(1 − tanh²): ∂a_i = Σ_j u_ij, ∂b_j = Σ_i u_ij; ∂v = Σ d_ij·tanh. Sums are in double.
void gradientOfHidden(const Compared& rows, const float* v, const Matrix& d, ScoreMemory& memory) {
  const Matrix &a = rows.queries, &b = rows.keys;
  const int dim = a.cols;
  std::vector<double> dA(memory.query.dMade.size()), dB(memory.key.dMade.size()),
      dV(static_cast<std::size_t>(dim));
  const float *expA = exponentialsOf(a), *expB = exponentialsOf(b);
  memory.dV.reshape(1, 1, dim);
  for (int i = 0; i < a.rows; ++i) {
    for (int j = 0; j < b.rows; ++j) {
      const double dRaw = double{d.data[i * d.stride + j]};
      if (dRaw == 0.0) continue;
      for (int c = 0; c < dim; ++c) {
        const auto at = static_cast<std::size_t>(c);
        const int qAt = i * dim + c, kAt = j * dim + c;
        double e = double{expA[qAt]} * double{expB[kAt]};
        if (std::isnan(e)) e = std::exp(2.0 * (double{a.data[qAt]} + double{b.data[kAt]}));
        const double rest = 2.0 / (1.0 + e);  // 1 − tanh
        const double dSum = dRaw * double{v[c]} * rest * (2.0 - rest);
        dV[at] += dRaw * (1.0 - rest);
        dA[static_cast<std::size_t>(qAt)] += dSum, dB[static_cast<std::size_t>(kAt)] += dSum;
      }
    }
  }
  std::transform(dA.begin(), dA.end(), memory.query.dMade.data(), saturate);
  std::transform(dB.begin(), dB.end(), memory.key.dMade.data(), saturate);
  std::transform(dV.begin(), dV.end(), memory.dV.data(), saturate);
}

void explainAdditive(ExplainedCell& cell) {
  using namespace explanation_format;
  const std::vector<double> wq =
      cell.addTurned(RowStep::query_side, "W_a · " + nth("q", cell.row), TensorId::w_a, false,
                     [&](int c) { return cell.queryCell(c); });
  const std::vector<double> uk = cell.addTurned(RowStep::key_side, "U_a · " + nth("k", cell.col),
                                                TensorId::u_a, false, [&](int c) { return cell.keyCell(c); });
  const double raw = cell.at(TensorId::raw);
  cell.addJoined(RowStep::raw, "v_a · tanh", raw, {{}, " + ", cell.equals(raw)}, static_cast<int>(wq.size()),
                 [&](int c) {
                   const CellRef v{TensorId::v_a, cell.head, 0, c};
                   const auto i = static_cast<std::size_t>(c);
                   return Piece(cell.operand(v) + "×tanh(" + cell.number(wq[i], mark::kSum) + " + " +
                                    operand(cell.number(uk[i], mark::kSum)) + ")",
                                {v});
                 });
}

}  // namespace

constinit const ScoreMechanism additive{
    .title = "Additive",
    .about = "v_a·tanh(W_a·q + U_a·k) (Bahdanau)",
    .parameters = kScoreParameters,
    .query = hidden(TensorId::w_a),
    .key = hidden(TensorId::u_a),
    .compare = compareHidden,
    .gradient = gradientOfHidden,
};

constinit const ScoreText additiveText{
    .formula = "v_a·tanh(W_a·q + U_a·k)",
    .symbols = "v_aᵀ · tanh(W_a · q_{i} + U_a · k_{j})",
    .latex = R"(v_a^\top \tanh(W_a q_i + U_a k_j))",
    .parts = {{{RowStep::query_side, "W_a q", {TensorId::q, TensorId::w_a}},
               {RowStep::key_side, "U_a k", {TensorId::k, TensorId::u_a}},
               {RowStep::raw, "v_a tanh", {TensorId::v_a}}}},
    .explain = explainAdditive,
    .loops = R"(for u in 1 … {u}:
  z = 0
  for c in 1 … {e}: z = z + W_a[u,c] × {q}[i,c]
  for c in 1 … {d}: z = z + U_a[u,c] × {k}[j,c]
  s = s + v_a[u] × tanh(z))",
    .program = R"(hidden = {np}.tanh((q @ w_a{T})[:, :, None] + (k @ u_a{T})[:, None])
scores = (hidden * v_a[:, :, None]).sum(-1))",
};

}  // namespace attention::scores
