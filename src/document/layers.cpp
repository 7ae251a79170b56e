#include "document/layers.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cmath>
#include <limits>
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

/// A number that grows with the distance from 0, and has the sign in its last bit: of two, the larger is that
/// of the value to be kept, which loops of many find without a branch. That of what is not a number is that
/// of 0.
std::uint32_t farOf(float value) {
  constexpr std::uint32_t kInfinity = 0xff000001;
  const std::uint32_t far = std::rotl(std::bit_cast<std::uint32_t>(value), 1);
  return far > kInfinity ? 0 : far;
}
float valueOf(std::uint32_t far) { return std::bit_cast<float>(std::rotr(far, 1)); }

void keepFarthest(const float* from, int keys, std::uint32_t* farthest) {
  for (int j = 0; j < keys; ++j) farthest[j] = std::max(farthest[j], farOf(from[j]));
}

/// Each block of keys replaces what `to` has where it is farther from 0; returns the largest magnitude in
/// them.
float reduce(std::vector<std::uint32_t>& farthest, int size, float* to) {
  std::uint32_t peak = 0;
  const std::uint32_t *key = farthest.data(), *const end = key + farthest.size();
  for (; key < end; ++to) {
    std::uint32_t far = farOf(*to);
    for (const std::uint32_t* const stop = key + std::min<std::ptrdiff_t>(size, end - key); key < stop; ++key)
      far = std::max(far, *key);
    *to = valueOf(far), peak = std::max(peak, far);
  }
  std::fill(farthest.begin(), farthest.end(), 0);
  return std::fabs(valueOf(peak));
}

/// Adds a row to what each key gets, in self-attention from other queries than itself: `own`; -1: from all.
void addReceived(const float* from, int keys, int own, float* received) {
  const float before = own >= 0 ? received[own] : 0;
  for (int j = 0; j < keys; ++j) received[j] += from[j];
  if (own >= 0) received[own] = before;
}

bool areHidden(const float* scores, const float* end) {
  constexpr std::ptrdiff_t kAtOnce = 64;
  for (bool isHidden = true; scores < end; isHidden = true) {
    const float* const stop = scores + std::min(kAtOnce, end - scores);
    for (; scores < stop; ++scores) isHidden &= std::fabs(*scores) > std::numeric_limits<float>::max();
    if (!isHidden) return false;
  }
  return true;
}

}  // namespace

HeadsAsked headsAsked(const State& state) {
  return {hasHeadTags(state) ? tokenNumbers(state.labels) : std::vector<int>(), state.causal, !state.cross};
}

void addRows(LayerPicture& out, const Tensor& weights, const Tensor& masked, const PictureRows& added,
             const HeadsAsked& asked) {
  const int head = added.head, queries = weights.rows(), keys = weights.cols(), size = blockOf(queries, keys);
  if (out.weights.empty()) begin(out, weights.heads(), queries, keys);
  out.farthest.resize(static_cast<std::size_t>(keys));
  weights.expect(head, added.rows.begin, added.rows.size());
  for (int i = added.rows.begin; i < added.rows.end; ++i) {
    const float* from = weights.row(head, i);
    keepFarthest(from, keys, out.farthest.data());
    if ((i + 1) % size == 0 || i + 1 == added.rows.end) {
      float& peak = out.peaks[static_cast<std::size_t>(head * out.weights.rows() + i / size)];
      peak = std::max(peak, reduce(out.farthest, size, out.weights.row(head, i / size)));
    }
    addReceived(from, keys, asked.isSelf && i < keys ? i : -1, out.received.row(0, head));
    if (out.isCausal && i < keys) {
      const float* const scores = masked.row(head, i);
      out.isCausal = areHidden(scores + i + 1, scores + keys);
    }
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
  out.each = 1;
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

int LayerPictures::pictured(const State& state) const {
  const auto isThere = [](const LayerPicture& one) { return one.each != 0; };
  return static_cast<int>(std::count_if(pictures_.begin(), pictures_.end(), isThere)) * state.heads;
}

/// Begins the next layer.
void LayerPictures::begin(const State& state) {
  const auto isNext = [this](const LayerPicture& one) { return isOfSome_ ? one.each == 0 : one.each != 1; };
  begun_ = static_cast<int>(std::find_if(pictures_.begin(), pictures_.end(), isNext) - pictures_.begin());
  head_ = row_ = 0;
  if (!engine_) engine_.emplace().setMost({0, 0, attention::Limits::scores, true});
  engine_->apply(spec(state), inputsOf(state, begun_), attention::Change{});
  if (isOfSome_) engine_->summaries().firstPictures().begin(engine_->spec(), LayerPicture::kMostFirst);
}

/// Adds rows to the picture of the layer that is made.
void LayerPictures::take(const State& state) {
  const std::int64_t ofRow = state.keyTokens * (std::int64_t{state.headDim} + kPerScore);
  const int end = std::min(state.tokens, row_ + static_cast<int>(std::max(kPiece / ofRow, std::int64_t{1})));
  const attention::Trace& trace = engine_->shapes();
  addRows(made_, trace.weights, trace.masked, {head_, {row_, end}}, asked_);
  row_ = end < state.tokens ? end : 0;
  if (row_ > 0 || ++head_ < state.heads) return;
  made_.each = 1, made_.version = ++version_;
  pictures_[static_cast<std::size_t>(begun_)] = std::exchange(made_, {});
  begun_ = -1;
  if (--missing_ == 0) engine_.reset();
}

void LayerPictures::takeSome() {
  engine_->computeFirst();
  const attention::FirstPictures& first = engine_->summaries().firstPictures();
  if (first.hasMore()) return;
  const attention::Overview& overview = first.overview();
  LayerPicture& picture = pictures_[static_cast<std::size_t>(begun_)];
  picture.each = overview.side(), picture.weights = overview.blocks(), picture.version = ++version_;
  picture.peaks.assign(overview.peaks(0), overview.peaks(picture.weights.heads()));
  begun_ = -1;
  isOfSome_ = &picture != &pictures_.back();
}

/// Begins a layer, or adds some rows to its picture.
void LayerPictures::piece(const State& state) {
  if (begun_ < 0) begin(state);
  else if (isOfSome_) takeSome();
  else take(state);
}

const std::vector<LayerPicture>& LayerPictures::of(const State& state, std::uint64_t revision,
                                                   double milliseconds) {
  const auto count = static_cast<std::size_t>(state.batch);
  if (seen_ != revision + 1 || pictures_.size() != count) {
    seen_ = revision + 1, begun_ = -1;
    pictures_.assign(count, {});
    missing_ = state.batch;
    made_ = {};
    asked_ = headsAsked(state);
    const std::int64_t scores = std::int64_t{state.batch} * state.heads * state.tokens * state.keyTokens;
    isOfSome_ = scores >= kMany && std::max(state.tokens, state.keyTokens) > 2 * LayerPicture::kMostFirst &&
                attention::FirstPictures::areFor(spec(state));
  }
  if (milliseconds <= 0) return pictures_;
  const double end = millisecondsOfPicture() + milliseconds;
  do {
    if (missing_ > 0) piece(state);
  } while (missing_ > 0 && millisecondsOfPicture() < end);
  return pictures_;
}

}  // namespace document
