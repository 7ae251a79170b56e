#include "io/attention_file.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "attention/forward.h"
#include "document/around.h"
#include "document/document.h"
#include "document/number.h"
#include "document/sentence.h"
#include "document/text.h"

namespace io {
namespace {

namespace kernels = attention::kernels;
using attention::Tensor;
using document::AroundId;
using document::inQuotes;
using document::shapeText;
using ErrorKind = Error::Kind;
using Shape = std::vector<std::int64_t>;

constexpr std::array<std::string_view, 7> kOutputNames{"output", "weights",   "scores",   "softcapped",
                                                       "masked", "present_k", "present_v"};
constexpr std::int64_t kMost = std::int64_t{1} << 60;  ///< products of sizes stop here
constexpr std::int64_t kLongest = std::int64_t{1} << 24;  ///< of one axis: beyond it, lengths are no exact floats

std::int64_t times(std::int64_t a, std::int64_t b) { return b > 0 && a > kMost / b ? kMost : a * b; }

std::int64_t countOf(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = times(count, size);
  return count;
}

std::string number(std::int64_t value) { return std::to_string(value); }

bool isAround(OutputId id) { return id >= OutputId::around; }
AroundId aroundOf(OutputId id) { return static_cast<AroundId>(static_cast<int>(id) - static_cast<int>(OutputId::around)); }

// ------------------------------------------------------------------------------------------------------------ options

struct Options {
  bool causal = false, isPacked = false;
  std::optional<float> scale;
  float softcap = 0, temperature = 1;
  int windowLeft = -1, windowRight = -1;
  int heads = 0, kvHeads = 0;  ///< 0: not given
  std::string scaleField = "options.scale", headsField = "options.heads", kvHeadsField = "options.kv_heads";
  document::Settings shared;  ///< score and the others of kSharedOptions
  std::vector<Setting> sharedSettings;  ///< that gave them, the latest last
};

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

/// What the board says is wrong, said of `field`.
Error inField(const Error& error, std::string_view field) {
  const std::size_t sentence = error.message.starts_with(error.field + ": ") ? error.field.size() + 2 : 0;
  return refusal(error.kind, field, std::string_view(error.message).substr(sentence));
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

// ------------------------------------------------------------------------------------------------------------- shapes

/// Sizes of a tensor with all axes, and how far apart its parts lie, in floats.
struct View {
  std::int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;
};

View splitView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
  View view{batch, heads, rows, columns};
  view.batchStride = heads * rows * columns, view.headStride = rows * columns, view.rowStride = columns;
  return view;
}
View packedView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns) {
  View view{batch, heads, rows, columns};
  view.batchStride = heads * rows * columns, view.headStride = columns, view.rowStride = heads * columns;
  return view;
}

/// What is computed: the sizes of everything, known to fit each other.
struct Problem {
  Options options;
  std::size_t rank = 0;  ///< of q, k and v in the file
  View q, k, v;          ///< of the new keys; past ones come before
  std::int64_t past = 0;
  std::int64_t keys() const { return past + k.rows; }
};

Check checkAxes(std::string_view name, const Array& array) {
  for (const std::int64_t size : array.shape)
    if (size > kLongest)
      return refusal(ErrorKind::range, std::string(name) + ".shape", shapeText(array.shape) + " has a size above 16777216; give smaller tensors.");
  return {};
}

std::string wantedShape(bool isPacked) {
  return isPacked ? "[batch, tokens, heads · columns] or [tokens, heads · columns]"
                  : "[tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, columns]";
}

Check viewOf(std::string_view name, const Array& array, const Options& options, int heads, const std::string& headsField, View& view) {
  const std::string field = std::string(name) + ".shape";
  const Shape& shape = array.shape;
  const std::size_t rank = shape.size();
  if (rank < 2 || rank > (options.isPacked ? 3u : 4u))
    return refusal(ErrorKind::range, field,
                   shapeText(shape) + " has " + number(static_cast<std::int64_t>(rank)) + (rank == 1 ? " size" : " sizes") +
                       (options.isPacked ? ", which does not fit the packed layout" : "") + "; use " + wantedShape(options.isPacked) + ".");
  if (Check bad = checkAxes(name, array)) return bad;
  const std::int64_t columns = shape[rank - 1], rows = shape[rank - 2];
  if (!options.isPacked) {
    view = splitView(rank == 4 ? shape[0] : 1, rank >= 3 ? shape[rank - 3] : 1, rows, columns);
    if (heads != 0 && heads != view.heads)
      return refusal(ErrorKind::range, headsField,
                     number(heads) + " does not fit " + field + " " + shapeText(shape) + ", which has " + number(view.heads) +
                         (view.heads == 1 ? " head" : " heads") + "; make them agree, or set layout to \"packed\" to split columns.");
  } else {
    if (columns % heads != 0)
      return refusal(ErrorKind::range, headsField,
                     number(heads) + " does not divide the " + number(columns) + " columns of " + field + " " + shapeText(shape) + "; give one that does.");
    view = packedView(rank == 3 ? shape[0] : 1, heads, rows, columns / heads);
  }
  if (view.batch < 1 || view.heads < 1 || view.columns < 1)
    return refusal(ErrorKind::range, field, shapeText(shape) + " has a size of 0; only the count of tokens may be 0.");
  return {};
}

Check agree(std::string_view name, std::string_view what, std::int64_t have, std::string_view other, std::int64_t want) {
  if (have == want) return {};
  return refusal(ErrorKind::range, std::string(name) + ".shape",
                 std::string(what) + " " + number(have) + " does not fit the " + number(want) + " of " + std::string(other) + "; give as many.");
}

bool isScaled(const Options& options) { return options.shared.score == attention::Score::scaled; }

std::string scoreName(const Options& options) {
  return std::get<std::string>(document::get(options.shared, document::OptionId::score));
}

/// Shapes and options against each other, for q, k and v.
Check fit(const TensorsFile& file, Problem& problem) {
  Options& options = problem.options;
  if (options.isPacked && options.heads == 0)
    return refusal(ErrorKind::range, options.headsField, "it is missing; the packed layout needs the count of heads.");
  const int kvHeads = options.kvHeads == 0 && options.isPacked ? options.heads : options.kvHeads;
  const std::string& kvField = options.kvHeads == 0 ? options.headsField : options.kvHeadsField;
  if (!isScaled(options) && options.scale && *options.scale != 1.0f)
    return refusal(ErrorKind::range, options.scaleField,
                   "only the score \"scaled\" has one, and not " + inQuotes(scoreName(options)) + "; leave it out, or use that score.");
  if (Check bad = viewOf("q", *file.q, options, options.heads, options.headsField, problem.q)) return bad;
  if (Check bad = viewOf("k", *file.k, options, kvHeads, kvField, problem.k)) return bad;
  if (Check bad = viewOf("v", *file.v, options, kvHeads, kvField, problem.v)) return bad;
  problem.rank = file.q->shape.size();
  for (const auto& [name, array] : {std::pair("k", &*file.k), std::pair("v", &*file.v)})
    if (array->shape.size() != problem.rank)
      return refusal(ErrorKind::range, std::string(name) + ".shape",
                     shapeText(array->shape) + " does not have the rank of q, " + shapeText(file.q->shape) + "; give them the same.");
  const View &q = problem.q, &k = problem.k, &v = problem.v;
  if (Check bad = agree("k", "a batch of", k.batch, "q", q.batch)) return bad;
  if (Check bad = agree("v", "a batch of", v.batch, "q", q.batch)) return bad;
  if (Check bad = agree("v", "a head count of", v.heads, "k", k.heads)) return bad;
  if (q.heads % k.heads != 0)
    return refusal(ErrorKind::range, options.kvHeads == 0 ? "k.shape" : options.kvHeadsField,
                   number(k.heads) + " key heads do not divide the " + number(q.heads) + " heads of q; give a divisor of " + number(q.heads) + ".");
  if (Check bad = agree("k", "a column count of", k.columns, "q", q.columns)) return bad;
  return agree("v", "a token count of", v.rows, "k", k.rows);
}

/// past_k or past_v against k or v: [B, H, P, d] in the rank of k, and always with its heads in front.
Check fitPast(std::string_view name, std::string_view to, const Array& past, const View& view, const Problem& problem) {
  const Shape& shape = past.shape;
  const std::size_t rank = problem.options.isPacked ? problem.rank + 1 : problem.rank;
  Shape want{view.batch, view.heads, -1, view.columns};
  want.erase(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(4 - rank));
  bool fits = shape.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) fits = want[i] == -1 || want[i] == shape[i];
  if (!fits) {
    std::string text = shapeText(want);
    text.replace(text.find("-1"), 2, "past");
    return refusal(ErrorKind::range, std::string(name) + ".shape",
                   shapeText(shape) + " does not fit " + std::string(to) + "; it must be " + text + ".");
  }
  return checkAxes(name, past);
}

