#include "views/theme.h"

#include <cmath>

namespace views {
namespace {

using attention::TensorId;

constexpr ImU32 rgb(unsigned hex) {
  return IM_COL32((hex >> 16) & 255u, (hex >> 8) & 255u, hex & 255u, 255);
}

gfx::Color mix(gfx::Color a, gfx::Color b, float t) {
  return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t, 1.0f};
}

// Full strength is 55 % of the hue, so that dark text stays readable on every cell.
gfx::ColorMap divergingMap(gfx::Color low, gfx::Color middle, gfx::Color high) {
  gfx::ColorMap map;
  constexpr int half = gfx::ColorMap::kStops / 2;
  for (int i = 0; i < gfx::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i - half) / half;
    map.stops[static_cast<std::size_t>(i)] = mix(middle, t < 0 ? low : high, 0.55f * std::fabs(t));
  }
  return map;
}

// The exponent lifts small weights: 0.05 has to differ from 0 to the eye.
gfx::ColorMap sequentialMap(gfx::Color low, gfx::Color high) {
  gfx::ColorMap map;
  for (int i = 0; i < gfx::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / (gfx::ColorMap::kStops - 1);
    map.stops[static_cast<std::size_t>(i)] = mix(low, high, std::pow(t, 0.8f));
  }
  return map;
}

Palette makeLight() {
  Palette p;
  p.dark = false;
  p.background = rgb(0xf7f7f5), p.panel = rgb(0xffffff), p.border = rgb(0xe3e2dd);
  p.text = rgb(0x1d1f23), p.muted = rgb(0x63676f), p.faint = rgb(0x8b8f96);
  p.hover = rgb(0xf1f0ec), p.track = rgb(0xe6e5e0);
  p.ink = rgb(0x1d1f23), p.inkText = rgb(0xffffff);
  p.on = rgb(0x009e73), p.knob = rgb(0xffffff), p.error = rgb(0xb3261e);
  p.query = rgb(0x0069a6), p.key = rgb(0xb84f00), p.value = rgb(0x007f5c), p.weight = rgb(0x7b4fa8);
  p.neutral = rgb(0x63676f);
  const gfx::Color white{1, 1, 1, 1};
  p.signedMap = divergingMap(toColor(rgb(0xd55e00)), white, toColor(rgb(0x0072b2)));
  p.weightMap = sequentialMap(white, toColor(rgb(0x8860b1)));
  return p;
}

Palette makeDark() {
  Palette p;
  p.dark = true;
  p.background = rgb(0x15171b), p.panel = rgb(0x1d2026), p.border = rgb(0x2d3139);
  p.text = rgb(0xe9eaec), p.muted = rgb(0x9aa0aa), p.faint = rgb(0x747a85);
  p.hover = rgb(0x272b33), p.track = rgb(0x333842);
  p.ink = rgb(0xe9eaec), p.inkText = rgb(0x1d1f23);
  p.on = rgb(0x3cc79a), p.knob = rgb(0xffffff), p.error = rgb(0xf2857c);
  p.query = rgb(0x58a6e0), p.key = rgb(0xf0925a), p.value = rgb(0x3cc79a), p.weight = rgb(0xb58ae8);
  p.neutral = rgb(0x9aa0aa);
  const gfx::Color base = toColor(p.panel);
  p.signedMap = divergingMap(toColor(rgb(0xf0925a)), base, toColor(rgb(0x58a6e0)));
  p.weightMap = sequentialMap(base, toColor(rgb(0xa77fd3)));
  return p;
}

}  // namespace

const Palette& palette(bool dark) {
  static const Palette light = makeLight(), night = makeDark();
  return dark ? night : light;
}

ImU32 hue(const Palette& palette, TensorId id) {
  switch (id) {
    case TensorId::q:
    case TensorId::q_rotated:
    case TensorId::w_a:
    case TensorId::w_q: return palette.query;
    case TensorId::k:
    case TensorId::k_rotated:
    case TensorId::u_a:
    case TensorId::w_k: return palette.key;
    case TensorId::v:
    case TensorId::w_v: return palette.value;
    case TensorId::weights: return palette.weight;
    default: return palette.neutral;
  }
}

ImU32 withAlpha(ImU32 color, float alpha) {
  const auto a = static_cast<ImU32>(alpha * static_cast<float>(color >> IM_COL32_A_SHIFT) + 0.5f);
  return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

gfx::Color toColor(ImU32 color) {
  const ImVec4 c = ImGui::ColorConvertU32ToFloat4(color);
  return {c.x, c.y, c.z, c.w};
}

ImU32 toU32(gfx::Color color) { return ImGui::ColorConvertFloat4ToU32({color.r, color.g, color.b, color.a}); }

ImU32 textOn(gfx::Color cell) {
  // Pure black: of the greys only it and white leave no cell in between where both fall below 4.5 : 1.
  static constexpr ImU32 dark = rgb(0x000000), light = rgb(0xffffff);
  return gfx::contrast(cell, toColor(dark)) >= gfx::contrast(cell, toColor(light)) ? dark : light;
}

float niceBound(float absMax) {
  if (!(absMax > 1.0f)) return 1.0f;
  const float power = std::pow(10.0f, std::floor(std::log10(absMax)));
  for (const float step : {1.0f, 1.5f, 2.0f, 3.0f, 5.0f}) {
    if (absMax <= step * power) return step * power;
  }
  return 10.0f * power;
}

}  // namespace views
