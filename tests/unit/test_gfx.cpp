// The colour arithmetic on the processor. What the shader draws is compared with it in tests/desktop.
#include <doctest/doctest.h>

#include <limits>

#include "gfx/heatmap.h"

namespace {

gfx::ColorMap ramp() {
  gfx::ColorMap map;
  for (int i = 0; i < gfx::ColorMap::kStops; ++i) {
    const float t = static_cast<float>(i) / 8.0f;
    map.stops[static_cast<std::size_t>(i)] = {t, t * t, 1.0f - t, 1.0f};
  }
  return map;
}

}  // namespace

TEST_CASE("a colour map gives its stops at eighths and mixes between them") {
  const gfx::ColorMap map = ramp();
  for (int i = 0; i < gfx::ColorMap::kStops; ++i)
    CHECK(gfx::at(map, static_cast<float>(i) / 8.0f) == map.stops[static_cast<std::size_t>(i)]);
  const gfx::Color between = gfx::at(map, 1.0f / 16.0f);
  CHECK(between.r == doctest::Approx(0.0625f));
  CHECK(between.g == doctest::Approx(0.5f / 64.0f));
  CHECK(between.b == doctest::Approx(0.9375f));
}

TEST_CASE("a colour map clamps, and NaN gives the first stop") {
  const gfx::ColorMap map = ramp();
  CHECK(gfx::at(map, -3.0f) == map.stops.front());
  CHECK(gfx::at(map, 1e30f) == map.stops.back());
  CHECK(gfx::at(map, std::numeric_limits<float>::infinity()) == map.stops.back());
  CHECK(gfx::at(map, std::numeric_limits<float>::quiet_NaN()) == map.stops.front());
}

TEST_CASE("contrast is that of WCAG 2.2") {
  const gfx::Color white{1, 1, 1, 1}, black{0, 0, 0, 1}, grey{0x76 / 255.0f, 0x76 / 255.0f, 0x76 / 255.0f, 1};
  CHECK(gfx::contrast(black, white) == doctest::Approx(21.0));
  CHECK(gfx::contrast(white, black) == doctest::Approx(21.0));
  CHECK(gfx::contrast(grey, grey) == doctest::Approx(1.0));
  CHECK(gfx::contrast(grey, white) == doctest::Approx(4.54).epsilon(0.01));  // #767676, the known grey of 4.5 : 1
}
