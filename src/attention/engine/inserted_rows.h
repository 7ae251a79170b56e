// Inserts rows and columns into a tensor, or removes them, in place: what happens to the matrices when a
// token is added or removed.
#pragma once

#include "attention/layer/spec.h"
#include "attention/layer/tensor.h"

namespace attention {

/// `count` indices inserted into an axis before index `at`; a count of 0 inserts nothing.
struct Insertion {
  int at = 0, count = 0;
};

/// Inserts rows and columns of zeros into every head of `tensor`, before row `rows.at` and column `cols.at`.
/// Existing numbers move to their new indices. Allocates only when the tensor has never been that large.
void insertRows(Tensor& tensor, Insertion rows, Insertion cols);
/// Removes the rows and columns [at, at + count) from every head.
void removeRows(Tensor& tensor, Insertion rows, Insertion cols);

/// Converts an index of an axis with the inserted indices into one of the axis without them; an inserted
/// index becomes `inserted.at`.
int withoutInserted(Insertion inserted, int place);
/// Do the two ranges contain the same keys, inserted keys aside? `with` is numbered with the inserted keys,
/// `without` is numbered without them.
bool seesTheSame(Insertion inserted, KeyRange with, KeyRange without);

}  // namespace attention
