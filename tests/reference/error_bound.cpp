#include "reference/error_bound.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

namespace attention {
namespace {

using Row = std::vector<double>;

Row rowOf(const ReferenceTensor& tensor, int head, int row) {
  const double* const first = &tensor.values[0] + (head * tensor.rows + row) * tensor.cols;
  return {first, first + tensor.cols};
}

/// The bounds of errorBound(), each made of those before it.
class Bounds {
 public:
  Bounds(const Spec& spec, const Inputs& in, const ReferenceTrace& exact)
      : spec_(spec),
        in_(in),
        exact_(exact),
        temperature_(double{spec.temperature}),
        carried_(in.projected() || isRotary(spec) ? 4.0 : 1.0) {}

  double of(TensorId id) const {
    switch (id) {
      case TensorId::positions: return 2.0 * kFloatEpsilon * largest(exact_.positions);
      case TensorId::x_positioned: return 2.0 * kFloatEpsilon * largest(exact_.xPositioned);
      case TensorId::x_kv_positioned: return 2.0 * kFloatEpsilon * largest(exact_.xKvPositioned);
      case TensorId::q: return projection() * withBias(exact_.q, in_.bQ);
      case TensorId::k: return projection() * withBias(exact_.k, in_.bK);
      case TensorId::v: return projection() * withBias(exact_.v, in_.bV);
      case TensorId::q_rotated:
        return (2.0 * projection() + 4.0 * kFloatEpsilon) * withBias(exact_.q, in_.bQ);
      case TensorId::k_rotated:
        return (2.0 * projection() + 4.0 * kFloatEpsilon) * withBias(exact_.k, in_.bK);
      case TensorId::raw: return score(exact_.raw);
      case TensorId::scores: return score(exact_.scores);
      case TensorId::softcapped: return capped();
      case TensorId::biased:
      case TensorId::masked: return masked();
      case TensorId::row_max: return masked() / temperature_ + kFloatEpsilon * largest(exact_.rowMax);
      case TensorId::exponentials: return weights();
      case TensorId::weights: return weights();
      case TensorId::row_sum: return weights() * largest(exact_.rowSum);
      case TensorId::head_output:
      case TensorId::concat: return headOutput();
      case TensorId::output: return output();
      default: return 0.0;
    }
  }

 private:
  static double largest(const ReferenceTensor& tensor) { return std::max(1.0, tensor.largest()); }

  /// What the products come to that a bias is added to.
  static double withBias(const ReferenceTensor& made, const Tensor* bias) {
    double most = 0.0;
    for (int c = 0; bias && c < bias->cols(); ++c) most = std::max(most, std::abs(double{bias->at(0, 0, c)}));
    return largest(made) + most;
  }

  double projection() const { return in_.projected() ? 8.0 * kFloatEpsilon * std::sqrt(in_.x->cols()) : 0.0; }

  double score(const ReferenceTensor& scores) const {
    const double dot = carried_ * 8.0 * kFloatEpsilon * std::sqrt(std::max(spec_.headDim, queryWidth(spec_)));
    if (spec_.score == Score::additive)
      return carried_ * 8.0 * kFloatEpsilon *
             std::sqrt(std::max({spec_.headDim, queryWidth(spec_), in_.wA->rows()})) * largestSum(*in_.vA);
    if (spec_.score == Score::cosine)
      return dot * (in_.projected() ? std::max(spread(exact_.q), spread(exact_.k)) : 1.0);
    return dot * largest(scores);
  }

  /// The largest Σ|v| of a row.
  static double largestSum(const Tensor& tensor) {
    double most = 0.0;
    for (int h = 0; h < tensor.heads(); ++h) {
      double total = 0.0;
      for (int c = 0; c < tensor.cols(); ++c) total += std::abs(double{tensor.at(h, 0, c)});
      most = std::max(most, total);
    }
    return std::max(1.0, most);
  }

