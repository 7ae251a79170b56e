// The list of the Guide: lessons, puzzles, questions and example cards.
#pragma once

#include "views/context.h"

namespace views {

/// Draws the list from the top of `at`, whose height does not count, into the current window; returns the y below it. Null `keys`: none act
/// on it.
float guideList(Context& context, FocusRing* keys, const Box& at);

}  // namespace views
