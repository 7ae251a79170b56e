// Dragging a weight: the smallest change of its query, or of its key, that gives the wanted weight is made and named.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// Would a drag of that cell change a weight? Of one that is selected alone, so that other drags still select a range.
bool canDragWeight(const Context& context, const Selection& before, CellRef cell);
void beginWeight(Context& context, Drag& drag);
/// Makes the change that brings the dragged weight to what the pointer asks for, or says why there is none.
void dragWeight(Context& context, Drag& drag, float pixels);
/// Names the change at the end of the drag.
void nameWeight(Context& context, const Drag& drag);

}  // namespace views
