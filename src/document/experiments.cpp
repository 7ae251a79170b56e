#include "document/experiments.h"

#include <algorithm>
#include <array>

#include "attention/steps/steps.h"

namespace document {

using attention::Spread;
using attention::SpreadDraws;

const SpreadDraws& Experiments::draws() {
  return draws_.get(drawsKey(), [&] { return SpreadDraws(drawsKey().seed, drawsKey().count); });
}

const Spread& Experiments::spread() {
  const ExperimentOptions& o = state_.experiments;
  return spread_.get({o.spread, drawsKey()}, [&] { return draws().at(o.spread); });
}

const std::vector<Spread>& Experiments::curve() {
  attention::SpreadSpec spec = state_.experiments.spread;
  spec.dim = 1;  // the curve does not depend on dim, so the key must not either
  return curve_.get({spec, drawsKey()}, [&] {
    std::vector<Spread> curve;
    for (; spec.dim <= SpreadDraws::largestDim; spec.dim *= 2) curve.push_back(draws().at(spec));
    return curve;
  });
}

const std::vector<attention::Reach>& Experiments::reach() {
  const attention::ReachSpec& spec = state_.experiments.reach;
  return reach_.get(spec, [&] { return attention::reach(spec); });
}

double Experiments::costTokens() const {
  return state_.experiments.costTokens > 0 ? state_.experiments.costTokens : state_.tokens;
}

attention::Cost Experiments::cost(double tokens, bool other) const {
  const ExperimentOptions& o = state_.experiments;
  attention::CostSpec spec;
  spec.layer = document::spec(state_), spec.hasBiases = state_.projectionBias,
  spec.outputDim = state_.outputProjection ? outputColumns(state_) : 0;
  spec.tokens = tokens, spec.modelDim = state_.mode == Mode::x ? state_.modelDim : 0,
  spec.scoreUnits = state_.additiveDim;
  if (!other) return attention::costOf(spec);
  attention::Spec& layer = spec.layer;
  switch (o.costOf) {
    case CostOf::score:
      layer.score = isDotProduct(layer.score) ? attention::Score::additive : attention::Score::scaled;
      layer.queryDim = 0;
      break;
    case CostOf::heads:
      layer.headDim *= layer.heads, layer.queryDim *= layer.heads, layer.valueDim *= layer.heads;
      layer.heads = layer.kvHeads = 1;
      break;
    case CostOf::window:
      if (layer.windowLeft < 0 && layer.windowRight < 0)
        layer.windowLeft = layer.causal ? o.costWindow - 1 : (o.costWindow - 1) / 2,
        layer.windowRight = layer.causal ? 0 : o.costWindow / 2;
      else layer.windowLeft = layer.windowRight = -1;
      break;
    case CostOf::recurrent: {
      const int width = spec.modelDim > 0 ? spec.modelDim : layer.heads * layer.headDim;
      return attention::recurrentCost(o.memory.cell, tokens, width, layer.heads * layer.valueDim);
    }
  }
  return attention::costOf(spec);
}

int Experiments::denseToken() const {
  return std::min(state_.experiments.dense.token, std::min(state_.tokens, state_.keyTokens) - 1);
}

namespace {

/// The comparison of one head, of a layer whose heads together do not fit into memory.
attention::Comparison compareOne(attention::Spec layer, attention::Inputs in, int head,
                                 const attention::ComparisonSpec& asked) {
  const auto headOf = [](const Tensor& all, int of) {
    Tensor one(1, all.rows(), all.cols());
    std::copy_n(all.head(of), one.size(), one.data());
    return one;
  };
  const int kvHead = attention::kvHeadOf(layer, head);
  const Tensor q = headOf(*in.q, head), k = headOf(*in.k, kvHead), v = headOf(*in.v, kvHead);
  in.q = &q, in.k = &k, in.v = &v;
  std::array<Tensor, 5> own;
  std::size_t used = 0;
  for (const Tensor** each : {&in.wA, &in.uA, &in.vA, &in.bias, &in.sink})
    if (*each && (*each)->heads() > 1) own[used] = headOf(**each, head), *each = &own[used++];
  layer.heads = layer.kvHeads = 1, layer.hiddenHeads = 0;
  return attention::compare(layer, in, asked);
}

}  // namespace

const attention::Comparison& Experiments::comparison(const attention::Trace& trace, std::uint64_t revision) {
  attention::ComparisonSpec asked = state_.experiments.dense;
  asked.token = denseToken();
  return comparison_.get({revision, asked}, [&] {
    attention::Spec layer = spec(state_);
    // Q and K already contain the positions.
    if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
    attention::Inputs direct = inputs(state_);
    direct.x = direct.xKv = direct.wQ = direct.wK = direct.wV = direct.wO = direct.bQ = direct.bK =
        direct.bV = direct.bO = direct.xV = nullptr;
    direct.q = &trace.q, direct.k = &trace.k, direct.v = &trace.v;
    if (std::int64_t{layer.heads} * layer.queryCount * layer.keyCount > attention::Limits::stored)
      return compareOne(layer, direct, state_.focusHead, asked);
    return attention::compare(layer, direct, asked);
  });
}

}  // namespace document
