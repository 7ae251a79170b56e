#include "document/option.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/number.h"
#include "document/pattern.h"
#include "document/pin.h"
#include "document/resize.h"
#include "document/training.h"
#include "base/sentence.h"

namespace document {
namespace {

using attention::Limits;
using ErrorKind = Error::Kind;

constexpr std::string_view kModes[] = {"qkv", "x"};
constexpr std::string_view kThemes[] = {"auto", "light", "dark"};
constexpr std::string_view kScores[] = {"dot", "scaled", "general", "additive", "cosine"};
constexpr std::string_view kNormalizers[] = {"softmax", "sparsemax", "sigmoid", "relu", "hardmax", "none"};
constexpr std::string_view kPositions[] = {"none", "sinusoidal", "rotary", "alibi"};
constexpr std::string_view kRotaryPairs[] = {"adjacent", "half"};
constexpr std::string_view kRotaryScalings[] = {"none", "linear", "ntk"};
constexpr std::string_view kBlockNorms[] = {"none", "post", "pre"};
constexpr std::string_view kActivations[] = {"relu", "gelu", "tanh"};
constexpr std::string_view kSegmentEnds[] = {"tokens", "punctuation"};
constexpr std::string_view kWeightScales[] = {"linear", "sqrt", "row", "auto"};
constexpr std::string_view kViews[] = {"layer", "block", "segments", "spread", "dense", "memory", "cost", "train", "model"};
constexpr std::string_view kExperiments[] = {"none", "spread", "weights", "reach", "block", "segments"};
/// The names that replaced these: the views in the order of kExperiments.
constexpr View kExperimentViews[] = {View::layer, View::spread, View::dense, View::memory, View::block, View::segments};
constexpr std::string_view kDropouts[] = {"inverted", "plain"};
constexpr std::string_view kCells[] = {"tanh", "lstm"};
constexpr std::string_view kCosts[] = {"score", "heads", "window", "recurrent"};
constexpr std::string_view kCards[] = {"arcs", "plane", "values", "changes", "loops"};
constexpr std::string_view kWeightBy[] = {"query", "key"};
constexpr std::string_view kBatchOf[] = {"sequences", "layers"};
constexpr std::string_view kColors[] = {"own", "cividis", "grey"};
constexpr std::string_view kMoved[] = {"values", "queries_keys", "all"};

using Id = OptionId;
using Type = OptionType;

/// An option and its one-line description.
struct Row {
  Option option;
  std::string_view help;
};

constexpr Row toggle(Id id, std::string_view name, std::string_view help) { return {{id, name, Type::boolean}, help}; }
constexpr Row whole(Id id, std::string_view name, double min, double max, std::string_view help) {
  return {{id, name, Type::integer, min, max}, help};
}
constexpr Row real(Id id, std::string_view name, double min, double max, std::string_view help) {
  return {{id, name, Type::real, min, max}, help};
}
constexpr Row other(Id id, std::string_view name, Type type, double min, double max, std::string_view help) {
  return {{id, name, type, min, max}, help};
}
constexpr Row choice(Id id, std::string_view name, std::span<const std::string_view> choices, std::string_view help) {
  return {{id, name, Type::choice, 0, 0, choices}, help};
}
constexpr Row stored(Stored when, Row row) {
  row.option.stored = when;
  return row;
}
constexpr Row always(Row row) { return stored(Stored::always, row); }
/// A view option, which undo does not change.
constexpr Row shown(Row row) {
  row.option.undoable = false;
  return row;
}

constexpr double kMaxZoom = 2.5;
constexpr double kMaxStepper = 24;
constexpr double kMaxSeed = 4294967295.0;
constexpr double kTokens = Limits::tokens;
constexpr double kColumnNames = 4096;

constexpr Row kRows[] = {
    always(choice(Id::mode, "mode", kModes, "Edit Q, K and V, or X and the weights that make them")),
    always(whole(Id::tokens, "tokens", 1, kTokens, "How many tokens there are")),
    always(
        other(Id::labels, "labels", Type::labels, 1, kTokens, "The tokens; a sentence is split into words")),
    always(whole(Id::heads, "heads", 1, Limits::heads, "Heads that share the width; must divide it")),
    always(whole(Id::d_k, "d_k", 1, Limits::headDim,
                 "Columns of Q and K per head, and of V while d_v is the same")),
    always(whole(Id::model_dim, "model_dim", 1, Limits::modelDim, "Columns of X")),
    always(toggle(Id::causal, "causal", "A token sees itself and those before it")),
    always(other(Id::scale, "scale", Type::scale, kMinScale, kMaxScale,
                 "Divide scores by the square root of d_k, or multiply them by a number")),
    always(real(Id::temperature, "temperature", kMinTemperature, kMaxTemperature,
                "Scores are divided by it before softmax: low is sharp, high is even")),
    always(shown(whole(Id::focus_head, "focus_head", 0, Limits::heads - 1, "The head on the board, from 0"))),
    always(shown(whole(Id::decimals, "decimals", 0, kMaxDecimals, "Digits after the point"))),
    always(shown(choice(Id::theme, "theme", kThemes, "Light, dark, or as the page"))),
    always(whole(Id::seed, "seed", 0, kMaxSeed, "Of random numbers; the same seed gives the same")),
    choice(Id::score, "score", kScores, "How a query and a key become one number"),
    real(Id::softcap, "softcap", 0, kMaxSoftcap,
         "Scores are bent to stay within plus or minus this; 0: they are not"),
    choice(Id::normalizer, "normalizer", kNormalizers, "How a row of scores becomes a row of weights"),
    choice(Id::position, "position", kPositions, "Where the order of the tokens comes in"),
    whole(Id::causal_offset, "causal_offset", 0, kTokens, "Keys that were cached before the first query"),
    whole(Id::window_left, "window_left", -1, kTokens, "Keys before its own that a query sees; -1: all"),
    whole(Id::window_right, "window_right", -1, kTokens, "Keys after its own that a query sees; -1: all"),
    whole(Id::prefix, "prefix", 0, kTokens, "The first so many keys are seen even by those before them"),
    whole(Id::key_length, "key_length", -1, kTokens,
          "Keys from here on are padding, which nobody sees; -1: none"),
    stored(Stored::never,
           choice(Id::pattern, "pattern", kPatternNames, "Which scores are computed")),
    whole(Id::pattern_local, "pattern_local", 0, kTokens,
          "Keys less than so many steps away are seen; 0: off"),
    whole(Id::pattern_dilation, "pattern_dilation", 1, kTokens, "Keys from one such step to the next"),
    whole(Id::pattern_stride, "pattern_stride", 0, kTokens,
          "Of keys counted from its own, one in so many is seen; 0: off"),
    whole(Id::pattern_block, "pattern_block", 0, kTokens,
          "Tokens of the same block of so many are seen; 0: off"),
    whole(Id::pattern_global, "pattern_global", 0, kTokens,
          "The first so many tokens see all and are seen by all"),
    whole(Id::pattern_random, "pattern_random", 0, kTokens, "So many keys a query are drawn and seen"),
    whole(Id::pattern_seed, "pattern_seed", 0, kMaxSeed, "Of these draws"),
    toggle(Id::mask_after_softmax, "mask_after_softmax", "A mistake to look at: rows no longer sum to 1"),
    whole(Id::kv_heads, "kv_heads", 1, Limits::heads,
          "Heads of K and V, each shared by heads of Q; must divide them"),
    whole(Id::d_v, "d_v", 1, Limits::headDim, "Columns of V per head"),
    toggle(Id::cross, "cross", "Keys and values are of another sequence"),
    whole(Id::key_tokens, "key_tokens", 1, kTokens, "How many tokens the other sequence has"),
    other(Id::key_labels, "key_labels", Type::labels, 1, kTokens, "The tokens of the other sequence"),
    other(Id::hidden_heads, "hidden_heads", Type::heads, 0, Limits::heads - 1,
          "Heads that are left out, from 0"),
    shown(toggle(Id::average_heads, "average_heads", "Show the mean of the heads' weights")),
    shown(real(Id::zoom, "zoom", 0, kMaxZoom, "How large everything is drawn, 1 to 2.5; 0: as the window allows")),
    shown(toggle(Id::present, "present", "Show nothing but title, board and what is chosen")),
    shown(toggle(Id::whole_projections, "whole_projections", "Show the W of all heads as one matrix each")),
    shown(whole(Id::step, "step", 0, kTokens,
                "Tokens that a decoder has produced so far; 0: not step by step")),
    whole(Id::batch, "batch", 1, kMaxBatch, "Sequences that go through the same layer"),
    whole(Id::batch_item, "batch_item", 0, kMaxBatch - 1, "The sequence on the board, from 0"),
    toggle(Id::block_residual, "block_residual", "The block adds its input to what each of its parts gives"),
    choice(Id::block_norm, "block_norm", kBlockNorms, "Where the block normalises: after each part, or before"),
    choice(Id::block_activation, "block_activation", kActivations, "What a hidden unit does with its sum"),
    whole(Id::block_hidden, "block_hidden", 1, kMaxBlockHidden,
          "Hidden units of the feed-forward network per number of a token"),
    real(Id::block_dropout, "block_dropout", 0, kMaxBlockDropout,
         "The chance of a number in the block to be dropped"),
    real(Id::block_epsilon, "block_epsilon", kMinBlockEpsilon, kMaxBlockEpsilon,
         "Added to the variance, so that a row of equal numbers does not divide by 0"),
    whole(Id::block_seed, "block_seed", 0, kMaxSeed, "Of the block's weights and of what it drops"),
    choice(Id::segment_by, "segment_by", kSegmentEnds, "Where segments of tokens end"),
    whole(Id::segment_tokens, "segment_tokens", 1, kTokens, "Tokens in each segment"),
    whole(Id::segment_seed, "segment_seed", 0, kMaxSeed, "Of the queries that weigh tokens and segments"),
    shown(choice(Id::experiment, "experiment", kExperiments, "The older name of view")),
    shown(choice(Id::weight_scale, "weight_scale", kWeightScales,
                 "How the colour of a weight follows from it: in proportion, by its square root, within its row, or by itself: the root from 64 keys on")),
    shown(choice(Id::view, "view", kViews, "What is open: the layer, the block around it, segments, an experiment, or all heads of a model")),
    choice(Id::block_dropout_kind, "block_dropout_kind", kDropouts,
           "Inverted dropout divides what is kept by 1 - p; plain leaves it, and inference multiplies by 1 - p"),
    whole(Id::block_dropout_seed, "block_dropout_seed", -1, kMaxSeed, "Of what the block drops; -1: that of its weights"),
    whole(Id::spread_dim, "spread_dim", 1, attention::SpreadDraws::largestDim, "Components of the drawn queries and keys"),
    real(Id::spread_mean, "spread_mean", -10, 10, "Mean of these components; of the queries alone where spread_same is off"),
    real(Id::spread_deviation, "spread_deviation", 0, 10, "Standard deviation of these components, of the same"),
    toggle(Id::spread_scaled, "spread_scaled", "Show scores divided by the square root of d_k in front"),
    whole(Id::spread_seed, "spread_seed", 0, kMaxSeed, "Of these draws"),
    whole(Id::dense_token, "dense_token", 0, kTokens - 1, "The token whose input moves, from 0"),
    real(Id::dense_amount, "dense_amount", 0, 10, "Standard deviation of what is added to its numbers"),
    choice(Id::dense_moved, "dense_moved", kMoved, "Which of its rows move"),
    whole(Id::dense_seed, "dense_seed", 0, kMaxSeed, "Of what is added"),
    whole(Id::reach_tokens, "reach_tokens", 2, attention::ReachSpec::longest, "Tokens that the recurrent network reads"),
    real(Id::reach_recurrent, "reach_recurrent", 0, 4, "Singular values of its recurrent matrix"),
    real(Id::reach_input, "reach_input", 0, 10, "Standard deviation of what each token adds to a unit"),
    real(Id::reach_lead, "reach_lead", -30, 30, "How much higher the score of the first token is than all others"),
    whole(Id::reach_seed, "reach_seed", 0, kMaxSeed, "Of the recurrent matrix and of what is added"),
    toggle(Id::same_word, "same_word", "Equal words get equal numbers; what is not equal yet is drawn anew"),
    shown(toggle(Id::gradient, "gradient", "Show what would raise the selected value, cell by cell")),
    toggle(Id::spread_same, "spread_same", "Keys are drawn with the mean and the deviation of queries"),
    real(Id::spread_key_mean, "spread_key_mean", -10, 10, "Mean of the components of keys where spread_same is off"),
    real(Id::spread_key_deviation, "spread_key_deviation", 0, 10, "Standard deviation of the components of keys where spread_same is off"),
    whole(Id::spread_draws, "spread_draws", 1, attention::SpreadDraws::mostQueries, "Queries that are drawn, each with 16 keys"),
    choice(Id::memory_cell, "memory_cell", kCells, "The recurrent network that reads the sentence: tanh, or an LSTM with its gates"),
    whole(Id::memory_units, "memory_units", 1, kMaxMemoryUnits, "Numbers in its state"),
    whole(Id::memory_seed, "memory_seed", 0, kMaxSeed, "Of its weights"),
    whole(Id::cost_tokens, "cost_tokens", 0, kMaxCostTokens, "Tokens that the cost is counted for; 0: those of the layer"),
    choice(Id::cost_compare, "cost_compare", kCosts, "What the cost of the layer is compared with"),
    whole(Id::cost_window, "cost_window", 1, kMaxCostTokens, "Keys that a query sees in the window that it is compared with"),
    choice(Id::train_task, "train_task", training::kTaskNames, "What is learned; the options of the model become those that learn it well"),
    whole(Id::train_layers, "train_layers", 1, training::Limits::layers, "Layers of the model"),
    whole(Id::train_heads, "train_heads", 1, training::Limits::heads, "Heads of each layer; must divide train_d_model"),
    whole(Id::train_d_model, "train_d_model", 1, training::Limits::modelDim, "Numbers of a token in the model"),
    toggle(Id::train_feed_forward, "train_feed_forward", "A feed-forward network follows each attention"),
    toggle(Id::train_layer_norm, "train_layer_norm", "Each part of the model normalises what it reads"),
    toggle(Id::train_residual, "train_residual", "Each part of the model adds to what it reads"),
    toggle(Id::train_causal, "train_causal", "A token of the model sees itself and those before it"),
    choice(Id::train_position, "train_position", training::kPositionNames, "Where the order of the tokens comes in"),
    choice(Id::train_score, "train_score", kScores, "How a query and a key become one number"),
    choice(Id::train_normalizer, "train_normalizer", kNormalizers, "How a row of scores becomes a row of weights"),
    choice(Id::train_optimizer, "train_optimizer", training::kOptimizerNames, "How a gradient becomes a step"),
    real(Id::train_rate, "train_rate", training::Limits::lowestRate, training::Limits::highestRate, "The learning rate; the run goes on with another one"),
    whole(Id::train_batch, "train_batch", 1, training::Limits::batch, "Sequences a step learns from"),
    real(Id::train_dropout, "train_dropout", 0, training::Limits::dropout, "The chance of a number to be dropped while it learns"),
    whole(Id::train_seed, "train_seed", 0, kMaxSeed, "Of the weights, the batches and what is held out"),
    other(Id::train_sentences, "train_sentences", Type::text, 0, training::Limits::sentences, "Own sentences of tags and translate, a line each"),
    stored(Stored::never, shown(toggle(Id::train_running, "train_running", "The run goes on, in pieces between the frames"))),
    shown(whole(Id::stepper, "stepper", 0, kMaxStepper, "Steps of the selected row's way to the output that are shown; 0: not step by step")),
    shown(choice(Id::card, "card", kCards, "What the card below the matrices shows")),
    other(Id::pin, "pin", Type::text, 0, kMaxPinBytes, "A board to compare with, as a state text; true pins this one"),
    shown(toggle(Id::value_norms, "value_norms", "Arcs and bars show the length of what a value adds")),
    shown(choice(Id::weight_by, "weight_by", kWeightBy, "Whose smallest change gives a weight that is dragged")),
    choice(Id::rotary_pairs, "rotary_pairs", kRotaryPairs, "Columns that are turned together: neighbours, or i and i + r/2 as in Llama"),
    real(Id::rotary_base, "rotary_base", kMinRotaryBase, kMaxRotaryBase, "Of the speeds of these turns, which are base^(-2i/r)"),
    whole(Id::rotary_dims, "rotary_dims", 0, Limits::headDim, "The first so many columns are turned, an even number; 0: all"),
    choice(Id::rotary_scaling, "rotary_scaling", kRotaryScalings, "Longer texts: positions divided by the factor, or a larger base (NTK-aware)"),
    real(Id::rotary_factor, "rotary_factor", kMinRotaryFactor, kMaxRotaryFactor, "Of this scaling"),
    toggle(Id::separate_values, "separate_values", "Values are made of an X of their own, x_v"),
    whole(Id::additive_dim, "additive_dim", 0, Limits::headDim, "Hidden units of the additive score; 0: as many as d_k"),
    toggle(Id::output_projection, "output_projection", "W_O joins the heads; without it the output is the heads side by side"),
    whole(Id::d_out, "d_out", 0, Limits::modelDim, "Columns of W_O and of the output; 0: as many as X"),
    toggle(Id::projection_bias, "projection_bias", "What the weights make of X has b_q, b_k, b_v and b_o added to it"),
    other(Id::position_ids, "position_ids", Type::ids, 0, Limits::positionId, "List that stands for the positions 0, 1, 2 ...; it counts on from its last: [100] is an offset"),
    other(Id::column_names, "column_names", Type::names, 0, kColumnNames, "What the columns of Q and K are called, head after head, as a list or between commas"),
    shown(toggle(Id::column_layout, "column_layout", "Tokens are columns, and O = V softmax(K^T Q); the numbers stay the same")),
    choice(Id::batch_of, "batch_of", kBatchOf, "What the items of the batch are: sequences, or layers of a model"),
    stored(Stored::never, whole(Id::layer, "layer", 0, kMaxBatch - 1, "The layer of the model on the board, from 0")),
    shown(choice(Id::color_map, "color_map", kColors, "Colours of cells: those of the theme, cividis for weights, or shades of grey")),
};

// The table is split in two because the page does not need the descriptions, which are a twentieth of its data.
constexpr auto kOptions = [] {
  std::array<Option, std::size(kRows)> options{};
  std::transform(std::begin(kRows), std::end(kRows), options.begin(), [](const Row& row) { return row.option; });
  return options;
}();
constexpr auto kHelp = [] {
  std::array<std::string_view, std::size(kRows)> help{};
  std::transform(std::begin(kRows), std::end(kRows), help.begin(), [](const Row& row) { return row.help; });
  return help;
}();

std::string rangeText(const Option& option) {
  return base::joined({base::shortest(option.min), " to ", base::shortest(option.max)});
}

std::string valueText(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const double* d = std::get_if<double>(&value))
    return std::isnan(*d) ? "NaN" : std::isinf(*d) ? "infinity" : base::shortest(*d);
  if (const std::string* s = std::get_if<std::string>(&value)) return base::inQuotes(*s);
  if (const auto* numbers = std::get_if<std::vector<int>>(&value))
    return numbers->empty() ? "[]" : "a list of numbers";
  return "a list";
}

Result<void> wrongType(const Option& option, const Value& value, std::initializer_list<base::Piece> want) {
  return base::refuse(ErrorKind::type, option.name, {valueText(value), " is not ", base::joined(want)});
}

Result<void> checkNumber(const Option& option, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool isWhole = option.type == Type::integer;
  const std::string want = isWhole ? "a whole number; use " : "a number; use ";
  if (number == nullptr || !std::isfinite(*number) || (isWhole && *number != std::floor(*number)))
    return wrongType(option, value, {want, rangeText(option), "."});
  if (*number >= option.min && *number <= option.max) return {};
  return base::refuse(ErrorKind::range, option.name,
                {base::shortest(*number), " is too ", (*number < option.min ? "small" : "large"), "; use ",
                 rangeText(option), "."});
}

Result<void> checkScale(const Option& option, const Value& value) {
  if (std::holds_alternative<bool>(value)) return {};
  if (std::holds_alternative<double>(value)) return checkNumber(option, value);
  return wrongType(option, value, {"true, false or a number; use one of these."});
}

/// The numbers of a list of integers. An empty list may also have been read as one of texts.
const std::vector<int>* numbersOf(const Value& value) {
  static const std::vector<int> none;
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  return texts != nullptr && texts->empty() ? &none : std::get_if<std::vector<int>>(&value);
}

Result<void> checkHeadList(const Option& option, const Value& value) {
  const std::vector<int>* heads = numbersOf(value);
  if (heads == nullptr) return wrongType(option, value, {"a list of head numbers; use [] for none."});
  for (const int head : *heads)
    if (auto ok = checkNumber(option, static_cast<double>(head)); !ok) return ok;
  return {};
}

Result<void> checkIds(const Option& option, const Value& value) {
  const std::vector<int>* ids = numbersOf(value);
  if (ids == nullptr) return wrongType(option, value, {"a list of whole numbers; use [] for 0, 1, 2 …, or [100] for 100, 101 …."});
  if (ids->size() > Limits::tokens)
    return base::refuse(ErrorKind::range, option.name, {"there are ", ids->size(), "; use at most ", Limits::tokens, ", after which they count on."});
  for (const int id : *ids)
    if (auto ok = checkNumber(option, static_cast<double>(id)); !ok) return ok;
  return {};
}

Result<void> checkChoice(const Option& option, const Value& value) {
  std::vector<std::string> names;
  for (const std::string_view choice : option.choices) names.push_back(base::inQuotes(choice));
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wrongType(option, value, {"a text; use ", base::orList(names), "."});
  if (std::find(option.choices.begin(), option.choices.end(), *text) != option.choices.end()) return {};
  return base::refuse(ErrorKind::range, option.name, {base::inQuotes(*text), " is unknown; use ", base::orList(names), "."});
}

Result<void> checkText(const Option& option, const Value& value) {
  if (option.id == Id::pin && std::holds_alternative<bool>(value)) return {};
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wrongType(option, value, {"a text; use one, or \"\" for none."});
  if (static_cast<double>(text->size()) <= option.max) return {};
  return base::refuse(ErrorKind::range, option.name, {"it has ", text->size(), " bytes; use at most ", base::shortest(option.max), "."});
}

Result<void> checkLabelList(const Option& option, const Value& value) {
  if (!std::holds_alternative<std::string>(value) && !std::holds_alternative<std::vector<std::string>>(value))
    return wrongType(option, value, {"a sentence or a list of texts; give one of these."});
  // Longer than any labels within the limits: refused before it is split.
  constexpr std::size_t longest = std::size_t{Limits::tokens} * (kLabelBytes + 1);
  if (const std::string* sentence = std::get_if<std::string>(&value); sentence && sentence->size() > longest)
    return base::refuse(ErrorKind::range, option.name, {"the sentence has ", sentence->size(), " bytes; use at most ", longest, "."});
  const std::vector<std::string> labels = labelsOf(value);
  if (labels.empty()) return base::refuse(ErrorKind::range, option.name, {"there is no word; give at least one."});
  if (static_cast<double>(labels.size()) > option.max)
    return base::refuse(ErrorKind::range, option.name,
                  {"there are ", labels.size(), " tokens; use at most ", base::shortest(option.max), "."});
  return checkLabels(option.name, labels, 0);
}

[[gnu::noinline]] Result<void> checkNames(const Option& option, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  const auto* list = std::get_if<std::vector<std::string>>(&value);
  const auto* numbers = std::get_if<std::vector<int>>(&value);
  if (text == nullptr && list == nullptr && !(numbers != nullptr && numbers->empty()))
    return wrongType(option, value, {"a list of texts; use one, or [] for none."});
  const std::vector<std::string> names = namesOf(value);
  if (static_cast<double>(names.size()) > option.max)
    return base::refuse(ErrorKind::range, option.name, {"there are ", names.size(), "; use at most ", base::shortest(option.max), "."});
  return checkLabels(option.name, names, 0);
}

Result<void> checkHeads(const Settings& settings, int heads) {
  const std::vector<int> allowed = allowedHeads(settings);
  if (std::find(allowed.begin(), allowed.end(), heads) != allowed.end()) return {};
  std::vector<std::string> names;
  for (const int n : allowed) names.push_back(std::to_string(n));
  const int width = settings.heads * settings.headDim, valueWidth = settings.heads * settings.valueDim;
  const int sharing = settings.heads / settings.kvHeads;
  std::string why;
  if (width % heads != 0)
    why = base::joined({" does not divide the model width ", width, " (heads × d_k)"});
  else if (valueWidth % heads != 0)
    why = base::joined({" does not divide the ", valueWidth, " columns of all values (heads × d_v)"});
  else if (heads % sharing != 0)
    why = base::joined({" is no multiple of the ", sharing, " heads that share keys (heads / kv_heads)"});
  else if (settings.position == attention::Position::rotary && width / heads % 2 != 0)
    why = base::joined({" heads of ", width / heads, " columns cannot be turned in pairs by rotary positions"});
  else
    why = base::joined({" heads of the model width ", width, " (heads × d_k) are too many to show"});
  return base::refuse(ErrorKind::range, "heads", {heads, why, "; use ", base::orList(names), "."});
}

Result<void> checkHidden(const Settings& settings, const std::vector<int>& heads) {
  for (const int head : heads)
    if (head >= settings.heads)
      return base::refuse(ErrorKind::range, "hidden_heads",
                    {"there is no head ", head, "; use 0 to ", settings.heads - 1, "."});
  return {};
}

/// The names of all columns after a change of the number of columns per head.
std::vector<std::string> regroupedNames(const Settings& before, int headDim) {
  Settings after = before;
  after.headDim = headDim, after.columnNames.clear();
  for (int h = 0; h < before.heads; ++h)
    for (int c = 0; c < std::min(before.headDim, headDim); ++c)
      if (const auto name = columnName(before, h, c); !name.empty()) after.columnNames = columnNamesWith(after, h, c, std::string(name));
  return after.columnNames;
}

/// Does the value of key_tokens or key_labels equal the present one?
bool sameKeys(const Settings& settings, const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return *number == settings.keyTokens;
  return labelsOf(value) == keyLabels(settings);
}

/// Checks that only this option needs, beyond its range and the sizes.
Result<void> checkPlace(const Settings& settings, const Option& o, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const auto atMost = [&](int most) -> Result<void> {
    if (*number <= most) return {};
    return base::refuse(ErrorKind::range, o.name, {base::shortest(*number), " is too large; use 0 to ", most, "."});
  };
  switch (o.id) {
    case Id::heads:
      return checkHeads(settings, static_cast<int>(*number));
    case Id::focus_head:
      return atMost(settings.heads - 1);
    case Id::step:
      return atMost(settings.tokens);
    case Id::layer:
      if (!hasLayers(settings)) return *number == 0 ? Result<void>() : base::refuse(ErrorKind::range, o.name, {"there is one layer here; open a file of several layers first."});
      [[fallthrough]];
    case Id::batch_item:
      return atMost(settings.batch - 1);
    case Id::dense_token:
      return atMost(std::min(settings.tokens, settings.keyTokens) - 1);
    case Id::zoom:
      if (*number == 0 || *number >= 1) return {};
      return base::refuse(ErrorKind::range, o.name, {base::shortest(*number), " is too small; use 1 to 2.5, or 0 for as large as the window allows."});
    case Id::hidden_heads:
      return checkHidden(settings, *numbersOf(value));
    case Id::rotary_dims:
      if (static_cast<int>(*number) % 2 == 0) return {};
      return base::refuse(ErrorKind::range, o.name, {base::shortest(*number), " columns are no pairs; use an even number, or 0 for all."});
    case Id::pin:
      return std::holds_alternative<bool>(value) ? Result<void>() : checkPin(*std::get_if<std::string>(&value));
    case Id::scale:
      if (value == Value(false) || isDotProduct(settings.score)) return {};
      return base::refuse(ErrorKind::range, o.name, {"only dot products are scaled; set score to \"scaled\"."});
    case Id::pattern:
      if (value != Value(std::string("custom")) || value == get(settings, o.id)) return {};
      return base::refuse(
          ErrorKind::range, o.name,
          {"\"custom\" is what its parts make; set pattern_local, pattern_block or another of them."});
    case Id::key_tokens:
    case Id::key_labels:
      if (settings.cross || sameKeys(settings, value)) return {};
      return base::refuse(ErrorKind::range, o.name, {"the keys are the tokens here; set cross to true first."});
    default:
      return {};
  }
}

std::vector<int> bitsSet(std::uint64_t bits) {
  std::vector<int> out;
  for (int i = 0; i < 64; ++i)
    if ((bits >> i & 1) != 0) out.push_back(i);
  return out;
}

std::uint64_t bitsOf(const std::vector<int>& numbers) {
  std::uint64_t bits = 0;
  for (const int n : numbers) bits |= std::uint64_t{1} << n;
  return bits;
}

Value scaleOf(const Settings& settings) {
  if (settings.score != attention::Score::scaled) return false;
  if (settings.scaleBy == 0) return true;
  return base::readable(settings.scaleBy);
}

/// false turns a scaled score into a plain dot product, and leaves other scores unchanged.
void assignScale(Settings& settings, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool isOn = number != nullptr || *std::get_if<bool>(&value);
  if (isOn)
    settings.score = attention::Score::scaled;
  else if (settings.score == attention::Score::scaled)
    settings.score = attention::Score::dot;
  settings.scaleBy = number != nullptr ? static_cast<float>(*number) : 0.0f;
}

[[gnu::noinline]] void assignPin(Settings& settings, const Value& value) {
  const auto* text = std::get_if<std::string>(&value);
  if (text != nullptr && !text->empty()) settings.pin.text = std::make_shared<const std::string>(*text);
  else if (text != nullptr || value == Value(false)) settings.pin = {};
}

void assignPattern(Settings& settings, std::string_view name) {
  if (name != "custom") settings.pattern = patternNamed(name, settings.pattern, settings.keyTokens);
}

/// Its index in kExperiments: 0, "none", for the layer and for views without an older name.
std::size_t olderName(View view) {
  const auto found = std::find(std::begin(kExperimentViews), std::end(kExperimentViews), view);
  return found == std::end(kExperimentViews) ? 0 : static_cast<std::size_t>(found - kExperimentViews);
}

/// The index of the value among the choices of the option.
std::size_t placeOf(Id id, const Value& value) {
  const auto choices = option(id).choices;
  return static_cast<std::size_t>(std::find(choices.begin(), choices.end(), *std::get_if<std::string>(&value)) - choices.begin());
}

/// Calls `use` with the member of the settings that holds the option, and returns true; false for options that are not simply a member.
template <class Use>
bool visit(Settings& s, Id id, const Use& use) {
  switch (id) {
    case Id::mode: return use(s.mode), true;
    case Id::tokens: return use(s.tokens), true;
    case Id::heads: return use(s.heads), true;
    case Id::d_k: return use(s.headDim), true;
    case Id::model_dim: return use(s.modelDim), true;
    case Id::causal: return use(s.causal), true;
    case Id::temperature: return use(s.temperature), true;
    case Id::focus_head: return use(s.focusHead), true;
    case Id::decimals: return use(s.decimals), true;
    case Id::theme: return use(s.theme), true;
    case Id::seed: return use(s.seed), true;
    case Id::score: return use(s.score), true;
    case Id::softcap: return use(s.softcap), true;
    case Id::normalizer: return use(s.normalizer), true;
    case Id::position: return use(s.position), true;
    case Id::causal_offset: return use(s.causalOffset), true;
    case Id::window_left: return use(s.windowLeft), true;
    case Id::window_right: return use(s.windowRight), true;
    case Id::prefix: return use(s.prefix), true;
    case Id::key_length: return use(s.keyLength), true;
    case Id::pattern_local: return use(s.pattern.local), true;
    case Id::pattern_dilation: return use(s.pattern.dilation), true;
    case Id::pattern_stride: return use(s.pattern.stride), true;
    case Id::pattern_block: return use(s.pattern.block), true;
    case Id::pattern_global: return use(s.pattern.global), true;
    case Id::pattern_random: return use(s.pattern.random), true;
    case Id::pattern_seed: return use(s.pattern.seed), true;
    case Id::mask_after_softmax: return use(s.maskAfterSoftmax), true;
    case Id::kv_heads: return use(s.kvHeads), true;
    case Id::d_v: return use(s.valueDim), true;
    case Id::cross: return use(s.cross), true;
    case Id::key_tokens: return use(s.keyTokens), true;
    case Id::average_heads: return use(s.averageHeads), true;
    case Id::zoom: return use(s.zoom), true;
    case Id::present: return use(s.present), true;
    case Id::column_layout: return use(s.columnLayout), true;
    case Id::whole_projections: return use(s.wholeProjections), true;
    case Id::step: return use(s.step), true;
    case Id::batch: return use(s.batch), true;
    case Id::batch_item: return use(s.batchItem), true;
    case Id::block_residual: return use(s.block.residual), true;
    case Id::block_norm: return use(s.block.norm), true;
    case Id::block_activation: return use(s.block.activation), true;
    case Id::block_hidden: return use(s.block.hidden), true;
    case Id::block_dropout: return use(s.block.dropout), true;
    case Id::block_epsilon: return use(s.block.epsilon), true;
    case Id::block_seed: return use(s.block.seed), true;
    case Id::segment_by: return use(s.segments.by), true;
    case Id::segment_tokens: return use(s.segments.tokens), true;
    case Id::segment_seed: return use(s.segments.seed), true;
    case Id::weight_scale: return use(s.weightScale), true;
    case Id::view: return use(s.view), true;
    case Id::block_dropout_kind: return use(s.block.kind), true;
    case Id::block_dropout_seed: return use(s.block.dropoutSeed), true;
    case Id::spread_dim: return use(s.experiments.spread.dim), true;
    case Id::spread_mean: return use(s.experiments.spread.mean), true;
    case Id::spread_deviation: return use(s.experiments.spread.deviation), true;
    case Id::spread_scaled: return use(s.experiments.spreadScaled), true;
    case Id::spread_seed: return use(s.experiments.spreadSeed), true;
    case Id::dense_token: return use(s.experiments.dense.token), true;
    case Id::dense_amount: return use(s.experiments.dense.amount), true;
    case Id::dense_moved: return use(s.experiments.dense.moved), true;
    case Id::dense_seed: return use(s.experiments.dense.seed), true;
    case Id::reach_tokens: return use(s.experiments.reach.steps), true;
    case Id::reach_recurrent: return use(s.experiments.reach.recurrent), true;
    case Id::reach_input: return use(s.experiments.reach.input), true;
    case Id::reach_lead: return use(s.experiments.reach.lead), true;
    case Id::reach_seed: return use(s.experiments.reach.seed), true;
    case Id::same_word: return use(s.sameWord), true;
    case Id::gradient: return use(s.gradient), true;
    case Id::spread_same: return use(s.experiments.spread.same), true;
    case Id::spread_key_mean: return use(s.experiments.spread.keyMean), true;
    case Id::spread_key_deviation: return use(s.experiments.spread.keyDeviation), true;
    case Id::spread_draws: return use(s.experiments.spreadDraws), true;
    case Id::memory_cell: return use(s.experiments.memory.cell), true;
    case Id::memory_units: return use(s.experiments.memory.units), true;
    case Id::memory_seed: return use(s.experiments.memory.seed), true;
    case Id::cost_tokens: return use(s.experiments.costTokens), true;
    case Id::cost_compare: return use(s.experiments.costOf), true;
    case Id::cost_window: return use(s.experiments.costWindow), true;
    case Id::stepper: return use(s.stepper), true;
    case Id::card: return use(s.card), true;
    case Id::value_norms: return use(s.valueNorms), true;
    case Id::weight_by: return use(s.weightBy), true;
    case Id::rotary_pairs: return use(s.rotary.pairs), true;
    case Id::rotary_base: return use(s.rotary.base), true;
    case Id::rotary_dims: return use(s.rotary.dims), true;
    case Id::rotary_scaling: return use(s.rotary.scaling), true;
    case Id::rotary_factor: return use(s.rotary.factor), true;
    case Id::separate_values: return use(s.separateValues), true;
    case Id::additive_dim: return use(s.additiveDim), true;
    case Id::output_projection: return use(s.outputProjection), true;
    case Id::d_out: return use(s.outputDim), true;
    case Id::projection_bias: return use(s.projectionBias), true;
    case Id::batch_of: return use(s.batchOf), true;
    case Id::color_map: return use(s.colors), true;
    default: return false;
  }
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option& option(OptionId id) { return kOptions[static_cast<std::size_t>(id)]; }

std::string_view helpOn(OptionId id) { return kHelp[static_cast<std::size_t>(id)]; }

const Option* optionNamed(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return o.name == name; });
  return found == std::end(kOptions) ? nullptr : &*found;
}

