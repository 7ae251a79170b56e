// Turns a row of scores into a row of weights, for normalisers other than softmax (which is in the kernels).
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// The threshold of sparsemax relative to the largest score, so that it is accurate whatever their magnitude: the weights are max(s -
/// largest - threshold, 0), and sum to 1 (Martins and Astudillo 2016, proposition 1). Between -1 and 0. Scores of -inf are ignored; if all
/// are -inf, the result is 0.
double sparsemaxThreshold(const float* scores, int count);

/// Computes weights[i] from scores[i], which are already divided by the temperature, and finite or -inf where masked. Both may be the same
/// memory.
void normalise(Normalizer normalizer, const float* scores, int count, float* weights);

}  // namespace attention
