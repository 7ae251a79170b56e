// The engine for layers whose tensors of pairs would be too large: it holds some rows of one head at a time.
#include <algorithm>
#include <cstring>
#include <utility>

#include "attention/engine/engine.h"
#include "attention/steps/column.h"
#include "attention/steps/rows.h"

namespace attention {
namespace {

using What = Change::What;

/// Rows that a thread computes at once: they take less than a frame for 4,096 keys of 64 columns.
constexpr int kRowsAtOnce = kernels::kWholeRows;
/// Numbers of each tensor of pairs that are held at most for each thread, unless a block of the overviews
/// takes more.
constexpr int kHeldNumbers = 1 << 20;
/// For more threads than this no more is held.
constexpr int kMostThreads = 8;
/// And so many rows in any case: as many as have numbers on the board where their cells are large enough.
constexpr int kHeldRows = 32;
/// Where a row takes a millisecond, fewer rows than this are made one by one.
constexpr int kFewRows = 4;
/// What is made of fewer numbers than this is made on one thread.
constexpr int kThreadsPay = 1 << 17;
/// Parts of a row are made alone if they are at most one in so many of its numbers: whole rows are made
/// together, by fewer steps for each.
constexpr int kRowsOfPart = 3;
/// A slice has so much work for each thread: at most 20 ms in a page.
constexpr std::int64_t kSliceWork = 200'000'000;
/// Rows of all heads with more pairs than this are not computed anew at once: of 64 heads of 4,096 keys they
/// would take 60 ms, and several times as long in a page.
constexpr std::int64_t kPairsAtOnce = 1 << 19;
/// When more than one row of a head in so many is new, the head is computed anew, some rows at a time.
constexpr int kRowsOfStale = 8;

/// What is made with Q of a head, and with K of a key head.
constexpr TensorId kWithQ[] = {TensorId::q, TensorId::q_rotated},
                   kWithK[] = {TensorId::k, TensorId::k_rotated, TensorId::v};

bool isUnprojected(const Inputs& inputs) { return !inputs.projected(); }

}  // namespace

// ---- rows on request

/// Makes room for these rows. Do those that were held before remain?
bool Engine::hold(int head, Span rows) {
  bool isKept = true;
  for (int i = 0; i < kTensorCount; ++i) {
    Tensor* const made = intermediate(trace_, kLayerTensors[i]);
    if (made && !made->isStored()) isKept &= made->hold(head, rows.begin, rows.size());
  }
  return isKept;
}

/// Of rows that follow those that are held, or that they follow, only the others are made: while a board is
/// moved, few rows come into view in each frame.
void Engine::makeRows(int head, Span rows, bool withOutput) {
  const bool isOfAll = !withOutput || isSampled();  // has each row that is held all that is wanted?
  if (isOfAll && window_.has(head, rows)) return;
  const Window before = std::exchange(window_, {head, rows});
  const bool isKept = hold(head, rows) && head == before.head && isOfAll;
  if (isKept && before.rows.begin <= rows.begin) rows.begin = std::max(rows.begin, before.rows.end);
  else if (isKept && before.rows.end >= rows.end) rows.end = std::min(rows.end, before.rows.begin);
  madeRows_ += rows.size();
  const bool isFew = isSampled() && rows.size() < kFewRows;
  forwardRows(spec_, inputs_, {head, rows, withOutput || isSampled(), isFew}, trace_, scratch_);
  if (!isSampled()) return;
  makeConcat(spec_, head, rows, trace_);
  makeOutput(inputs_, rows, {0, trace_.output.cols()}, trace_);
}

void Engine::swapBeside() {
  std::swap(window_, beside_);
  besides_.resize(kTensorCount);
  for (int i = 0; i < kTensorCount; ++i) {
    Tensor* const made = intermediate(trace_, static_cast<TensorId>(i));
    if (!made || made->isStored()) continue;
    Tensor& other = besides_[static_cast<std::size_t>(i)];
    if (other.empty()) other.reshape(1, 1, made->cols());  // an empty tensor is none of the layer's
    made->swapHeld(other);
  }
}

/// A row far from several that are held, such as that of the arithmetic beside those that are in view: it
/// does not take their place.
const float* Engine::rowBeside(TensorId id, int head, int row) {
  if (!beside_.has(head, {row, row + 1})) {
    swapBeside();
    makeRows(head, {row, row + 1}, false);
    swapBeside();
  }
  return besides_[static_cast<std::size_t>(id)].data();
}

/// Of rows of which some queries are others, makes those anew, if all are held. Returns whether they are.
bool Engine::renew(int head, Span edited, Span rows) {
  if (beside_.head == head && beside_.rows.begin < edited.end && beside_.rows.end > edited.begin)
    beside_ = {};
  const bool isHeld = window_.has(head, rows) && !isSampled();
  if (!isHeld) return window_ = {}, false;
  madeRows_ += edited.size();
  forwardRows(spec_, inputs_, {head, edited}, trace_, scratch_);
  return true;
}

/// Calls work(some) for parts of these rows, whole blocks of the overviews; each on a thread of its own,
/// where there is much to do.
template <class Work>
void Engine::eachPart(Span rows, const Work& work) {
  kernels::Workspace& workspace = scratch_.score.products.workspace;
  const int side = summaries_.overview(TensorId::weights)->side(), blocks = (rows.size() + side - 1) / side;
  const bool isMuch = std::int64_t{rows.size()} * spec_.keyCount >= kThreadsPay;
  const int parts = isMuch ? std::min(workspace.threads(), blocks) : 1;
  kernels::inParts(workspace, parts, [&](int part) {
    const int first = rows.begin + blocks * part / parts * side,
              end = rows.begin + blocks * (part + 1) / parts * side;
    work(Span{first, std::min(end, rows.end)});
  });
}

/// Adds the weights of some rows of a head; they are made without the steps before them.
void Engine::addWeights(int head, Span rows, double* sums) {
  if (isHidden(spec_, head)) return;
  if (!window_.has(head, rows)) {
    window_ = {head, rows};  // what is made row by row reads the steps before
    (void)hold(head, rows);
    madeRows_ += rows.size();
    forwardRows(spec_, inputs_, {.head = head, .queries = rows, .withOutput = false, .isOfWeights = true},
                trace_, scratch_);
    window_ = {};  // the kernels made no others
  }
  const auto keys = static_cast<std::ptrdiff_t>(spec_.keyCount);
  eachPart(rows, [&](Span some) {
    const float* weights =
        trace_.weights.row(head, some.begin);  // the rows are held, but window_ may be empty
    double* to = sums + (some.begin - rows.begin) * keys;
    for (double* const end = to + some.size() * keys; to < end;) *to++ += double{*weights++};
  });
}

/// The sum of the weights of all heads, or of all but one.
void Engine::sumWeights(Span rows, int without) {
  summed_ = {without, rows};
  meanSums_.assign(static_cast<std::size_t>(rows.size()) * static_cast<std::size_t>(spec_.keyCount), 0.0);
  for (int h = 0; h < spec_.heads; ++h)
    if (h != without) addWeights(h, rows, meanSums_.data());
}

/// The mean from a sum, and from the weights of the head that it is without.
void Engine::writeMean(Span rows, const std::vector<double>& sums, const float* more) {
  meanWindow_ = {0, rows};
  meanWeights_.hold(0, rows.begin, rows.size());
  int heads = 0;
  for (int h = 0; h < spec_.heads; ++h) heads += !isHidden(spec_, h);
  const double share = 1.0 / std::max(heads, 1);
  eachPart(rows, [&](Span some) {
    const std::ptrdiff_t keys = spec_.keyCount, first = (some.begin - rows.begin) * keys,
                         count = some.size() * keys;
    const double* const from = sums.data() + first;
    float* const mean = meanWeights_.row(0, some.begin);
    for (std::ptrdiff_t j = 0; j < count; ++j) {
      const double last = more ? double{more[first + j]} : 0.0;
      mean[j] = static_cast<float>((from[j] + last) * share);
    }
  });
}

void Engine::makeMean(Span rows) {
  if (meanWindow_.has(0, rows)) return;
  sumWeights(rows, -1);
  writeMean(rows, meanSums_, nullptr);
}

/// The same after an edit of one head. While a number is dragged the other heads are as they were.
void Engine::makeMeanAfter(int head, Span rows) {
  if (summed_.head != head || summed_.rows.begin != rows.begin || summed_.rows.end != rows.end)
    sumWeights(rows, head);
  makeRows(head, rows, false);
  writeMean(rows, meanSums_, std::as_const(trace_.weights).row(head, rows.begin));
}

/// Rows that are read one after the other are made together, more and more of them.
const float* Engine::row(int key, int head, int row) {
  const bool isMean = key == static_cast<int>(kMeanWeights);
  const Window& window = isMean ? meanWindow_ : window_;
  if (!window.has(head, {row, row + 1})) {
    const bool follows = head == window.head && row == window.rows.end;
    const bool isNext = head == beside_.head && row == beside_.rows.end;  // of rows that are read in order
    if (!isMean && !follows && !isNext && (isSampled() || window.rows.size() > 1))
      return rowBeside(static_cast<TensorId>(key), head, row);
    expect(key, head, row, follows ? 2 * window.rows.size() : 1);
  }
  return isMean ? std::as_const(meanWeights_).heads() > 0 ? meanWeights_.row(0, row) : nullptr
                : intermediate(trace_, static_cast<TensorId>(key))->row(head, row);
}

/// Of a layer whose maxima and sums of rows are known, some scores and weights are made without the others of
/// their row.
const float* Engine::part(int key, int head, int row, int col, int count) {
  const auto id = static_cast<TensorId>(key);
  const auto at = static_cast<std::size_t>(head);
  const bool isHeld = window_.has(head, {row, row + 1});
  const bool isKnown = !isSampled() && !isHeld && (!missing_[at] || turns_[at].isForeseen);
  if (!isKnown || !isMadeOfParts(id) || count > spec_.keyCount / kRowsOfPart)
    return this->row(key, head, row) + col;
  return madeFrom(id, {col, col + count},
                  {head, row, trace_.rowMax.at(head, row, 0), trace_.rowSum.at(head, row, 0)});
}

bool Engine::isMadeOfParts(TensorId id) const {
  return (id == TensorId::masked || id == TensorId::weights) && isPlain(spec_) && !isBiased(spec_, inputs_);
}

const float* Engine::madeFrom(TensorId id, Span cols, const RowEnds& of) {
  const auto& [head, row, max, sum] = of;
  const int count = cols.size();
  part_.resize(static_cast<std::size_t>(count));
  scoresOfQuery({spec_, inputs_, trace_}, head, row, cols, part_.data());
  if (id == TensorId::masked) {
    if (spec_.temperature != 1.0f)
      kernels::scale(kernels::best(), spec_.temperature, part_.data(), count, part_.data());
  } else if (sum > 0.0f) {
    kernels::exp(kernels::best(), part_.data(), max, count, part_.data());
    kernels::scale(kernels::best(), 1.0f / sum, part_.data(), count, part_.data());
  } else {
    std::fill(part_.begin(), part_.end(), 0.0f);
  }
  return part_.data();
}

void Engine::expect(int key, int head, int row, int count) {
  const Span rows{row, std::min(row + std::min(count, mostAtOnce()), spec_.queryCount)};
  key == static_cast<int>(kMeanWeights) ? makeMean(rows) : makeRows(head, rows, false);
}

// ---- what is made of rows

int Engine::mostHeld() const {
  const int threads = std::min(scratch_.score.products.workspace.threads(), kMostThreads);
  return std::clamp(threads * kHeldNumbers / spec_.keyCount, isSampled() ? kHeldRows : 1,
                    threads * kRowsAtOnce);
}

/// How many rows are computed in a slice. A hundred thousand keys make a row slow, and those that are held as
/// slow as some frames.
int Engine::mostAtOnce() const {
  const std::int64_t most = isBrief_ || isSampled() ? kBriefWork : kSliceWork,
                     rows = scratch_.score.products.workspace.threads() * most / workOfRow(spec_, inputs_);
  return static_cast<int>(std::clamp<std::int64_t>(rows, 1, mostHeld()));
}

/// From `row` on, at most so many rows, or one block: whole blocks of the overviews.
Span Engine::someFrom(int row, int most) const {
  const Span rows = summaries_.overview(TensorId::weights)->whole({row, row + 1});
  return {row, std::min(row + std::max(most / rows.size() * rows.size(), rows.size()), spec_.queryCount)};
}

/// As many as are computed at once.
Span Engine::someFrom(int row) const { return someFrom(row, isSampled() ? 1 : mostAtOnce()); }

/// Computes rows with all that is made of them.
void Engine::takeRows(int head, Span rows) {
  makeRows(head, rows, true);
  takeHeld(head, rows);
}

void Engine::takeHeld(int head, Span rows) {
  makeConcat(spec_, head, rows, trace_);
  eachPart(rows, [&](Span some) { summaries_.takeRows(trace_, head, some); });
}

/// The same of the mean, whose rows are there.
void Engine::takeMean(Span rows) {
  eachPart(rows, [&](Span some) { summaries_.takeMeanRows(some); });
  summaries_.touchRows(kMeanWeights, 0, rows);
}

/// Computes the row that stands for its block.
void Engine::takeSample(int head, int row) {
  makeRows(head, {row, row + 1}, true);
  summaries_.takeRows(trace_, head, {row, row + 1});
}

void Engine::touchRowsOf(int head, Span rows) {
  touchPairs(head, rows);
  touchWeights(head, rows);
  for (const TensorId id : {TensorId::softcapped, TensorId::biased}) summaries_.touchRows(id, head, rows);
  touchOutputOf(head, rows);
}

void Engine::touchOutputOf(int head, Span rows) {
  summaries_.touchRows(TensorId::head_output, head, rows);
  summaries_.touchRows(TensorId::concat, 0, rows);
  if (isSampled()) summaries_.touchRows(TensorId::output, 0, rows);
}

void Engine::Turn::add(Span rows, int count) {
  const bool isJoined = left > 0 && next + left <= count;
  const int end = isJoined ? std::max(next + left, rows.end) : rows.end;
  if (left > 0 && !isJoined) left = count;
  else next = isJoined ? std::min(next, rows.begin) : rows.begin, left = end - next;
  isForeseen = isOfOutputs = false;
}

Span Engine::takeTurn(Turn& turn) const {
  Span rows = someFrom(turn.next);
  rows.end = std::min(rows.end, rows.begin + turn.left);
  turn.next = rows.end < spec_.queryCount ? rows.end : 0, turn.left -= rows.size();
  return rows;
}

void Engine::computeSome(int head) {
  const auto at = static_cast<std::size_t>(head);
  Turn& turn = turns_[at];
  const Span rows = takeTurn(turn);
  foreseen_[at].key = -1;  // these rows are of the new key
  summaries_.begin(false);
  if (turn.isOfOutputs) {
    makeRows(head, rows, true);
    makeConcat(spec_, head, rows, trace_);
    touchOutputOf(head, rows);
  } else {
    isSampled() ? takeSample(head, summaries_.sampleOf(rows.begin)) : takeRows(head, rows);
    touchRowsOf(head, rows);
  }
  if (turn.left > 0) return;
  foreseen_[at] = {};
  missing_[at] = 0;
  summaries_.firstPictures().drop(head);
  if (--missingCount_ > 0 || isSampled()) return;
  forwardOutput(inputs_, trace_, scratch_);
  summaries_.touchHead(TensorId::concat, 0), summaries_.touchHead(TensorId::output, 0);
}

// Of many rows the weights are added head after head, so that the keys of a head are brought in order for the
// kernels once for all of them, and threads have enough to do.
void Engine::computeMean() {
  if (ofMean_.left <= 0) return;
  auto& [rows, head, next, sums] = beingSummed_;
  const auto keys = static_cast<std::ptrdiff_t>(spec_.keyCount);
  if (rows.empty()) {
    rows = someFrom(ofMean_.next, std::min(mostHeld(), ofMean_.left));
    head = 0, next = rows.begin;
    sums.resize(static_cast<std::size_t>(rows.size() * keys));
  }
  if (head < spec_.heads) {
    const Span some{next, std::min(someFrom(next).end, rows.end)};
    double* const to = sums.data() + (some.begin - rows.begin) * keys;
    if (head == 0)
      eachPart(some, [&](Span part) {
        std::fill_n(to + (part.begin - some.begin) * keys, part.size() * keys, 0.0);
      });
    addWeights(head, some, to);
    next = some.end < rows.end ? some.end : rows.begin;
    head += next == rows.begin;
    return;
  }
  summaries_.begin(false);
  writeMean(rows, sums, nullptr);
  takeMean(rows);
  ofMean_.next = rows.end < spec_.queryCount ? rows.end : 0, ofMean_.left -= rows.size();
  rows = {};
  if (ofMean_.left <= 0) beingSummed_ = {};
}

void Engine::computeProfiles() {
  summaries_.profiles().takeSome(trace_.weights, summaries_.sampledEach(), mostAtOnce(),
                                 scratch_.score.products.workspace);
}

const Trace& Engine::traceSoon(int head) {
  if (isStored()) return traceWith(head);
  wanted_ = head;
  projectHead(spec_, inputs_, head, trace_, scratch_);
  if (summaries_.isComputed(TensorId::weights, head)) return trace_;
  isBrief_ = true;
  computeSome(head);
  isBrief_ = false;
  return trace_;
}

// ---- edits

/// Does the layer have the same tensors as before?
bool Engine::keepsTensors() const {
  for (int i = 0; i < kTensorCount; ++i) {
    const TensorId id = kLayerTensors[i];
    if (intermediateOf<Tensor>(id) && exists(id, spec_, inputs_) != (intermediate(trace_, id) != nullptr))
      return false;
  }
  return true;
}

void Engine::applyUnstored(std::span<const Change> changes, bool isKnown) {
  beingSummed_ = {};
  isKnown = isKnown && spec_.hiddenHeads == previous_.hiddenHeads && keepsTensors() &&
            std::all_of(changes.begin(), changes.end(),
                        [this](const Change& c) { return c.what != What::everything && fits(c); });
  summaries_.begin(!isKnown);
  if (isKnown) {
    for (const Change& change : changes) {
      scratch_.score.content = 0;
      applyOneUnstored(change);
      // After it: rows of another change may have been made before.
      const bool isOfQueries = change.what == What::cells && change.tensor == TensorId::q;
      scratch_.revision += !isOfQueries;
    }
    finish();
  } else {
    window_ = meanWindow_ = beside_ = {};
    beginUnstored();
  }
  touchMask(changes);
}

void Engine::beginUnstored() {
  summed_ = {};
  ++scratch_.revision;
  scratch_.afterProjection = {};
  forwardInputs(spec_, inputs_, trace_, scratch_);
  missAll();
  if (most_.isOfWeights) return;
  for (Tensor* t : {&trace_.rowMax, &trace_.rowSum, &trace_.headOutput, &trace_.concat, &trace_.output})
    if (!t->empty()) std::memset(t->data(), 0, t->size() * sizeof(float));  // a loop would take 20 ms
  turns_.assign(static_cast<std::size_t>(spec_.heads), {0, spec_.queryCount});
  foreseen_.assign(static_cast<std::size_t>(spec_.heads), {});
  meanWeights_.reshapeUnstored(*this, static_cast<int>(kMeanWeights), 1, spec_.queryCount, spec_.keyCount);
  ofMean_ = {0, spec_.heads > 1 ? spec_.queryCount : 0};
  summaries_.touchAll(spec_, inputs_, trace_);
  summaries_.beginRows(trace_, meanWeights_);
  withhold();
  for (int h = 0; h < spec_.heads; ++h)
    for (const TensorId id : kWithQ) summaries_.withhold(id, h);
  for (int h = 0; h < spec_.kvHeads; ++h)
    for (const TensorId id : kWithK) summaries_.withhold(id, h);
  scratch_.afterProjection = [this](TensorId made, int head) {
    summaries_.begin(false);
    if (made == TensorId::q)
      for (const TensorId id : kWithQ) summaries_.touchHead(id, head);
    else
      for (const TensorId id : kWithK) summaries_.touchHead(id, head);
  };
  if (spec_.heads == 1) projectHead(spec_, inputs_, 0, trace_, scratch_);
}

/// These heads are to be computed anew. Rows that are read are new at once.
void Engine::makeStale(Span heads) {
  for (int h = heads.begin; h < heads.end; ++h) {
    const auto at = static_cast<std::size_t>(h);
    if (summaries_.isComputed(TensorId::weights, h)) touchRowsOf(h, {0, spec_.queryCount});
    summaries_.firstPictures().renew(h);
    if (isSampled()) summaries_.detail().touch({0, spec_.queryCount}), summaries_.forgetUnseen();
    missingCount_ += missing_[at] == 0;
    missing_[at] = 1, turns_[at] = {turns_[at].next, spec_.queryCount};
    foreseen_[at] = {};
  }
  if (spec_.heads > 1) ofMean_.left = spec_.queryCount;
}

/// Some rows of what is looked at.
void Engine::computeDetail() {
  Detail& detail = summaries_.detail();
  const int head = detail.area().head;
  const Span rows = detail.next(mostAtOnce());
  makeRows(head, rows, true);
  detail.take(trace_, rows);
  summaries_.begin(false);
  summaries_.takeOutputs(trace_, rows);
  touchOutputOf(head, rows);
}

/// Those of these rows that stand for a block. What is known of the others is forgotten, unless it is seen.
void Engine::redoSamples(int head, Span rows) {
  summaries_.forgetOutputs(rows);
  summaries_.detail().touch(rows);
  const Span whole = summaries_.overview(TensorId::weights)->whole(rows);
  for (int first = whole.begin; first < whole.end; first += someFrom(first).size())
    if (const int row = summaries_.sampleOf(first); row >= rows.begin && row < rows.end)
      takeSample(head, row);
  touchRowsOf(head, rows);
  if (summaries_.detail().hasMore()) computeDetail();  // what is seen of them
}

/// Computes rows anew, at once if they are few.
void Engine::redoRows(int head, Span rows) {
  foreseen_[static_cast<std::size_t>(head)].key = -1;
  if (rows.size() * kRowsOfStale > spec_.queryCount && rows.size() > kRowsOfStale)
    return window_ = beside_ = {}, makeStale({head, head + 1});
  const Span edited = rows;
  rows = summaries_.overview(TensorId::weights)->whole(rows);
  // While a number is dragged, the other rows of the block are as they were.
  const bool isHeld = renew(head, edited, rows);
  if (isSampled()) return redoSamples(head, edited);
  for (int first = rows.begin; first < rows.end;) {
    const Span some{first, std::min(someFrom(first).end, rows.end)};
    isHeld ? takeHeld(head, some) : takeRows(head, some);
    first = some.end;
  }
  touchRowsOf(head, rows);
  writeRows(head, rows);
}

/// The mean of those rows, after an edit of one head, or of all: -1.
void Engine::redoMean(int head, Span rows) {
  if (spec_.heads == 1 || ofMean_.left > 0) return;
  rows = summaries_.overview(TensorId::weights)->whole(rows);
  for (int first = rows.begin; first < rows.end;) {
    const Span some{first, std::min(someFrom(first).end, rows.end)};
    head < 0 ? makeMean(some) : makeMeanAfter(head, some);
    takeMean(some);
    first = some.end;
  }
}

/// Rows of all heads: if they are many, at once those of the head in view, and the others when there is time.
void Engine::redoRowsOfAll(Span rows) {
  const Span whole = summaries_.overview(TensorId::weights)->whole(rows);
  const bool isMuch = std::int64_t{spec_.heads} * whole.size() * spec_.keyCount > kPairsAtOnce;
  for (int h = 0; h < spec_.heads; ++h) {
    const auto at = static_cast<std::size_t>(h);
    if (!isMuch || h == wanted_ || isSampled()) {
      redoRows(h, rows);
      continue;
    }
    if (!missing_[at]) turns_[at] = {};
    turns_[at].add(whole, spec_.queryCount);
    missingCount_ += missing_[at] == 0, missing_[at] = 1;
  }
  if (!isMuch || spec_.heads == 1) redoMean(-1, rows);
  else ofMean_.add(whole, spec_.queryCount);
}

void Engine::applyOneUnstored(const Change& change) {
  const Span rows{change.row, change.row + change.rows}, cols{change.col, change.col + change.cols};
  const bool isOfCells = change.what == What::cells && !rows.empty() && !cols.empty();
  const bool isGiven = isUnprojected(inputs_) && !isRotary(spec_);
  const bool isOfQueries = isOfCells && change.tensor == TensorId::q && isGiven;
  const bool isOfValues = isOfCells && change.tensor == TensorId::v && isUnprojected(inputs_);
  if (!isOfQueries && (!isOfValues || isSampled())) window_ = beside_ = {};
  if (!isOfValues) meanWindow_ = {};
  if (!isOfQueries || change.head != summed_.head) summed_ = {};
  if (change.what == What::painted) return redoRowsOfAll(rows);
  if (!isOfCells) return makeStale({0, spec_.heads});
  summaries_.touchRows(change.tensor, change.head, rows);
  if (change.tensor == TensorId::w_o || change.tensor == TensorId::b_o)
    return isSampled() ? makeStale({0, spec_.heads}) : applyCells(change);
  if (isOfQueries) {
    makeQueries(inputs_, change.head, rows, cols, trace_);
    redoRows(change.head, rows);
    return isHidden(spec_, change.head) ? void() : redoMean(change.head, rows);
  }
  if ((change.tensor == TensorId::k && isGiven) || isOfValues) return changeGiven(change);
  // What is known of a head stays until it is projected, so that colours do not jump.
  forwardInputs(spec_, inputs_, trace_, scratch_);
  for (const TensorId id : {TensorId::positions, TensorId::x_positioned, TensorId::x_kv_positioned}) {
    const Tensor* const made = intermediate(trace_, id);
    for (int h = 0; made && h < made->heads(); ++h) summaries_.touchHead(id, h);
  }
  if (spec_.heads == 1) projectHead(spec_, inputs_, 0, trace_, scratch_);
  makeStale({0, spec_.heads});
}

}  // namespace attention
