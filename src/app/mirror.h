// What is on the screen, in words and as tables, for assistive technology: web/mirror.js makes elements of it.
#pragma once

#include <string>
#include <string_view>

#include "app/focus.h"
#include "app/places.h"
#include "views/mirror.h"

namespace app {

/// The notes of a frame, and after them lines for what it shows as matrices and how it stands; fields have U+001F between them:
/// "V" is a page open, decimals, zoom in percent; "B" part and box; "M" matrix of the board: tensor, title, address of its first number, numbers from row to row, rows,
/// columns, first row, first column, head, may it be changed, are its rows queries (0) or keys (1) or neither (2), are its columns keys, is it shown with its rows as columns; "H" the name of a column of the matrix before: column, name; "D" matrix of a page:
/// tensor, may it be changed; "S" the selected cell and "E" the explained one: tensor, head, row, column; "N" the sentence at the bottom.
/// Addresses hold until the next change.
std::string mirror(Screen& screen, const std::string& notes);

/// Selects a cell as a press on it does, in the head that has it, and brings it into view.
base::Result<void> select(Places& places, Focus& focus, Screen& screen, std::string_view tensor, int head, int row, int col);

}  // namespace app
