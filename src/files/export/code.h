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

/// Of programs in Python alone: the library's name there, and the lines that make `scores` of q and k, and
/// `weights` of these. Rows may see no key if `canBeEmpty`; `keys` is their number, 0 where it is len(keys).
std::string_view libraryOf(Language language);
std::string scoresProgram(const attention::Spec& spec, Language language);
std::string weightsProgram(const attention::Spec& spec, Language language, bool canBeEmpty, int keys);

}  // namespace files
