#include "document/around.h"

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "attention/forward.h"
#include "document/sentence.h"

namespace document {
namespace {

using attention::BlockStage;
using attention::NormPlace;

constexpr std::string_view kNames[] = {
    "token_weights", "segment_weights",   "spread:table",      "spread:curve",     "spread:counts",
    "weights:fixed", "weights:following", "weights:connected", "weights:attended", "reach:curve"};
static_assert(static_cast<int>(AroundId::token_weights) + static_cast<int>(std::size(kNames)) == kAroundCount);

/// Null for one that is empty.
const Tensor* numbersOf(const Parameters& parameters, ParameterId id) {
  return parameters[id].empty() ? nullptr : &parameters[id];
}

/// Q's heads side by side.
Tensor sideBySide(const Tensor& q) {
  Tensor out(1, q.rows(), q.heads() * q.cols());
  for (int h = 0; h < q.heads(); ++h)
    for (int r = 0; r < q.rows(); ++r) std::copy_n(q.row(h, r), q.cols(), out.row(0, r) + h * q.cols());
  return out;
}

/// The layer's output where it reads `x` instead of its own x, positions and all.
Tensor outputOf(const State& state, const attention::Trace& before, const Tensor& x) {
  attention::Spec layer = spec(state);
  attention::Inputs given = inputs(state);
  if (const Tensor* positioned = attention::find(given, before, TensorId::x_kv_positioned)) given.xKv = positioned;
  if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
  given.x = &x;
  attention::Trace trace;
  attention::forward(layer, given, trace);
  return std::move(trace.output);
}

attention::BlockSpec blockSpec(const BlockOptions& options, const Tensor& attended, bool fits) {
  attention::BlockSpec out;
  out.rows = attended.rows(), out.width = attended.cols();
  out.hidden = std::min(out.width * options.hidden, attention::BlockLimits::hidden);
  out.residual = options.residual && fits;
  out.norm = !fits && options.norm == NormPlace::pre ? NormPlace::none : options.norm;
  out.activation = options.activation, out.epsilon = options.epsilon;
  out.dropRate = options.dropout, out.seed = options.seed, out.training = options.dropout > 0;
  return out;
}

/// Rows of what is known of each spread, as AroundId::spread_table has them.
Tensor tableOf(const attention::SpreadSpec& spec, std::span<const attention::Spread> spreads) {
  Tensor out(2, static_cast<int>(spreads.size()), 9);
  float* to = out.data();
  for (const auto kind : {&attention::Spread::raw, &attention::Spread::scaled}) {
    for (const attention::Spread& spread : spreads) {
      const attention::Distribution& d = spread.*kind;
      for (const double number : {static_cast<double>(spread.dim), spec.mean, spec.deviation, d.mean, d.predictedMean,
                                  d.deviation, d.predictedDeviation, d.largestWeight, d.entropy})
        *to++ = static_cast<float>(number);
    }
  }
  return out;
}

Tensor countsOf(const attention::Spread& spread) {
  using attention::Distribution;
  Tensor out(2, Distribution::kBins, 2);
  float* to = out.data();
  for (const auto kind : {&attention::Spread::raw, &attention::Spread::scaled}) {
    const Distribution& d = spread.*kind;
    for (int bin = 0; bin < Distribution::kBins; ++bin) {
      *to++ = static_cast<float>(d.low + (d.high - d.low) * (bin + 0.5) / Distribution::kBins);
      *to++ = static_cast<float>(d.counts[static_cast<std::size_t>(bin)]);
    }
  }
  return out;
}

Tensor tableOf(std::span<const attention::Reach> reaches) {
  Tensor out(1, static_cast<int>(reaches.size()), 4);
  float* to = out.data();
  for (const attention::Reach& r : reaches)
    for (const double number : {static_cast<double>(r.distance), r.recurrent, r.attention, r.even})
      *to++ = static_cast<float>(number);
  return out;
}

}  // namespace

attention::BlockInputs BlockRun::inputs() const {
  attention::BlockInputs in;
  in.x = &x, in.attention = &attended;
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  in.gamma1 = of(ParameterId::gamma_1), in.delta1 = of(ParameterId::delta_1);
  in.w1 = of(ParameterId::w_1), in.b1 = of(ParameterId::b_1);
  in.w2 = of(ParameterId::w_2), in.b2 = of(ParameterId::b_2);
  in.gamma2 = of(ParameterId::gamma_2), in.delta2 = of(ParameterId::delta_2);
  return in;
}

BlockRun runBlock(const State& state, const attention::Trace& trace) {
  const attention::Inputs given = inputs(state);
  const Tensor* positioned = attention::find(given, trace, TensorId::x_positioned);
  const Tensor* x = positioned != nullptr ? positioned : attention::find(given, trace, TensorId::x);
  BlockRun out;
  out.attended = trace.output;
  out.given = x == nullptr;
  out.x = x != nullptr ? *x : sideBySide(trace.q);
  out.spec = blockSpec(state.block, out.attended, out.x.sameShape(out.attended));
  out.parameters = state.parameters;
  for (const ParameterId id : {ParameterId::w_1, ParameterId::w_2}) out.parameters[id] = parameter(state, id);
  if (out.spec.norm == NormPlace::pre && !out.given) {
    Tensor normed;
    attention::Moments moments;
    const attention::BlockInputs in = out.inputs();
    attention::layerNorm(*x, in.gamma1, in.delta1, out.spec.epsilon, moments, normed);
    out.attended = outputOf(state, trace, normed);
  }
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  return out;
}

attention::HierarchyInputs SegmentsRun::inputs() const {
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  return {&h,
          starts,
          {of(ParameterId::token_w), of(ParameterId::token_b), of(ParameterId::token_query)},
          {of(ParameterId::segment_w), of(ParameterId::segment_b), of(ParameterId::segment_query)}};
}

SegmentsRun runSegments(const State& state, const attention::Trace& trace) {
  const SegmentOptions& options = state.segments;
  SegmentsRun out;
  out.h = trace.output;
  const int tokens = out.h.rows();
  out.starts = options.by == SegmentBy::punctuation ? attention::splitAtPunctuation(state.labels)
                                                    : attention::splitEvery(tokens, options.tokens);
  out.parameters = state.parameters;
  for (const ParameterId id :
       {ParameterId::token_w, ParameterId::token_query, ParameterId::segment_w, ParameterId::segment_query})
    out.parameters[id] = parameter(state, id);
  attention::forwardHierarchy(out.inputs(), out.trace);
  return out;
}

std::string name(AroundId id) {
  if (id >= AroundId::token_weights)
    return std::string(kNames[static_cast<int>(id) - static_cast<int>(AroundId::token_weights)]);
  if (const auto parameter = parameterOf(id)) return std::string(name(*parameter));
  return "block:" + std::string(attention::name(static_cast<BlockStage>(id)));
}

std::optional<ParameterId> parameterOf(AroundId id) {
  if (id < AroundId::parameters || id >= AroundId::token_weights) return {};
  return static_cast<ParameterId>(static_cast<int>(id) - static_cast<int>(AroundId::parameters));
}

ParameterShape shapeOf(const Settings& settings, AroundId id) {
  if (const auto parameter = parameterOf(id)) return shapeOf(settings, *parameter);
  if (id == AroundId::token_weights) return {settings.tokens, 1};
  const int size = settings.segments.tokens;
  if (id == AroundId::segment_weights) return {(settings.tokens + size - 1) / size, 1};
  const auto stage = static_cast<BlockStage>(id);
  const bool isHidden = stage == BlockStage::hidden_raw || stage == BlockStage::hidden;
  return {settings.tokens, shapeOf(settings, isHidden ? ParameterId::b_1 : ParameterId::b_2).cols};
}

std::optional<AroundId> aroundNamed(std::string_view wanted) {
  for (int i = 0; i < kAroundCount; ++i)
    if (name(static_cast<AroundId>(i)) == wanted) return static_cast<AroundId>(i);
  return {};
}

const BlockRun& Around::block() {
  return block_.get(revision_, [&] { return runBlock(state_, trace_); });
}

const SegmentsRun& Around::segments() {
  return segments_.get(revision_, [&] { return runSegments(state_, trace_); });
}

const Tensor& Around::parameter(ParameterId id) {
  return parameters_[static_cast<std::size_t>(id)].get(revision_, [&] { return document::parameter(state_, id); });
}

Tensor Around::numbersOf(AroundId id) {
  if (id == AroundId::reach_curve) return tableOf(experiments.reach());
  if (id == AroundId::spread_counts) return countsOf(experiments.spread());
  if (id == AroundId::spread_curve) return tableOf(experiments.spreadSpec, experiments.curve());
  return tableOf(experiments.spreadSpec, {&experiments.spread(), 1});
}

Result<const Tensor*> Around::tensor(AroundId id) {
  switch (id) {
    case AroundId::token_weights: return &segments().trace.tokens.weights;
    case AroundId::segment_weights: return &segments().trace.segments.weights;
    case AroundId::weights_fixed: return &comparison().fixed;
    case AroundId::weights_following: return &comparison().following;
    case AroundId::weights_connected: return &comparison().connected;
    case AroundId::weights_attended: return &comparison().attended;
    default: break;
  }
  if (id > AroundId::segment_weights) return &(experiment_ = numbersOf(id));
  if (const auto own = parameterOf(id)) return &parameter(*own);
  const Tensor& stage = block().trace[static_cast<BlockStage>(id)];
  if (!stage.empty()) return &stage;
  return *refuse(Error::Kind::range, name(id),
                 {"nothing is normalised here; set block_norm to \"post\"",
                  state_.block.norm == NormPlace::pre ? "." : " or \"pre\"."});
}

bool Around::isExplained(AroundId id) {
  return id < AroundId::parameters || id == AroundId::token_weights || id == AroundId::segment_weights;
}

attention::Explanation Around::explain(AroundId id, int row, int col) {
  if (id < AroundId::parameters) {
    const BlockRun& run = block();
    return attention::explain(run.spec, run.inputs(), run.trace, static_cast<BlockStage>(id), row, col, state_.labels,
                              state_.decimals);
  }
  using attention::Level;
  return attention::explain(segments().inputs(), segments().trace,
                            id == AroundId::token_weights ? Level::tokens : Level::segments, row, state_.labels,
                            state_.decimals);
}

}  // namespace document
