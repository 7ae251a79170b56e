// Backward of normalise() and softmax: from the gradient of a row of weights to that of its scores.
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// dScores[i] = ∂L/∂(score i) from dWeights[i] = ∂L/∂(weight i), where scores are those that were normalised (already
/// divided by the temperature). `weights` are what the normaliser gave, 0 where masked; masked[i] is -inf there.
///   softmax    w∘(g − w·g)
///   sparsemax  on the support g less its mean, else 0 (Martins and Astudillo 2016, proposition 2)
///   sigmoid    g·w·(1 − w)
///   relu       g where the weight is above 0, else 0
///   hardmax    0
///   none       g
/// Masked cells get 0. The sum over a row is taken in double. `dScores` may be `dWeights`.
void normaliseBackward(Normalizer normalizer, const float* masked, const float* weights, const float* dWeights, int count,
                       float* dScores);

}  // namespace attention
