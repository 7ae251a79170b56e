// A layer as a program: what computes the same numbers elsewhere.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "document/state.h"

namespace files {

enum class Language : std::uint8_t { numpy, torch, jax, latex };

std::string_view name(Language language);  ///< "numpy", …
std::optional<Language> languageNamed(std::string_view name);

/// A short program with the inputs of the board's sequence in it, which leaves its result in `output`: [heads, L, d_v], or [L, columns] where
/// there is a W_O. Steps that the layer does not have are not in it. In LaTeX (amsmath), the formulas and the numbers of the head on the board, with the state's decimals. Refused: what
/// attention::validate() refuses.
base::Result<std::string> toCode(const document::State& state, Language language);

}  // namespace files
