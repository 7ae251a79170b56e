// Colour arithmetic on the CPU, matching the shader, to choose the colour of text on cells.
#include <algorithm>
#include <cmath>

#include "draw/heatmap.h"

namespace draw {
namespace {

Color mix(const Color& a, const Color& b, float t) {
  return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t, a.a + (b.a - a.a) * t};
}

/// Converts an sRGB component to linear light, with the threshold of WCAG 2.2.
float linear(float channel) {
  return channel <= 0.04045f ? channel / 12.92f : std::pow((channel + 0.055f) / 1.055f, 2.4f);
}

}  // namespace

float luminance(Color color) {
  return 0.2126f * linear(color.r) + 0.7152f * linear(color.g) + 0.0722f * linear(color.b);
}

Color at(const ColorMap& map, float t) {
  constexpr int kLast = ColorMap::kStops - 1;
  const float s = t > 0.0f ? std::min(t, 1.0f) * static_cast<float>(kLast) : 0.0f;  // false for NaN
  const int i = std::min(static_cast<int>(s), kLast - 1);
  const auto index = static_cast<std::size_t>(i);
  return mix(map.stops[index], map.stops[index + 1], s - static_cast<float>(i));
}

float fraction(const Heatmap& map, float value, float peak) {
  const float width = map.high > map.low ? map.high - map.low : 1.0f, t = (value - map.low) / width;
  if (map.scale == Scale::linear) return t;
  const float zero = -map.low / width, side = 1 - zero;
  const float root = std::sqrt(std::fabs(t - zero) / side);
  const float size = map.scale == Scale::row    ? std::fabs(value) / std::max(peak, 1e-30f)
                     : map.scale == Scale::root ? root
                                                : std::sqrt(root);
  return zero + (value < 0 ? -size : size) * side;
}

float contrast(Color a, Color b) {
  const float la = luminance(a), lb = luminance(b);
  return (std::max(la, lb) + 0.05f) / (std::min(la, lb) + 0.05f);
}

}  // namespace draw