Value get(const Settings& settings, OptionId id) {
  switch (id) {
    case Id::labels: return settings.labels;
    case Id::scale: return scaleOf(settings);
    case Id::pattern: return std::string(patternName(settings.pattern));
    case Id::key_labels: return keyLabels(settings);
    case Id::hidden_heads: return bitsSet(settings.hiddenHeads);
    case Id::experiment: return std::string(kExperiments[olderName(settings.view)]);
    case Id::pin: return settings.pin.text ? *settings.pin.text : std::string();
    case Id::position_ids: return settings.positionIds;
    case Id::column_names: return settings.columnNames;
    case Id::layer: return static_cast<double>(hasLayers(settings) ? settings.batchItem : 0);
    default: break;
  }
  Value value;
  const bool isMember = visit(const_cast<Settings&>(settings), id, [&]<class T>(T& member) {
    if constexpr (std::is_same_v<T, bool>) value = member;
    else if constexpr (std::is_same_v<T, float>) value = base::readable(member);
    else if constexpr (std::is_enum_v<T>) value = std::string(option(id).choices[static_cast<std::size_t>(member)]);
    else value = static_cast<double>(member);
  });
  return isMember ? value : trainingValue(settings, id);
}

bool isDefault(const Settings& settings, OptionId id) {
  switch (id) {
    case Id::score:  // the field "scale" distinguishes these two
      return isDotProduct(settings.score);
    case Id::kv_heads:
      return settings.kvHeads == settings.heads;
    case Id::d_v:
      return settings.valueDim == settings.headDim;
    case Id::key_tokens:
    case Id::key_labels:
      return !settings.cross;
    case Id::view:  // written as the field "experiment", like in older texts, where possible
      return settings.view == View::layer || olderName(settings.view) > 0;
    case Id::weight_scale:  // the meaning of older texts, which do not contain it
      return settings.weightScale == WeightScale::linear;
    default:
      return get(settings, id) == get(Settings(), id);
  }
}

