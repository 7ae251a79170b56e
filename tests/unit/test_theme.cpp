// Text can be read on everything that it stands on, in both themes: WCAG 2.2 AA, 4.5 : 1.
#include <doctest/doctest.h>

#include <cmath>

#include "views/theme.h"

using namespace views;

namespace {

constexpr float kAa = 4.5f;

float contrastOf(ImU32 a, ImU32 b) { return gfx::contrast(toColor(a), toColor(b)); }

}  // namespace

TEST_CASE("theme: words on panels and on the background") {
  for (const bool dark : {false, true}) {
    const Palette& p = palette(dark);
    CAPTURE(dark);
    for (const ImU32 under : {p.panel, p.background}) {
      for (const ImU32 words : {p.text, p.muted, p.query, p.key, p.value, p.weight, p.neutral}) {
        CAPTURE(words);
        CHECK(contrastOf(words, under) >= kAa);
      }
    }
    CHECK(contrastOf(p.text, p.hover) >= kAa);
    CHECK(contrastOf(p.inkText, p.ink) >= kAa);
    CHECK(contrastOf(textOn(toColor(p.error)), p.error) >= kAa);
  }
}

TEST_CASE("theme: numbers on coloured cells") {
  for (const bool dark : {false, true}) {
    for (const gfx::ColorMap* map : {&palette(dark).signedMap, &palette(dark).weightMap}) {
      for (int i = 0; i <= 1000; ++i) {
        const gfx::Color cell = gfx::at(*map, static_cast<float>(i) / 1000);
        CHECK(gfx::contrast(toColor(textOn(cell)), cell) >= kAa);
      }
    }
  }
}

TEST_CASE("theme: zero is the colour of the panel, and the two signs differ") {
  for (const bool dark : {false, true}) {
    const Palette& p = palette(dark);
    CHECK(gfx::at(p.weightMap, 0) == toColor(p.panel));
    const gfx::Color low = gfx::at(p.signedMap, 0), high = gfx::at(p.signedMap, 1);
    CHECK(std::fabs(low.r - high.r) + std::fabs(low.b - high.b) > 0.3f);
  }
}

TEST_CASE("theme: a scale stays while a number is dragged a little") {
  CHECK(niceBound(0) == 1.0f);
  CHECK(niceBound(1.2f) == 1.5f);
  CHECK(niceBound(1.49f) == 1.5f);
  CHECK(niceBound(1.6f) == 2.0f);
  CHECK(niceBound(70) == 100.0f);
  CHECK(niceBound(3e37f) == doctest::Approx(3e37f));
}
