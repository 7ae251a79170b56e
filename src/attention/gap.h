// Rows and columns put into a tensor, or taken out of it, in place: what a token more or less does to the matrices.
#pragma once

#include "attention/spec.h"
#include "attention/tensor.h"

namespace attention {

/// `count` places of an axis before the place `at`, or none.
struct Gap {
  int at = 0, count = 0;
};

/// Makes room in every head of `tensor`: `rows.count` rows before row `rows.at`, and columns likewise. What was there
/// moves aside; the room is zeros. Memory is taken only when the tensor has never been so large.
void openGap(Tensor& tensor, Gap rows, Gap cols);
/// Takes the rows and columns [at, at + count) out of every head.
void closeGap(Tensor& tensor, Gap rows, Gap cols);

/// Where a place of an axis with the gap is on the axis without it; places in the gap are where it was.
int withoutGap(Gap gap, int place);
/// Are the keys of `with`, numbered with the gap, those of `without`, numbered without it, but for the ones in the gap?
bool seesTheSame(Gap gap, KeyRange with, KeyRange without);

}  // namespace attention
