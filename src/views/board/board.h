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
/// Opens the field over a cell that can be changed, or says why it cannot be. `first` is what was typed already.
void typeCell(Context& context, CellRef cell, std::string_view first);
/// Selects a cell and brings it into view.
void goTo(Context& context, CellRef cell);
/// The cell that stands `by` places after this one in the rows that are seen, if there is one.
std::optional<CellRef> neighbour(const MatrixPlace& place, const Slice& slice, CellRef cell, int by);
/// Why a cell cannot be changed: "S is computed: change Q or K.", with links.
Notice whyFixed(const Context& context, CellRef cell);

}  // namespace views
