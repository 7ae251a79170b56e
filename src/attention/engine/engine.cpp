#include "attention/engine/engine.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>

#include "attention/steps/mask.h"

namespace attention {
namespace {

using What = Change::What;

/// How a changed key affected a query.
enum Mark : std::uint8_t {
  untouched,
  touched,  // its exponential changed
  moved,    // the row's maximum may have changed: the row is recomputed
};

constexpr float kMost = std::numeric_limits<float>::max();

// Beyond these sizes, recomputing a whole head is as fast as updating it (measured at 1024 x 1024 x 64;
// tests/bench/incremental.cpp).
constexpr int kRowsOfHead = 3;      // more than a third of the queries
constexpr int kKeysOfHead = 32;     // more than one key in 32
constexpr int kRowsByProduct = 64;  // up to this many changed rows of concat are multiplied one by one
constexpr int kValuesAtOnce =
    8;  // up to this many rows of V are updated one by one; beyond, the sums are recomputed

constexpr int kTokensAtOnce = 16;  // more than one token in 16
// When tokens are inserted or removed, layers with fewer scores per head than this, and as few products of X
// with its weights, are recomputed, which is faster than moving the existing numbers.
constexpr int kFewScores = 64 * 64, kFewProducts = 1 << 16;

// Layers with more scores than this are computed one head after the other. Fewer take less than 30 ms on a
// page (measured).
constexpr std::int64_t kScoresAtOnce = 1 << 20;

/// The tensors that are computed head by head.
constexpr TensorId kOfHeads[] = {TensorId::raw,        TensorId::scores,  TensorId::softcapped,
                                 TensorId::biased,     TensorId::masked,  TensorId::exponentials,
                                 TensorId::row_max,    TensorId::row_sum, TensorId::weights,
                                 TensorId::head_output};
bool isOption(What what) { return what == What::causal || what == What::scale || what == What::temperature; }
bool isOfTokens(What what) { return what == What::tokensInserted || what == What::tokensRemoved; }

int columns(const Tensor* tensor) { return tensor ? tensor->cols() : 0; }

bool sameShapes(const Spec& a, const Spec& b) {
  return a.heads == b.heads && a.kvHeads == b.kvHeads && a.queryCount == b.queryCount &&
         a.keyCount == b.keyCount && a.headDim == b.headDim && queryWidth(a) == queryWidth(b) &&
         a.valueDim == b.valueDim;
}

/// Does the layer have incremental updates? Others are recomputed, except for an edit of W_O, which nothing
/// else depends on.
bool hasUpdates(const Spec& spec, const Inputs& inputs) {
  return isPlain(spec) && !inputs.xKv && !inputs.xV && !inputs.bias;
}

bool isOutputWeights(const Change& change) {
  return change.what == What::cells && (change.tensor == TensorId::w_o || change.tensor == TensorId::b_o);
}

/// Calls use(head, columns) for each head, `dim` columns wide, that the given columns of a weight matrix
/// belong to.
template <class Use>
void forHeads(int dim, Span cols, Use use) {
  for (int head = cols.begin / dim; head * dim < cols.end; ++head) {
    use(head, Span{std::max(0, cols.begin - head * dim), std::min(dim, cols.end - head * dim)});
  }
}

bool isSmall(const Spec& spec, int modelDim) {
  const std::int64_t scores = std::int64_t{spec.queryCount} * spec.keyCount;
  const std::int64_t products =
      std::int64_t{modelDim} * spec.keyCount * (spec.heads + 2 * spec.kvHeads) * spec.headDim;
  return scores < kFewScores && products < kFewProducts;
}

/// A masked score as softmax uses it, by the same operations as kernels::softmax.
float temperatureScaled(float masked, float inverseTemperature) {
  return masked == kHiddenScore ? kHiddenScore : std::clamp(masked * inverseTemperature, -kMost, kMost);
}

}  // namespace

void Engine::apply(const Spec& spec, const Inputs& inputs, std::span<const Change> changes) {
  if (changes.empty()) return;
  assert(validate(spec, inputs, Room::memory));
  const bool canUpdate = (hasUpdates(spec, inputs) && hasUpdates(spec_, inputs_)) ||
                         std::all_of(changes.begin(), changes.end(), isOutputWeights);
  const bool sameWidths = columns(inputs.x) == modelDim_ && columns(inputs.wO) == outputDim_;
  const bool wasStored = isStored();
  previous_ = spec_, spec_ = spec, inputs_ = inputs;
  modelDim_ = columns(inputs.x), outputDim_ = columns(inputs.wO);
  const std::int64_t ofHead = std::int64_t{spec_.queryCount} * spec_.keyCount;
  scratch_.pairs = ofHead > most_.ofHead || spec_.heads * ofHead > most_.ofAll ? this : nullptr;
  scratch_.isOfRows = !isStored() && spec_.heads == 1 && ofHead > most_.inFull;
  if (!isStored()) return applyUnstored(changes, !wasStored && sameWidths && sameShapes(spec_, previous_));
  meanWeights_ = {}, ofMean_ = {};
  // Options affect everything after the scores; combined with other changes, one recomputation is cheaper.
  const bool mixed = changes.size() > 1 && std::any_of(changes.begin(), changes.end(),
                                                       [](const Change& c) { return isOption(c.what); });
  const auto rest = changes.subspan(isOfTokens(changes.front().what) ? 1 : 0);
  const bool known = wasStored && isWhole() && canUpdate && sameWidths && follows(changes.front()) &&
                     !mixed &&
                     std::all_of(rest.begin(), rest.end(), [this](const Change& c) { return fits(c); });
  const bool isAll = !known || isOfTokens(changes.front().what);
  summaries_.begin(isAll);
  if (known) {
    for (const Change& change : changes) applyOne(change);
    finish();
  } else {
    recompute();
    const bool isNew = !sameShapes(spec_, previous_) ||
                       std::any_of(changes.begin(), changes.end(),
                                   [](const Change& c) { return c.what == What::everything; });
    if (!isNew || std::int64_t{spec_.heads} * spec_.queryCount * spec_.keyCount <= kScoresAtOnce)
      computeHeads({0, spec_.heads});
  }
  if (isAll) summaries_.touchAll(spec_, inputs_, trace_);
  if (!isWhole()) withhold();
  touchMask(changes);
}

/// Computes everything before the heads.
void Engine::recompute() {
  forwardInputs(spec_, inputs_, trace_, scratch_);
  missing_.assign(static_cast<std::size_t>(spec_.heads), 1), missingCount_ = spec_.heads;
  sums_.resize(static_cast<std::size_t>(spec_.heads));
  for (RunningSoftmaxSums& sums : sums_) sums.reset(spec_.queryCount, spec_.valueDim);
  fitBuffers();
}

/// Computes heads that are missing: one, or all. With the last of them follows what needs every head.
void Engine::computeHeads(Span heads) {
  forwardHeads(spec_, inputs_, heads, trace_, scratch_);
  std::fill(missing_.begin() + heads.begin, missing_.begin() + heads.end, std::uint8_t{0});
  missingCount_ -= heads.size();
  if (missingCount_ == 0) forwardOutput(inputs_, trace_, scratch_);
}

/// The same after apply(), when summaries may have been asked for.
void Engine::computeLater(Span heads) {
  computeHeads(heads);
  summaries_.begin(false);
  for (int h = heads.begin; h < heads.end; ++h) {
    for (const TensorId id : kOfHeads) summaries_.touchHead(id, h);
  }
  if (isWhole()) summaries_.touchHead(TensorId::concat, 0), summaries_.touchHead(TensorId::output, 0);
}

// Of a sampled layer every number that is read is made, so no reader waits for the samples of its overview.
const Trace& Engine::trace() {
  if (isSampled()) return trace_;
  if (isStored() && !isWhole() && missingCount_ == spec_.heads) computeLater({0, spec_.heads});
  while (!isWhole()) computeNext();
  return trace_;
}

const Trace& Engine::traceWith(int head) {
  if (isSampled()) return trace_;
  const auto at = static_cast<std::size_t>(head);
  while (!isWhole() && missing_[at]) isStored() ? computeLater({head, head + 1}) : computeSome(head);
  return trace_;
}

void Engine::computeNext(bool isBrief) {
  isBrief_ = isBrief;
  computeOne();
  isBrief_ = false;
}

void Engine::computeOne() {
  if (summaries_.detail().hasMore()) return computeDetail();
  if (isWhole() && ofMean_.left > 0) return computeMean();
  if (isWhole()) return computeProfiles();
  const auto wanted = static_cast<std::size_t>(wanted_);
  const auto next = std::find(missing_.begin(), missing_.end(), std::uint8_t{1});
  const int head =
      wanted < missing_.size() && missing_[wanted] ? wanted_ : static_cast<int>(next - missing_.begin());
  isStored() ? (void)traceWith(head) : computeSome(head);
}

/// Tells the summaries what is missing of a layer that was recomputed.
void Engine::withhold() {
  for (int h = 0; h < spec_.heads; ++h) {
    for (const TensorId id : kOfHeads) summaries_.withhold(id, h);
  }
  summaries_.withhold(TensorId::concat, 0), summaries_.withhold(TensorId::output, 0);
}

void Engine::fitBuffers() {
  const std::size_t queries = static_cast<std::size_t>(spec_.queryCount);
  mark_.assign(queries, untouched), changed_.assign(queries, 0);
  exponents_.resize(queries), deltas_.resize(queries);
  column_.resize(std::max(queries, static_cast<std::size_t>(spec_.keyCount)));
  ones_.resize(static_cast<std::size_t>(spec_.keyCount), 1.0f);
}

/// Does the new shape follow from the previous one by the first change? Only tokens may change it.
bool Engine::follows(const Change& first) const {
  if (!isOfTokens(first.what)) return sameShapes(spec_, previous_);
  const bool isInserted = first.what == What::tokensInserted;
  const int shorter = std::min(previous_.queryCount, previous_.keyCount);
  if (first.rows < 1 || first.row < 0 || first.row > shorter - (isInserted ? 0 : first.rows)) return false;
  if (first.rows > 1 && first.rows > shorter / kTokensAtOnce) return false;
  if (isSmall(previous_, modelDim_)) return false;
  Spec expected = previous_;
  expected.queryCount += isInserted ? first.rows : -first.rows;
  expected.keyCount += isInserted ? first.rows : -first.rows;
  return sameShapes(spec_, expected);
}

/// Can the change be applied to the trace? Not if it lies outside its tensor.
bool Engine::fits(const Change& change) const {
  if (isOption(change.what)) return true;
  const bool inside =
      change.head >= 0 && change.row >= 0 && change.col >= 0 && change.rows >= 0 && change.cols >= 0;
  const auto within = [&](int heads, int rows, int cols) {
    return inside && change.head < heads && change.rows <= rows - change.row &&
           change.cols <= cols - change.col;
  };
  if (change.what == What::painted) return within(1, spec_.queryCount, spec_.keyCount);
  if (change.what != What::cells) return false;
  const auto given = tensorRow(change.tensor).given;
  const Tensor* tensor = given ? inputs_.*given : nullptr;
  return tensor && within(tensor->heads(), tensor->rows(), tensor->cols());
}

void Engine::applyOne(const Change& change) {
  if (isOption(change.what)) return changeAll(change);
  if (change.what == What::tokensInserted) return insertTokens({change.row, change.rows});
  if (change.what == What::tokensRemoved) return removeTokens({change.row, change.rows});
  if (change.rows == 0 || change.cols == 0) return;
  if (change.what == What::cells) return applyCells(change);
  changeMask({change.row, change.row + change.rows}, {change.col, change.col + change.cols});
}

void Engine::applyCells(const Change& change) {
  const Span rows{change.row, change.row + change.rows}, cols{change.col, change.col + change.cols};
  const Span queries{0, spec_.queryCount}, keys{0, spec_.keyCount};
  summaries_.touchRows(change.tensor, change.head, rows);
  switch (change.tensor) {
    case TensorId::x: return applyX(rows);
    case TensorId::b_q:
    case TensorId::w_q:
      return forHeads(queryWidth(spec_), cols, [&](int head, Span part) {
        makeQueries(inputs_, head, queries, part, trace_);
        changeQueries(head, queries);
      });
    case TensorId::b_k:
    case TensorId::w_k:
      return forHeads(spec_.headDim, cols, [&](int kvHead, Span part) {
        makeKeys(inputs_, kvHead, keys, part, trace_);
        changeKeys(kvHead, keys);
      });
    case TensorId::b_v:
    case TensorId::w_v:
      return forHeads(spec_.valueDim, cols, [&](int kvHead, Span part) { changeValues(kvHead, keys, part); });
    case TensorId::b_o:
    case TensorId::w_o:
      summaries_.touchCols(TensorId::output, 0, cols);
      return makeOutput(inputs_, queries, cols, trace_);
    case TensorId::q:
      return makeQueries(inputs_, change.head, rows, cols, trace_), changeQueries(change.head, rows);
    case TensorId::k:
      return makeKeys(inputs_, change.head, rows, cols, trace_), changeKeys(change.head, rows);
    case TensorId::v: return changeValues(change.head, rows, cols);
    default: return;
  }
}

/// Rows of X determine rows of Q, K and V.
void Engine::applyX(Span rows) {
  for (int g = 0; g < spec_.kvHeads; ++g) {
    makeKeys(inputs_, g, rows, {0, spec_.headDim}, trace_);
    changeKeys(g, rows);
    changeValues(g, rows, {0, spec_.valueDim});
  }
  for (int h = 0; h < spec_.heads; ++h) {
    makeQueries(inputs_, h, rows, {0, queryWidth(spec_)}, trace_);
    changeQueries(h, rows);
  }
}

// ---- queries

void Engine::changeQueries(int head, Span queries) {
  summaries_.touchRows(TensorId::q, head, queries);
  if (spec_.heads == spec_.kvHeads && queries.size() * kRowsOfHead > spec_.queryCount) return redoGroup(head);
  touchPairs(head, queries);
  for (int i = queries.begin; i < queries.end; ++i) {
    makeRaw(spec_, head, {i, i + 1}, {0, spec_.keyCount}, trace_);
    makeScores(spec_, head, {i, i + 1}, {0, spec_.keyCount}, trace_);
    makeMasked(spec_, inputs_.painted, head, {i, i + 1}, {0, spec_.keyCount}, trace_);
    redoRow(head, i);
  }
}

/// Recomputes weights and output of one query from its masked scores.
void Engine::redoRow(int head, int query) {
  makeWeights(spec_, inputs_, head, {query, query + 1}, trace_);
  makeHeadOutput(spec_, head, {query, query + 1}, trace_);
  touchWeights(head, {query, query + 1});
  sums_[static_cast<std::size_t>(head)].forget(query);
  writeRows(head, {query, query + 1});
}

void Engine::redoGroup(int kvHead) {
  forwardGroup(spec_, inputs_.painted, kvHead, trace_, scratch_);
  const int group = spec_.heads / spec_.kvHeads;
  for (int h = kvHead * group; h < (kvHead + 1) * group; ++h) {
    sums_[static_cast<std::size_t>(h)].forgetAll();
    touchPairs(h, {0, spec_.queryCount});
    touchWeights(h, {0, spec_.queryCount});
    writeRows(h, {0, spec_.queryCount});
  }
}

// ---- keys

void Engine::changeKeys(int kvHead, Span keys) {
  summaries_.touchRows(TensorId::k, kvHead, keys);
  if (keys.size() * kKeysOfHead > spec_.keyCount && keys.size() > 1) return redoGroup(kvHead);
  const int group = spec_.heads / spec_.kvHeads;
  for (int h = kvHead * group; h < (kvHead + 1) * group; ++h) changeKeysOf(h, keys);
}

void Engine::changeKeysOf(int head, Span keys) {
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  sums.prepare();
  std::fill(mark_.begin(), mark_.end(), untouched);
  const Span queries{0, spec_.queryCount};
  for (int j = keys.begin; j < keys.end; ++j) {
    makeRaw(spec_, head, queries, {j, j + 1}, trace_);
    makeScores(spec_, head, queries, {j, j + 1}, trace_);
    touchPairsOf(head, j);
    if (changeExponentials(head, j) > 0) sums.addKey(deltas_.data(), trace_.v.row(kvHeadOf(spec_, head), j));
  }
  redoMovedRows(head);
  writeTouchedRows(head, {0, spec_.valueDim}, true);
}

/// Recomputes the masked scores and exponentials of one key from its new scores. Writes the changes of the
/// exponentials to deltas_, 0 where the row's maximum may have changed, and returns how many are not 0.
int Engine::changeExponentials(int head, int key) {
  const float inverse = 1.0f / spec_.temperature;
  for (int i = 0; i < spec_.queryCount; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    float& masked = trace_.masked.at(head, i, key);
    const float max = trace_.rowMax.at(head, i, 0);
    const bool wasHidden = masked == kHiddenScore;
    if (!wasHidden) masked = trace_.scores.at(head, i, key);
    const float now = wasHidden ? kHiddenScore : temperatureScaled(masked, inverse);
    // An exponential of 1 belonged to the maximum (or rounds to it); now another key may have it.
    const bool isMoved = now > max || (now < max && trace_.exponentials.at(head, i, key) == 1.0f);
    if (isMoved) mark_[at] = moved;
    exponents_[at] = mark_[at] == moved ? kHiddenScore : now - max;
    if (max == kHiddenScore) exponents_[at] = kHiddenScore;
  }
  kernels::exp(kernels::best(), exponents_.data(), 0.0f, spec_.queryCount, exponents_.data());
  int count = 0;
  for (int i = 0; i < spec_.queryCount; ++i) {
    const std::size_t at = static_cast<std::size_t>(i);
    deltas_[at] = 0.0;
    if (mark_[at] == moved) continue;
    float& exponential = trace_.exponentials.at(head, i, key);
    deltas_[at] = double{exponents_[at]} - double{exponential};
    exponential = exponents_[at];
    if (deltas_[at] == 0.0) continue;
    mark_[at] = touched;
    ++count;
  }
  return count;
}

/// Recomputes the rows whose maximum may have changed: all their exponentials are new.
void Engine::redoMovedRows(int head) {
  for (int i = 0; i < spec_.queryCount; ++i) {
    if (mark_[static_cast<std::size_t>(i)] == moved) redoRow(head, i);
  }
}

// ---- values

void Engine::changeValues(int kvHead, Span keys, Span cols) {
  summaries_.touchRows(TensorId::v, kvHead, keys);
  std::array<float, static_cast<std::size_t>(kValuesAtOnce) * static_cast<std::size_t>(Limits::headDim)>
      before;
  const bool few = keys.size() <= kValuesAtOnce && cols.size() <= Limits::headDim;
  for (int j = keys.begin; few && j < keys.end; ++j) {
    std::copy_n(trace_.v.row(kvHead, j) + cols.begin, cols.size(),
                before.data() + (j - keys.begin) * cols.size());
  }
  makeValues(inputs_, kvHead, keys, cols, trace_);
  const int group = spec_.heads / spec_.kvHeads;
  for (int h = kvHead * group; h < (kvHead + 1) * group; ++h) {
    if (few) {
      changeValuesOf(h, keys, cols, before.data());
    } else if (cols.size() == 1) {
      redoColumn(h, cols.begin);
    } else {
      redoHeadOutput(h);
    }
  }
}

/// For a few rows of V: subtracts their previous contribution to the outputs and adds the new one, column by
/// column.
void Engine::changeValuesOf(int head, Span keys, Span cols, const float* before) {
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  sums.prepare();
  std::fill(mark_.begin(), mark_.end(), untouched);
  for (int j = keys.begin; j < keys.end; ++j, before += cols.size()) {
    for (int i = 0; i < spec_.queryCount; ++i) {
      const std::size_t at = static_cast<std::size_t>(i);
      column_[at] = trace_.exponentials.at(head, i, j);
      if (column_[at] > 0.0f) mark_[at] = touched;
    }
    const float* after = trace_.v.row(kvHeadOf(spec_, head), j);
    for (int c = cols.begin; c < cols.end; ++c)
      sums.addValue(c, column_.data(), before[c - cols.begin], after[c]);
  }
  writeTouchedRows(head, cols, false);
}

/// Recomputes one column of outputs, for a column of V that is entirely new.
void Engine::redoColumn(int head, int col) {
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  sums.prepare();
  std::fill(mark_.begin(), mark_.end(), touched);
  int gathered = -1;
  for (int i = 0; i < spec_.queryCount; ++i) gathered = takeSums(head, i, {col, col + 1}, gathered);
  writeTouchedRows(head, {col, col + 1}, false);
}

/// Recomputes all outputs of a head from its weights.
void Engine::redoHeadOutput(int head) {
  forwardHeadOutput(spec_, head, trace_, scratch_);
  sums_[static_cast<std::size_t>(head)].forgetAll();
  writeRows(head, {0, spec_.queryCount});
}

/// Writes some columns of the outputs of the touched queries from their sums, computing sums that are unknown
/// first. With `newTotals` also the weights, whose totals have changed.
void Engine::writeTouchedRows(int head, Span cols, bool newTotals) {
  constexpr int kBlock = RunningSoftmaxSums::kBlock;
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  outputs_.resize(static_cast<std::size_t>(kBlock * cols.size()));
  int gathered = -1;
  for (int first = 0; first < spec_.queryCount; first += kBlock) {
    const int count = std::min(kBlock, spec_.queryCount - first);
    const std::uint8_t* marks = mark_.data() + first;
    if (std::find(marks, marks + count, touched) == marks + count) continue;
    bool known[kBlock];
    double totals[kBlock];
    sums.findKnown(first, count, cols.begin, cols.size(), known);
    for (int n = 0; n < count; ++n) {
      const int i = first + n;
      if (marks[n] == touched && !(known[n] && (sums.knowsTotal(i) || !newTotals))) {
        gathered = takeSums(head, i, cols, gathered);
      }
      totals[n] = sums.knowsTotal(i) ? sums.total(i) : double{trace_.rowSum.at(head, i, 0)};
    }
    sums.quotients(first, count, totals, cols.begin, cols.size(), outputs_.data());
    for (int n = 0; n < count; ++n) {
      if (marks[n] != touched) continue;
      if (newTotals) normaliseRow(head, first + n, totals[n]);
      writeRow(head, first + n, cols, outputs_.data() + n * cols.size());
    }
  }
}

/// Recomputes the sum of a row of exponentials, as a dot product with ones.
float Engine::sumOfRow(int head, int query) const {
  float sum = 0.0f;
  kernels::dots(kernels::best(), ones_.data(), trace_.exponentials.row(head, query), 0, 1, spec_.keyCount,
                &sum, 1);
  return sum;
}

void Engine::normaliseRow(int head, int query, double total) {
  const KeyRange visible = visibleKeys(spec_, query);
  trace_.rowSum.at(head, query, 0) = static_cast<float>(total);
  summaries_.touchRows(TensorId::row_sum, head, {query, query + 1});
  summaries_.touchRows(TensorId::weights, head, {query, query + 1});
  const float inverse = total > 0.0 ? static_cast<float>(1.0 / total) : 0.0f;
  kernels::scale(kernels::best(), inverse, trace_.exponentials.row(head, query) + visible.begin,
                 visible.end - visible.begin, trace_.weights.row(head, query) + visible.begin);
}

void Engine::writeRow(int head, int query, Span cols, const float* values) {
  const int placed = head * spec_.valueDim + cols.begin;
  summaries_.touchRows(TensorId::head_output, head, {query, query + 1});
  summaries_.touchRows(TensorId::concat, 0, {query, query + 1});
  if (!inputs_.wO) summaries_.touchRows(TensorId::output, 0, {query, query + 1});
  std::copy_n(values, cols.size(), trace_.headOutput.row(head, query) + cols.begin);
  std::copy_n(values, cols.size(), trace_.concat.row(0, query) + placed);
  if (!inputs_.wO) std::copy_n(values, cols.size(), trace_.output.row(0, query) + placed);
  changed_[static_cast<std::size_t>(query)] = 1;
}

/// Recomputes the sums of one query: one weighted sum if only that is needed, otherwise all and the total.
/// `gathered` is the column of V that column_ holds; returns the one that it holds afterwards.
int Engine::takeSums(int head, int query, Span cols, int gathered) {
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  const int kvHead = kvHeadOf(spec_, head), col = cols.begin;
  if (cols.size() > 1 || spec_.valueDim == 1) {
    sums.takeRow(query, trace_.exponentials.row(head, query), trace_.v.head(kvHead), spec_.keyCount);
    return gathered;
  }
  for (int j = 0; gathered != col && j < spec_.keyCount; ++j) {
    column_[static_cast<std::size_t>(j)] = trace_.v.at(kvHead, j, col);
  }
  sums.take(query, col, trace_.exponentials.row(head, query), column_.data(), spec_.keyCount);
  return col;
}

// ---- tokens

// Scores between the other tokens move to their new indices; the weights, whose totals change in nearly all
// rows, are recomputed from the exponentials.

void Engine::insertTokens(Insertion inserted) {
  for (Tensor* t : {&trace_.q, &trace_.k, &trace_.v, &trace_.rowMax, &trace_.rowSum, &trace_.headOutput,
                    &trace_.concat, &trace_.output}) {
    insertRows(*t, inserted, {});
  }
  for (Tensor* t : {&trace_.raw, &trace_.scores, &trace_.masked, &trace_.exponentials})
    insertRows(*t, inserted, inserted);
  trace_.weights.reshape(spec_.heads, spec_.queryCount, spec_.keyCount);
  fitBuffers();
  const Span fresh{inserted.at, inserted.at + inserted.count};
  for (int g = 0; g < spec_.kvHeads; ++g) {
    makeKeys(inputs_, g, fresh, {0, spec_.headDim}, trace_);
    makeValues(inputs_, g, fresh, {0, spec_.valueDim}, trace_);
  }
  for (int h = 0; h < spec_.heads; ++h) {
    makeQueries(inputs_, h, fresh, {0, queryWidth(spec_)}, trace_);
    insertKeysOf(h, inserted);
  }
}

void Engine::insertKeysOf(int head, Insertion inserted) {
  const Span queries{0, spec_.queryCount}, keys{0, spec_.keyCount},
      fresh{inserted.at, inserted.at + inserted.count};
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  sums.moveQueries({inserted.at, 0, inserted.count});
  const bool summing = sums.knowsMost();
  std::fill(mark_.begin(), mark_.end(), untouched);
  std::fill_n(mark_.begin() + inserted.at, inserted.count, moved);
  makeRaw(spec_, head, fresh, keys, trace_);
  makeScores(spec_, head, fresh, keys, trace_);
  makeMasked(spec_, inputs_.painted, head, fresh, keys, trace_);
  for (int j = fresh.begin; j < fresh.end; ++j) {
    makeRaw(spec_, head, queries, {j, j + 1}, trace_);
    makeScores(spec_, head, queries, {j, j + 1}, trace_);
    makeMasked(spec_, inputs_.painted, head, queries, {j, j + 1}, trace_);
    if (changeExponentials(head, j) > 0 && summing)
      sums.addKey(deltas_.data(), trace_.v.row(kvHeadOf(spec_, head), j));
  }
  for (int i = 0; i < previous_.queryCount; ++i) {
    const int now = i < inserted.at ? i : i + inserted.count;
    if (!seesTheSame(inserted, visibleKeys(spec_, now), visibleKeys(previous_, i))) changeSight(head, now);
  }
  finishTokens(head, summing);
}

void Engine::removeTokens(Insertion inserted) {
  // The contributions of the removed keys to the remaining rows are saved before they are deleted.
  std::vector<float> exponentials, values;
  for (int h = 0; h < spec_.heads; ++h) {
    for (int j = inserted.at; j < inserted.at + inserted.count; ++j) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        exponentials.push_back(trace_.exponentials.at(h, i < inserted.at ? i : i + inserted.count, j));
      }
    }
  }
  for (int g = 0; g < spec_.kvHeads; ++g) {
    values.insert(values.end(), trace_.v.row(g, inserted.at),
                  trace_.v.row(g, inserted.at) + inserted.count * spec_.valueDim);
  }
  for (Tensor* t : {&trace_.q, &trace_.k, &trace_.v, &trace_.rowMax, &trace_.rowSum, &trace_.headOutput,
                    &trace_.concat, &trace_.output}) {
    removeRows(*t, inserted, {});
  }
  for (Tensor* t : {&trace_.raw, &trace_.scores, &trace_.masked, &trace_.exponentials})
    removeRows(*t, inserted, inserted);
  trace_.weights.reshape(spec_.heads, spec_.queryCount, spec_.keyCount);
  fitBuffers();
  const std::ptrdiff_t column = std::ptrdiff_t{inserted.count} * spec_.queryCount;
  const std::ptrdiff_t row = std::ptrdiff_t{inserted.count} * spec_.valueDim;
  for (int h = 0; h < spec_.heads; ++h) {
    removeKeysOf(h, inserted, exponentials.data() + h * column, values.data() + kvHeadOf(spec_, h) * row);
  }
}

