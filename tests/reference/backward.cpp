#include "reference/backward.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/sort.h"
#include "reference/error_bound.h"

namespace attention {
namespace {

using Id = TensorId;

/// The threshold of sparsemax; scores above it are the support (Martins and Astudillo 2016, algorithm 1).
double sparsemaxEdge(std::vector<double> z) {
  base::sort(z, std::greater<>());
  double total = 0.0, threshold = 0.0;
  for (std::size_t k = 1; k <= z.size(); ++k) {
    total += z[k - 1];
    if (1.0 + static_cast<double>(k) * z[k - 1] > total) threshold = (total - 1.0) / static_cast<double>(k);
  }
  return threshold;
}

/// The roots of the weights of entmax 1.5: max(z/2 − τ, 0), with τ from bisection, for their squares sum to 1
/// (Peters, Niculae and Martins 2019, algorithm 1).
std::vector<double> entmax15Roots(const std::vector<double>& z) {
  std::vector<double> roots(z.size());
  if (z.empty()) return roots;
  double high = *std::max_element(z.begin(), z.end()) / 2.0, low = high - 1.0;
  const auto squares = [&](double tau) {
    double total = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i)
      roots[i] = std::max(z[i] / 2.0 - tau, 0.0), total += roots[i] * roots[i];
    return total;
  };
  for (int round = 0; round < 100; ++round) {
    const double middle = (low + high) / 2.0;
    (squares(middle) >= 1.0 ? low : high) = middle;
  }
  squares(low);
  return roots;
}

/// One pass from output to inputs. `g` holds the gradients known so far.
class Pass {
 public:
  Pass(const Spec& spec, const Inputs& in, const ReferenceTrace& trace, ReferenceGradients& g)
      : spec_(spec),
        in_(in),
        t_(trace),
        g_(g),
        group_(spec.heads / spec.kvHeads) {}

  void run() {
    shape();
    throughOutput();
    throughConcat();
    throughHeadOutput();
    if (spec_.maskAfterSoftmax) hide(g_[Id::weights]);
    if (isSoftmax(spec_)) throughSoftmax();
    else throughOtherNormalizers();
    throughMask();
    throughBias();
    throughSoftcap();
    throughScale();
    throughScore();
    if (isRotary(spec_)) throughRotation();
    if (in_.projected()) throughProjections();
  }

 private:
  /// Gives each gradient the shape of its tensor; gradients that were not given start as zeros.
  void shape() {
    for (int i = 0; i < kTensorCount; ++i) {
      const auto id = static_cast<Id>(i);
      if (!g_[id].empty()) continue;
      if (const ReferenceTensor* made = intermediate(t_, id)) {
        g_[id] = ReferenceTensor(made->heads, made->rows, made->cols);
      } else if (const Tensor* given = find(in_, Trace(), id)) {
        g_[id] = ReferenceTensor(given->heads(), given->rows(), given->cols());
      }
    }
  }

  static void add(ReferenceTensor& to, const ReferenceTensor& from) {
    for (std::size_t i = 0; i < to.values.size(); ++i) to.values[i] += from.values[i];
  }

  /// y[i,c] = Σ_m x[i,m]·w[m,c], so ∂x[i,m] = Σ_c ∂y[i,c]·w[m,c] and ∂w[m,c] = Σ_i x[i,m]·∂y[i,c].
  static void throughProduct(const ReferenceTensor& x, const Tensor& w, const ReferenceTensor& dY,
                             ReferenceTensor& dX, ReferenceTensor& dW) {
    for (int i = 0; i < x.rows; ++i) {
      for (int m = 0; m < x.cols; ++m) {
        for (int c = 0; c < dY.cols; ++c) {
          dX.at(0, i, m) += dY.at(0, i, c) * double{w.at(0, m, c)};
          dW.at(0, m, c) += x.at(0, i, m) * dY.at(0, i, c);
        }
      }
    }
  }

