#include "views/theme.h"

#include <cmath>

#include "base/cividis.h"

namespace views {
namespace {

constexpr ImU32 rgb(unsigned hex) { return IM_COL32((hex >> 16) & 255u, (hex >> 8) & 255u, hex & 255u, 255); }

draw::Color mix(draw::Color a, draw::Color b, float t) {
  return {a.r + (b.r - a.r) * t, a.g + (b.g - a.g) * t, a.b + (b.b - a.b) * t, 1.0f};
}

// The ends are mixed from 55 % of the hue, so that dark text can be read on every cell.
draw::ColorMap divergingMap(draw::Color low, draw::Color middle, draw::Color high) {
  draw::ColorMap map;
  constexpr int half = draw::ColorMap::kStops / 2;
  for (int i = 0; i < draw::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i - half) / half;
    map.stops[static_cast<std::size_t>(i)] = mix(middle, t < 0 ? low : high, 0.55f * std::fabs(t));
  }
  return map;
}

// The exponent emphasises small weights: 0.05 must be distinguishable from 0.
draw::ColorMap sequentialMap(draw::Color low, draw::Color high) {
  draw::ColorMap map;
  for (int i = 0; i < draw::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / (draw::ColorMap::kStops - 1);
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
  p.patterns = {p.muted, rgb(0x0a6678), rgb(0xa61e6b), rgb(0x4f5661), rgb(0x7a5500), rgb(0x3f6b18)};
  const draw::Color white{1, 1, 1, 1};
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
  p.patterns = {p.muted, rgb(0x6cc7d8), rgb(0xf08cc4), rgb(0xb8bec8), rgb(0xe0b95a), rgb(0x9ccf70)};
  const draw::Color base = toColor(p.panel);
  p.signedMap = divergingMap(toColor(rgb(0xf0925a)), base, toColor(rgb(0x58a6e0)));
  p.weightMap = sequentialMap(base, toColor(rgb(0xa77fd3)));
  return p;
}

}  // namespace

const Palette& palette(bool dark) {
  static const Palette light = makeLight(), night = makeDark();
  return dark ? night : light;
}

Palette forcedPalette(const SystemColors& colors) {
  const draw::Color canvas = toColor(rgb(colors.canvas));
  Palette p = palette(0.2126f * canvas.r + 0.7152f * canvas.g + 0.0722f * canvas.b < 0.4f);
  const ImU32 back = rgb(colors.canvas), text = rgb(colors.text), high = rgb(colors.highlight);
  p.background = p.panel = p.hover = p.knob = back;
  p.text = p.muted = p.faint = p.border = p.track = p.neutral = p.error = text;
  p.query = p.key = p.value = p.weight = text;
  p.patterns.fill(text);
  p.ink = p.on = high, p.inkText = rgb(colors.highlightText);
  return p;
}

Palette accentedPalette(bool dark, unsigned accent) {
  Palette p = palette(dark);
  const draw::Color panel = toColor(p.panel), wanted = toColor(rgb(accent)), away = toColor(p.text);
  draw::Color color = wanted;
  for (float by = 0; by < 1 && draw::contrast(color, panel) < 3; by += 0.1f) color = mix(wanted, away, by);
  p.ink = p.on = toU32(color), p.inkText = textOn(color);
  return p;
}

Palette mappedPalette(const Palette& palette, document::Colors colors) {
  Palette p = palette;
  constexpr int last = draw::ColorMap::kStops - 1;
  for (int i = 0; i <= last; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const float t = static_cast<float>(i) / last, light = 0.2f + 0.75f * t;
    const unsigned char* stop = base::kCividis[i];
    if (colors == document::Colors::cividis)
      p.weightMap.stops[at] = toColor(IM_COL32(stop[0], stop[1], stop[2], 255));
    else
      p.weightMap.stops[at] = mix(toColor(p.panel), toColor(p.text), std::pow(t, 0.8f)),
      p.signedMap.stops[at] = {light, light, light, 1};
  }
  return p;
}

ImU32 hue(const Palette& palette, attention::TensorId id) {
  using attention::Hue;
  switch (attention::tensorRow(id).hue) {
    case Hue::query: return palette.query;
    case Hue::key: return palette.key;
    case Hue::value: return palette.value;
    case Hue::weight: return palette.weight;
    case Hue::neutral: break;
  }
  return palette.neutral;
}

ImU32 withAlpha(ImU32 color, float alpha) {
  const auto a = static_cast<ImU32>(alpha * static_cast<float>(color >> IM_COL32_A_SHIFT) + 0.5f);
  return (color & ~IM_COL32_A_MASK) | (a << IM_COL32_A_SHIFT);
}

draw::Color toColor(ImU32 color) {
  const ImVec4 c = ImGui::ColorConvertU32ToFloat4(color);
  return {c.x, c.y, c.z, c.w};
}

ImU32 toU32(draw::Color color) {
  return ImGui::ColorConvertFloat4ToU32({color.r, color.g, color.b, color.a});
}

ImU32 textOn(draw::Color cell) {
  // Pure black: with a lighter grey there would be cells on which neither it nor white reaches 4.5 : 1.
  static constexpr ImU32 dark = rgb(0x000000), light = rgb(0xffffff);
  // Where the contrast with black, (l + 0.05) ÷ 0.05, is at least that with white, 1.05 ÷ (l + 0.05).
  const float lit = draw::luminance(cell) + 0.05f;
  return lit * lit >= 1.05f * 0.05f ? dark : light;
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
