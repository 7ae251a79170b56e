// Projects the vectors of a head onto the plane that shows most of their variation, and maps movements in the
// plane back.
#pragma once

#include <span>
#include <vector>

#include "attention/layer/tensor.h"

namespace attention {

struct PlanePoint {
  double x = 0, y = 0;
};

/// A plane through `origin`, spanned by two orthonormal directions, in a space with as many columns as
/// `first` has numbers. In a space with one column `second` is all zeros.
struct Plane {
  std::vector<double> origin, first, second;
  /// The space has at most two columns, which are the two directions; nothing is lost by the projection.
  bool isWhole = false;

  int columns() const { return static_cast<int>(first.size()); }
  /// The coordinates of a vector's orthogonal projection onto the plane.
  PlanePoint at(const float* vector) const;
  /// `vector` moved by `by` along the two directions and unchanged in all others. The result is only rounded
  /// to float; where the plane is the whole space, to three decimals.
  std::vector<float> moved(const float* vector, PlanePoint by) const;
  /// The coordinates of a difference of two vectors: the projection without subtracting the origin.
  PlanePoint along(const float* vector) const;
};

/// The plane that shows most of the rows, each of `columns` numbers: of all planes through the origin
/// (through the mean of the rows if `centred`), the one with the largest sum of squared distances within it
/// (Pearson 1901; the first two eigenvectors of Σ r rᵀ). Signs are chosen so that the component of largest
/// magnitude in each direction is positive. For no rows, or rows that are all zero, the first two columns.
Plane principalPlane(std::span<const float* const> rows, int columns, bool centred);

/// The shares, 0 to 1, of the squared distances from the plane's origin that lie along its first and its
/// second direction. 1 and 0 where every row is the origin.
struct PlaneShares {
  double first = 1, second = 0;
};
PlaneShares sharesOf(const Plane& plane, std::span<const float* const> rows);

/// The corners of the convex hull in counter-clockwise order (Andrew 1979); for points on a line, the two
/// ends.
std::vector<PlanePoint> hullOf(std::vector<PlanePoint> points);

}  // namespace attention
