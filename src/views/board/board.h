// Functions shared by drawing, pointer and keys of the board.
#pragma once

#include "views/panels/panels.h"

namespace views {

/// The tensor that the board shows for `id`: in place of scores, "masked".
TensorId shownTensor(TensorId id);

/// Widget rectangles of column headings of Q and K are named by this prefix, the tensor and the column:
/// "column:q:0".
inline constexpr const char* kColumnPrefix = "column:";

/// The widget rectangle of the words of a title that open a term of the glossary: "title:q:words".
std::string titleName(TensorId id);
/// That term, by its id; empty where there is none.
std::string_view termOf(TensorId id);
/// Draws the matrices.
void drawMatrices(Context& context);
/// The colour of a cell; nothing if the board does not show it.
std::optional<draw::Color> cellColor(Context& context, CellRef cell);
/// Is the weight masked in every head that is shown?
bool isMaskedWeight(Context& context, int query, int key);
/// The colour of a number in the row that is stepped through, in the matrix of a tensor.
[[gnu::noinline]] draw::Color stepColor(Context& context, TensorId id, float value);
/// Handles the pointer on the board.
void boardPointer(Context& context);
/// Opens a text field over an editable cell, or explains why it cannot be edited. `first` is what was typed
/// to open it.
void typeCell(Context& context, CellRef cell, std::string_view first);
/// Selects a cell and moves the board so that it is in view.
void goTo(Context& context, CellRef cell);
/// Moves the board so that the selected cell, of this matrix, is in view with room for what stands at the
/// edges.
void bringIntoView(Context& context, const MatrixPlace& place);
/// The cell `by` cells after this one in reading order of the visible rows; nothing if there is none.
std::optional<CellRef> neighbour(const MatrixPlace& place, const Slice& slice, CellRef cell, int by);
/// Why a cell cannot be edited: "S is computed: change Q or K.", with links.
Notice whyFixed(const Context& context, CellRef cell);

}  // namespace views
