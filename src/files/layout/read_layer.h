// Reads the layer that a file of any format describes.
#pragma once

#include <cstddef>
#include <string_view>

#include "document/state.h"
#include "files/formats/format.h"

namespace files {

/// The state of a file: a state itself, or the state for its tensors, assigned by tensorsOf(), or by
/// tensorsOfOne() if there is a single unnamed one. `name` is used for the tensor in formats without names;
/// `prefix` selects a layer. Weights without q and k become a board as mapping.h describes. `heading` is set
/// as StoredFile::heading. An error for what these functions refuse, and what the board cannot hold.
Result<document::State> readLayer(std::string_view bytes, Format format, std::string_view name,
                                  std::string_view prefix, std::size_t& heading);

/// All tensors of a file: as readStored(), and for a state in JSON its tensors.
Result<StoredFile> readEverything(std::string_view bytes, Format format, std::string_view name);

}  // namespace files
