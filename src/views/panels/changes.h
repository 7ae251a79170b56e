// The differences from the pinned board: in cells, in bars, and as a list.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// Draws the card's view Changes, below its title. `press`: only handles the pointer on its buttons, and
/// draws nothing.
void changes(Context& context, const Box& area, bool press);
/// Pins the board as it is, or removes the pin.
void togglePin(Context& context);
/// Can the cells of the pinned board be compared with the present ones?
bool hasPinnedCells(const Context& context);
/// A matrix as it is drawn.
struct ShownMatrix {
  const MatrixPlace& place;
  Box box;  ///< of its cells, on the screen
  const draw::Heatmap& look;
  const attention::Tensor& tensor;
  TensorId id;  ///< of the tensor, which may stand for that of the place: the mean of the heads
  Slice slice;
};
/// The matrices that are large enough for marks, to be kept in Edited.
std::vector<std::pair<TensorId, attention::Tensor>> markable(const Context& context);
/// Marks the corner of each cell that differs from the pinned board, or if there is none, from what it was
/// when the finger selected the number that it changes.
void markChanges(Context& context, const ShownMatrix& shown, bool isMean);
/// The pinned weight of a query and a key, as the board would show it; nothing if the two are equal to the
/// decimals shown.
std::optional<float> weightBefore(const Context& context, int query, int key);
/// "0.69→0.53", or only the present number.
std::string changedNumber(const Context& context, std::optional<float> before, float now);

}  // namespace views
