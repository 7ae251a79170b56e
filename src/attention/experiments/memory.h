// A recurrent network reads a sequence and passes on a fixed vector or lets attention look at its states: how
// far back does each of the two reach?
#pragma once

#include "attention/models/recurrent.h"

namespace attention {

/// The cell, and the score of attention over its states. All tensors have one head and must outlive the call.
struct MemoryInputs {
  RecurrentInputs cell;        ///< its U determines the number of units
  const Tensor* wA = nullptr;  ///< [1, units, units]
  const Tensor* uA = nullptr;  ///< [1, units, units]
  const Tensor* vA = nullptr;  ///< [1, 1, units]
};

/// What the network passes on. The fixed vector is its last state (Sutskever et al. 2014, section 2).
/// Attention looks at all states: e_t = v_a·tanh(h_T·W_a + h_t·U_a), a = softmax(e), context = Σ a_t·h_t
/// (Bahdanau et al. 2015, section 3.1 and appendix A.1.2, with the network's last state in place of the
/// decoder's).
struct MemoryTrace {
  RecurrentTrace cell;
  Tensor weights;   ///< a, [1, tokens, 1]
  Tensor contexts;  ///< [1, 2, units]: the fixed vector and the context of attention
  /// [1, tokens, 3]: the distance from t to the last token, ‖∂fixed/∂x_t‖ and ‖∂attended/∂x_t‖ (Frobenius
  /// norms).
  Tensor gradients;
};

/// Fills `trace`. `inputs.cell` must have passed validate().
void runMemory(const MemoryInputs& inputs, MemoryTrace& trace);

}  // namespace attention
