// Plain tensors, as saved from NumPy or PyTorch with json.dump. See fromText().
#pragma once

#include "document/json.h"
#include "document/state.h"

namespace document {

/// Reads the root object of a tensors file; `current` gives theme, decimals and seed.
Check readTensors(const Json& root, const State& current, State& out);

}  // namespace document