/// `exponentials` of the removed keys, one number per query for each, and their rows of V.
void Engine::removeKeysOf(int head, Insertion inserted, const float* exponentials, const float* values) {
  RunningSoftmaxSums& sums = sums_[static_cast<std::size_t>(head)];
  sums.moveQueries({inserted.at, inserted.count, 0});
  const bool summing = sums.knowsMost();
  std::fill(mark_.begin(), mark_.end(), untouched);
  for (int j = 0; j < inserted.count; ++j, exponentials += spec_.queryCount, values += spec_.valueDim) {
    for (int i = 0; i < spec_.queryCount; ++i) {
      std::uint8_t& mark = mark_[static_cast<std::size_t>(i)];
      deltas_[static_cast<std::size_t>(i)] = -double{exponentials[i]};
      // An exponential of 1 belonged to the maximum (or rounds to it); now another key has it.
      if (exponentials[i] == 1.0f) mark = moved;
      if (exponentials[i] > 0.0f && mark == untouched) mark = touched;
    }
    if (summing) sums.addKey(deltas_.data(), values);
  }
  for (int i = 0; i < spec_.queryCount; ++i) {
    const int before = i < inserted.at ? i : i + inserted.count;
    if (!seesTheSame(inserted, visibleKeys(previous_, before), visibleKeys(spec_, i))) changeSight(head, i);
  }
  finishTokens(head, summing);
}

