// Where the order of the tokens comes in: sinusoids on X, rotary turns of Q and K, ALiBi's slopes.
#pragma once

#include <utility>

#include "attention/layer/trace.h"

namespace attention {

/// Position of a row of x in the table of sinusoids: in self-attention its index, else after the cached keys.
inline int firstPosition(const Spec& spec, const Inputs& inputs) { return inputs.xKv ? spec.causalOffset : 0; }

/// Position of the first query: of its sinusoid, or of the angles that it is rotated by.
inline int firstQueryPosition(const Spec& spec, const Inputs& inputs) {
  return isRotary(spec) ? spec.causalOffset : firstPosition(spec, inputs);
}

/// What stands for the position `index` among the keys: Spec::positionIds.
int positionId(const Spec& spec, int index);
/// By how much rotary positions turn a pair of columns from one position to the next, in radians: base^(−2·pair/r), scaled.
double rotarySpeed(const Spec& spec, int pair);
/// The base that it is made of: NTK-aware scaling has another one.
double rotaryBase(const Spec& spec);
/// The two columns of a pair, and the pair of a column: −1 for one that is not turned.
std::pair<int, int> columnsOfPair(const Spec& spec, int pair);
int pairOfColumn(const Spec& spec, int column);

/// positions, and x with its rows of them added; nothing for other layers than sinusoidal.
void addPositions(const Spec& spec, const Inputs& inputs, Trace& trace);
/// positions, and Q and K rotated by them; nothing for other layers than rotary.
void rotate(const Spec& spec, Trace& trace);
/// The gradient of Q or K from that of what rotate() made of it: `to` += each row of `from` rotated back, the first one by
/// the angles of position `first`.
void rotateBackward(const Spec& spec, int first, const Tensor& from, Tensor& to);
/// ALiBi's slope of a head (Press et al. 2022, section 3): 2^(-8(head + 1)/P) of the first P heads, where P is the largest power
/// of two that there are heads for; those after them take every other slope of 2P heads, as in the authors' code.
float slopeOf(const Spec& spec, int head);

}  // namespace attention
