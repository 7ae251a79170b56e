// Memory on whole cache lines, which Windows has a function of its own for.
#pragma once

#include <cstddef>
#include <cstdlib>

#if defined(_WIN32)
#include <malloc.h>
#endif

namespace attention::kernels {

/// Null if there is not enough.
[[gnu::always_inline]] inline void* allocateLines(std::size_t bytes) {
  constexpr std::size_t line = 64;
#if defined(_WIN32)
  return _aligned_malloc(bytes, line);
#else
  return std::aligned_alloc(line, (bytes + line - 1) / line * line);
#endif
}

[[gnu::always_inline]] inline void freeLines(void* memory) {
#if defined(_WIN32)
  _aligned_free(memory);
#else
  std::free(memory);
#endif
}

}  // namespace attention::kernels