  /// y[i,c] = … + b[c], so ∂b[c] = Σ_i ∂y[i,c].
  static void throughBias(const ReferenceTensor& dY, ReferenceTensor& dB) {
    for (int i = 0; i < dY.rows && !dB.empty(); ++i) {
      for (int c = 0; c < dY.cols; ++c) dB.at(0, 0, c) += dY.at(0, i, c);
    }
  }

  void throughOutput() {
    if (!in_.wO) return add(g_[Id::concat], g_[Id::output]);
    throughProduct(t_.concat, *in_.wO, g_[Id::output], g_[Id::concat], g_[Id::w_o]);
    throughBias(g_[Id::output], g_[Id::b_o]);
  }

  void throughConcat() {
    ReferenceTensor& dHeads = g_[Id::head_output];
    for (int h = 0; h < dHeads.heads; ++h) {
      if (isHidden(spec_, h)) continue;
      for (int i = 0; i < dHeads.rows; ++i) {
        for (int c = 0; c < dHeads.cols; ++c)
          dHeads.at(h, i, c) += g_[Id::concat].at(0, i, h * dHeads.cols + c);
      }
    }
  }

  /// o_i = Σ_j w_ij·v_j: ∂w_ij = ∂o_i·v_j and ∂v_j = Σ_i w_ij·∂o_i, over all heads that read v.
  void throughHeadOutput() {
    const ReferenceTensor& dO = g_[Id::head_output];
    for (int h = 0; h < spec_.heads; ++h) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        for (int j = 0; j < spec_.keyCount; ++j) {
          for (int c = 0; c < spec_.valueDim; ++c) {
            g_[Id::weights].at(h, i, j) += dO.at(h, i, c) * t_.v.at(h / group_, j, c);
            g_[Id::v].at(h / group_, j, c) += t_.weights.at(h, i, j) * dO.at(h, i, c);
          }
        }
      }
    }
  }

  /// Where a mask has put a constant, the gradient is 0.
  void hide(ReferenceTensor& gradient) {
    for (int i = 0; i < gradient.rows; ++i) {
      const std::vector<char> seen = referenceSees(spec_, in_.painted, i);
      for (int j = 0; j < gradient.cols; ++j) {
        for (int h = 0; h < gradient.heads; ++h) {
          if (!seen[static_cast<std::size_t>(j)]) gradient.at(h, i, j) = 0.0;
        }
      }
    }
  }

  /// w_j = e_j / Σe, e_j = exp(s_j / T − max), max the largest s / T: these three steps backwards.
  void throughSoftmax() {
    const double temperature = double{spec_.temperature};
    for (int h = 0; h < spec_.heads; ++h) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        const double sum = t_.rowSum.at(h, i, 0);
        if (sum == 0.0) continue;  // every key is masked
        double& dSum = g_[Id::row_sum].at(h, i, 0);
        double& dMax = g_[Id::row_max].at(h, i, 0);
        for (int j = 0; j < spec_.keyCount; ++j) {
          const double dW = g_[Id::weights].at(h, i, j);
          g_[Id::exponentials].at(h, i, j) += dW / sum;
          dSum -= dW * t_.exponentials.at(h, i, j) / (sum * sum);
        }
        double dSink = 0.0;
        if (hasSink(spec_)) {
          dSink = dSum * std::exp(sinkOf(h) - t_.rowMax.at(h, i, 0));
          dMax -= dSink;
        }
        int largest = 0;
        for (int j = 0; j < spec_.keyCount; ++j) {
          double& dE = g_[Id::exponentials].at(h, i, j);
          dE += dSum;
          const double dPower = dE * t_.exponentials.at(h, i, j);
          dMax -= dPower;
          g_[Id::masked].at(h, i, j) += dPower / temperature;
          if (t_.masked.at(h, i, j) > t_.masked.at(h, i, largest)) largest = j;
        }
        const bool sinkIsMax = hasSink(spec_) && sinkOf(h) > t_.masked.at(h, i, largest) / temperature;
        (sinkIsMax ? dSink : g_[Id::masked].at(h, i, largest)) += sinkIsMax ? dMax : dMax / temperature;
        if (hasSink(spec_)) g_[Id::sink].at(h, 0, 0) += dSink / temperature;
      }
    }
  }

  double sinkOf(int head) const { return double{in_.sink->at(head, 0, 0)} / double{spec_.temperature}; }

  void throughOtherNormalizers() {
    for (int h = 0; h < spec_.heads; ++h) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        std::vector<double> z, dW;
        for (int j = 0; j < spec_.keyCount; ++j) {
          if (t_.masked.at(h, i, j) == -kRealInfinity) continue;
          z.push_back(t_.masked.at(h, i, j) / double{spec_.temperature});
          dW.push_back(g_[Id::weights].at(h, i, j));
        }
        const std::vector<double> dZ = normalizerGradient(z, dW);
        auto next = dZ.begin();
        for (int j = 0; j < spec_.keyCount; ++j) {
          if (t_.masked.at(h, i, j) == -kRealInfinity) continue;
          g_[Id::masked].at(h, i, j) += *next++ / double{spec_.temperature};
        }
      }
    }
  }

  std::vector<double> normalizerGradient(const std::vector<double>& z, const std::vector<double>& dW) const {
    std::vector<double> dZ(z.size());
    if (spec_.normalizer == Normalizer::sparsemax) return sparsemaxGradient(z, dW);
    if (spec_.normalizer == Normalizer::entmax15) return entmax15Gradient(z, dW);
    for (std::size_t i = 0; i < z.size(); ++i) {
      const double p = 1.0 / (1.0 + std::exp(-z[i]));
      switch (spec_.normalizer) {
        case Normalizer::sigmoid: dZ[i] = dW[i] * p * (1.0 - p); break;
        case Normalizer::relu: dZ[i] = z[i] > 0.0 ? dW[i] : 0.0; break;
        case Normalizer::none: dZ[i] = dW[i]; break;
        default: break;  // hardmax is piecewise constant
      }
    }
    return dZ;
  }

  /// Proposition 2: on the support, the gradient minus its mean there; 0 elsewhere.
  static std::vector<double> sparsemaxGradient(const std::vector<double>& z, const std::vector<double>& dW) {
    std::vector<double> dZ(z.size());
    const double threshold = sparsemaxEdge(z);
    double sum = 0.0, count = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) {
      if (z[i] > threshold) sum += dW[i], count += 1.0;
    }
    for (std::size_t i = 0; i < z.size(); ++i) dZ[i] = z[i] > threshold ? dW[i] - sum / count : 0.0;
    return dZ;
  }

  /// Proposition 1 of Peters et al.: the Jacobian is diag(r) − r·rᵀ / Σr, with r the roots of the weights.
  static std::vector<double> entmax15Gradient(const std::vector<double>& z, const std::vector<double>& dW) {
    const std::vector<double> r = entmax15Roots(z);
    double sum = 0.0, total = 0.0;
    for (std::size_t i = 0; i < z.size(); ++i) sum += r[i] * dW[i], total += r[i];
    std::vector<double> dZ(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) dZ[i] = r[i] * (dW[i] - sum / total);
    return dZ;
  }

  ReferenceTensor& capped() { return g_[t_.softcapped.empty() ? Id::scores : Id::softcapped]; }
  ReferenceTensor& biased() { return t_.biased.empty() ? capped() : g_[Id::biased]; }

  void throughMask() {
    ReferenceTensor& dMasked = g_[Id::masked];
    for (std::size_t i = 0; i < dMasked.values.size(); ++i) {
      if (t_.masked.values[i] == -kRealInfinity) dMasked.values[i] = 0.0;
      biased().values[i] += dMasked.values[i];
    }
  }

  void throughBias() {
    if (t_.biased.empty()) return;
    ReferenceTensor& dBiased = g_[Id::biased];
    for (int h = 0; h < dBiased.heads; ++h) {
      for (int i = 0; i < dBiased.rows; ++i) {
        for (int j = 0; j < dBiased.cols; ++j) {
          double& d = dBiased.at(h, i, j);
          if (t_.biased.at(h, i, j) == -kRealInfinity) d = 0.0;
          capped().at(h, i, j) += d;
          if (in_.bias) g_[Id::bias].at(in_.bias->heads() == 1 ? 0 : h, i, j) += d;
        }
      }
    }
  }

  /// ∂(c·tanh(s/c)) = 1 − tanh²(s/c).
  void throughSoftcap() {
    if (t_.softcapped.empty()) return;
    for (std::size_t i = 0; i < t_.softcapped.values.size(); ++i) {
      const double tanh = std::tanh(t_.scores.values[i] / double{spec_.softcap});
      g_[Id::scores].values[i] += g_[Id::softcapped].values[i] * (1.0 - tanh * tanh);
    }
  }

  void throughScale() {
    double factor = 1.0;
    if (spec_.score == Score::scaled)
      factor = spec_.scale != 0.0f ? double{spec_.scale} : 1.0 / std::sqrt(spec_.headDim);
    for (std::size_t i = 0; i < g_[Id::raw].values.size(); ++i)
      g_[Id::raw].values[i] += g_[Id::scores].values[i] * factor;
  }

  /// Adds what each pair of query and key contributes.
  void throughScore() {
    ReferenceTensor& dQ = g_[isRotary(spec_) ? Id::q_rotated : Id::q];
    ReferenceTensor& dK = g_[isRotary(spec_) ? Id::k_rotated : Id::k];
    for (int h = 0; h < spec_.heads; ++h) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        for (int j = 0; j < spec_.keyCount; ++j) {
          const double d = g_[Id::raw].at(h, i, j);
          switch (spec_.score) {
            case Score::dot:
            case Score::scaled: throughDot(d, h, i, j, dQ, dK); break;
            case Score::general: throughGeneral(d, h, i, j, dQ, dK); break;
            case Score::additive: throughAdditive(d, h, i, j, dQ, dK); break;
            case Score::cosine: throughCosine(d, h, i, j, dQ, dK); break;
          }
        }
      }
    }
  }

  double q(int h, int i, int c) const { return queriesOf(t_).at(h, i, c); }
  double k(int h, int j, int c) const { return keysOf(t_).at(h / group_, j, c); }

  void throughDot(double d, int h, int i, int j, ReferenceTensor& dQ, ReferenceTensor& dK) {
    for (int c = 0; c < spec_.headDim; ++c) {
      dQ.at(h, i, c) += d * k(h, j, c);
      dK.at(h / group_, j, c) += d * q(h, i, c);
    }
  }

  /// Σ_rc q_r·W_rc·k_c.
  void throughGeneral(double d, int h, int i, int j, ReferenceTensor& dQ, ReferenceTensor& dK) {
    for (int r = 0; r < queryWidth(spec_); ++r) {
      for (int c = 0; c < spec_.headDim; ++c) {
        const double w = double{in_.wA->at(h, r, c)};
        dQ.at(h, i, r) += d * w * k(h, j, c);
        dK.at(h / group_, j, c) += d * w * q(h, i, r);
        g_[Id::w_a].at(h, r, c) += d * q(h, i, r) * k(h, j, c);
      }
    }
  }

  /// Σ_r v_r·tanh(a_r), a_r = Σ_c W_rc·q_c + U_rc·k_c.
  void throughAdditive(double d, int h, int i, int j, ReferenceTensor& dQ, ReferenceTensor& dK) {
    for (int r = 0; r < in_.wA->rows(); ++r) {
      double a = 0.0;
      for (int c = 0; c < queryWidth(spec_); ++c) a += double{in_.wA->at(h, r, c)} * q(h, i, c);
      for (int c = 0; c < spec_.headDim; ++c) a += double{in_.uA->at(h, r, c)} * k(h, j, c);
      const double tanh = std::tanh(a), dA = d * double{in_.vA->at(h, 0, r)} * (1.0 - tanh * tanh);
      g_[Id::v_a].at(h, 0, r) += d * tanh;
      for (int c = 0; c < queryWidth(spec_); ++c) {
        dQ.at(h, i, c) += dA * double{in_.wA->at(h, r, c)};
        g_[Id::w_a].at(h, r, c) += dA * q(h, i, c);
      }
      for (int c = 0; c < spec_.headDim; ++c) {
        dK.at(h / group_, j, c) += dA * double{in_.uA->at(h, r, c)};
        g_[Id::u_a].at(h, r, c) += dA * k(h, j, c);
      }
    }
  }

  /// cos = q·k / (|q|·|k|): ∂q = k / (|q|·|k|) − cos·q / |q|², and the same of k.
  void throughCosine(double d, int h, int i, int j, ReferenceTensor& dQ, ReferenceTensor& dK) {
    double qq = 0.0, kk = 0.0, qk = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) {
      qq += q(h, i, c) * q(h, i, c), kk += k(h, j, c) * k(h, j, c), qk += q(h, i, c) * k(h, j, c);
    }
    if (qq == 0.0 || kk == 0.0) return;
    const double lengths = std::sqrt(qq * kk), cosine = qk / lengths;
    for (int c = 0; c < spec_.headDim; ++c) {
      dQ.at(h, i, c) += d * (k(h, j, c) / lengths - cosine * q(h, i, c) / qq);
      dK.at(h / group_, j, c) += d * (q(h, i, c) / lengths - cosine * k(h, j, c) / kk);
    }
  }

  /// Rotates back: the inverse of a rotation is its transpose.
  void throughRotation() {
    turnBack(g_[Id::q_rotated], spec_.causalOffset, g_[Id::q]);
    turnBack(g_[Id::k_rotated], 0, g_[Id::k]);
  }
  void turnBack(const ReferenceTensor& from, int first, ReferenceTensor& to) {
    for (int h = 0; h < from.heads; ++h) {
      for (int i = 0; i < from.rows; ++i) {
        const int pairs = t_.positions.cols;
        const bool byHalves = spec_.rotary.pairs == RotaryPairs::half;
        for (int pair = 0; pair < pairs; ++pair) {
          const int a = byHalves ? pair : 2 * pair, b = byHalves ? pair + pairs : 2 * pair + 1;
          const double angle = t_.positions.at(0, first + i, pair);
          const double x = from.at(h, i, a), y = from.at(h, i, b);
          to.at(h, i, a) += x * std::cos(angle) + y * std::sin(angle);
          to.at(h, i, b) += y * std::cos(angle) - x * std::sin(angle);
        }
        for (int c = 2 * pairs; c < from.cols; ++c) to.at(h, i, c) += from.at(h, i, c);
      }
    }
  }

  static ReferenceTensor copied(const Tensor& tensor) {
    ReferenceTensor copy(tensor.heads(), tensor.rows(), tensor.cols());
    std::copy(tensor.values().begin(), tensor.values().end(), copy.values.begin());
    return copy;
  }

  /// [heads, L, dim] as [1, L, heads·dim], the shape of X times its weights.
  static ReferenceTensor packed(const ReferenceTensor& heads) {
    ReferenceTensor out(1, heads.rows, heads.heads * heads.cols);
    for (int h = 0; h < heads.heads; ++h) {
      for (int i = 0; i < heads.rows; ++i) {
        for (int c = 0; c < heads.cols; ++c) out.at(0, i, h * heads.cols + c) = heads.at(h, i, c);
      }
    }
    return out;
  }

  void throughProjections() {
    const bool isPositioned = !t_.xPositioned.empty();
    const ReferenceTensor x = isPositioned ? t_.xPositioned : copied(*in_.x);
    const ReferenceTensor xKv = !in_.xKv ? x : isPositioned ? t_.xKvPositioned : copied(*in_.xKv);
    ReferenceTensor& dX = g_[isPositioned ? Id::x_positioned : Id::x];
    ReferenceTensor& dXKv = !in_.xKv ? dX : g_[isPositioned ? Id::x_kv_positioned : Id::x_kv];
    throughProduct(x, *in_.wQ, packed(g_[Id::q]), dX, g_[Id::w_q]);
    throughProduct(xKv, *in_.wK, packed(g_[Id::k]), dXKv, g_[Id::w_k]);
    throughProduct(in_.xV ? copied(*in_.xV) : xKv, *in_.wV, packed(g_[Id::v]), in_.xV ? g_[Id::x_v] : dXKv,
                   g_[Id::w_v]);
    throughBias(packed(g_[Id::q]), g_[Id::b_q]), throughBias(packed(g_[Id::k]), g_[Id::b_k]),
        throughBias(packed(g_[Id::v]), g_[Id::b_v]);
    if (!isPositioned) return;
    add(g_[Id::x], g_[Id::x_positioned]);  // positions are constants
    if (in_.xKv) add(g_[Id::x_kv], g_[Id::x_kv_positioned]);
  }

  const Spec& spec_;
  const Inputs& in_;
  const ReferenceTrace& t_;
  ReferenceGradients& g_;
  int group_;  // query heads per key head
};

}  // namespace

