// How a row of scores becomes a row of weights, where it is not softmax (which the kernels have).
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// The threshold of sparsemax, relative to the largest score, so that it is exact whatever their size: weights are
/// max(s - largest - threshold, 0), which then sum to 1 (Martins and Astudillo 2016, proposition 1). Between -1 and 0;
/// scores of -inf take no part, and 0 where all are.
double sparsemaxThreshold(const float* scores, int count);

/// weights[i] of scores[i], which are already divided by the temperature and finite, or -inf where masked. The two may
/// be the same memory.
void normalise(Normalizer normalizer, const float* scores, int count, float* weights);

}  // namespace attention
