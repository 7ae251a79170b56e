#include "document/option.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <type_traits>

#include "base/number.h"
#include "base/sentence.h"
#include "document/pattern.h"
#include "document/pin.h"
#include "document/resize.h"
#include "document/training.h"

namespace document {
namespace {

using attention::Limits;
using ErrorKind = Error::Kind;

constexpr std::string_view kModes[] = {"qkv", "x"};
constexpr std::string_view kThemes[] = {"auto", "light", "dark"};
constexpr std::string_view kPositions[] = {"none", "sinusoidal", "rotary", "alibi"};
constexpr std::string_view kRotaryPairs[] = {"adjacent", "half"};
constexpr std::string_view kRotaryScalings[] = {"none", "linear", "ntk"};
constexpr std::string_view kBlockNorms[] = {"none", "post", "pre"};
constexpr std::string_view kActivations[] = {"relu", "gelu", "tanh"};
constexpr std::string_view kSegmentEnds[] = {"tokens", "punctuation"};
constexpr std::string_view kWeightScales[] = {"linear", "sqrt", "row", "auto"};
constexpr std::string_view kViews[] = {"layer",  "block", "segments", "spread", "dense",
                                       "memory", "cost",  "train",    "model"};
constexpr std::string_view kExperiments[] = {"none", "spread", "weights", "reach", "block", "segments"};
/// The names that replaced these: the views in the order of kExperiments.
constexpr View kExperimentViews[] = {View::layer,  View::spread, View::dense,
                                     View::memory, View::block,  View::segments};
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

// An option is called like its id.
#define ID(id) Id::id, #id

/// An option and its one-line description.
struct Row {
  Option option;
  std::string_view help;
};

constexpr Row row(Option option, std::string_view help) {
  option.invalidates = option.member.invalidates;
  return {option, help};
}
constexpr Row toggle(Id id, std::string_view name, Member member, std::string_view help) {
  return row({id, name, member, Type::boolean}, help);
}
constexpr Row whole(Id id, std::string_view name, Member member, double min, double max,
                    std::string_view help) {
  return row({id, name, member, Type::integer, min, max}, help);
}
constexpr Row real(Id id, std::string_view name, Member member, double min, double max,
                   std::string_view help) {
  return row({id, name, member, Type::real, min, max}, help);
}
constexpr Row choice(Id id, std::string_view name, Member member, std::span<const std::string_view> choices,
                     std::string_view help) {
  return row({id, name, member, Type::choice, 0, 0, choices}, help);
}
constexpr Row invalidates(Invalidates what, Row row) {
  row.option.invalidates = what;
  return row;
}
constexpr Row stored(Stored when, Row row) {
  row.option.stored = when;
  return row;
}
constexpr Row always(Row row) { return stored(Stored::always, row); }
/// A view option, which undo does not change.
constexpr Row shown(Row row) {
  row.option.undoable = false;
  return invalidates(Invalidates::nothing, row);
}

// ---- members of the settings

using S = Settings;

template <auto... kPath>
MemberPointer place(Settings& settings) {
  auto& member = (settings.*....*kPath);
  if constexpr (std::is_enum_v<std::remove_reference_t<decltype(member)>>) {
    static_assert(sizeof member == sizeof(std::uint8_t));
    return reinterpret_cast<std::uint8_t*>(&member);
  } else {
    return &member;
  }
}

constexpr Member kNoMember{};
template <auto kMember>
constexpr Member at{place<kMember>};
template <auto kMember>
constexpr Member inPattern{place<&S::pattern, kMember>};
template <auto kMember>
constexpr Member inRotary{place<&S::rotary, kMember>};
template <auto kMember>
constexpr Member inBlock{place<&S::block, kMember>, Invalidates::surroundings};
template <auto kMember>
constexpr Member inSegments{place<&S::segments, kMember>, Invalidates::surroundings};
template <auto... kPath>
constexpr Member inExperiments{place<&S::experiments, kPath...>, Invalidates::experiment};
template <auto kMember>
constexpr Member inSpread = inExperiments<&ExperimentOptions::spread, kMember>;
template <auto kMember>
constexpr Member inDense = inExperiments<&ExperimentOptions::dense, kMember>;
template <auto kMember>
constexpr Member inReach = inExperiments<&ExperimentOptions::reach, kMember>;
template <auto kMember>
constexpr Member inMemory = inExperiments<&ExperimentOptions::memory, kMember>;
template <auto kMember>
constexpr Member inTraining{place<&S::training, kMember>, Invalidates::training};

constexpr double kMaxZoom = 2.5;
constexpr double kMaxStepper = 24;
constexpr double kMaxSeed = 4294967295.0;
constexpr double kTokens = Limits::tokens;
constexpr double kColumnNames = 4096;

constexpr Row kRows[] = {
    always(choice(ID(mode), at<&S::mode>, kModes, "Edit Q, K and V, or X and the weights that make them")),
    always(whole(ID(tokens), at<&S::tokens>, 1, kTokens, "How many tokens there are")),
    always(
        row({ID(labels), kNoMember, Type::labels, 1, kTokens}, "The tokens; a sentence is split into words")),
    always(whole(ID(heads), at<&S::heads>, 1, Limits::heads,
                 "How many heads look in parallel, each in columns of its own; must divide the width")),
    always(whole(ID(d_k), at<&S::headDim>, 1, Limits::headDim,
                 "Columns of Q and K per head, and of V while d_v is the same")),
    always(whole(ID(model_dim), at<&S::modelDim>, 1, Limits::modelDim, "Columns of X")),
    invalidates(Invalidates::mask,
                always(toggle(ID(causal), at<&S::causal>, "A token sees itself and those before it"))),
    invalidates(Invalidates::score,
                always(row({ID(scale), kNoMember, Type::scale, kMinScale, kMaxScale},
                           "Divide scores by the square root of d_k, or multiply them by a number"))),
    invalidates(Invalidates::temperature,
                always(real(ID(temperature), at<&S::temperature>, kMinTemperature, kMaxTemperature,
                            "Scores are divided by it before softmax: low is sharp, high is even"))),
    always(shown(
        whole(ID(focus_head), at<&S::focusHead>, 0, Limits::heads - 1, "The head on the board, from 0"))),
    always(shown(whole(ID(decimals), at<&S::decimals>, 0, kMaxDecimals, "Digits after the point"))),
    always(shown(choice(ID(theme), at<&S::theme>, kThemes, "Light, dark, or as the page"))),
    invalidates(Invalidates::nothing, always(whole(ID(seed), at<&S::seed>, 0, kMaxSeed,
                                                   "Of random numbers; the same seed gives the same"))),
    invalidates(Invalidates::score, choice(ID(score), at<&S::score>, attention::kScoreNames,
                                           "How a query and a key become one number")),
    real(ID(softcap), at<&S::softcap>, 0, kMaxSoftcap,
         "Soft cap c: scores become c tanh(s/c), so they stay within plus or minus c; 0 switches it off"),
    choice(ID(normalizer), at<&S::normalizer>, attention::kNormalizerNames,
           "How a row of scores becomes a row of weights"),
    choice(ID(position), at<&S::position>, kPositions,
           "Positional encoding: how the layer learns the order of the tokens"),
    invalidates(Invalidates::mask, whole(ID(causal_offset), at<&S::causalOffset>, 0, kTokens,
                                         "Keys that were cached before the first query")),
    invalidates(Invalidates::mask, whole(ID(window_left), at<&S::windowLeft>, -1, kTokens,
                                         "Keys before its own that a query sees; -1: all")),
    invalidates(Invalidates::mask, whole(ID(window_right), at<&S::windowRight>, -1, kTokens,
                                         "Keys after its own that a query sees; -1: all")),
    whole(ID(prefix), at<&S::prefix>, 0, kTokens,
          "The first n keys are seen by every query, even those before them"),
    whole(ID(key_length), at<&S::keyLength>, -1, kTokens,
          "Keys from this index on are padding, which no query sees; -1: none"),
    stored(Stored::never, choice(ID(pattern), kNoMember, kPatternNames, "Which scores are computed")),
    whole(ID(pattern_local), inPattern<&attention::Pattern::local>, 0, kTokens,
          "Local attention: keys fewer than this many steps away are seen; 0: off"),
    whole(ID(pattern_dilation), inPattern<&attention::Pattern::dilation>, 1, kTokens,
          "Dilation: the distance between two keys of local attention"),
    whole(ID(pattern_stride), inPattern<&attention::Pattern::stride>, 0, kTokens,
          "Stride: a query sees every n-th key, counted from its own; 0: off"),
    whole(ID(pattern_block), inPattern<&attention::Pattern::block>, 0, kTokens,
          "Block size: tokens of the same block see each other; 0: off"),
    whole(ID(pattern_global), inPattern<&attention::Pattern::global>, 0, kTokens,
          "Global tokens: the first n see all tokens and are seen by all"),
    whole(ID(pattern_random), inPattern<&attention::Pattern::random>, 0, kTokens,
          "Random keys that each query sees"),
    whole(ID(pattern_seed), inPattern<&attention::Pattern::seed>, 0, kMaxSeed, "Seed of the random keys"),
    toggle(ID(mask_after_softmax), at<&S::maskAfterSoftmax>, "A common mistake: rows no longer sum to 1"),
    whole(ID(kv_heads), at<&S::kvHeads>, 1, Limits::heads,
          "Heads of K and V, each shared by heads of Q; must divide them"),
    whole(ID(d_v), at<&S::valueDim>, 1, Limits::headDim, "Columns of V per head"),
    toggle(ID(cross), at<&S::cross>, "Keys and values are of another sequence"),
    whole(ID(key_tokens), at<&S::keyTokens>, 1, kTokens, "How many tokens the other sequence has"),
    row({ID(key_labels), kNoMember, Type::labels, 1, kTokens}, "The tokens of the other sequence"),
    row({ID(hidden_heads), kNoMember, Type::heads, 0, Limits::heads - 1}, "Heads that are left out, from 0"),
    shown(toggle(ID(average_heads), at<&S::averageHeads>, "Show the mean of the heads' weights")),
    shown(real(ID(zoom), at<&S::zoom>, 0, kMaxZoom,
               "How large everything is drawn, 1 to 2.5; 0: as the window allows")),
    shown(toggle(ID(present), at<&S::present>, "Show only the title, the board and the selection")),
    shown(toggle(ID(whole_projections), at<&S::wholeProjections>,
                 "Show the W of all heads as one matrix each")),
    shown(whole(ID(step), at<&S::step>, 0, kTokens,
                "Tokens that a decoder has produced so far; 0: not step by step")),
    whole(ID(batch), at<&S::batch>, 1, kMaxBatch, "Sequences that go through the same layer"),
    whole(ID(batch_item), at<&S::batchItem>, 0, kMaxBatch - 1, "The sequence on the board, from 0"),
    toggle(ID(block_residual), inBlock<&BlockOptions::residual>,
           "The block adds its input to what each of its parts gives"),
    choice(ID(block_norm), inBlock<&BlockOptions::norm>, kBlockNorms,
           "Where the block normalises: after each part, or before"),
    choice(ID(block_activation), inBlock<&BlockOptions::activation>, kActivations,
           "What a hidden unit does with its sum"),
    whole(ID(block_hidden), inBlock<&BlockOptions::hidden>, 1, kMaxBlockHidden,
          "Hidden units of the feed-forward network, as a multiple of the width"),
    real(ID(block_dropout), inBlock<&BlockOptions::dropout>, 0, kMaxBlockDropout,
         "Dropout rate in the block"),
    real(ID(block_epsilon), inBlock<&BlockOptions::epsilon>, kMinBlockEpsilon, kMaxBlockEpsilon,
         "Added to the variance, so that a row of equal numbers does not divide by 0"),
    whole(ID(block_seed), inBlock<&BlockOptions::seed>, 0, kMaxSeed,
          "Seed of the block's weights and of its dropout"),
    choice(ID(segment_by), inSegments<&SegmentOptions::by>, kSegmentEnds, "Where segments of tokens end"),
    whole(ID(segment_tokens), inSegments<&SegmentOptions::tokens>, 1, Limits::modelTokens,
          "Tokens in each segment"),
    whole(ID(segment_seed), inSegments<&SegmentOptions::seed>, 0, kMaxSeed,
          "Seed of the queries that weigh tokens and segments"),
    shown(choice(ID(experiment), kNoMember, kExperiments, "The older name of view")),
    shown(choice(ID(weight_scale), at<&S::weightScale>, kWeightScales,
                 "How weights map to colours: linear, by square root, relative to their row, or automatic "
                 "(square root from 64 keys on)")),
    shown(choice(
        ID(view), at<&S::view>, kViews,
        "What is open: the layer, the block around it, segments, an experiment, or all heads of a model")),
    choice(
        ID(block_dropout_kind), inBlock<&BlockOptions::kind>, kDropouts,
        "Inverted dropout divides what is kept by 1 - p; plain leaves it, and inference multiplies by 1 - p"),
    whole(ID(block_dropout_seed), inBlock<&BlockOptions::dropoutSeed>, -1, kMaxSeed,
          "Of what the block drops; -1: that of its weights"),
    whole(ID(spread_dim), inSpread<&attention::SpreadSpec::dim>, 1, attention::SpreadDraws::largestDim,
          "Components of the drawn queries and keys"),
    real(ID(spread_mean), inSpread<&attention::SpreadSpec::mean>, -10, 10,
         "Mean of these components; of the queries alone where keys have their own"),
    real(ID(spread_deviation), inSpread<&attention::SpreadSpec::deviation>, 0, 10,
         "Standard deviation of these components; of the queries alone where keys have their own"),
    toggle(ID(spread_scaled), inExperiments<&ExperimentOptions::spreadScaled>,
           "Show scores divided by the square root of d_k in front"),
    whole(ID(spread_seed), inExperiments<&ExperimentOptions::spreadSeed>, 0, kMaxSeed, "Of these draws"),
    whole(ID(dense_token), inDense<&attention::ComparisonSpec::token>, 0, Limits::modelTokens - 1,
          "The token whose input moves, from 0"),
    real(ID(dense_amount), inDense<&attention::ComparisonSpec::amount>, 0, 10,
         "Standard deviation of what is added to its numbers"),
    choice(ID(dense_moved), inDense<&attention::ComparisonSpec::moved>, kMoved,
           "What changes of the token: its value, its query and key, or all three"),
    whole(ID(dense_seed), inDense<&attention::ComparisonSpec::seed>, 0, kMaxSeed, "Of what is added"),
    whole(ID(reach_tokens), inReach<&attention::ReachSpec::steps>, 2, attention::ReachSpec::longest,
          "Tokens that the recurrent network reads"),
    real(ID(reach_recurrent), inReach<&attention::ReachSpec::recurrent>, 0, 4,
         "Singular values of its recurrent matrix"),
    real(ID(reach_input), inReach<&attention::ReachSpec::input>, 0, 10,
         "Standard deviation of what each token adds to a unit"),
    real(ID(reach_lead), inReach<&attention::ReachSpec::lead>, -30, 30,
         "How much higher the score of the first token is than all others"),
    whole(ID(reach_seed), inReach<&attention::ReachSpec::seed>, 0, kMaxSeed,
          "Of the recurrent matrix and of what is added"),
    real(ID(reach_forget), inReach<&attention::ReachSpec::forget>, -10, 10,
         "Bias of the forget gate of the LSTM beside it"),
    toggle(ID(same_word), at<&S::sameWord>, "Equal words get equal rows; rows that differ are drawn again"),
    shown(toggle(ID(gradient), at<&S::gradient>, "Show what would raise the selected value, cell by cell")),
    toggle(ID(spread_same), inSpread<&attention::SpreadSpec::same>,
           "Keys are drawn with the mean and the deviation of queries"),
    real(ID(spread_key_mean), inSpread<&attention::SpreadSpec::keyMean>, -10, 10,
         "Mean of the components of keys, where it is their own"),
    real(ID(spread_key_deviation), inSpread<&attention::SpreadSpec::keyDeviation>, 0, 10,
         "Standard deviation of the components of keys, where it is their own"),
    whole(ID(spread_draws), inExperiments<&ExperimentOptions::spreadDraws>, 1,
          attention::SpreadDraws::mostQueries, "Queries that are drawn, each with 16 keys"),
    choice(ID(memory_cell), inMemory<&MemoryOptions::cell>, kCells,
           "The recurrent network that reads the sentence: tanh, or an LSTM with its gates"),
    whole(ID(memory_units), inMemory<&MemoryOptions::units>, 1, kMaxMemoryUnits,
          "Units of the recurrent network"),
    whole(ID(memory_seed), inMemory<&MemoryOptions::seed>, 0, kMaxSeed,
          "Seed of the recurrent network's weights"),
    whole(ID(cost_tokens), inExperiments<&ExperimentOptions::costTokens>, 0, kMaxCostTokens,
          "Tokens that the cost is counted for; 0: those of the layer"),
    choice(ID(cost_compare), inExperiments<&ExperimentOptions::costOf>, kCosts,
           "What the cost of the layer is compared with"),
    whole(ID(cost_window), inExperiments<&ExperimentOptions::costWindow>, 1, kMaxCostTokens,
          "Keys that a query sees in the window that it is compared with"),
    choice(ID(train_task), inTraining<&training::Setup::task>, training::kTaskNames,
           "The task; choosing one also sets options that learn it well"),
    whole(ID(train_layers), inTraining<&training::Setup::layers>, 1, training::Limits::layers,
          "Layers of the model"),
    whole(ID(train_heads), inTraining<&training::Setup::heads>, 1, training::Limits::heads,
          "Heads of each layer; must divide the width of the model"),
    whole(ID(train_d_model), inTraining<&training::Setup::modelDim>, 1, training::Limits::modelDim,
          "Width of the model: numbers per token"),
    toggle(ID(train_feed_forward), inTraining<&training::Setup::feedForward>,
           "Each attention layer is followed by a feed-forward network"),
    toggle(ID(train_layer_norm), inTraining<&training::Setup::layerNorm>,
           "Layer normalisation before each part of the model"),
    toggle(ID(train_residual), inTraining<&training::Setup::residual>,
           "A residual connection around each part of the model"),
    toggle(ID(train_causal), inTraining<&training::Setup::causal>,
           "A token of the model sees itself and those before it"),
    choice(ID(train_position), inTraining<&training::Setup::position>, training::kPositionNames,
           "Positional encoding: how the layer learns the order of the tokens"),
    choice(ID(train_score), inTraining<&training::Setup::score>, attention::kScoreNames,
           "How a query and a key become one number"),
    choice(ID(train_normalizer), inTraining<&training::Setup::normalizer>, attention::kNormalizerNames,
           "How a row of scores becomes a row of weights"),
    choice(ID(train_optimizer), inTraining<&training::Setup::optimizer>, training::kOptimizerNames,
           "The optimiser: how gradients become steps"),
    real(ID(train_rate), inTraining<&training::Setup::rate>, training::Limits::lowestRate,
         training::Limits::highestRate, "The learning rate; it can be changed during a run"),
    whole(ID(train_batch), inTraining<&training::Setup::batch>, 1, training::Limits::batch,
          "Sequences a step learns from"),
    real(ID(train_dropout), inTraining<&training::Setup::dropout>, 0, training::Limits::dropout,
         "Dropout rate while the model learns"),
    whole(ID(train_seed), inTraining<&training::Setup::seed>, 0, kMaxSeed,
          "Seed of the weights, the batches and what is held out"),
    row({ID(train_sentences), inTraining<&training::Setup::sentences>, Type::text, 0,
         training::Limits::sentences},
        "Your own sentences for the tasks tags and translate, one per line"),
    stored(Stored::never, shown(toggle(ID(train_running), at<&S::trainRunning>,
                                       "Training is running, a little between frames"))),
    shown(whole(ID(stepper), at<&S::stepper>, 0, kMaxStepper,
                "How many steps from the selected row to its output are shown; 0: all at once")),
    shown(choice(ID(card), at<&S::card>, kCards, "What the card below the matrices shows")),
    invalidates(Invalidates::nothing, row({ID(pin), kNoMember, Type::text, 0, kMaxPinBytes},
                                          "A board to compare with, as a state text; true pins this one")),
    shown(toggle(ID(value_norms), at<&S::valueNorms>, "Arcs and bars show the length of weight times value")),
    shown(choice(ID(weight_by), at<&S::weightBy>, kWeightBy,
                 "Whether dragging a weight changes its query or its key, as little as possible")),
    choice(ID(rotary_pairs), inRotary<&attention::Rotary::pairs>, kRotaryPairs,
           "Columns that are rotated together: neighbours, or i and i + r/2 as in Llama"),
    real(ID(rotary_base), inRotary<&attention::Rotary::base>, kMinRotaryBase, kMaxRotaryBase,
         "Base of the angles: the i-th pair of columns turns by base^(-2i/r) per position"),
    whole(ID(rotary_dims), inRotary<&attention::Rotary::dims>, 0, Limits::headDim,
          "How many columns are rotated, from the first; an even number; 0: all"),
    choice(ID(rotary_scaling), inRotary<&attention::Rotary::scaling>, kRotaryScalings,
           "For longer texts: positions divided by the factor, or a larger base (NTK-aware)"),
    real(ID(rotary_factor), inRotary<&attention::Rotary::factor>, kMinRotaryFactor, kMaxRotaryFactor,
         "How many times longer texts may be"),
    toggle(ID(softmax_sink), at<&S::softmaxSink>,
           "Each row has one more score, a sink, in its sum alone, as in gpt-oss; with 0 it is softmax-1"),
    toggle(ID(separate_values), at<&S::separateValues>, "Values are projected from an X of their own"),
    whole(ID(additive_dim), at<&S::additiveDim>, 0, Limits::headDim,
          "Hidden units of the additive score; 0: as many as d_k"),
    whole(ID(d_q), at<&S::queryDim>, 0, Limits::headDim,
          "Columns of Q per head, for the scores general and additive; 0: as many as K has"),
    toggle(ID(output_projection), at<&S::outputProjection>,
           "W_O joins the heads; without it the output is the heads side by side"),
    whole(ID(d_out), at<&S::outputDim>, 0, Limits::modelDim,
          "Columns of W_O and of the output; 0: as many as X"),
    toggle(ID(projection_bias), at<&S::projectionBias>, "The projections have biases: b_q, b_k, b_v and b_o"),
    row({ID(position_ids), kNoMember, Type::ids, 0, Limits::positionId},
        "Positions used instead of 0, 1, 2 ...; a short list is continued from its last: [100] is an offset"),
    invalidates(Invalidates::nothing,
                row({ID(column_names), kNoMember, Type::names, 0, kColumnNames},
                    "What the columns of Q and K are called, head after head, as a list or between commas")),
    invalidates(
        Invalidates::nothing,
        whole(ID(patch_columns), at<&S::patchColumns>, 0, Limits::tokens,
              "Keys are patches of a picture, so many in a row, and rows of X are their pixels; 0: they "
              "are not")),
    shown(toggle(ID(column_layout), at<&S::columnLayout>,
                 "Tokens are columns, and O = V softmax(K^T Q); the numbers stay the same")),
    invalidates(Invalidates::nothing,
                choice(ID(batch_of), at<&S::batchOf>, kBatchOf,
                       "What the items of the batch are: sequences, or layers of a model")),
    stored(Stored::never,
           whole(ID(layer), kNoMember, 0, kMaxBatch - 1, "The layer of the model on the board, from 0")),
    shown(choice(ID(color_map), at<&S::colors>, kColors,
                 "Colours of cells: those of the theme, cividis for weights, or shades of grey")),
    whole(ID(memory_words), inMemory<&MemoryOptions::words>, 1, kMaxMemoryWords,
          "Words that the recurrent decoder writes, each with a look of its own at the sentence"),
    invalidates(Invalidates::surroundings,
                row({ID(segment_classes), kNoMember, Type::names, 0, kMaxClasses},
                    "What the classes of the whole document are called, as a list or between commas")),
    shown(row({ID(model_find), at<&S::modelFind>, Type::text, 0, kLabelBytes},
              "The word that heads of the page Model are measured by")),
    shown(row({ID(model_targets), at<&S::modelTargets>, Type::text, 0, kLabelBytes},
              "What should have been predicted: one class for this token, or one for each, - for none")),
};

#undef ID

// The table is split in two, so that a program without descriptions is linked without them.
constexpr auto kOptions = [] {
  std::array<Option, std::size(kRows)> options{};
  std::transform(std::begin(kRows), std::end(kRows), options.begin(),
                 [](const Row& row) { return row.option; });
  return options;
}();
static_assert(
    [] {
      for (std::size_t i = 0; i < kOptions.size(); ++i)
        if (kOptions[i].id != static_cast<Id>(i)) return false;
      return true;
    }(),
    "the rows stand in the order of OptionId");
/// All descriptions in one text, a line each: a table of pointers to them would keep them in the page's first
/// part.
constexpr auto kHelp = [] {
  constexpr auto length = [] {
    std::size_t sum = 0;
    for (const Row& row : kRows) sum += row.help.size() + 1;
    return sum;
  }();
  std::array<char, length> lines{};
  char* end = lines.data();
  for (const Row& row : kRows) end = std::copy(row.help.begin(), row.help.end(), end), *end++ = '\n';
  return lines;
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
                      {base::shortest(*number), " is too ", (*number < option.min ? "small" : "large"),
                       "; use ", rangeText(option), "."});
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
  if (ids == nullptr)
    return wrongType(option, value,
                     {"a list of whole numbers; use [] for 0, 1, 2 …, or [100] for 100, 101 …."});
  if (ids->size() > Limits::tokens)
    return base::refuse(
        ErrorKind::range, option.name,
        {"there are ", ids->size(), "; use at most ", Limits::tokens, ", after which they count on."});
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
  return base::refuse(ErrorKind::range, option.name,
                      {base::inQuotes(*text), " is unknown; use ", base::orList(names), "."});
}

Result<void> checkText(const Option& option, const Value& value) {
  if (option.id == Id::pin && std::holds_alternative<bool>(value)) return {};
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wrongType(option, value, {"a text; use one, or \"\" for none."});
  if (static_cast<double>(text->size()) <= option.max) return {};
  return base::refuse(ErrorKind::range, option.name,
                      {"it has ", text->size(), " bytes; use at most ", base::shortest(option.max), "."});
}

Result<void> checkLabelList(const Option& option, const Value& value) {
  if (!std::holds_alternative<std::string>(value) && !std::holds_alternative<std::vector<std::string>>(value))
    return wrongType(option, value, {"a sentence or a list of texts; give one of these."});
  // Longer than any labels within the limits: refused before it is split.
  constexpr std::size_t longest = std::size_t{Limits::tokens} * (kLabelBytes + 1);
  if (const std::string* sentence = std::get_if<std::string>(&value); sentence && sentence->size() > longest)
    return base::refuse(ErrorKind::range, option.name,
                        {"the sentence has ", sentence->size(), " bytes; use at most ", longest, "."});
  const std::vector<std::string> labels = labelsOf(value);
  if (labels.empty())
    return base::refuse(ErrorKind::range, option.name, {"there is no word; give at least one."});
  if (static_cast<double>(labels.size()) > option.max)
    return base::refuse(
        ErrorKind::range, option.name,
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
    return base::refuse(ErrorKind::range, option.name,
                        {"there are ", names.size(), "; use at most ", base::shortest(option.max), "."});
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
  if (width % heads != 0) why = base::joined({" does not divide the model width ", width, " (heads × d_k)"});
  else if (valueWidth % heads != 0)
    why = base::joined({" does not divide the ", valueWidth, " columns of all values (heads × d_v)"});
  else if (settings.heads * settings.queryDim % heads != 0)
    why = base::joined({" does not divide the ", settings.heads * settings.queryDim,
                        " columns of all queries (heads × d_q)"});
  else if (heads % sharing != 0)
    why = base::joined({" is no multiple of the ", sharing, " heads that share keys (heads / kv_heads)"});
  else if (settings.position == attention::Position::rotary && width / heads % 2 != 0)
    why =
        base::joined({" heads of ", width / heads, " columns cannot be turned in pairs by rotary positions"});
  else why = base::joined({" heads of the model width ", width, " (heads × d_k) are too many to show"});
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
      if (const auto name = columnName(before, h, c); !name.empty())
        after.columnNames = columnNamesWith(after, h, c, std::string(name));
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
    return base::refuse(ErrorKind::range, o.name,
                        {base::shortest(*number), " is too large; use 0 to ", most, "."});
  };
  switch (o.id) {
    case Id::heads: return checkHeads(settings, static_cast<int>(*number));
    case Id::focus_head: return atMost(settings.heads - 1);
    case Id::step: return atMost(settings.tokens);
    case Id::layer:
      if (!hasLayers(settings))
        return *number == 0 ? Result<void>()
                            : base::refuse(ErrorKind::range, o.name,
                                           {"there is one layer here; open a file of several layers first."});
      [[fallthrough]];
    case Id::batch_item: return atMost(settings.batch - 1);
    case Id::dense_token: return atMost(std::min(settings.tokens, settings.keyTokens) - 1);
    case Id::zoom:
      if (*number == 0 || *number >= 1) return {};
      return base::refuse(
          ErrorKind::range, o.name,
          {base::shortest(*number), " is too small; use 1 to 2.5, or 0 for as large as the window allows."});
    case Id::hidden_heads: return checkHidden(settings, *numbersOf(value));
    case Id::rotary_dims:
      if (static_cast<int>(*number) % 2 == 0) return {};
      return base::refuse(
          ErrorKind::range, o.name,
          {base::shortest(*number), " columns do not form pairs; use an even number, or 0 for all."});
    case Id::pin:
      return std::holds_alternative<bool>(value) ? Result<void>()
                                                 : checkPin(*std::get_if<std::string>(&value));
    case Id::scale:
      if (value == Value(false) || isDotProduct(settings.score)) return {};
      return base::refuse(ErrorKind::range, o.name,
                          {"only dot products are scaled; set score to \"scaled\"."});
    case Id::pattern:
      if (value != Value(std::string("custom")) || value == get(settings, o.id)) return {};
      return base::refuse(
          ErrorKind::range, o.name,
          {"\"custom\" is what its parts make; set pattern_local, pattern_block or another of them."});
    case Id::key_tokens:
    case Id::key_labels:
      if (settings.cross || sameKeys(settings, value)) return {};
      return base::refuse(ErrorKind::range, o.name,
                          {"the keys are the tokens here; set cross to true first."});
    default: return {};
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
  if (isOn) settings.score = attention::Score::scaled;
  else if (settings.score == attention::Score::scaled) settings.score = attention::Score::dot;
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
  return static_cast<std::size_t>(
      std::find(choices.begin(), choices.end(), *std::get_if<std::string>(&value)) - choices.begin());
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option& option(OptionId id) { return kOptions[static_cast<std::size_t>(id)]; }

std::string_view helpOn(OptionId id) {
  std::string_view rest(kHelp.data(), kHelp.size());
  for (int line = 0; line < static_cast<int>(id); ++line) rest.remove_prefix(rest.find('\n') + 1);
  return rest.substr(0, rest.find('\n'));
}

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
    case Id::segment_classes: return settings.segments.classes;
    case Id::layer: return static_cast<double>(hasLayers(settings) ? settings.batchItem : 0);
    default: break;
  }
  return std::visit(
      [&]<class T>(const T* member) -> Value {
        if constexpr (std::is_same_v<T, float>) return base::readable(*member);
        else if constexpr (std::is_same_v<T, std::uint8_t>) return std::string(option(id).choices[*member]);
        else if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>) return *member;
        else return static_cast<double>(*member);
      },
      option(id).member.at(const_cast<Settings&>(settings)));
}