  /// The longest row over the shortest that is not 0.
  static double spread(const ReferenceTensor& tensor) {
    double longest = 0.0, shortest = kRealInfinity;
    for (int h = 0; h < tensor.heads; ++h) {
      for (int i = 0; i < tensor.rows; ++i) {
        double squares = 0.0;
        for (const double v : rowOf(tensor, h, i)) squares += v * v;
        const double length = std::sqrt(squares);
        longest = std::max(longest, length);
        if (length > 0.0) shortest = std::min(shortest, length);
      }
    }
    return longest > 0.0 ? longest / shortest : 1.0;
  }

  double capped() const {
    const double rounding = isSoftcapped(spec_) ? 4.0 * kFloatEpsilon * largest(exact_.softcapped) : 0.0;
    return score(exact_.scores) + rounding;
  }
  double masked() const {
    return capped() + (isBiased(spec_, in_) ? 2.0 * kFloatEpsilon * largest(exact_.biased) : 0.0);
  }

  double weights() const {
    const double size = std::max(1.0, biasedOf(exact_).largest() / temperature_);
    const double off = masked() / temperature_ + 2.0 * kFloatEpsilon * size;
    switch (spec_.normalizer) {
      case Normalizer::softmax:
        return carried_ * 4e-7 * size + (hasPlainScore() ? 0.0 : masked() / temperature_);
      case Normalizer::sparsemax:
      case Normalizer::entmax15: return 2.0 * off;
      case Normalizer::sigmoid: return off / 4.0 + 4e-7;
      case Normalizer::relu:
      case Normalizer::none: return off;
      case Normalizer::hardmax: return hasTie(2.0 * masked()) ? 1.0 : 0.0;
    }
    return 0.0;
  }
  bool hasPlainScore() const { return spec_.score == Score::dot || spec_.score == Score::scaled; }

  /// Are the two largest scores of a row so close?
  bool hasTie(double distance) const {
    for (int h = 0; h < exact_.masked.heads; ++h) {
      for (int i = 0; i < exact_.masked.rows; ++i) {
        Row row = rowOf(exact_.masked, h, i);
        std::sort(row.begin(), row.end(), std::greater<>());
        if (row.size() > 1 && row[1] != -kRealInfinity && row[0] - row[1] <= distance) return true;
      }
    }
    return false;
  }

  double headOutput() const {
    const double v = largest(exact_.v), offV = of(TensorId::v);
    if (isSoftmax(spec_)) return weights() * v + offV;
    double largestTotal = 0.0;
    for (int h = 0; h < exact_.weights.heads; ++h) {
      for (int i = 0; i < exact_.weights.rows; ++i) {
        double total = 0.0;
        for (double w : rowOf(exact_.weights, h, i)) total += std::abs(w);
        largestTotal = std::max(largestTotal, total);
      }
    }
    return std::sqrt(spec_.keyCount) * (weights() + 8.0 * kFloatEpsilon * exact_.weights.largest()) * v +
           offV * largestTotal;
  }

  double output() const {
    if (!in_.wO) return headOutput();
    double column = 0.0;  // the largest Σ|w| that concat's error is multiplied by
    for (int c = 0; c < in_.wO->cols(); ++c) {
      double total = 0.0;
      for (int r = 0; r < in_.wO->rows(); ++r) total += std::abs(double{in_.wO->at(0, r, c)});
      column = std::max(column, total);
    }
    return 8.0 * kFloatEpsilon * std::sqrt(in_.wO->rows()) * withBias(exact_.output, in_.bO) +
           headOutput() * column;
  }

  const Spec& spec_;
  const Inputs& in_;
  const ReferenceTrace& exact_;
  double temperature_, carried_;
};

}  // namespace

double errorBound(const Spec& spec, const Inputs& in, const ReferenceTrace& exact, TensorId id) {
  return Bounds(spec, in, exact).of(id);
}

}  // namespace attention
