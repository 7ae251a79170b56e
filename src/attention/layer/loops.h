// A step of the layer as nested loops in pseudocode: the same computation as its matrix formula, one number
// at a time. Derived from the layer's options.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/trace.h"

namespace attention {

/// One line. Indices count from 1: i for queries, j for keys, c for columns, h for heads.
struct LoopLine {
  int depth = 0;     ///< nesting depth
  std::string text;  ///< "s = s + Q[i,c] × K[j,c]"
  /// 'i', 'j' or 'c' if the line opens the loop over that index of the computed cell; otherwise 0.
  char opens = 0;
  bool makes = false;  ///< the last number of this line is the value of the cell
};

/// The loops that compute all cells of a tensor for one head. Available for projected Q, K and V, for the
/// scores (including the mask, as on the board), weights, head output and output; any other tensor gives the
/// loops of the step that it belongs to, or none if it is an input. `tokensAreColumns`: tokens are shown as
/// columns, so the two indices of a matrix are swapped.
std::vector<LoopLine> loopsOf(TensorId id, const Spec& spec, const Inputs& inputs, const Trace& trace,
                              int head, bool tokensAreColumns = false);
/// The tensor that those loops compute.
TensorId madeByLoops(TensorId id);

}  // namespace attention
