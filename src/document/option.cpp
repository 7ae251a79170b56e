#include "document/option.h"

#include <algorithm>
#include <cmath>

#include "document/number.h"
#include "document/pattern.h"
#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::Limits;
using Kind = Error::Kind;

constexpr std::string_view kModes[] = {"qkv", "x"};
constexpr std::string_view kThemes[] = {"auto", "light", "dark"};
constexpr std::string_view kScores[] = {"dot", "scaled", "general", "additive", "cosine"};
constexpr std::string_view kNormalizers[] = {"softmax", "sparsemax", "sigmoid", "relu", "hardmax", "none"};
constexpr std::string_view kPositions[] = {"none", "sinusoidal", "rotary", "alibi"};
constexpr std::string_view kBlockNorms[] = {"none", "post", "pre"};
constexpr std::string_view kActivations[] = {"relu", "gelu", "tanh"};
constexpr std::string_view kSegmentEnds[] = {"tokens", "punctuation"};
constexpr std::string_view kWeightScales[] = {"linear", "sqrt", "row"};
constexpr std::string_view kExperiments[] = {"none", "spread", "weights", "reach", "block", "segments"};

using Id = OptionId;
using Type = OptionType;

constexpr Option toggle(Id id, std::string_view name, std::string_view help) {
  return {id, name, Type::boolean, 0, 0, {}, true, help};
}
constexpr Option whole(Id id, std::string_view name, double min, double max, std::string_view help) {
  return {id, name, Type::integer, min, max, {}, true, help};
}
constexpr Option real(Id id, std::string_view name, double min, double max, std::string_view help) {
  return {id, name, Type::real, min, max, {}, true, help};
}
constexpr Option other(Id id, std::string_view name, Type type, double min, double max,
                       std::string_view help) {
  return {id, name, type, min, max, {}, true, help};
}
constexpr Option choice(Id id, std::string_view name, std::span<const std::string_view> choices,
                        std::string_view help) {
  return {id, name, Type::choice, 0, 0, choices, true, help};
}
constexpr Option stored(Stored when, Option option) {
  option.stored = when;
  return option;
}
constexpr Option always(Option option) { return stored(Stored::always, option); }
/// How things are shown: undo leaves it alone.
constexpr Option shown(Option option) {
  option.undoable = false;
  return option;
}

constexpr double kMaxZoom = 2.5;
constexpr double kMaxSeed = 4294967295.0;
constexpr double kTokens = Limits::tokens;

constexpr Option kOptions[] = {
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
    shown(choice(Id::experiment, "experiment", kExperiments, "The page of the experiments that is open")),
    shown(choice(Id::weight_scale, "weight_scale", kWeightScales,
                 "How the colour of a weight follows from it: in proportion, by its square root, or within its row")),
    toggle(Id::same_word, "same_word", "Equal words get equal numbers; what is not equal yet is drawn anew"),
};

std::string rangeText(const Option& option) {
  return joined({shortest(option.min), " to ", shortest(option.max)});
}

std::string valueText(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const double* d = std::get_if<double>(&value))
    return std::isnan(*d) ? "NaN" : std::isinf(*d) ? "infinity" : shortest(*d);
  if (const std::string* s = std::get_if<std::string>(&value)) return inQuotes(*s);
  if (const auto* numbers = std::get_if<std::vector<int>>(&value))
    return numbers->empty() ? "[]" : "a list of numbers";
  return "a list";
}

Check wrongType(const Option& option, const Value& value, std::initializer_list<Piece> want) {
  return refuse(Kind::type, option.name, {valueText(value), " is not ", joined(want)});
}

Check checkNumber(const Option& option, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool isWhole = option.type == Type::integer;
  const std::string want = isWhole ? "a whole number; use " : "a number; use ";
  if (number == nullptr || !std::isfinite(*number) || (isWhole && *number != std::floor(*number)))
    return wrongType(option, value, {want, rangeText(option), "."});
  if (*number >= option.min && *number <= option.max) return {};
  return refuse(Kind::range, option.name,
                {shortest(*number), " is too ", (*number < option.min ? "small" : "large"), "; use ",
                 rangeText(option), "."});
}

Check checkScale(const Option& option, const Value& value) {
  if (std::holds_alternative<bool>(value)) return {};
  if (std::holds_alternative<double>(value)) return checkNumber(option, value);
  return wrongType(option, value, {"true, false or a number; use one of these."});
}

