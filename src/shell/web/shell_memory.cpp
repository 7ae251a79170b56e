#include "shell_memory.h"

#include <emscripten/em_js.h>
#include <emscripten/heap.h>

#include <algorithm>
#include <cstddef>

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wgnu-zero-variadic-macro-arguments"
#pragma clang diagnostic ignored "-Wmissing-prototypes"
EM_JS(void, host_memory_grew, (), { updateMemoryViews(); })
#pragma clang diagnostic pop

namespace {

constexpr std::size_t kPage = 65536;
constexpr std::size_t kMostAhead = 4u << 20;
std::size_t mostPages = 32768;

}  // namespace

void shell::useAllMemory() { mostPages = 65535; }

/// Replaces Emscripten's implementation in JavaScript, which an instance that only reads files does not have.
/// Grows by a little more than is needed if possible: a step takes some microseconds, and memory never
/// shrinks.
int emscripten_resize_heap(std::size_t wanted) {
  const std::size_t pages = __builtin_wasm_memory_size(0), needed = (wanted - 1) / kPage + 1;
  if (needed > mostPages) return 0;
  const std::size_t ahead = pages + std::min(pages / 5, kMostAhead / kPage);
  for (const std::size_t more : {std::min(std::max(needed, ahead), mostPages), needed}) {
    if (__builtin_wasm_memory_grow(0, more - pages) == static_cast<std::size_t>(-1)) continue;
    host_memory_grew();
    return 1;
  }
  return 0;
}
