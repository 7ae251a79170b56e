// Backward pass of normalise() and softmax: from the gradient of a row of weights to that of its scores.
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// dScores[i] = ∂L/∂(score i) from dWeights[i] = ∂L/∂(weight i), where scores are those that were normalised (already divided by the
/// temperature). `weights` are the normaliser's result, 0 where masked; masked[i] is -inf there. With g = dWeights and w = weights:
///   softmax    w∘(g − w·g)
/// on the support: g minus its mean there, else 0 (Martins and Astudillo 2016, proposition 2)
///   sigmoid    g·w·(1 − w)
///   relu       g where the weight is above 0, else 0
///   hardmax    0
///   none       g
/// Masked cells get 0. Sums over a row are computed in double. `dScores` may be `dWeights`.
void normaliseBackward(Normalizer normalizer, const float* masked, const float* weights, const float* dWeights, int count,
                       float* dScores);

}  // namespace attention
