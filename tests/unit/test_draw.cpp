// The colour arithmetic on the processor. What the shader draws is compared with it in tests/desktop.
#include <doctest/doctest.h>

#include <limits>

#include "draw/heatmap.h"

namespace {

draw::ColorMap ramp() {
  draw::ColorMap map;
  for (int i = 0; i < draw::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / 8.0f;
    map.stops[static_cast<std::size_t>(i)] = {t, t * t, 1.0f - t, 1.0f};
  }
  return map;
}

}  // namespace

TEST_CASE("a colour map gives its stops at eighths and mixes between them") {
  const draw::ColorMap map = ramp();
  for (int i = 0; i < draw::ColorMap::kStops; ++i)
    CHECK(draw::at(map, static_cast<float>(i) / 8.0f) == map.stops[static_cast<std::size_t>(i)]);
  const draw::Color between = draw::at(map, 1.0f / 16.0f);
  CHECK(between.r == doctest::Approx(0.0625f));
  CHECK(between.g == doctest::Approx(0.5f / 64.0f));
  CHECK(between.b == doctest::Approx(0.9375f));
}

TEST_CASE("a colour map clamps, and NaN gives the first stop") {
  const draw::ColorMap map = ramp();
  CHECK(draw::at(map, -3.0f) == map.stops.front());
  CHECK(draw::at(map, 1e30f) == map.stops.back());
  CHECK(draw::at(map, std::numeric_limits<float>::infinity()) == map.stops.back());
  CHECK(draw::at(map, std::numeric_limits<float>::quiet_NaN()) == map.stops.front());
}

TEST_CASE("contrast is that of WCAG 2.2") {
  const draw::Color white{1, 1, 1, 1}, black{0, 0, 0, 1}, grey{0x76 / 255.0f, 0x76 / 255.0f, 0x76 / 255.0f, 1};
  CHECK(draw::contrast(black, white) == doctest::Approx(21.0));
  CHECK(draw::contrast(white, black) == doctest::Approx(21.0));
  CHECK(draw::contrast(grey, grey) == doctest::Approx(1.0));
  CHECK(draw::contrast(grey, white) == doctest::Approx(4.54).epsilon(0.01));  // #767676, the known grey of 4.5 : 1
}
