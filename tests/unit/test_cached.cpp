// Values that are kept while they are valid, and those that are computed in slices.
#include <doctest/doctest.h>

#include "base/cached.h"

namespace {

base::Slices countTo(int most, int& out) {
  for (; out < most; ++out) co_yield {out, most};
}

/// Says when it is destroyed.
struct Ended {
  bool& flag;
  ~Ended() { flag = true; }
};
base::Slices waiting(bool& hasEnded) {
  const Ended ended{hasEnded};
  for (;;) co_yield {};
}

}  // namespace

TEST_CASE("slices: nothing before the first part, each part in turn, and how far it is") {
  int count = 0;
  base::Slices work = countTo(2, count);
  CHECK(count == 0);
  CHECK(work.next());
  CHECK(work.progress().done == 0);
  CHECK(work.next());
  CHECK(count == 1);
  CHECK(work.progress().done == 1);
  CHECK(work.progress().total == 2);
  CHECK_FALSE(work.next());
  CHECK(count == 2);
  CHECK_FALSE(work.next());
  CHECK_FALSE(base::Slices().next());
}

TEST_CASE("slices: what is not needed any more ends where it is") {
  bool hasEnded = false;
  {
    base::Slices work = waiting(hasEnded);
    CHECK(work.next());
    const base::Slices moved = std::move(work);
    CHECK_FALSE(hasEnded);
  }
  CHECK(hasEnded);
}

TEST_CASE("cached slices: the last value stays until the next is whole, and another key begins anew") {
  base::CachedSlices<int, int> cached;
  const auto make = [](int most) { return [most](int& out) { return countTo(most, out); }; };
  CHECK(cached.last() == nullptr);
  while (cached.next(3, make(3))) {}
  CHECK(*cached.last() == 3);
  CHECK(cached.has(3));
  CHECK(cached.next(5, make(5)));
  CHECK(cached.next(5, make(5)));
  CHECK(cached.progress().done == 1);
  CHECK(*cached.last() == 3);
  CHECK_FALSE(cached.has(5));
  CHECK(cached.next(2, make(2)));
  CHECK(cached.progress().done == 0);
  while (cached.next(2, make(2))) {}
  CHECK(*cached.last() == 2);
}