/// For a query that now sees other keys than before, apart from inserted and removed ones: the offset and
/// windows count positions.
void Engine::changeSight(int head, int query) {
  makeMasked(spec_, inputs_.painted, head, {query, query + 1}, {0, spec_.keyCount}, trace_);
  mark_[static_cast<std::size_t>(query)] = moved;
}

/// Weights and outputs after exponentials of some keys were inserted or removed. `summing`: the sums have
/// been updated too.
void Engine::finishTokens(int head, bool summing) {
  for (int i = 0; i < spec_.queryCount; ++i) {
    const std::uint8_t mark = mark_[static_cast<std::size_t>(i)];
    if (mark == moved) continue;
    const KeyRange visible = visibleKeys(spec_, i);
    float* weights = trace_.weights.row(head, i);
    std::fill(weights, weights + visible.begin, 0.0f);
    std::fill(weights + visible.end, weights + spec_.keyCount, 0.0f);
    if (mark == untouched) normaliseRow(head, i, double{trace_.rowSum.at(head, i, 0)});
    if (mark == touched && !summing) normaliseRow(head, i, double{sumOfRow(head, i)});
  }
  redoMovedRows(head);
  if (summing) return writeTouchedRows(head, {0, spec_.valueDim}, true);
  redoHeadOutput(head);
}

