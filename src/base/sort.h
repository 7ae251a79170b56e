// Sorting in code that the page downloads: std::sort is instantiated anew for every list and comparison, into
// a kilobyte or two.
#pragma once

#include <cstddef>
#include <type_traits>
#include <utility>
#include <vector>

namespace base {

/// The operations that a sort needs of a list, given the indices of two elements.
struct Sortable {
  void* list;
  bool (*isLess)(void* list, std::size_t a, std::size_t b);
  void (*swap)(void* list, std::size_t a, std::size_t b);
};
/// Heap sort, so that n log n steps suffice for any order (Williams 1964).
void heapSort(const Sortable& sortable, std::size_t count);

/// Sorts the list by `less` in O(n log n) steps. Not stable.
template <class List, class Less>
void sort(List&& list, Less less) {
  struct Ordered {
    std::remove_reference_t<List>& list;
    Less& less;
  } whole{list, less};
  const Sortable sortable{&whole,
                          [](void* all, std::size_t a, std::size_t b) -> bool {
                            auto& ordered = *static_cast<Ordered*>(all);
                            return ordered.less(ordered.list[a], ordered.list[b]);
                          },
                          [](void* all, std::size_t a, std::size_t b) {
                            auto& elements = static_cast<Ordered*>(all)->list;
                            using std::swap;
                            swap(elements[a], elements[b]);
                          }};
  heapSort(sortable, list.size());
}

/// The same; of equal elements the earlier one comes first.
template <class T, class Less>
void stableSort(std::vector<T>& list, Less less) {
  std::vector<std::size_t> order(list.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  sort(order, [&](std::size_t a, std::size_t b) {
    return less(list[a], list[b]) || (a < b && !less(list[b], list[a]));
  });
  std::vector<T> out;
  out.reserve(list.size());
  for (const std::size_t at : order) out.push_back(std::move(list[at]));
  list = std::move(out);
}

}  // namespace base
