// The options of options.def: their types and ranges, reading, checking and setting them.
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
#define OPTION(name, ...) name,
#include "document/options.def"
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
  bool isOfView = false;  ///< of ViewSettings
};

struct Option {
  OptionId id{};
  std::string_view name;  ///< as in the state text
  Member member{};
  OptionType type{};
  double min = 0, max = 0;                      ///< range of integer, real and scale
  std::span<const std::string_view> choices{};  ///< of choice
  bool undoable = true;                         ///< false for view options: focus_head, decimals, theme …
  Stored stored = Stored::ifSet;
  Invalidates invalidates = Invalidates::layer;
  bool isOfTensors = false;  ///< may it be given with a file of tensors, as to `attn run`?
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
