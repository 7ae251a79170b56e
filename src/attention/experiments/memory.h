// A recurrent network that reads one sequence, two ways to hand on what it read, and how far back each of them reaches.
#pragma once

#include "attention/models/recurrent.h"

namespace attention {

/// The cell, and the score of attention over its states. All of one head; they outlive the call.
struct MemoryInputs {
  RecurrentInputs cell;        ///< with U, which says how many units
  const Tensor* wA = nullptr;  ///< [1, units, units]
  const Tensor* uA = nullptr;  ///< [1, units, units]
  const Tensor* vA = nullptr;  ///< [1, 1, units]
};

/// What becomes of the sequence. The fixed vector is the last state (Sutskever et al. 2014, section 2). Attention looks at
/// all states: e_t = v_a·tanh(h_T·W_a + h_t·U_a), a = softmax(e), context = Σ a_t·h_t (Bahdanau et al. 2015, section 3.1 and
/// appendix A.1.2, with the last state for that of the decoder).
struct MemoryTrace {
  RecurrentTrace cell;
  Tensor weights;    ///< a, [1, tokens, 1]
  Tensor contexts;   ///< [1, 2, units]: the fixed vector, and that of attention
  Tensor gradients;  ///< [1, tokens, 3]: tokens from t to the last, ‖∂fixed/∂x_t‖ and ‖∂attended/∂x_t‖ (Frobenius)
};

/// Computes all of it. `inputs.cell` must have passed validate().
void runMemory(const MemoryInputs& inputs, MemoryTrace& trace);

}  // namespace attention
