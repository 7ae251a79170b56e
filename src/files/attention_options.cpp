#include "files/attention_options.h"

#include <algorithm>
#include <cmath>

#include "document/number.h"
#include "document/sentence.h"
#include "document/text.h"

namespace files {
namespace layer {
namespace {

using document::inQuotes;
using ErrorKind = Error::Kind;

std::string described(const Setting& setting) {
  if (setting.kind == Setting::Kind::boolean) return setting.boolean ? "true" : "false";
  return setting.kind == Setting::Kind::number ? document::shortest(setting.number) : inQuotes(setting.text);
}

Error wrong(const Setting& setting, std::string_view want) {
  const bool isNumber = setting.kind == Setting::Kind::number;
  return refusal(isNumber ? ErrorKind::range : ErrorKind::type, setting.field, described(setting) + " cannot be used; give " + std::string(want) + ".");
}

Check setFlag(const Setting& setting, bool& to) {
  if (setting.kind != Setting::Kind::boolean) return wrong(setting, "true or false");
  to = setting.boolean;
  return {};
}

Check setWhole(const Setting& setting, int least, std::string_view want, int& to) {
  constexpr double most = static_cast<double>(kLongest);
  const double value = setting.number;
  if (setting.kind != Setting::Kind::number || value != std::floor(value) || value < least || value > most)
    return wrong(setting, want);
  to = static_cast<int>(value);
  return {};
}

Check setReal(const Setting& setting, bool isPositive, std::string_view want, float& to) {
  const auto value = static_cast<float>(std::clamp(setting.number, -1e39, 1e39));
  const bool fits = setting.kind == Setting::Kind::number && std::isfinite(value) && (isPositive ? value > 0 : value >= 0);
  if (!fits) return wrong(setting, want);
  to = value;
  return {};
}

Check setScale(const Setting& setting, Options& options) {
  options.scaleField = setting.field;
  if (setting.kind == Setting::Kind::boolean) {
    options.scale = setting.boolean ? std::nullopt : std::optional(1.0f);
    return {};
  }
  const auto value = static_cast<float>(std::clamp(setting.number, -1e39, 1e39));
  if (setting.kind != Setting::Kind::number || !std::isfinite(value))
    return wrong(setting, "a number such as 0.125, true for 1/√d or false for 1");
  options.scale = value;
  return {};
}

Check setWord(const Setting& setting, std::string_view first, std::string_view second, bool& isSecond) {
  isSecond = setting.kind == Setting::Kind::text && setting.text == second;
  if (isSecond || (setting.kind == Setting::Kind::text && setting.text == first)) return {};
  return wrong(setting, inQuotes(first) + " or " + inQuotes(second));
}

/// The value of a setting as the board's option table has it. A list is JSON, [0, 2]; labels may be a sentence too.
document::Value valueOf(const Setting& setting) {
  if (setting.kind == Setting::Kind::boolean) return setting.boolean;
  if (setting.kind == Setting::Kind::number) return setting.number;
  if (setting.text.starts_with('['))
    if (auto list = document::valueFromJson(setting.text, setting.field)) return *list;
  return setting.text;
}

/// Options that mean the same for the board: its table reads and describes them.
constexpr std::string_view kSharedOptions[] = {
    "score",         "normalizer",    "position",       "causal_offset",  "key_length",    "prefix",
    "pattern",       "pattern_local", "pattern_dilation",
    "pattern_stride", "pattern_block", "pattern_global", "pattern_random", "pattern_seed",  "mask_after_softmax",
    "block_residual", "block_norm",    "block_activation", "block_hidden", "block_dropout", "block_epsilon",
    "block_seed",     "segment_by",    "segment_tokens", "segment_seed"};

Check setShared(const Setting& setting, Options& options) {
  const document::Option& option = *document::optionNamed(setting.name);
  if (Check bad = document::checkAlone(option, valueOf(setting))) return inField(*bad, setting.field);
  if (option.id == document::OptionId::pattern && setting.text == "custom")
    return wrong(setting, "the name of a pattern, or pattern_local, pattern_block or another of its parts");
  document::assign(options.shared, option.id, valueOf(setting));
  options.sharedSettings.push_back(setting);
  return {};
}

/// One entry gives an option of tensors files: its name, its line of help, and how it is read.
struct Entry {
  std::string_view name, help;
  Check (*read)(const Setting&, Options&);
};

constexpr Entry kOptions[] = {
    {"causal", "true: a query sees no key after its own position",
     [](const Setting& s, Options& o) { return setFlag(s, o.causal); }},
    {"scale", "what scores are multiplied by; 1/√d where it is not given", setScale},
    {"softcap", "c in c·tanh(s/c), after the scale and before the mask; 0: none",
     [](const Setting& s, Options& o) { return setReal(s, false, "a number of 0 (none) or more", o.softcap); }},
    {"temperature", "what masked scores are divided by, more than 0",
     [](const Setting& s, Options& o) { return setReal(s, true, "a number above 0", o.temperature); }},
    {"window_left", "how many keys before its own position a query sees; -1: all",
     [](const Setting& s, Options& o) { return setWhole(s, -1, "a whole number from -1 (no bound) to 16777216", o.windowLeft); }},
    {"window_right", "how many keys after it; -1: all",
     [](const Setting& s, Options& o) { return setWhole(s, -1, "a whole number from -1 (no bound) to 16777216", o.windowRight); }},
    {"heads", "of q; the packed layout needs it",
     [](const Setting& s, Options& o) {
       o.headsField = s.field;
       return setWhole(s, 1, "a whole number from 1 to 16777216", o.heads);
     }},
    {"kv_heads", "of k and v, which divides heads; the packed layout takes heads where it is not given",
     [](const Setting& s, Options& o) {
       o.kvHeadsField = s.field;
       return setWhole(s, 1, "a whole number from 1 to 16777216", o.kvHeads);
     }},
    {"layout", "split: heads have an axis; packed: they lie side by side in the columns",
     [](const Setting& s, Options& o) { return setWord(s, "split", "packed", o.isPacked); }},
};

}  // namespace

Check setOption(const Setting& setting, Options& options) {
  std::vector<std::string> names;
  for (const Entry& entry : kOptions) {
    if (entry.name == setting.name) return entry.read(setting, options);
    names.emplace_back(entry.name);
  }
  for (const std::string_view name : kSharedOptions) {
    if (name == setting.name) return setShared(setting, options);
    names.emplace_back(name);
  }
  return refusal(ErrorKind::range, setting.field, "the option is unknown; use " + document::orList(names) + ".");
}

Check applySetting(const Setting& setting, document::State& state) {
  const document::Option* option = document::optionNamed(setting.name);
  if (!option) {
    std::vector<std::string> names;
    for (const document::Option& known : document::options()) names.emplace_back(known.name);
    return refusal(ErrorKind::range, setting.field, "the option is unknown for a state; use " + document::orList(names) + ".");
  }
  const document::Edit edit = document::SetOption{option->id, valueOf(setting)};
  if (Check bad = document::check(state, edit)) return inField(*bad, "--set " + bad->field);
  document::apply(state, edit);
  return {};
}

bool isScaled(const Options& options) { return options.shared.score == attention::Score::scaled; }

bool isGiven(const Options& options, std::string_view name) {
  return std::any_of(options.sharedSettings.begin(), options.sharedSettings.end(), [&](const Setting& s) { return s.name == name; });
}

std::string fieldOf(const Options& options, std::string_view name) {
  std::string field = "options." + std::string(name);
  for (const Setting& setting : options.sharedSettings)
    if (setting.name == name) field = setting.field;
  return field;
}

Error inField(const Error& error, std::string_view field) {
  const std::size_t sentence = error.message.starts_with(error.field + ": ") ? error.field.size() + 2 : 0;
  return refusal(error.kind, field, std::string_view(error.message).substr(sentence));
}

void sizePattern(Options& options, std::int64_t keys) {
  document::Settings& shared = options.shared;
  shared.pattern = {}, shared.keyTokens = static_cast<int>(keys);
  for (const Setting& setting : options.sharedSettings)
    document::assign(shared, document::optionNamed(setting.name)->id, valueOf(setting));
}

}  // namespace layer

std::string optionsHelp() {
  std::string out;
  const auto add = [&out](std::string_view option, std::string_view help) {
    out += "  " + std::string(option);
    out.append(20 - option.size(), ' ');
    out += std::string(help) + "\n";
  };
  for (const layer::Entry& entry : layer::kOptions) add(entry.name, entry.help);
  for (const std::string_view shared : layer::kSharedOptions) {
    const document::Option& option = *document::optionNamed(shared);
    std::string words;
    for (const std::string_view choice : option.choices)
      if (choice != "custom") words += (words.empty() ? ": " : ", ") + std::string(choice);
    add(shared, std::string(option.help) + words);
  }
  return out;
}

}  // namespace files
