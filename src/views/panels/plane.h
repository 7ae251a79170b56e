// Queries and keys as arrows in the plane that shows most of them; values as points, with the output among
// them.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// Draws the open view of the card (Plane or Values), below its title.
void plane(Context& context, const Box& area);
/// Handles the pointer: a press on a tip selects it, a drag moves its row of Q, K or V within the plane.
void planePointer(Context& context);

/// The query and the key that the card is about: those of the focused cell, or of the row that is being
/// edited.
struct ChosenPair {
  int query = 0, key = 0;
};
ChosenPair chosenPair(const Context& context);

}  // namespace views
