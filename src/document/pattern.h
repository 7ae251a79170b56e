// Sparse patterns by the names that papers and courses give them.
#pragma once

#include <string_view>

#include "attention/layer/spec.h"

namespace document {

/// What a Pattern may be called. longformer: local and global (Beltagy et al. 2020); bigbird: random too
/// (Zaheer et al. 2020). "custom" is any other union of parts.
inline constexpr std::string_view kPatternNames[] = {"none",   "local",  "dilated",    "strided", "block",
                                                     "global", "random", "longformer", "bigbird", "custom"};

std::string_view patternName(const attention::Pattern& pattern);
/// The pattern of that name, but "custom". Parts that are on in `now` keep their sizes; others get ones that
/// show among so many keys.
attention::Pattern patternNamed(std::string_view name, const attention::Pattern& now, int keys);

}  // namespace document
