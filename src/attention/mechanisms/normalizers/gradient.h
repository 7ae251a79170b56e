// The backward passes that normalisers share, in double so that intermediate results do not overflow.
// `factor` is a function of a weight.
#pragma once

#include "attention/steps/steps.h"

namespace attention::normalizers {

/// dScores = factor(w)·(dWeights − shift).
template <class Factor>
void throughCells(const float* weights, const float* dWeights, double shift, int count, float* dScores,
                  Factor factor) {
  for (int i = 0; i < count; ++i)
    dScores[i] = saturate(factor(double{weights[i]}) * (double{dWeights[i]} - shift));
}

/// The same for weights that sum to 1, whose Jacobian is diag(f) − f·fᵀ / Σf with f = factor(w).
template <class Factor>
void throughRow(const float* weights, const float* dWeights, int count, float* dScores, Factor factor) {
  double sum = 0.0, total = 0.0;
  for (int i = 0; i < count; ++i) {
    const double f = factor(double{weights[i]});
    sum += f * double{dWeights[i]}, total += f;
  }
  throughCells(weights, dWeights, total > 0.0 ? sum / total : 0.0, count, dScores, factor);
}

/// 1 where a weight is above 0.
inline double isKept(double weight) { return weight > 0.0 ? 1.0 : 0.0; }

}  // namespace attention::normalizers
