// How much predictions differ.
#pragma once

#include <vector>

#include "training/trainer.h"

namespace training {

/// Of each token the Kullback–Leibler divergence Σ p·log₂(p / q), in bit, of the probabilities q of `with`
/// from p of `whole`, which has the same tokens. Never negative; probabilities below 1e-12 count as that.
std::vector<float> divergences(const Answer& whole, const Answer& with, int classes);

}  // namespace training
