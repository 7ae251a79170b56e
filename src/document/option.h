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

enum class OptionId : std::uint8_t {
  mode,       ///< "qkv" | "x"
  tokens,     ///< number of tokens, 1 …
  labels,     ///< list of token labels; a sentence is split into tokens
  heads,      ///< must divide the model width heads · d_k; keeps the ratio heads / kv_heads
  d_k,        ///< columns per head, 1 …; changes d_v too while the two are equal
  model_dim,  ///< columns of X, 1 …
  causal,
  scale,        ///< true: × 1/√d_k; a number: × that number; false: scores are not scaled
  temperature,  ///< 1e-6 … 1e6
  focus_head,
  decimals,  ///< 0 … 6
  theme,     ///< "auto" | "light" | "dark"
  seed,
  score,          ///< attention::kScoreNames
  softcap,        ///< c · tanh(score / c); 0: none
  normalizer,     ///< attention::kNormalizerNames
  position,       ///< "none" | "sinusoidal" | "rotary" | "alibi"
  causal_offset,  ///< keys cached before the first query
  window_left,    ///< how many keys before a query's own position stay visible; -1: all
  window_right,   ///< how many keys after it; -1: all
  prefix,         ///< the first `prefix` keys are visible to all queries in spite of causal
  key_length,     ///< keys from here on are padding; -1: no padding
  /// A name for a combination of the options below, which setting it changes; "custom" can only be read.
  pattern,
  pattern_local,
  pattern_dilation,
  pattern_stride,
  pattern_block,
  pattern_global,
  pattern_random,
  pattern_seed,
  mask_after_softmax,  ///< the named mistake of masking after softmax
  kv_heads,            ///< must divide heads
  d_v,
  cross,              ///< keys and values come from another sequence
  key_tokens,         ///< number of key tokens; equal to tokens unless cross
  key_labels,         ///< as labels, for key tokens
  hidden_heads,       ///< list of indices of hidden heads, from 0
  average_heads,      ///< show the mean of the weights over all heads
  zoom,               ///< magnification of the whole page, 1 … 2.5; 0: chosen by the window size
  present,            ///< presentation: only title, board and selection
  whole_projections,  ///< show the projection matrices of all heads as one matrix each
  step,               ///< tokens that a decoder has generated; 0: not decoding step by step
  batch,              ///< number of sequences that go through the layer
  batch_item,         ///< the sequence on the board, from 0
  block_residual,
  block_norm,        ///< "none" | "post" | "pre"
  block_activation,  ///< "relu" | "gelu" | "tanh"
  block_hidden,      ///< hidden units divided by the width, 1 … 8
  block_dropout,     ///< 0 … 0.9
  block_epsilon,     ///< of layer normalisation, 1e-12 … 1
  block_seed,
  segment_by,      ///< "tokens" | "punctuation"
  segment_tokens,  ///< tokens per segment, for segment_by "tokens"
  segment_seed,
  experiment,    ///< an older name of view: "none" | "spread" | "weights" | "reach" | "block" | "segments"
  weight_scale,  ///< "linear" | "sqrt" | "row" | "auto": how weights map to colours
  view,  ///< "layer" | "block" | "segments" | "spread" | "dense" | "memory" | "cost" | "train" | "model"
  block_dropout_kind,  ///< "inverted" | "plain"
  block_dropout_seed,  ///< selects what dropout drops; -1: block_seed
  spread_dim,          ///< d_k, 1 … 1024
  spread_mean,         ///< μ of the queries, and of the keys if spread_same, -10 … 10
  spread_deviation,    ///< σ of the same, 0 … 10
  spread_scaled,       ///< show the distribution of q·k ÷ √d_k in front
  spread_seed,
  dense_token,   ///< the token that is perturbed, from 0
  dense_amount,  ///< 0 … 10
  dense_moved,   ///< "values" | "queries_keys" | "all"
  dense_seed,
  reach_tokens,     ///< 2 … 256
  reach_recurrent,  ///< 0 … 4
  reach_input,      ///< 0 … 10
  reach_lead,       ///< -30 … 30
  reach_seed,
  reach_forget,  ///< -10 … 10
  /// Rows of X, Q, K and V depend on the token's word, so equal words get equal rows; setting it redraws all
  /// rows.
  same_word,
  gradient,              ///< show how to raise the selected value
  spread_same,           ///< keys have the same distribution as queries
  spread_key_mean,       ///< μ of the keys otherwise
  spread_key_deviation,  ///< σ of the keys otherwise
  spread_draws,          ///< number of queries drawn, 1 … 512, each with 16 keys
  memory_cell,           ///< "tanh" | "lstm"
  memory_units,          ///< 1 … 16
  memory_seed,
  cost_tokens,   ///< 1 … 1,000,000; 0: the tokens of the layer
  cost_compare,  ///< "score" | "heads" | "window" | "recurrent"
  cost_window,   ///< keys that a query sees with a window, 1 … 1,000,000
  /// "tags" | "previous" | "induction" | "reverse" | "most_frequent" | "sort" | "translate"; sets the other
  /// options as recommended.
  train_task,
  train_layers,  ///< 1 … 4
  train_heads,   ///< must divide train_d_model
  train_d_model,
  train_feed_forward,
  train_layer_norm,
  train_residual,
  train_causal,
  train_position,    ///< "none" | "sinusoidal" | "rotary" | "alibi" | "learned"
  train_score,       ///< as score
  train_normalizer,  ///< as normalizer
  train_optimizer,   ///< "sgd" | "momentum" | "adam"
  train_rate,        ///< learning rate; a change does not restart the run
  train_batch,       ///< sequences per step
  train_dropout,     ///< 0 … 0.9
  train_seed,        ///< determines initial weights, batches and which sequences are held out
  train_sentences,   ///< the user's own sentences for tags and translate, one per line
  train_running,     ///< is training in progress?
  /// How many steps from q·k to the output are shown for the selected row; 0: all, without stepping.
  stepper,
  card,  ///< "arcs" | "plane" | "values" | "changes" | "loops": the content of the card below the matrices
  /// A state text to compare with, "" for none; true pins the present board, false removes the pin.
  pin,
  value_norms,  ///< lengths of arcs and bars are proportional to what a value contributes, ‖w·v‖
  /// "query" | "key": which of the two is changed, as little as possible, when a weight is dragged.
  weight_by,
  rotary_pairs,  ///< "adjacent" | "half": which columns rotary positions rotate together
  rotary_base,
  rotary_dims,        ///< only the first columns, this many, are rotated; 0: all
  rotary_scaling,     ///< "none" | "linear" | "ntk"
  rotary_factor,      ///< the factor of rotary_scaling
  softmax_sink,       ///< each row of softmax has one more score, `sink`, in its sum alone
  separate_values,    ///< values are projected from x_v
  additive_dim,       ///< hidden units of the additive score; 0: as many as d_k
  d_q,                ///< columns of Q per head; 0: as many as d_k, as scores without weights need
  output_projection,  ///< W_O combines the heads; without it they are concatenated
  d_out,              ///< columns of W_O; 0: as many as X has
  projection_bias,    ///< b_q, b_k, b_v and b_o are added to the projections by W_Q, W_K, W_V and W_O
  /// List of numbers used in place of the positions 0, 1, 2 …; a single number is an offset, [] none.
  position_ids,
  /// List of names for the columns of Q and K, head after head; a text is split at commas, [] none.
  column_names,
  patch_columns,  ///< keys are patches of a picture, so many in a row; 0: they are not
  column_layout,  ///< tokens are the columns of all matrices: O = V·softmax(KᵀQ)
  batch_of,       ///< "sequences" | "layers": what the items of the batch stand for
  layer,      ///< the layer on the board, from 0: the same as batch_item where the batch consists of layers
  color_map,  ///< "own" | "cividis" | "grey": colours of the weights; grey applies to all matrices
  memory_words,     ///< that the recurrent decoder writes, 1 … 16
  segment_classes,  ///< list of names of the document's classes, as column_names; [] for two without names
  model_find,       ///< the word that heads of the page Model are measured by; "" for none
  model_targets,    ///< the classes by which the page Model measures a loss; "" for those of the task
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
