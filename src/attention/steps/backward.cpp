#include "attention/steps/backward.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

#include "attention/layer/checks.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"
#include "attention/steps/position.h"
#include "attention/steps/steps.h"
#include "base/sentence.h"

namespace attention {
namespace {

using Id = TensorId;

bool anyNonZero(const float* numbers, std::size_t count) {
  return std::any_of(numbers, numbers + count, [](float n) { return n != 0.0f; });
}

void zero(Tensor& tensor, int heads, int rows, int cols) {
  tensor.reshape(heads, rows, cols);
  std::fill(tensor.values().begin(), tensor.values().end(), 0.0f);
}
void zeroLike(Tensor& tensor, const Tensor& like) { zero(tensor, like.heads(), like.rows(), like.cols()); }

class Pass {
 public:
  Pass(const ComputedLayer& layer, std::span<const Upstream> upstream, InputSet wanted, Gradients& gradients,
       BackwardScratch& scratch)
      : spec_(layer.spec),
        in_(layer.inputs),
        t_(layer.trace),
        upstream_(upstream),
        wanted_(wanted),
        g_(gradients),
        s_(scratch) {}

  void run() {
    for (int i = 0; i < kInputCount; ++i) {
      const auto id = static_cast<Id>(i);
      const Tensor* input = wants(inputSet(id)) ? find(in_, t_, id) : nullptr;
      if (!input) g_[id] = Tensor();
      else zeroLike(g_[id], *input), addUpstream(id, g_[id]);
    }
    throughOutput();
    throughConcat();
    zeroLike(s_.v, t_.v), zeroLike(s_.q, t_.q), zeroLike(s_.k, t_.k);
    addUpstream(Id::v, s_.v);
    if (isRotary(spec_)) zeroLike(s_.queries, t_.q), zeroLike(s_.keys, t_.k);
    for (int h = 0; h < spec_.heads; ++h) throughHead(h);
    throughPositions();
    if (in_.projected()) throughProjections();
    for (const auto& [id, made] :
         {std::pair(Id::q, &s_.q), std::pair(Id::k, &s_.k), std::pair(Id::v, &s_.v)}) {
      if (wants(inputSet(id))) g_[id] = *made;
    }
  }

 private:
  bool wants(InputSet set) const { return (wanted_ & set) != 0; }
  bool isGiven(Id id) const {
    return std::any_of(upstream_.begin(), upstream_.end(),
                       [id](const Upstream& u) { return u.tensor == id; });
  }
  void addUpstream(Id id, Tensor& to) const {
    for (const Upstream& u : upstream_) {
      if (u.tensor == id) addTo(to, *u.gradient);
    }
  }
  /// Adds one head of what was given to a tensor of one head.
  void addUpstream(Id id, int head, Tensor& to) const {
    for (const Upstream& u : upstream_) {
      if (u.tensor != id) continue;
      const float* from = u.gradient->head(head);
      for (std::size_t i = 0; i < to.size(); ++i) to.data()[i] = saturatingSum(to.data()[i], from[i]);
    }
  }

  void throughOutput() {
    zeroLike(s_.concat, t_.concat);
    if (isGiven(Id::output)) {
      zeroLike(s_.output, t_.output);
      addUpstream(Id::output, s_.output);
      if (in_.wO) {
        s_.score.products.abT(matrixOf(s_.output), matrixOf(*in_.wO), s_.concat.data(), s_.concat.cols());
      } else {
        s_.concat = s_.output;
      }
      if (in_.wO && wants(inputSet(Id::w_o))) addProduct(t_.concat, s_.output, g_[Id::w_o]);
      addSums(s_.output, g_[Id::b_o]);
    }
    addUpstream(Id::concat, s_.concat);
  }

  /// to += aᵀ·b.
  void addProduct(const Tensor& a, const Tensor& b, Tensor& to) {
    s_.product.reshape(1, a.cols(), b.cols());
    s_.score.products.aTb(matrixOf(a), matrixOf(b), s_.product.data(), b.cols());
    addTo(to, s_.product);
  }

  /// A bias is added to every row: to += their sum.
  static void addSums(const Tensor& rows, Tensor& to) {
    for (int c = 0; c < to.cols(); ++c) {
      double sum = double{to.data()[c]};
      for (int i = 0; i < rows.rows(); ++i) sum += double{rows.at(0, i, c)};
      to.data()[c] = saturate(sum);
    }
  }

  void throughConcat() {
    zeroLike(s_.headOutput, t_.headOutput);
    const int dim = spec_.valueDim;
    for (int h = 0; h < spec_.heads; ++h) {
      if (isHidden(spec_, h)) continue;
      for (int i = 0; i < spec_.queryCount; ++i)
        std::copy_n(s_.concat.row(0, i) + h * dim, dim, s_.headOutput.row(h, i));
    }
    addUpstream(Id::head_output, s_.headOutput);
  }

