#include "document/layers.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "attention/steps/forward.h"

namespace document {
namespace {

double millisecondsOfPicture() {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double, std::milli>(since).count();
}

/// The inputs of the layer for an item, on the board or not.
attention::Inputs inputsOf(const State& state, int item) {
  attention::Inputs out = inputs(state);
  if (item == state.batchItem) return out;
  const BatchItem& other = state.items[static_cast<std::size_t>(item)];
  if (out.x) out.x = &other.x;
  if (out.xKv) out.xKv = &other.xKv;
  if (out.xV) out.xV = &other.xV;
  if (out.q) out.q = &other.q, out.k = &other.k, out.v = &other.v;
  if (out.bias) out.bias = &other.bias;
  return out;
}

int blockOf(int queries, int keys) {
  return (std::max(queries, keys) + LayerPicture::kMost - 1) / LayerPicture::kMost;
}

void begin(LayerPicture& out, int heads, int queries, int keys) {
  out.queries = queries;
  const int size = blockOf(queries, keys);
  const auto blocks = [size](int cells) { return (cells + size - 1) / size; };
  out.weights = Tensor(heads, blocks(queries), blocks(keys));
  out.peaks.assign(static_cast<std::size_t>(heads * out.weights.rows()), 0.0f);
  out.received = Tensor(1, heads, keys);
  if (std::max(queries, keys) <= LayerPicture::kMostMean) out.mean = Tensor(1, queries, keys);
}

/// Each block of a row replaces what `to` has where it is farther from 0; returns the largest magnitude in
/// them. Without a division for each weight.
float reduce(const float* from, int keys, int size, float* to) {
  float peak = 0;
  for (int j = 0; j < keys; ++to) {
    float cell = *to;
    for (const int end = std::min(j + size, keys); j < end; ++j)
      if (std::fabs(from[j]) > std::fabs(cell)) cell = from[j];
    *to = cell;
    peak = std::max(peak, std::fabs(cell));
  }
  return peak;
}

}  // namespace

HeadsAsked headsAsked(const State& state) {
  return {hasHeadTags(state) ? tokenNumbers(state.labels) : std::vector<int>(), state.causal, !state.cross};
}

void addRows(LayerPicture& out, const Tensor& weights, const Tensor& masked, const PictureRows& added,
             const HeadsAsked& asked) {
  const int head = added.head, queries = weights.rows(), keys = weights.cols(), size = blockOf(queries, keys);
  if (out.weights.empty()) begin(out, weights.heads(), queries, keys);
  float* const received = out.received.row(0, head);
  weights.expect(head, added.rows.begin, added.rows.size());
  for (int i = added.rows.begin; i < added.rows.end; ++i) {
    const float *from = weights.row(head, i), *scores = masked.row(head, i);
    float *to = out.weights.row(head, i / size),
          &peak = out.peaks[static_cast<std::size_t>(head * out.weights.rows() + i / size)];
    peak = std::max(peak, reduce(from, keys, size, to));
    // What it gives to other tokens than itself, and without a question for each weight.
    const float own = asked.isSelf && i < keys ? received[i] : 0;
    for (int j = 0; j < keys; ++j) received[j] += from[j];
    if (asked.isSelf && i < keys) received[i] = own;
    for (int j = i + 1; out.isCausal && j < keys; ++j) out.isCausal = std::isinf(scores[j]);
    if (!asked.tokens.empty())
      out.meter.take(1, attention::rowsOfHead(weights, head), asked.tokens,
                     {asked.causal, attention::rowsOfHead(masked, head)}, i + 1);
    if (out.mean.empty()) continue;
    float* const mean = out.mean.row(0, i);
    for (int j = 0; j < keys; ++j) mean[j] += from[j] / static_cast<float>(weights.heads());
  }
  if (asked.tokens.empty() || added.rows.end < queries) return;
  out.measures.push_back(out.meter.measures());
  out.tags.push_back(attention::tagOf(out.measures.back()));
  out.meter = {};
}

LayerPicture pictureOf(const Tensor& weights, const Tensor& masked, const HeadsAsked& asked) {
  LayerPicture out;
  for (int h = 0; h < weights.heads(); ++h) addRows(out, weights, masked, {h, {0, weights.rows()}}, asked);
  return out;
}

float lookAt(const LayerPicture& picture, int head, std::span<const int> keys, const HeadsAsked& asked) {
  if (keys.empty() || picture.received.empty()) return 0;
  const float* const received = picture.received.row(0, head);
  float sum = 0;
  for (const int key : keys) sum += received[key];
  const int n = picture.queries;
  const bool causal = asked.causal || picture.isCausal;
  const int rows = !asked.isSelf ? n : causal ? n - 1 - keys.front() : n - (keys.size() == 1 ? 1 : 0);
  return rows > 0 ? sum / static_cast<float>(rows) : 0;
}

Tensor weightsOf(const State& state, int layer) {
  attention::Trace trace;
  attention::forward(spec(state), inputsOf(state, layer), trace);
  return std::move(trace.weights);
}

/// Begins a layer, or adds some rows to its picture.
void LayerPictures::piece(const State& state) {
  if (begun_ < 0) {
    while (pictures_[static_cast<std::size_t>(++begun_)].version != 0) continue;
    head_ = row_ = 0;
    if (!engine_) engine_.emplace().setMost({0, 0});
    return engine_->apply(spec(state), inputsOf(state, begun_), attention::Change{});
  }
  LayerPicture& picture = pictures_[static_cast<std::size_t>(begun_)];
  const std::int64_t ofRow = state.keyTokens * (std::int64_t{state.headDim} + kPerScore);
  const int end = std::min(state.tokens, row_ + static_cast<int>(std::max(kPiece / ofRow, std::int64_t{1})));
  const attention::Trace& trace = engine_->shapes();
  addRows(picture, trace.weights, trace.masked, {head_, {row_, end}}, asked_);
  row_ = end < state.tokens ? end : 0;
  if (row_ > 0 || ++head_ < state.heads) return;
  picture.version = ++version_;
  begun_ = -1;
  if (--missing_ == 0) engine_.reset();
}

const std::vector<LayerPicture>& LayerPictures::of(const State& state, std::uint64_t revision,
                                                   double milliseconds) {
  const auto count = static_cast<std::size_t>(state.batch);
  if (seen_ != revision + 1 || pictures_.size() != count) {
    seen_ = revision + 1, begun_ = -1;
    pictures_.assign(count, {});
    missing_ = state.batch;
    asked_ = headsAsked(state);
  }
  if (milliseconds <= 0) return pictures_;
  const double end = millisecondsOfPicture() + milliseconds;
  do {
    if (missing_ > 0) piece(state);
  } while (missing_ > 0 && millisecondsOfPicture() < end);
  return pictures_;
}

}  // namespace document
