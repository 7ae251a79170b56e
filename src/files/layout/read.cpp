#include "files/layout/read.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

#include "base/sentence.h"
#include "document/block.h"
#include "document/not_finite.h"
#include "document/resize.h"
#include "files/layout/attention_problem.h"
#include "files/layout/labels.h"

namespace files {
namespace {

using attention::TensorId;
using base::joined;
using base::shapeText;
using document::State;
using layer::Problem;
using ErrorKind = Error::Kind;

std::string number(std::int64_t value) { return std::to_string(value); }

/// Creates a state from one tensors file; each step stores its results in members.
class StateMaker {
 public:
  StateMaker(TensorsFile file, const State& current) : file_(std::move(file)), current_(current) {}

  Result<State> make() {
    if (auto ok = file_.x ? projected() : direct(); !ok) return ok;
    if (auto ok = layer::readWeights(file_, state_); !ok) return ok;
    for (int i = 0; i < document::kParameterCount; ++i) {
      const auto id = static_cast<document::ParameterId>(i);
      if (Tensor own = std::exchange(state_.parameters[id], {}); !own.empty())
        setParameter(state_, id, std::move(own));
    }
    if (auto ok = masks(); !ok) return ok;
    return std::move(state_);
  }

 private:
  using Tensor = attention::Tensor;

  Result<void> direct();
  Result<void> projected();
  Result<void> widths();
  Result<void> batches();
  Result<void> settle(std::string_view field);
  Result<void> labels(std::string_view name, const std::optional<document::Value>& given, int tokens,
                      std::vector<std::string>& out) const;
  Result<void> matrix(std::string_view name, std::optional<Array>& array);
  Result<void> place(TensorId id, std::optional<Array>& array);
  Result<void> positions();
  Result<void> masks();
  Result<void> picture();
  bool haveLengthsOfTheirOwn() const;
  void addBias(const layer::Mask& mask);
  /// An input that each item of the batch has its own of.
  Tensor& inputOf(TensorId id, int item) {
    return item == 0 ? *input(state_, id) : *input(state_.items[static_cast<std::size_t>(item)], id);
  }