// ---- mask and options

void Engine::changeMask(Span queries, Span keys) {
  for (int h = 0; h < spec_.heads; ++h) {
    for (int i = queries.begin; i < queries.end; ++i) {
      makeMasked(spec_, inputs_.painted, h, {i, i + 1}, keys, trace_);
      summaries_.touchRows(TensorId::masked, h, {i, i + 1});
      redoRow(h, i);
    }
  }
}

/// Options affect every row, but nothing before the raw scores.
void Engine::changeAll(const Change& change) {
  const Span keys{0, spec_.keyCount};
  for (int h = 0; h < spec_.heads; ++h) {
    for (int i = 0; i < spec_.queryCount; ++i) {  // row by row, while the row is in the cache
      const Span row{i, i + 1};
      if (change.what == What::scale) {
        makeScores(spec_, h, row, keys, trace_);
        makeMasked(spec_, inputs_.painted, h, row, keys, trace_);
      } else if (change.what == What::causal) {
        // Only the mask between the old and the new ends of the visible range changes.
        const KeyRange before = visibleKeys(previous_, i), after = visibleKeys(spec_, i);
        const auto [firstBegin, lastBegin] = std::minmax(before.begin, after.begin);
        const auto [firstEnd, lastEnd] = std::minmax(before.end, after.end);
        makeMasked(spec_, inputs_.painted, h, row, {firstBegin, lastBegin}, trace_);
        makeMasked(spec_, inputs_.painted, h, row, {firstEnd, lastEnd}, trace_);
      }
      makeWeights(spec_, inputs_, h, row, trace_);
    }
    touchPairs(h, {0, spec_.queryCount});
    touchWeights(h, {0, spec_.queryCount});
    redoHeadOutput(h);
  }
}