namespace {

/// A tensor's largest magnitude, and a bound on the error of its numbers.
struct Size {
  double most = 0.0, off = 0.0;
};
Size operator+(Size a, Size b) {
  return {a.most + b.most, a.off + b.off + kFloatEpsilon * (a.most + b.most)};
}
Size operator*(Size a, Size b) {
  return {a.most * b.most,
          a.off * b.most + a.most * b.off + a.off * b.off + 4.0 * kFloatEpsilon * a.most * b.most};
}
Size operator*(double n, Size a) { return {n * a.most, n * a.off}; }

class BackwardBounds {
 public:
  BackwardBounds(const Spec& spec, const Inputs& in, const ReferenceTrace& t, const ReferenceGradients& up)
      : spec_(spec),
        in_(in),
        t_(t),
        up_(up),
        queries_(spec.queryCount),
        keys_(spec.keyCount) {}

  double of(Id id) {
    if (isNearKink()) return kRealInfinity;
    Size output = given(Id::output), concat = given(Id::concat);
    if (in_.wO) concat = concat + in_.wO->cols() * (output * exact(in_.wO));
    else concat = concat + output;
    if (id == Id::b_o) return (queries_ * (Size{1.0, 0.0} * output)).off + kFloatEpsilon;
    if (id == Id::w_o) return (queries_ * (made(Id::concat) * output)).off + kFloatEpsilon;
    const Size heads = concat + given(Id::head_output);
    const Size weights = given(Id::weights) + spec_.valueDim * (heads * made(Id::v));
    const Size v = given(Id::v) + heldBy() * queries_ * (made(Id::weights) * heads);
    const Size biased = throughNormalizer(weights) + given(Id::masked) + given(Id::biased);
    if (id == Id::bias) return (double(spec_.heads) * biased).off + given(Id::bias).off;
    if (id == Id::sink) return ofSink(weights).off + kFloatEpsilon;
    Size scores = biased + given(Id::softcapped);
    if (isSoftcapped(spec_))
      scores =
          scores * Size{1.0, 2.0 * made(Id::softcapped).off / double{spec_.softcap} + 8.0 * kFloatEpsilon};
    const Size raw =
        (scores + given(Id::scores)) * Size{std::abs(double{scaleFactor(spec_)}), 0.0} + given(Id::raw);
    throughScore(raw);
    if (isRotary(spec_))
      dQ_ = 2.0 * (dQ_ * Size{1.0, 0.0}) + given(Id::q_rotated),
      dK_ = 2.0 * (dK_ * Size{1.0, 0.0}) + given(Id::k_rotated);
    dQ_ = dQ_ + given(Id::q), dK_ = dK_ + given(Id::k);
    switch (id) {
      case Id::q: return dQ_.off;
      case Id::k: return dK_.off;
      case Id::v: return v.off;
      case Id::w_a: return dWA_.off;
      case Id::u_a: return dUA_.off;
      case Id::v_a: return dVA_.off;
      default: return projected(id, v);
    }
  }

