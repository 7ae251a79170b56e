// Where the order of the tokens comes in: sinusoids on X, rotary turns of Q and K, ALiBi's slopes.
#pragma once

#include "attention/trace.h"

namespace attention {

/// Position of a row of x in the table of sinusoids: in self-attention its index, else after the cached keys.
inline int firstPosition(const Spec& spec, const Inputs& inputs) { return inputs.xKv ? spec.causalOffset : 0; }

/// Gives positions, x_positioned, x_kv_positioned, q_rotated and k_rotated their shapes: empty where they are not part
/// of the layer.
void shapePositions(const Spec& spec, const Inputs& inputs, Trace& trace);
/// positions, and x with its rows of them added; nothing for other layers than sinusoidal.
void addPositions(const Spec& spec, const Inputs& inputs, Trace& trace);
/// positions, and Q and K turned by them; nothing for other layers than rotary.
void rotate(const Spec& spec, Trace& trace);
/// ALiBi's slope of a head: 2^(-8(head + 1)/heads) (Press et al. 2022, section 3).
float slopeOf(const Spec& spec, int head);

}  // namespace attention
