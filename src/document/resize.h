// Changes of shape: tokens, heads, columns. Existing cells keep their numbers; new ones are drawn from the
// seed.
#pragma once

#include "document/seeded.h"
#include "document/state.h"

namespace document {

/// The number of heads and the axes of an input tensor.
struct Axes {
  int heads = 1;
  Axis rows, cols;
  bool operator==(const Axes&) const = default;
};
Axes axes(const Settings& settings, TensorId id);

/// Gives the input tensor the shape determined by the state's sizes, and fills it with numbers drawn from
/// state.seed.
void fillSeeded(State& state, TensorId id);
/// The same, but with the initial values of the tensor: the identity for w_a and u_a, with which general
/// scores are dot products; ones for v_a; zeros for biases and sinks; numbers drawn from the seed for others.
void fillFresh(State& state, TensorId id);
/// The same numbers for the rows from `first` on, of the input of that item of the batch; from its words if
/// state.sameWord.
Tensor freshRows(const State& state, TensorId id, int item, int first);
/// Changes the settings of the state to `after`, which must have the same number of heads, and resizes inputs
/// and mask accordingly. Existing cells keep their numbers; new ones get initial values. The other sequence
/// of cross-attention starts as a copy of x.
void resize(State& state, const Settings& after);
/// The same for a different number of heads: the same columns, divided into other groups. Numbers of score
/// matrices for pairs of columns that are no longer in the same head are lost.
void regroup(State& state, const Settings& after);
/// Redraws all rows of tokens, in every item of the batch: from their words if state.sameWord, otherwise each
/// independently.
void drawRows(State& state);
/// Redraws the rows of the item on the board whose word differs from the one in `before`.
void drawChangedRows(State& state, Side side, const std::vector<std::string>& before);
/// The labels of that side's tokens.
std::vector<std::string>& sideLabels(State& state, Side side);
/// Inserts rows and labels for `count` new tokens before `at`, drawn from the seed; painted cells move with
/// their tokens.
void insertTokens(State& state, Side side, int at, int count);
/// Default labels "t5", "t6" … for tokens without a label of their own.
std::vector<std::string> numberedLabels(int first, int count);
void removeTokens(State& state, Side side, int at, int count);
/// Changes the number of items in the batch: new ones are drawn from the seed, the last ones are removed.
void resizeBatch(State& state, int batch);
/// Moves that item of the batch to the board, and the one on the board to the pages.
void showItem(State& state, int item);
/// Extends a bias of one head, or none, to the heads of Settings::biasKind.
void widenBias(const Settings& settings, Tensor& bias);
/// Replaces a mask that blocks nothing by an empty one, so that equal states are equal bit for bit.
void tidyMask(PaintedMask& mask);

}  // namespace document
