// Where the numbers of a row are on their way from q·k to the output, at any time of a step: a pure function
// of places, numbers and time, so that the same time gives the same picture, forwards and backwards.
#pragma once

#include <vector>

#include "attention/layer/row_steps.h"
#include "views/board/layout.h"

namespace views {

/// What moves. A step has one motion, or none; q·k has three, one after another.
enum class Motion : std::uint8_t { none, slide, multiply, add, divide, grow, stand, share, move, pour };

/// Part of a step, in milliseconds at single speed.
struct Beat {
  Motion motion = Motion::none;
  float ms = 0;
};
/// The beats of one of the steps of a layer. Those of scaled dot products with softmax take 2,880 ms in all:
/// 420 slide, 360 multiply, 420 add, 300 ÷ √d_k, 660 softmax, 720 pour. Scores that are no dot products have
/// no motion of their own, only their words.
std::vector<Beat> beatsOf(attention::RowStep step, const std::vector<attention::RowStep>& steps,
                          const attention::Spec& spec);
/// The beat at a time of the step, 0 to 1 of the whole; `part` becomes the time within that beat, 0 to 1.
Motion beatAt(const std::vector<Beat>& beats, float& part);

/// The cells of a row and of its example pair, on the screen, and their numbers. What is not in view is
/// empty.
struct Stage {
  std::vector<Box> query, key, score, weight, value, output;  ///< value: row-major, one row for each key
  std::vector<float> queries, keys, raw, scaled, exponentials, weights, values, outputs;
  float sum = 1;    ///< of the exponentials
  int example = 0;  ///< the key of the pair
};

/// A small panel beside a row, for a key that is not in view with it: its words, then places for the
/// products, for the key, and for the query next to the row.
struct Strip {
  Box box, words;
  std::vector<Box> key, query;
};
/// The height of such a panel beside cells of that size; `count` numbers have to fit the width.
float stripHeight(float cell, int count, float width);
/// Above the row if there is room on the board, else below it, for `count` numbers and words of that width.
Strip stripBeside(const Box& row, float cell, int count, float words, const Box& board);

/// One thing to draw.
struct Piece {
  enum class Kind : std::uint8_t { cell, ghost, times, fraction, bar, stream, ring };
  Kind kind = Kind::cell;
  attention::TensorId of = attention::TensorId::q;  ///< whose colours it has
  /// Its middle and size; a stream begins at x, y, and is `width` wide.
  float x = 0, y = 0, width = 0, height = 0;
  float toX = 0, toY = 0;    ///< the end of a stream
  float turn = 0, tilt = 0;  ///< of its shape, and of its digits, in radians
  float opacity = 1;
  float value = 0, over = 0;  ///< its number; of a fraction also what is above the bar
  float ink = 1;              ///< the opacity of its digits, times that of the piece
};

/// The pieces at a time of a motion, 0 to 1, in drawing order.
std::vector<Piece> piecesAt(const Stage& stage, Motion motion, float time);

}  // namespace views
