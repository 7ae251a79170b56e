// How far the memory of an instance grows.
#pragma once

namespace shell {

/// From here on up to the 4 GB that WebAssembly can address; until then to the 2 GB whose addresses JavaScript has as positive numbers
/// without being told.
void useAllMemory();

}  // namespace shell
