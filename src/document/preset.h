// The examples built into the playground.
#pragma once

#include <span>
#include <string_view>

#include "document/state.h"

namespace document {

struct Preset {
  std::string_view name;   ///< as in <attention-playground preset="…">: "i-saw-a-saw", "pronoun", …
  std::string_view title;  ///< as in the menu: "I saw a saw"
  std::string_view about;  ///< one sentence: what to look for
  std::string_view group;  ///< the heading of the menu that it is listed under
};

/// All presets, in the order of a course: plain attention first, then scores, cross-attention, sparse
/// patterns, normalisers, grouped heads, positions, a decoder, what surrounds the layer, applications, and a
/// mistake. The first one is the default.
std::span<const Preset> presets();
/// What a first visit opens: the words and numbers of the default preset, with its first head alone and
/// nothing masked.
State firstBoard();
/// The state of a preset; for an unknown name, an error with the nearest names.
Result<State> preset(std::string_view name);

}  // namespace document
