#include "attention/block.h"

#include <algorithm>
#include <cmath>

#include "attention/checks.h"
#include "attention/draws.h"
#include "attention/kernels.h"
#include "attention/steps.h"

namespace attention {
namespace {

using Stage = BlockStage;

Check checkOptions(const BlockSpec& spec) {
  using checks::refuse;
  using checks::text;
  if (!(spec.epsilon >= BlockLimits::smallestEpsilon && spec.epsilon <= BlockLimits::largestEpsilon)) {
    return refuse("epsilon", text(spec.epsilon) + " is out of range; use 1e-12 to 1.");
  }
  if (!(spec.dropRate >= 0.0f && spec.dropRate <= BlockLimits::dropRate)) {
    return refuse("dropRate", text(spec.dropRate) + " is out of range; use 0 to " + text(BlockLimits::dropRate) + ".");
  }
  return {};
}

Check checkOptional(const char* field, const Tensor* tensor, int cols) {
  return tensor ? checks::checkTensors({{field, tensor, {1, 1, cols}}}) : Check{};
}

void drop(const BlockSpec& spec, int site, const Tensor& in, Tensor& out) {
  out = in;
  if (!spec.drops()) return;
  const double kept = 1.0 / (1.0 - double{spec.dropRate});
  for (int r = 0; r < out.rows(); ++r) {
    for (int c = 0; c < out.cols(); ++c) {
      float& v = out.at(0, r, c);
      v = isKept(spec, site, r, c) ? saturate(double{v} * kept) : 0.0f;
    }
  }
}

void add(const Tensor* stream, const Tensor& in, Tensor& out) {
  out = in;
  if (!stream) return;
  for (std::size_t i = 0; i < out.size(); ++i) {
    out.data()[i] = saturate(double{in.data()[i]} + double{stream->data()[i]});
  }
}

/// out = x · w + b, each token by itself.
void connect(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& out) {
  out.reshape(1, x.rows(), w.cols());
  for (int r = 0; r < x.rows(); ++r) {
    float* to = out.row(0, r);
    kernels::weightedSum(kernels::best(), x.row(0, r), w.data(), w.cols(), x.cols(), w.cols(), to);
    if (!b) continue;
    for (int c = 0; c < w.cols(); ++c) to[c] = saturate(double{to[c]} + double{b->at(0, 0, c)});
  }
}

double activated(Activation activation, double h) {
  switch (activation) {
    case Activation::relu: return std::max(0.0, h);
    case Activation::gelu: return 0.5 * h * (1.0 + std::erf(h * std::sqrt(0.5)));
    case Activation::tanh: return std::tanh(h);
  }
  return h;
}

void activate(Activation activation, const Tensor& in, Tensor& out) {
  out.reshape(1, in.rows(), in.cols());
  for (std::size_t i = 0; i < in.size(); ++i) out.data()[i] = saturate(activated(activation, double{in.data()[i]}));
}

}  // namespace

std::string_view name(BlockStage stage) {
  static constexpr std::array<std::string_view, kBlockStages> kNames{
      "attention", "dropout_1", "residual_1", "norm_1",    "hidden_raw",
      "hidden",    "feed_forward", "dropout_2", "residual_2", "norm_2"};
  return kNames[static_cast<std::size_t>(stage)];
}

Check validate(const BlockSpec& spec, const BlockInputs& in) {
  if (Check bad = checks::checkSize("rows", spec.rows, Limits::tokens)) return bad;
  if (Check bad = checks::checkSize("width", spec.width, Limits::modelDim)) return bad;
  if (Check bad = checks::checkSize("hidden", spec.hidden, BlockLimits::hidden)) return bad;
  if (Check bad = checkOptions(spec)) return bad;
  if (Check bad = checks::checkTensors({{"attention", in.attention, {1, spec.rows, spec.width}},
                                        {"w1", in.w1, {1, spec.width, spec.hidden}},
                                        {"w2", in.w2, {1, spec.hidden, spec.width}}})) {
    return bad;
  }
  if (spec.residual || spec.norm == NormPlace::pre) {
    if (Check bad = checks::checkTensors({{"x", in.x, {1, spec.rows, spec.width}}})) return bad;
  }
  if (Check bad = checkOptional("gamma1", in.gamma1, spec.width)) return bad;
  if (Check bad = checkOptional("delta1", in.delta1, spec.width)) return bad;
  if (Check bad = checkOptional("b1", in.b1, spec.hidden)) return bad;
  if (Check bad = checkOptional("b2", in.b2, spec.width)) return bad;
  if (Check bad = checkOptional("gamma2", in.gamma2, spec.width)) return bad;
  return checkOptional("delta2", in.delta2, spec.width);
}

void layerNorm(const Tensor& x, const Tensor* gamma, const Tensor* delta, float epsilon, Moments& moments,
               Tensor& out) {
  out.reshape(1, x.rows(), x.cols());
  moments.mean.reshape(1, x.rows(), 1);
  moments.deviation.reshape(1, x.rows(), 1);
  for (int r = 0; r < x.rows(); ++r) {
    const float* row = x.row(0, r);
    double sum = 0.0, squares = 0.0;
    for (int c = 0; c < x.cols(); ++c) sum += double{row[c]};
    const double mean = sum / x.cols();
    for (int c = 0; c < x.cols(); ++c) squares += (double{row[c]} - mean) * (double{row[c]} - mean);
    const double deviation = std::sqrt(squares / x.cols() + double{epsilon});
    moments.mean.at(0, r, 0) = saturate(mean);
    moments.deviation.at(0, r, 0) = saturate(deviation);
    for (int c = 0; c < x.cols(); ++c) {
      const double g = gamma ? double{gamma->at(0, 0, c)} : 1.0, d = delta ? double{delta->at(0, 0, c)} : 0.0;
      out.at(0, r, c) = saturate(g * ((double{row[c]} - mean) / deviation) + d);
    }
  }
}

bool isKept(const BlockSpec& spec, int site, int row, int col) {
  if (!spec.drops()) return true;
  const std::uint64_t place = static_cast<std::uint64_t>(row) << 32 | static_cast<std::uint64_t>(col);
  const std::uint64_t bits = mix(mix(std::uint64_t{spec.seed} << 8 | static_cast<std::uint64_t>(site)) ^ place);
  return static_cast<double>(bits >> 11) * 0x1p-53 >= double{spec.dropRate};
}

void forwardBlock(const BlockSpec& spec, const BlockInputs& in, BlockTrace& trace) {
  const bool pre = spec.norm == NormPlace::pre, post = spec.norm == NormPlace::post;
  if (spec.norm == NormPlace::none) trace[Stage::norm_1] = trace[Stage::norm_2] = Tensor();
  if (pre) layerNorm(*in.x, in.gamma1, in.delta1, spec.epsilon, trace.moments1, trace[Stage::norm_1]);
  trace[Stage::attention] = *in.attention;
  drop(spec, 1, trace[Stage::attention], trace[Stage::dropout_1]);
  add(spec.residual ? in.x : nullptr, trace[Stage::dropout_1], trace[Stage::residual_1]);

  const Tensor& middle = trace[Stage::residual_1];
  if (post) layerNorm(middle, in.gamma1, in.delta1, spec.epsilon, trace.moments1, trace[Stage::norm_1]);
  if (pre) layerNorm(middle, in.gamma2, in.delta2, spec.epsilon, trace.moments2, trace[Stage::norm_2]);
  const Tensor& read = pre ? trace[Stage::norm_2] : post ? trace[Stage::norm_1] : middle;
  connect(read, *in.w1, in.b1, trace[Stage::hidden_raw]);
  activate(spec.activation, trace[Stage::hidden_raw], trace[Stage::hidden]);
  connect(trace[Stage::hidden], *in.w2, in.b2, trace[Stage::feed_forward]);
  drop(spec, 2, trace[Stage::feed_forward], trace[Stage::dropout_2]);
  add(spec.residual ? (pre ? &middle : &read) : nullptr, trace[Stage::dropout_2], trace[Stage::residual_2]);
  if (post) {
    layerNorm(trace[Stage::residual_2], in.gamma2, in.delta2, spec.epsilon, trace.moments2, trace[Stage::norm_2]);
  }
}

}  // namespace attention
