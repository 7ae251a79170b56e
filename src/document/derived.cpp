#include "document/derived.h"

#include <algorithm>
#include <chrono>
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

/// The heads of Q side by side, of these rows.
Tensor sideBySide(const Tensor& q, attention::Span rows) {
  Tensor out(1, rows.size(), q.heads() * q.cols());
  for (int h = 0; h < q.heads(); ++h)
    for (int r = 0; r < rows.size(); ++r)
      std::copy_n(q.row(h, rows.begin + r), q.cols(), out.row(0, r) + h * q.cols());
  return out;
}

Tensor rowsOf(const Tensor& all, attention::Span rows) {
  Tensor out(all.heads(), all.empty() ? 0 : rows.size(), all.cols());
  for (int h = 0; h < out.heads(); ++h)
    for (int r = 0; r < out.rows(); ++r) std::copy_n(all.row(h, rows.begin + r), out.cols(), out.row(h, r));
  return out;
}

/// x with its positions; null if the layer has none.
const Tensor* streamOf(const State& state, const attention::Trace& trace) {
  const attention::Inputs given = inputs(state);
  const Tensor* positioned = attention::find(given, trace, TensorId::x_positioned);
  return positioned ? positioned : attention::find(given, trace, TensorId::x);
}

/// Gives the engine the layer with `x` in place of its own x, including positions.
void apply(attention::Engine& engine, const State& state, const attention::Trace& before, const Tensor& x) {
  attention::Spec layer = spec(state);
  attention::Inputs given = inputs(state);
  if (const Tensor* positioned = attention::find(given, before, TensorId::x_kv_positioned))
    given.xKv = positioned;
  if (layer.position == attention::Position::sinusoidal) layer.position = attention::Position::none;
  given.x = &x;
  engine.apply(layer, given, attention::Change{});
}

