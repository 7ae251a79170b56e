#include "document/experiments.h"

#include <algorithm>

#include "attention/steps/rows.h"

namespace document {

using attention::SpreadDraws;
using attention::SpreadSpec;

namespace {

/// A picture of so many tokens around the one that is perturbed has cells that are to be told apart.
constexpr int kFewestCompared = 8, kMostCompared = 64;

}  // namespace

base::Slices Experiments::spreadsInSlices(Spreads& out) {
  const DrawsKey key = drawsKey();
  while (
      draws_.next(key, [&](SpreadDraws& draws) { return SpreadDraws::inSlices(key.seed, key.count, draws); }))
    co_yield draws_.progress();
  SpreadSpec spec = state_.experiments.spread;
  const SpreadDraws& draws = *draws_.last();
  out.at = draws.at(spec);
  for (spec.dim = 1; spec.dim <= SpreadDraws::largestDim; spec.dim *= 2) {
    co_yield {spec.dim, SpreadDraws::largestDim};
    out.curve.push_back(draws.at(spec));
  }
}

const Experiments::Spreads& Experiments::spreads() {
  while (computeSpreads()) {}
  return *spreads_.last();
}

bool Experiments::computeSpreads() {
  return spreads_.next(spreadKey(), [this](Spreads& out) { return spreadsInSlices(out); });
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

attention::ComparisonSpec Experiments::asked() const {
  attention::ComparisonSpec out = state_.experiments.dense;
  out.token = denseToken();
  return out;
}

const attention::Comparison& Experiments::comparisonOf(const attention::Trace& trace,
                                                       const ComparisonKey& key) {
  return comparison_.get(key, [&] {
    attention::Spec layer = spec(state_);
    // Q and K already contain the positions.
    if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
    attention::Inputs direct = inputs(state_);
    direct.x = direct.xKv = direct.wQ = direct.wK = direct.wV = direct.wO = direct.bQ = direct.bK =
        direct.bV = direct.bO = direct.xV = nullptr;
    direct.q = &trace.q, direct.k = &trace.k, direct.v = &trace.v;
    return key.some.keys.empty() ? attention::compare(layer, direct, key.spec)
                                 : attention::compare(layer, direct, key.spec, key.some);
  });
}

const attention::Comparison& Experiments::comparison(const attention::Trace& trace, std::uint64_t revision) {
  const State& s = state_;
  ComparisonKey key{revision, asked(), {}};
  if (std::int64_t{s.heads} * s.tokens * s.keyTokens > attention::Limits::stored)
    key.some = {s.focusHead, {0, s.tokens}, {0, s.keyTokens}};
  return comparisonOf(trace, key);
}

const attention::Comparison& Experiments::comparisonShown(const attention::Trace& trace,
                                                          std::uint64_t revision) {
  ComparisonKey key{revision, asked(), {}};
  if (const attention::Span shown = tokensCompared();
      shown.size() < std::max(state_.tokens, state_.keyTokens))
    key.some = {state_.focusHead,
                {std::min(shown.begin, state_.tokens), std::min(shown.end, state_.tokens)},
                {std::min(shown.begin, state_.keyTokens), std::min(shown.end, state_.keyTokens)}};
  return comparisonOf(trace, key);
}

attention::Span Experiments::tokensCompared() const {
  const State& s = state_;
  const int tokens = std::max(s.tokens, s.keyTokens);
  const std::int64_t ofRow = attention::workOfRow(spec(s), inputs(s));
  if (s.heads * s.tokens * ofRow <= attention::kBriefWork) return {0, tokens};
  const int size = std::min(std::clamp(attention::briefRows(ofRow), kFewestCompared, kMostCompared), tokens),
            before = std::clamp(denseToken() - size / 2, 0, tokens - size);
  return {before, before + size};
}

}  // namespace document