/// The numbers of a list, which may be one of nothing.
const std::vector<int>* numbersOf(const Value& value) {
  static const std::vector<int> none;
  const auto* texts = std::get_if<std::vector<std::string>>(&value);
  return texts != nullptr && texts->empty() ? &none : std::get_if<std::vector<int>>(&value);
}

Check checkHeadList(const Option& option, const Value& value) {
  const std::vector<int>* heads = numbersOf(value);
  if (heads == nullptr) return wrongType(option, value, {"a list of head numbers; use [] for none."});
  for (const int head : *heads)
    if (Check bad = checkNumber(option, static_cast<double>(head))) return bad;
  return {};
}

Check checkChoice(const Option& option, const Value& value) {
  std::vector<std::string> names;
  for (const std::string_view choice : option.choices) names.push_back(inQuotes(choice));
  const std::string* text = std::get_if<std::string>(&value);
  if (text == nullptr) return wrongType(option, value, {"a text; use ", orList(names), "."});
  if (std::find(option.choices.begin(), option.choices.end(), *text) != option.choices.end()) return {};
  return refuse(Kind::range, option.name, {inQuotes(*text), " is unknown; use ", orList(names), "."});
}

Check checkLabelList(const Option& option, const Value& value) {
  if (!std::holds_alternative<std::string>(value) && !std::holds_alternative<std::vector<std::string>>(value))
    return wrongType(option, value, {"a sentence or a list of texts; give one of these."});
  // More than any labels that fit would take: looked at before it is split.
  constexpr std::size_t longest = std::size_t{Limits::tokens} * (kLabelBytes + 1);
  if (const std::string* sentence = std::get_if<std::string>(&value); sentence && sentence->size() > longest)
    return refuse(Kind::range, option.name, {"the sentence has ", sentence->size(), " bytes; use at most ", longest, "."});
  const std::vector<std::string> labels = labelsOf(value);
  if (labels.empty()) return refuse(Kind::range, option.name, {"there is no word; give at least one."});
  if (static_cast<double>(labels.size()) > option.max)
    return refuse(Kind::range, option.name,
                  {"there are ", labels.size(), " tokens; use at most ", shortest(option.max), "."});
  return checkLabels(option.name, labels, 0);
}

Check checkHeads(const Settings& settings, int heads) {
  const std::vector<int> allowed = allowedHeads(settings);
  if (std::find(allowed.begin(), allowed.end(), heads) != allowed.end()) return {};
  std::vector<std::string> names;
  for (const int n : allowed) names.push_back(std::to_string(n));
  const int width = settings.heads * settings.headDim, valueWidth = settings.heads * settings.valueDim;
  const int sharing = settings.heads / settings.kvHeads;
  std::string why;
  if (width % heads != 0)
    why = joined({" does not divide the model width ", width, " (heads × d_k)"});
  else if (valueWidth % heads != 0)
    why = joined({" does not divide the ", valueWidth, " columns of all values (heads × d_v)"});
  else if (heads % sharing != 0)
    why = joined({" is no multiple of the ", sharing, " heads that share keys (heads / kv_heads)"});
  else if (settings.position == attention::Position::rotary && width / heads % 2 != 0)
    why = joined({" heads of ", width / heads, " columns cannot be turned in pairs by rotary positions"});
  else
    why = joined({" heads of the model width ", width, " (heads × d_k) are too many to show"});
  return refuse(Kind::range, "heads", {heads, why, "; use ", orList(names), "."});
}

Check checkHidden(const Settings& settings, const std::vector<int>& heads) {
  for (const int head : heads)
    if (head >= settings.heads)
      return refuse(Kind::range, "hidden_heads",
                    {"there is no head ", head, "; use 0 to ", settings.heads - 1, "."});
  return {};
}

/// Does the value of key_tokens or key_labels say what is there?
bool sameKeys(const Settings& settings, const Value& value) {
  if (const double* number = std::get_if<double>(&value)) return *number == settings.keyTokens;
  return labelsOf(value) == keyLabels(settings);
}

