// The layout for a given size. Pure geometry, without drawing or state, so that it can be tested, and queried
// (locate) outside a frame.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "document/state.h"

namespace views {

/// A rectangle in logical pixels.
struct Box {
  float x = 0, y = 0, width = 0, height = 0;
  float right() const { return x + width; }
  float bottom() const { return y + height; }
  float midX() const { return x + width / 2; }
  float midY() const { return y + height / 2; }
  bool contains(float px, float py) const { return px >= x && px < right() && py >= y && py < bottom(); }
  bool empty() const { return width <= 0 || height <= 0; }
};

/// Which rows and columns of a tensor the board shows: projections contain all heads side by side, of which
/// the board shows one, and several query heads share a key head.
struct Slice {
  int head = 0, firstRow = 0, firstCol = 0;
};
Slice sliceOf(const document::Settings& settings, attention::TensorId id);
/// The query head that must be in focus for the board to show a cell; the present one if it already does.
int headShowing(const document::Settings& settings, attention::TensorId id, int head, int row, int col);

/// The cell that stands for one of a tensor that has no matrix of its own on this board: raw and masked
/// scores are shown as the scores, and without W_O the output as that of its head. Any other cell stands for
/// itself.
attention::CellRef shownAs(const document::Settings& settings, attention::CellRef cell);

/// A column of Q and K, or of the matrices that they are computed from, with the query head that its name
/// belongs to.
struct NamedColumn {
  int head = 0, col = 0;
};
/// The named column that the board shows as column `shown` of a tensor; nothing if its columns cannot be
/// named.
std::optional<NamedColumn> namedColumn(const document::Settings& settings, attention::TensorId id, int shown);

/// An additional matrix: an input or step that only some layers have.
struct Extra {
  attention::TensorId tensor = attention::TensorId::w_a;
  int rows = 0, cols = 0;
};

inline constexpr int kManyKeys = 32;       ///< from more of them on, the weights' colours have a legend
inline constexpr float kStripHeight = 64;  ///< of the bar of a lesson with a sentence of one line

/// What the layout depends on.
struct LayoutInput {
  float width = 0, height = 0;
  document::Mode mode = document::Mode::qkv;
  int outputDim = 1;             ///< columns of the output
  bool outputProjection = true;  ///< is there W_O?
  bool separateValues = false;   ///< are values projected from an X of their own?
  bool biases = false;           ///< are biases added to the projections?
  bool addsPositions = false;    ///< are positions added to X?
  int tokens = 1, keyTokens = 1, heads = 1, kvHeads = 1, headDim = 1, valueDim = 1, modelDim = 1;
  int queryDim = 0;  ///< columns of Q; 0: headDim
  int queryWidth() const { return queryDim > 0 ? queryDim : headDim; }
  bool wholeProjections = false;  ///< show W_Q … of all heads as one matrix each
  bool columns = false;  ///< tokens are columns: all matrices are transposed, and so is their arrangement
  float nameWidth = 0;   ///< of the widest column name of Q and K; 0: none are named
  std::vector<Extra> extras;
  int thumbnails = 1;  ///< one per head, and one for their mean
  int decimals = 2;
  float labelWidth = 30;     ///< of the widest token label
  bool present = false;      ///< presentation: only the matrices and the arithmetic, as large as possible
  bool guideColumn = false;  ///< the left column shows the Guide
  bool sideClosed = false;   ///< the left column of a large window is closed
  bool hasBar = true;        ///< may the bar with the most important options stand over the board?
  bool guideBar = false;     ///< a lesson is open, for which smaller windows have a bar at the bottom
  float stripHeight = kStripHeight;  ///< of that bar
  bool goal = false;         ///< its step has something to do, which stays in view beside the controls
  bool guidePulled = false;  ///< its sheet on a phone is half high
  bool drawer = false;       ///< the left column of a smaller window is open
  /// The matrices that the step of a lesson is about now: on a small board they come first, all in view.
  std::vector<attention::TensorId> asked;
  /// Those that it will be about, which join them if there is room, so that they need not move.
  std::vector<attention::TensorId> askedLater;
  bool editing = false;  ///< a finger has selected a number, which the strip at the bottom changes
  bool keys = false;     ///< with its keypad
  float magnify = 1;     ///< of the matrices, by two fingers; at least 1
  float pan = 0;         ///< pixels by which magnified matrices are moved to the left
  bool stepper = false;  ///< the steps of a row are shown, at the bottom of the board
  /// The host page asked for some matrices and cards only, listed in `only` and `cards`.
  bool isPart = false;
  std::vector<attention::TensorId> only;
  unsigned cards = 1;  ///< the cards available below the matrices, one bit for each document::Card
  document::Card card = document::Card::arcs;  ///< the one that is shown
  bool natural = false;  ///< use natural sizes for cells and cards, and whatever height results
  /// False: hidden by the host page.
  bool header = true, side = true, headsPanel = true, arcs = true, inspector = true;
};

/// One matrix on the board.
struct MatrixPlace {
  attention::TensorId tensor = attention::TensorId::q;
  bool transposed = false;  ///< shown transposed, with columns going down (Kᵀ)
  int rows = 0, cols = 0;   ///< as shown
  Box box;                  ///< of the cells, in content coordinates
  float cell = 0;           ///< pitch
  bool labelsLeft = false, labelsRight = false, labelsBelow = false, labelsAbove = false;
  /// For labels above or below, up to the next thing in their way; more if they are slanted.
  float labelRoom = 0;
  bool slanted = false;  ///< labels are wider than a column, and drawn at 45°
  /// Sums of the queries' weights are shown at the right, or below where queries are columns.
  bool sums = false;
  std::string_view title, caption;  ///< for scores and weights possibly computed when they are drawn

