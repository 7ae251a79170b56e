#include "attention/experiments/cost.h"

#include <algorithm>

#include "attention/mechanisms/mechanism.h"

namespace attention {
namespace {

/// Σ max(i + first, 0) over i from 0 to n − 1.
double sumFrom(double first, double n) {
  const double count =
      std::clamp(n + std::min(first, 0.0), 0.0, n);  // of the terms above 0, which are the last ones
  return count * (2 * (first + n) - count - 1) / 2;
}

/// Σ of i + first, limited to 0 and `most`, over i from 0 to n − 1.
double sumWithin(double first, double most, double n) { return sumFrom(first, n) - sumFrom(first - most, n); }

}  // namespace

double pairsOf(const Spec& layer, double queries, double keys, double offset) {
  // Query i sees the keys before `end`, but not those before `begin`.
  const int right = layer.causal ? 0 : layer.windowRight;
  const double end = right < 0 ? queries * keys : sumWithin(offset + right + 1, keys, queries);
  const double begin = layer.windowLeft < 0 ? 0 : sumWithin(offset - layer.windowLeft, keys, queries);
  return end - begin;
}

Cost costOf(const CostSpec& spec) {
  const Spec& layer = spec.layer;
  const double n = spec.tokens, m = spec.keys < 0 ? n : spec.keys, heads = layer.heads,
               kvHeads = layer.kvHeads, dk = layer.headDim, dv = layer.valueDim, model = spec.modelDim;
  const double pairs = heads * pairsOf(layer, n, m, spec.offset),
               units = spec.scoreUnits > 0 && takes(layer.score, TensorId::v_a) ? spec.scoreUnits : dk,
               ofQuery = heads * units * queryWidth(layer), ofKey = heads * units * dk;
  const double out = spec.outputDim < 0 ? model : spec.outputDim;
  Cost cost;
  const double dq = queryWidth(layer);
  const double ofQueries = model * heads * dq + (model > 0 ? heads * dv * out : 0),
               ofKeys = model * kvHeads * (dk + dv);
  cost.parameters = ofQueries + ofKeys;
  cost.projections = n * ofQueries + m * ofKeys;
  if (spec.hasBiases && model > 0) cost.parameters += heads * dq + kvHeads * (dk + dv) + out;
  cost.scores = pairs * units;
  if (takes(layer.score, TensorId::w_a))
    cost.parameters += ofQuery, cost.scores += n * ofQuery;  // once for each token
  if (takes(layer.score, TensorId::u_a)) cost.parameters += ofKey, cost.scores += m * ofKey;
  if (takes(layer.score, TensorId::v_a)) cost.parameters += heads * units, cost.tanhs = pairs * units;
  if (mechanismOf(layer.score).key.make && !takes(layer.score, TensorId::u_a))
    cost.scores += (n * heads + m * kvHeads) * dk;  // norms
  cost.sums = pairs * dv;
  cost.keptNumbers = m * kvHeads * (dk + dv);
  cost.scoreNumbers = pairs + cost.tanhs;
  cost.steps = 1;
  return cost;
}

Cost recurrentCost(CellKind cell, double n, int width, int units) {
  const double parts = partsOf(cell), state = units;
  Cost cost;
  cost.parameters = parts * state * (width + state + 1);
  cost.projections = n * parts * width * state;
  cost.scores = n * parts * state * state;
  if (cell == CellKind::lstm) cost.scores += 3 * n * state;  // f∘c, i∘g and o∘tanh(c)
  cost.tanhs = n * state * (cell == CellKind::lstm ? 5 : 1);
  cost.keptNumbers = cell == CellKind::lstm ? 2 * state : state;
  cost.steps = n;
  return cost;
}

}  // namespace attention
