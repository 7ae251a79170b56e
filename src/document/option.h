// The one table of options, from which the state text, the options in JavaScript and on the command line, the
// controls and the ranges are derived.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "document/state.h"

namespace document {

/// What an option is, its range and its choices are said in option.cpp; here only what is not said to users.
enum class OptionId : std::uint8_t {
  mode,
  tokens,
  labels,
  heads,  ///< must divide the model width heads · d_k; keeps the ratio heads / kv_heads
  d_k,    ///< changes d_v too while the two are equal
  model_dim,
  causal,
  scale,
  temperature,
  focus_head,
  decimals,
  theme,
  seed,
  score,
  softcap,
  normalizer,
  position,
  causal_offset,
  window_left,
  window_right,
  prefix,
  key_length,
  pattern,  ///< a name for the options below, which setting it changes; "custom" can only be read
  pattern_local,
  pattern_dilation,
  pattern_stride,
  pattern_block,
  pattern_global,
  pattern_random,
  pattern_seed,
  mask_after_softmax,
  kv_heads,
  d_v,
  cross,
  key_tokens,
  key_labels,
  hidden_heads,
  average_heads,
  zoom,
  present,
  whole_projections,
  step,
  batch,
  batch_item,
  block_residual,
  block_norm,
  block_activation,
  block_hidden,
  block_dropout,
  block_epsilon,
  block_seed,
  segment_by,
  segment_tokens,
  segment_seed,
  experiment,
  weight_scale,
  view,
  block_dropout_kind,
  block_dropout_seed,
  spread_dim,
  spread_mean,       ///< of the keys too if spread_same
  spread_deviation,  ///< of the keys too if spread_same
  spread_scaled,
  spread_seed,
  dense_token,
  dense_amount,
  dense_moved,
  dense_seed,
  reach_tokens,
  reach_recurrent,
  reach_input,
  reach_lead,
  reach_seed,
  reach_forget,
  same_word,  ///< rows of X, Q, K and V depend on the token's word; setting it redraws all rows
  gradient,
  spread_same,
  spread_key_mean,
  spread_key_deviation,
  spread_draws,
  memory_cell,
  memory_units,
  memory_seed,
  cost_tokens,
  cost_compare,
  cost_window,
  train_task,
  train_layers,
  train_heads,
  train_d_model,
  train_feed_forward,
  train_layer_norm,
  train_residual,
  train_causal,
  train_position,
  train_score,
  train_normalizer,
  train_optimizer,
  train_rate,  ///< a change does not restart the run
  train_batch,
  train_dropout,
  train_seed,
  train_sentences,
  train_running,
  stepper,
  card,
  pin,  ///< "" for none; true pins the present board, false removes the pin
  value_norms,
  weight_by,
  rotary_pairs,
  rotary_base,
  rotary_dims,
  rotary_scaling,
  rotary_factor,
  softmax_sink,
  separate_values,
  additive_dim,
  d_q,  ///< 0: as many as d_k, as scores without weights need
  output_projection,
  d_out,
  projection_bias,
  position_ids,
  column_names,
  patch_columns,
  column_layout,
  batch_of,
  layer,      ///< the same as batch_item where the batch consists of layers
  color_map,  ///< grey applies to all matrices
  memory_words,
  segment_classes,
  model_find,     ///< "" for none
  model_targets,  ///< "" for those of the task
};

enum class OptionType : std::uint8_t {
  boolean,
  integer,
  real,
  choice,
  labels,
  scale,  ///< true, false or a real number
  heads,  ///< list of head numbers
  ids,    ///< list of integers
  text,   ///< at most `max` bytes
  names,  ///< list of texts that may be empty; a text is split at commas
};

using Value = std::variant<bool, double, std::string, std::vector<std::string>, std::vector<int>>;

/// When does the state text contain the option?
enum class Stored : std::uint8_t {
  always,
  ifSet,  ///< if it differs from its default
  never,
};

/// What has to be computed anew when the option changes.
enum class Invalidates : std::uint8_t {
  layer,         ///< everything
  mask,          ///< which keys are visible
  score,         ///< the scores, by their scale alone where both are dot products
  temperature,   ///< what follows from the division by it
  surroundings,  ///< the block or the segments around the layer, which read its output
  experiment,
  training,
  nothing,
};

/// A member of the settings. Members of enumerations are given by the index of their value among the choices.
using MemberPointer =
    std::variant<bool*, std::uint8_t*, int*, std::uint32_t*, std::int64_t*, float*, double*, std::string*>;

/// Where the settings hold an option, and what depends on that part of them.
struct Member {
  MemberPointer (*at)(Settings&) = nullptr;  ///< null for options that are not simply a member
  Invalidates invalidates = Invalidates::layer;
};

struct Option {
  OptionId id{};
  std::string_view name;  ///< as in the state text
  Member member{};
  OptionType type{};
  double min = 0, max = 0;                      ///< range of integer, real and scale
  std::span<const std::string_view> choices{};  ///< of choice
  bool undoable = true;  ///< false for view options: focus_head, decimals, theme, average_heads …
  Stored stored = Stored::ifSet;
  Invalidates invalidates = Invalidates::layer;
};

std::span<const Option> options();
const Option& option(OptionId id);
/// A one-line description of the option.
std::string_view helpOn(OptionId id);
/// The option of that name; null if there is none.
const Option* optionNamed(std::string_view name);

Value get(const Settings& settings, OptionId id);
/// Does the option have its default value, given the other options?
bool isDefault(const Settings& settings, OptionId id);
/// Checks the value against the option's type and range, independently of the state.
Result<void> checkAlone(const Option& option, const Value& value);
/// Checks the value against the option's type and range, and against the other settings (the number of heads
/// must divide the width, rotary positions need an even d_k …). Controls explain an error by its remedy:
/// remedy.h.
Result<void> check(const Settings& settings, OptionId id, const Value& value);
/// Sets an option to a value that has passed checkAlone(), and nothing else: tensors are not resized.
void assign(Settings& settings, OptionId id, const Value& value);
/// The settings after setting an option to a value that has passed checkAlone(), including the sizes that
/// follow from it.
Settings settingsAfter(const Settings& settings, OptionId id, const Value& value);
/// The tokens in a value of OptionType::labels: the list, or the sentence split into tokens.
std::vector<std::string> labelsOf(const Value& value);
/// The names in a value of OptionType::names, without trailing empty ones: the list, or the text split at
/// commas.
std::vector<std::string> namesOf(const Value& value);
/// The numbers of heads that divide the model width, keep the ratio to kv_heads and stay within the limits,
/// in ascending order.
std::vector<int> allowedHeads(const Settings& settings);
/// Splits a sentence into tokens: words and punctuation marks, separated at white space and around
/// punctuation. An emoji is a token by itself; so is each Chinese or Japanese character, unless white space
/// separates the text into words.
std::vector<std::string> splitTokens(std::string_view sentence);
/// Does the text begin with a Chinese or Japanese character, which are written without spaces between words?
bool isIdeographic(std::string_view text);

}  // namespace document
