// Rows and columns put into a tensor, or taken out of it, in place: what a token more or less does to the matrices.
#pragma once

#include "attention/layer/spec.h"
#include "attention/layer/tensor.h"

namespace attention {

/// `count` indices that are inserted into an axis before the index `at`, or none.
struct Insertion {
  int at = 0, count = 0;
};

/// Makes room in every head of `tensor`: `rows.count` rows before row `rows.at`, and columns likewise. What was there
/// moves aside; the room is zeros. Memory is taken only when the tensor has never been so large.
void insertRows(Tensor& tensor, Insertion rows, Insertion cols);
/// Takes the rows and columns [at, at + count) out of every head.
void removeRows(Tensor& tensor, Insertion rows, Insertion cols);

/// Where an index of an axis with the inserted rows is on the axis without them; inserted ones are where they were put.
int withoutInserted(Insertion inserted, int place);
/// Are the keys of `with`, numbered with the inserted ones, those of `without`, numbered without them, but for the inserted ones?
bool seesTheSame(Insertion inserted, KeyRange with, KeyRange without);

}  // namespace attention
