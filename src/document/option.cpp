#include "document/option.h"

#include <algorithm>
#include <cmath>

#include "document/number.h"
#include "document/resize.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::Limits;
using Kind = Error::Kind;

constexpr std::string_view kModes[] = {"qkv", "x"};
constexpr std::string_view kThemes[] = {"auto", "light", "dark"};

constexpr Option kOptions[] = {
    {OptionId::mode, "mode", OptionType::choice, 0, 0, kModes, true,
     "Edit Q, K and V, or X and the weights that make them"},
    {OptionId::tokens,
     "tokens",
     OptionType::integer,
     1,
     Limits::tokens,
     {},
     true,
     "How many tokens there are"},
    {OptionId::labels,
     "labels",
     OptionType::labels,
     1,
     Limits::tokens,
     {},
     true,
     "The tokens; a sentence is split into words"},
    {OptionId::heads,
     "heads",
     OptionType::integer,
     1,
     Limits::heads,
     {},
     true,
     "Heads that share the width; must divide it"},
    {OptionId::d_k,
     "d_k",
     OptionType::integer,
     1,
     Limits::headDim,
     {},
     true,
     "Columns of Q, K and V per head"},
    {OptionId::model_dim, "model_dim", OptionType::integer, 1, Limits::modelDim, {}, true, "Columns of X"},
    {OptionId::causal,
     "causal",
     OptionType::boolean,
     0,
     0,
     {},
     true,
     "A token sees itself and those before it"},
    {OptionId::scale,
     "scale",
     OptionType::boolean,
     0,
     0,
     {},
     true,
     "Divide scores by the square root of d_k"},
    {OptionId::temperature,
     "temperature",
     OptionType::real,
     kMinTemperature,
     kMaxTemperature,
     {},
     true,
     "Scores are divided by it before softmax: low is sharp, high is even"},
    {OptionId::focus_head,
     "focus_head",
     OptionType::integer,
     0,
     Limits::heads - 1,
     {},
     false,
     "The head on the board, from 0"},
    {OptionId::decimals,
     "decimals",
     OptionType::integer,
     0,
     kMaxDecimals,
     {},
     false,
     "Digits after the point"},
    {OptionId::theme, "theme", OptionType::choice, 0, 0, kThemes, false, "Light, dark, or as the page"},
    {OptionId::seed,
     "seed",
     OptionType::integer,
     0,
     4294967295.0,
     {},
     true,
     "Of random numbers; the same seed gives the same"},
};

std::string rangeText(const Option& option) {
  return joined({shortest(option.min), " to ", shortest(option.max)});
}

std::string valueText(const Value& value) {
  if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
  if (const double* d = std::get_if<double>(&value))
    return std::isnan(*d) ? "NaN" : std::isinf(*d) ? "infinity" : shortest(*d);
  if (const std::string* s = std::get_if<std::string>(&value)) return inQuotes(*s);
  return "a list";
}

Check wrongType(const Option& option, const Value& value, std::initializer_list<Piece> want) {
  return refuse(Kind::type, option.name, {valueText(value), " is not ", joined(want)});
}

Check checkNumber(const Option& option, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool whole = option.type == OptionType::integer;
  const std::string want = whole ? "a whole number; use " : "a number; use ";
  if (number == nullptr || !std::isfinite(*number) || (whole && *number != std::floor(*number)))
    return wrongType(option, value, {want, rangeText(option), "."});
  if (*number >= option.min && *number <= option.max) return {};
  return refuse(Kind::range, option.name,
                {shortest(*number), " is too ", (*number < option.min ? "small" : "large"), "; use ",
                 rangeText(option), "."});
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
  const std::vector<std::string> labels = labelsOf(value);
  if (labels.empty()) return refuse(Kind::range, option.name, {"there is no word; give at least one."});
  if (static_cast<double>(labels.size()) > option.max)
    return refuse(Kind::range, option.name,
                  {"there are ", labels.size(), " tokens; use at most ", shortest(option.max), "."});
  return checkLabels(labels, 0);
}

Check checkHeads(const State& state, int heads) {
  const int width = state.heads * state.headDim;
  const std::vector<int> allowed = allowedHeads(state);
  if (std::find(allowed.begin(), allowed.end(), heads) != allowed.end()) return {};
  std::vector<std::string> names;
  for (const int n : allowed) names.push_back(std::to_string(n));
  const bool divides = width % heads == 0;
  return refuse(Kind::range, "heads",
                {heads, divides ? " heads of" : " does not divide", " the model width ", width,
                 " (heads × d_k)", divides ? " are too many to show" : "", "; use ", orList(names), "."});
}

}  // namespace

std::span<const Option> options() { return kOptions; }

const Option& option(OptionId id) { return kOptions[static_cast<std::size_t>(id)]; }

