// The items of a drawing as filled shapes, for systems without a library that draws.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "files/export/drawing.h"

namespace cli {

/// Contours of lines and cubic curves, which are closed. What is inside has a winding number other than 0.
struct Shape {
  struct Step {
    enum class Kind : std::uint8_t { move, line, curve };
    Kind kind;
    std::array<double, 6> at{};  ///< of a curve two control points and the end, else x and y alone
  };
  std::vector<Step> steps;

  void move(double x, double y) { steps.push_back({Step::Kind::move, {x, y}}); }
  void line(double x, double y) { steps.push_back({Step::Kind::line, {x, y}}); }
  void curve(const std::array<double, 6>& at) { steps.push_back({Step::Kind::curve, at}); }
};

/// What is inside a rectangle, path or curve, and its line, as wide as it is stroked.
Shape insideOf(const files::Drawing::Item& item);
Shape strokeOf(const files::Drawing::Item& item);

/// The program's fonts.
class Letters {
 public:
  Letters();
  ~Letters();
  Letters(const Letters&) = delete;
  Letters& operator=(const Letters&) = delete;

  /// The letters of a text. Throws a Failure for a character that the fonts do not have.
  Shape of(const files::Drawing::Item& item) const;

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace cli