void assign(Settings& settings, OptionId id, const Value& value) {
  switch (id) {
    case Id::labels: return void(settings.labels = labelsOf(value));
    case Id::scale: return assignScale(settings, value);
    case Id::pattern: return assignPattern(settings, *std::get_if<std::string>(&value));
    case Id::key_labels:
      if (settings.cross) settings.keyLabels = labelsOf(value);
      return;
    case Id::hidden_heads: return void(settings.hiddenHeads = bitsOf(*numbersOf(value)));
    case Id::experiment: return void(settings.view = kExperimentViews[placeOf(id, value)]);
    case Id::pin: return assignPin(settings, value);
    case Id::position_ids: return void(settings.positionIds = *numbersOf(value));
    case Id::column_names: return void(settings.columnNames = namesOf(value));
    case Id::layer: return void(settings.batchItem = static_cast<int>(*std::get_if<double>(&value)));
    default: break;
  }
  const bool isMember = visit(settings, id, [&]<class T>(T& member) {
    if constexpr (std::is_same_v<T, bool>) member = *std::get_if<bool>(&value);
    else if constexpr (std::is_same_v<T, float>) member = static_cast<float>(*std::get_if<double>(&value)) + 0.0f;  // + 0.0f turns -0 into 0
    else if constexpr (std::is_same_v<T, double>) member = base::readable(static_cast<float>(*std::get_if<double>(&value)) + 0.0f);
    else if constexpr (std::is_enum_v<T>) member = static_cast<T>(placeOf(id, value));
    else member = static_cast<T>(*std::get_if<double>(&value));
  });
  if (!isMember) return assignTraining(settings, id, value);
  if (id == Id::score && settings.score != attention::Score::scaled) settings.scaleBy = 0;
}