attention::BlockSpec blockSpec(const BlockOptions& options, int first, const Tensor& attended, bool fits) {
  attention::BlockSpec out;
  out.first = first, out.rows = attended.rows(), out.width = attended.cols();
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

/// Computes some rows of the block, from the layer or, with pre-norm, from that of the normalised x.
BlockRun runBlock(const State& state, Parameters parameters, const attention::Trace& trace,
                  const attention::Trace* normed, attention::Span rows) {
  const Tensor* x = streamOf(state, trace);
  const attention::Trace& of = normed ? *normed : trace;
  BlockRun out;
  out.attended = rowsOf(of.output, rows), out.heads = rowsOf(of.headOutput, rows),
  out.concat = rowsOf(of.concat, rows);
  out.given = x == nullptr;
  out.x = x != nullptr ? rowsOf(*x, rows) : sideBySide(trace.q, rows);
  out.spec = blockSpec(state.block, rows.begin, out.attended, out.x.sameShape(out.attended));
  out.parameters = std::move(parameters);
  attention::forwardBlock(out.spec, out.inputs(), out.trace);
  out.dropMasks = {attention::dropMask(out.spec, 1), attention::dropMask(out.spec, 2)};
  return out;
}

// What is computed in slices, into runs that stay at their place.

base::Slices normedInSlices(const State& state, const attention::Trace& trace, NormedLayer& out) {
  const Parameters& own = state.parameters;
  attention::layerNorm(*streamOf(state, trace), numbersOf(own, ParameterId::gamma_1),
                       numbersOf(own, ParameterId::delta_1), state.block.epsilon, out.moments, out.x);
  co_yield {};
  apply(out.engine, state, trace, out.x);
  while (!out.engine.isWhole()) {
    const auto [isOfRows, done, total] = out.engine.progress();
    const int each = isOfRows ? 1 : state.tokens;
    co_yield {done * each, total * each};
    out.engine.computeNext();
  }
}

base::Slices segmentsInSlices(const State& state, Parameters parameters, const attention::Trace& trace,
                              SegmentsRun& out) {
  const SegmentOptions& options = state.segments;
  out.h = trace.output;
  const int tokens = out.h.rows();
  out.starts = options.by == SegmentBy::punctuation ? attention::splitAtPunctuation(state.labels)
                                                    : attention::splitEvery(tokens, options.tokens);
  out.parameters = std::move(parameters);
  return attention::hierarchyInSlices(out.inputs(), out.trace);
}

base::Slices memoryInSlices(const State& state, Parameters parameters, const attention::Trace& trace,
                            MemoryRun& out) {
  out.given = state.mode != Mode::x;
  out.x = out.given ? sideBySide(trace.q, {0, trace.q.rows()}) : state.x;
  attention::MemoryInputs in;
  out.words = state.experiments.memory.words;
  out.parameters = std::move(parameters);
  const auto of = [&](ParameterId id) { return &out.parameters[id]; };
  in.cell.cell = state.experiments.memory.cell, in.cell.x = &out.x;
  in.cell.w = of(ParameterId::memory_w), in.cell.u = of(ParameterId::memory_u),
  in.cell.b = of(ParameterId::memory_b);
  in.decoder = out.decoder();
  base::Slices work = attention::memoryInSlices(in, out.trace);
  while (work.next()) co_yield work.progress();
  const int units = out.trace.contexts.cols();
  out.fixed = out.attended = Tensor(1, 1, units);
  std::copy_n(out.trace.contexts.row(0, 0), units, out.fixed.data());
  std::copy_n(out.trace.contexts.row(0, 1), units, out.attended.data());
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

attention::HierarchyInputs SegmentsRun::inputs() const {
  const auto of = [&](ParameterId id) { return numbersOf(parameters, id); };
  return {&h,
          starts,
          {of(ParameterId::token_w), of(ParameterId::token_b), of(ParameterId::token_query)},
          {of(ParameterId::segment_w), of(ParameterId::segment_b), of(ParameterId::segment_query)},
          of(ParameterId::class_w),
          of(ParameterId::class_b)};
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

std::optional<TensorId> derivedNamed(std::string_view name) {
  return attention::tensorNamed(name, attention::kDerivedTensors);
}

std::optional<ParameterId> parameterOf(TensorId id) {
  if (!attention::kParameterTensors.contains(id)) return {};
  return static_cast<ParameterId>(static_cast<int>(id) -
                                  static_cast<int>(attention::kParameterTensors.first));
}

bool DerivedTensors::isOfNormed() const {
  return state_.block.norm == NormPlace::pre && state_.mode == Mode::x &&
         state_.modelDim == outputWidth(state_);
}

DerivedTensors::NormedBy DerivedTensors::normedBy() const {
  const Parameters& own = state_.parameters;
  return {layer_, state_.block.epsilon, own[ParameterId::gamma_1], own[ParameterId::delta_1]};
}

bool DerivedTensors::computeNormed() {
  return normed_.next(normedBy(), [this](NormedLayer& out) { return normedInSlices(state_, shapes(), out); });
}

bool DerivedTensors::hasParameter(ParameterId id) const {
  return parameters_[static_cast<std::size_t>(id)].has(parameterBy(id));
}

/// Some of what all rows of the block need: one of its matrices is drawn, or heads of pre-norm are computed.
void DerivedTensors::computeForBlock() {
  for (const ParameterId id : {ParameterId::w_1, ParameterId::w_2})
    if (!hasParameter(id)) return void(parameter(id));
  computeNormed();
}

bool DerivedTensors::computeSegments() {
  using P = ParameterId;
  return segments_.next(revision_, [this](SegmentsRun& out) {
    Parameters own =
        parametersWith({P::token_w, P::token_query, P::segment_w, P::segment_query, P::class_w, P::class_b});
    return segmentsInSlices(state_, std::move(own), trace(), out);
  });
}

bool DerivedTensors::computeMemory() {
  using P = ParameterId;
  return memory_.next(revision_, [this](MemoryRun& out) {
    Parameters own = parametersWith({P::memory_w, P::memory_u, P::memory_b, P::memory_w_a, P::memory_u_a,
                                     P::memory_v_a, P::decoder_u, P::decoder_c});
    return memoryInSlices(state_, std::move(own), traceOfInputs(), out);
  });
}

const BlockRun& DerivedTensors::block(attention::Span rows) {
  return block_.get({revision_, rows}, [&] {
    Parameters own = parametersWith({ParameterId::w_1, ParameterId::w_2});
    if (!isOfNormed()) return runBlock(state_, std::move(own), trace(), nullptr, rows);
    while (computeNormed()) {}
    return runBlock(state_, std::move(own), shapes(), &normed_.last()->engine.shapes(), rows);
  });
}

const SegmentsRun& DerivedTensors::segments() {
  while (computeSegments()) {}
  return *segments_.last();
}

const MemoryRun& DerivedTensors::memory() {
  while (computeMemory()) {}
  return *memory_.last();
}

bool DerivedTensors::isTooLong(View view) const {
  const bool isOfTokens =
      view == View::block || view == View::segments || view == View::dense || view == View::memory;
  return isOfTokens && std::max(state_.tokens, state_.keyTokens) > attention::Limits::modelTokens;
}

bool DerivedTensors::waitsForHeads(View view) const {
  return (view == View::block || view == View::segments) && engine_ && !engine_->isWhole() &&
         !isTooLong(view);
}

bool DerivedTensors::lacks(View view) {
  if (waitsForHeads(view)) return true;
  if (isTooLong(view)) return false;
  switch (view) {
    case View::block:
      return !hasParameter(ParameterId::w_1) || !hasParameter(ParameterId::w_2) ||
             (isOfNormed() && !normed_.has(normedBy()));
    case View::segments: return !segments_.has(revision_);
    case View::memory: return !memory_.has(revision_);
    case View::spread: return !experiments.hasSpreads();
    case View::model: return layers_.of(state_, revision_, 0), !layers_.isWhole();
    default: return false;
  }
}

bool DerivedTensors::compute(View view, double milliseconds) {
  if (view == View::model) return layers_.of(state_, revision_, milliseconds), !layers_.isWhole();
  if (waitsForHeads(view)) return false;
  const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double, std::milli>(milliseconds);
  while (lacks(view) && std::chrono::steady_clock::now() < end) {
    if (view == View::block) computeForBlock();
    else if (view == View::segments) computeSegments();
    else if (view == View::memory) computeMemory();
    else experiments.computeSpreads();
  }
  return lacks(view);
}

base::Slices::Progress DerivedTensors::progress(View view) {
  switch (view) {
    case View::block: return normed_.progress();
    case View::segments: return segments_.progress();
    case View::memory: return memory_.progress();
    case View::model: return {headsInLayers(), state_.batch * state_.heads};
    default: return experiments.progressOfSpreads();
  }
}

const BlockRun* DerivedTensors::blockSoon(attention::Span rows) {
  if (!lacks(View::block)) return &block(rows);
  const BlockRun* last = block_.last();
  return last && last->spec.first == rows.begin && last->spec.rows == rows.size() ? last : nullptr;
}

const SegmentsRun* DerivedTensors::segmentsSoon() {
  const SegmentsRun* last = segments_.last();
  return last && last->h.rows() == state_.tokens ? last : nullptr;
}

const MemoryRun* DerivedTensors::memorySoon() {
  const MemoryRun* last = memory_.last();
  return last && last->x.rows() == state_.tokens ? last : nullptr;
}

DerivedTensors::ParameterBy DerivedTensors::parameterBy(ParameterId id) const {
  return {state_.parameters[id],
          shapeOf(state_, id),
          {state_.block.seed, state_.segments.seed, state_.experiments.memory.seed}};
}

const Tensor& DerivedTensors::parameter(ParameterId id) {
  return parameters_[static_cast<std::size_t>(id)].get(parameterBy(id),
                                                       [&] { return document::parameter(state_, id); });
}

Parameters DerivedTensors::parametersWith(std::initializer_list<ParameterId> all) {
  Parameters out = state_.parameters;
  for (const ParameterId id : all) out[id] = parameter(id);
  return out;
}

Tensor DerivedTensors::numbersOf(TensorId id) {
  if (id == TensorId::reach_curve) return tableOf(experiments.reach());
  if (id == TensorId::cost_table || id == TensorId::cost_curve)
    return costsOf(experiments, id == TensorId::cost_curve);
  if (id == TensorId::reach_gradients) return gradientsOf(experiments.reach());
  if (id == TensorId::spread_saturation)
    return saturationOf(state_.experiments.spread, experiments.spreads().at, experiments.spreads().curve);
  if (id == TensorId::spread_counts) return countsOf(experiments.spreads().at);
  if (id == TensorId::spread_curve) return tableOf(state_.experiments.spread, experiments.spreads().curve);
  return tableOf(state_.experiments.spread, {&experiments.spreads().at, 1});
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
