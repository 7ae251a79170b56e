// How things look: colours, type and measures. Panels take them from here and from nowhere else.
#pragma once

#include <imgui.h>

#include "attention/trace.h"
#include "gfx/heatmap.h"
#include "gfx/lines.h"

namespace views {

/// Faces and sizes, in logical pixels. Filled by the shell, at the pixel ratio in use.
struct Fonts {
  ImFont* text = nullptr;       ///< Inter Regular 13.5
  ImFont* small = nullptr;      ///< Inter Regular 12
  ImFont* strong = nullptr;     ///< Inter SemiBold 13.5
  ImFont* smallStrong = nullptr;  ///< Inter SemiBold 11
  ImFont* title = nullptr;      ///< Inter SemiBold 16
  ImFont* tiny = nullptr;         ///< Inter SemiBold 9.5: raised and lowered letters
  ImFont* mono = nullptr;       ///< JetBrains Mono 13
  ImFont* monoSmall = nullptr;  ///< JetBrains Mono 11
  ImFont* monoTiny = nullptr;   ///< JetBrains Mono 10, digits only: where a cell would lose a decimal otherwise
  gfx::Lines* lines = nullptr;  ///< for text that the faces have no glyphs for; null where there is none
};

/// One theme. The hues are Okabe and Ito's, safe for colour-blind eyes: Q blue, K vermilion, V green; weights purple.
struct Palette {
  bool dark = false;
  ImU32 background, panel, border, text, muted, faint, hover, track;
  ImU32 ink, inkText;  ///< filled buttons and the text on them
  ImU32 on, knob;      ///< switches
  ImU32 error;
  ImU32 query, key, value, weight, neutral;  ///< titles, outlines, arcs, formulas
  gfx::ColorMap signedMap;                   ///< diverging, 0 in the middle
  gfx::ColorMap weightMap;                   ///< sequential, from the panel colour
};

const Palette& palette(bool dark);

/// The colour of a tensor's title and outline.
ImU32 hue(const Palette& palette, attention::TensorId id);
ImU32 withAlpha(ImU32 color, float alpha);
gfx::Color toColor(ImU32 color);
ImU32 toU32(gfx::Color color);
/// Black or white, whichever reads better on that cell colour (at least WCAG AA, 4.5 : 1).
ImU32 textOn(gfx::Color cell);

/// The end of a signed colour scale for numbers up to `absMax`: the next of 1, 1.5, 2, 3, 5 times a power of ten, so
/// that colours stay while a number is dragged.
float niceBound(float absMax);

inline constexpr float kUnit = 8.0f;  ///< the grid that everything sits on

}  // namespace views