 private:
  static Size exact(const Tensor* tensor) {
    double most = 0.0;
    for (float value : tensor->values()) {
      if (std::isfinite(value)) most = std::max(most, std::abs(double{value}));
    }
    return {most, 0.0};
  }
  Size given(Id id) const { return {up_[id].largest(), 0.0}; }
  Size made(Id id) const {
    const ReferenceTensor* tensor = intermediate(t_, id);
    return tensor ? Size{tensor->largest(), errorBound(spec_, in_, t_, id)} : Size{};
  }
  int heldBy() const { return spec_.heads / spec_.kvHeads; }
  Size turned(Id plain, Id rotated) const { return made(isRotary(spec_) ? rotated : plain); }

  bool isNearKink() const {
    if (spec_.normalizer != Normalizer::sparsemax && spec_.normalizer != Normalizer::relu) return false;
    const double near = 4.0 * errorBound(spec_, in_, t_, Id::masked) / double{spec_.temperature} +
                        4.0 * kFloatEpsilon * t_.masked.largest() / double{spec_.temperature};
    for (int h = 0; h < spec_.heads; ++h) {
      for (int i = 0; i < spec_.queryCount; ++i) {
        std::vector<double> z;
        for (int j = 0; j < spec_.keyCount; ++j) {
          if (t_.masked.at(h, i, j) != -kRealInfinity)
            z.push_back(t_.masked.at(h, i, j) / double{spec_.temperature});
        }
        const double edge = spec_.normalizer == Normalizer::relu ? 0.0 : sparsemaxEdge(z);
        for (double s : z) {
          if (std::abs(s - edge) <= near) return true;
        }
      }
    }
    return false;
  }

