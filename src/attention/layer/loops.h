// A step of the layer as nested loops in plain pseudocode: the same as its matrix formula, one number at a time. All of it
// follows from the layer's options.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/trace.h"

namespace attention {

/// One line. Indices count from 1: i queries, j keys, c columns, h heads.
struct LoopLine {
  int depth = 0;      ///< how many loops and rows it stands in
  std::string text;   ///< "s = s + Q[i,c] × K[j,c]"
  char opens = 0;     ///< 'i', 'j' or 'c': the loop over that index of the cell that is made; 0 for other lines
  bool makes = false; ///< its last number is the cell's
};

/// The loops that make all cells of a tensor, for one head. Those of Q, K and V (made of X), of the scores, which have the
/// mask in them as on the board, of the weights, the head's output and the output; of any other tensor those of the step
/// that it belongs to, or none: it is an input. `isTurned`: tokens are columns, and an index of two stands the other way round.
std::vector<LoopLine> loopsOf(TensorId id, const Spec& spec, const Inputs& inputs, const Trace& trace, int head, bool isTurned = false);
/// The tensor that they make.
TensorId madeByLoops(TensorId id);

}  // namespace attention
