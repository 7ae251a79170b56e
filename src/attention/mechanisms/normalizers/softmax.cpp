// exp(s − max) ÷ Σ exp(s − max); a row with every key masked gives zeros (Vaswani et al. 2017, equation 1).
// The kernels compute it, and the layer keeps the maximum, the exponentials and their sum as tensors, each
// with an explanation of its own. A row of n scores takes n exponentials, and two passes for the maximum and
// the sum.
#include "attention/kernels/kernels.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/mechanisms/normalizers/gradient.h"

namespace attention::normalizers {

constinit const NormalizerMechanism softmax{
    .title = "Softmax",
    .about = "exp(s) ÷ its sum",
    .sumsToOne = true,
    .isOpen = true,
    .before = RowStep::maximum,
    .weigh = [](const float* scores, int count,
                float* weights) { kernels::softmax(kernels::best(), scores, 1.0f, count, nullptr, weights); },
    .gradient =
        [](const float*, const float* weights, const float* dWeights, int count, float* dScores) {
          double sum = 0.0;
          for (int i = 0; i < count; ++i) sum += double{weights[i]} * double{dWeights[i]};
          throughCells(weights, dWeights, sum, count, dScores, [](double w) { return w; });
        },
};

constinit const NormalizerText softmaxText{
    .latex = "\\operatorname{softmax}",
    .loops = R"(m = {first}
for j in 1 … {n}: m = max(m, {s})
?if m = −∞: m = 0
sum = {sink}
for j in 1 … {n}:
  E[i,j] = exp({s} − m)
  sum = sum + E[i,j]
?if sum = 0: sum = 1
w = E[i,j] ÷ sum)",
    .program = R"(largest = {max}
+largest = {np}.maximum(largest, {sink})
-?largest = {np}.where(largest > {inf}, largest, 0.0)  # a query that sees no key gets zeros
weights = {np}.exp(scores - largest)
+weights = weights / (weights.sum({keep}) + {np}.exp({sink} - largest))
-!weights = weights / weights.sum({keep})
-?weights = weights / weights.sum({keep}).clip(1e-37))",
};

}  // namespace attention::normalizers
