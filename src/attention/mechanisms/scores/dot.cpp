// q·k (Luong et al. 2015, eq. 8, "dot"), and q·k·scale (Vaswani et al. 2017, section 3.2.1): the scale is a
// step of its own.
#include "attention/mechanisms/mechanism.h"

namespace attention::scores {
namespace {

constexpr ScoreText kProduct{
    .formula = "Q·K^T",
    .columns = "K^T·Q",
    .symbols = "q_{i} · k_{j}",
    .latex = R"(Q K^\top)",
    .parts = {{{RowStep::raw, "q·k", {TensorId::q, TensorId::k}}}},
    .explain = [](ExplainedCell& cell) { cell.addDot(RowStep::raw, cell.at(TensorId::raw)); },
    .loops = "for c in 1 … {d}: s = s + {q}[i,c] × {k}[j,c]",
    .program = "scores = q @ k{T}{scale}",
};

}  // namespace

constinit const ScoreMechanism dot{.title = "Dot", .about = "q·k (Luong)", .isProduct = true};
constinit const ScoreMechanism scaled{
    .title = "Scaled dot", .about = "q·k ÷ √d_k (Vaswani)", .isProduct = true, .isScaled = true};
constinit const ScoreText dotText = kProduct, scaledText = kProduct;

}  // namespace attention::scores