  Size throughNormalizer(Size weights) const {
    const Size w = made(Id::weights), temperature{1.0 / double{spec_.temperature}, 0.0};
    Size z = weights;
    switch (spec_.normalizer) {
      case Normalizer::softmax: z = w * (weights + keys_ * (w * weights)); break;
      case Normalizer::sparsemax: z = 2.0 * (weights * Size{1.0, 0.0}); break;
      case Normalizer::sigmoid: z = w * (weights * Size{1.0, w.off}); break;
      case Normalizer::entmax15: {  // the sum of the roots, which is divided by, is at least 1
        const Size root{1.0, w.off};
        z = root * (weights + 2.0 * keys_ * (root * weights));
        break;
      }
      case Normalizer::hardmax: z = {}; break;
      case Normalizer::relu:
      case Normalizer::none: break;
    }
    return (z + ofExponentials()) * temperature;
  }

  /// Exponentials are at most 1, and the gradient of the maximum is the sum of all of theirs.
  Size ofExponentials() const {
    return 2.0 * (keys_ + 1.0) *
               ((given(Id::exponentials) + given(Id::row_sum)) * Size{1.0, made(Id::exponentials).off}) +
           given(Id::row_max);
  }

  /// The sink's weight is at most 1, and as exact as the others.
  Size ofSink(Size weights) const {
    const Size w = made(Id::weights), own{1.0, w.off};
    return queries_ *
           ((keys_ * (own * (w * weights)) + ofExponentials()) * Size{1.0 / double{spec_.temperature}, 0.0});
  }

