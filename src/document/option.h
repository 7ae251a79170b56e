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
  heads,      ///< must divide the model width heads · d_k; keeps heads / kv_heads
  d_k,        ///< columns per head, 1 …; d_v goes along while it is the same
  model_dim,  ///< columns of X, 1 …
  causal,
  scale,        ///< true: × 1/√d_k; a number: × it; false: the score is not scaled
  temperature,  ///< 0.01 … 100
  focus_head,
  decimals,  ///< 0 … 6
  theme,     ///< "auto" | "light" | "dark"
  seed,
  score,          ///< "dot" | "scaled" | "general" | "additive" | "cosine"
  softcap,        ///< c · tanh(score / c); 0: none
  normalizer,     ///< "softmax" | "sparsemax" | "sigmoid" | "relu" | "hardmax" | "none"
  position,       ///< "none" | "sinusoidal" | "rotary" | "alibi"
  causal_offset,  ///< keys cached before the first query
  window_left,    ///< keys before a query's own that stay visible; -1: all
  window_right,   ///< keys after it; -1: all
  prefix,         ///< the first so many keys are visible whatever causal says
  key_length,     ///< keys from here on are padding; -1: none
  pattern,        ///< a name for the parts below; setting it writes them. "custom" is only read
  pattern_local,
  pattern_dilation,
  pattern_stride,
  pattern_block,
  pattern_global,
  pattern_random,
  pattern_seed,
  mask_after_softmax,  ///< the named mistake
  kv_heads,            ///< divides heads
  d_v,
  cross,          ///< keys and values are of another sequence
  key_tokens,     ///< how many; the tokens unless cross
  key_labels,     ///< as labels
  hidden_heads,   ///< list of head numbers, from 0
  average_heads,  ///< show the mean of all heads' weights
  zoom,               ///< of everything on the screen, 1 … 2.5; 0: as the window allows
  present,            ///< title, board and what is chosen, for a room
  whole_projections,  ///< show each W of all heads as one matrix
  step,           ///< tokens that a decoder has produced, 0: not step by step
  batch,          ///< how many sequences go through the layer
  batch_item,     ///< the one on the board, from 0
  block_residual,
  block_norm,        ///< "none" | "post" | "pre"
  block_activation,  ///< "relu" | "gelu" | "tanh"
  block_hidden,      ///< hidden units per number of a token, 1 … 8
  block_dropout,     ///< 0 … 0.9
  block_epsilon,     ///< of layer normalisation, 1e-12 … 1
  block_seed,
  segment_by,      ///< "tokens" | "punctuation"
  segment_tokens,  ///< in each segment; of segment_by "tokens"
  segment_seed,
  experiment,  ///< "none" | "spread" | "weights" | "reach" | "block" | "segments"
  weight_scale,  ///< "linear" | "sqrt" | "row": how the colour of a weight follows from it
  same_word,   ///< rows of X, Q, K and V are drawn from their tokens' words; true or false draws all rows anew
};

enum class OptionType : std::uint8_t {
  boolean,
  integer,
  real,
  choice,
  labels,
  scale,  ///< true, false or a real number
  heads,  ///< list of head numbers
};

using Value = std::variant<bool, double, std::string, std::vector<std::string>, std::vector<int>>;

/// Does the state text hold the option?
enum class Stored : std::uint8_t {
  always,
  ifSet,  ///< unless it has its default
  never,
};

struct Option {
  OptionId id;
  std::string_view name;  ///< as in the state text
  OptionType type;
  double min = 0, max = 0;                      ///< of integer, real and scale
  std::span<const std::string_view> choices{};  ///< of choice
  bool undoable = true;  ///< false for how things are shown: focus_head, decimals, theme, average_heads …
  std::string_view help;  ///< one line
  Stored stored = Stored::ifSet;
};

std::span<const Option> options();
const Option& option(OptionId id);
/// The option of that name, or null.
const Option* optionNamed(std::string_view name);

Value get(const Settings& settings, OptionId id);
/// Is it what the option is where nobody said anything, given the others?
bool isDefault(const Settings& settings, OptionId id);
/// Does the value fit the option's type and range, whatever the state?
Check checkAlone(const Option& option, const Value& value);
/// Does the value fit the option's type and range, and the state (heads divide the width, rotary positions
/// want an even d_k …)? Controls say why where it does not: remedy.h.
Check check(const Settings& settings, OptionId id, const Value& value);
/// Writes the value of an option that has passed checkAlone(), and nothing else: a new size leaves the
/// tensors as they are.
void assign(Settings& settings, OptionId id, const Value& value);
/// The settings once the option, which has passed checkAlone(), has this value, and the sizes that follow
/// from it do so.
Settings settingsAfter(const Settings& settings, OptionId id, const Value& value);
/// The tokens of a value of OptionType::labels: the list, or the sentence split.
std::vector<std::string> labelsOf(const Value& value);
/// The head counts that divide the model width, keep the ratio to kv_heads and stay within the limits,
/// ascending.
std::vector<int> allowedHeads(const Settings& settings);
/// Splits a sentence into tokens: words and punctuation marks, at white space and around punctuation. Emoji are tokens of
/// their own; so is each Chinese or Japanese character, unless white space parts them into words.
std::vector<std::string> splitTokens(std::string_view sentence);

}  // namespace document
