#include "files/layout/attention_problem.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/number.h"
#include "base/sentence.h"
#include "document/resize.h"

namespace files::layer {
namespace {

using base::inQuotes;
using base::shapeText;
using ErrorKind = Error::Kind;

std::string number(std::int64_t value) { return std::to_string(value); }

// ---- shapes

Result<void> checkAxes(std::string_view name, const Array& array) {
  for (const std::int64_t size : array.shape)
    if (size > kLongest)
      return base::refuse(
          ErrorKind::range, std::string(name) + ".shape",
          {base::shapeText(array.shape), " has a size above 16777216; give smaller tensors."});
  return {};
}

std::string wantedShape(bool isPacked) {
  return isPacked ? "[batch, tokens, heads · columns] or [tokens, heads · columns]"
                  : "[tokens, columns], [heads, tokens, columns] or [batch, heads, tokens, columns]";
}

Result<void> viewOf(std::string_view name, const Array& array, const Options& options, int heads,
                    const std::string& headsField, View& view) {
  const std::string field = std::string(name) + ".shape";
  const Shape& shape = array.shape;
  const std::size_t rank = shape.size();
  if (rank < 2 || rank > (options.isPacked ? 3u : 4u))
    return base::refuse(
        ErrorKind::range, field,
        {base::shapeText(shape), " has ", number(static_cast<std::int64_t>(rank)),
         rank == 1 ? " size" : " sizes", options.isPacked ? ", which does not fit the packed layout" : "",
         "; use ", wantedShape(options.isPacked) + "."});
  if (auto ok = checkAxes(name, array); !ok) return ok;
  const std::int64_t columns = shape[rank - 1], rows = shape[rank - 2];
  if (!options.isPacked) {
    view = splitView(rank == 4 ? shape[0] : 1, rank >= 3 ? shape[rank - 3] : 1, rows, columns);
    if (heads != 0 && heads != view.heads)
      return base::refuse(ErrorKind::range, headsField,
                          {number(heads), " does not fit ", field + " " + base::shapeText(shape),
                           ", which has ", base::message({view.heads, view.heads == 1 ? " head" : " heads"}),
                           "; make them agree, or set layout to \"packed\" to split columns."});
  } else {
    if (columns % heads != 0)
      return base::refuse(ErrorKind::range, headsField,
                          {number(heads), " does not divide the ", number(columns), " columns of ",
                           field + " " + base::shapeText(shape), "; give one that does."});
    view = packedView(rank == 3 ? shape[0] : 1, heads, rows, columns / heads);
  }
  if (view.batch < 1 || view.heads < 1 || view.columns < 1)
    return base::refuse(ErrorKind::range, field,
                        {base::shapeText(shape), " has a size of 0; only the count of tokens may be 0."});
  return {};
}

Result<void> agree(std::string_view name, const char* what, std::int64_t have, std::string_view other,
                   std::int64_t want) {
  if (have == want) return {};
  return base::refuse(
      ErrorKind::range, std::string(name) + ".shape",
      {what, " ", number(have), " does not fit the ", number(want), " of ", other, "; give as many."});
}

std::string scoreName(const Options& options) {
  return std::get<std::string>(document::get(options.shared, document::OptionId::score));
}

/// Checks shapes and options against each other, for q, k and v.
Result<void> fit(const TensorsFile& file, Problem& problem) {
  Options& options = problem.options;
  if (options.isPacked && options.heads == 0)
    return base::refuse(ErrorKind::range, options.headsField,
                        {"it is missing; the packed layout needs the count of heads."});
  const int kvHeads = options.kvHeads == 0 && options.isPacked ? options.heads : options.kvHeads;
  const std::string& kvField = options.kvHeads == 0 ? options.headsField : options.kvHeadsField;
  if (!isScaled(options) && options.scale && *options.scale != 1.0f)
    return base::refuse(ErrorKind::range, options.scaleField,
                        {"only the score \"scaled\" has one, and not ", base::inQuotes(scoreName(options)),
                         "; leave it out, or use that score."});
  if (auto ok = viewOf("q", *file.q, options, options.heads, options.headsField, problem.q); !ok) return ok;
  if (auto ok = viewOf("k", *file.k, options, kvHeads, kvField, problem.k); !ok) return ok;
  if (auto ok = viewOf("v", *file.v, options, kvHeads, kvField, problem.v); !ok) return ok;
  problem.rank = file.q->shape.size();
  const View &q = problem.q, &k = problem.k, &v = problem.v;
  if (auto ok = agree("k", "a batch of", k.batch, "q", q.batch); !ok) return ok;
  if (auto ok = agree("v", "a batch of", v.batch, "q", q.batch); !ok) return ok;
  if (auto ok = agree("v", "a head count of", v.heads, "k", k.heads); !ok) return ok;
  if (q.heads % k.heads != 0)
    return base::refuse(ErrorKind::range, options.kvHeads == 0 ? "k.shape" : options.kvHeadsField,
                        {number(k.heads), " key heads do not divide the ", number(q.heads),
                         " heads of q; give a divisor of ", number(q.heads), "."});
  if (k.columns != q.columns && !document::takesScoreWeights(options.shared.score))
    return base::refuse(ErrorKind::range, "k.shape",
                        {"a column count of ", k.columns, " does not fit the ", q.columns,
                         " of q; give as many, or set score to \"general\" or \"additive\", which compare "
                         "different widths."});
  return agree("v", "a token count of", v.rows, "k", k.rows);
}

/// Checks past_k or past_v against k or v: [B, H, P, d] with the rank of k, always with an axis of heads.
Result<void> fitPast(std::string_view name, std::string_view to, const Array& past, const Array& next,
                     const View& view, const Problem& problem) {
  const Shape& shape = past.shape;
  const std::size_t rank = next.shape.size() + (problem.options.isPacked ? 1 : 0);
  Shape want{view.batch, view.heads, -1, view.columns};
  want.erase(want.begin(), want.begin() + static_cast<std::ptrdiff_t>(4 - rank));
  bool fits = shape.size() == rank;
  for (std::size_t i = 0; fits && i < rank; ++i) fits = want[i] == -1 || want[i] == shape[i];
  if (!fits) {
    std::string text = base::shapeText(want);
    text.replace(text.find("-1"), 2, "past");
    return base::refuse(ErrorKind::range, std::string(name) + ".shape",
                        {base::shapeText(shape), " does not fit ", to, "; it must be ", text, "."});
  }
  return checkAxes(name, past);
}

Result<void> fitPasts(const TensorsFile& file, Problem& problem) {
  if (!file.pastK && !file.pastV) return {};
  if (!file.pastK || !file.pastV)
    return base::refuse(
        ErrorKind::type, file.pastK ? "past_v" : "past_k",
        {"it is missing; ", file.pastK ? "past_k" : "past_v", " is given, and one needs the other."});
  if (auto ok = fitPast("past_k", "k", *file.pastK, *file.k, problem.k, problem); !ok) return ok;
  if (auto ok = fitPast("past_v", "v", *file.pastV, *file.v, problem.v, problem); !ok) return ok;
  const Shape &k = file.pastK->shape, &v = file.pastV->shape;
  if (auto ok = agree("past_v", "a token count of", v[v.size() - 2], "past_k", k[k.size() - 2]); !ok)
    return ok;
  problem.past = k[k.size() - 2], problem.hasPast = true;
  if (problem.keys() > kLongest)
    return base::refuse(
        ErrorKind::range, "past_k.shape",
        {number(problem.keys()), " keys with those of k are too many; give at most 16777216."});
  return {};
}

Result<void> fitLengths(const Array& lengths, const Problem& problem) {
  if (lengths.shape != Shape{problem.q.batch})
    return base::refuse(ErrorKind::range, "key_lengths.shape",
                        {base::shapeText(lengths.shape), " does not fit the batch; give one length each, ",
                         base::shapeText({problem.q.batch}), "."});
  for (std::size_t b = 0; b < lengths.values.size(); ++b) {
    const float length = lengths.values[b];
    if (length != std::floor(length) || length < 0 || length > static_cast<float>(problem.keys()))
      return base::refuse(ErrorKind::range, "key_lengths[" + number(static_cast<std::int64_t>(b)) + "]",
                          {base::shortest(length), " is no length of ", number(problem.keys()),
                           " keys; give a whole number from 0 to ", number(problem.keys()), "."});
  }
  return {};
}

// ---- mask

Result<void> fitMask(const Array& mask, const Problem& problem) {
  const Shape full{problem.q.batch, problem.q.heads, problem.q.rows, problem.keys()};
  const Shape& shape = mask.shape;
  bool fits = !shape.empty() && shape.size() <= 4;
  for (std::size_t i = 0; fits && i < shape.size(); ++i) {
    const std::int64_t size = shape[shape.size() - 1 - i], want = full[3 - i];
    fits = i == 0 ? size <= want : size == want || size == 1;
  }
  if (fits) return {};
  return base::refuse(ErrorKind::range, "mask.shape",
                      {base::shapeText(shape), " cannot be broadcast to ", base::shapeText(full),
                       ", [batch, heads, queries, keys]; from the right, each size must be that or 1, and "
                       "that of keys may be smaller."});
}

/// An error if options and tensors both determine the same thing.
Result<void> fitOffsets(const TensorsFile& file, const Options& options) {
  const auto refused = [&](std::string_view name, std::string_view by) {
    return base::refuse(ErrorKind::range, fieldOf(options, name),
                        {by, " says it already; leave one of the two out."});
  };
  if (file.pastK && isGiven(options, "causal_offset")) return refused("causal_offset", "past_k");
  if (file.keyLengths && isGiven(options, "causal_offset")) return refused("causal_offset", "key_lengths");
  if (file.keyLengths && isGiven(options, "key_length")) return refused("key_length", "key_lengths");
  return {};
}

}  // namespace

std::int64_t times(std::int64_t a, std::int64_t b) {
  return b > 0 && a > kMostCount / b ? kMostCount : a * b;
}

std::int64_t countOf(const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape) count = times(count, size);
  return count;
}

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

