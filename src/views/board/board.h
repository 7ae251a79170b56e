// What drawing, pointer and keys of the board share.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// The board shows scores with the mask in them; that tensor is called "masked".
TensorId shownTensor(TensorId id);

/// Places of token labels are named by this, where they stand, and the token: "label:left:0".
inline constexpr const char* kLabelPrefix = "label:";
/// Those of headings of the columns of Q and K: by this, the tensor and the column, "column:q:0".
inline constexpr const char* kColumnPrefix = "column:";

/// Those of the bars of a row of weights: by this, the query and the key, "bar:3:2"; beside the matrices "bar:3:2:brief".
inline constexpr const char* kBarPrefix = "bar:";

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
