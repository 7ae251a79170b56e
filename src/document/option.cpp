#include "document/option.h"

#include <algorithm>
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

constexpr std::string_view kViews[] = {
#define VIEW(name) #name,
#include "document/views.def"
};
constexpr std::string_view kExperiments[] = {"none", "spread", "weights", "reach", "block", "segments"};
/// The names that replaced these: the views in the order of kExperiments.
constexpr View kExperimentViews[] = {View::layer,  View::spread, View::dense,
                                     View::memory, View::block,  View::segments};

using Id = OptionId;
using Type = OptionType;

// ---- what the rows of options.def are made of

constexpr Option typed(Member member, Type type, double min = 0, double max = 0) {
  Option option;
  option.member = member, option.type = type, option.min = min, option.max = max;
  option.undoable = !member.isOfView, option.invalidates = member.invalidates;
  return option;
}
constexpr Option toggle(Member member) { return typed(member, Type::boolean); }
constexpr Option whole(Member member, double min, double max) {
  return typed(member, Type::integer, min, max);
}
constexpr Option real(Member member, double min, double max) { return typed(member, Type::real, min, max); }
constexpr Option choice(Member member, std::span<const std::string_view> choices) {
  Option option = typed(member, Type::choice);
  option.choices = choices;
  return option;
}
constexpr Option invalidates(Invalidates what, Option option) {
  option.invalidates = what;
  return option;
}
constexpr Option stored(Stored when, Option option) {
  option.stored = when;
  return option;
}
constexpr Option always(Option option) { return stored(Stored::always, option); }
constexpr Option ofTensors(Option option) {
  option.isOfTensors = true;
  return option;
}
constexpr Option named(Id id, std::string_view name, Option option) {
  option.id = id, option.name = name;
  return option;
}

template <std::size_t kSize>
struct Literal {
  char letters[kSize];
  consteval Literal(const char (&text)[kSize]) { std::copy_n(text, kSize, letters); }
};
/// Choices in the order of their enumeration.
template <Literal... kChoices>
constexpr std::string_view oneOf[] = {kChoices.letters...};

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

template <class Owner, class T>
constexpr bool isOfView(T Owner::*) {
  return std::is_same_v<Owner, ViewSettings>;
}

constexpr Member kNoMember{}, kNoMemberOfView{nullptr, Invalidates::nothing, true};
template <auto kMember>
constexpr Member at{place<kMember>, isOfView(kMember) ? Invalidates::nothing : Invalidates::layer,
                    isOfView(kMember)};
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

constexpr Option kOptions[] = {
#define OPTION(name, row, ...) named(Id::name, #name, row),
#include "document/options.def"
};
/// All descriptions in one array, a line each: a table of pointers to them, or one literal, would keep them
/// in the page's first part.
constexpr char kHelp[] =
#define OPTION(name, row, control, help) help "\n"
#include "document/options.def"
    ;

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
  base::Message why{valueText(value), " is not "};
  return base::Error{ErrorKind::type, std::string(option.name), why += want};
}

Result<void> checkNumber(const Option& option, const Value& value) {
  const double* number = std::get_if<double>(&value);
  const bool isWhole = option.type == Type::integer;
  if (number == nullptr || !std::isfinite(*number) || (isWhole && *number != std::floor(*number)))
    return wrongType(option, value,
                     {isWhole ? "a whole number; use " : "a number; use ", base::shortest(option.min), " to ",
                      base::shortest(option.max), "."});
  if (*number >= option.min && *number <= option.max) return {};
  return base::refuse(
      ErrorKind::range, option.name,
      {base::shortest(*number), *number < option.min ? " is too small; use " : " is too large; use ",
       base::shortest(option.min), " to ", base::shortest(option.max), "."});
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
  if (text == nullptr) return wrongType(option, value, {"a text; use ", base::either(names), "."});
  if (std::find(option.choices.begin(), option.choices.end(), *text) != option.choices.end()) return {};
  return base::refuse(ErrorKind::range, option.name,
                      {base::inQuotes(*text), " is unknown; use ", base::either(names), "."});
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
  base::Message why{heads};
  if (width % heads != 0) why += {" does not divide the model width ", width, " (heads × d_k)"};
  else if (valueWidth % heads != 0)
    why += {" does not divide the ", valueWidth, " columns of all values (heads × d_v)"};
  else if (settings.heads * settings.queryDim % heads != 0)
    why += {" does not divide the ", settings.heads * settings.queryDim,
            " columns of all queries (heads × d_q)"};
  else if (heads % sharing != 0)
    why += {" is no multiple of the ", sharing, " heads that share keys (heads / kv_heads)"};
  else if (settings.position == attention::Position::rotary && width / heads % 2 != 0)
    why += {" heads of ", width / heads, " columns cannot be turned in pairs by rotary positions"};
  else why += {" heads of the model width ", width, " (heads × d_k) are too many to show"};
  return base::Error{ErrorKind::range, "heads", why += {"; use ", base::either(names), "."}};
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
  std::string_view rest(kHelp, sizeof kHelp - 1);
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