Check fitPasts(const TensorsFile& file, Problem& problem) {
  if (!file.pastK && !file.pastV) return {};
  if (!file.pastK || !file.pastV)
    return refusal(ErrorKind::type, file.pastK ? "past_v" : "past_k",
                   std::string("it is missing; ") + (file.pastK ? "past_k" : "past_v") + " is given, and one needs the other.");
  if (Check bad = fitPast("past_k", "k", *file.pastK, problem.k, problem)) return bad;
  if (Check bad = fitPast("past_v", "v", *file.pastV, problem.v, problem)) return bad;
  const Shape &k = file.pastK->shape, &v = file.pastV->shape;
  if (Check bad = agree("past_v", "a token count of", v[v.size() - 2], "past_k", k[k.size() - 2])) return bad;
  problem.past = k[k.size() - 2];
  if (problem.keys() > kLongest)
    return refusal(ErrorKind::range, "past_k.shape", number(problem.keys()) + " keys with those of k are too many; give at most 16777216.");
  return {};
}

Check fitLengths(const Array& lengths, const Problem& problem) {
  if (lengths.shape != Shape{problem.q.batch})
    return refusal(ErrorKind::range, "key_lengths.shape",
                   shapeText(lengths.shape) + " does not fit the batch; give one length each, " + shapeText({problem.q.batch}) + ".");
  for (std::size_t b = 0; b < lengths.values.size(); ++b) {
    const float length = lengths.values[b];
    if (length != std::floor(length) || length < 0 || length > static_cast<float>(problem.keys()))
      return refusal(ErrorKind::range, "key_lengths[" + number(static_cast<std::int64_t>(b)) + "]",
                     document::shortest(length) + " is no length of " + number(problem.keys()) + " keys; give a whole number from 0 to " + number(problem.keys()) + ".");
  }
  return {};
}

