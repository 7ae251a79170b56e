// One table of options: it gives the state text, the JavaScript option, the control and their ranges.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "document/state.h"

namespace document {

enum class OptionId : std::uint8_t {
  mode,       ///< "qkv" | "x"
  tokens,     ///< how many, 1 …
  labels,     ///< list of token labels; setting a text splits it into tokens
  heads,      ///< must divide the model width heads · d_k
  d_k,        ///< columns per head, 1 …
  model_dim,  ///< columns of X, 1 …
  causal,
  scale,        ///< × 1/√d_k on or off
  temperature,  ///< 0.01 … 100
  focus_head,
  decimals,  ///< 0 … 6
  theme,     ///< "auto" | "light" | "dark"
  seed,
};

enum class OptionType : std::uint8_t { boolean, integer, real, choice, labels };

using Value = std::variant<bool, double, std::string, std::vector<std::string>>;

struct Option {
  OptionId id;
  std::string_view name;  ///< as in the state text
  OptionType type;
  double min = 0, max = 0;                      ///< of integer and real
  std::span<const std::string_view> choices{};  ///< of choice
  bool undoable = true;   ///< false for how things are shown: focus_head, decimals, theme
  std::string_view help;  ///< one line
};

std::span<const Option> options();
const Option& option(OptionId id);
/// The option of that name, or null.
const Option* optionNamed(std::string_view name);

Value get(const State& state, OptionId id);
/// Does the value fit the option's type and range, whatever the state?
Check checkAlone(const Option& option, const Value& value);
/// Does the value fit the option's type and range, and the state (heads divide the width …)?
Check check(const State& state, OptionId id, const Value& value);
/// Writes the value of an option that has passed checkAlone(), and nothing else: a new size leaves the
/// tensors as they are.
void assign(State& state, OptionId id, const Value& value);
/// The tokens of a value of OptionType::labels: the list, or the sentence split.
std::vector<std::string> labelsOf(const Value& value);
/// The head counts that divide the model width and stay within the limits, ascending.
std::vector<int> allowedHeads(const State& state);
/// Splits a sentence into tokens: words and punctuation marks, at white space and around punctuation.
std::vector<std::string> splitTokens(std::string_view sentence);

}  // namespace document
