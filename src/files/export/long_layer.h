// Figures of layers that are too long for the board.
#pragma once

#include <optional>
#include <string_view>

#include "files/export/figure_options.h"
#include "files/layout/state_tensors.h"

namespace files {

inline constexpr int kLongestFigure = 4096;  ///< tokens that are drawn

/// Which entry of a batch, or which layer; from 0.
struct Entry {
  std::string_view prefix;  ///< of the tensor names, if a file has several layers
  int number = 0;
};

/// The weights of a file with more tokens than the board takes, of the tokens in `options`, at most
/// kLongestFigure of either kind: those in it (`weights`, [heads, queries, keys] or [layers, heads, queries,
/// keys]), or those that its q and k have, of which nothing else is computed. Tokens without labels have
/// their numbers. Null for a file that the board takes. An error for an entry or tokens that are not there,
/// and for what run() refuses.
std::optional<Result<StateTensors>> longLayer(const StoredFile& file, const Entry& entry,
                                              const FigureOptions& options);

}  // namespace files