// -------------------------------------------------------------------------------------------------------------- mask

/// A mask with a column for every key: [batch or 1, heads or 1, queries or 1, keys].
struct Mask {
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;  ///< 0 where shared
  std::vector<std::uint8_t> blocked;
  std::vector<float> bias;
};

Check fitMask(const Array& mask, const Problem& problem) {
  const Shape full{problem.q.batch, problem.q.heads, problem.q.rows, problem.keys()};
  const Shape& shape = mask.shape;
  bool fits = !shape.empty() && shape.size() <= 4;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const std::int64_t size = shape[shape.size() - 1 - i], want = full[3 - i];
    fits = i == 0 ? size <= want : size == want || size == 1;
  }
  if (fits) return {};
  return refusal(ErrorKind::range, "mask.shape",
                 shapeText(shape) + " cannot be broadcast to " + shapeText(full) +
                     ", [batch, heads, queries, keys]; from the right, each size must be that or 1, and that of keys may be smaller.");
}

/// Cells that are painted over, rather than numbers that are added to scores.
bool isPainted(const Array& mask) { return mask.type == Array::Type::boolean; }
bool hasHeads(const Array& mask) { return mask.shape.size() >= 3 && mask.shape[mask.shape.size() - 3] != 1; }

std::int64_t maskBytes(const Array& mask, const Problem& problem) {
  Shape shape = mask.shape;
  shape.back() = problem.keys();
  return times(countOf(shape), isPainted(mask) ? 1 : 4);
}

Mask maskOf(Array array, const Problem& problem) {
  Shape shape = array.shape;
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  const std::int64_t given = shape[3], keys = problem.keys();
  const std::int64_t rows = shape[0] * shape[1] * shape[2];
  Mask mask;
  mask.rowStride = shape[2] == 1 ? 0 : keys;
  mask.headStride = shape[1] == 1 ? 0 : shape[2] * keys;
  mask.batchStride = shape[0] == 1 ? 0 : shape[1] * shape[2] * keys;
  const bool isBool = isPainted(array);
  if (!isBool && given == keys) {
    mask.bias = std::move(array.values);
    return mask;
  }
  const auto total = static_cast<std::size_t>(rows * keys);
  if (isBool) mask.blocked.assign(total, 1);
  else mask.bias.assign(total, -std::numeric_limits<float>::infinity());
  for (std::int64_t r = 0; r < rows; ++r) {
    const float* from = array.values.data() + r * given;
    for (std::int64_t c = 0; c < given; ++c) {
      if (isBool) mask.blocked[static_cast<std::size_t>(r * keys + c)] = from[c] == 0.0f;
      else mask.bias[static_cast<std::size_t>(r * keys + c)] = from[c];
    }
  }
  return mask;
}

// ------------------------------------------------------------------------------------------------------------- traced

constexpr std::int64_t kTraceMatrices = 8;  ///< of scores, in a Trace at most

bool asksAround(const RunRequest& request) {
  return std::any_of(request.outputs.begin(), request.outputs.end(), isAround);
}

/// Is the layer one that the kernels do not compute at a stretch, but the board's engine does, with all its steps? The
/// block and the segments read those.
bool isTraced(const Options& options, const RunRequest& request) {
  if (asksAround(request)) return true;
  document::Settings settings = options.shared;
  settings.keyTokens = settings.prefix;  // a prefix ends with the keys, which are not known here
  return !attention::isPlain(document::spec(settings));
}

/// What the options say of the layer, with the sizes of the file.
document::Settings settingsOf(const Problem& problem) {
  const Options& options = problem.options;
  document::Settings settings = options.shared;
  settings.tokens = static_cast<int>(problem.q.rows), settings.keyTokens = static_cast<int>(problem.keys());
  settings.heads = static_cast<int>(problem.q.heads), settings.kvHeads = static_cast<int>(problem.k.heads);
  settings.headDim = static_cast<int>(problem.q.columns), settings.valueDim = static_cast<int>(problem.v.columns);
  // A factor of 0 is the smallest there is: for the board 0 stands for 1/√d.
  const bool isNothing = options.scale == 0.0f;
  settings.scaleBy = isNothing ? std::numeric_limits<float>::denorm_min() : options.scale.value_or(0.0f);
  settings.softcap = options.softcap, settings.temperature = options.temperature;
  settings.causal = options.causal;
  settings.windowLeft = options.windowLeft, settings.windowRight = options.windowRight;
  return settings;
}

/// Where an option was given.
std::string fieldOf(const Options& options, std::string_view name) {
  std::string field = "options." + std::string(name);
  for (const Setting& setting : options.sharedSettings)
    if (setting.name == name) field = setting.field;
  return field;
}

bool isGiven(const Options& options, std::string_view name) {
  return std::any_of(options.sharedSettings.begin(), options.sharedSettings.end(), [&](const Setting& s) { return s.name == name; });
}

/// A pattern that was given by its name has sizes that go with the count of keys, which was not known then.
void sizePattern(Problem& problem) {
  document::Settings& shared = problem.options.shared;
  shared.pattern = {}, shared.keyTokens = static_cast<int>(problem.keys());
  for (const Setting& setting : problem.options.sharedSettings)
    document::assign(shared, document::optionNamed(setting.name)->id, valueOf(setting));
}

