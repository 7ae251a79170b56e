// Small charts: a frame with two axes, and lines, bars and marks in it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "views/context.h"

namespace views {

/// What one axis shows. On a logarithmic one `low` is above 0, and smaller values lie on the edge.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::span<const double> ticks;
  std::string_view name;
};

struct Point {
  double x, y;
};

/// The powers of ten from the one at or below `low` to the one at or above `high`, every so manyth so that there are at most
/// `most`: the ticks of a logarithmic axis, and its ends. Both are above 0.
std::vector<double> powersOfTen(double low, double high, int most = 9);

class Chart {
 public:
  /// Draws title, frame, ticks and names of the axes inside `box`.
  Chart(Context& context, const Box& box, std::string_view title, const Axis& x, const Axis& y);

  void line(std::span<const Point> points, ImU32 color, float thickness = 1.8f);
  void dots(std::span<const Point> points, ImU32 color);
  /// Bars from the bottom, side by side between `low` and `high` of the x axis; the tallest is as high as the chart.
  void bars(std::span<const int> counts, double low, double high, ImU32 color);
  /// A dashed line from top to bottom.
  void mark(double x, ImU32 color);
  /// A word for a colour, from the right; call once for each.
  void legend(std::string_view words, ImU32 color);

 private:
  ImVec2 place(Point point) const;
  Context& c_;
  ImDrawList* list_;
  Box box_, plot_;
  Axis x_, y_;
  float legendRight_, legendY_;
};

}  // namespace views
