#include "document/derived.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "attention/steps/forward.h"
#include "base/sentence.h"

namespace document {
namespace {

using attention::BlockStage;
using attention::NormPlace;
using attention::TensorId;

BlockStage stageOf(TensorId id) {
  return static_cast<BlockStage>(static_cast<int>(id) - static_cast<int>(attention::kBlockTensors.first));
}

/// The tensor of a parameter; null for an empty one.
const Tensor* numbersOf(const Parameters& parameters, ParameterId id) {
  return parameters[id].empty() ? nullptr : &parameters[id];
}

/// The heads of Q side by side.
Tensor sideBySide(const Tensor& q) {
  Tensor out(1, q.rows(), q.heads() * q.cols());
  for (int h = 0; h < q.heads(); ++h)
    for (int r = 0; r < q.rows(); ++r) std::copy_n(q.row(h, r), q.cols(), out.row(0, r) + h * q.cols());
  return out;
}

/// Computes the layer with `x` in place of its own x, including positions.
void computeWith(attention::Engine& engine, const State& state, const attention::Trace& before,
                 const Tensor& x) {
  attention::Spec layer = spec(state);
  attention::Inputs given = inputs(state);
  if (const Tensor* positioned = attention::find(given, before, TensorId::x_kv_positioned))
    given.xKv = positioned;
  if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
  given.x = &x;
  engine.apply(layer, given, attention::Change{});
  engine.trace();
}

attention::BlockSpec blockSpec(const BlockOptions& options, const Tensor& attended, bool fits) {
  attention::BlockSpec out;
  out.rows = attended.rows(), out.width = attended.cols();
  out.hidden = std::min(out.width * options.hidden, attention::BlockLimits::hidden);
  out.residual = options.residual && fits;
  out.norm = !fits && options.norm == NormPlace::pre ? NormPlace::none : options.norm;
  out.activation = options.activation, out.epsilon = options.epsilon;
  out.dropRate = options.dropout, out.dropout = options.kind, out.seed = options.dropsBy(),
  out.training = options.dropout > 0;
  return out;
}

/// One row for each distribution, with the columns of TensorId::spread_table.
Tensor tableOf(const attention::SpreadSpec& spec, std::span<const attention::Spread> spreads) {
  Tensor out(2, static_cast<int>(spreads.size()), 9);
  float* to = out.data();
  for (const auto kind : {&attention::Spread::raw, &attention::Spread::scaled}) {
    for (const attention::Spread& spread : spreads) {
      const attention::Distribution& d = spread.*kind;
      for (const double number :
           {static_cast<double>(spread.dim), spec.mean, spec.deviation, d.mean, d.predictedMean, d.deviation,
            d.predictedDeviation, d.largestWeight, d.entropy})
        *to++ = static_cast<float>(number);
    }
  }
  return out;
}

/// How much of a gradient passes through softmax: rows with the columns of TensorId::spread_saturation.
Tensor saturationOf(const attention::SpreadSpec& spec, const attention::Spread& here,
                    const std::vector<attention::Spread>& curve) {
  Tensor out(2, 1 + static_cast<int>(curve.size()), 7);
  float* to = out.data();
  for (const auto kind : {&attention::Spread::raw, &attention::Spread::scaled}) {
    for (int i = 0; i < out.rows(); ++i) {
      const attention::Spread& spread = i == 0 ? here : curve[static_cast<std::size_t>(i - 1)];
      const attention::Distribution& d = spread.*kind;
      for (const double number : {static_cast<double>(spread.dim), spec.meanOfKeys(), spec.deviationOfKeys(),
                                  d.jacobian, d.meanJacobian, d.gradient, d.meanGradient})
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

Tensor gradientsOf(std::span<const attention::Reach> reaches) {
  Tensor out(1, static_cast<int>(reaches.size()), 4);
  float* to = out.data();
  for (const attention::Reach& r : reaches)
    for (const double number :
         {static_cast<double>(r.distance), r.recurrent, r.attentionGradient, r.evenGradient})
      *to++ = static_cast<float>(number);
  return out;
}

Tensor costsOf(const Experiments& experiments, bool isCurve) {
  const int rows = isCurve ? Experiments::kCostPoints : 1;
  Tensor out(isCurve ? 2 : 1, isCurve ? rows : 2, 8);
  float* to = out.data();
  for (const bool other : {false, true}) {
    for (int i = 0; i < rows; ++i) {
      const double tokens = isCurve ? std::pow(10.0, i) : experiments.costTokens();
      const attention::Cost c = experiments.cost(tokens, other);
      for (const double number : {tokens, c.parameters, c.multiplyAdds(), c.tanhs, c.weightBytes(),
                                  c.cacheBytes(), c.scoreBytes(), c.steps})
        *to++ = static_cast<float>(number);
    }
  }
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
  out.attended = trace.output, out.heads = trace.headOutput, out.concat = trace.concat;
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
    attention::Engine engine;
    computeWith(engine, state, trace, normed);
    const attention::Trace& after = engine.trace();
    out.attended = after.output, out.heads = after.headOutput, out.concat = after.concat;
  }
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  out.dropMasks = {attention::dropMask(out.spec, 1), attention::dropMask(out.spec, 2)};
  return out;
}

attention::HierarchyInputs SegmentsRun::inputs() const {
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  return {&h,
          starts,
          {of(ParameterId::token_w), of(ParameterId::token_b), of(ParameterId::token_query)},
          {of(ParameterId::segment_w), of(ParameterId::segment_b), of(ParameterId::segment_query)},
          of(ParameterId::class_w),
          of(ParameterId::class_b)};
}

SegmentsRun runSegments(const State& state, const attention::Trace& trace) {
  const SegmentOptions& options = state.segments;
  SegmentsRun out;
  out.h = trace.output;
  const int tokens = out.h.rows();
  out.starts = options.by == SegmentBy::punctuation ? attention::splitAtPunctuation(state.labels)
                                                    : attention::splitEvery(tokens, options.tokens);
  out.parameters = state.parameters;
  for (const ParameterId id : {ParameterId::token_w, ParameterId::token_query, ParameterId::segment_w,
                               ParameterId::segment_query, ParameterId::class_w, ParameterId::class_b})
    out.parameters[id] = parameter(state, id);
  attention::forwardHierarchy(out.inputs(), out.trace);
  return out;
}

attention::DecoderInputs MemoryRun::decoder() const {
  const auto of = [&](ParameterId id) { return &parameters[id]; };
  return {&trace.cell.states,
          of(ParameterId::memory_w_a),
          of(ParameterId::memory_u_a),
          of(ParameterId::memory_v_a),
          of(ParameterId::decoder_u),
          of(ParameterId::decoder_c),
          words};
}

MemoryRun runMemory(const State& state, const attention::Trace& trace) {
  MemoryRun out;
  out.given = state.mode != Mode::x;
  out.x = out.given ? sideBySide(trace.q) : state.x;
  attention::MemoryInputs in;
  out.words = state.experiments.memory.words;
  for (const ParameterId id :
       {ParameterId::memory_w, ParameterId::memory_u, ParameterId::memory_b, ParameterId::memory_w_a,
        ParameterId::memory_u_a, ParameterId::memory_v_a, ParameterId::decoder_u, ParameterId::decoder_c})
    out.parameters[id] = parameter(state, id);
  const auto of = [&](ParameterId id) { return &out.parameters[id]; };
  in.cell.cell = state.experiments.memory.cell, in.cell.x = &out.x;
  in.cell.w = of(ParameterId::memory_w), in.cell.u = of(ParameterId::memory_u),
  in.cell.b = of(ParameterId::memory_b);
  in.decoder = out.decoder();
  attention::runMemory(in, out.trace);
  const int units = out.trace.contexts.cols();
  out.fixed = out.attended = Tensor(1, 1, units);
  std::copy_n(out.trace.contexts.row(0, 0), units, out.fixed.data());
  std::copy_n(out.trace.contexts.row(0, 1), units, out.attended.data());
  return out;
}

std::optional<TensorId> derivedNamed(std::string_view name) {
  return attention::tensorNamed(name, attention::kDerivedTensors);
}

std::optional<ParameterId> parameterOf(TensorId id) {
  if (!attention::kParameterTensors.contains(id)) return {};
  return static_cast<ParameterId>(static_cast<int>(id) -
                                  static_cast<int>(attention::kParameterTensors.first));
}

const BlockRun& DerivedTensors::block() {
  return block_.get(revision_, [&] { return runBlock(state_, trace()); });
}

const SegmentsRun& DerivedTensors::segments() {
  return segments_.get(revision_, [&] { return runSegments(state_, trace()); });
}

const MemoryRun& DerivedTensors::memory() {
  return memory_.get(revision_, [&] { return runMemory(state_, trace()); });
}

const Tensor& DerivedTensors::parameter(ParameterId id) {
  return parameters_[static_cast<std::size_t>(id)].get(revision_,
                                                       [&] { return document::parameter(state_, id); });
}

Tensor DerivedTensors::numbersOf(TensorId id) {
  if (id == TensorId::reach_curve) return tableOf(experiments.reach());
  if (id == TensorId::cost_table || id == TensorId::cost_curve)
    return costsOf(experiments, id == TensorId::cost_curve);
  if (id == TensorId::reach_gradients) return gradientsOf(experiments.reach());
  if (id == TensorId::spread_saturation)
    return saturationOf(state_.experiments.spread, experiments.spread(), experiments.curve());
  if (id == TensorId::spread_counts) return countsOf(experiments.spread());
  if (id == TensorId::spread_curve) return tableOf(state_.experiments.spread, experiments.curve());
  return tableOf(state_.experiments.spread, {&experiments.spread(), 1});
}

Result<const Tensor*> DerivedTensors::tensor(TensorId id) {
  constexpr int most = attention::Limits::modelTokens;
  if (std::max(state_.tokens, state_.keyTokens) > most)
    return base::refuse(Error::Kind::memory, attention::name(id),
                        {"it is computed for at most ", most, " tokens; use fewer."});
  switch (id) {
    case TensorId::token_weights: return &segments().trace.tokens.weights;
    case TensorId::segment_weights: return &segments().trace.segments.weights;
    case TensorId::class_scores: return &segments().trace.classScores;
    case TensorId::class_probabilities: return &segments().trace.classProbabilities;
    case TensorId::weights_fixed: return &comparison().fixed;
    case TensorId::weights_following: return &comparison().following;
    case TensorId::weights_connected: return &comparison().connected;
    case TensorId::weights_attended: return &comparison().attended;
    case TensorId::memory_states: return &memory().trace.cell.states;
    case TensorId::memory_gates:
    case TensorId::memory_cells: {
      if (state_.experiments.memory.cell == attention::CellKind::tanh)
        return base::refuse(Error::Kind::range, attention::name(id),
                            {"a tanh network has no gates; set memory_cell to \"lstm\"."});
      return id == TensorId::memory_gates ? &memory().trace.cell.gates : &memory().trace.cell.memory;
    }
    case TensorId::memory_weights: return &memory().trace.weights;
    case TensorId::memory_contexts: return &memory().trace.contexts;
    case TensorId::memory_gradients: return &memory().trace.gradients;
    case TensorId::decoder_weights: return &memory().trace.decoder.weights;
    case TensorId::decoder_contexts: return &memory().trace.decoder.contexts;
    case TensorId::decoder_states: return &memory().trace.decoder.states;
    case TensorId::drop_mask_1: return &block().dropMasks[0];
    case TensorId::drop_mask_2: return &block().dropMasks[1];
    default: break;
  }
  if (id > TensorId::class_probabilities) return &(experiment_ = numbersOf(id));
  if (const auto own = parameterOf(id)) return &parameter(*own);
  const Tensor& stage = block().trace[stageOf(id)];
  if (!stage.empty()) return &stage;
  return base::refuse(Error::Kind::range, attention::name(id),
                      {"nothing is normalised here; set block_norm to \"post\"",
                       state_.block.norm == NormPlace::pre ? "." : " or \"pre\"."});
}

const attention::Saliency& DerivedTensors::saliency(const attention::CellRef& target,
                                                    attention::InputSet by) {
  return saliency_.get({revision_, target, by},
                       [&] { return saliencySolver_.of(spec(state_), inputs(state_), trace(), target, by); });
}

bool DerivedTensors::isExplained(TensorId id) { return attention::tensorRow(id).symbol != nullptr; }

attention::Explanation DerivedTensors::explain(TensorId id, int row, int col) {
  if (attention::kBlockTensors.contains(id)) {
    const BlockRun& run = block();
    return attention::explain(run.spec, run.inputs(), run.trace, {stageOf(id), row, col}, state_.labels,
                              state_.decimals);
  }
  if (id == TensorId::decoder_weights)
    return attention::explain(memory().decoder(), memory().trace.decoder, row, col, state_.labels,
                              state_.decimals);
  if (id == TensorId::class_probabilities)
    return attention::explainClass(segments().inputs(), segments().trace, col, className(state_, col),
                                   state_.decimals);
  using attention::Level;
  return attention::explain(segments().inputs(), segments().trace,
                            id == TensorId::token_weights ? Level::tokens : Level::segments, row,
                            state_.labels, state_.decimals);
}

}  // namespace document
