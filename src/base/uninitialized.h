// An allocator for large blocks of numbers.
#pragma once

#include <memory>

namespace base {

/// Leaves elements that a container adds without a value uninitialised, so that whoever adds them can fill
/// the whole block at once. std::vector would otherwise construct them one by one, which takes two calls per
/// number where the page's code is optimised for size.
template <class T>
struct Uninitialized : std::allocator<T> {
  template <class U>
  struct rebind {
    using other = Uninitialized<U>;
  };
  Uninitialized() = default;
  template <class U>
  Uninitialized(const Uninitialized<U>&) noexcept {}
  void construct(T*) noexcept {}
};

}  // namespace base
