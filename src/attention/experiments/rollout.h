// Attention rollout (Abnar and Zuidema 2020, "Quantifying Attention Flow in Transformers"): from which tokens
// a token of the last layer could have got what it has, if heads were equal and residuals half of everything.
#pragma once

#include <span>
#include <vector>

#include "attention/layer/tensor.h"

namespace attention {

/// The row of a token in A_L ⋯ A_1 with A = ½·I + ½·W̄, where W̄ is the mean of a layer's heads. `means` are
/// these, from the first layer on, each [1, n, n] with rows that sum to 1; `token` is below n. Returns n
/// shares, which sum to 1.
std::vector<float> rollout(std::span<const Tensor* const> means, int token);

}  // namespace attention
