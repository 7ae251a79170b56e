// Which cells differ between two layers of the same shape, and which differ most.
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
  int count = 0;  ///< how many cells differ
  /// Those with the largest |after − before|, largest first; equal ones in the order of the table.
  std::vector<CellChange> largest;
};

/// Do the numbers differ by more than a sum added in another order would? An infinity differs from everything
/// but itself.
bool differs(float before, float after);

/// Compares two tensors and lists at most `most` of the largest changes. Nothing differs where the shapes do
/// not match. A cell that became masked or visible has no size of change, so it is counted but not listed.
Contrast contrastOf(TensorId id, const Tensor& before, const Tensor& after, std::size_t most);

}  // namespace attention