/// What options and tensors both may say is said once.
Check fitOffsets(const TensorsFile& file, const Options& options) {
  const auto refused = [&](std::string_view name, std::string_view by) {
    return refusal(ErrorKind::range, fieldOf(options, name), std::string(by) + " says it already; leave one of the two out.");
  };
  if (file.pastK && isGiven(options, "causal_offset")) return refused("causal_offset", "past_k");
  if (file.keyLengths && isGiven(options, "causal_offset")) return refused("causal_offset", "key_lengths");
  if (file.keyLengths && isGiven(options, "key_length")) return refused("key_length", "key_lengths");
  return {};
}

Check checkMost(std::string_view field, std::int64_t have, std::string_view what, std::int64_t most) {
  if (have <= most) return {};
  return refusal(ErrorKind::range, field, number(have) + " " + std::string(what) + " are too many for these options and outputs; give at most " + number(most) + ".");
}

/// What the block and the segments need; the sizes are known to be those of the board.
Check checkAround(const TensorsFile& file, const Problem& problem) {
  const document::Settings settings = settingsOf(problem);
  const std::int64_t width = problem.q.heads * problem.v.columns;
  if (Check bad = checkMost("v.shape", width, "columns of all heads", attention::Limits::modelDim)) return bad;
  for (const auto& [field, tokens] : {std::pair("q.shape", problem.q.rows), std::pair("k.shape", problem.keys())})
    if (tokens == 0) return refusal(ErrorKind::range, field, "there are no tokens, and nothing around the layer to compute; give at least one.");
  if (settings.segments.by == document::SegmentBy::punctuation)
    return refusal(ErrorKind::range, fieldOf(problem.options, "segment_by"),
                   "\"punctuation\" ends segments at labels, and q, k and v have none; use \"tokens\", or give a state.");
  for (std::size_t i = 0; i < file.parameters.size(); ++i)
    if (const auto& array = file.parameters[i])
      if (Check bad = document::checkShape(settings, static_cast<document::ParameterId>(i), array->shape)) return bad;
  return {};
}

Check checkTraced(const TensorsFile& file, const Problem& problem, const RunRequest& request) {
  using attention::Limits;
  if (request.kernel)
    return refusal(ErrorKind::range, "--kernel", "a layer with these options or outputs is computed as the board does, by its fastest kernel; leave it out.");
  if (Check bad = checkMost("q.shape", problem.q.rows, "tokens", Limits::tokens)) return bad;
  if (Check bad = checkMost("k.shape", problem.keys(), "tokens", Limits::tokens)) return bad;
  if (Check bad = checkMost("q.shape", problem.q.heads, "heads", Limits::heads)) return bad;
  if (Check bad = checkMost("q.shape", problem.q.columns, "columns", Limits::headDim)) return bad;
  if (Check bad = checkMost("v.shape", problem.v.columns, "columns", Limits::headDim)) return bad;
  const document::Settings& shared = problem.options.shared;
  if (shared.position == attention::Position::sinusoidal)
    return refusal(ErrorKind::range, fieldOf(problem.options, "position"),
                   "sinusoidal positions are added to X, and there is q instead; use \"rotary\", \"alibi\" or \"none\", or give x and its weights.");
  if (shared.maskAfterSoftmax && file.mask && isPainted(*file.mask) && hasHeads(*file.mask))
    return refusal(ErrorKind::range, "mask.shape",
                   shapeText(file.mask->shape) + " has a mask for every head, and after the softmax one is for all; give one, or numbers to be added.");
  if (Check bad = document::checkTogether("", settingsOf(problem))) return inField(*bad, fieldOf(problem.options, bad->field));
  return asksAround(request) ? checkAround(file, problem) : Check();
}

/// A matrix for each head, or the one of a single head.
Tensor tensorOf(const Array& array) {
  Shape shape = array.shape;
  shape.insert(shape.begin(), shape.size() < 3 ? 3 - shape.size() : 0, 1);
  const auto size = [&](std::size_t axis) { return static_cast<int>(shape[axis]); };
  Tensor tensor(shape.size() > 3 ? size(0) * size(1) : size(0), size(shape.size() - 2), size(shape.size() - 1));
  std::copy(array.values.begin(), array.values.end(), tensor.data());
  return tensor;
}

// ------------------------------------------------------------------------------------------------------------ memory

std::string bytesText(std::int64_t bytes) {
  constexpr std::int64_t mega = 1'000'000, giga = 1000 * mega, tera = 1000 * giga;
  if (bytes >= 1000 * tera) return "more than 1000 TB";
  if (bytes >= tera) return number(bytes / tera) + " TB";
  return bytes >= 10 * giga ? number(bytes / giga) + " GB" : number((bytes + mega - 1) / mega) + " MB";
}

