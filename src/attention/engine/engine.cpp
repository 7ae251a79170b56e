#include "attention/engine/engine.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "attention/steps/mask.h"
#include "attention/steps/rows.h"

namespace attention {
namespace {

using What = Change::What;

// Beyond these sizes, recomputing a whole head is as fast as updating it (measured at 1024 x 1024 x 64;
// tests/bench/incremental.cpp).
constexpr int kRowsOfHead = 3;      // more than a third of the queries
constexpr int kKeysOfHead = 32;     // more than one key in 32
constexpr int kRowsByProduct = 64;  // up to this many changed rows of concat are multiplied one by one
// Layers with more scores, or more work, than this are computed one head after the other. Others take less
// than 30 ms on a page (measured).
constexpr std::int64_t kScoresAtOnce = 1 << 20, kWorkAtOnce = 300'000'000;

// Of first pictures so much is made at once, in multiplications of Q by K: some milliseconds on a page. Each
// score counts as so many more, for the rest of its way to a weight.
constexpr std::int64_t kOfSlice = 1 << 22, kPerScore = 32;

/// The tensors that are computed head by head.
constexpr TensorId kOfHeads[] = {TensorId::raw,        TensorId::scores,  TensorId::softcapped,
                                 TensorId::biased,     TensorId::masked,  TensorId::exponentials,
                                 TensorId::row_max,    TensorId::row_sum, TensorId::weights,
                                 TensorId::head_output};
bool isOption(What what) { return what == What::causal || what == What::scale || what == What::temperature; }
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
  scratch_.isProjectedLater = !isStored();
  scratch_.isOfRows = !isStored() && spec_.heads == 1 && ofHead > most_.inFull;
  if (!isStored()) return applyUnstored(changes, !wasStored && sameWidths && sameShapes(spec_, previous_));
  meanWeights_ = {}, ofMean_ = {}, beingSummed_ = {}, wanted_ = 0;
  // Options affect everything after the scores; combined with other changes, one recomputation is cheaper.
  const bool mixed = changes.size() > 1 && std::any_of(changes.begin(), changes.end(),
                                                       [](const Change& c) { return isOption(c.what); });
  const bool known = wasStored && isWhole() && canUpdate && sameWidths && sameShapes(spec_, previous_) &&
                     !mixed &&
                     std::all_of(changes.begin(), changes.end(), [this](const Change& c) { return fits(c); });
  // Of a large layer, what concerns all heads is computed one head after the other.
  const std::int64_t work = spec_.heads * std::int64_t{spec_.queryCount} * workOfRow(spec_, inputs_);
  const bool isAtOnce = spec_.heads * ofHead <= kScoresAtOnce && work <= kWorkAtOnce,
             isLarge = !isAtOnce && spec_.heads > 1, isOfAll = known && isLarge && isOption(changes[0].what);
  isNew_ = isLarge && FirstPictures::areFor(spec_) && changes[0].what == What::everything;
  summaries_.begin(!known || isOfAll);
  if (known && !isOfAll) {
    for (const Change& change : changes) applyOne(change);
    finish();
  } else {
    if (!isOfAll) forwardInputs(spec_, inputs_, trace_, scratch_);
    missAll();
    if (isAtOnce) computeHeads({0, spec_.heads});
    summaries_.touchAll(spec_, inputs_, trace_);
  }
  if (!isWhole()) withhold();
  touchMask(changes);
}

/// No head has been computed.
void Engine::missAll() {
  missing_.assign(static_cast<std::size_t>(spec_.heads), 1), missingCount_ = spec_.heads;
  begun_ = {};
  changed_.assign(static_cast<std::size_t>(spec_.queryCount), 0);
}

/// Computes heads that are missing: one, or all. With the last of them follows what needs every head.
void Engine::computeHeads(Span heads) {
  forwardHeads(spec_, inputs_, heads, trace_, scratch_);
  noteComputed(heads);
}

void Engine::noteComputed(Span heads) {
  std::fill(missing_.begin() + heads.begin, missing_.begin() + heads.end, std::uint8_t{0});
  missingCount_ -= heads.size();
  if (missingCount_ == 0) forwardOutput(inputs_, trace_, scratch_);
}

/// The same after apply(), when summaries may have been asked for.
void Engine::computeLater(Span heads) {
  computeHeads(heads);
  announce(heads);
}

/// Some rows of a head, which has been computed with the last of them. To the same bits.
void Engine::computeRows(int head) {
  if (begun_.head != head) begun_ = {head, {0, 0}};
  const int first = begun_.rows.end;
  begun_.rows.end = std::min(first + mostAtOnce(), spec_.queryCount);
  forwardRows(spec_, inputs_, {head, {first, begun_.rows.end}}, trace_, scratch_);
  if (begun_.rows.end < spec_.queryCount) return;
  begun_ = {};
  makeConcat(spec_, head, {0, spec_.queryCount}, trace_);
  noteComputed({head, head + 1});
  announce({head, head + 1});
}

void Engine::announce(Span heads) {
  summaries_.begin(false);
  for (int h = heads.begin; h < heads.end; ++h) {
    for (const TensorId id : kOfHeads) summaries_.touchHead(id, h);
    summaries_.firstPictures().drop(h);
  }
  if (isWhole()) summaries_.touchHead(TensorId::concat, 0), summaries_.touchHead(TensorId::output, 0);
}

const Trace& Engine::traceOfInputs() {
  for (int h = 0; h < spec_.heads && !isStored(); ++h) projectHead(spec_, inputs_, h, trace_, scratch_);
  return trace_;
}

// Of a sampled layer every number that is read is made, so no reader waits for the samples of its overview.
const Trace& Engine::trace() {
  if (isSampled()) return trace_;
  if (isStored() && !isWhole() && missingCount_ == spec_.heads) computeLater({0, spec_.heads});
  for (int h = 0; !isWhole(); ++h) (void)traceWith(h);
  return trace_;
}

const float* Engine::weightsSoon(int head, int row) {
  if (!isStored() || isWhole(head)) return std::as_const(traceSoon(head).weights).row(head, row);
  makeRowSoon(head, row, false);
  return trace_.weights.row(head, row);
}

/// Unless it is there. A row that is made alone may differ from that of the whole head in its last bits; it
/// is made again with the rows around it.
void Engine::makeRowSoon(int head, int query, bool withOutput) {
  const Span row{query, query + 1};
  if (!isWhole(head) && !begun_.has(head, row))
    forwardRows(spec_, inputs_, {head, row, withOutput, true}, trace_, scratch_);
}

const Trace& Engine::traceFirst(int head, int query) {
  FirstPictures& first = summaries_.firstPictures();
  wanted_ = head;
  first.prefer(head);
  while (first.hasMore() && first.head() == head) computeFirst();
  makeRowSoon(head, query, true);
  return trace_;
}

const Trace& Engine::traceOfAll(int query) {
  if (isWhole() || summaries_.soon() == query) return trace_;
  const Span row{query, query + 1};
  for (int h = 0; h < spec_.heads; ++h) {
    makeRowSoon(h, query, true);
    makeConcat(spec_, h, row, trace_);
  }
  makeOutput(inputs_, row, {0, trace_.output.cols()}, trace_);
  summaries_.setSoon(query);
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

Engine::Progress Engine::progress() const {
  const int heads = spec_.heads, rows = spec_.queryCount;
  if (heads == 1 && !isWhole() && !isStored()) return {true, rows - turns_.front().left, rows};
  if (!isWhole()) return {false, heads - missingCount_, heads};
  if (ofMean_.left > 0) return {true, rows - ofMean_.left, rows};
  const Detail& detail = summaries_.detail();
  if (detail.hasMore()) return {true, detail.done(), detail.blocks(TensorId::weights).rows()};
  return {true, summaries_.profiles().done(), rows};
}

void Engine::computeOne() {
  if (summaries_.detail().hasMore()) return computeDetail();
  if (summaries_.firstPictures().hasMore()) return computeFirst();
  if (isWhole() && ofMean_.left > 0) return computeMean();
  if (isWhole()) return computeProfiles();
  const auto wanted = static_cast<std::size_t>(wanted_);
  const auto next = std::find(missing_.begin(), missing_.end(), std::uint8_t{1});
  const int head =
      wanted < missing_.size() && missing_[wanted] ? wanted_ : static_cast<int>(next - missing_.begin());
  isStored() ? computeRows(head) : computeSome(head);
}

// The rows are not kept: they need not be those of the whole head to the bit.
void Engine::computeFirst() {
  FirstPictures& first = summaries_.firstPictures();
  const std::int64_t ofRow = spec_.keyCount * (std::int64_t{spec_.headDim} + kPerScore);
  const int head = first.head();
  const std::vector<int> queries =
      first.queries(static_cast<int>(std::max(kOfSlice / ofRow, std::int64_t{1})));
  const auto keys = static_cast<std::size_t>(spec_.keyCount);
  part_.resize(queries.size() * keys);
  if (!forwardSome(spec_, inputs_, {head, queries}, part_.data(), trace_, scratch_)) {
    for (std::size_t i = 0; i < queries.size(); ++i) {
      const Span row{queries[i], queries[i] + 1};
      if (!isStored()) hold(head, row), window_ = {head, row};
      forwardRows(spec_, inputs_, {head, row, false, true}, trace_, scratch_);
      std::copy_n(trace_.weights.row(head, row.begin), keys, part_.data() + i * keys);
    }
    window_ = {};
  }
  first.take(part_.data(), static_cast<int>(queries.size()));
}

/// Tells the summaries what is missing of a layer that was recomputed.
void Engine::withhold() {
  for (int h = 0; h < spec_.heads; ++h) {
    for (const TensorId id : kOfHeads) summaries_.withhold(id, h);
  }
  summaries_.withhold(TensorId::concat, 0), summaries_.withhold(TensorId::output, 0);
  summaries_.firstPictures().begin(spec_);
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
    summaries_.touchRows(TensorId::v, g, rows);
    makeValues(inputs_, g, rows, {0, spec_.valueDim}, trace_);
    makeKeys(inputs_, g, rows, {0, spec_.headDim}, trace_);
    changeKeys(g, rows);  // with the outputs
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
  writeRows(head, {query, query + 1});
}

void Engine::redoGroup(int kvHead) {
  forwardGroup(spec_, inputs_.painted, kvHead, trace_, scratch_);
  const int group = spec_.heads / spec_.kvHeads;
  for (int h = kvHead * group; h < (kvHead + 1) * group; ++h) {
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

/// The columns of some keys, and what follows from them: the weights and outputs of all queries.
void Engine::changeKeysOf(int head, Span keys) {
  const Span queries{0, spec_.queryCount};
  makeRaw(spec_, head, queries, keys, trace_);
  makeScores(spec_, head, queries, keys, trace_);
  makeMasked(spec_, inputs_.painted, head, queries, keys, trace_);
  makeWeights(spec_, inputs_, head, queries, trace_);
  touchPairsOf(head, keys);
  touchWeights(head, queries);
  redoHeadOutput(head);
}

// ---- values

void Engine::changeValues(int kvHead, Span keys, Span cols) {
  summaries_.touchRows(TensorId::v, kvHead, keys);
  makeValues(inputs_, kvHead, keys, cols, trace_);
  const int group = spec_.heads / spec_.kvHeads;
  for (int h = kvHead * group; h < (kvHead + 1) * group; ++h) redoHeadOutput(h);
}

/// Recomputes all outputs of a head from its weights.
void Engine::redoHeadOutput(int head) {
  forwardHeadOutput(spec_, head, trace_, scratch_);
  writeRows(head, {0, spec_.queryCount});
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

/// Marks columns of keys of these steps and of the exponentials as written.
void Engine::touchPairsOf(int head, Span keys) {
  for (TensorId id : {TensorId::raw, TensorId::scores, TensorId::masked, TensorId::exponentials})
    summaries_.touchCols(id, head, keys);
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
