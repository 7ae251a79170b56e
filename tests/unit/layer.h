// A layer with its numbers, for tests. Owns the tensors, to which attention::Inputs only points.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "attention/steps/forward.h"
#include "reference/error_bound.h"

namespace test {

/// Random numbers that are the same on every platform, which the standard's distributions are not.
/// xorshift64*, Vigna 2016.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  std::uint64_t bits() {
    state_ ^= state_ >> 12, state_ ^= state_ << 25, state_ ^= state_ >> 27;
    return state_ * 0x2545F4914F6CDD1Dull;
  }
  int below(int limit) { return static_cast<int>((bits() >> 33) % static_cast<std::uint64_t>(limit)); }
  bool chance(double p) { return uniform() < p; }
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Approximately normal with mean 0 and variance 1: the sum of twelve uniform numbers, minus 6.
  float normal() {
    double sum = -6.0;
    for (int i = 0; i < 12; ++i) sum += uniform();
    return static_cast<float>(sum);
  }

 private:
  std::uint64_t state_;
};

inline void fill(attention::Tensor& tensor, Random& random, float size = 1.0f) {
  for (float& v : tensor.values()) v = random.normal() * size;
}

struct Layer {
  attention::Spec spec;
  attention::Tensor x, xKv, wQ, wK, wV, wO, q, k, v, wA, uA, vA, bias, bQ, bK, bV, bO, xV,
      sink;  // xKv and those from wA on may be empty
  attention::PaintedMask painted;
  bool projected = false, withOutputWeights = false;

  attention::Inputs inputs() const {
    attention::Inputs in;
    if (projected) {
      in.x = &x, in.wQ = &wQ, in.wK = &wK, in.wV = &wV;
      if (withOutputWeights) in.wO = &wO;
      if (!xKv.empty()) in.xKv = &xKv;
      if (!xV.empty()) in.xV = &xV;
      if (!bQ.empty()) in.bQ = &bQ;
      if (!bK.empty()) in.bK = &bK;
      if (!bV.empty()) in.bV = &bV;
      if (!bO.empty() && withOutputWeights) in.bO = &bO;
    } else {
      in.q = &q, in.k = &k, in.v = &v;
    }
    if (!wA.empty()) in.wA = &wA;
    if (!bias.empty()) in.bias = &bias;
    if (!sink.empty()) in.sink = &sink;
    if (!uA.empty()) in.uA = &uA, in.vA = &vA;
    in.painted = painted.empty() ? nullptr : &painted;
    return in;
  }
  attention::Tensor& input(attention::TensorId id) {
    using attention::TensorId;
    switch (id) {
      case TensorId::x: return x;
      case TensorId::w_q: return wQ;
      case TensorId::w_k: return wK;
      case TensorId::w_v: return wV;
      case TensorId::w_o: return wO;
      case TensorId::x_kv: return xKv;
      case TensorId::w_a: return wA;
      case TensorId::u_a: return uA;
      case TensorId::v_a: return vA;
      case TensorId::k: return k;
      case TensorId::v: return v;
      case TensorId::b_q: return bQ;
      case TensorId::b_k: return bK;
      case TensorId::b_v: return bV;
      case TensorId::b_o: return bO;
      case TensorId::x_v: return xV;
      case TensorId::sink: return sink;
      default: return q;
    }
  }
  void paintNothing() {
    painted.rows = spec.queryCount, painted.cols = spec.keyCount;
    painted.blocked.assign(static_cast<std::size_t>(painted.rows) * static_cast<std::size_t>(painted.cols),
                           0);
  }
  std::uint8_t& paint(int row, int col) {
    return painted.blocked[static_cast<std::size_t>(row) * static_cast<std::size_t>(painted.cols) +
                           static_cast<std::size_t>(col)];
  }
};

inline constexpr attention::Score kScores[] = {attention::Score::dot, attention::Score::scaled,
                                               attention::Score::general, attention::Score::additive,
                                               attention::Score::cosine};
/// All, in the order of the registry.
inline constexpr auto kNormalizers = [] {
  std::array<attention::Normalizer, attention::kNormalizerCount> all{};
  for (int i = 0; i < attention::kNormalizerCount; ++i)
    all[static_cast<std::size_t>(i)] = static_cast<attention::Normalizer>(i);
  return all;
}();
inline constexpr attention::Position kPositions[] = {attention::Position::none,
                                                     attention::Position::sinusoidal,
                                                     attention::Position::rotary, attention::Position::alibi};

