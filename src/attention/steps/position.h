// How the order of the tokens enters the layer: sinusoids added to X, rotation of Q and K, slopes of ALiBi.
#pragma once

#include <utility>

#include "attention/layer/trace.h"

namespace attention {

/// The position of row 0 of the queries' x in the sequence of sinusoids: 0 in self-attention, otherwise after
/// the cached keys.
inline int firstPosition(const Spec& spec, const Inputs& inputs) {
  return inputs.xKv ? spec.causalOffset : 0;
}

/// The position of the first query, for sinusoids or for rotation.
inline int firstQueryPosition(const Spec& spec, const Inputs& inputs) {
  return isRotary(spec) ? spec.causalOffset : firstPosition(spec, inputs);
}

/// The position id of index `index` among the keys: see Spec::positionIds.
int positionId(const Spec& spec, int index);
/// The angle in radians by which rotary positions rotate a pair of columns from one position to the next:
/// base^(−2·pair/r), after scaling.
double rotarySpeed(const Spec& spec, int pair);
/// The base used for it; NTK-aware scaling changes it.
double rotaryBase(const Spec& spec);
/// The two columns of a pair, and the pair of a column; −1 for a column that is not rotated.
std::pair<int, int> columnsOfPair(const Spec& spec, int pair);
int pairOfColumn(const Spec& spec, int column);

/// Computes positions, and x with positions added. Does nothing unless positions are sinusoidal.
void addPositions(const Spec& spec, const Inputs& inputs, Trace& trace);
/// Cosines and sines of the angles of rotary positions, [1, positions, pairs].
struct Rotation {
  Tensor cosines, sines;
};
/// Computes positions, and from them the rotation. Does nothing unless positions are rotary.
void makeRotation(const Spec& spec, Trace& trace, Rotation& out);
/// Rotates a head of Q or K pair by pair: row i by the angles of position first + i. Other columns are
/// copied.
void rotate(const Spec& spec, const Rotation& by, const Tensor& from, int head, int first, Tensor& out);
/// Backward pass of rotate(): adds each row of `from`, the gradient of the rotated Q or K, rotated back, to
/// `to`. The first row has the angles of position `first`.
void rotateBackward(const Spec& spec, int first, const Tensor& from, Tensor& to);
/// ALiBi's slope of a head (Press et al. 2022, section 3). Where P is the largest power of two that is at
/// most the number of heads, the first P heads have 2^(-8(head + 1)/P); the remaining ones take every other
/// slope of 2P heads, as in the authors' code.
float slopeOf(const Spec& spec, int head);

}  // namespace attention
