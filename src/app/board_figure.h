// The board as a figure: drawn by the same calls as on the screen, and read back from them.
#pragma once

#include <string_view>

#include "base/result.h"
#include "draw/lines.h"
#include "files/drawing.h"
#include "files/figure.h"
#include "views/theme.h"

namespace app {

/// What a shell has to draw with: its faces, how many of their pixels make a logical one, and lines in scripts that these do not have.
struct Faces {
  ImFontAtlas& atlas;
  views::Fonts fonts;
  float scale = 1;
  draw::Rasteriser& rasteriser;
};

/// The matrices of a state and its heads, as wide as a page and as high as they need; in the style light, dark or
/// print, which is light on white. `stateText` is that of App::state(). Works in a Dear ImGui context of its own, without a graphics context.
base::Result<files::Drawing> boardFigure(std::string_view stateText, const files::FigureOptions& options, const Faces& faces);

}  // namespace app
