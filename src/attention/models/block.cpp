#include "attention/models/block.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "attention/layer/checks.h"
#include "attention/models/stages.h"
#include "attention/steps/products.h"
#include "attention/steps/steps.h"
#include "base/random.h"
#include "base/sentence.h"

namespace attention {
namespace {

using Stage = BlockStage;

Result<void> checkOptions(const BlockSpec& spec) {
  using checks::text;
  if (!(spec.epsilon >= BlockLimits::smallestEpsilon && spec.epsilon <= BlockLimits::largestEpsilon)) {
    return base::refuse(
        Error::Kind::range, "epsilon",
        {text(spec.epsilon), " is out of range; use ", std::string_view("1e-12"), " to ", 1, "."});
  }
  if (!(spec.dropRate >= 0.0f && spec.dropRate <= BlockLimits::dropRate)) {
    return base::refuse(
        Error::Kind::range, "dropRate",
        {text(spec.dropRate), " is out of range; use ", 0, " to ", text(BlockLimits::dropRate), "."});
  }
  return {};
}

void drop(const BlockSpec& spec, int site, const Tensor& in, Tensor& out) {
  out = in;
  const double kept = dropoutFactor(spec);
  if (!spec.drops() && kept == 1.0) return;
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

/// out = x · w + b, for each token separately.
void connect(const Tensor& x, const Tensor& w, const Tensor* b, Tensor& out) {
  out.reshape(1, x.rows(), w.cols());
  Products().ab(matrixOf(x), matrixOf(w), out.data(), out.cols());
  addBias(b, 0, out.rows(), out.cols(), out.data(), out.cols());
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
  for (std::size_t i = 0; i < in.size(); ++i)
    out.data()[i] = saturate(activated(activation, double{in.data()[i]}));
}

}  // namespace

std::string_view name(BlockStage stage) { return tensorRow(tensorOf(stage)).symbol; }

Result<void> validate(const BlockSpec& spec, const BlockInputs& in) {
  if (auto ok = checks::checkSize("rows", spec.rows, Limits::modelTokens); !ok) return ok;
  if (auto ok = checks::checkSize("width", spec.width, Limits::modelDim); !ok) return ok;
  if (auto ok = checks::checkSize("hidden", spec.hidden, BlockLimits::hidden); !ok) return ok;
  if (auto ok = checkOptions(spec); !ok) return ok;
  if (auto ok = checks::checkTensors({{"attention", in.attention, {1, spec.rows, spec.width}},
                                      {"w1", in.w1, {1, spec.width, spec.hidden}},
                                      {"w2", in.w2, {1, spec.hidden, spec.width}}});
      !ok) {
    return ok;
  }
  if (spec.residual || spec.norm == NormPlace::pre) {
    if (auto ok = checks::checkTensors({{"x", in.x, {1, spec.rows, spec.width}}}); !ok) return ok;
  }
  if (auto ok = checks::checkOptional("gamma1", in.gamma1, spec.width); !ok) return ok;
  if (auto ok = checks::checkOptional("delta1", in.delta1, spec.width); !ok) return ok;
  if (auto ok = checks::checkOptional("b1", in.b1, spec.hidden); !ok) return ok;
  if (auto ok = checks::checkOptional("b2", in.b2, spec.width); !ok) return ok;
  if (auto ok = checks::checkOptional("gamma2", in.gamma2, spec.width); !ok) return ok;
  return checks::checkOptional("delta2", in.delta2, spec.width);
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
  const std::uint64_t place =
      static_cast<std::uint64_t>(spec.first + row) << 32 | static_cast<std::uint64_t>(col);
  const std::uint64_t bits =
      base::mix(base::mix(std::uint64_t{spec.seed} << 8 | static_cast<std::uint64_t>(site)) ^ place);
  return static_cast<double>(bits >> 11) * 0x1p-53 >= double{spec.dropRate};
}

Tensor dropMask(const BlockSpec& spec, int site) {
  Tensor out(1, spec.rows, spec.width);
  for (int r = 0; r < spec.rows; ++r)
    for (int c = 0; c < spec.width; ++c) out.at(0, r, c) = isKept(spec, site, r, c) ? 1.0f : 0.0f;
  return out;
}

void forwardBlock(const BlockSpec& spec, const BlockInputs& in, BlockTrace& trace) {
  assert(validate(spec, in));
  for (const Stage stage : stagesInOrder(spec)) {
    const std::vector<StageSource> sources = sourcesOf(spec, stage);
    const auto source = [&](std::size_t i) {
      return i < sources.size() ? find(in, trace, sources[i].id) : nullptr;
    };
    const auto normalise = [&](Moments& moments) {
      if (spec.norm == NormPlace::none) trace[stage] = Tensor();
      else layerNorm(*source(0), source(1), source(2), spec.epsilon, moments, trace[stage]);
    };
    switch (stage) {
      case Stage::attention: trace[stage] = *source(0); break;
      case Stage::dropout_1: drop(spec, 1, *source(0), trace[stage]); break;
      case Stage::dropout_2: drop(spec, 2, *source(0), trace[stage]); break;
      case Stage::residual_1:
      case Stage::residual_2: add(source(1), *source(0), trace[stage]); break;
      case Stage::norm_1: normalise(trace.moments1); break;
      case Stage::norm_2: normalise(trace.moments2); break;
      case Stage::hidden_raw:
      case Stage::feed_forward: connect(*source(0), *source(1), source(2), trace[stage]); break;
      case Stage::hidden: activate(spec.activation, *source(0), trace[stage]); break;
    }
  }
}

}  // namespace attention
