// Text has enough contrast on all of its backgrounds, in both themes: WCAG 2.2 AA, 4.5 : 1.
#include <doctest/doctest.h>

#include <cmath>

#include "views/theme.h"

using namespace views;

namespace {

constexpr float kAa = 4.5f;

float contrastOf(ImU32 a, ImU32 b) { return draw::contrast(toColor(a), toColor(b)); }

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
    for (const draw::ColorMap* map : {&palette(dark).signedMap, &palette(dark).weightMap}) {
      for (int i = 0; i <= 1000; ++i) {
        const draw::Color cell = draw::at(*map, static_cast<float>(i) / 1000);
        CHECK(draw::contrast(toColor(textOn(cell)), cell) >= kAa);
      }
    }
  }
}

TEST_CASE("theme: zero is the colour of the panel, and the two signs differ") {
  for (const bool dark : {false, true}) {
    const Palette& p = palette(dark);
    CHECK(draw::at(p.weightMap, 0) == toColor(p.panel));
    const draw::Color low = draw::at(p.signedMap, 0), high = draw::at(p.signedMap, 1);
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

TEST_CASE("theme: a colour of the page can be told from what it stands on, and read on") {
  for (const bool dark : {false, true}) {
    for (unsigned accent = 0; accent <= 0xffffff; accent += 0x0b0d11) {
      CAPTURE(accent);
      const Palette p = accentedPalette(dark, accent);
      CHECK(contrastOf(p.on, p.panel) >= 3.0f);
      CHECK(contrastOf(p.ink, p.inkText) >= kAa);
      CHECK(p.text == palette(dark).text);
    }
    const unsigned teal = 0x00807f;
    const Palette p = accentedPalette(dark, teal);
    if (!dark) CHECK(p.on == IM_COL32(0, 0x80, 0x7f, 255));
  }
}