const Option* optionNamed(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kOptions), std::end(kOptions), [&](const Option& o) { return o.name == name; });
  return found == std::end(kOptions) ? nullptr : found;
}

Value get(const State& state, OptionId id) {
  switch (id) {
    case OptionId::mode:
      return std::string(kModes[static_cast<std::size_t>(state.mode)]);
    case OptionId::tokens:
      return static_cast<double>(state.tokens);
    case OptionId::labels:
      return state.labels;
    case OptionId::heads:
      return static_cast<double>(state.heads);
    case OptionId::d_k:
      return static_cast<double>(state.headDim);
    case OptionId::model_dim:
      return static_cast<double>(state.modelDim);
    case OptionId::causal:
      return state.causal;
    case OptionId::scale:
      return state.scale;
    case OptionId::temperature:
      return readable(state.temperature);
    case OptionId::focus_head:
      return static_cast<double>(state.focusHead);
    case OptionId::decimals:
      return static_cast<double>(state.decimals);
    case OptionId::theme:
      return std::string(kThemes[static_cast<std::size_t>(state.theme)]);
    case OptionId::seed:
      return static_cast<double>(state.seed);
  }
  return false;
}

void assign(State& state, OptionId id, const Value& value) {
  const auto flag = [&] { return *std::get_if<bool>(&value); };
  const auto number = [&] { return *std::get_if<double>(&value); };
  const auto whole = [&] { return static_cast<int>(number()); };
  const auto choice = [&] {
    const auto choices = option(id).choices;
    return std::find(choices.begin(), choices.end(), *std::get_if<std::string>(&value)) - choices.begin();
  };
  switch (id) {
    case OptionId::mode:
      state.mode = static_cast<Mode>(choice());
      break;
    case OptionId::tokens:
      state.tokens = whole();
      break;
    case OptionId::labels:
      state.labels = labelsOf(value);
      break;
    case OptionId::heads:
      state.heads = whole();
      break;
    case OptionId::d_k:
      state.headDim = whole();
      break;
    case OptionId::model_dim:
      state.modelDim = whole();
      break;
    case OptionId::causal:
      state.causal = flag();
      break;
    case OptionId::scale:
      state.scale = flag();
      break;
    case OptionId::temperature:
      state.temperature = static_cast<float>(number());
      break;
    case OptionId::focus_head:
      state.focusHead = whole();
      break;
    case OptionId::decimals:
      state.decimals = whole();
      break;
    case OptionId::theme:
      state.theme = static_cast<Theme>(choice());
      break;
    case OptionId::seed:
      state.seed = static_cast<std::uint32_t>(number());
      break;
  }
}

std::vector<std::string> labelsOf(const Value& value) {
  if (const std::string* sentence = std::get_if<std::string>(&value)) return splitTokens(*sentence);
  return *std::get_if<std::vector<std::string>>(&value);
}

Check checkAlone(const Option& option, const Value& value) {
  switch (option.type) {
    case OptionType::boolean:
      if (!std::holds_alternative<bool>(value))
        return wrongType(option, value, {"true or false; use one of these."});
      return {};
    case OptionType::integer:
    case OptionType::real:
      return checkNumber(option, value);
    case OptionType::choice:
      return checkChoice(option, value);
    case OptionType::labels:
      return checkLabelList(option, value);
  }
  return {};
}

Check check(const State& state, OptionId id, const Value& value) {
  const Option& o = option(id);
  if (Check bad = checkAlone(o, value)) return bad;
  if (o.type != OptionType::integer && id != OptionId::labels) return {};
  const int number = id == OptionId::labels ? static_cast<int>(labelsOf(value).size())
                     : id == OptionId::seed ? 0
                                            : static_cast<int>(*std::get_if<double>(&value));
  switch (id) {
    case OptionId::labels:
    case OptionId::tokens:
      return checkSizes(o.name, number, state.heads, state.headDim, state.modelDim);
    case OptionId::d_k:
      return checkSizes(o.name, state.tokens, state.heads, number, state.modelDim);
    case OptionId::model_dim:
      return checkSizes(o.name, state.tokens, state.heads, state.headDim, number);
    case OptionId::heads:
      return checkHeads(state, number);
    case OptionId::focus_head:
      if (number < state.heads) return {};
      return refuse(Kind::range, o.name, {number, " is too large; use 0 to ", state.heads - 1, "."});
    default:
      return {};
  }
}

std::vector<int> allowedHeads(const State& state) {
  const int width = state.heads * state.headDim;
  std::vector<int> out;
  for (int n = 1; n <= Limits::heads; ++n)
    if (width % n == 0 && !checkSizes("heads", state.tokens, n, width / n, state.modelDim)) out.push_back(n);
  return out;
}

}  // namespace document