// ---- outputs

void Engine::writeRows(int head, Span queries) {
  makeConcat(spec_, head, queries, trace_);
  summaries_.touchRows(TensorId::head_output, head, queries);
  summaries_.touchRows(TensorId::concat, 0, queries);
  if (!inputs_.wO) summaries_.touchRows(TensorId::output, 0, queries);
  const Span cols{head * spec_.valueDim, (head + 1) * spec_.valueDim};
  if (!inputs_.wO) return makeOutput(inputs_, queries, cols, trace_);
  std::fill(changed_.begin() + queries.begin, changed_.begin() + queries.end, std::uint8_t{1});
}

/// With W_O: multiplies every changed row of concat once, however many heads changed it.
void Engine::finish() {
  if (!inputs_.wO) return;
  const auto count = std::count(changed_.begin(), changed_.end(), std::uint8_t{1});
  if (count > kRowsByProduct) forwardOutput(inputs_, trace_, scratch_);
  if (count > kRowsByProduct) summaries_.touchRows(TensorId::output, 0, {0, spec_.queryCount});
  for (int i = 0; i < spec_.queryCount; ++i) {
    std::uint8_t& changed = changed_[static_cast<std::size_t>(i)];
    if (changed && count <= kRowsByProduct) {
      makeOutput(inputs_, {i, i + 1}, {0, trace_.output.cols()}, trace_);
      summaries_.touchRows(TensorId::output, 0, {i, i + 1});
    }
    changed = 0;
  }
}

