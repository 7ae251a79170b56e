#include "attention/steps/normalizer_backward.h"

#include <algorithm>

#include "attention/steps/mask.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

/// dScores = factor(weight)·(dWeights − shift), in double so that intermediate results do not overflow.
template <class Factor>
void scaled(const float* weights, const float* dWeights, double shift, int count, float* dScores, Factor factor) {
  for (int i = 0; i < count; ++i) dScores[i] = saturate(factor(double{weights[i]}) * (double{dWeights[i]} - shift));
}

}  // namespace

void normaliseBackward(Normalizer normalizer, const float* masked, const float* weights, const float* dWeights, int count,
                       float* dScores) {
  const auto isKept = [](double w) { return w > 0.0 ? 1.0 : 0.0; };
  double sum = 0.0;
  int kept = 0;
  switch (normalizer) {
    case Normalizer::softmax:
      for (int i = 0; i < count; ++i) sum += double{weights[i]} * double{dWeights[i]};
      return scaled(weights, dWeights, sum, count, dScores, [](double w) { return w; });
    case Normalizer::sparsemax:
      for (int i = 0; i < count; ++i) {
        if (weights[i] > 0.0f) sum += double{dWeights[i]}, ++kept;
      }
      return scaled(weights, dWeights, kept ? sum / kept : 0.0, count, dScores, isKept);
    case Normalizer::sigmoid:
      return scaled(weights, dWeights, 0.0, count, dScores, [](double w) { return w * (1.0 - w); });
    case Normalizer::relu: return scaled(weights, dWeights, 0.0, count, dScores, isKept);
    case Normalizer::hardmax: std::fill_n(dScores, count, 0.0f); return;
    case Normalizer::none:
      for (int i = 0; i < count; ++i) dScores[i] = masked[i] == kHiddenScore ? 0.0f : dWeights[i];
      return;
  }
}

}  // namespace attention
