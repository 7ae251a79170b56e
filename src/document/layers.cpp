#include "document/layers.h"

#include <algorithm>
#include <cmath>

#include "attention/steps/forward.h"

namespace document {
namespace {

/// The inputs of the layer for an item that is not on the board.
attention::Inputs inputsOf(const State& state, const BatchItem& item) {
  attention::Inputs out = inputs(state);
  if (out.x) out.x = &item.x;
  if (out.xKv) out.xKv = &item.xKv;
  if (out.xV) out.xV = &item.xV;
  if (out.q) out.q = &item.q, out.k = &item.k, out.v = &item.v;
  if (out.bias) out.bias = &item.bias;
  return out;
}

}  // namespace

LayerPicture pictureOf(const Tensor& weights) {
  LayerPicture out;
  const int longer = std::max(weights.rows(), weights.cols()),
            size = (longer + LayerPicture::kMost - 1) / LayerPicture::kMost;
  const auto blocks = [size](int cells) { return (cells + size - 1) / size; };
  out.weights.reshape(weights.heads(), blocks(weights.rows()), blocks(weights.cols()));
  std::fill(out.weights.values().begin(), out.weights.values().end(), 0.0f);
  out.peaks.resize(static_cast<std::size_t>(out.weights.heads() * out.weights.rows()));
  for (int h = 0; h < weights.heads(); ++h)
    for (int i = 0; i < weights.rows(); ++i) {
      const float* from = weights.row(h, i);
      float *to = out.weights.row(h, i / size),
            &peak = out.peaks[static_cast<std::size_t>(h * out.weights.rows() + i / size)];
      for (int j = 0; j < weights.cols(); ++j) {
        const float far = std::fabs(from[j]);
        float& cell = to[j / size];
        if (far > std::fabs(cell)) cell = from[j];
        peak = std::max(peak, far);
      }
    }
  return out;
}

const std::vector<LayerPicture>& LayerPictures::of(const State& state, const attention::Trace& trace,
                                                   std::uint64_t revision, int most) {
  const auto count = static_cast<std::size_t>(state.batch);
  if (seen_ != revision + 1 || pictures_.size() != count) {
    seen_ = revision + 1;
    pictures_.assign(count, {});
    missing_ = state.batch;
    tokens_ = hasHeadTags(state) ? tokenNumbers(state.labels) : std::vector<int>();
  }
  for (std::size_t i = 0; i < count && missing_ > 0; ++i) {
    const bool isHere = static_cast<int>(i) == state.batchItem;
    if (pictures_[i].version != 0 || (!isHere && most-- <= 0)) continue;
    if (!isHere) attention::forward(spec(state), inputsOf(state, state.items[i]), trace_);
    const Tensor& weights = isHere ? trace.weights : trace_.weights;
    pictures_[i] = pictureOf(weights);
    for (int h = 0; !tokens_.empty() && h < weights.heads(); ++h)
      pictures_[i].tags.push_back(attention::tagOf(weights.head(h), tokens_, state.causal));
    pictures_[i].version = ++version_;
    --missing_;
  }
  return pictures_;
}

}  // namespace document
