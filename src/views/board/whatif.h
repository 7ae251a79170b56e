// Dragging a weight: finds the smallest change of its query, or of its key, that gives the weight wanted, and
// names it.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// Would a drag of that cell change a weight? Only if the cell is the whole selection, so that other drags
/// still select a range.
bool canDragWeight(const Context& context, const Selection& before, CellRef cell);
void beginWeight(Context& context, Drag& drag);
/// Applies the change that gives the dragged weight the value the pointer asks for, or explains why there is
/// none.
void dragWeight(Context& context, Drag& drag, float pixels);
/// Names the change when the drag ends.
void nameWeight(Context& context, const Drag& drag);

}  // namespace views
