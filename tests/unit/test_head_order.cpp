// The order of heads by likeness: tags first, then neighbours by their pictures.
#include <doctest/doctest.h>

#include <vector>

#include "attention/experiments/head_order.h"

using attention::HeadPattern;
using attention::HeadTag;
using attention::LikenessOrder;

TEST_CASE("head order: heads with one tag stand together, and each is followed by the one nearest to it") {
  const std::vector<HeadTag> tags{{HeadPattern::none, 0},        {HeadPattern::first, 0.5f},
                                  {HeadPattern::previous, 0.6f}, {HeadPattern::first, 0.9f},
                                  {HeadPattern::none, 0},        {HeadPattern::first, 0.7f},
                                  {HeadPattern::none, 0},        {HeadPattern::induction, 0.4f}};
  const std::vector<float> outlines{0, 0, 4, 4, 1, 1, 9, 9, 5, 5, 3, 3, 4, 0, 2, 2};  // two cells each
  LikenessOrder all(tags, outlines);
  CHECK_FALSE(all.isWhole());
  CHECK(all.take(100));
  // Of the sinks the strongest, 3, then the nearest to it, 1; without a tag 0, then 6, 16 from it, before 4.
  CHECK(all.order() == std::vector<int>{2, 7, 3, 1, 5, 0, 6, 4});
  LikenessOrder slices(tags, outlines);
  for (int i = 0; i < 7; ++i) CHECK_FALSE(slices.take(1));
  CHECK(slices.take(1));
  CHECK(slices.order() == all.order());
}

TEST_CASE("head order: equal heads stay by number, and no heads are whole at once") {
  LikenessOrder equal(std::vector<HeadTag>(4), std::vector<float>(8, 1.0f));
  CHECK(equal.take(4));
  CHECK(equal.order() == std::vector<int>{0, 1, 2, 3});
  LikenessOrder none;
  CHECK(none.isWhole());
  CHECK(none.take(1));
}

TEST_CASE("head order: an outline has means of blocks, and is exact where there are few tokens") {
  attention::Tensor small(2, 3, 5);
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 5; ++j) small.row(1, i)[j] = static_cast<float>(10 * i + j);
  CHECK(attention::outlineOf(small, 1) ==
        std::vector<float>{0, 1, 2, 3, 4, 10, 11, 12, 13, 14, 20, 21, 22, 23, 24});
  attention::Tensor large(1, 32, 32);
  for (int i = 0; i < 32; ++i) large.row(0, i)[0] = 1;
  const std::vector<float> outline = attention::outlineOf(large, 0);
  REQUIRE(outline.size() == 256);
  for (std::size_t i = 0; i < 256; ++i) CHECK(outline[i] == (i % 16 == 0 ? 0.5f : 0.0f));
}
