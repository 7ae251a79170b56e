// The list of the Guide: lessons, puzzles, questions and example cards.
#pragma once

#include "document/search.h"
#include "views/context.h"

namespace views {

/// How well a search finds an entry: by its title, by what it is about, or by the words of the lesson itself.
document::Search::Found foundIn(const GuideView& guide, const GuideEntry& entry,
                                const document::Search& search);
/// Draws the list from the top of `at`, whose height does not count, into the current window; returns the y
/// below it. Null `keys`: none act on it.
float guideList(Context& context, FocusRing* keys, const Box& at);

}  // namespace views