inline attention::Spec shape(int heads, int kvHeads, int queries, int keys, int dim, int valueDim) {
  attention::Spec spec;
  spec.heads = heads, spec.kvHeads = kvHeads, spec.queryCount = queries, spec.keyCount = keys;
  spec.headDim = dim, spec.valueDim = valueDim;
  return spec;
}

inline Layer direct(const attention::Spec& spec, Random& random) {
  Layer layer;
  layer.spec = spec;
  fill(layer.q = {spec.heads, spec.queryCount, spec.headDim}, random);
  fill(layer.k = {spec.kvHeads, spec.keyCount, spec.headDim}, random);
  fill(layer.v = {spec.kvHeads, spec.keyCount, spec.valueDim}, random);
  return layer;
}

/// The layer with softmax and a random sink of each head.
inline Layer withSink(Layer layer, Random& random) {
  layer.spec.normalizer = attention::Normalizer::softmax, layer.spec.sink = true;
  fill(layer.sink = {layer.spec.heads, 1, 1}, random);
  return layer;
}

/// The layer with another score and random weights for it.
inline Layer withScore(Layer layer, attention::Score score, Random& random) {
  using attention::Score;
  const int dim = layer.spec.headDim;
  const float size = 1.0f / std::sqrt(static_cast<float>(dim));
  layer.spec.score = score;
  if (score == Score::general || score == Score::additive)
    fill(layer.wA = {layer.spec.heads, dim, dim}, random, size);
  if (score != Score::additive) return layer;
  fill(layer.uA = {layer.spec.heads, dim, dim}, random, size);
  fill(layer.vA = {layer.spec.heads, 1, dim}, random);
  return layer;
}

/// A layer with the additive score, of whose sums W_a·q and U_a·k each is about `size`, and those of a token
/// with itself cancel.
inline Layer withOppositeSums(float size, Random& random) {
  Layer layer = withScore(direct(shape(2, 2, 9, 9, 6, 4), random), attention::Score::additive, random);
  for (float& w : layer.wA.values()) w *= size;
  layer.uA = layer.wA, layer.k = layer.q;
  for (float& u : layer.uA.values()) u = -u;
  return layer;
}

/// The layer, of a score with weights and without biases, with queries of another width than keys.
inline Layer withQueryWidth(Layer layer, int width, Random& random) {
  attention::Spec& spec = layer.spec;
  spec.queryDim = width;
  if (layer.projected) fill(layer.wQ = {1, layer.x.cols(), spec.heads * width}, random);
  else fill(layer.q = {spec.heads, spec.queryCount, width}, random);
  const bool isGeneral = layer.uA.empty();
  fill(layer.wA = {spec.heads, isGeneral ? width : layer.wA.rows(), isGeneral ? spec.headDim : width},
       random);
  return layer;
}

/// Adds, at random, a bias that masks some pairs (one for all heads, or one per head), and paints the given
/// share of the pairs.
inline void maybeMask(Layer& layer, double painted, Random& random) {
  const attention::Spec& s = layer.spec;
  if (random.chance(0.3)) {
    fill(layer.bias = {random.chance(0.5) ? 1 : s.heads, s.queryCount, s.keyCount}, random);
    for (float& b : layer.bias.values()) {
      if (random.chance(0.2)) b = -std::numeric_limits<float>::infinity();
    }
  }
  if (!random.chance(0.3)) return;
  layer.paintNothing();
  for (std::uint8_t& cell : layer.painted.blocked) cell = random.chance(painted);
}

