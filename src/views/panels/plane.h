// Queries and keys as arrows in the plane that shows the most of them; values as points, with the output among them.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// Draws what the open view of the card shows, below its title.
void plane(Context& context, const Box& area);
/// What the pointer does to it: a press on a tip chooses it, a drag moves its row of Q, K or V within the plane that is shown.
void planePointer(Context& context);
/// Is there a tip at this place that a finger takes hold of?
bool isOnTip(const PlaneView& view, float x, float y);

/// The query and the key that the card speaks of: those of the cell in focus, or of the row that is being changed.
struct ChosenPair {
  int query = 0, key = 0;
};
ChosenPair chosenPair(const Context& context);

}  // namespace views
