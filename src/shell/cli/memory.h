// How much memory may be taken.
#pragma once

#include <cstdint>

namespace cli {

/// Bytes that may be taken without pushing out others, less a tenth; 0 where the system does not say.
std::int64_t freeMemory();

}  // namespace cli
