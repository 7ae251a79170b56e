// A recurrent network reads a sequence and passes on a fixed vector or lets attention look at its states: how
// far back does each of the two reach?
#pragma once

#include "attention/models/decoder.h"
#include "attention/models/recurrent.h"

namespace attention {

/// The cell, and the decoder whose score looks at its states. All tensors have one head and must outlive the
/// call.
struct MemoryInputs {
  RecurrentInputs cell;  ///< its U determines the number of units
  /// Its h is ignored. With 0 words only the tensors of the score are used.
  DecoderInputs decoder;
};

/// What the network passes on. The fixed vector is its last state (Sutskever et al. 2014, section 2).
/// Attention looks at all states: once, with the last state as the query, and for each word of the decoder.
struct MemoryTrace {
  RecurrentTrace cell;
  Tensor weights;   ///< a of the one look, [1, tokens, 1]
  Tensor contexts;  ///< [1, 2, units]: the fixed vector and the context of attention
  /// [1, tokens, 3]: the distance from t to the last token, ‖∂fixed/∂x_t‖ and ‖∂attended/∂x_t‖ (Frobenius
  /// norms).
  Tensor gradients;
  DecoderTrace decoder;  ///< empty with 0 words; its first row of weights is `weights`
};

/// Fills `trace`. `inputs.cell` must have passed validate().
void runMemory(const MemoryInputs& inputs, MemoryTrace& trace);
/// The same in slices: of all tokens at once, and of one word or the gradient of one unit each.
base::Slices memoryInSlices(MemoryInputs inputs, MemoryTrace& trace);

}  // namespace attention
