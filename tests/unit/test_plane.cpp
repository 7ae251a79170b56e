// Vectors in a plane: the axes compared with their definition by brute force.
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "attention/experiments/plane.h"
#include "layer.h"

using namespace attention;

namespace {

using Vectors = std::vector<std::vector<float>>;

Vectors drawn(unsigned seed, int count, int columns, double mean = 0) {
  test::Random random(seed);
  Vectors rows(static_cast<std::size_t>(count), std::vector<float>(static_cast<std::size_t>(columns)));
  for (auto& row : rows)
    for (float& v : row) v = static_cast<float>(double{random.normal()} + mean);
  return rows;
}

std::vector<const float*> pointers(const Vectors& rows) {
  std::vector<const float*> out;
  for (const auto& row : rows) out.push_back(row.data());
  return out;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// The sum of squares that remains when rows are projected onto the plane of two directions, which need not
/// be orthogonal.
double squaresIn(const Vectors& rows, const std::vector<double>& origin, std::vector<double> a,
                 std::vector<double> b) {
  const double la = std::sqrt(dot(a, a));
  for (double& v : a) v /= la;
  const double along = dot(a, b);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] -= along * a[i];
  const double lb = std::sqrt(dot(b, b));
  for (double& v : b) v /= lb;
  double sum = 0;
  for (const auto& row : rows) {
    double x = 0, y = 0;
    for (std::size_t i = 0; i < row.size(); ++i)
      x += (double{row[i]} - origin[i]) * a[i], y += (double{row[i]} - origin[i]) * b[i];
    sum += x * x + y * y;
  }
  return sum;
}

bool isLeftOf(const PlanePoint& a, const PlanePoint& b, const PlanePoint& p) {
  return (b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) >= -1e-12;
}

}  // namespace

TEST_CASE("plane: no other plane shows more, drawn or turned a little") {
  for (const bool centred : {false, true}) {
    const Vectors rows = drawn(7, 9, 5, centred ? 3 : 0);
    const Plane plane = principalPlane(pointers(rows), 5, centred);
    CHECK(std::fabs(dot(plane.first, plane.first) - 1) < 1e-12);
    CHECK(std::fabs(dot(plane.second, plane.second) - 1) < 1e-12);
    CHECK(std::fabs(dot(plane.first, plane.second)) < 1e-12);
    const double best = squaresIn(rows, plane.origin, plane.first, plane.second);
    test::Random random(3);
    for (int i = 0; i < 2000; ++i) {
      std::vector<double> a = plane.first, b = plane.second;
      const double by = i % 2 == 0 ? 1e-3 : 10;
      for (double& v : a) v += by * double{random.normal()};
      for (double& v : b) v += by * double{random.normal()};
      CHECK(squaresIn(rows, plane.origin, a, b) <= best * (1 + 1e-12));
    }
    const PlaneShares shares = sharesOf(plane, pointers(rows));
    CHECK(shares.first >= shares.second);
    double whole = 0;
    for (const auto& row : rows)
      for (std::size_t c = 0; c < 5; ++c)
        whole += (double{row[c]} - plane.origin[c]) * (double{row[c]} - plane.origin[c]);
    CHECK(std::fabs(shares.first + shares.second - best / whole) < 1e-12);
  }
}

TEST_CASE("plane: two columns are shown as they are, and one on a line") {
  const Vectors two = {{1, 2}, {-3, 0.5f}}, one = {{4}, {-1}};
  const Plane plane = principalPlane(pointers(two), 2, true), line = principalPlane(pointers(one), 1, false);
  CHECK(plane.isWhole);
  CHECK(plane.at(two[1].data()).x == -3);
  CHECK(plane.at(two[1].data()).y == 0.5);
  CHECK(line.at(one[0].data()).x == 4);
  CHECK(line.at(one[0].data()).y == 0);
  CHECK(sharesOf(plane, pointers(two)).first + sharesOf(plane, pointers(two)).second == 1);
}

TEST_CASE("plane: a vector moves within it and nowhere else") {
  const Vectors rows = drawn(1, 8, 6);
  const Plane plane = principalPlane(pointers(rows), 6, false);
  const std::vector<float> to = plane.moved(rows[2].data(), {0.75, -1.5});
  const PlanePoint was = plane.at(rows[2].data()), is = plane.at(to.data());
  CHECK(std::fabs(is.x - was.x - 0.75) < 1e-6);
  CHECK(std::fabs(is.y - was.y + 1.5) < 1e-6);
  double rest = 0;  // the part of the step outside the plane
  for (std::size_t c = 0; c < 6; ++c) {
    const double left = double{to[c]} - double{rows[2][c]} - 0.75 * plane.first[c] + 1.5 * plane.second[c];
    rest += left * left;
  }
  CHECK(std::sqrt(rest) < 1e-6);
  CHECK(plane.moved(rows[2].data(), {0, 0}) == rows[2]);
  const Plane whole = principalPlane({}, 2, false);
  const float flat[] = {0.1f, 0.2f};
  CHECK(whole.moved(flat, {0.0504, 0})[0] == 0.15f);  // rounded to three decimals
  CHECK(whole.moved(flat, {0.0504, 0})[1] == 0.2f);
}

TEST_CASE("plane: nothing, zeros, equal rows and the largest floats") {
  CHECK(principalPlane({}, 3, false).first == std::vector<double>{1, 0, 0});
  const Vectors zeros(3, std::vector<float>(4)), equal(3, std::vector<float>{1, 2, 3, 4}),
      huge = {{3e38f, 0, 0}, {0, -3e38f, 1}};
  CHECK(sharesOf(principalPlane(pointers(zeros), 4, false), pointers(zeros)).first == 1);
  const Plane line = principalPlane(pointers(equal), 4, false);
  CHECK(std::fabs(line.first[3] - 4 / std::sqrt(30.0)) < 1e-9);
  CHECK(sharesOf(principalPlane(pointers(equal), 4, true), pointers(equal)).first == 1);
  const Plane wide = principalPlane(pointers(huge), 3, false);
  for (const double v : wide.first) CHECK(std::isfinite(v));
}

TEST_CASE("plane: every point lies within the hull, whose corners are points") {
  test::Random random(11);
  std::vector<PlanePoint> points;
  for (int i = 0; i < 60; ++i) points.push_back({double{random.normal()}, double{random.normal()}});
  points.push_back(points.front());
  const std::vector<PlanePoint> hull = hullOf(points);
  CHECK(hull.size() >= 3);
  for (std::size_t i = 0; i < hull.size(); ++i)
    for (const PlanePoint& p : points) CHECK(isLeftOf(hull[i], hull[(i + 1) % hull.size()], p));
  CHECK(hullOf({{0, 0}, {1, 1}, {2, 2}}).size() == 2);
  CHECK(hullOf({{1, 1}, {1, 1}}).size() == 1);
  CHECK(hullOf({}).empty());
  CHECK(hullOf({{0, 0}, {2, 0}, {2, 2}, {0, 2}, {1, 1}, {1, 0}}).size() == 4);
}