/// Gives `after`, which may differ from `settings` in what depends on the heads, another number of them.
void setHeads(const Settings& settings, int heads, Settings& after) {
  after.heads = heads;
  after.kvHeads = settings.kvHeads * heads / settings.heads;
  after.headDim = settings.headDim * settings.heads / heads;
  after.valueDim = settings.valueDim * settings.heads / heads;
  after.biasKind = heads == 1 && settings.biasKind == Bias::perHead ? Bias::shared : settings.biasKind;
  after.hiddenHeads = heads == settings.heads ? settings.hiddenHeads : 0;  // the bits would refer to other heads
}

Settings settingsAfter(const Settings& settings, OptionId id, const Value& value) {
  Settings after = settings;
  assign(after, id, value);
  switch (id) {
    case Id::labels:
      after.tokens = static_cast<int>(after.labels.size());
      [[fallthrough]];
    case Id::tokens:
      if (!after.cross) after.keyTokens = after.tokens;
      break;
    case Id::key_labels:
      after.keyTokens = static_cast<int>(keyLabels(after).size());
      break;
    case Id::heads:
      setHeads(settings, after.heads, after);
      break;
    case Id::d_k:
      if (settings.valueDim == settings.headDim) after.valueDim = after.headDim;
      if (!settings.columnNames.empty() && settings.heads > 1) after.columnNames = regroupedNames(settings, after.headDim);
      break;
    case Id::cross:
      if (after.cross && settings.cross) break;
      after.keyTokens = after.tokens;
      after.keyLabels = after.cross ? after.labels : std::vector<std::string>();
      break;
    case Id::batch:
      after.batchItem = std::min(after.batchItem, after.batch - 1);
      break;
    case Id::train_task:
      if (after.training.task != settings.training.task) after.training = training::recommended(after.training.task);
      break;
    case Id::score:
      after.scoreWeights = after.scoreWeights || takesScoreWeights(after.score);
      break;
    default:
      break;
  }
  keepView(after, after);
  return after;
}

