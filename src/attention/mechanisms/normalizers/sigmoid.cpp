// 1 ÷ (1 + exp(−s)): each key on its own; rows need not sum to 1 (Ramapuram et al. 2024). A row of n scores
// takes n exponentials.
#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/mechanisms/normalizers/gradient.h"

namespace attention::normalizers {

constinit const NormalizerMechanism sigmoid{
    .title = "Sigmoid",
    .about = "each key on its own",
    .isByCell = true,
    .isOpen = true,
    .weigh =
        [](const float* scores, int count,
           float* weights) {  // for masked scores e^-s is infinite and the result 0
          for (int i = 0; i < count; ++i) weights[i] = -scores[i];
          kernels::exp(kernels::best(), weights, 0.0f, count, weights);
          for (int i = 0; i < count; ++i) weights[i] = 1.0f / (1.0f + weights[i]);
        },
    .gradient =
        [](const float*, const float* weights, const float* dWeights, int count, float* dScores) {
          throughCells(weights, dWeights, 0.0, count, dScores, [](double w) { return w * (1.0 - w); });
        },
};

constinit const NormalizerText sigmoidText{
    .latex = "\\sigma",
    .weight = [](arithmetic::Expression s, arithmetic::Expression) { return 1 / (1 + exp(-s)); },
    .label = "sigmoid",
    .loops = R"(w = {w})",
    .program = R"(torch:weights = torch.sigmoid(scores)
numpy:e = {np}.exp(-{np}.abs(scores))
numpy:weights = {np}.where(scores > 0, 1 / (1 + e), e / (1 + e)))",
};

}  // namespace attention::normalizers