  /// Is there a gradient at any step from the raw scores to the output of this head?
  bool isReached(int head) const {
    const auto isNonZero = [head](const Tensor& t) {
      return anyNonZero(t.head(head),
                        static_cast<std::size_t>(t.rows()) * static_cast<std::size_t>(t.cols()));
    };
    if (isNonZero(s_.headOutput)) return true;
    for (const Upstream& u : upstream_) {
      if (u.tensor >= Id::raw && u.tensor <= Id::weights && isNonZero(*u.gradient)) return true;
    }
    return false;
  }

  void throughHead(int head) {
    if (!isReached(head)) return;
    const Matrix dO = matrixOf(s_.headOutput, head), values = matrixOf(t_.v, kvHeadOf(spec_, head));
    s_.weights.reshape(1, spec_.queryCount, spec_.keyCount);
    s_.score.products.abT(dO, values, s_.weights.data(), spec_.keyCount);
    addUpstream(Id::weights, head, s_.weights);
    throughValues(head, dO);
    if (!wants(~(inputSet(Id::v) | inputSet(Id::w_v) | inputSet(Id::w_o) | inputSet(Id::b_v) |
                 inputSet(Id::b_o) | inputSet(Id::x_v))))
      return;
    if (spec_.maskAfterSoftmax) hideAfter();
    s_.scores.reshape(1, spec_.queryCount, spec_.keyCount);
    for (int i = 0; i < spec_.queryCount; ++i) throughNormalizer(head, i);
    if (isGiven(Id::exponentials) || isGiven(Id::row_sum) || isGiven(Id::row_max)) throughExponentials(head);
    for (float& d : s_.scores.values()) d = saturate(double{d} / double{spec_.temperature});
    addUpstream(Id::masked, head, s_.scores);
    throughMask(head);
    throughScores(head);
    ScoreGradients to{isRotary(spec_) ? &s_.queries : &s_.q, isRotary(spec_) ? &s_.keys : &s_.k};
    if (!g_[Id::w_a].empty()) to.wA = &g_[Id::w_a];
    if (!g_[Id::u_a].empty()) to.uA = &g_[Id::u_a];
    if (!g_[Id::v_a].empty()) to.vA = &g_[Id::v_a];
    addScoreGradients({spec_, in_, t_}, head, s_.scores, to, s_.score);
  }

  void throughValues(int head, const Matrix& dO) {
    if (!wants(inputSet(Id::v) | inputSet(Id::w_v) | inputSet(Id::b_v) | inputSet(Id::x) |
               inputSet(Id::x_kv) | inputSet(Id::x_v)))
      return;
    s_.product.reshape(1, spec_.keyCount, spec_.valueDim);
    s_.score.products.aTb(matrixOf(t_.weights, head), dO, s_.product.data(), spec_.valueDim);
    float* to = s_.v.head(kvHeadOf(spec_, head));
    for (std::size_t i = 0; i < s_.product.size(); ++i) to[i] = saturatingSum(to[i], s_.product.data()[i]);
  }

  /// Weights that were set to 0 have no gradient.
  void hideAfter() {
    for (int i = 0; i < spec_.queryCount; ++i) {
      const MaskRow mask(spec_, i);
      for (int j = 0; j < spec_.keyCount; ++j) {
        const bool isSeen = mask.sees(j) && !(in_.painted && in_.painted->isBlocked(i, j));
        if (!isSeen) s_.weights.at(0, i, j) = 0.0f;
      }
    }
  }

  void throughNormalizer(int head, int query) {
    const float* weights =
        spec_.maskAfterSoftmax ? unmaskedWeights(head, query) : t_.weights.row(head, query);
    const NormalizerMechanism& normalizer = normalizerOf(spec_);
    float* dScores = s_.scores.row(0, query);
    if (normalizer.isStep()) std::fill_n(dScores, spec_.keyCount, 0.0f);
    else
      normalizer.gradient(t_.masked.row(head, query), weights, s_.weights.row(0, query), spec_.keyCount,
                          dScores);
    if (!g_[Id::sink].empty()) throughSink(head, query, weights);
  }

  /// exp(sink ÷ T − max), the sink's part of the row's sum.
  double exponentialOfSink(int head, int query) const {
    const double sink = double{in_.sink->at(head, 0, 0)} / double{spec_.temperature};
    return std::exp(std::min(sink - double{t_.rowMax.at(head, query, 0)}, 0.0));
  }

  void addToSink(int head, double dSink) {
    float& to = g_[Id::sink].at(head, 0, 0);
    to = saturate(double{to} + dSink / double{spec_.temperature});
  }