std::vector<std::string> labelsOf(const Value& value) {
  if (const std::string* sentence = std::get_if<std::string>(&value)) return splitTokens(*sentence);
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) return *list;
  return {};
}

std::vector<std::string> namesOf(const Value& value) {
  std::vector<std::string> names;
  if (const auto* list = std::get_if<std::vector<std::string>>(&value)) names = *list;
  if (const auto* text = std::get_if<std::string>(&value)) {
    for (std::size_t from = 0; from <= text->size();) {
      const std::size_t end = std::min(text->find(',', from), text->size());
      std::string_view name = std::string_view(*text).substr(from, end - from);
      while (name.starts_with(' ')) name.remove_prefix(1);
      while (name.ends_with(' ')) name.remove_suffix(1);
      names.emplace_back(name);
      from = end + 1;
    }
  }
  while (!names.empty() && names.back().empty()) names.pop_back();
  return names;
}

Result<void> checkAlone(const Option& option, const Value& value) {
  switch (option.type) {
    case Type::boolean:
      if (!std::holds_alternative<bool>(value))
        return wrongType(option, value, {"true or false; use one of these."});
      return {};
    case Type::integer:
    case Type::real:
      return checkNumber(option, value);
    case Type::choice:
      return checkChoice(option, value);
    case Type::labels:
      return checkLabelList(option, value);
    case Type::scale:
      return checkScale(option, value);
    case Type::heads:
      return checkHeadList(option, value);
    case Type::ids:
      return checkIds(option, value);
    case Type::text:
      return checkText(option, value);
    case Type::names:
      return checkNames(option, value);
  }
  return {};
}

Result<void> check(const Settings& settings, OptionId id, const Value& value) {
  const Option& o = option(id);
  if (auto ok = checkAlone(o, value); !ok) return ok;
  if (auto ok = checkPlace(settings, o, value); !ok) return ok;
  const Settings after = settingsAfter(settings, id, value);
  if (auto ok = checkSizes(o.name, after); !ok) return ok;
  return checkTogether(o.name, after);
}

std::vector<int> allowedHeads(const Settings& settings) {
  const int width = settings.heads * settings.headDim, valueWidth = settings.heads * settings.valueDim;
  const int sharing = settings.heads / settings.kvHeads;
  std::vector<int> out;
  Settings after = settings;  // one copy for all: with a thousand labels it takes longer than checking it
  for (int n = sharing; n <= Limits::heads; n += sharing) {
    if (width % n != 0 || valueWidth % n != 0) continue;
    setHeads(settings, n, after);
    if (checkSizes("heads", after) && checkTogether("heads", after)) out.push_back(n);
  }
  return out;
}

}  // namespace document
