#include "attention/steps/normalizer.h"

#include <algorithm>
#include <cmath>

#include "attention/kernels/kernels.h"
#include "attention/steps/mask.h"

namespace attention {
namespace {

void sparsemax(const float* scores, int count, float* weights) {
  const double largest = double{kernels::largest(kernels::best(), scores, count)};
  const double threshold = sparsemaxThreshold(scores, count);
  for (int i = 0; i < count; ++i) {
    const bool isSeen = scores[i] != kHiddenScore;
    weights[i] = isSeen ? static_cast<float>(std::max(double{scores[i]} - largest - threshold, 0.0)) : 0.0f;
  }
}

/// 1 / (1 + e^-s); for masked scores e^-s is infinite and the result 0.
void sigmoid(const float* scores, int count, float* weights) {
  for (int i = 0; i < count; ++i) weights[i] = -scores[i];
  kernels::exp(kernels::best(), weights, 0.0f, count, weights);
  for (int i = 0; i < count; ++i) weights[i] = 1.0f / (1.0f + weights[i]);
}

void hardmax(const float* scores, int count, float* weights) {
  const std::ptrdiff_t winner = std::max_element(scores, scores + count) - scores;
  const bool seesAny = count > 0 && scores[winner] != kHiddenScore;
  std::fill_n(weights, count, 0.0f);
  if (seesAny) weights[winner] = 1.0f;
}

}  // namespace

/// Repeatedly discards the scores that the threshold of the remaining ones sets to 0, until there are none (Michelot 1986): takes a few
/// rounds and no memory.
double sparsemaxThreshold(const float* scores, int count) {
  const float largest = kernels::largest(kernels::best(), scores, count);
  if (largest == kHiddenScore) return 0.0;
  double threshold = -1.0;  // the threshold if the largest score alone had all the weight
  for (int kept = 0, before = -1; kept != before;) {
    double sum = 0.0;
    before = kept, kept = 0;
    for (int i = 0; i < count; ++i) {
      const double below = double{scores[i]} - double{largest};
      if (below > threshold) sum += below, ++kept;
    }
    threshold = (sum - 1.0) / kept;
  }
  return threshold;
}

void normalise(Normalizer normalizer, const float* scores, int count, float* weights) {
  switch (normalizer) {
    case Normalizer::softmax: kernels::softmax(kernels::best(), scores, 1.0f, count, nullptr, weights); return;
    case Normalizer::sparsemax: return sparsemax(scores, count, weights);
    case Normalizer::sigmoid: return sigmoid(scores, count, weights);
    case Normalizer::hardmax: return hardmax(scores, count, weights);
    case Normalizer::relu:
      for (int i = 0; i < count; ++i) weights[i] = std::max(scores[i], 0.0f);
      return;
    case Normalizer::none:
      for (int i = 0; i < count; ++i) weights[i] = scores[i] == kHiddenScore ? 0.0f : scores[i];
      return;
  }
}

}  // namespace attention
