// Where everything goes for a given size. Pure geometry: no drawing, no state, so that it can be tested and asked
// (locate) without a frame.
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

/// Which rows and columns of a tensor the board shows: projections hold all heads side by side, the board one of them,
/// and a key head serves several query heads.
struct Slice {
  int head = 0, firstRow = 0, firstCol = 0;
};
Slice sliceOf(const document::Settings& settings, attention::TensorId id);
/// The query head that must be in focus for that cell to be on the board; the one in focus where it is there already.
int headShowing(const document::Settings& settings, attention::TensorId id, int head, int row, int col);

/// A column of Q and K, or of what makes them, by the query head that names it.
struct NamedColumn {
  int head = 0, col = 0;
};
/// Which one the board shows as column `shown` of a tensor; nothing where its columns have no names.
std::optional<NamedColumn> namedColumn(const document::Settings& settings, attention::TensorId id, int shown);

/// A matrix beside the usual ones: a step that only some layers have.
struct Extra {
  attention::TensorId tensor = attention::TensorId::w_a;
  int rows = 0, cols = 0;
};

/// What the layout depends on.
struct LayoutInput {
  float width = 0, height = 0;
  document::Mode mode = document::Mode::qkv;
  int outputDim = 1;              ///< columns of the output
  bool outputProjection = true;  ///< is there W_O?
  bool separateValues = false;   ///< has V an X of its own?
  bool biases = false;  ///< are they added to what the weights make?
  int tokens = 1, keyTokens = 1, heads = 1, kvHeads = 1, headDim = 1, valueDim = 1, modelDim = 1;
  bool wholeProjections = false;  ///< W_Q … of all heads as one matrix each
  bool columns = false;    ///< tokens are columns: all matrices are turned over their diagonals, and meet so
  float nameWidth = 0;     ///< of the widest name of a column of Q and K; 0: they have none
  std::vector<Extra> extras;
  int thumbnails = 1;  ///< one a head, and one for their mean
  int decimals = 2;
  float labelWidth = 30;  ///< of the widest token label
  bool present = false;   ///< nothing but the matrices and the arithmetic, as large as they can be
  bool guideColumn = false;  ///< the left column shows the Guide
  bool guideBar = false;     ///< a lesson is open, which smaller windows show at the bottom
  bool stepper = false;      ///< a row is stepped through, at the bottom of the board
  bool isPart = false;              ///< the page shows these matrices and cards, and nothing else
  std::vector<attention::TensorId> only;
  unsigned cards = 1;  ///< what the card below the matrices can show, a bit for each document::Card
  document::Card card = document::Card::arcs;  ///< what it shows
  bool natural = false;  ///< as high as it comes, whatever the height is: cells and cards of their usual size
  bool header = true, side = true, headsPanel = true, arcs = true, inspector = true;  ///< false: hidden by the page
};

/// One matrix on the board.
struct MatrixPlace {
  attention::TensorId tensor = attention::TensorId::q;
  bool transposed = false;   ///< shown with its columns running down (Kᵀ)
  int rows = 0, cols = 0;    ///< as shown
  Box box;                   ///< of the cells, in content coordinates
  float cell = 0;            ///< pitch
  bool labelsLeft = false, labelsRight = false, labelsBelow = false, labelsAbove = false;
  float labelRoom = 0;       ///< for the labels above or below, up to the next thing; more where they are slanted
  bool slanted = false;      ///< they are wider than a column, and stand at 45°
  bool sums = false;         ///< sums of the queries' weights stand at the right, or below where these are columns
  std::string_view title, caption;  ///< those of scores and weights are made where they are drawn, where there are any here

  /// The box of one cell, by row and column of the tensor (not as shown).
  Box cellBox(int row, int col) const;
};

enum class Width { full, medium, narrow };

/// Header and side panel are in window coordinates; all else in content coordinates, which scroll inside `board`.
struct Layout {
  Width width = Width::full;
  Box header, side, board;
  Box stepper;    ///< the steps of a row, in window coordinates; empty without them
  Box stepLine;   ///< their arithmetic, above them, where the inspector is not in view
  Box guide;  ///< the strip or the sheet at the bottom, in window coordinates; empty without one
  float contentHeight = 0;
  std::vector<MatrixPlace> matrices;
  Box arrow;             ///< "softmax", between scores and weights; empty where they are not side by side
  Box heads, arcs, inspector;  ///< arcs: the card that has the arcs, the plane …
  unsigned cards = 1;          ///< as they were given
  document::Card card = document::Card::arcs;
  bool sidePanelIsDrawer = false;
  bool inspectorIsBrief = false;  ///< beside the matrices: three lines and bars
  Box inspectorBelow;             ///< the whole one, further down, where the other is brief

  const MatrixPlace* find(attention::TensorId id) const;
};

Layout layout(const LayoutInput& input);

/// The thumbnails inside Layout::heads, below its title: as large as all of them fit.
struct ThumbnailGrid {
  float size = 0, pitchX = 0, pitchY = 0;
  int columns = 1;
  bool names = true;  ///< is there room for them?
};
ThumbnailGrid thumbnails(const Box& heads, int count);

}  // namespace views