// ---- summaries

/// Marks rows of the steps before the exponentials as written.
void Engine::touchPairs(int head, Span queries) {
  for (TensorId id : {TensorId::raw, TensorId::scores, TensorId::masked})
    summaries_.touchRows(id, head, queries);
}

/// Marks one key's column of these steps and of the exponentials as written.
void Engine::touchPairsOf(int head, int key) {
  for (TensorId id : {TensorId::raw, TensorId::scores, TensorId::masked, TensorId::exponentials}) {
    summaries_.touchCols(id, head, {key, key + 1});
  }
}

void Engine::touchWeights(int head, Span queries) {
  for (TensorId id : {TensorId::exponentials, TensorId::row_max, TensorId::row_sum, TensorId::weights}) {
    summaries_.touchRows(id, head, queries);
  }
}

void Engine::touchMask(std::span<const Change> changes) {
  for (const Change& change : changes) {
    const bool isOfBias = change.what == What::cells && change.tensor == TensorId::bias;
    if ((change.what == What::painted || isOfBias) && fits(change)) {
      summaries_.touchMask({change.row, change.row + change.rows}, spec_.queryCount);
    } else if ((change.what != What::cells || isOfBias) && change.what != What::scale &&
               change.what != What::temperature) {
      return summaries_.touchMask({0, spec_.queryCount}, spec_.queryCount);
    }
  }
}

}  // namespace attention