bool isDefault(const Settings& settings, OptionId id) {
  switch (id) {
    case Id::score:  // the field "scale" distinguishes these two
      return isDotProduct(settings.score);
    case Id::kv_heads: return settings.kvHeads == settings.heads;
    case Id::d_v: return settings.valueDim == settings.headDim;
    case Id::key_tokens:
    case Id::key_labels: return !settings.cross;
    case Id::view:  // written as the field "experiment", like in older texts, where possible
      return settings.view == View::layer || olderName(settings.view) > 0;
    case Id::weight_scale:  // the meaning of older texts, which do not contain it
      return settings.weightScale == WeightScale::linear;
    default: return get(settings, id) == get(Settings(), id);
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
    case Id::segment_classes: return void(settings.segments.classes = namesOf(value));
    case Id::layer: return void(settings.batchItem = static_cast<int>(*std::get_if<double>(&value)));
    default: break;
  }
  std::visit(
      [&]<class T>(T* member) {
        if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::string>)
          *member = *std::get_if<T>(&value);
        else if constexpr (std::is_same_v<T, std::uint8_t>) *member = static_cast<T>(placeOf(id, value));
        else if constexpr (std::is_same_v<T, float>)
          *member = static_cast<float>(*std::get_if<double>(&value)) + 0.0f;  // + 0.0f turns -0 into 0
        else if constexpr (std::is_same_v<T, double>)
          *member = base::readable(static_cast<float>(*std::get_if<double>(&value)) + 0.0f);
        else *member = static_cast<T>(*std::get_if<double>(&value));
      },
      option(id).member.at(settings));
  if (id == Id::score && settings.score != attention::Score::scaled) settings.scaleBy = 0;
}

