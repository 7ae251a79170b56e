// The board as a figure: drawn by the same calls as on the screen, and converted back from the draw lists.
#pragma once

#include <string_view>

#include "base/result.h"
#include "draw/lines.h"
#include "files/export/drawing.h"
#include "files/export/figure.h"
#include "views/theme.h"

namespace app {

/// What is needed for drawing: fonts, their pixels per logical pixel, and a rasteriser for scripts that they
/// do not have.
struct Faces {
  ImFontAtlas& atlas;
  views::Fonts fonts;
  float scale = 1;
  draw::Rasteriser& rasteriser;
};

/// Draws the matrices of a state and its heads, at the width of a page and whatever height they need, in the
/// style light, dark or print (light colours on white). `stateText` is the result of App::state(). Uses a
/// Dear ImGui context of its own, and no graphics context.
base::Result<files::Drawing> boardFigure(std::string_view stateText, const files::FigureOptions& options,
                                         const Faces& faces);

}  // namespace app
