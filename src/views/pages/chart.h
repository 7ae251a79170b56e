// Small charts: a frame with two axes, and lines, bars and marks inside.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "views/context.h"

namespace views {

/// One axis. If it is logarithmic, `low` is greater than 0. Smaller values are drawn at the edge, but a line
/// begins at its first point that is on the x axis.
struct Axis {
  double low = 0, high = 1;
  bool logarithmic = false;
  std::span<const double> ticks;
  std::string_view name;
};

struct Point {
  double x, y;
};

/// The powers of ten from the last one <= `low` to the first one >= `high`, thinned evenly so that there are
/// at most `most`: the ticks and ends of a logarithmic axis. Both arguments must be > 0.
std::vector<double> powersOfTen(double low, double high, int most = 9);

class Chart {
 public:
  /// Draws title, frame, ticks and axis names inside `box`.
  Chart(Context& context, const Box& box, base::MessageView title, const Axis& x, const Axis& y);

  void line(std::span<const Point> points, ImU32 color, float thickness = 1.8f);
  void dots(std::span<const Point> points, ImU32 color);
  /// Adjacent bars over `low` to `high` of the x axis; the highest one is as high as the chart.
  void bars(std::span<const int> counts, double low, double high, ImU32 color);
  /// A dashed vertical line.
  void mark(double x, ImU32 color);
  /// Adds an entry to the legend, from right to left.
  void legend(base::MessageView words, ImU32 color);

 private:
  ImVec2 place(Point point) const;
  Context& c_;
  ImDrawList* list_;
  Box box_, plot_;
  Axis x_, y_;
  float legendRight_, legendY_;
};

}  // namespace views
