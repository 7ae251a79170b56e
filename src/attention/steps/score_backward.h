// Backward pass of the scores: from the gradient of the raw scores of one head to those of its queries, its keys and the parameters of the
// score.
#pragma once

#include <vector>

#include "attention/steps/products.h"
#include "attention/layer/trace.h"

namespace attention {

/// Where the gradients of one head are accumulated. `k` is that of its key head, which other query heads add to as well.
struct ScoreGradients {
  Tensor* q = nullptr;   ///< of queriesOf(trace)
  Tensor* k = nullptr;   ///< of keysOf(trace)
  Tensor* wA = nullptr;  ///< null where the score has none
  Tensor* uA = nullptr;
  Tensor* vA = nullptr;
};

/// Backward pass for every kind of score. Keeps its memory between calls. With d_ij the gradient of the raw score of query i and key j:
///   dot, scaled  ∂q_i = Σ_j d_ij·k_j, ∂k_j = Σ_i d_ij·q_i (the scale is a step of its own)
///   general      t_i = Σ_j d_ij·k_j: ∂q_i = W_a·t_i, ∂W_a = Σ_i q_i·t_iᵀ, ∂k_j = Σ_i d_ij·W_aᵀ·q_i
/// additive     u_ij = d_ij·v_a∘(1 − tanh²): ∂a_i = Σ_j u_ij, ∂b_j = Σ_i u_ij for a = W_a·q, b = U_a·k, then back through both
///   cosine       ∂q_i = (Σ_j d_ij·k̂_j − (Σ_j d_ij·cos_ij)·q̂_i) / |q_i|; 0 where a vector is 0
class ScoreBackward {
 public:
  /// `dRaw` is [queryCount, keyCount] for this head, and must be finite. Adds to what the gradients already hold.
  void add(const Spec& spec, const Inputs& inputs, const Trace& trace, int head, const Tensor& dRaw,
           const ScoreGradients& to, Products& products);

 private:
  void general(const Inputs& inputs, int head, const Matrix& q, const Matrix& k, const Matrix& d, Products& products);
  void additive(const Inputs& inputs, int head, const Matrix& q, const Matrix& k, const Tensor& dRaw, Products& products);
  void cosine(const Tensor& raw, int head, const Matrix& q, const Matrix& k, const Tensor& dRaw, Products& products);

  Tensor dQ_, dK_, dWA_, dUA_, dVA_;  // of one head
  Tensor a_, b_, dA_, dB_;
};

}  // namespace attention
