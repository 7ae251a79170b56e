// Lines of arithmetic whose numbers can be touched: each knows its cell, some open into the sum that they are.
#pragma once

#include "views/panels/panels.h"

namespace views {

struct Arithmetic {
  /// A number as it was drawn.
  struct Number {
    Box box;
    CellRef cell;           ///< on the board, as the selection names it
    bool onBoard = false, here = false;  ///< here: and of the head in focus
    bool opens = false;
    attention::RowStep step = attention::RowStep::none;
    CellRef sum;            ///< of those that open: the cell that is a sum; or the pair, for the `ordinal`-th that is no cell
    int ordinal = -1;
    bool same(const Number& n) const { return n.step == step && n.sum == sum && n.ordinal == ordinal; }
  };
  std::vector<Number> numbers;  ///< of the frame before
  std::vector<Number> drawn;    ///< of this one, so far
  std::vector<Number> opened;
  CellRef of;                   ///< what was explained
  std::optional<Number> pressed;
  float pressedX = 0, pressedY = 0;
};

/// A line without its marks, and where its numbers are in it.
struct TouchedLine {
  attention::Term term;
  struct Number {
    std::size_t begin, end;
    Arithmetic::Number what;
    bool isOpen = false;
  };
  std::vector<Number> numbers;
  bool inner = false;  ///< the sum of a number in the line above
};

/// Do the numbers answer now? Where the pointer or a finger may be on them, or on a cell.
bool isTouched(const Context& context, const Box& card);
/// The lines of an explanation with marks, with the sums that were opened below those that they are in.
[[gnu::noinline]] std::vector<TouchedLine> touchedLines(Context& context, attention::Explanation marked, CellRef focus);
/// In the label of a line the row of a query is a column, as it is where tokens are columns.
[[gnu::noinline]] void turnLabel(attention::Term& term);
/// Draws `length` letters of a line from `begin` on.
[[gnu::noinline]] void drawTouched(Context& context, ImDrawList* list, ImFont* font, float x, float midY, const TouchedLine& line, std::size_t begin, std::size_t length, ImU32 color);
/// The number under a point, as it was drawn in the frame before.
[[gnu::noinline]] const Arithmetic::Number* numberAt(const ViewState& view, float x, float y);
/// Opens it into the sum that it is, or closes it.
[[gnu::noinline]] void openNumber(ViewState& view, const Arithmetic::Number& number);
/// Does the hovered cell take part in the arithmetic of the chosen one? Then the inspector stays with that.
[[gnu::noinline]] bool takesPart(const Context& context, CellRef cell);
/// An outline around the cell of the number under the pointer, once all numbers are drawn.
[[gnu::noinline]] void drawLit(Context& context);

}  // namespace views