  void throughScore(Size d) {
    const Size q = turned(Id::q, Id::q_rotated), k = turned(Id::k, Id::k_rotated);
    const double dim = std::max(queryWidth(spec_), spec_.headDim), readers = heldBy() * queries_;
    const bool hasWeights = spec_.score == Score::general || spec_.score == Score::additive;
    const Size w = hasWeights ? exact(in_.wA) : Size{};
    if (spec_.score == Score::general) {
      const Size sums = keys_ * (d * k);
      dQ_ = dim * (w * sums), dWA_ = queries_ * (q * sums), dK_ = readers * (d * (dim * (w * q)));
    } else if (spec_.score == Score::additive) {
      const Size u = exact(in_.uA), v = exact(in_.vA), argument = dim * (w * q) + dim * (u * k);
      const Size slope{1.0, 2.0 * argument.off + 8.0 * kFloatEpsilon}, dSum = d * (v * slope);
      const double units = in_.wA->rows();
      dQ_ = keys_ * units * (w * dSum), dK_ = readers * units * (u * dSum);
      dWA_ = queries_ * keys_ * (q * dSum), dUA_ = queries_ * keys_ * (k * dSum),
      dVA_ = queries_ * keys_ * (d * slope);
    } else if (spec_.score == Score::cosine) {
      const double shortQ = shortest(queriesOf(t_)), shortK = shortest(keysOf(t_));
      const Size unitQ{1.0, 2.0 * std::sqrt(dim) * q.off / shortQ + 4.0 * kFloatEpsilon},
          unitK{1.0, 2.0 * std::sqrt(dim) * k.off / shortK + 4.0 * kFloatEpsilon};
      const Size along = d * made(Id::raw);
      dQ_ = 1.0 / shortQ * (keys_ * (d * unitK + along * unitQ) * Size{1.0, unitQ.off});
      dK_ = 1.0 / shortK * (readers * (d * unitQ + along * unitK) * Size{1.0, unitK.off});
    } else {
      dQ_ = keys_ * (d * k), dK_ = readers * (d * q);
    }
  }