  /// The box of one cell, by row and column of the tensor (which may be shown transposed).
  Box cellBox(int row, int col) const;
};

enum class Width { full, medium, narrow };

/// Positions. Header and side panel are in window coordinates, everything else in content coordinates, which
/// scroll inside `board`.
struct Layout {
  Width width = Width::full;
  Box header, side, board;
  /// Over the board of a large window while the controls are not beside it, in window coordinates; else
  /// empty.
  Box bar;
  Box stepper;   ///< the bar for stepping, in window coordinates; empty if not used
  Box stepLine;  ///< the arithmetic of the steps, above the bar, if the inspector is not visible
  Box guide;     ///< the bar or sheet of the Guide at the bottom, in window coordinates; empty if not used
  Box toolbar;   ///< of a phone, at the bottom of the window; else empty
  Box sheet;     ///< where a phone shows all of a lesson, or the controls, one at a time
  /// The strip for the number that a finger has selected, over what else is at the bottom; empty if there is
  /// none. Its keypad, if that is open, is at its end.
  Box editing, keypad;
  float panLimit = 0;  ///< the largest useful pan
  float contentHeight = 0;
  std::vector<MatrixPlace> matrices;
  /// The arrow labelled "softmax" between scores and weights; empty unless they are side by side.
  Box arrow;
  Box heads, arcs, inspector;  ///< arcs: the card with arcs, plane …
  unsigned cards = 1;          ///< as in LayoutInput
  document::Card card = document::Card::arcs;
  bool sidePanelIsDrawer = false;
  bool isDocked = false;          ///< is that drawer open beside the board, which gives way to it?
  bool inspectorIsBrief = false;  ///< a short version beside the matrices: three lines and bars
  Box inspectorBelow;             ///< the full version further down, if the other is brief
  bool legend = false;            ///< the legend of the weights' colours has room below them

  const MatrixPlace* find(attention::TensorId id) const;
};

Layout layout(const LayoutInput& input);

/// The thumbnails inside Layout::heads, below its title: as large as possible for all to fit.
struct ThumbnailGrid {
  float size = 0, pitchX = 0, pitchY = 0;
  int columns = 1;
  bool names = true;  ///< is there room for names?
};
ThumbnailGrid thumbnails(const Box& heads, int count);

/// The keys inside Layout::keypad, 44 high: five in a row, or as many as fit a low window.
struct KeyGrid {
  static constexpr int kCount = 15;
  static constexpr float kHigh = 44, kAcross = 6, kDown = 5;  ///< kAcross, kDown: between the keys
  int columns = 5, rows = 3;
  Box key(const Box& keypad, int index) const;
};
KeyGrid keyGrid(const Box& keypad);

}  // namespace views
