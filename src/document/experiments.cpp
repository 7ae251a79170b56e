#include "document/experiments.h"

#include <algorithm>

namespace document {

using attention::Spread;
using attention::SpreadDraws;

const SpreadDraws& Experiments::draws() {
  return draws_.get(spreadSeed, [&] { return SpreadDraws(spreadSeed); });
}

const Spread& Experiments::spread() {
  return spread_.get({spreadSpec, spreadSeed}, [&] { return draws().at(spreadSpec); });
}

const std::vector<Spread>& Experiments::curve() {
  attention::SpreadSpec spec = spreadSpec;
  spec.dim = 1;  // of the key: the curve does not depend on it
  return curve_.get({spec, spreadSeed}, [&] {
    std::vector<Spread> curve;
    for (; spec.dim <= SpreadDraws::largestDim; spec.dim *= 2) curve.push_back(draws().at(spec));
    return curve;
  });
}

const std::vector<attention::Reach>& Experiments::reach() {
  return reach_.get(reachSpec, [&] { return attention::reach(reachSpec); });
}

const attention::Comparison& Experiments::comparison(const State& state, const attention::Trace& trace,
                                                     std::uint64_t revision) {
  comparisonSpec.token = std::clamp(comparisonSpec.token, 0, std::min(trace.q.rows(), trace.k.rows()) - 1);
  return comparison_.get({revision, comparisonSpec}, [&] {
    attention::Spec layer = spec(state);
    // Q and K have them in them.
    if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
    attention::Inputs direct = inputs(state);
    direct.x = direct.xKv = direct.wQ = direct.wK = direct.wV = direct.wO = nullptr;
    direct.q = &trace.q, direct.k = &trace.k, direct.v = &trace.v;
    return attention::compare(layer, direct, comparisonSpec);
  });
}

}  // namespace document
