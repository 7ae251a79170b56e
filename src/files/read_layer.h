// The layer that a file of any format describes.
#pragma once

#include <string_view>

#include "document/state.h"
#include "files/format.h"

namespace files {

/// The state of a file: its own, or that of its tensors, found as tensorsOf() does; one tensor without a name as tensorsOfOne(). `name` is that of
/// the tensor of a format that has none, `prefix` chooses a layer. Refused: what these refuse, and what the board cannot hold.
Result<document::State> readLayer(std::string_view bytes, Format format, std::string_view name, std::string_view prefix = {});

/// What a file holds: readStored(), and of a state in JSON its tensors.
Result<StoredFile> readEverything(std::string_view bytes, Format format, std::string_view name);

}  // namespace files
