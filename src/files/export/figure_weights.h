// The weights that a figure shows.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "document/state.h"
#include "files/export/figure_options.h"
#include "files/layout/state_tensors.h"

namespace files {

/// The weights of all heads, [heads, rows, cols], with the labels of queries and keys.
struct FigureWeights {
  int heads = 0, rows = 0, cols = 0;
  int firstHead = 0;  ///< the number of the first of these heads
  std::vector<float> values;
  std::vector<std::string> queries, keys;
  int columns = 0;           ///< d_k; 0: not known
  std::vector<char> hidden;  ///< keys that a query does not see; empty: it sees all
  int block = 1;             ///< this many tokens of each axis are one cell
  document::WeightScale scale = document::WeightScale::linear;

  std::size_t place(int head, int row, int col) const {
    return (static_cast<std::size_t>(head - firstHead) * static_cast<std::size_t>(rows) +
            static_cast<std::size_t>(row)) *
               static_cast<std::size_t>(cols) +
           static_cast<std::size_t>(col);
  }
  bool isHidden(int head, int row, int col) const { return !hidden.empty() && hidden[place(head, row, col)]; }
  float at(int head, int row, int col) const { return values[place(head, row, col)]; }
  double rowSum(int head, int row) const;
  double rowMaximum(int head, int row) const;  ///< the largest magnitude
};

/// An error unless the head in the options is one of so many.
Result<void> checkHead(const FigureOptions& options, int heads);
/// The tokens in the options, of so many queries and keys, with their ends; `isCross`: keys are another
/// sequence. An error for tokens that are not there.
Result<std::array<FigureOptions::Tokens, 2>> shownTokens(const FigureOptions& options, int queries, int keys,
                                                         bool isCross);
/// The weights of the entry that is shown, of the tokens in the options. An error if there are none, or not
/// those tokens.
Result<FigureWeights> figureWeights(const StateTensors& tensors, const FigureOptions& options);
/// The same with `block` neighbouring queries and keys as one cell: the largest or the mean of the weights
/// that are not hidden there. A block is labelled by its first token.
FigureWeights pooled(const FigureWeights& weights, int block, FigureOptions::Pool kind);

}  // namespace files
