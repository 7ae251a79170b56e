#include "views/pages/chart.h"

#include <algorithm>
#include <cmath>

#include "views/widgets.h"

namespace views {
namespace {

constexpr float kNarrow = 440;

/// The position of a value on an axis, 0 to 1.
float along(const Axis& axis, double value) {
  const double t = axis.logarithmic
                       ? std::log(std::max(value, axis.low) / axis.low) / std::log(axis.high / axis.low)
                       : (value - axis.low) / (axis.high - axis.low);
  return static_cast<float>(std::clamp(t, 0.0, 1.0));
}

/// As few digits as distinguish the ticks: "0.25", "1024", "0.001", "1e−6". Axes beyond 10,000 use powers
/// from there on.
std::string tickLabel(double value, double highest) {
  if (value >= 1e4 && highest > 1e4) {
    const double power = std::floor(std::log10(value) + 1e-9);
    return formatNumber(value / std::pow(10, power), 0) + "e" + std::to_string(std::lround(power));
  }
  if (value > 0 && value < 0.9e-3) return "1e−" + std::to_string(-std::lround(std::log10(value)));
  int decimals = 0;
  const auto isWhole = [](double v) {
    return std::fabs(v - std::round(v)) <= 1e-9 * std::max(1.0, std::fabs(v));
  };
  for (double v = value; decimals < 6 && !isWhole(v); v *= 10) ++decimals;
  return formatNumber(value, decimals);
}

}  // namespace

std::vector<double> powersOfTen(double low, double high, int most) {
  const int first = static_cast<int>(std::floor(std::log10(low) + 1e-9)),
            last = std::max(first + 1, static_cast<int>(std::ceil(std::log10(high) - 1e-9)));
  const int step = std::max(1, (last - first + most - 2) / (most - 1));
  std::vector<double> ticks;
  for (int power = first; power < last + step; power += step) ticks.push_back(std::pow(10.0, power));
  return ticks;
}

Chart::Chart(Context& context, const Box& box, base::MessageView title, const Axis& x, const Axis& y)
    : c_(context),
      list_(ImGui::GetWindowDrawList()),
      box_(box),
      x_(x),
      y_(y),
      legendRight_(box.right()) {
  const float head = box.width < kNarrow ? 44 : 26;  // on narrow charts the legend has a line of its own
  legendY_ = box.y + head - 17;
  const Palette& p = c_.palette;
  ImFont* small = c_.fonts.small;
  float left = 0;
  for (const double tick : y.ticks) left = std::max(left, textWidth(small, tickLabel(tick, y.ticks.back())));
  plot_ = {box.x + left + 8, box.y + head, box.width - left - 16, box.height - head - 36};
  textMiddle(list_, c_.fonts.smallStrong, box.x, box.y + 9, p.text, title);
  for (const double tick : y.ticks) {
    const float at = place({x.low, tick}).y;
    list_->AddLine({plot_.x, at}, {plot_.right(), at}, withAlpha(p.border, 0.8f));
    textRight(list_, small, plot_.x - 6, at, p.muted, tickLabel(tick, y.ticks.back()));
  }
  float free = box.x - 8;  // labels that would touch the previous one are omitted
  for (const double tick : x.ticks) {
    const float at = place({tick, y.low}).x;
    const std::string words = tickLabel(tick, x.ticks.back());
    const float half = textWidth(small, words) / 2, middle = std::min(at, box.right() - half);
    list_->AddLine({at, plot_.bottom()}, {at, plot_.bottom() + 4}, p.border);
    if (middle - half < free + 6) continue;
    textCentered(list_, small, middle, plot_.bottom() + 13, p.muted, words);
    free = middle + half;
  }
  list_->AddLine({plot_.x, plot_.bottom()}, {plot_.right(), plot_.bottom()}, p.faint);
  textCentered(list_, small, plot_.midX(), plot_.bottom() + 29, p.muted, x.name);
}

ImVec2 Chart::place(Point point) const {
  return {plot_.x + plot_.width * along(x_, point.x), plot_.bottom() - plot_.height * along(y_, point.y)};
}

void Chart::line(std::span<const Point> points, ImU32 color, float thickness) {
  for (const Point& p : points) {
    // A logarithmic axis has no place for step 0: at the edge it would be above or below step 1.
    if (!x_.logarithmic || p.x >= x_.low) list_->PathLineTo(place(p));
  }
  list_->PathStroke(color, 0, thickness);
}

void Chart::dots(std::span<const Point> points, ImU32 color) {
  for (const Point& p : points) list_->AddCircleFilled(place(p), 2.8f, color, 16);
}

void Chart::bars(std::span<const int> counts, double low, double high, ImU32 color) {
  const int most = std::max(1, *std::max_element(counts.begin(), counts.end()));
  const double width = (high - low) / static_cast<double>(counts.size());
  for (std::size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double from = low + width * static_cast<double>(i);
    const float left = place({from, 0}).x, right = place({from + width, 0}).x;
    const float tall = plot_.height * static_cast<float>(counts[i]) / static_cast<float>(most);
    const float bottom = plot_.bottom();
    list_->AddRectFilled({left, bottom - std::max(tall, 1.0f)}, {std::max(right - 1, left + 1), bottom},
                         color);
  }
}

void Chart::mark(double x, ImU32 color) {
  const float at = place({x, 0}).x;
  for (float y = plot_.y; y < plot_.bottom(); y += 6) {
    list_->AddLine({at, y}, {at, std::min(y + 3, plot_.bottom())}, color, 1.2f);
  }
}

void Chart::legend(base::MessageView words, ImU32 color) {
  const float width = textWidth(c_.fonts.small, words);
  const float x = legendRight_ - width;
  textMiddle(list_, c_.fonts.small, x, legendY_, c_.palette.text, words);
  list_->AddRectFilled({x - 14, legendY_ - 4}, {x - 5, legendY_ + 4}, color, 2);
  legendRight_ = x - 26;
}

}  // namespace views
