#include "document/pattern.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace document {
namespace {

using attention::Pattern;

// The parts of a pattern, as bits.
constexpr unsigned kLocal = 1, kDilated = 2, kStride = 4, kBlock = 8, kGlobal = 16, kRandom = 32;

/// One combination for each of kPatternNames except "custom".
constexpr unsigned kRecipes[] = {0,       kLocal,           kLocal | kDilated,
                                 kStride, kBlock,           kGlobal,
                                 kRandom, kLocal | kGlobal, kLocal | kGlobal | kRandom};
static_assert(std::size(kRecipes) + 1 == std::size(kPatternNames));

unsigned partsOf(const Pattern& p) {
  return (p.local > 0 ? kLocal : 0) | (p.local > 0 && p.dilation > 1 ? kDilated : 0) |
         (p.stride > 0 ? kStride : 0) | (p.block > 0 ? kBlock : 0) | (p.global > 0 ? kGlobal : 0) |
         (p.random > 0 ? kRandom : 0);
}

}  // namespace

std::string_view patternName(const Pattern& pattern) {
  const auto recipe = std::find(std::begin(kRecipes), std::end(kRecipes), partsOf(pattern));
  return kPatternNames[recipe - std::begin(kRecipes)];
}

Pattern patternNamed(std::string_view name, const Pattern& now, int keys) {
  const unsigned recipe = kRecipes[std::find(std::begin(kPatternNames), std::end(kPatternNames), name) -
                                   std::begin(kPatternNames)];
  const auto size = [&](unsigned part, int current, int fresh) {
    return (recipe & part) == 0 ? 0 : current > 0 ? current : fresh;
  };
  // Strides and blocks of √keys minimise the total work (Child et al. 2019, section 4.2).
  const int root = static_cast<int>(std::sqrt(static_cast<double>(keys)));
  Pattern out;
  out.local = size(kLocal, now.local, std::max(2, root / 2));
  out.dilation = std::max(1, size(kDilated, now.dilation > 1 ? now.dilation : 0, 2));
  out.stride = size(kStride, now.stride, std::max(3, root));
  out.block = size(kBlock, now.block, std::max(2, root));
  out.global = size(kGlobal, now.global, 1);
  out.random = size(kRandom, now.random, 1);
  out.seed = now.seed;
  return out;
}

}  // namespace document
