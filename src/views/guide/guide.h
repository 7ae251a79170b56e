// The Guide: the column of a wide window, the strip of an embed, the sheet of a phone.
#pragma once

#include "views/context.h"

namespace views {

/// Asks for the tab Guide of the left column.
void openGuide(Context& context);
/// The left column while its tab Guide is open.
void guidePanel(Context& context);
/// The strip or sheet at the bottom of smaller windows, in Layout::guide.
void guideBar(Context& context);
/// Rings around the cells that the pointer rests on in the text.
void guideMarks(Context& context);

}  // namespace views
