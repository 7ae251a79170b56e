// The memory limit of a module instance.
#pragma once

namespace shell {

/// Raises the limit to the 4 GB that WebAssembly can address. The default is 2 GB, because JavaScript sees
/// higher addresses as negative numbers unless the glue code handles them.
void useAllMemory();

}  // namespace shell
