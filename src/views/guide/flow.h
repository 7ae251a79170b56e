// The texts of lessons in lines: bold words, numbers, and places of the board that can be pointed at.
#pragma once

#include "views/guide/guide_view.h"
#include "views/widgets.h"

namespace views {

struct FlowLook {
  ImFont* font = nullptr;
  ImU32 color = 0;
  float line = 21;
  int most = 0;  ///< lines; the last one ends with "…" where there are more. 0: all
};

/// Draws it from the top left corner, and takes what the pointer asks of its places; returns the height. `name` is that of the
/// places: "guide:text:0" …; draws nothing where it is empty.
float flow(Context& context, const document::Markup& text, float x, float y, float width, const FlowLook& look, std::string_view name);

}  // namespace views
