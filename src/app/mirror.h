// The content of the screen as text and tables for assistive technology; web/mirror.js converts it to DOM
// elements.
#pragma once

#include <string>
#include <string_view>

#include "app/focus.h"
#include "app/places.h"
#include "views/mirror.h"

namespace app {

/// The notes of a frame, followed by lines for its matrices and its state. Fields are separated by U+001F:
///   "V" view: whether a page is open, decimals, zoom in percent
///   "B" part and its box
///   "M" matrix of the board: tensor, title; the address of the first number of its table, their row stride, the first and the number of
///   rows, then of columns that the table has; rows, columns, first row, first column, head, editable, meaning of rows (0 queries, 1 keys,
///   2 other), whether columns are keys, whether it is shown transposed, from which size on numbers are only bounds
///   "H" column name of the preceding matrix: column, name
///   "D" matrix of a page: tensor, editable; the address of its first number, their row stride, the first and the number of rows, then of
///   columns that the table has; rows, columns
///   "S" the selected cell, "E" the explained one: tensor, head, row, column
///   "N" the message at the bottom
/// Addresses are valid until the next change.
std::string mirror(Screen& screen, const std::string& notes);

struct NamedCell {
  std::string_view tensor;
  int head, row, col;
};
/// Selects a cell like a press on it, focusing its head, and scrolls to it.
base::Result<void> select(Places& places, Focus& focus, Screen& screen, const NamedCell& cell);

}  // namespace app
