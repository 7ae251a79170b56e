#include "attention/models/block_backward.h"

#include <cmath>
#include <numbers>

#include "attention/models/stages.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

using Stage = BlockStage;

/// Dropped numbers have gradient 0; the others are multiplied by the dropout factor.
void throughDropout(const BlockSpec& spec, int site, Tensor& d) {
  const double kept = dropoutFactor(spec);
  if (!spec.drops() && kept == 1.0) return;
  for (int r = 0; r < d.rows(); ++r) {
    for (int c = 0; c < d.cols(); ++c)
      d.at(0, r, c) = isKept(spec, site, r, c) ? saturate(double{d.at(0, r, c)} * kept) : 0.0f;
  }
}

struct ConnectionGradients {
  Tensor &x, &w, &b;
};
/// Backward pass of out = x·w + b: adds the gradient of x to that so far.
void throughConnection(const Tensor& x, const Tensor& w, const Tensor& dOut, const ConnectionGradients& g,
                       Products& products) {
  products.aTb(matrixOf(x), matrixOf(dOut), g.w.data(), g.w.cols());
  for (int c = 0; c < g.b.cols(); ++c) {
    double sum = 0.0;
    for (int r = 0; r < dOut.rows(); ++r) sum += double{dOut.at(0, r, c)};
    g.b.at(0, 0, c) = saturate(sum);
  }
  Tensor more(1, x.rows(), x.cols());
  products.abT(matrixOf(dOut), matrixOf(w), more.data(), more.cols());
  addTo(g.x, more);
}

}  // namespace

double activationSlope(Activation activation, double h) {
  switch (activation) {
    case Activation::relu: return h > 0.0 ? 1.0 : 0.0;
    case Activation::gelu:
      return 0.5 * (1.0 + std::erf(h * std::sqrt(0.5))) +
             h * std::exp(-0.5 * h * h) / std::sqrt(2.0 * std::numbers::pi);
    case Activation::tanh: return (1.0 - std::tanh(h)) * (1.0 + std::tanh(h));
  }
  return 1.0;
}

void layerNormBackward(const Tensor& x, const Tensor* gamma, const Moments& moments, const Tensor& dOut,
                       const LayerNormGradients& g) {
  const int width = x.cols();
  for (int r = 0; r < x.rows(); ++r) {
    const double mean = double{moments.mean.at(0, r, 0)}, deviation = double{moments.deviation.at(0, r, 0)};
    const auto unit = [&](int c) { return (double{x.at(0, r, c)} - mean) / deviation; };
    const auto gradient = [&](int c) {
      return double{dOut.at(0, r, c)} * (gamma ? double{gamma->at(0, 0, c)} : 1.0);
    };
    double sum = 0.0, along = 0.0;
    for (int c = 0; c < width; ++c) sum += gradient(c), along += gradient(c) * unit(c);
    for (int c = 0; c < width; ++c) {
      const double d = (gradient(c) - sum / width - unit(c) * along / width) / deviation;
      g.x.at(0, r, c) = saturate(double{g.x.at(0, r, c)} + d);
      const double given = double{dOut.at(0, r, c)};
      if (g.gamma && !g.gamma->empty())
        g.gamma->at(0, 0, c) = saturate(double{g.gamma->at(0, 0, c)} + given * unit(c));
      if (g.delta && !g.delta->empty()) g.delta->at(0, 0, c) = saturate(double{g.delta->at(0, 0, c)} + given);
    }
  }
}

void backwardBlock(const BlockSpec& spec, const BlockInputs& in, const BlockTrace& trace,
                   std::span<const BlockUpstream> upstream, BlockGradients& g, Products& products) {
  const bool pre = spec.norm == NormPlace::pre, post = spec.norm == NormPlace::post;
  shapeLike(in.x, g.x), shapeLike(in.attention, g.attention);
  shapeLike(in.gamma1, g.gamma1), shapeLike(in.delta1, g.delta1), shapeLike(in.gamma2, g.gamma2),
      shapeLike(in.delta2, g.delta2);
  shapeLike(in.w1, g.w1), shapeLike(in.b1, g.b1), shapeLike(in.w2, g.w2), shapeLike(in.b2, g.b2);
  BlockTrace d;
  for (int s = 0; s < kBlockStages; ++s) {
    const auto stage = static_cast<Stage>(s);
    shapeLike(&trace[stage], d[stage]);
    for (const BlockUpstream& u : upstream) {
      if (u.stage == stage) addTo(d[stage], *u.gradient);
    }
  }
  const auto sourceOf = [&](Stage stage, std::size_t i) {
    return static_cast<Stage>(static_cast<int>(sourcesOf(spec, stage)[i].id) -
                              static_cast<int>(kBlockTensors.first));
  };
  const Stage read = sourceOf(Stage::hidden_raw, 0);
  if (post) {
    layerNormBackward(trace[Stage::residual_2], in.gamma2, trace.moments2, d[Stage::norm_2],
                      {d[Stage::residual_2], &g.gamma2, &g.delta2});
  }
  addTo(d[Stage::dropout_2], d[Stage::residual_2]);
  if (spec.residual) addTo(d[sourceOf(Stage::residual_2, 1)], d[Stage::residual_2]);
  throughDropout(spec, 2, d[Stage::dropout_2]);
  addTo(d[Stage::feed_forward], d[Stage::dropout_2]);
  throughConnection(trace[Stage::hidden], *in.w2, d[Stage::feed_forward], {d[Stage::hidden], g.w2, g.b2},
                    products);
  for (std::size_t i = 0; i < d[Stage::hidden].size(); ++i) {
    const double slope = activationSlope(spec.activation, double{trace[Stage::hidden_raw].data()[i]});
    float& raw = d[Stage::hidden_raw].data()[i];
    raw = saturate(double{raw} + slope * double{d[Stage::hidden].data()[i]});
  }
  throughConnection(trace[read], *in.w1, d[Stage::hidden_raw], {d[read], g.w1, g.b1}, products);
  if (pre)
    layerNormBackward(trace[Stage::residual_1], in.gamma2, trace.moments2, d[Stage::norm_2],
                      {d[Stage::residual_1], &g.gamma2, &g.delta2});
  if (post)
    layerNormBackward(trace[Stage::residual_1], in.gamma1, trace.moments1, d[Stage::norm_1],
                      {d[Stage::residual_1], &g.gamma1, &g.delta1});
  addTo(d[Stage::dropout_1], d[Stage::residual_1]);
  if (spec.residual) addTo(g.x, d[Stage::residual_1]);
  throughDropout(spec, 1, d[Stage::dropout_1]);
  addTo(d[Stage::attention], d[Stage::dropout_1]);
  g.attention = d[Stage::attention];
  if (pre) layerNormBackward(*in.x, in.gamma1, trace.moments1, d[Stage::norm_1], {g.x, &g.gamma1, &g.delta1});
}

}  // namespace attention
