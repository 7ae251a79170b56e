// Inserts rows and columns into a tensor, or removes them, in place: what happens to the matrices when a
// token is added or removed.
#pragma once

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

}  // namespace attention