document::Settings settingsOf(const Problem& problem) {
  const Options& options = problem.options;
  document::Settings settings = options.shared;
  settings.tokens = static_cast<int>(problem.q.rows), settings.keyTokens = static_cast<int>(problem.keys());
  settings.heads = static_cast<int>(problem.q.heads), settings.kvHeads = static_cast<int>(problem.k.heads);
  settings.headDim = static_cast<int>(problem.k.columns),
  settings.queryDim = problem.q.columns == problem.k.columns ? 0 : static_cast<int>(problem.q.columns),
  settings.valueDim = static_cast<int>(problem.v.columns);
  // A factor of 0 is replaced by the smallest positive number, because on the board 0 stands for 1/√d.
  const bool isNothing = options.scale == 0.0f;
  settings.scaleBy = isNothing ? std::numeric_limits<float>::denorm_min() : options.scale.value_or(0.0f);
  settings.softcap = options.softcap, settings.temperature = options.temperature;
  settings.causal = options.causal;
  settings.windowLeft = options.windowLeft, settings.windowRight = options.windowRight;
  return settings;
}

bool isPainted(const Array& mask) { return mask.type == Array::Type::boolean; }

attention::Tensor biasOf(const Mask& mask, const Problem& problem, std::int64_t batch) {
  if (mask.blocked.empty() && mask.bias.empty()) return {};
  attention::Tensor bias(mask.headStride == 0 ? 1 : static_cast<int>(problem.q.heads),
                         static_cast<int>(problem.q.rows), static_cast<int>(problem.keys()));
  for (int h = 0; h < bias.heads(); ++h) {
    for (int r = 0; r < bias.rows(); ++r) {
      const std::ptrdiff_t first = batch * mask.batchStride + h * mask.headStride + r * mask.rowStride;
      for (int c = 0; c < bias.cols(); ++c) {
        const auto at = static_cast<std::size_t>(first + c);
        if (mask.blocked.empty())
          bias.at(h, r, c) = std::min(mask.bias[at], std::numeric_limits<float>::max());
        else bias.at(h, r, c) = mask.blocked[at] ? -std::numeric_limits<float>::infinity() : 0.0f;
      }
    }
  }
  return bias;
}

