// Sorting of short lists where the code has to be downloaded: a fifth of the code of std::sort, which is compiled again for each order.
#pragma once

#include <algorithm>

namespace base {

/// Sorts a list by that order, in n log n steps; elements that are equal come in any order.
template <class List, class Less>
void sort(List& list, Less less) {
  std::make_heap(list.begin(), list.end(), less);
  std::sort_heap(list.begin(), list.end(), less);
}

}  // namespace base
