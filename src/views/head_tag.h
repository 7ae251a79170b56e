// The tag of a head: a letter for what it mostly looks at, and how much of that there is.
#pragma once

#include "attention/experiments/head_pattern.h"
#include "views/context.h"

namespace views {

inline constexpr float kTagWidth = 42, kTagHeight = 15;

/// Draws a tag, "P 0.86", from its top left corner, and points the tooltip at it.
void headTag(Context& context, const attention::HeadTag& tag, float x, float y);
/// What the tag says, as a sentence about "it".
base::Message tagSentence(const attention::HeadTag& tag);
/// Draws entropy, distance and the weight on the first, the previous and the own token, one below the other,
/// each in a line like the first.
void headMeasures(Context& context, const attention::HeadMeasures& measures, Box line);
inline constexpr int kHeadMeasures = 5;
inline constexpr float kMeasureLine = 14;

}  // namespace views
