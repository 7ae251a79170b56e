// The scores themselves. A row takes no work.
#include <limits>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"

namespace attention::normalizers {

constinit const NormalizerMechanism none{
    .title = "None",
    .about = "the scores themselves",
    .isByCell = true,
    .least = -std::numeric_limits<double>::infinity(),
    .most = std::numeric_limits<double>::infinity(),
    .weigh =
        [](const float* scores, int count, float* weights) {
          for (int i = 0; i < count; ++i) weights[i] = scores[i] == kHiddenScore ? 0.0f : scores[i];
        },
    .gradient =
        [](const float* masked, const float*, const float* dWeights, int count, float* dScores) {
          for (int i = 0; i < count; ++i) dScores[i] = masked[i] == kHiddenScore ? 0.0f : dWeights[i];
        },
};

constinit const NormalizerText noneText{
    .latex = "",
    .weight = [](arithmetic::Expression s, arithmetic::Expression) { return s; },
    .label = "no normaliser",
    .reason = [](ExplainedCell&) { return base::Message("the score itself"); },
    .loops = R"(w = {w}
if S[i,j] = −∞: w = 0)",
    .program = R"(?weights = {np}.where(scores > {inf}, scores, 0.0)
!weights = scores)",
};

}  // namespace attention::normalizers