  /// The sink's own weight s goes nowhere: ∂L/∂(sink ÷ T) = −s·Σ w_j·∂L/∂w_j.
  void throughSink(int head, int query, const float* weights) {
    const float* d = s_.weights.row(0, query);
    double sum = 0.0;
    for (int j = 0; j < spec_.keyCount; ++j) sum += double{weights[j]} * double{d[j]};
    addToSink(head, -exponentialOfSink(head, query) / double{t_.rowSum.at(head, query, 0)} * sum);
  }

  /// The weights of a row before the mistaken mask, which is one of softmax only.
  const float* unmaskedWeights(int head, int query) {
    s_.rows.reshape(1, 1, spec_.keyCount);
    const float sum = t_.rowSum.at(head, query, 0);
    kernels::scale(kernels::best(), sum > 0.0f ? 1.0f / sum : 0.0f, t_.exponentials.row(head, query),
                   spec_.keyCount, s_.rows.data());
    return s_.rows.data();
  }

  /// What was given of exponentials, their sum and the maximum that is taken off: e_j = exp(z_j − max).
  void throughExponentials(int head) {
    zero(s_.rows, 1, spec_.queryCount, spec_.keyCount);
    addUpstream(Id::exponentials, head, s_.rows);
    Tensor ofSum(1, spec_.queryCount, 1), ofMax = ofSum;
    addUpstream(Id::row_sum, head, ofSum);
    addUpstream(Id::row_max, head, ofMax);
    for (int i = 0; i < spec_.queryCount; ++i) {
      const float *e = t_.exponentials.row(head, i), *masked = t_.masked.row(head, i);
      if (!(t_.rowSum.at(head, i, 0) > 0.0f)) continue;
      float* to = s_.scores.row(0, i);
      double dMax = double{ofMax.at(0, i, 0)};
      for (int j = 0; j < spec_.keyCount; ++j) {
        const double d = (double{s_.rows.at(0, i, j)} + double{ofSum.at(0, i, 0)}) * double{e[j]};
        dMax -= d;
        to[j] = saturate(double{to[j]} + d);
      }
      const float* best = std::max_element(masked, masked + spec_.keyCount);
      const bool sinkIsMax = hasSink(spec_) && in_.sink->at(head, 0, 0) > *best;
      if (hasSink(spec_)) {
        const double d = double{ofSum.at(0, i, 0)} * exponentialOfSink(head, i);
        dMax -= d;
        if (!g_[Id::sink].empty()) addToSink(head, sinkIsMax ? d + dMax : d);
      }
      float& largest = to[best - masked];
      if (!sinkIsMax) largest = saturate(double{largest} + dMax);
    }
  }

  /// From masked to biased, and on to the bias and to what came before it.
  void throughMask(int head) {
    const auto hideIn = [&](const Tensor& of) {
      const float* from = of.head(head);
      for (std::size_t i = 0; i < s_.scores.size(); ++i) {
        if (from[i] == kHiddenScore) s_.scores.data()[i] = 0.0f;
      }
    };
    hideIn(t_.masked);
    if (t_.biased.empty()) return;
    addUpstream(Id::biased, head, s_.scores);
    hideIn(t_.biased);
    Tensor& dBias = g_[Id::bias];
    if (dBias.empty()) return;
    float* to = dBias.head(dBias.heads() == 1 ? 0 : head);
    for (std::size_t i = 0; i < s_.scores.size(); ++i) to[i] = saturatingSum(to[i], s_.scores.data()[i]);
  }

  /// From what the bias was added to, back through the steps before it, and the scale.
  void throughScores(int head) {
    for (Id id = stepBefore(Id::biased, spec_, in_); id != Id::scores; id = stepBefore(id, spec_, in_)) {
      addUpstream(id, head, s_.scores);
      const auto slope = tensorRow(id).step.slope;
      const float* made = intermediate(t_, id)->head(head);
      for (std::size_t i = 0; slope && i < s_.scores.size(); ++i) {
        s_.scores.data()[i] = saturate(double{s_.scores.data()[i]} * slope(spec_, double{made[i]}));
      }
    }
    addUpstream(Id::scores, head, s_.scores);
    const double factor = double{scaleFactor(spec_)};
    if (factor != 1.0) {
      for (float& d : s_.scores.values()) d = saturate(double{d} * factor);
    }
    addUpstream(Id::raw, head, s_.scores);
  }

  void throughPositions() {
    if (isRotary(spec_)) {
      addUpstream(Id::q_rotated, s_.queries), addUpstream(Id::k_rotated, s_.keys);
      rotateBackward(spec_, spec_.causalOffset, s_.queries, s_.q);
      rotateBackward(spec_, 0, s_.keys, s_.k);
    }
    addUpstream(Id::q, s_.q), addUpstream(Id::k, s_.k);
  }

