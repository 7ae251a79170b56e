// Two heads side by side, and the difference of their weights, on the page of all heads.
#pragma once

#include "views/pages/column.h"

namespace views {

/// Draws the weights of a head into a square, into the texture of that slot; returns the pitch of its cells.
float drawHead(Context& context, const document::LayerPicture& of, int head, const Box& box,
               std::uint32_t slot, float opacity);

/// The card with both heads of ModelCompare and W₁ − W₂; nothing while two are not chosen.
void compareHeads(Context& context, PageColumn& column);
/// A head was chosen: the second, beside the one that was chosen before it, or the one on the board.
void chooseHead(Context& context, HeadPlace at);

}  // namespace views
