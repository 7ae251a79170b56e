#include "base/sort.h"

namespace base {
namespace {

/// Moves element `at` down the heap of the first `count` until neither of its children comes after it.
void siftDown(const Sortable& sortable, std::size_t at, std::size_t count) {
  for (std::size_t below; (below = 2 * at + 1) < count; at = below) {
    if (below + 1 < count && sortable.isLess(sortable.list, below, below + 1)) ++below;
    if (!sortable.isLess(sortable.list, at, below)) return;
    sortable.swap(sortable.list, at, below);
  }
}

}  // namespace

void heapSort(const Sortable& sortable, std::size_t count) {
  for (std::size_t at = count / 2; at-- > 0;) siftDown(sortable, at, count);
  for (std::size_t end = count; end-- > 1;) {
    sortable.swap(sortable.list, 0, end);
    siftDown(sortable, 0, end);
  }
}

}  // namespace base