  void throughProjections() {
    Tensor& dXKv = in_.xKv ? g_[Id::x_kv] : g_[Id::x];
    throughProjection(s_.q, *queryRows(in_, t_), *in_.wQ, g_[Id::x], Id::w_q, Id::b_q);
    throughProjection(s_.k, *keyRows(in_, t_), *in_.wK, dXKv, Id::w_k, Id::b_k);
    throughProjection(s_.v, *valueRows(in_, t_), *in_.wV, in_.xV ? g_[Id::x_v] : dXKv, Id::w_v, Id::b_v);
    if (!g_[Id::x].empty()) addUpstream(Id::x_positioned, g_[Id::x]);  // positions are constants
    if (!g_[Id::x_kv].empty()) addUpstream(Id::x_kv_positioned, g_[Id::x_kv]);
  }

  /// y = x·w + b: ∂x += ∂y·wᵀ, ∂w += xᵀ·∂y, ∂b += Σ∂y, with the heads of y side by side.
  void throughProjection(const Tensor& dHeads, const Tensor& x, const Tensor& w, Tensor& dX, Id weights,
                         Id bias) {
    if (dX.empty() && g_[weights].empty() && g_[bias].empty()) return;
    const int dim = dHeads.cols();
    s_.packed.reshape(1, dHeads.rows(), dHeads.heads() * dim);
    for (int h = 0; h < dHeads.heads(); ++h) {
      for (int i = 0; i < dHeads.rows(); ++i)
        std::copy_n(dHeads.row(h, i), dim, s_.packed.row(0, i) + h * dim);
    }
    if (!g_[weights].empty()) addProduct(x, s_.packed, g_[weights]);
    addSums(s_.packed, g_[bias]);
    if (dX.empty()) return;
    zeroLike(s_.product, x);
    s_.score.products.abT(matrixOf(s_.packed), matrixOf(w), s_.product.data(), s_.product.cols());
    addTo(dX, s_.product);
  }

  const Spec& spec_;
  const Inputs& in_;
  const Trace& t_;
  std::span<const Upstream> upstream_;
  InputSet wanted_;
  Gradients& g_;
  BackwardScratch& s_;
};

}  // namespace

void backward(const ComputedLayer& layer, std::span<const Upstream> upstream, InputSet wanted,
              Gradients& gradients, BackwardScratch& scratch) {
  assert(std::all_of(upstream.begin(), upstream.end(), [&](const Upstream& u) {
    const Tensor* tensor = find(layer.inputs, layer.trace, u.tensor);
    return tensor && u.gradient->sameShape(*tensor);
  }));
  Pass(layer, upstream, wanted, gradients, scratch).run();
}

Result<void> checkGradient(const Inputs& inputs, const Trace& trace, const TargetCell& target, TensorId wrt) {
  const std::string what(name(target.tensor)), by(name(wrt));
  const Tensor* tensor = find(inputs, trace, target.tensor);
  if (!tensor)
    return base::refuse(Error::Kind::range, "tensor",
                        {what, " is not part of this layer; name a tensor that it has."});
  const struct {
    const char* field;
    int value, count;
  } places[] = {{"head", target.head, tensor->heads()},
                {"row", target.row, tensor->rows()},
                {"col", target.col, tensor->cols()}};
  for (const auto& place : places) {
    if (place.value >= 0 && place.value < place.count) continue;
    return base::refuse(Error::Kind::range, place.field,
                        {place.value, " is not in ", what, "; use 0 to ", place.count - 1, "."});
  }
  if (static_cast<int>(wrt) >= kInputCount && kLayerTensors.contains(wrt)) {
    return base::refuse(Error::Kind::range, "wrt",
                        {by,
                         " is computed, and a gradient is taken by an input; use q, k, v, x, w_q or "
                         "another input of the layer."});
  }
  if (!find(inputs, trace, wrt))
    return base::refuse(Error::Kind::range, "wrt",
                        {by, " is not part of this layer; name an input that it has."});
  return {};
}

Result<Tensor> gradientOf(const Spec& spec, const Inputs& inputs, const Trace& trace,
                          const TargetCell& target, TensorId wrt, BackwardScratch& scratch) {
  if (auto ok = checkGradient(inputs, trace, target, wrt); !ok) return ok;
  const Tensor& tensor = *find(inputs, trace, target.tensor);
  Tensor one(tensor.heads(), tensor.rows(), tensor.cols());
  one.at(target.head, target.row, target.col) = 1.0f;
  const Upstream upstream{target.tensor, &one};
  Gradients gradients;
  backward({spec, inputs, trace}, {&upstream, 1}, inputSet(wrt), gradients, scratch);
  return std::move(gradients[wrt]);
}

}  // namespace attention
