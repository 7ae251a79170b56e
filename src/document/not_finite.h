// Rows of Q, K, V or X with NaN or infinity, as files of a model that went wrong have them: they are hidden
// by a mask, marked by their labels, and the rest is shown as if they were not there.
#pragma once

#include <string>
#include <string_view>

#include "document/state.h"

namespace document {

/// Writes zeros into all rows that hold a number that is not finite, so that check() accepts the state; hides
/// their queries, keys and values; begins the labels of their tokens with "NaN "; and says in
/// Settings::notFinite what there was. The mask is painted where it is the same for all heads and items of
/// the batch. Otherwise it becomes a bias; if the board has no room for that, what is hidden in one head is
/// painted in all. An error that names the first such number if nothing is left of a tensor, or if there are
/// too many pairs to hide.
Result<void> hideNotFinite(State& state);

/// What Settings::notFinite says, in a sentence; "" for a board of finite numbers.
base::Message notFiniteSentence(const Settings& settings);

/// Is it the label of a token with such a row?
bool isNotFinite(const Settings& settings, std::string_view label);

}  // namespace document
