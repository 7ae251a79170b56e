// What the pages of the experiments share: controls and text on the left, charts beside them.
#pragma once

#include <algorithm>
#include <cmath>

#include "views/pages/column.h"
#include "views/panels/panels.h"

namespace views {

inline std::string fixed(double value, int decimals = 2) { return formatNumber(value, decimals); }

/// Two significant digits for any power of ten: "0.26", "3.1e−7".
inline std::string small(double value) {
  if (!(value > 0)) return "0";
  const int power = static_cast<int>(std::floor(std::log10(value)));
  return power >= -3 ? fixed(value, std::max(0, 1 - power))
                     : fixed(value / std::pow(10.0, power), 1) + "e−" + std::to_string(-power);
}

// The common layout: charts beside controls and text, or between them on a narrow page. A view that computes
// in slices has an isThere(); until that is true, it is asked for its controls alone.
template <class ViewOf>
float drawExperiment(Context& c, const Box& area) {
  PageColumn top(c, area.x, area.y, area.width);
  top.title(ViewOf::kTitle);
  bool isThere = true;
  if constexpr (requires { ViewOf::isThere(c); }) isThere = ViewOf::isThere(c);
  ViewOf view(c);
  top.gap(8);
  const Box below = top.below(area);
  PageColumn left = firstColumn(c, below);
  const bool beside = left.width() < area.width;
  left.openCard();
  view.controls(left);
  if (beside && isThere) view.words(left);
  left.closeCard();
  PageColumn right = secondColumn(c, below, left);
  if (!isThere) return std::max(left.y(), stillComputes(right));
  view.pictures(right);
  if (!beside) {
    right.openCard();
    view.words(right);
    right.closeCard();
  }
  return std::max(left.y(), right.y());
}

}  // namespace views