Shape outputShape(OutputId id, const Problem& problem) {
  const View& q = problem.q;
  const bool isPacked = problem.options.isPacked;
  if (isAround(id)) {
    const document::ParameterShape size = document::shapeOf(settingsOf(problem), aroundOf(id));
    const bool isBatch = problem.rank == (isPacked ? 3 : 4) && !document::parameterOf(aroundOf(id));
    return isBatch ? Shape{q.batch, size.rows, size.cols} : Shape{size.rows, size.cols};
  }
  Shape shape;
  if (id == OutputId::output && isPacked) {
    shape = {q.batch, q.rows, q.heads * problem.v.columns};
    return problem.rank == 3 ? shape : Shape(shape.begin() + 1, shape.end());
  }
  if (id == OutputId::output) shape = {q.batch, q.heads, q.rows, problem.v.columns};
  else if (id == OutputId::presentK) shape = {q.batch, problem.k.heads, problem.keys(), problem.k.columns};
  else if (id == OutputId::presentV) shape = {q.batch, problem.v.heads, problem.keys(), problem.v.columns};
  else shape = {q.batch, q.heads, q.rows, problem.keys()};
  const std::size_t rank = isPacked ? problem.rank + 1 : problem.rank;
  // A tensor without an axis of heads has one head.
  shape.erase(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(4 - rank));
  return shape;
}

std::int64_t freeMemory(const RunRequest& request) { return request.freeMemory ? request.freeMemory() : 0; }

Check checkMemory(const TensorsFile& file, const Problem& problem, const RunRequest& request) {
  std::int64_t largest = 0, total = 0;
  std::string largestName;
  const auto add = [&](std::string_view what, std::int64_t bytes) {
    if (bytes > largest) largest = bytes, largestName = what;
    total = std::min(kMost, total + bytes);
  };
  for (const OutputId id : request.outputs) add(name(id), times(countOf(outputShape(id, problem)), 4));
  if (isTraced(problem.options, request)) add("scores", times(countOf({problem.q.heads, problem.q.rows, problem.keys()}), 4 * kTraceMatrices));
  if (file.mask) add("mask", maskBytes(*file.mask, problem));
  if (file.pastK) add("past_k and k", times(countOf(outputShape(OutputId::presentK, problem)), 4));
  if (file.pastV) add("past_v and v", times(countOf(outputShape(OutputId::presentV, problem)), 4));
  constexpr std::int64_t most = std::int64_t{1} << 46;  // no address space holds more
  const std::int64_t free = freeMemory(request);
  if (total <= (free > 0 ? free : most)) return {};
  return refusal(ErrorKind::memory, largestName,
                 number(problem.q.batch) + " × " + number(problem.q.heads) + " heads × " + number(problem.q.rows) + " queries × " +
                     number(problem.keys()) + " keys take " + bytesText(total) + ", and " +
                     (free > 0 ? bytesText(free) + " are free" : std::string("no machine has them")) +
                     "; give fewer tokens, or ask for fewer outputs.");
}

Error outOfMemory() {
  return refusal(ErrorKind::memory, "memory", "there is not enough to compute this; give fewer tokens, or ask for fewer outputs.");
}

// ----------------------------------------------------------------------------------------------------------- compute

/// Past and new keys (or values) one after the other, for each head: [B, H, P + L, d].
std::vector<float> joined(const std::optional<Array>& past, const Array& next, const View& view, std::int64_t pastRows) {
  const std::int64_t rows = pastRows + view.rows, width = view.columns;
  std::vector<float> out(static_cast<std::size_t>(view.batch * view.heads * rows * width));
  float* to = out.data();
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t h = 0; h < view.heads; ++h) {
      if (past) to = std::copy_n(past->values.data() + (b * view.heads + h) * pastRows * width, pastRows * width, to);
      const float* from = next.values.data() + b * view.batchStride + h * view.headStride;
      for (std::int64_t r = 0; r < view.rows; ++r) to = std::copy_n(from + r * view.rowStride, width, to);
    }
  }
  return out;
}

kernels::In inOf(const std::vector<float>& values, const View& view, std::int64_t batch) {
  return {values.data() + batch * view.batchStride, view.headStride, view.rowStride};
}

class Computation {
 public:
  Computation(TensorsFile file, const Problem& problem, const RunRequest& request)
      : file_(std::move(file)), problem_(problem), request_(request) {}

  Result<std::vector<NamedArray>> run() {
    join();
    if (file_.mask) mask_ = maskOf(std::move(*std::exchange(file_.mask, std::nullopt)), problem_);
    std::vector<NamedArray> results;
    for (const OutputId id : request_.outputs) {
      const Shape shape = outputShape(id, problem_);
      NamedArray result{name(id), shape, {}};
      if (id != OutputId::presentK && id != OutputId::presentV) result.values.resize(static_cast<std::size_t>(countOf(shape)));
      results.push_back(std::move(result));
    }
    if (isTraced(problem_.options, request_)) {
      if (Check bad = trace(results)) return *bad;
    } else if (!compute(results)) {
      return outOfMemory();
    }
    for (std::size_t i = 0; i < results.size(); ++i) {
      if (request_.outputs[i] == OutputId::presentK) results[i].values = std::move(k_);
      if (request_.outputs[i] == OutputId::presentV) results[i].values = std::move(v_);
    }
    return results;
  }

 private:
  bool isAsked(OutputId id) const {
    return std::find(request_.outputs.begin(), request_.outputs.end(), id) != request_.outputs.end();
  }

  /// Brings keys and values to one piece, with their heads in front, where that is asked for or needed.
  void join() {
    kView_ = problem_.k, vView_ = problem_.v;
    joinOne(file_.pastK, *file_.k, isAsked(OutputId::presentK), k_, kView_);
    joinOne(file_.pastV, *file_.v, isAsked(OutputId::presentV), v_, vView_);
  }

