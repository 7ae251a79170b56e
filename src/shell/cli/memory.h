// The available memory.
#pragma once

#include <cstdint>

namespace cli {

/// Bytes that can be allocated without swapping, minus a tenth; 0 if the system does not tell.
std::int64_t freeMemory();

}  // namespace cli