/// What only this option has to be asked, beside its range and the sizes.
Check checkPlace(const Settings& settings, const Option& o, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const auto atMost = [&](int most) -> Check {
    if (*number <= most) return {};
    return refuse(Kind::range, o.name, {shortest(*number), " is too large; use 0 to ", most, "."});
  };
  switch (o.id) {
    case Id::heads:
      return checkHeads(settings, static_cast<int>(*number));
    case Id::focus_head:
      return atMost(settings.heads - 1);
    case Id::step:
      return atMost(settings.tokens);
    case Id::batch_item:
      return atMost(settings.batch - 1);
    case Id::zoom:
      if (*number == 0 || *number >= 1) return {};
      return refuse(Kind::range, o.name, {shortest(*number), " is too small; use 1 to 2.5, or 0 for as large as the window allows."});
    case Id::hidden_heads:
      return checkHidden(settings, *numbersOf(value));
    case Id::scale:
      if (value == Value(false) || isDotProduct(settings.score)) return {};
      return refuse(Kind::range, o.name, {"only dot products are scaled; set score to \"scaled\"."});
    case Id::pattern:
      if (value != Value(std::string("custom")) || value == get(settings, o.id)) return {};
      return refuse(
          Kind::range, o.name,
          {"\"custom\" is what its parts make; set pattern_local, pattern_block or another of them."});
    case Id::key_tokens:
    case Id::key_labels:
      if (settings.cross || sameKeys(settings, value)) return {};
      return refuse(Kind::range, o.name, {"the keys are the tokens here; set cross to true first."});
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
  return readable(settings.scaleBy);
}

/// false makes a plain dot product of a scaled one, and leaves other scores alone.
void assignScale(Settings& settings, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool isOn = number != nullptr || *std::get_if<bool>(&value);
  if (isOn)
    settings.score = attention::Score::scaled;
  else if (settings.score == attention::Score::scaled)
    settings.score = attention::Score::dot;
  settings.scaleBy = number != nullptr ? static_cast<float>(*number) : 0.0f;
}

void assignPattern(Settings& settings, std::string_view name) {
  if (name != "custom") settings.pattern = patternNamed(name, settings.pattern, settings.keyTokens);
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option& option(OptionId id) { return kOptions[static_cast<std::size_t>(id)]; }

const Option* optionNamed(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return o.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

Value get(const Settings& settings, OptionId id) {
  const auto number = [](auto n) { return static_cast<double>(n); };
  const auto choice = [&](auto value) {
    return std::string(option(id).choices[static_cast<std::size_t>(value)]);
  };
  const attention::Pattern& pattern = settings.pattern;
  switch (id) {
    case Id::mode:
      return choice(settings.mode);
    case Id::tokens:
      return number(settings.tokens);
    case Id::labels:
      return settings.labels;
    case Id::heads:
      return number(settings.heads);
    case Id::d_k:
      return number(settings.headDim);
    case Id::model_dim:
      return number(settings.modelDim);
    case Id::causal:
      return settings.causal;
    case Id::scale:
      return scaleOf(settings);
    case Id::temperature:
      return readable(settings.temperature);
    case Id::focus_head:
      return number(settings.focusHead);
    case Id::decimals:
      return number(settings.decimals);
    case Id::theme:
      return choice(settings.theme);
    case Id::seed:
      return number(settings.seed);
    case Id::score:
      return choice(settings.score);
    case Id::softcap:
      return readable(settings.softcap);
    case Id::normalizer:
      return choice(settings.normalizer);
    case Id::position:
      return choice(settings.position);
    case Id::causal_offset:
      return number(settings.causalOffset);
    case Id::window_left:
      return number(settings.windowLeft);
    case Id::window_right:
      return number(settings.windowRight);
    case Id::prefix:
      return number(settings.prefix);
    case Id::key_length:
      return number(settings.keyLength);
    case Id::pattern:
      return std::string(patternName(pattern));
    case Id::pattern_local:
      return number(pattern.local);
    case Id::pattern_dilation:
      return number(pattern.dilation);
    case Id::pattern_stride:
      return number(pattern.stride);
    case Id::pattern_block:
      return number(pattern.block);
    case Id::pattern_global:
      return number(pattern.global);
    case Id::pattern_random:
      return number(pattern.random);
    case Id::pattern_seed:
      return number(pattern.seed);
    case Id::mask_after_softmax:
      return settings.maskAfterSoftmax;
    case Id::kv_heads:
      return number(settings.kvHeads);
    case Id::d_v:
      return number(settings.valueDim);
    case Id::cross:
      return settings.cross;
    case Id::key_tokens:
      return number(settings.keyTokens);
    case Id::key_labels:
      return keyLabels(settings);
    case Id::hidden_heads:
      return bitsSet(settings.hiddenHeads);
    case Id::average_heads:
      return settings.averageHeads;
    case Id::zoom:
      return number(settings.zoom);
    case Id::present:
      return settings.present;
    case Id::whole_projections:
      return settings.wholeProjections;
    case Id::step:
      return number(settings.step);
    case Id::batch:
      return number(settings.batch);
    case Id::batch_item:
      return number(settings.batchItem);
    case Id::block_residual:
      return settings.block.residual;
    case Id::block_norm:
      return choice(settings.block.norm);
    case Id::block_activation:
      return choice(settings.block.activation);
    case Id::block_hidden:
      return number(settings.block.hidden);
    case Id::block_dropout:
      return readable(settings.block.dropout);
    case Id::block_epsilon:
      return readable(settings.block.epsilon);
    case Id::block_seed:
      return number(settings.block.seed);
    case Id::segment_by:
      return choice(settings.segments.by);
    case Id::segment_tokens:
      return number(settings.segments.tokens);
    case Id::segment_seed:
      return number(settings.segments.seed);
    case Id::experiment:
      return choice(settings.experiment);
    case Id::weight_scale:
      return choice(settings.weightScale);
    case Id::same_word:
      return settings.sameWord;
  }
  return false;
}

bool isDefault(const Settings& settings, OptionId id) {
  switch (id) {
    case Id::score:  // the field "scale" tells these two apart
      return isDotProduct(settings.score);
    case Id::kv_heads:
      return settings.kvHeads == settings.heads;
    case Id::d_v:
      return settings.valueDim == settings.headDim;
    case Id::key_tokens:
    case Id::key_labels:
      return !settings.cross;
    default:
      return get(settings, id) == get(Settings(), id);
  }
}

void assign(Settings& settings, OptionId id, const Value& value) {
  const auto flag = [&] { return *std::get_if<bool>(&value); };
  const auto number = [&] { return *std::get_if<double>(&value); };
  const auto single = [&] { return static_cast<float>(number()) + 0.0f; };  // no -0
  const auto whole = [&] { return static_cast<int>(number()); };
  const auto choice = [&] {
    const auto choices = option(id).choices;
    return std::find(choices.begin(), choices.end(), *std::get_if<std::string>(&value)) - choices.begin();
  };
  attention::Pattern& pattern = settings.pattern;
  switch (id) {
    case Id::mode:
      settings.mode = static_cast<Mode>(choice());
      break;
    case Id::tokens:
      settings.tokens = whole();
      break;
    case Id::labels:
      settings.labels = labelsOf(value);
      break;
    case Id::heads:
      settings.heads = whole();
      break;
    case Id::d_k:
      settings.headDim = whole();
      break;
    case Id::model_dim:
      settings.modelDim = whole();
      break;
    case Id::causal:
      settings.causal = flag();
      break;
    case Id::scale:
      assignScale(settings, value);
      break;
    case Id::temperature:
      settings.temperature = single();
      break;
    case Id::focus_head:
      settings.focusHead = whole();
      break;
    case Id::decimals:
      settings.decimals = whole();
      break;
    case Id::theme:
      settings.theme = static_cast<Theme>(choice());
      break;
    case Id::seed:
      settings.seed = static_cast<std::uint32_t>(number());
      break;
    case Id::score:
      settings.score = static_cast<attention::Score>(choice());
      if (settings.score != attention::Score::scaled) settings.scaleBy = 0;
      break;
    case Id::softcap:
      settings.softcap = single();
      break;
    case Id::normalizer:
      settings.normalizer = static_cast<attention::Normalizer>(choice());
      break;
    case Id::position:
      settings.position = static_cast<attention::Position>(choice());
      break;
    case Id::causal_offset:
      settings.causalOffset = whole();
      break;
    case Id::window_left:
      settings.windowLeft = whole();
      break;
    case Id::window_right:
      settings.windowRight = whole();
      break;
    case Id::prefix:
      settings.prefix = whole();
      break;
    case Id::key_length:
      settings.keyLength = whole();
      break;
    case Id::pattern:
      assignPattern(settings, *std::get_if<std::string>(&value));
      break;
    case Id::pattern_local:
      pattern.local = whole();
      break;
    case Id::pattern_dilation:
      pattern.dilation = whole();
      break;
    case Id::pattern_stride:
      pattern.stride = whole();
      break;
    case Id::pattern_block:
      pattern.block = whole();
      break;
    case Id::pattern_global:
      pattern.global = whole();
      break;
    case Id::pattern_random:
      pattern.random = whole();
      break;
    case Id::pattern_seed:
      pattern.seed = static_cast<std::uint32_t>(number());
      break;
    case Id::mask_after_softmax:
      settings.maskAfterSoftmax = flag();
      break;
    case Id::kv_heads:
      settings.kvHeads = whole();
      break;
    case Id::d_v:
      settings.valueDim = whole();
      break;
    case Id::cross:
      settings.cross = flag();
      break;
    case Id::key_tokens:
      settings.keyTokens = whole();
      break;
    case Id::key_labels:
      if (settings.cross) settings.keyLabels = labelsOf(value);
      break;
    case Id::hidden_heads:
      settings.hiddenHeads = bitsOf(*numbersOf(value));
      break;
    case Id::zoom:
      settings.zoom = single();
      break;
    case Id::present:
      settings.present = flag();
      break;
    case Id::whole_projections:
      settings.wholeProjections = flag();
      break;
    case Id::average_heads:
      settings.averageHeads = flag();
      break;
    case Id::step:
      settings.step = whole();
      break;
    case Id::batch:
      settings.batch = whole();
      break;
    case Id::batch_item:
      settings.batchItem = whole();
      break;
    case Id::block_residual:
      settings.block.residual = flag();
      break;
    case Id::block_norm:
      settings.block.norm = static_cast<attention::NormPlace>(choice());
      break;
    case Id::block_activation:
      settings.block.activation = static_cast<attention::Activation>(choice());
      break;
    case Id::block_hidden:
      settings.block.hidden = whole();
      break;
    case Id::block_dropout:
      settings.block.dropout = single();
      break;
    case Id::block_epsilon:
      settings.block.epsilon = single();
      break;
    case Id::block_seed:
      settings.block.seed = static_cast<std::uint32_t>(number());
      break;
    case Id::segment_by:
      settings.segments.by = static_cast<SegmentBy>(choice());
      break;
    case Id::segment_tokens:
      settings.segments.tokens = whole();
      break;
    case Id::segment_seed:
      settings.segments.seed = static_cast<std::uint32_t>(number());
      break;
    case Id::experiment:
      settings.experiment = static_cast<Experiment>(choice());
      break;
    case Id::weight_scale:
      settings.weightScale = static_cast<WeightScale>(choice());
      break;
    case Id::same_word:
      settings.sameWord = flag();
      break;
  }
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
      after.kvHeads = settings.kvHeads * after.heads / settings.heads;
      after.headDim = settings.headDim * settings.heads / after.heads;
      after.valueDim = settings.valueDim * settings.heads / after.heads;
      if (after.heads == 1 && after.biasKind == Bias::perHead) after.biasKind = Bias::shared;
      if (after.heads != settings.heads) after.hiddenHeads = 0;  // they are not the same heads any more
      break;
    case Id::d_k:
      if (settings.valueDim == settings.headDim) after.valueDim = after.headDim;
      break;
    case Id::cross:
      if (after.cross && settings.cross) break;
      after.keyTokens = after.tokens;
      after.keyLabels = after.cross ? after.labels : std::vector<std::string>();
      break;
    case Id::batch:
      after.batchItem = std::min(after.batchItem, after.batch - 1);
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

Check checkAlone(const Option& option, const Value& value) {
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
  }
  return {};
}

Check check(const Settings& settings, OptionId id, const Value& value) {
  const Option& o = option(id);
  if (Check bad = checkAlone(o, value)) return bad;
  if (Check bad = checkPlace(settings, o, value)) return bad;
  const Settings after = settingsAfter(settings, id, value);
  if (Check bad = checkSizes(o.name, after)) return bad;
  return checkTogether(o.name, after);
}

std::vector<int> allowedHeads(const Settings& settings) {
  const int width = settings.heads * settings.headDim, valueWidth = settings.heads * settings.valueDim;
  const int sharing = settings.heads / settings.kvHeads;
  std::vector<int> out;
  for (int n = sharing; n <= Limits::heads; n += sharing) {
    if (width % n != 0 || valueWidth % n != 0) continue;
    const Settings after = settingsAfter(settings, Id::heads, static_cast<double>(n));
    if (!checkSizes("heads", after) && !checkTogether("heads", after)) out.push_back(n);
  }
  return out;
}

}  // namespace document
