// What differs between two layers of one shape, and what differs most.
#pragma once

#include <vector>

#include "attention/layer/explain.h"

namespace attention {

struct CellChange {
  CellRef cell;
  float before = 0, after = 0;
  double by() const { return double{after} - double{before}; }
};

/// The cells of one tensor that differ.
struct Contrast {
  int count = 0;                    ///< how many
  std::vector<CellChange> largest;  ///< the largest |after − before| first; equal ones in the order of the table
};

/// Are they different numbers, and not the same one summed in another order? Of two infinities, or an infinity and a number,
/// those that are not the same.
bool differs(float before, float after);

/// At most `most` of the largest. No cells where the shapes differ. A mask that came or went has no size, and is only counted.
Contrast contrastOf(TensorId id, const Tensor& before, const Tensor& after, std::size_t most);

}  // namespace attention
