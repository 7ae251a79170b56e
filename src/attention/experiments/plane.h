// Vectors of a head in a plane: the directions that show the most of them, and the way back from there.
#pragma once

#include <span>
#include <vector>

#include "attention/layer/tensor.h"

namespace attention {

struct PlanePoint {
  double x = 0, y = 0;
};

/// A plane in a space of as many columns as `first` has numbers: through `origin`, along two directions of length 1 at a
/// right angle. Of a space with one column `second` is all zeros.
struct Plane {
  std::vector<double> origin, first, second;
  bool isWhole = false;  ///< the space has at most two columns: they are the directions, and nothing is left out

  int columns() const { return static_cast<int>(first.size()); }
  /// Where a vector stands, dropped on the plane at a right angle.
  PlanePoint at(const float* vector) const;
  /// `vector` moved by so much along the two directions, and nowhere else. Rounded to single precision only; where the plane
  /// is the whole space, to three decimals.
  std::vector<float> moved(const float* vector, PlanePoint by) const;
  /// The part of a vector along its directions, without the origin.
  PlanePoint along(const float* vector) const;
};

/// Of rows that all have `columns` numbers, the plane that shows the most: of all planes through the origin, or through the
/// mean of the rows where `centred`, the one with the largest sum of squared distances within it (Pearson 1901; the first
/// two eigenvectors of Σ r rᵀ). The largest number of each direction is positive. No rows, or all zero: the first columns.
Plane principalPlane(std::span<const float* const> rows, int columns, bool centred);

/// How much of the squared distances from the origin of the plane lies along its first and its second direction, 0 … 1. All
/// of it where every row is the origin.
struct PlaneShares {
  double first = 1, second = 0;
};
PlaneShares sharesOf(const Plane& plane, std::span<const float* const> rows);

/// The corners of the convex hull of some points, counter-clockwise (Andrew 1979); of points on a line, the two ends.
std::vector<PlanePoint> hullOf(std::vector<PlanePoint> points);

}  // namespace attention
