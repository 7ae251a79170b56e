#include "files/attention_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "document/number.h"
#include "document/sentence.h"

namespace files::layer {
namespace {

using document::AroundId;
using document::inQuotes;
using document::shapeText;
using ErrorKind = Error::Kind;

constexpr std::int64_t kMost = std::int64_t{1} << 60;  ///< products of sizes stop here

std::int64_t times(std::int64_t a, std::int64_t b) { return b > 0 && a > kMost / b ? kMost : a * b; }

std::string number(std::int64_t value) { return std::to_string(value); }

// ------------------------------------------------------------------------------------------------------------- shapes

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

// ------------------------------------------------------------------------------------------------------------- traced

constexpr std::int64_t kTraceMatrices = 8;  ///< of scores, in a Trace at most

bool asksAround(const RunRequest& request) {
  return std::any_of(request.outputs.begin(), request.outputs.end(), isAround);
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

// ------------------------------------------------------------------------------------------------------------ memory

std::string bytesText(std::int64_t bytes) {
  constexpr std::int64_t mega = 1'000'000, giga = 1000 * mega, tera = 1000 * giga;
  if (bytes >= 1000 * tera) return "more than 1000 TB";
  if (bytes >= tera) return number(bytes / tera) + " TB";
  return bytes >= 10 * giga ? number(bytes / giga) + " GB" : number((bytes + mega - 1) / mega) + " MB";
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

}  // namespace

std::int64_t countOf(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = times(count, size);
  return count;
}

bool isAround(OutputId id) { return id >= OutputId::around; }
AroundId aroundOf(OutputId id) { return static_cast<AroundId>(static_cast<int>(id) - static_cast<int>(OutputId::around)); }

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

bool isTraced(const Options& options, const RunRequest& request) {
  if (asksAround(request)) return true;
  document::Settings settings = options.shared;
  settings.keyTokens = settings.prefix;  // a prefix ends with the keys, which are not known here
  return !attention::isPlain(document::spec(settings));
}

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

Result<Problem> problemOf(const TensorsFile& file, const RunRequest& request) {
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
  sizePattern(problem.options, problem.keys());
  if (file.mask)
    if (Check bad = fitMask(*file.mask, problem)) return *bad;
  if (isTraced(problem.options, request))
    if (Check bad = checkTraced(file, problem, request)) return *bad;
  if (Check bad = checkMemory(file, problem, request)) return *bad;
  return problem;
}

Check checkMemory(const attention::Spec& spec, const RunRequest& request) {
  const std::int64_t scores = times(times(spec.heads, spec.queryCount), times(spec.keyCount, 4));
  const std::int64_t free = freeMemory(request);
  if (free > 0 && times(scores, kTraceMatrices) > free)
    return refusal(ErrorKind::memory, "tokens", number(spec.queryCount) + " with " + number(spec.heads) + " heads take " +
                                                    bytesText(times(scores, kTraceMatrices)) + ", and " + bytesText(free) + " are free; give fewer.");
  return {};
}

}  // namespace files::layer
