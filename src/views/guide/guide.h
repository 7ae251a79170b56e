// The Guide: a column in a wide window, a bar in an embed, a sheet on a phone.
#pragma once

#include "views/context.h"

namespace views {

/// Requests the tab Guide of the left column.
void openGuide(Context& context);
/// The left column, while its tab Guide is open.
void guidePanel(Context& context);
/// The bar or sheet at the bottom of smaller windows, in Layout::guide.
void guideBar(Context& context);
/// Outlines the cells of the reference in the text that the pointer is on.
void guideMarks(Context& context);

}  // namespace views
