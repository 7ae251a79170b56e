// One key as all queries see it, or one query and some keys: parts of the tensors of pairs, where these are
// not stored.
#pragma once

#include "attention/layer/trace.h"

namespace attention {

/// For layers that are plain (isPlain()), without a bias: the scores of one key with every query, ÷
/// temperature, and -inf where it is masked. `key` are its headDim numbers, which may be others than those of
/// the trace.
void scoresOfKey(const ComputedLayer& layer, int head, int at, const float* key, float* scores);
/// The same of one query with some keys.
void scoresOfQuery(const ComputedLayer& layer, int head, int query, Span keys, float* scores);
/// The weights that such scores of one key are, by the maxima and sums of rows. May be in their place.
void weightsOfScores(const Trace& trace, int head, const float* scores, float* weights);
/// The weights of one key for every query. Reads whole rows where one score does not tell a weight.
void weightsOfKey(const ComputedLayer& layer, int head, int at, float* weights);

}  // namespace attention
