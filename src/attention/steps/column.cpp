#include "attention/steps/column.h"

#include <algorithm>

#include "attention/kernels/kernels.h"
#include "attention/steps/mask.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

/// The queries that see a key, of a mask without pattern and prefix.
Span queriesSeeing(const Spec& spec, int key) {
  const std::int64_t here = std::int64_t{key} - spec.causalOffset;  // the query at its place
  std::int64_t begin = 0, end = spec.queryCount;
  if (spec.causal) begin = std::max(begin, here);
  if (spec.windowRight >= 0) begin = std::max(begin, here - spec.windowRight);
  if (spec.windowLeft >= 0) end = std::min(end, here + spec.windowLeft + 1);
  if (spec.keyLength >= 0 && key >= spec.keyLength) end = 0;
  end = std::max(end, std::int64_t{0}), begin = std::min(begin, end);
  return {static_cast<int>(begin), static_cast<int>(end)};
}

/// Products become scores. Only those in `seen` are visible.
void toScores(const Spec& spec, Span seen, int count, float* products) {
  kernels::scale(kernels::best(), scaleFactor(spec) / spec.temperature, products + seen.begin, seen.size(),
                 products + seen.begin);
  std::fill(products, products + seen.begin, kHiddenScore);
  std::fill(products + seen.end, products + count, kHiddenScore);
}

bool isPainted(const Inputs& in) { return in.painted && !in.painted->empty(); }

}  // namespace

void scoresOfKey(const ComputedLayer& layer, int head, int at, const float* key, float* scores) {
  const auto& [spec, in, trace] = layer;
  kernels::dots(kernels::best(), key, queriesOf(trace).row(head, 0), spec.headDim, spec.queryCount,
                spec.headDim, scores, 1);
  toScores(spec, queriesSeeing(spec, at), spec.queryCount, scores);
  for (int i = 0; isPainted(in) && i < spec.queryCount; ++i)
    if (in.painted->isBlocked(i, at)) scores[i] = kHiddenScore;
}

void scoresOfQuery(const ComputedLayer& layer, int head, int query, Span keys, float* scores) {
  const auto& [spec, in, trace] = layer;
  kernels::dots(kernels::best(), queriesOf(trace).row(head, query),
                keysOf(trace).row(kvHeadOf(spec, head), keys.begin), spec.headDim, keys.size(), spec.headDim,
                scores, 1);
  const KeyRange seen = visibleKeys(spec, query);
  const int begin = std::clamp(seen.begin, keys.begin, keys.end) - keys.begin,
            end = std::clamp(seen.end, keys.begin, keys.end) - keys.begin;
  toScores(spec, {begin, end}, keys.size(), scores);
  for (int j = keys.begin; isPainted(in) && j < keys.end; ++j)
    if (in.painted->isBlocked(query, j)) scores[j - keys.begin] = kHiddenScore;
}

void weightsOfScores(const Trace& trace, int head, const float* scores, float* weights) {
  const float *const max = trace.rowMax.row(head, 0), *const sum = trace.rowSum.row(head, 0);
  const int queries = trace.rowMax.rows();
  for (int i = 0; i < queries; ++i) weights[i] = sum[i] > 0.0f ? scores[i] - max[i] : kHiddenScore;
  kernels::exp(kernels::best(), weights, 0.0f, queries, weights);
  for (int i = 0; i < queries; ++i) weights[i] = sum[i] > 0.0f ? weights[i] / sum[i] : 0.0f;
}

void weightsOfKey(const ComputedLayer& layer, int head, int at, float* weights) {
  const auto& [spec, in, trace] = layer;
  if (!isPlain(spec) || isBiased(spec, in)) {
    for (int i = 0; i < spec.queryCount; ++i) weights[i] = trace.weights.at(head, i, at);
    return;
  }
  scoresOfKey(layer, head, at, keysOf(trace).row(kvHeadOf(spec, head), at), weights);
  weightsOfScores(trace, head, weights, weights);
}

}  // namespace attention
