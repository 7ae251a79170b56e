// How things look: colours, type and measures. Panels take them from here and from nowhere else.
#pragma once

#include <imgui.h>

#include "attention/layer/trace.h"
#include "document/state.h"
#include "draw/heatmap.h"
#include "draw/lines.h"

namespace views {

struct Mirror;
class Words;

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
  draw::Lines* lines = nullptr;  ///< for text that the faces have no glyphs for; null where there is none
  bool ownFace = false;          ///< words are drawn by `lines`, with a face of the page's; numbers in cells are not
  Mirror* mirror = nullptr;      ///< notes what is drawn, for assistive technology; null: nothing is noted
  Words* words = nullptr;        ///< in the reader's language; null: English
};

/// One theme. The hues are Okabe and Ito's, safe for colour-blind eyes: Q blue, K vermilion, V green; weights purple.
struct Palette {
  bool dark = false;
  ImU32 background, panel, border, text, muted, faint, hover, track;
  ImU32 ink, inkText;  ///< filled buttons and the text on them
  ImU32 on, knob;      ///< switches
  ImU32 error;
  ImU32 query, key, value, weight, neutral;  ///< titles, outlines, arcs, formulas
  draw::ColorMap signedMap;                   ///< diverging, 0 in the middle
  draw::ColorMap weightMap;                   ///< sequential, from the panel colour
};

const Palette& palette(bool dark);

/// Colours of forced-colors mode (CSS Color 4: Canvas, CanvasText, Highlight, HighlightText), as 0xRRGGBB.
struct SystemColors {
  unsigned canvas = 0, text = 0xffffff, highlight = 0xffff00, highlightText = 0;
};
/// All but the cells of the matrices, whose colours are data, in these.
Palette forcedPalette(const SystemColors& colors);

/// A theme in which what is on, chosen or filled has that colour, 0xRRGGBB: as it is where it can be told from the panel (3 : 1,
/// WCAG 1.4.11), else lighter or darker.
Palette accentedPalette(bool dark, unsigned accent);

/// A theme with other colours of cells: cividis for weights, as it is from dark to light; or shades of grey, for weights from the panel's
/// colour to that of the text, for signed numbers from dark, the lowest, to light.
Palette mappedPalette(const Palette& palette, document::Colors colors);

/// The colour of a tensor's title and outline.
ImU32 hue(const Palette& palette, attention::TensorId id);
ImU32 withAlpha(ImU32 color, float alpha);
draw::Color toColor(ImU32 color);
ImU32 toU32(draw::Color color);
/// Black or white, whichever reads better on that cell colour (at least WCAG AA, 4.5 : 1).
ImU32 textOn(draw::Color cell);

/// The end of a signed colour scale for numbers up to `absMax`: the next of 1, 1.5, 2, 3, 5 times a power of ten, so
/// that colours stay while a number is dragged.
float niceBound(float absMax);

inline constexpr float kUnit = 8.0f;  ///< the grid that everything sits on

}  // namespace views