  void joinOne(std::optional<Array>& past, Array& next, bool isPresent, std::vector<float>& out, View& view) {
    const bool isApart = view.headStride != view.rows * view.columns || view.rowStride != view.columns;
    if (!past && !(isPresent && isApart)) {
      out = std::move(next.values);
      return;
    }
    out = joined(past, next, view, problem_.past);
    view = splitView(view.batch, view.heads, problem_.keys(), view.columns);
    past.reset();
    next.values = {};
  }

  kernels::Forward call(std::int64_t batch) const {
    const Options& options = problem_.options;
    kernels::Forward f;
    f.heads = static_cast<int>(problem_.q.heads), f.kvHeads = static_cast<int>(problem_.k.heads);
    f.queryCount = static_cast<int>(problem_.q.rows), f.keyCount = static_cast<int>(problem_.keys());
    f.headDim = static_cast<int>(problem_.q.columns), f.valueDim = static_cast<int>(problem_.v.columns);
    f.q = inOf(file_.q->values, problem_.q, batch);
    f.k = inOf(k_, kView_, batch), f.v = inOf(v_, vView_, batch);
    f.scale = options.scale.value_or(isScaled(options) ? static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem_.q.columns))) : 1.0f);
    f.softcap = options.softcap, f.temperature = options.temperature;
    f.causal = options.causal, f.windowLeft = options.windowLeft, f.windowRight = options.windowRight;
    f.keyLength = keyLength(batch), f.causalOffset = firstPosition(batch);
    if (!mask_.blocked.empty()) {
      f.blocked = mask_.blocked.data() + batch * mask_.batchStride;
      f.blockedHeadStride = mask_.headStride, f.blockedRowStride = mask_.rowStride;
    }
    if (!mask_.bias.empty()) f.bias = {mask_.bias.data() + batch * mask_.batchStride, mask_.headStride, mask_.rowStride};
    return f;
  }

  /// Keys that are no padding; -1: all.
  int keyLength(std::int64_t batch) const {
    const int length = std::min(problem_.options.shared.keyLength, static_cast<int>(problem_.keys()));
    return file_.keyLengths ? static_cast<int>(file_.keyLengths->values[static_cast<std::size_t>(batch)]) : length;
  }
  /// Of the first query: after the past, or else so that the last query is the last key that counts.
  int firstPosition(std::int64_t batch) const {
    if (!file_.keyLengths || hasPast_) return static_cast<int>(problem_.past) + problem_.options.shared.causalOffset;
    return keyLength(batch) - static_cast<int>(problem_.q.rows);
  }

  bool compute(std::vector<NamedArray>& results) const {
    if (problem_.q.rows == 0 || problem_.keys() == 0) return true;  // nothing to compute, or nothing to see: zeros
    kernels::Workspace workspace(request_.threads);
    const kernels::Kernel kernel = request_.kernel.value_or(kernels::best());
    for (std::int64_t b = 0; b < problem_.q.batch; ++b) {
      kernels::Forward f = call(b);
      for (std::size_t i = 0; i < results.size(); ++i) point(f, request_.outputs[i], results[i], b);
      if (!kernels::forward(kernel, f, workspace)) return false;
    }
    return true;
  }

  void point(kernels::Forward& f, OutputId id, NamedArray& result, std::int64_t batch) const {
    const View& q = problem_.q;
    const View scores = splitView(q.batch, q.heads, q.rows, problem_.keys());
    const View packed = packedView(q.batch, q.heads, q.rows, problem_.v.columns);
    const View split = splitView(q.batch, q.heads, q.rows, problem_.v.columns);
    const View& view = id != OutputId::output ? scores : problem_.options.isPacked ? packed : split;
    const kernels::Out out{result.values.data() + batch * view.batchStride, view.headStride, view.rowStride};
    switch (id) {
      case OutputId::output: f.output = out; break;
      case OutputId::weights: f.weights = out; break;
      case OutputId::scores: f.scores = out; break;
      case OutputId::softcapped: f.softcapped = out; break;
      case OutputId::masked: f.masked = out; break;
      case OutputId::presentK:
      case OutputId::presentV:
      case OutputId::around: break;
    }
  }

  /// By the board's engine: every layer that isTraced().
  Check trace(std::vector<NamedArray>& results) const {
    if (problem_.q.rows == 0 || problem_.keys() == 0) return {};  // as compute()
    const auto weights = [](const std::optional<Array>& array) { return array ? tensorOf(*array) : Tensor(); };
    const Tensor wA = weights(file_.wA), uA = weights(file_.uA), vA = vectorsOf(file_.vA);
    const auto traced = std::make_unique<attention::Trace>();
    attention::Scratch scratch;
    const document::State state = stateOf();
    document::Around around(state, *traced);
    for (std::int64_t b = 0; b < problem_.q.batch; ++b) {
      attention::Spec spec = document::spec(settingsOf(problem_));
      spec.keyLength = keyLength(b), spec.causalOffset = std::max(firstPosition(b), 0);
      if (Check bad = checkPosition(spec, b)) return bad;
      const Tensor q = headsOf(file_.q->values, problem_.q, b), k = headsOf(k_, kView_, b), v = headsOf(v_, vView_, b);
      const Tensor bias = biasOf(b);
      attention::Inputs inputs;
      inputs.q = &q, inputs.k = &k, inputs.v = &v;
      inputs.wA = file_.wA ? &wA : nullptr, inputs.uA = file_.uA ? &uA : nullptr, inputs.vA = file_.vA ? &vA : nullptr;
      inputs.bias = bias.empty() ? nullptr : &bias;
      const attention::PaintedMask painted = paintedOf(b);
      inputs.painted = painted.empty() ? nullptr : &painted;
      if (Check bad = attention::validate(spec, inputs)) return bad;
      attention::forward(spec, inputs, *traced, scratch);
      around.changed();
      for (std::size_t i = 0; i < results.size(); ++i)
        if (Check bad = copyOut(*traced, around, request_.outputs[i], results[i], b)) return bad;
    }
    return {};
  }

  /// What there is to say of the layer but its numbers, with the parameters around it.
  document::State stateOf() const {
    document::State state;
    static_cast<document::Settings&>(state) = settingsOf(problem_);
    for (std::size_t i = 0; i < file_.parameters.size(); ++i)
      if (file_.parameters[i]) state.parameters[static_cast<document::ParameterId>(i)] = tensorOf(*file_.parameters[i]);
    return state;
  }

  /// Queries before the first key have no place in what counts from it.
  Check checkPosition(const attention::Spec& spec, std::int64_t batch) const {
    const bool isOrdered = spec.causal || spec.windowLeft >= 0 || spec.windowRight >= 0 || spec.pattern.any() ||
                           spec.position != attention::Position::none;
    if (!isOrdered || firstPosition(batch) >= 0) return {};
    return refusal(ErrorKind::range, "key_lengths[" + number(batch) + "]",
                   number(keyLength(batch)) + " is less than the " + number(problem_.q.rows) +
                       " queries, whose last one stands at the last key; give at least as many with these options.");
  }

  static Tensor headsOf(const std::vector<float>& values, const View& view, std::int64_t batch) {
    Tensor tensor(static_cast<int>(view.heads), static_cast<int>(view.rows), static_cast<int>(view.columns));
    for (int h = 0; h < tensor.heads(); ++h) {
      for (int r = 0; r < tensor.rows(); ++r) {
        const float* from = values.data() + batch * view.batchStride + h * view.headStride + r * view.rowStride;
        std::copy_n(from, view.columns, tensor.row(h, r));
      }
    }
    return tensor;
  }

  /// v_a as rows: [heads, columns] is [heads, 1, columns].
  static Tensor vectorsOf(const std::optional<Array>& array) {
    if (!array) return {};
    const Tensor flat = tensorOf(*array);
    if (flat.heads() != 1) return flat;
    Tensor rows(flat.rows(), 1, flat.cols());
    std::copy(flat.values().begin(), flat.values().end(), rows.data());
    return rows;
  }

  /// The mask of one batch as a bias, for one head where all share it; empty where there is none.
  Tensor biasOf(std::int64_t batch) const {
    const bool isBefore = !mask_.blocked.empty() && !problem_.options.shared.maskAfterSoftmax;
    if (!isBefore && mask_.bias.empty()) return {};
    Tensor bias(mask_.headStride == 0 ? 1 : static_cast<int>(problem_.q.heads), static_cast<int>(problem_.q.rows),
                static_cast<int>(problem_.keys()));
    for (int h = 0; h < bias.heads(); ++h) {
      for (int r = 0; r < bias.rows(); ++r) {
        const std::ptrdiff_t first = batch * mask_.batchStride + h * mask_.headStride + r * mask_.rowStride;
        for (int c = 0; c < bias.cols(); ++c) {
          const auto at = static_cast<std::size_t>(first + c);
          if (mask_.blocked.empty()) bias.at(h, r, c) = std::min(mask_.bias[at], std::numeric_limits<float>::max());
          else bias.at(h, r, c) = mask_.blocked[at] ? -std::numeric_limits<float>::infinity() : 0.0f;
        }
      }
    }
    return bias;
  }

  /// A mask of cells that comes after the softmax, as the board has it.
  attention::PaintedMask paintedOf(std::int64_t batch) const {
    if (mask_.blocked.empty() || !problem_.options.shared.maskAfterSoftmax) return {};
    attention::PaintedMask painted{static_cast<int>(problem_.q.rows), static_cast<int>(problem_.keys()), {}};
    for (int r = 0; r < painted.rows; ++r) {
      const auto row = mask_.blocked.begin() + batch * mask_.batchStride + r * mask_.rowStride;
      painted.blocked.insert(painted.blocked.end(), row, row + painted.cols);
    }
    return painted;
  }

  Check copyOut(const attention::Trace& traced, document::Around& around, OutputId id, NamedArray& result, std::int64_t batch) const {
    const Tensor* tensor = nullptr;
    if (isAround(id)) {
      const auto found = around.tensor(aroundOf(id));
      if (!found) return found.error();
      tensor = *found;
      if (document::parameterOf(aroundOf(id))) batch = 0;  // all share them
    }
    switch (id) {
      case OutputId::output: tensor = problem_.options.isPacked ? &traced.concat : &traced.headOutput; break;
      case OutputId::weights: tensor = &traced.weights; break;
      case OutputId::scores: tensor = &traced.scores; break;
      case OutputId::softcapped: tensor = &attention::cappedOf(traced); break;
      case OutputId::masked: tensor = &traced.masked; break;
      case OutputId::presentK:
      case OutputId::presentV: return {};  // from the keys and values themselves
      case OutputId::around: break;
    }
    const auto values = tensor->values();
    std::copy(values.begin(), values.end(), result.values.begin() + batch * static_cast<std::ptrdiff_t>(values.size()));
    return {};
  }

  TensorsFile file_;
  const Problem& problem_;
  const RunRequest& request_;
  const bool hasPast_ = file_.pastK.has_value();
  Mask mask_;
  std::vector<float> k_, v_;
  View kView_, vView_;
};

