#include "attention/steps/score.h"

#include "attention/mechanisms/mechanism.h"

namespace attention {
namespace {

Matrix parameterOf(const ScoreSide& side, const Inputs& in, int head) {
  return side.parameter == TensorId::x ? Matrix{} : matrixOf(*(in.*tensorRow(side.parameter).given), head);
}

const float* vectorOf(const Inputs& in, int head) { return in.vA ? in.vA->row(head, 0) : nullptr; }

/// Adds a tensor with one head to head `head` of another.
void addHead(const Tensor& from, int head, Tensor* to) {
  if (!to) return;
  float* out = to->head(head);
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = saturatingSum(out[i], from.data()[i]);
}

/// From memory.dMade to the rows that it was made of, and to the parameter.
void throughSide(const ScoreSide& side, const Matrix& rows, const Matrix& parameter, Products& products,
                 ScoreSideMemory& memory) {
  if (!side.gradient) return std::swap(memory.dMade, memory.dRows);
  memory.dRows.reshape(1, rows.rows, rows.cols), memory.dParameter.reshape(1, parameter.rows, parameter.cols);
  side.gradient(rows, parameter, products, memory);
}

}  // namespace

Compared comparedRows(const ComputedLayer& layer, int head, StillMade still, ScoreMemory& memory) {
  const auto& [spec, in, trace] = layer;
  const ScoreMechanism& score = mechanismOf(spec.score);
  const auto made = [&](const ScoreSide& side, const Matrix& rows, bool isDone, Tensor& out) {
    if (!side.make) return rows;
    if (!isDone) side.make(rows, parameterOf(side, layer.inputs, head), memory.products, out);
    return matrixOf(out);
  };
  return {made(score.query, matrixOf(queriesOf(trace), head), still.queries, memory.query.made),
          made(score.key, matrixOf(keysOf(trace), kvHeadOf(spec, head)), still.keys, memory.key.made)};
}

void makeRawRow(const Spec& spec, const Inputs& in, const Compared& rows, int head, int query, Trace& trace) {
  float* raw = trace.raw.row(head, query);
  if (const auto compare = mechanismOf(spec.score).compare)
    return compare(rows, query, vectorOf(in, head), raw);
  const Matrix& k = rows.keys;
  const float* q = rows.queries.data + query * rows.queries.stride;
  kernels::dots(kernels::best(), q, k.data, k.stride, k.rows, k.cols, raw, 1);
}

void addScoreGradients(const ComputedLayer& layer, int head, const Tensor& dRaw, const ScoreGradients& to,
                       ScoreMemory& memory) {
  const auto& [spec, in, trace] = layer;
  Products& products = memory.products;
  const ScoreMechanism& score = mechanismOf(spec.score);
  const int kvHead = kvHeadOf(spec, head);
  const Matrix q = matrixOf(queriesOf(trace), head), k = matrixOf(keysOf(trace), kvHead), d = matrixOf(dRaw);
  const Compared rows = comparedRows(layer, head, {}, memory);
  Tensor &dQueries = memory.query.dMade, &dKeys = memory.key.dMade;
  dQueries.reshape(1, q.rows, rows.queries.cols), dKeys.reshape(1, k.rows, rows.keys.cols);
  if (score.gradient) {
    score.gradient(rows, vectorOf(in, head), d, memory);
    addHead(memory.dV, head, to.vA);
  } else {
    products.ab(d, rows.keys, dQueries.data(), dQueries.cols());
    products.aTb(d, rows.queries, dKeys.data(), dKeys.cols());
  }
  throughSide(score.query, q, parameterOf(score.query, in, head), products, memory.query);
  throughSide(score.key, k, parameterOf(score.key, in, head), products, memory.key);
  addHead(memory.query.dRows, head, to.q), addHead(memory.key.dRows, kvHead, to.k);
  if (takes(spec.score, TensorId::w_a)) addHead(memory.query.dParameter, head, to.wA);
  if (takes(spec.score, TensorId::u_a)) addHead(memory.key.dParameter, head, to.uA);
}

}  // namespace attention
