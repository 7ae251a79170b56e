// Texts of lessons, broken into lines: bold text, numbers, and references to places on the board.
#pragma once

#include "views/guide/guide_view.h"
#include "views/widgets.h"

namespace views {

struct FlowLook {
  ImFont* font = nullptr;
  ImU32 color = 0;
  float line = 21;
  /// The maximal number of lines, the last one ending with "…" if there are more; 0: unlimited.
  int most = 0;
  bool hasTerms = false;  ///< words of the glossary are underlined, and open it
};

/// Draws a text from its top left corner `at`, and handles the pointer on its references; returns the height.
/// `name` is the prefix for their widget rectangles: "guide:text:0" …. If it is empty, the text is only
/// measured.
float flow(Context& context, const document::Markup& text, ImVec2 at, float width, const FlowLook& look,
           std::string_view name);

}  // namespace views
