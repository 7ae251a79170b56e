// A layer as source code that computes the same numbers with another library.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "document/state.h"

namespace files {

enum class Language : std::uint8_t { numpy, torch, jax, latex };

std::string_view name(Language language);  ///< "numpy", …
std::optional<Language> languageNamed(std::string_view name);

/// A short program that contains the inputs of the sequence on the board, and leaves its result in `output`:
/// [heads, L, d_v], or [L, columns] where there is a W_O. Steps that the layer does not have are omitted. For
/// LaTeX (amsmath, graphicx): the formulas, and the numbers of the head on the board with the state's
/// decimals, no wider than the column in which they stand; of large matrices the corners. Returns
/// the errors of attention::validate().
base::Result<std::string> toCode(const document::State& state, Language language);

}  // namespace files
