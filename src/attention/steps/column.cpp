#include "attention/steps/column.h"

#include <cmath>

#include "attention/kernels/kernels.h"
#include "attention/steps/mask.h"
#include "attention/steps/steps.h"

namespace attention {

void scoresOfKey(const ComputedLayer& layer, int head, int at, const float* key, float* scores) {
  const auto& [spec, in, trace] = layer;
  kernels::dots(kernels::best(), key, queriesOf(trace).row(head, 0), spec.headDim, spec.queryCount,
                spec.headDim, scores, 1);
  const float factor = scaleFactor(spec) / spec.temperature;
  for (int i = 0; i < spec.queryCount; ++i) {
    const bool isBlocked = in.painted && in.painted->isBlocked(i, at);
    scores[i] = !isBlocked && isVisible(spec, i, at) ? scores[i] * factor : kHiddenScore;
  }
}

void scoresOfQuery(const ComputedLayer& layer, int head, int query, Span keys, float* scores) {
  const auto& [spec, in, trace] = layer;
  kernels::dots(kernels::best(), queriesOf(trace).row(head, query),
                keysOf(trace).row(kvHeadOf(spec, head), keys.begin), spec.headDim, keys.size(), spec.headDim,
                scores, 1);
  const float factor = scaleFactor(spec) / spec.temperature;
  for (int j = keys.begin; j < keys.end; ++j) {
    float& score = scores[j - keys.begin];
    const bool isBlocked = in.painted && in.painted->isBlocked(query, j);
    score = !isBlocked && isVisible(spec, query, j) ? score * factor : kHiddenScore;
  }
}

void weightsOfKey(const ComputedLayer& layer, int head, int at, float* weights) {
  const auto& [spec, in, trace] = layer;
  if (!isPlain(spec) || isBiased(spec, in)) {
    for (int i = 0; i < spec.queryCount; ++i) weights[i] = trace.weights.at(head, i, at);
    return;
  }
  scoresOfKey(layer, head, at, keysOf(trace).row(kvHeadOf(spec, head), at), weights);
  for (int i = 0; i < spec.queryCount; ++i) {
    const float sum = trace.rowSum.at(head, i, 0);
    weights[i] = sum > 0.0f ? std::exp(weights[i] - trace.rowMax.at(head, i, 0)) / sum : 0.0f;
  }
}

}  // namespace attention
