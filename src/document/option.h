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
  experiment,  ///< older name of view: "none" | "spread" | "weights" | "reach" | "block" | "segments"
  weight_scale,  ///< "linear" | "sqrt" | "row" | "auto": how the colour of a weight follows from it
  view,  ///< "layer" | "block" | "segments" | "spread" | "dense" | "memory" | "cost" | "train" | "model"
  block_dropout_kind,  ///< "inverted" | "plain"
  block_dropout_seed,  ///< of what the block drops; -1: block_seed
  spread_dim,        ///< d_k, 1 … 1024
  spread_mean,       ///< μ of queries, and of keys unless they are apart, -10 … 10
  spread_deviation,  ///< σ of the same, 0 … 10
  spread_scaled,     ///< show q·k ÷ √d_k in front
  spread_seed,
  dense_token,   ///< the one that moves, from 0
  dense_amount,  ///< 0 … 10
  dense_moved,   ///< "values" | "queries_keys" | "all"
  dense_seed,
  reach_tokens,     ///< 2 … 256
  reach_recurrent,  ///< 0 … 4
  reach_input,      ///< 0 … 10
  reach_lead,       ///< -30 … 30
  reach_seed,
  same_word,   ///< rows of X, Q, K and V are drawn from their tokens' words; true or false draws all rows anew
  gradient,    ///< show what would raise the selected value
  spread_same,           ///< keys are drawn as queries are
  spread_key_mean,       ///< μ of keys where they are not
  spread_key_deviation,  ///< σ of keys where they are not
  spread_draws,          ///< queries that are drawn, 1 … 512, each with 16 keys
  memory_cell,   ///< "tanh" | "lstm"
  memory_units,  ///< 1 … 16
  memory_seed,
  cost_tokens,   ///< 1 … 1,000,000; 0: those of the layer
  cost_compare,  ///< "score" | "heads" | "window" | "recurrent"
  cost_window,   ///< keys that a query sees in the window, 1 … 1,000,000
  train_task,  ///< "tags" | "previous" | "induction" | "reverse" | "most_frequent" | "sort" | "translate"; sets the others as recommended
  train_layers,        ///< 1 … 4
  train_heads,         ///< divides train_d_model
  train_d_model,
  train_feed_forward,
  train_layer_norm,
  train_residual,
  train_causal,
  train_position,      ///< "none" | "sinusoidal" | "rotary" | "alibi" | "learned"
  train_score,         ///< as score
  train_normalizer,    ///< as normalizer
  train_optimizer,     ///< "sgd" | "momentum" | "adam"
  train_rate,          ///< of learning; another one goes on with the run
  train_batch,         ///< sequences a step
  train_dropout,       ///< 0 … 0.9
  train_seed,          ///< of weights, batches and what is held out
  train_sentences,     ///< own ones of tags and translate, a line each
  train_running,       ///< does the run go on?
  stepper,  ///< so many steps of the selected row's way from q·k to the output are shown; 0: all, and no steps
  card,  ///< "arcs" | "plane" | "values" | "changes" | "loops": what the card below the matrices shows
  pin,          ///< a state text to compare with, "" for none; true pins the board as it is, false lets it go
  value_norms,  ///< arcs and bars are as long as what a value adds, ‖w·v‖
  weight_by,    ///< "query" | "key": whose smallest change gives a weight that is dragged
  rotary_pairs,    ///< "adjacent" | "half": which columns rotary positions turn together
  rotary_base,
  rotary_dims,     ///< the first so many columns are turned; 0: all
  rotary_scaling,  ///< "none" | "linear" | "ntk"
  rotary_factor,   ///< of the scaling
  separate_values,    ///< values are made of x_v
  additive_dim,       ///< hidden units of the additive score; 0: d_k
  output_projection,  ///< W_O joins the heads; without it they stand side by side
  d_out,              ///< columns of W_O; 0: as many as X
  projection_bias,  ///< what W_Q, W_K, W_V and W_O make has b_q, b_k, b_v and b_o added
  position_ids,    ///< list of what stands for the positions 0, 1, 2 …; one number is an offset, [] none
  column_names,    ///< list of what the columns of Q and K are called, head after head; a text is split at commas, [] none
  column_layout,   ///< tokens are columns of all matrices: O = V·softmax(KᵀQ)
  batch_of,   ///< "sequences" | "layers": what the items of the batch are
  layer,      ///< the one on the board, from 0: batch_item where the batch is of layers
  color_map,  ///< "own" | "cividis" | "grey": colours of weights; grey is of all matrices
};

enum class OptionType : std::uint8_t {
  boolean,
  integer,
  real,
  choice,
  labels,
  scale,  ///< true, false or a real number
  heads,  ///< list of head numbers
  ids,    ///< list of whole numbers
  text,   ///< at most `max` bytes
  names,  ///< list of texts, which may be empty; a text is split at commas
};

using Value = std::variant<bool, double, std::string, std::vector<std::string>, std::vector<int>>;

/// Does the state text hold the option?
enum class Stored : std::uint8_t {
  always,
  ifSet,  ///< unless it has its default
  never,
};

struct Option {
  OptionId id{};
  std::string_view name;  ///< as in the state text
  OptionType type{};
  double min = 0, max = 0;                      ///< of integer, real and scale
  std::span<const std::string_view> choices{};  ///< of choice
  bool undoable = true;  ///< false for how things are shown: focus_head, decimals, theme, average_heads …
  Stored stored = Stored::ifSet;
};

std::span<const Option> options();
const Option& option(OptionId id);
/// What it is for, in one line.
std::string_view helpOn(OptionId id);
/// The option of that name, or null.
const Option* optionNamed(std::string_view name);

Value get(const Settings& settings, OptionId id);
/// Is it what the option is where nobody said anything, given the others?
bool isDefault(const Settings& settings, OptionId id);
/// Does the value fit the option's type and range, whatever the state?
Result<void> checkAlone(const Option& option, const Value& value);
/// Does the value fit the option's type and range, and the state (heads divide the width, rotary positions
/// want an even d_k …)? Controls say why where it does not: remedy.h.
Result<void> check(const Settings& settings, OptionId id, const Value& value);
/// Writes the value of an option that has passed checkAlone(), and nothing else: a new size leaves the
/// tensors as they are.
void assign(Settings& settings, OptionId id, const Value& value);
/// The settings once the option, which has passed checkAlone(), has this value, and the sizes that follow
/// from it do so.
Settings settingsAfter(const Settings& settings, OptionId id, const Value& value);
/// The tokens of a value of OptionType::labels: the list, or the sentence split.
std::vector<std::string> labelsOf(const Value& value);
/// Those of a value of OptionType::names, without empty ones at the end: the list, or the text split at its commas.
std::vector<std::string> namesOf(const Value& value);
/// The head counts that divide the model width, keep the ratio to kv_heads and stay within the limits,
/// ascending.
std::vector<int> allowedHeads(const Settings& settings);
/// Splits a sentence into tokens: words and punctuation marks, at white space and around punctuation. Emoji are tokens of
/// their own; so is each Chinese or Japanese character, unless white space parts them into words.
std::vector<std::string> splitTokens(std::string_view sentence);
/// Does it begin with a Chinese or Japanese character, of which a sentence has one after another without spaces?
bool isIdeographic(std::string_view text);

}  // namespace document
