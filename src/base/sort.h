// Sorting of short lists in code that the page downloads: a heap sort is a fifth of the code of std::sort, which is instantiated anew for
// every comparison.
#pragma once

#include <algorithm>

namespace base {

/// Sorts the list by `less` in O(n log n) steps. Not stable.
template <class List, class Less>
void sort(List& list, Less less) {
  std::make_heap(list.begin(), list.end(), less);
  std::sort_heap(list.begin(), list.end(), less);
}

}  // namespace base
