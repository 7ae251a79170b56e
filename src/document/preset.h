// The examples that ship with the playground.
#pragma once

#include <span>
#include <string_view>

#include "document/state.h"

namespace document {

struct Preset {
  std::string_view name;   ///< as in <attention-playground preset="…">: "i-saw-a-saw", "pronoun", …
  std::string_view title;  ///< as in the menu: "I saw a saw"
  std::string_view about;  ///< one sentence: what to look for
};

/// In the order of a course: plain attention first, then scores, another sequence, sparse patterns,
/// normalisers, shared heads, positions, a decoder, what stands around the layer, and a mistake. The first is the
/// default.
std::span<const Preset> presets();
/// The state of a preset; an error that lists the names for an unknown one.
Result<State> preset(std::string_view name);

}  // namespace document
