// What drawing, pointer and keys of the board share.
#pragma once

#include "views/panels.h"

namespace views {

/// Has the tensor a cell for each pair of a query and a key?
bool isPair(TensorId id);
/// The board shows scores with the mask in them; that tensor is called "masked".
TensorId shownTensor(TensorId id);

/// Places of token labels are named by this, where they stand, and the token: "label:left:0".
inline constexpr const char* kLabelPrefix = "label:";

/// The matrices, as they are in this frame.
void drawMatrices(Context& context);
/// What a pointer does to them.
void boardPointer(Context& context);
/// Opens the field over a cell that can be changed. `first` is what was typed already, or 0.
void typeCell(Context& context, CellRef cell, char first);

}  // namespace views