Result<std::vector<NamedArray>> runTensors(TensorsFile file, const RunRequest& request) {
  Problem problem;
  for (const Setting& setting : file.options)
    if (Check bad = setOption(setting, problem.options)) return *bad;
  for (const Setting& setting : request.settings)
    if (Check bad = setOption(setting, problem.options)) return *bad;
  if (Check bad = fit(file, problem)) return *bad;
  if (Check bad = fitPasts(file, problem)) return *bad;
  if (file.keyLengths)
    if (Check bad = fitLengths(*file.keyLengths, problem)) return *bad;
  if (Check bad = fitOffsets(file, problem.options)) return *bad;
  sizePattern(problem);
  if (file.mask)
    if (Check bad = fitMask(*file.mask, problem)) return *bad;
  if (isTraced(problem.options, request))
    if (Check bad = checkTraced(file, problem, request)) return *bad;
  if (Check bad = checkMemory(file, problem, request)) return *bad;
  return Computation(std::move(file), problem, request).run();
}

// ------------------------------------------------------------------------------------------------------------- board

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

/// The tensor of the trace that an output is; a layer without a soft cap has its scores there.
const Tensor* find(const attention::Inputs& inputs, const attention::Trace& trace, OutputId id) {
  if (id == OutputId::softcapped) return &attention::cappedOf(trace);
  const std::string wanted = id == OutputId::presentK ? "k" : id == OutputId::presentV ? "v" : name(id);
  const auto tensor = attention::tensorNamed(wanted);
  return tensor ? attention::find(inputs, trace, *tensor) : nullptr;
}

