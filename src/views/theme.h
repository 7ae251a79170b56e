// The look of the interface: colours, fonts and measures. Panels use no others.
#pragma once

#include <imgui.h>

#include <array>

#include "attention/experiments/head_pattern.h"
#include "attention/layer/trace.h"
#include "document/state.h"
#include "draw/heatmap.h"
#include "draw/lines.h"

namespace views {

struct Mirror;
class Words;

/// Fonts and their sizes in logical pixels. Loaded by the shell for the present pixel ratio.
struct Fonts {
  ImFont* text = nullptr;         ///< Inter Regular 13.5
  ImFont* small = nullptr;        ///< Inter Regular 12
  ImFont* strong = nullptr;       ///< Inter SemiBold 13.5
  ImFont* smallStrong = nullptr;  ///< Inter SemiBold 11
  ImFont* title = nullptr;        ///< Inter SemiBold 16
  ImFont* tiny = nullptr;         ///< Inter Regular 10: superscripts and subscripts
  ImFont* tinyStrong = nullptr;   ///< Inter SemiBold 9.5: those of strong text
  ImFont* mono = nullptr;         ///< JetBrains Mono 13
  ImFont* monoSmall = nullptr;    ///< JetBrains Mono 11
  /// JetBrains Mono 10, digits only: for cells that would otherwise have to drop a decimal.
  ImFont* monoTiny = nullptr;
  draw::Lines* lines = nullptr;  ///< for text with characters that the fonts do not have; may be null
  /// Text is drawn by `lines`, in a font of the host page, except for numbers in cells.
  bool ownFace = false;
  Mirror* mirror = nullptr;  ///< records what is drawn for assistive technology; null: not recorded
  Words* words = nullptr;    ///< the translation to the reader's language; null: English
};

/// One theme. The hues are those of Okabe and Ito, which colour-blind readers can tell apart: Q blue, K
/// vermilion, V green; weights purple.
struct Palette {
  bool dark = false;
  ImU32 background, panel, border, text, muted, faint, hover, track;
  ImU32 ink, inkText;  ///< filled buttons, and the text on them
  ImU32 on, knob;      ///< switches
  ImU32 error;
  ImU32 query, key, value, weight, neutral;              ///< titles, outlines, arcs, formulas
  std::array<ImU32, attention::kHeadPatterns> patterns;  ///< of heads, on a sixth of the same colour
  draw::ColorMap signedMap;                              ///< diverging, 0 in the middle
  draw::ColorMap weightMap;                              ///< sequential, starting at the panel's colour
};

const Palette& palette(bool dark);

/// The colours of forced-colors mode (CSS Color 4: Canvas, CanvasText, Highlight, HighlightText), as
/// 0xRRGGBB.
struct SystemColors {
  unsigned canvas = 0, text = 0xffffff, highlight = 0xffff00, highlightText = 0;
};
/// A palette of only these colours, except for the cells of matrices, whose colours are data.
Palette forcedPalette(const SystemColors& colors);

/// A theme with an accent colour, 0xRRGGBB, for what is on, chosen or filled. The colour is made lighter or
/// darker if its contrast to the panel is less than 3 : 1 (WCAG 1.4.11).
Palette accentedPalette(bool dark, unsigned accent);

/// A theme with other colours for cells: cividis for weights, from dark to light; or shades of grey, for
/// weights from the panel's colour to that of the text, for signed numbers from dark (the lowest) to light.
Palette mappedPalette(const Palette& palette, document::Colors colors);

/// The colour of a tensor's title and outline.
ImU32 hue(const Palette& palette, attention::TensorId id);
ImU32 withAlpha(ImU32 color, float alpha);
draw::Color toColor(ImU32 color);
ImU32 toU32(draw::Color color);
/// Black or white, whichever has the higher contrast to the cell's colour (at least 4.5 : 1, WCAG AA).
ImU32 textOn(draw::Color cell);

/// The end of a signed colour scale for numbers up to `absMax`: rounded up to 1, 1.5, 2, 3 or 5 times a power
/// of ten, so that colours do not change all the time while a number is dragged.
float niceBound(float absMax);

inline constexpr float kUnit = 8.0f;  ///< the layout grid, in logical pixels

}  // namespace views
