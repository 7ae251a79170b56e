#include "files/layout/attention_options.h"

#include <algorithm>
#include <cfloat>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"
#include "document/text.h"

namespace files {
namespace layer {
namespace {

using attention::Limits;
using base::inQuotes;
using ErrorKind = Error::Kind;

std::string described(const Setting& setting) {
  if (setting.kind == Setting::Kind::boolean) return setting.boolean ? "true" : "false";
  return setting.kind == Setting::Kind::number ? base::shortest(setting.number)
                                               : base::inQuotes(setting.text);
}

Result<void> wrong(const Setting& setting, const base::Piece& want) {
  const bool isNumber = setting.kind == Setting::Kind::number;
  return base::refuse(isNumber ? ErrorKind::range : ErrorKind::type, setting.field,
                      {described(setting), " cannot be used; give ", want, "."});
}

Result<void> unknown(const Setting& setting, const char* where, const std::vector<std::string>& names) {
  return base::refuse(ErrorKind::range, setting.field,
                      {"the option is unknown", where, "; perhaps ",
                       base::either(base::nearest(setting.name, names, 3)), " was meant."});
}

Result<void> setFlag(const Setting& setting, bool& to) {
  if (setting.kind != Setting::Kind::boolean) return wrong(setting, "true or false");
  to = setting.boolean;
  return {};
}

Result<void> setWhole(const Setting& setting, int least, const char* want, int& to) {
  constexpr double most = static_cast<double>(kLongest);
  const double value = setting.number;
  if (setting.kind != Setting::Kind::number || value != std::floor(value) || value < least || value > most)
    return wrong(setting, want);
  to = static_cast<int>(value);
  return {};
}

Result<void> setReal(const Setting& setting, float least, float most, const char* want, float& to) {
  const auto value = static_cast<float>(std::clamp(setting.number, -1e39, 1e39));
  if (setting.kind != Setting::Kind::number || !(value >= least && value <= most))
    return wrong(setting, want);
  to = value;
  return {};
}

Result<void> setScale(const Setting& setting, Options& options) {
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

Result<void> setWord(const Setting& setting, std::string_view first, std::string_view second,
                     bool& isSecond) {
  isSecond = setting.kind == Setting::Kind::text && setting.text == second;
  if (isSecond || (setting.kind == Setting::Kind::text && setting.text == first)) return {};
  return wrong(setting, base::inQuotes(first) + " or " + base::inQuotes(second));
}

/// The value of a setting as the board's options take it. A list is written as JSON, [0, 2]; labels may also
/// be a sentence.
document::Value valueOf(const Setting& setting) {
  if (setting.kind == Setting::Kind::boolean) return setting.boolean;
  if (setting.kind == Setting::Kind::number) return setting.number;
  if (setting.text.starts_with('['))
    if (auto list = document::valueFromJson(setting.text, setting.field)) return *list;
  return setting.text;
}

/// The option of that name if it means the same as on the board, whose table parses and describes it.
const document::Option* sharedOption(std::string_view name) {
  const document::Option* option = document::optionNamed(name);
  return option && option->isOfTensors ? option : nullptr;
}

Result<void> setShared(const Setting& setting, const document::Option& option, Options& options) {
  if (auto ok = document::checkAlone(option, valueOf(setting)); !ok)
    return inField(ok.error(), setting.field);
  if (option.id == document::OptionId::pattern && setting.text == "custom")
    return wrong(setting, "the name of a pattern, or pattern_local, pattern_block or another of its parts");
  document::assign(options.shared, option.id, valueOf(setting));
  options.sharedSettings.push_back(setting);
  return {};
}

/// An option of tensors files: its name, its one-line description, and how it is parsed.
struct Entry {
  std::string_view name, help;
  Result<void> (*read)(const Setting&, Options&);
};

constexpr Entry kOptions[] = {
    {"causal", "true: a query sees no key after its own position",
     [](const Setting& s, Options& o) { return setFlag(s, o.causal); }},
    {"scale", "what scores are multiplied by (default 1/√d)", setScale},
    {"softcap", "c in c·tanh(s/c), after the scale and before the mask; 0: none",
     [](const Setting& s, Options& o) {
       return setReal(s, 0, FLT_MAX, "a number of 0 (none) or more", o.softcap);
     }},
    {"temperature", "what masked scores are divided by, 1e-06 to 1000000",
     [](const Setting& s, Options& o) {
       return setReal(s, Limits::coldest, Limits::hottest, "a number from 1e-06 to 1000000", o.temperature);
     }},
    {"window_left", "how many keys before its own position a query sees; -1: all",
     [](const Setting& s, Options& o) {
       return setWhole(s, -1, "a whole number from -1 (no bound) to 16777216", o.windowLeft);
     }},
    {"window_right", "how many keys after it; -1: all",
     [](const Setting& s, Options& o) {
       return setWhole(s, -1, "a whole number from -1 (no bound) to 16777216", o.windowRight);
     }},
    {"heads", "of q; the packed layout needs it",
     [](const Setting& s, Options& o) {
       o.headsField = s.field;
       return setWhole(s, 1, "a whole number from 1 to 16777216", o.heads);
     }},
    {"kv_heads", "of k and v, a divisor of heads (default in the packed layout: heads)",
     [](const Setting& s, Options& o) {
       o.kvHeadsField = s.field;
       return setWhole(s, 1, "a whole number from 1 to 16777216", o.kvHeads);
     }},
    {"layout", "split: heads have an axis; packed: they lie side by side in the columns",
     [](const Setting& s, Options& o) { return setWord(s, "split", "packed", o.isPacked); }},
};

}  // namespace

bool isOption(std::string_view name) {
  return std::any_of(std::begin(kOptions), std::end(kOptions),
                     [&](const Entry& entry) { return entry.name == name; }) ||
         sharedOption(name) != nullptr;
}

Result<void> setOption(const Setting& setting, Options& options) {
  std::vector<std::string> names;
  for (const Entry& entry : kOptions) {
    if (entry.name == setting.name) return entry.read(setting, options);
    names.emplace_back(entry.name);
  }
  if (const auto* shared = sharedOption(setting.name)) return setShared(setting, *shared, options);
  for (const document::Option& option : document::options())
    if (option.isOfTensors) names.emplace_back(option.name);
  return unknown(setting, "", names);
}

std::string optionsText(const document::Settings& settings) {
  document::Settings start;  // the defaults of a tensors file
  start.causal = false;
  std::string out = std::string("{\"mode\": ") + (settings.mode == document::Mode::x ? "\"x\"" : "\"qkv\"");
  const auto add = [&](std::string_view name) {
    const document::Option* option = document::optionNamed(name);
    if (!option || name == "heads" || name == "kv_heads") return;
    const document::Value value = document::get(settings, option->id);
    if (name == "pattern" || value == document::get(start, option->id)) return;
    out += ", \"" + std::string(name) + "\": " + document::toJson(value);
  };
  for (const Entry& entry : kOptions) add(entry.name);
  for (const document::Option& option : document::options())
    if (option.isOfTensors) add(option.name);
  if (settings.mode == document::Mode::x)
    out += ", \"heads\": " + std::to_string(settings.heads) +
           ", \"kv_heads\": " + std::to_string(settings.kvHeads);
  return out + "}";
}

Result<void> applySetting(const Setting& setting, document::State& state) {
  const document::Option* option = document::optionNamed(setting.name);
  if (!option) {
    std::vector<std::string> names;
    for (const document::Option& known : document::options()) names.emplace_back(known.name);
    return unknown(setting, " for a state", names);
  }
  const document::Edit edit = document::SetOption{option->id, valueOf(setting)};
  if (auto ok = document::check(state, edit); !ok) return inField(ok.error(), "--set " + ok.error().field);
  document::apply(state, edit);
  return {};
}

bool isScaled(const Options& options) { return options.shared.score == attention::Score::scaled; }

bool isGiven(const Options& options, std::string_view name) {
  return std::any_of(options.sharedSettings.begin(), options.sharedSettings.end(),
                     [&](const Setting& s) { return s.name == name; });
}

std::string fieldOf(const Options& options, std::string_view name) {
  std::string field = "options." + std::string(name);
  for (const Setting& setting : options.sharedSettings)
    if (setting.name == name) field = setting.field;
  return field;
}

Error inField(const Error& error, std::string_view field) {
  return {error.kind, std::string(field), error.isSubject ? error.said() : error.sentence};
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
  for (const document::Option& option : document::options()) {
    if (!option.isOfTensors) continue;
    std::string words;
    for (const std::string_view choice : option.choices)
      if (choice != "custom") words += (words.empty() ? ": " : ", ") + std::string(choice);
    add(option.name, std::string(document::helpOn(option.id)) + words);
  }
  return out;
}

}  // namespace files