Result<std::vector<NamedArray>> runBoard(const std::string& text, const RunRequest& request) {
  if (request.kernel)
    return refusal(ErrorKind::range, "--kernel", "a state is computed as the board does, by its fastest kernel; leave it out, or give q, k and v.");
  Result<document::State> state = document::fromText(text, document::State{});
  if (!state) return state.error();
  for (const Setting& setting : request.settings)
    if (Check bad = applySetting(setting, *state)) return *bad;
  const attention::Spec spec = document::spec(*state);
  const attention::Inputs inputs = document::inputs(*state);
  if (Check bad = attention::validate(spec, inputs)) return *bad;
  const std::int64_t scores = times(times(spec.heads, spec.queryCount), times(spec.keyCount, 4));
  const std::int64_t free = freeMemory(request);
  if (free > 0 && times(scores, kTraceMatrices) > free)
    return refusal(ErrorKind::memory, "tokens", number(spec.queryCount) + " with " + number(spec.heads) + " heads take " +
                                                    bytesText(times(scores, kTraceMatrices)) + ", and " + bytesText(free) + " are free; give fewer.");
  const auto trace = std::make_unique<attention::Trace>();
  attention::forward(spec, inputs, *trace);
  document::Around around(*state, *trace);
  std::vector<NamedArray> results;
  for (const OutputId id : request.outputs) {
    const auto found = isAround(id) ? around.tensor(aroundOf(id)) : find(inputs, *trace, id);
    if (!found) return found.error();
    const Tensor* tensor = *found;
    if (!tensor) return refusal(ErrorKind::range, "--outputs", inQuotes(name(id)) + " is not part of a state; ask for another.");
    Shape shape{tensor->heads(), tensor->rows(), tensor->cols()};
    if (id == OutputId::output || isAround(id)) shape.erase(shape.begin());
    results.push_back({name(id), std::move(shape), {tensor->values().begin(), tensor->values().end()}});
  }
  return results;
}

}  // namespace

std::string name(OutputId id) {
  return isAround(id) ? document::name(aroundOf(id)) : std::string(kOutputNames[static_cast<std::size_t>(id)]);
}

std::vector<OutputId> outputIds() {
  constexpr int count = static_cast<int>(OutputId::around) + static_cast<int>(AroundId::segment_weights) + 1;
  std::vector<OutputId> ids;
  for (int i = 0; i < count; ++i) ids.push_back(static_cast<OutputId>(i));
  return ids;
}

std::string optionsHelp() {
  std::string out;
  const auto add = [&out](std::string_view option, std::string_view help) {
    out += "  " + std::string(option);
    out.append(20 - option.size(), ' ');
    out += std::string(help) + "\n";
  };
  for (const Entry& entry : kOptions) add(entry.name, entry.help);
  for (const std::string_view shared : kSharedOptions) {
    const document::Option& option = *document::optionNamed(shared);
    std::string words;
    for (const std::string_view choice : option.choices)
      if (choice != "custom") words += (words.empty() ? ": " : ", ") + std::string(choice);
    add(shared, std::string(option.help) + words);
  }
  return out;
}

Result<std::vector<NamedArray>> run(std::string text, const RunRequest& request) {
  Result<TensorsFile> file = readTensorsFile(text);
  if (!file) return file.error();
  if (file->isForBoard) return runBoard(text, request);
  text = {};
  return runTensors(std::move(*file), request);
}

}  // namespace io
