// What differs from the pinned board: in cells, in bars, and as a list.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// The view Changes of the card below the matrices, below its title; `press`: its buttons take the input, and nothing is drawn.
void changes(Context& context, const Box& area, bool press);
/// Pins the board as it is, or lets the pin go.
void togglePin(Context& context);
/// Can the cells of the pinned board be compared with those that are there?
bool hasPinnedCells(const Context& context);
/// A mark in the corner of each cell that differs from the pinned board's.
void markChanges(Context& context, const MatrixPlace& place, const Box& box, const draw::Heatmap& look, const attention::Tensor& now, const Slice& slice,
                 bool isMean);
/// The pinned weight of a query and a key, as the board would show it; nothing where it is the same, to the decimals that are
/// shown.
std::optional<float> weightBefore(const Context& context, int query, int key);
/// "0.69→0.53", or only the number that is there.
std::string changedNumber(const Context& context, std::optional<float> before, float now);

}  // namespace views
