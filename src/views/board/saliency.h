// Shows on the board what would raise the selected value: triangles in the cells of the inputs, and a list of
// the strongest.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// The cell whose gradient is shown, in terms of the board: masked scores, and kMeanHead where the mean of
/// the heads is shown.
CellRef saliencyTarget(const Context& context);
/// Its gradient with respect to the inputs that can be edited here.
const attention::Saliency& saliencyOf(const Context& context);

/// Draws a triangle in the corner of each cell whose increase would raise (up) or lower (down) the value; its
/// size shows the gradient's.
void drawTriangles(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look,
                   const float* peaks);
/// Explains the triangles, in the free space above Q.
void raiseLegend(Context& context);

/// Lists the strongest cells, with the effect of a step of each, and the buttons, in `box` below the title of
/// a card. `press`: only handles the pointer, and draws nothing.
void raiseList(Context& context, const Box& box, bool press);
/// One step of 0.10 along the whole gradient, as a single undo step. False if the gradient is not shown, or
/// nothing would raise the value.
bool nudgeAll(Context& context);

}  // namespace views
