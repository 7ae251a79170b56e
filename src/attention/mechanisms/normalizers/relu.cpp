// max(s, 0); rows need not sum to 1. The derivative at 0 is 0, as in PyTorch. A row of n scores takes n
// comparisons.
#include <limits>

#include "attention/mechanisms/mechanism.h"
#include "attention/mechanisms/normalizers/gradient.h"

namespace attention::normalizers {
namespace {

constexpr auto rectified = [](auto s, auto) { return arithmetic::positive(s); };

}  // namespace

constinit const NormalizerMechanism relu{
    .title = "ReLU",
    .about = "max(s, 0)",
    .isByCell = true,
    .most = std::numeric_limits<double>::infinity(),
    .weigh =
        [](const float* scores, int count, float* weights) {
          for (int i = 0; i < count; ++i) weights[i] = static_cast<float>(rectified(double{scores[i]}, 0.0));
        },
    .gradient = [](const float*, const float* weights, const float* dWeights, int count,
                   float* dScores) { throughCells(weights, dWeights, 0.0, count, dScores, isKept); },
};

constinit const NormalizerText reluText{
    .latex = "\\operatorname{ReLU}",
    .weight = rectified,
    .label = "ReLU",
    .loops = R"(w = {w})",
    .program = R"(weights = {w})",
};

}  // namespace attention::normalizers
