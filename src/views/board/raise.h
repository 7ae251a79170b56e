// What would raise the selected value, on the board: triangles in the cells of the inputs, and the list of the strongest.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// The cell of which the gradient is shown, as the board shows it: scores with the mask in them, and where it shows the mean
/// of the heads that of kMeanHead.
CellRef raiseTarget(const Context& context);
/// Its gradient by the inputs that can be changed here.
const attention::Raise& raiseOf(const Context& context);

/// A triangle in the corner of each cell that would raise it (up) or lower it (down), as large as the gradient.
void drawTriangles(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look, const float* peaks);
/// What the triangles mean, in the free place above Q.
void raiseLegend(Context& context);

/// The strongest cells with what a step of each does, in `box` below the title of a card, and its buttons. `press`: they
/// take the input, and nothing is drawn.
void raiseList(Context& context, const Box& box, bool press);
/// One step of 0.10 along the whole gradient, as one step of undo. False where the mode is off or nothing would raise it.
bool nudgeAll(Context& context);

}  // namespace views
