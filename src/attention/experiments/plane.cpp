#include "attention/experiments/plane.h"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>

namespace attention {
namespace {

std::vector<double> unit(int columns, int which) {
  std::vector<double> out(static_cast<std::size_t>(columns));
  if (which < columns) out[static_cast<std::size_t>(which)] = 1;
  return out;
}

std::vector<double> direction(const Eigen::VectorXd& vector) {
  std::vector<double> out(vector.data(), vector.data() + vector.size());
  const double largest = *std::max_element(out.begin(), out.end(),
                                           [](double a, double b) { return std::fabs(a) < std::fabs(b); });
  for (double& v : out) v = largest < 0 ? -v : v;
  return out;
}

PlanePoint project(const Plane& plane, const float* vector, bool fromOrigin) {
  PlanePoint out;
  for (std::size_t c = 0; c < plane.first.size(); ++c) {
    const double v = double{vector[c]} - (fromOrigin ? plane.origin[c] : 0.0);
    out.x += v * plane.first[c], out.y += v * plane.second[c];
  }
  return out;
}

/// Twice the signed area of a triangle: positive if it turns left.
double turn(const PlanePoint& a, const PlanePoint& b, const PlanePoint& c) {
  return (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
}

}  // namespace

PlanePoint Plane::at(const float* vector) const { return project(*this, vector, true); }
PlanePoint Plane::along(const float* vector) const { return project(*this, vector, false); }

std::vector<float> Plane::moved(const float* vector, PlanePoint by) const {
  std::vector<float> out(first.size());
  for (std::size_t c = 0; c < first.size(); ++c) {
    const double shift = by.x * first[c] + by.y * second[c], to = double{vector[c]} + shift;
    out[c] = shift == 0 ? vector[c] : static_cast<float>(isWhole ? std::round(to * 1000) / 1000 : to) + 0.0f;
  }
  return out;
}

Plane principalPlane(std::span<const float* const> rows, int columns, bool centred) {
  Plane plane{unit(columns, columns), unit(columns, 0), unit(columns, 1), columns <= 2};
  if (plane.isWhole || rows.empty()) return plane;
  const auto count = static_cast<Eigen::Index>(columns);
  Eigen::MatrixXd all(static_cast<Eigen::Index>(rows.size()), count);
  for (std::size_t r = 0; r < rows.size(); ++r)
    for (Eigen::Index c = 0; c < count; ++c) all(static_cast<Eigen::Index>(r), c) = double{rows[r][c]};
  if (centred) {
    const Eigen::RowVectorXd mean = all.colwise().mean();
    all.rowwise() -= mean;
    plane.origin.assign(mean.data(), mean.data() + mean.size());
  }
  const double largest = all.cwiseAbs().maxCoeff();
  if (largest == 0) return plane;
  all /= largest;  // keeps squares of the largest floats finite
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(all.transpose() * all);
  plane.first = direction(solver.eigenvectors().col(count - 1)),
  plane.second = direction(solver.eigenvectors().col(count - 2));
  return plane;
}

PlaneShares sharesOf(const Plane& plane, std::span<const float* const> rows) {
  double first = 0, second = 0, whole = 0;
  for (const float* row : rows) {
    const PlanePoint at = plane.at(row);
    first += at.x * at.x, second += at.y * at.y;
    for (std::size_t c = 0; c < plane.origin.size(); ++c)
      whole += (double{row[c]} - plane.origin[c]) * (double{row[c]} - plane.origin[c]);
  }
  return whole > 0 ? PlaneShares{first / whole, second / whole} : PlaneShares{};
}

std::vector<PlanePoint> hullOf(std::vector<PlanePoint> points) {
  std::sort(points.begin(), points.end(),
            [](const PlanePoint& a, const PlanePoint& b) { return a.x != b.x ? a.x < b.x : a.y < b.y; });
  points.erase(std::unique(points.begin(), points.end(),
                           [](const PlanePoint& a, const PlanePoint& b) { return a.x == b.x && a.y == b.y; }),
               points.end());
  if (points.size() < 3) return points;
  std::vector<PlanePoint> hull;
  for (const bool lower : {true, false}) {
    const std::size_t begin = hull.size();
    for (const PlanePoint& p : points) {
      while (hull.size() >= begin + 2 && turn(hull[hull.size() - 2], hull.back(), p) <= 0) hull.pop_back();
      hull.push_back(p);
    }
    hull.pop_back();  // it is also the first point of the other half
    if (lower) std::reverse(points.begin(), points.end());
  }
  return hull;
}

}  // namespace attention
