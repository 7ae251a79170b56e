#include "attention/experiments/cost.h"

#include <algorithm>

namespace attention {
namespace {

/// Σ min(i, most) over i from 0 to n − 1: the visible keys on one side of all queries.
double sumUpTo(double n, double most) {
  const double m = std::min(most, n - 1);
  return m * (m + 1) / 2 + (n - 1 - m) * m;
}

}  // namespace

double pairsOf(const Spec& layer, double n) {
  // On each side of its own position a query sees this many keys, or as many as there are.
  const double left = layer.windowLeft < 0 ? n - 1 : layer.windowLeft;
  const double right = layer.causal ? 0 : layer.windowRight < 0 ? n - 1 : layer.windowRight;
  return n + sumUpTo(n, left) + sumUpTo(n, right);
}

Cost costOf(const CostSpec& spec) {
  const Spec& layer = spec.layer;
  const double n = spec.tokens, heads = layer.heads, kvHeads = layer.kvHeads, dk = layer.headDim, dv = layer.valueDim, model = spec.modelDim;
  const double pairs = heads * pairsOf(layer, n), square = heads * dk * dk;
  const double out = spec.outputDim < 0 ? model : spec.outputDim;
  Cost cost;
  cost.parameters = model * (heads * dk + kvHeads * (dk + dv)) + (model > 0 ? heads * dv * out : 0);
  cost.projections = n * cost.parameters;
  if (spec.hasBiases && model > 0) cost.parameters += heads * dk + kvHeads * (dk + dv) + out;
  cost.scores = pairs * dk;
  if (layer.score == Score::general) cost.parameters += square, cost.scores += n * square;
  if (layer.score == Score::additive) {
    cost.parameters += 2 * square + heads * dk;
    cost.scores += 2 * n * square;  // once for each token
    cost.tanhs = pairs * dk;
  }
  if (layer.score == Score::cosine) cost.scores += n * (heads + kvHeads) * dk;  // the norms |q| and |k|
  cost.sums = pairs * dv;
  cost.keptNumbers = n * kvHeads * (dk + dv);
  cost.scoreNumbers = pairs;
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