  TensorsFile file_;
  const State& current_;
  State state_;
  Problem problem_;
};

/// Completes the state: whatever the file does not determine has its default. The first item of a batch is on
/// the board.
Result<void> StateMaker::settle(std::string_view field) {
  document::Settings settings = layer::settingsOf(problem_);
  settings.theme = current_.theme, settings.decimals = current_.decimals, settings.seed = current_.seed;
  settings.mode = state_.mode, settings.cross = state_.cross, settings.modelDim = state_.modelDim,
  settings.projectionBias = state_.projectionBias, settings.separateValues = file_.xV.has_value();
  settings.outputProjection = state_.outputProjection, settings.outputDim = state_.outputDim;
  const layer::Options& options = problem_.options;
  if (options.scale && options.scale != 1.0f)
    if (auto ok =
            checkAlone(document::option(document::OptionId::scale), static_cast<double>(*options.scale));
        !ok)
      return layer::inField(ok.error(), options.scaleField);
  if (options.scale == 1.0f && layer::isScaled(options))
    settings.score = attention::Score::dot, settings.scaleBy = 0;
  const auto usual = static_cast<float>(1.0 / std::sqrt(static_cast<double>(settings.headDim)));
  if (settings.scaleBy == usual) settings.scaleBy = 0;
  if (settings.modelDim == 0) {
    settings.modelDim = 1;
    if (auto ok = checkSizes(field, settings); !ok) return ok;
    settings.modelDim = document::defaultModelDim(settings);
  }
  if (problem_.q.batch > document::kMaxBatch)
    return base::refuse(
        ErrorKind::range, field,
        {"a batch of ", number(problem_.q.batch), " is too large for the board; give at most ",
         number(document::kMaxBatch), " entries."});
  settings.batch = static_cast<int>(problem_.q.batch);
  if (auto ok = checkSizes(field, settings); !ok) return ok;
  settings.batch = 1;
  static_cast<document::Settings&>(state_) = std::move(settings);
  if (auto ok = labels("labels", file_.labels, state_.tokens, state_.labels); !ok) return ok;
  if (state_.cross)
    if (auto ok = labels("key_labels", file_.keyLabels, state_.keyTokens, state_.keyLabels); !ok) return ok;
  // Inputs given by the file are not drawn from the seed, which would take longer than reading them.
  const bool isDirect = state_.mode == document::Mode::qkv;
  for (const TensorId id : document::inputIds()) {
    const bool isGiven =
        isDirect ? id == TensorId::q || id == TensorId::k || id == TensorId::v
                 : id == TensorId::x || id == TensorId::w_q || id == TensorId::w_k || id == TensorId::w_v;
    if (hasInput(state_, id) && !isGiven)
      document::isProjectionBias(id) ? fillFresh(state_, id) : fillSeeded(state_, id);
  }
  resizeBatch(state_, static_cast<int>(problem_.q.batch));
  // Without pixels, patches are blank: random numbers would be drawn as some.
  for (int b = 0; isDirect && state_.patchColumns > 0 && b < state_.batch; ++b)
    std::ranges::fill(inputOf(TensorId::x, b).values(), 0.0f);
  return positions();
}

Result<void> StateMaker::labels(std::string_view name, const std::optional<document::Value>& given,
                                int tokens, std::vector<std::string>& out) const {
  if (!given) return out = document::numberedLabels(1, tokens), Result<void>();
  document::Value value = *given;
  if (auto* list = std::get_if<std::vector<std::string>>(&value)) *list = readableLabels(std::move(*list));
  if (auto ok = checkAlone(*document::optionNamed(name), value); !ok) return ok;
  out = document::labelsOf(value);
  return {};
}

Result<void> StateMaker::direct() {
  Result<Problem> problem = layer::problemOf(file_, {});
  if (!problem) return problem.error();
  problem_ = std::move(*problem);
  state_.mode = document::Mode::qkv;
  state_.cross = problem_.keys() != problem_.q.rows || file_.keyLabels;
  if (auto ok = picture(); !ok) return ok;
  if (auto ok = settle("q.shape"); !ok) return ok;
  // One after the other, so that the numbers of the file are given back before the next ones are copied.
  for (const auto& [id, array, view, past] :
       {std::tuple(TensorId::q, &file_.q, &problem_.q, static_cast<std::optional<Array>*>(nullptr)),
        {TensorId::k, &file_.k, &problem_.k, &file_.pastK},
        {TensorId::v, &file_.v, &problem_.v, &file_.pastV}}) {
    for (int b = 0; b < state_.batch; ++b)
      inputOf(id, b) = layer::headsOf((*array)->values, *view, b, past && *past ? &**past : nullptr,
                                      past ? problem_.past : 0);
    array->reset();
    if (past) past->reset();
  }
  return file_.picture ? place(TensorId::x, file_.picture) : Result<void>();
}

/// The pixels of keys that are patches of a picture are the rows of X, from which nothing is computed here.
Result<void> StateMaker::picture() {
  if (state_.cross) file_.picture.reset();
  if (!file_.picture) return {};
  Shape& shape = file_.picture->shape;
  if (shape.size() == 2) shape.insert(shape.begin(), 1);
  Shape wanted{problem_.q.batch, problem_.q.rows, 192};  // 8 × 8 pixels in colour
  if (shape.size() == 3 && shape[2] >= 1 && shape[2] <= attention::Limits::modelDim) wanted[2] = shape[2];
  if (shape != wanted)
    return base::refuse(ErrorKind::range, "picture.shape",
                        {shapeText(shape), " does not fit ", problem_.q.rows, " tokens; it must be ",
                         shapeText(wanted), "."});
  state_.modelDim = static_cast<int>(shape[2]);
  return {};
}

// ---- projections

/// Rows or columns of a matrix, or of the entries of a batch.
std::int64_t sizeOf(const Array& array, std::size_t axis) {
  return array.shape[array.shape.size() - 2 + axis];
}

/// Determines the size of the batch. Sequences are [tokens, columns], or [batch, tokens, columns] all of
/// them; the matrices are shared by all entries.
Result<void> StateMaker::batches() {
  for (const auto& [name, array] :
       {std::pair("x", &file_.x), std::pair("x_kv", &file_.xKv), std::pair("x_v", &file_.xV)}) {
    if (!*array) continue;
    Shape& shape = (*array)->shape;
    const std::int64_t entries = shape.size() == 3 ? shape[0] : 1;
    if (entries <= 1) {
      if (auto ok = matrix(name, *array); !ok) return ok;
    }
    if (array == &file_.x) problem_.q.batch = entries;
    if (entries != problem_.q.batch || entries < 1)
      return base::refuse(ErrorKind::range, joined({name, ".shape"}),
                          {base::shapeText(shape), " does not fit x, a batch of ", problem_.q.batch,
                           "; give as many entries of each, at least one."});
  }
  return {};
}

/// Accepts [rows, columns], or the same as the only item of a batch.
Result<void> StateMaker::matrix(std::string_view name, std::optional<Array>& array) {
  if (!array) return {};
  Shape& shape = array->shape;
  if (shape.size() == 3 && shape[0] == 1) shape.erase(shape.begin());
  if (shape.size() == 2) return {};
  return base::refuse(
      ErrorKind::range, std::string(name) + ".shape",
      {base::shapeText(shape) +
       (shape.size() == 3 ? " is a batch; save one entry of it, such as " + std::string(name) + "[0]."
                          : std::string(" is no matrix; use [rows, columns]."))});
}

/// Determines heads and columns from the shapes of the weights.
Result<void> StateMaker::widths() {
  const std::int64_t tokens = sizeOf(*file_.x, 0), columns = sizeOf(*file_.x, 1), batch = problem_.q.batch;
  layer::Options& options = problem_.options;
  const std::int64_t heads = options.heads == 0 ? 1 : options.heads;
  const std::int64_t queries = file_.wQ->shape[1], keys = file_.wK->shape[1], values = file_.wV->shape[1];
  if (queries % heads != 0)
    return base::refuse(
        ErrorKind::range, "w_q.shape",
        {number(heads), " heads do not divide ", number(queries), " columns; give another options.heads."});
  const std::int64_t queryDim = std::max<std::int64_t>(1, queries / heads);
  const bool mayDiffer = document::takesScoreWeights(options.shared.score),
             isWhole = !mayDiffer && keys > 0 && keys % queryDim == 0;
  const std::int64_t kvHeads = options.kvHeads != 0 ? options.kvHeads : isWhole ? keys / queryDim : heads;
  const std::int64_t keyTokens = file_.xKv ? sizeOf(*file_.xKv, 0) : tokens;
  for (const auto& [field, size] :
       {std::pair("x.shape", tokens), std::pair("x_kv.shape", keyTokens), std::pair("w_q.shape", queries),
        std::pair("w_k.shape", keys), std::pair("w_v.shape", values), std::pair("x.shape", columns)})
    if (size > layer::kLongest)
      return base::refuse(ErrorKind::range, field, {number(size), " is too large; give smaller matrices."});
  problem_.rank = 2;
  problem_.q = layer::splitView(batch, heads, tokens, queryDim);
  problem_.k = layer::splitView(batch, kvHeads, keyTokens,
                                mayDiffer ? std::max<std::int64_t>(1, keys / kvHeads) : queryDim);
  problem_.v = layer::splitView(batch, kvHeads, keyTokens, std::max<std::int64_t>(1, values / kvHeads));
  return {};
}

/// Moves a matrix into the state, once all sizes are known.
Result<void> StateMaker::place(TensorId id, std::optional<Array>& array) {
  const document::Axes want = axes(state_, id);
  const bool isBatch = array->shape.size() == 3;
  Shape wanted{want.rows.count(), want.cols.count()};
  if (isBatch) wanted.insert(wanted.begin(), problem_.q.batch);
  if (array->shape != wanted)
    return base::refuse(
        ErrorKind::range, std::string(attention::name(id)) + ".shape",
        {base::shapeText(array->shape), " does not fit; it must be ", base::shapeText(wanted), "."});
  const Tensor all = layer::tensorOf(*array);
  array.reset();
  for (int b = 0; b < all.heads(); ++b) {
    Tensor& one = inputOf(id, b);
    one = Tensor(1, all.rows(), all.cols());
    std::copy_n(all.head(b), all.rows() * all.cols(), one.data());
  }
  return {};
}

Result<void> StateMaker::projected() {
  const std::pair<TensorId, std::optional<Array>*> matrices[] = {
      {TensorId::x, &file_.x},    {TensorId::x_kv, &file_.xKv}, {TensorId::w_q, &file_.wQ},
      {TensorId::w_k, &file_.wK}, {TensorId::w_v, &file_.wV},   {TensorId::w_o, &file_.wO},
      {TensorId::b_q, &file_.bQ}, {TensorId::b_k, &file_.bK},   {TensorId::b_v, &file_.bV},
      {TensorId::b_o, &file_.bO}, {TensorId::x_v, &file_.xV}};
  if (auto ok = layer::readOptions(file_, {}, problem_.options); !ok) return ok;
  for (const auto& [id, array] : matrices) {
    if (document::isProjectionBias(id) && *array && (*array)->shape.size() == 1)
      (*array)->shape.insert((*array)->shape.begin(), 1);
    const bool isSequence = id == TensorId::x || id == TensorId::x_kv || id == TensorId::x_v;
    if (!isSequence)
      if (auto ok = matrix(attention::name(id), *array); !ok) return ok;
    state_.projectionBias = state_.projectionBias || (document::isProjectionBias(id) && *array);
  }
  if (auto ok = batches(); !ok) return ok;
  if (auto ok = widths(); !ok) return ok;
  layer::sizePattern(problem_.options, problem_.keys());
  if (auto ok = layer::checkMasks(file_, problem_); !ok) return ok;
  state_.mode = document::Mode::x;
  state_.cross = file_.xKv.has_value();
  state_.modelDim = static_cast<int>(sizeOf(*file_.x, 1));
  if (state_.modelDim == 0)
    return base::refuse(ErrorKind::range, "x.shape",
                        {base::shapeText(file_.x->shape), " has no columns; give at least one."});
  state_.outputProjection = file_.wO.has_value();
  if (file_.wO && file_.wO->shape[1] != sizeOf(*file_.x, 1)) {
    if (file_.wO->shape[1] < 1 || file_.wO->shape[1] > attention::Limits::modelDim)
      return base::refuse(ErrorKind::range, "w_o.shape",
                          {base::shapeText(file_.wO->shape), " has ", number(file_.wO->shape[1]),
                           " columns; use 1 to ", number(attention::Limits::modelDim), "."});
    state_.outputDim = static_cast<int>(file_.wO->shape[1]);
  }
  if (!file_.wO && file_.bO)
    return base::refuse(ErrorKind::range, "b_o",
                        {"it is given without w_o, whose products it is added to; give both, or neither."});
  if (auto ok = settle("x.shape"); !ok) return ok;
  for (const auto& [id, array] : matrices)
    if (*array)
      if (auto ok = place(id, *array); !ok) return ok;
  return {};
}

// ---- masks

bool StateMaker::haveLengthsOfTheirOwn() const {
  if (!file_.keyLengths) return false;
  const std::vector<float>& lengths = file_.keyLengths->values;
  return std::any_of(lengths.begin(), lengths.end(), [&](float length) { return length != lengths.front(); });
}

/// The board has one key length and one position of the first query for all items of a batch.
Result<void> StateMaker::positions() {
  const attention::Spec spec = document::spec(state_);
  if (!haveLengthsOfTheirOwn()) {
    if (auto ok = layer::checkPosition(file_, problem_, spec, 0); !ok) return ok;
    state_.keyLength = layer::keyLength(file_, problem_, 0);
    state_.causalOffset = std::max(layer::firstPosition(file_, problem_, 0), 0);
    return {};
  }
  if (layer::isOrdered(spec) || spec.maskAfterSoftmax || spec.prefix > 0)
    return base::refuse(ErrorKind::range, "key_lengths",
                        {"the entries of the batch have different ones, and with these options the board has "
                         "one for all; give one entry."});
  state_.causalOffset = static_cast<int>(problem_.past);
  return {};
}

Result<void> StateMaker::masks() {
  layer::Mask mask;
  const bool isGiven = file_.mask.has_value();
  const bool isCells = isGiven && layer::isPainted(*file_.mask);
  if (isGiven) mask = layer::maskOf(std::move(*file_.mask), problem_);
  if (isCells && mask.headStride == 0 && mask.batchStride == 0) {
    state_.painted = layer::paintedOf(mask, problem_, 0);
    document::tidyMask(state_.painted);
    mask = {};
  }
  if (isCells && state_.maskAfterSoftmax && !mask.blocked.empty())
    return base::refuse(ErrorKind::range, "mask.shape",
                        {"it differs between heads or entries of the batch, and after the softmax one is for "
                         "all; give one."});
  const bool isBias = !mask.blocked.empty() || !mask.bias.empty();
  if (!isBias && !haveLengthsOfTheirOwn()) return {};
  state_.biasKind =
      mask.headStride != 0 && state_.heads > 1 ? document::Bias::perHead : document::Bias::shared;
  if (auto ok = checkSizes(isBias ? "mask.shape" : "key_lengths", state_); !ok) return ok;
  addBias(mask);
  return {};
}

void StateMaker::addBias(const layer::Mask& mask) {
  for (int b = 0; b < state_.batch; ++b) {
    Tensor& bias = inputOf(TensorId::bias, b);
    bias = layer::biasOf(mask, problem_, b);
    if (bias.empty()) bias = Tensor(1, state_.tokens, state_.keyTokens);
    if (!haveLengthsOfTheirOwn()) continue;
    for (int h = 0; h < bias.heads(); ++h)
      for (int i = 0; i < bias.rows(); ++i)
        std::fill(bias.row(h, i) + layer::keyLength(file_, problem_, b), bias.row(h, i) + bias.cols(),
                  -std::numeric_limits<float>::infinity());
  }
}

}  // namespace

Result<State> rawStateOf(TensorsFile file, const State& current) {
  return StateMaker(std::move(file), current).make();
}

Result<State> stateOf(TensorsFile file, const State& current) {
  const bool isFinite = file.isFinite;
  Result<State> state = rawStateOf(std::move(file), current);
  if (!state) return state;
  if (!isFinite)
    if (auto ok = document::hideNotFinite(*state); !ok) return ok;
  if (auto ok = document::check(*state); !ok) return ok;
  return state;
}

Result<State> readState(std::string_view bytes, const State& current) {
  if (bytes.size() > document::kMaxTextBytes)
    return document::fromText(bytes, current);  // which returns that error
  Result<TensorsFile> file = readTensorsFile(bytes);
  // If the file is neither, or its error concerns it as a whole, the error of state texts is used, which
  // covers both kinds.
  const bool isNeither =
      !file && (file.error().field == "file" ||
                (file.error().field == "q" && file.error().fault == base::Error::Fault::missing));
  if (isNeither || (file && file->isState)) return document::fromText(bytes, current);
  if (!file) return file.error();
  return stateOf(std::move(*file), current);
}

}  // namespace files
