// Sparse patterns, by the names used in papers and courses.
#pragma once

#include <string_view>

#include "attention/layer/spec.h"

namespace document {

/// Names of patterns. longformer: local and global (Beltagy et al. 2020); bigbird: these and random (Zaheer
/// et al. 2020). "custom" stands for any other combination.
inline constexpr std::string_view kPatternNames[] = {"none",   "local",  "dilated",    "strided", "block",
                                                     "global", "random", "longformer", "bigbird", "custom"};

std::string_view patternName(const attention::Pattern& pattern);
/// The pattern with that name, which must not be "custom". Parts that `now` has keep their sizes; others get
/// sizes that are visible with `keys` keys.
attention::Pattern patternNamed(std::string_view name, const attention::Pattern& now, int keys);

}  // namespace document
