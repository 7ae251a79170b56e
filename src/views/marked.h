// Text in which what was searched is marked, and the icon of a search.
#pragma once

#include "document/search.h"
#include "views/widgets.h"

namespace views {

/// Draws a line that is already in the reader's language, shortened to `width`, with what the search covers
/// in semibold on a tint. `at`: its left end, and the middle of the line.
void markedText(Context& context, const Pen& pen, ImVec2 at, float width, std::string_view words,
                const document::Search& search);
/// Around a centre, 13 wide.
void magnifier(ImDrawList* list, ImVec2 center, ImU32 color);

}  // namespace views