/// A layer with projections; cross-attention if keyCount differs from queryCount. The weights are scaled so
/// that Q, K and V have variance about 1.
inline Layer projected(const attention::Spec& spec, int modelDim, int outputDim, Random& random) {
  Layer layer;
  layer.spec = spec;
  layer.projected = true, layer.withOutputWeights = outputDim > 0;
  const float size = 1.0f / std::sqrt(static_cast<float>(modelDim));
  fill(layer.x = {1, spec.queryCount, modelDim}, random);
  if (spec.keyCount != spec.queryCount) fill(layer.xKv = {1, spec.keyCount, modelDim}, random);
  fill(layer.wQ = {1, modelDim, spec.heads * spec.headDim}, random, size);
  fill(layer.wK = {1, modelDim, spec.kvHeads * spec.headDim}, random, size);
  fill(layer.wV = {1, modelDim, spec.kvHeads * spec.valueDim}, random, size);
  fill(layer.wO = {1, spec.heads * spec.valueDim, std::max(outputDim, 1)}, random, size);
  return layer;
}

/// The layer with random biases of its projections.
inline Layer withBiases(Layer layer, Random& random) {
  fill(layer.bQ = {1, 1, layer.wQ.cols()}, random), fill(layer.bK = {1, 1, layer.wK.cols()}, random),
      fill(layer.bV = {1, 1, layer.wV.cols()}, random);
  if (layer.withOutputWeights) fill(layer.bO = {1, 1, layer.wO.cols()}, random);
  return layer;
}

/// A copy of all numbers, also of a tensor that is not stored.
inline attention::Tensor stored(const attention::Tensor& from) {
  attention::Tensor all(from.heads(), from.rows(), from.cols());
  for (int h = 0; h < from.heads(); ++h)
    for (int i = 0; i < from.rows(); ++i) std::copy_n(from.row(h, i), from.cols(), all.row(h, i));
  return all;
}

/// Calls `use(id, head, row, column)` for every cell of the layer's tensors.
template <class Use>
void forEveryCell(const Layer& layer, const attention::Trace& trace, Use use) {
  for (int t = 0; t < attention::kTensorCount; ++t) {
    const auto id = static_cast<attention::TensorId>(t);
    const attention::Tensor* tensor = find(layer.inputs(), trace, id);
    if (!tensor) continue;
    for (int h = 0; h < tensor->heads(); ++h)
      for (int i = 0; i < tensor->rows(); ++i)
        for (int j = 0; j < tensor->cols(); ++j) use(id, h, i, j);
  }
}

/// The worst cell of one tensor: its error as a share of its bound, and a sentence if that share is more
/// than 1.
struct Worst {
  double share = 0.0;
  std::string sentence;
};

inline Worst worstCell(const Layer& layer, const attention::Trace& trace,
                       const attention::ReferenceTrace& exact, attention::TensorId id) {
  const attention::Tensor* fast = attention::intermediate(trace, id);
  const attention::ReferenceTensor* slow = attention::intermediate(exact, id);
  Worst worst;
  if (!fast && !slow) return worst;
  const std::string name(attention::name(id));
  if (!fast || !slow) return {2.0, name + (fast ? " should not be there" : " is missing")};
  if (fast->heads() != slow->heads || fast->rows() != slow->rows || fast->cols() != slow->cols) {
    return {2.0, name + " has another shape"};
  }
  const double bound = attention::errorBound(layer.spec, layer.inputs(), exact, id);
  const attention::Tensor all = stored(*fast);
  for (std::size_t i = 0; i < slow->values.size(); ++i) {
    const double a = double{all.data()[i]}, b = slow->values[i];
    const double off = a == b ? 0.0 : std::abs(a - b);
    if (off <= bound && bound > 0.0) worst.share = std::max(worst.share, off / bound);
    if (off <= bound || !worst.sentence.empty()) continue;  // the first comparison is false for NaN
    worst.share = 2.0;
    worst.sentence = name + " number " + std::to_string(i) + " is " + std::to_string(a) + ", not " +
                     std::to_string(b) + " (bound " + std::to_string(bound * 1e9) + "e-9)";
  }
  return worst;
}

/// Compares the trace with the reference. Returns "" if all cells are within attention::errorBound, else a
/// sentence with the tensor, the position and both values.
inline std::string difference(const Layer& layer, const attention::Trace& trace,
                              const attention::ReferenceTrace& exact) {
  for (int t = static_cast<int>(attention::TensorId::q); t < attention::kTensorCount; ++t) {
    const Worst worst = worstCell(layer, trace, exact, static_cast<attention::TensorId>(t));
    if (!worst.sentence.empty()) return worst.sentence;
  }
  return "";
}

}  // namespace test