attention::PaintedMask paintedOf(const Mask& mask, const Problem& problem, std::int64_t batch) {
  if (mask.blocked.empty()) return {};
  attention::PaintedMask painted{static_cast<int>(problem.q.rows), static_cast<int>(problem.keys()), {}};
  for (int r = 0; r < painted.rows; ++r) {
    const auto row = mask.blocked.begin() + batch * mask.batchStride + r * mask.rowStride;
    painted.blocked.insert(painted.blocked.end(), row, row + painted.cols);
  }
  return painted;
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

namespace {

/// A file that gives a sink has one, unless an option says otherwise.
Result<void> fitSink(Options& options) {
  if (isGiven(options, "softmax_sink")) return {};
  options.shared.softmaxSink = true;
  if (options.shared.normalizer == attention::Normalizer::softmax) return {};
  return base::refuse(ErrorKind::range, "sink",
                      {"it takes part in softmax alone; set normalizer to \"softmax\", or leave it out."});
}

}  // namespace

Result<void> readOptions(const TensorsFile& file, std::span<const Setting> settings, Options& options) {
  for (const Setting& setting : file.options)
    if (auto ok = setOption(setting, options); !ok) return ok;
  for (const Setting& setting : settings)
    if (auto ok = setOption(setting, options); !ok) return ok;
  if (file.sink)
    if (auto ok = fitSink(options); !ok) return ok;
  return fitOffsets(file, options);
}

Result<void> checkMasks(const TensorsFile& file, const Problem& problem) {
  if (file.keyLengths)
    if (auto ok = fitLengths(*file.keyLengths, problem); !ok) return ok;
  return file.mask ? fitMask(*file.mask, problem) : Result<void>();
}

Result<Problem> problemOf(const TensorsFile& file, std::span<const Setting> settings) {
  Problem problem;
  if (auto ok = readOptions(file, settings, problem.options); !ok) return ok;
  if (auto ok = fit(file, problem); !ok) return ok;
  if (auto ok = fitPasts(file, problem); !ok) return ok;
  sizePattern(problem.options, problem.keys());
  if (auto ok = checkMasks(file, problem); !ok) return ok;
  return problem;
}

int keyLength(const TensorsFile& file, const Problem& problem, std::int64_t batch) {
  if (file.keyLengths) return static_cast<int>(file.keyLengths->values[static_cast<std::size_t>(batch)]);
  return std::min(problem.options.shared.keyLength, static_cast<int>(problem.keys()));
}

int firstPosition(const TensorsFile& file, const Problem& problem, std::int64_t batch) {
  if (!file.keyLengths || problem.hasPast)
    return static_cast<int>(problem.past) + problem.options.shared.causalOffset;
  return keyLength(file, problem, batch) - static_cast<int>(problem.q.rows);
}

attention::Spec specOf(const TensorsFile& file, const Problem& problem, const document::Settings& settings,
                       std::int64_t batch) {
  attention::Spec spec = document::spec(settings);
  spec.keyLength = keyLength(file, problem, batch),
  spec.causalOffset = std::max(firstPosition(file, problem, batch), 0);
  return spec;
}

bool isOrdered(const attention::Spec& spec) {
  return spec.causal || spec.windowLeft >= 0 || spec.windowRight >= 0 || spec.pattern.any() ||
         spec.position != attention::Position::none;
}

Result<void> checkPosition(const TensorsFile& file, const Problem& problem, const attention::Spec& spec,
                           std::int64_t batch) {
  if (!isOrdered(spec) || firstPosition(file, problem, batch) >= 0) return {};
  return base::refuse(
      ErrorKind::range, "key_lengths[" + number(batch) + "]",
      {number(keyLength(file, problem, batch)), " is less than the ", number(problem.q.rows),
       " queries, whose last one stands at the last key; give at least as many with these options."});
}

attention::Tensor tensorOf(const Array& array) {
  Shape shape = array.shape;
  shape.insert(shape.begin(), shape.size() < 3 ? 3 - shape.size() : 0, 1);
  const auto size = [&](std::size_t axis) { return static_cast<int>(shape[axis]); };
  attention::Tensor tensor(shape.size() > 3 ? size(0) * size(1) : size(0), size(shape.size() - 2),
                           size(shape.size() - 1));
  std::copy(array.values.begin(), array.values.end(), tensor.data());
  return tensor;
}

attention::Tensor headsOf(const std::vector<float>& values, const View& view, std::int64_t batch,
                          const Array* past, std::int64_t pastRows) {
  attention::Tensor tensor(static_cast<int>(view.heads), static_cast<int>(pastRows + view.rows),
                           static_cast<int>(view.columns));
  const std::int64_t before = past ? pastRows * view.columns : 0;
  for (int h = 0; h < tensor.heads(); ++h) {
    float* to = tensor.head(h);
    if (past) to = std::copy_n(past->values.begin() + (batch * view.heads + h) * before, before, to);
    for (std::int64_t r = 0; r < view.rows; ++r)
      to = std::copy_n(values.begin() + batch * view.batchStride + h * view.headStride + r * view.rowStride,
                       view.columns, to);
  }
  return tensor;
}

Result<void> readWeights(const TensorsFile& file, document::State& state) {
  using attention::TensorId;
  state.scoreWeights = file.wA || file.uA || file.vA || document::takesScoreWeights(state.score);
  const auto units = [](const std::optional<Array>& array) {
    return array && array->shape.size() >= 2 ? array->shape[array->shape.size() - 2] : 0;
  };
  const std::int64_t given = file.wA ? units(file.wA) : units(file.uA);
  if (state.score == attention::Score::additive && state.additiveDim == 0 && given > 0 &&
      given != state.headDim && given <= attention::Limits::headDim)
    state.additiveDim = static_cast<int>(given);
  for (const auto& [id, array] : {std::pair(TensorId::w_a, &file.wA), std::pair(TensorId::u_a, &file.uA),
                                  std::pair(TensorId::v_a, &file.vA)}) {
    if (!state.scoreWeights) break;
    document::fillFresh(state, id);
    attention::Tensor& tensor = *document::input(state, id);
    if (!*array) continue;
    Shape shape = (*array)->shape;
    if (id == TensorId::v_a && shape.size() == 2)
      shape.insert(shape.begin() + 1, 1);  // the file has one row per head
    if (shape.size() == 2) shape.insert(shape.begin(), 1);
    const Shape wanted{tensor.heads(), tensor.rows(), tensor.cols()};
    if (shape != wanted)
      return base::refuse(
          ErrorKind::range, std::string(attention::name(id)) + ".shape",
          {base::shapeText((*array)->shape), " does not fit; it must be ", base::shapeText(wanted), "."});
    std::copy((*array)->values.begin(), (*array)->values.end(), tensor.data());
  }
  if (state.softmaxSink) document::fillFresh(state, TensorId::sink);
  if (state.softmaxSink && file.sink) {
    if (countOf(file.sink->shape) != state.heads)
      return base::refuse(ErrorKind::range, "sink.shape",
                          {base::shapeText(file.sink->shape), " does not fit; it must be [", state.heads,
                           "], a number for each head."});
    std::copy(file.sink->values.begin(), file.sink->values.end(), state.sink.data());
  }
  for (std::size_t i = 0; i < file.parameters.size(); ++i) {
    const auto id = static_cast<document::ParameterId>(i);
    if (!file.parameters[i]) continue;
    if (auto ok = document::checkShape(state, id, file.parameters[i]->shape); !ok) return ok;
    state.parameters[id] = tensorOf(*file.parameters[i]);
  }
  return {};
}

}  // namespace files::layer
