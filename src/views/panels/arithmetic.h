// Lines of arithmetic whose numbers respond to the pointer: each refers to its cell, and some expand into the
// sum behind them.
#pragma once

#include "attention/layer/formula.h"
#include "views/panels/panels.h"
#include "views/widgets.h"

namespace views {

struct EquationSet;  // panels/equation.h

struct Arithmetic {
  /// A number as drawn.
  struct Number {
    Box box;
    CellRef cell;  ///< in terms of the selection on the board
    /// onBoard: the board shows the tensor; here: and the head is in focus.
    bool onBoard = false, here = false;
    bool opens = false;
    bool isMade = false;  ///< it is computed from the cell, and not the cell's own
    attention::RowStep step = attention::RowStep::none;
    /// If it expands: the cell that is a sum; or the pair, for the `ordinal`-th sum that is not a cell.
    CellRef sum;
    int ordinal = -1;
    bool same(const Number& n) const { return n.step == step && n.sum == sum && n.ordinal == ordinal; }
  };
  std::vector<Number> numbers;  ///< in the previous frame
  std::vector<Number> drawn;    ///< so far in this frame
  std::vector<Number> opened;
  CellRef of;  ///< the cell that is explained
  std::optional<Number> pressed;
  float pressedX = 0, pressedY = 0;
  std::shared_ptr<EquationSet> equation;  ///< the formula that was drawn last
  struct LongFormula {
    std::uint64_t revision = 0;
    CellRef cell{};
    attention::CellFormula formula;
  } longFormula;
};

/// A line in the reader's language, without its marks, and the positions of its numbers.
struct TouchedLine {
  attention::Term term;
  std::string text;
  struct Number {
    std::size_t begin, end;
    Arithmetic::Number what;
    bool isOpen = false;
  };
  std::vector<Number> numbers;
  bool inner = false;  ///< expands a number of the line above
};

/// What the view knows of its numbers; made when it is first asked for.
Arithmetic& arithmeticOf(ViewState& view);
/// Should numbers respond now? True where the pointer or a finger may be on one, or on a cell.
bool isTouched(const Context& context, const Box& card);
/// The lines of a marked explanation; sums that are expanded follow the line that they belong to.
[[gnu::noinline]] std::vector<TouchedLine> touchedLines(Context& context, attention::Explanation marked,
                                                        CellRef focus);
/// Where the lines of a sum end, so that none is wider: each begins with its sign, after a space. Empty: a
/// part of it is wider. Lines are in the reader's language, here and in shortened().
std::vector<std::size_t> brokenAt(ImFont* font, std::string_view text, float width);
/// A line that is longer than `width`, with fewer terms of its sum: "a×b + … = c". Its result is kept.
std::string shortened(ImFont* font, std::string_view line, float width);
/// Draws `length` bytes of a line, from `begin` on. `at`: their left end, and the middle of the line.
[[gnu::noinline]] void drawTouched(Context& context, const Pen& pen, ImVec2 at, const TouchedLine& line,
                                   std::size_t begin, std::size_t length);
/// Draws what is below the digits of a number: a dotted line if it has a cell or opens, and the colour of its
/// cell while one of the two is pointed at. Returns the colour for the digits, which is otherwise `color`.
[[gnu::noinline]] ImU32 markNumber(Context& context, ImDrawList* list, ImVec2 at, float width,
                                   const TouchedLine::Number& number, ImU32 color);
/// Draws a number as a cell like its own on the board.
[[gnu::noinline]] void drawCell(Context& context, ImDrawList* list, const Box& box,
                                const TouchedLine::Number& number, std::string_view digits);
/// The number at a point, as drawn in the previous frame; null if there is none.
[[gnu::noinline]] const Arithmetic::Number* numberAt(const ViewState& view, float x, float y);
/// What a click on a number does: it opens, or goes to its cell.
[[gnu::noinline]] void pressNumber(Context& context, const Arithmetic::Number& number);
/// Expands it into the sum behind it, or collapses it.
[[gnu::noinline]] void openNumber(ViewState& view, const Arithmetic::Number& number);
/// Does the hovered cell appear in the arithmetic of the selected one? Then the inspector keeps showing that.
[[gnu::noinline]] bool takesPart(const Context& context, CellRef cell);
/// Outlines the cell of the number under the pointer; to be called after all numbers are drawn.
[[gnu::noinline]] void drawLit(Context& context);

}  // namespace views