/// Gives `after`, which may differ from `settings` in what depends on the heads, another number of them.
void setHeads(const Settings& settings, int heads, Settings& after) {
  after.heads = heads;
  after.kvHeads = settings.kvHeads * heads / settings.heads;
  after.headDim = settings.headDim * settings.heads / heads;
  after.queryDim = settings.queryDim * settings.heads / heads;
  after.valueDim = settings.valueDim * settings.heads / heads;
  after.biasKind = heads == 1 && settings.biasKind == Bias::perHead ? Bias::shared : settings.biasKind;
  after.hiddenHeads =
      heads == settings.heads ? settings.hiddenHeads : 0;  // the bits would refer to other heads
}

Settings settingsAfter(const Settings& settings, OptionId id, const Value& value) {
  Settings after = settings;
  assign(after, id, value);
  switch (id) {
    case Id::labels: after.tokens = static_cast<int>(after.labels.size()); [[fallthrough]];
    case Id::tokens:
      if (!after.cross) after.keyTokens = after.tokens;
      break;
    case Id::key_labels: after.keyTokens = static_cast<int>(keyLabels(after).size()); break;
    case Id::heads: setHeads(settings, after.heads, after); break;
    case Id::d_k:
      if (settings.valueDim == settings.headDim) after.valueDim = after.headDim;
      if (!settings.columnNames.empty() && settings.heads > 1)
        after.columnNames = regroupedNames(settings, after.headDim);
      break;
    case Id::cross:
      if (after.cross && settings.cross) break;
      after.keyTokens = after.tokens;
      after.keyLabels = after.cross ? after.labels : std::vector<std::string>();
      break;
    case Id::batch: after.batchItem = std::min(after.batchItem, after.batch - 1); break;
    case Id::train_task:
      if (after.training.task != settings.training.task)
        after.training = training::recommended(after.training.task),
        after.training.learned = settings.training.learned;
      break;
    case Id::score: after.scoreWeights = after.scoreWeights || takesScoreWeights(after.score); break;
    default: break;
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
    case Type::real: return checkNumber(option, value);
    case Type::choice: return checkChoice(option, value);
    case Type::labels: return checkLabelList(option, value);
    case Type::scale: return checkScale(option, value);
    case Type::heads: return checkHeadList(option, value);
    case Type::ids: return checkIds(option, value);
    case Type::text: return checkText(option, value);
    case Type::names: return checkNames(option, value);
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
    if (width % n != 0 || valueWidth % n != 0 || settings.heads * settings.queryDim % n != 0) continue;
    setHeads(settings, n, after);
    if (checkSizes("heads", after) && checkTogether("heads", after)) out.push_back(n);
  }
  return out;
}

}  // namespace document
