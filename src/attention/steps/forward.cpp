#include "attention/steps/forward.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "attention/steps/products.h"
#include "attention/steps/rows.h"

namespace attention {
namespace {

kernels::In reading(const Tensor& tensor, int head) {
  return {tensor.head(head), static_cast<std::ptrdiff_t>(tensor.rows()) * tensor.cols(), tensor.cols()};
}

kernels::Out writing(Tensor& tensor, int head, int row) {
  return {tensor.row(head, row), static_cast<std::ptrdiff_t>(tensor.rows()) * tensor.cols(), tensor.cols()};
}

/// Do the kernels have all steps of this layer from Q, K and V to head_output? Other layers are computed row
/// by row.
bool isKernelCall(const Spec& spec, const Inputs& in) {
  Spec rest = spec;
  rest.position = Position::none, rest.softcap = 0.0f, rest.hiddenHeads = 0;
  return isPlain(rest) && !isBiased(spec, in);
}

/// What is made of a pair beside its products takes as long as so many multiply-adds of the kernels; where
/// they do not have all steps; and what is made of it for each hidden unit of the additive score.
constexpr std::int64_t kWorkOfPair = 64, kWorkByRow = 800, kWorkOfUnit = 10;

/// The kernel call that fills the trace for these heads, which are within the group of one key head, or whole
/// groups, and these queries.
kernels::Forward callFor(const Spec& spec, const PaintedMask* painted, Span heads, Span queries,
                         Trace& trace) {
  const int first = heads.begin, firstKey = kvHeadOf(spec, first), row = queries.begin;
  kernels::Forward call;
  call.heads = heads.size(), call.kvHeads = kvHeadOf(spec, heads.end - 1) + 1 - firstKey;
  call.queryCount = queries.size(), call.keyCount = spec.keyCount;
  call.headDim = spec.headDim, call.valueDim = spec.valueDim;
  call.q = reading(queriesOf(trace), first);
  call.q.data += row * call.q.rowStride;
  call.k = reading(keysOf(trace), firstKey);
  call.v = reading(trace.v, firstKey);
  call.scale = scaleFactor(spec), call.softcap = spec.softcap, call.temperature = spec.temperature;
  call.causal = spec.causal, call.causalOffset = spec.causalOffset + row;
  call.windowLeft = spec.windowLeft, call.windowRight = spec.windowRight, call.keyLength = spec.keyLength;
  if (painted && !painted->empty()) {
    call.blocked = painted->blocked.data() + std::ptrdiff_t{row} * painted->cols;
    call.blockedRowStride = painted->cols;
  }
  call.raw = writing(trace.raw, first, row);
  call.scores = writing(trace.scores, first, row);
  if (isSoftcapped(spec)) call.softcapped = writing(trace.softcapped, first, row);
  call.masked = writing(trace.masked, first, row);
  call.exponentials = writing(trace.exponentials, first, row);
  call.rowMax = writing(trace.rowMax, first, row);
  call.rowSum = writing(trace.rowSum, first, row);
  call.weights = writing(trace.weights, first, row);
  call.output = writing(trace.headOutput, first, row);
  return call;
}

/// A number of what is made of the keys of this head, as long as they stay; 0: not known.
std::uint64_t contentOf(const Scratch& scratch, int head) {
  return scratch.revision > 0 ? scratch.revision * Limits::heads + static_cast<unsigned>(head) : 0;
}

/// What is computed row by row.
struct ByRow {
  Span heads, queries;
  bool withOutput = true;
};

/// Computes any layer, row by row, so that a row stays in the cache from step to step.
void forwardByRow(const Spec& spec, const Inputs& in, const ByRow& wanted, Trace& trace, Scratch& scratch) {
  const auto& [heads, queries, withOutput] = wanted;
  const Span keys{0, spec.keyCount};
  const bool isOfKeys =
      mechanismOf(spec.score).key.parameter == TensorId::x;  // and not of the query head, too
  for (int h = heads.begin; h < heads.end; ++h) {
    const std::uint64_t content = contentOf(scratch, h),
                        before = std::exchange(scratch.score.content, content);
    const bool isShared = isOfKeys && h > heads.begin && kvHeadOf(spec, h) == kvHeadOf(spec, h - 1),
               isKnown = content != 0 && content == before;
    const Compared rows = comparedRows({spec, in, trace}, h, {isKnown, isKnown || isShared}, scratch.score);
    for (int i = queries.begin; i < queries.end; ++i) {
      const Span query{i, i + 1};
      makeRawRow(spec, in, rows, h, i, trace);
      makeScores(spec, h, query, keys, trace);
      makeScoreSteps(spec, in, h, query, trace);
      makeMasked(spec, in.painted, h, query, keys, trace);
      makeWeights(spec, in, h, query, trace);
      maskWeights(spec, in.painted, h, query, trace);
      if (withOutput) makeHeadOutput(spec, h, query, trace);
      if (scratch.afterRow) scratch.afterRow();
    }
  }
}

void makeHeads(const Spec& spec, const Inputs& in, Span heads, Trace& trace, Scratch& scratch) {
  const bool isDone =
      isKernelCall(spec, in) &&
      kernels::forward(kernels::best(), callFor(spec, in.painted, heads, {0, spec.queryCount}, trace),
                       scratch.score.products.workspace);
  if (isDone) return;
  // Steps that the kernels do not have, or not enough scratch memory: row by row is slower, but needs none
  // for plain layers.
  forwardByRow(spec, in, {heads, {0, spec.queryCount}}, trace, scratch);
}

struct Projection {
  const Tensor *x, *weights, *bias;
};

/// Computes a head of Q, K or V: by `make` where it is copied or small, otherwise as one product.
template <class Make>
void makeHead(const Projection& by, int head, Tensor& out, Make make, Scratch& scratch) {
  const auto [x, weights, bias] = by;
  const Span rows{0, out.rows()}, cols{0, out.cols()};
  if (!x || std::int64_t{out.rows()} * out.cols() * x->cols() < kPackingPays) return make(rows, cols);
  const Matrix w{weights->data() + head * out.cols(), weights->cols(), weights->rows(), out.cols()};
  scratch.score.products.ab(matrixOf(*x), w, out.head(head), out.cols());
  addBias(bias, head * out.cols(), out.rows(), out.cols(), out.head(head), out.cols());
}

void projectQueries(const Spec& spec, const Inputs& in, int head, Trace& trace, Scratch& scratch) {
  makeHead(
      {queryRows(in, trace), in.wQ, in.bQ}, head, trace.q,
      [&](Span rows, Span cols) { makeQueries(in, head, rows, cols, trace); }, scratch);
  if (isRotary(spec)) rotate(spec, scratch.rotation, trace.q, head, spec.causalOffset, trace.qRotated);
}

void projectKeys(const Spec& spec, const Inputs& in, int kvHead, Trace& trace, Scratch& scratch) {
  makeHead(
      {keyRows(in, trace), in.wK, in.bK}, kvHead, trace.k,
      [&](Span rows, Span cols) { makeKeys(in, kvHead, rows, cols, trace); }, scratch);
  if (isRotary(spec)) rotate(spec, scratch.rotation, trace.k, kvHead, 0, trace.kRotated);
  if (scratch.isOfWeights) return;
  makeHead(
      {valueRows(in, trace), in.wV, in.bV}, kvHead, trace.v,
      [&](Span rows, Span cols) { makeValues(in, kvHead, rows, cols, trace); }, scratch);
}

/// Which keys these queries do not see, [queries, keys]; empty if they see all.
std::vector<std::uint8_t> hiddenFrom(const Spec& spec, const PaintedMask* painted,
                                     std::span<const int> queries) {
  const auto keys = static_cast<std::size_t>(spec.keyCount);
  const bool isPainted = painted && !painted->empty();
  std::vector<std::uint8_t> out(queries.size() * keys);
  bool isAny = isPainted;
  for (std::size_t r = 0; r < queries.size(); ++r) {
    std::uint8_t* const row = out.data() + r * keys;
    const KeyRange seen = visibleKeys(spec, queries[r]);
    isAny |= seen.begin > 0 || seen.end < spec.keyCount;
    if (isPainted)
      std::copy_n(painted->blocked.data() + static_cast<std::size_t>(queries[r]) * keys, keys, row);
    std::fill(row, row + seen.begin, std::uint8_t{1});
    std::fill(row + seen.end, row + keys, std::uint8_t{1});
  }
  return isAny ? out : std::vector<std::uint8_t>();
}

}  // namespace

void forwardGroup(const Spec& spec, const PaintedMask* painted, int kvHead, Trace& trace, Scratch& scratch) {
  Inputs inputs;  // nothing else of the inputs is read from here on
  inputs.painted = painted;
  const int group = spec.heads / spec.kvHeads;
  makeHeads(spec, inputs, {kvHead * group, (kvHead + 1) * group}, trace, scratch);
}

void forwardHeadOutput(const Spec& spec, int head, Trace& trace, Scratch& scratch) {
  constexpr int kRows =
      96;  // every row of a block costs the keys that any of its rows sees: half of them with a causal mask
  if (std::int64_t{spec.queryCount} * spec.keyCount * spec.valueDim < kPackingPays) {
    return makeHeadOutput(spec, head, {0, spec.queryCount}, trace);
  }
  const Matrix values = transposed(matrixOf(trace.v, kvHeadOf(spec, head)), scratch.transposed);
  for (int first = 0; first < spec.queryCount; first += kRows) {
    const int rows = std::min(kRows, spec.queryCount - first);
    const int begin = visibleKeys(spec, first).begin, end = visibleKeys(spec, first + rows - 1).end;
    float* out = trace.headOutput.row(head, first);
    if (end <= begin) {
      std::fill_n(out, std::ptrdiff_t{rows} * spec.valueDim, 0.0f);
      continue;
    }
    scratch.score.products.abT({trace.weights.row(head, first) + begin, spec.keyCount, rows, end - begin},
                               {values.data + begin, values.stride, values.rows, end - begin}, out,
                               spec.valueDim);
  }
}

void forwardOutput(const Inputs& in, Trace& trace, Scratch& scratch) {
  const Tensor& concat = trace.concat;
  Tensor& out = trace.output;
  if (!in.wO || std::int64_t{out.rows()} * out.cols() * concat.cols() < kPackingPays) {
    return makeOutput(in, {0, out.rows()}, {0, out.cols()}, trace);
  }
  scratch.score.products.ab(matrixOf(concat), matrixOf(*in.wO), out.data(), out.cols());
  addBias(in.bO, 0, out.rows(), out.cols(), out.data(), out.cols());
}

void forwardInputs(const Spec& spec, const Inputs& in, Trace& trace, Scratch& scratch) {
  shapeTrace(spec, in, trace, scratch.pairs, scratch.isOfRows);
  addPositions(spec, in, trace);
  makeRotation(spec, trace, scratch.rotation);
  scratch.projectedQueries.assign(static_cast<std::size_t>(spec.heads), 0);
  scratch.projectedKeys.assign(static_cast<std::size_t>(spec.kvHeads), 0);
  for (int h = 0; h < spec.heads && !scratch.isProjectedLater; ++h) projectHead(spec, in, h, trace, scratch);
}

void projectHead(const Spec& spec, const Inputs& in, int head, Trace& trace, Scratch& scratch) {
  const int kvHead = kvHeadOf(spec, head);
  const auto note = [&](TensorId id, int of) {
    if (scratch.isProjectedLater && scratch.afterProjection) scratch.afterProjection(id, of);
  };
  if (!std::exchange(scratch.projectedQueries[static_cast<std::size_t>(head)], std::uint8_t{1}))
    projectQueries(spec, in, head, trace, scratch), note(TensorId::q, head);
  if (!std::exchange(scratch.projectedKeys[static_cast<std::size_t>(kvHead)], std::uint8_t{1}))
    projectKeys(spec, in, kvHead, trace, scratch), note(TensorId::k, kvHead);
}

void forwardHeads(const Spec& spec, const Inputs& in, Span heads, Trace& trace, Scratch& scratch) {
  makeHeads(spec, in, heads, trace, scratch);
  for (int h = heads.begin; h < heads.end; ++h) makeConcat(spec, h, {0, spec.queryCount}, trace);
}

void forwardRows(const Spec& spec, const Inputs& in, const RowsOfHead& rows, Trace& trace, Scratch& scratch) {
  const Span heads{rows.head, rows.head + 1};
  if (scratch.isProjectedLater) projectHead(spec, in, rows.head, trace, scratch);
  if (isKernelCall(spec, in) && !rows.isFew) {
    kernels::Forward call = callFor(spec, in.painted, heads, rows.queries, trace);
    if (!rows.withOutput) call.output = {};
    call.content = contentOf(scratch, kvHeadOf(spec, rows.head));
    if (scratch.isOfWeights || rows.isOfWeights)
      call.raw = call.scores = call.softcapped = call.exponentials = {};
    if (rows.isOfWeights) call.masked = {};
    if (kernels::forward(kernels::best(), call, scratch.score.products.workspace)) return;
  }
  forwardByRow(spec, in, {heads, rows.queries, rows.withOutput}, trace, scratch);
}

std::int64_t workOfRow(const Spec& spec, const Inputs& in) {
  const std::int64_t units = mechanismOf(spec.score).compare && in.vA ? in.vA->cols() : 0;
  const std::int64_t ofPair = isKernelCall(spec, in) ? kWorkOfPair : kWorkByRow + kWorkOfUnit * units;
  return spec.keyCount * (spec.headDim + spec.valueDim + ofPair);
}

bool forwardSome(const Spec& spec, const Inputs& in, const SomeOfHead& some, float* weights, Trace& trace,
                 Scratch& scratch) {
  const auto [head, queries] = some;
  if (!isKernelCall(spec, in)) return false;
  if (scratch.isProjectedLater) projectHead(spec, in, head, trace, scratch);
  const Tensor& q = queriesOf(trace);
  std::vector<float> rows;
  for (const int query : queries) rows.insert(rows.end(), q.row(head, query), q.row(head, query) + q.cols());
  const std::vector<std::uint8_t> hidden = hiddenFrom(spec, in.painted, queries);
  const int keyHead = kvHeadOf(spec, head);
  kernels::Forward call;
  call.queryCount = static_cast<int>(queries.size()), call.keyCount = spec.keyCount;
  call.headDim = spec.headDim, call.valueDim = spec.valueDim;
  call.q = {rows.data(), 0, q.cols()}, call.k = reading(keysOf(trace), keyHead);
  call.v = reading(trace.v, keyHead);
  call.scale = scaleFactor(spec), call.softcap = spec.softcap, call.temperature = spec.temperature;
  if (!hidden.empty()) call.blocked = hidden.data(), call.blockedRowStride = spec.keyCount;
  call.content = contentOf(scratch, keyHead);
  call.weights = {weights, 0, spec.keyCount};
  return kernels::forward(kernels::best(), call, scratch.score.products.workspace).has_value();
}

void forward(const Spec& spec, const Inputs& in, Trace& trace, Scratch& scratch) {
  assert(validate(spec, in, Room::memory));
  forwardInputs(spec, in, trace, scratch);
  forwardHeads(spec, in, {0, spec.heads}, trace, scratch);
  forwardOutput(in, trace, scratch);
}

void forward(const Spec& spec, const Inputs& inputs, Trace& trace) {
  Scratch scratch;
  forward(spec, inputs, trace, scratch);
}

}  // namespace attention