  /// The smallest norm of a row, rows of zeros aside.
  static double shortest(const ReferenceTensor& tensor) {
    double least = kRealInfinity;
    for (int h = 0; h < tensor.heads; ++h) {
      for (int i = 0; i < tensor.rows; ++i) {
        double squares = 0.0;
        for (int c = 0; c < tensor.cols; ++c) squares += tensor.at(h, i, c) * tensor.at(h, i, c);
        if (squares > 0.0) least = std::min(least, std::sqrt(squares));
      }
    }
    return std::isfinite(least) ? least : 1.0;
  }

  double projected(Id id, Size v) const {
    const auto rows = [&](const Tensor* plain, Id positioned) {
      return intermediate(t_, positioned) ? made(positioned) : exact(plain);
    };
    const Size x = rows(in_.x, Id::x_positioned), xKv = in_.xKv ? rows(in_.xKv, Id::x_kv_positioned) : x;
    const Size ofQ = in_.wQ->cols() * (dQ_ * exact(in_.wQ));
    const Size ofV = in_.wV->cols() * (v * exact(in_.wV)), ofK = in_.wK->cols() * (dK_ * exact(in_.wK)),
               ofKv = in_.xV ? ofK : ofK + ofV;
    const Size values = in_.xV ? exact(in_.xV) : xKv;
    switch (id) {
      case Id::w_q: return (queries_ * (x * dQ_)).off;
      case Id::w_k: return (keys_ * (xKv * dK_)).off;
      case Id::w_v: return (keys_ * (values * v)).off;
      case Id::x_v: return ofV.off;
      case Id::b_q: return (queries_ * (Size{1.0, 0.0} * dQ_)).off;
      case Id::b_k: return (keys_ * (Size{1.0, 0.0} * dK_)).off;
      case Id::b_v: return (keys_ * (Size{1.0, 0.0} * v)).off;
      case Id::x_kv: return ofKv.off;
      default: return (in_.xKv ? ofQ : ofQ + ofKv).off;
    }
  }

  const Spec& spec_;
  const Inputs& in_;
  const ReferenceTrace& t_;
  const ReferenceGradients& up_;
  double queries_, keys_;
  Size dQ_, dK_, dWA_, dUA_, dVA_;
};

}  // namespace

double backwardBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace,
                     const ReferenceGradients& upstream, TensorId id) {
  return BackwardBounds(spec, inputs, trace, upstream).of(id);
}

ReferenceGradients referenceBackward(const Spec& spec, const Inputs& inputs, const ReferenceTrace& trace,
                                     ReferenceGradients upstream) {
  Pass(spec, inputs, trace, upstream).run();
  return upstream;
}

}  // namespace attention
