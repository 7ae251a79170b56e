#include "attention/experiment.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

#include "attention/checks.h"
#include "attention/draws.h"
#include "attention/forward.h"

namespace attention {
namespace {

Check checkRange(const char* field, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return checks::refuse(field, checks::text(static_cast<float>(value)) + " is out of range; use " +
                                   checks::text(static_cast<float>(least)) + " to " +
                                   checks::text(static_cast<float>(most)) + ".");
}

// --- spread

constexpr int kQueries = SpreadSpec::queries, kKeys = SpreadSpec::keys;
using Scores = std::vector<double>;  // [kQueries, kKeys]

void measureMoments(const Scores& scores, double factor, Distribution& out) {
  double sum = 0.0, squares = 0.0;
  for (const double s : scores) sum += s * factor;
  out.mean = sum / static_cast<double>(scores.size());
  for (const double s : scores) squares += (s * factor - out.mean) * (s * factor - out.mean);
  out.deviation = std::sqrt(squares / static_cast<double>(scores.size()));
}

void measureSoftmax(const Scores& scores, double factor, Distribution& out) {
  for (int i = 0; i < kQueries; ++i) {
    const double* row = scores.data() + i * kKeys;
    const double max = *std::max_element(row, row + kKeys);
    double sum = 0.0, weighted = 0.0;  // of e^t and t·e^t, where t = s − max: entropy is ln Σ − weighted / Σ
    for (int j = 0; j < kKeys; ++j) {
      const double t = (row[j] - max) * factor, e = std::exp(t);
      sum += e, weighted += t * e;
    }
    out.largestWeight += 1.0 / sum / kQueries;
    out.entropy += (std::log(sum) - weighted / sum) / std::log(2.0) / kQueries;
  }
}

void count(const Scores& scores, double factor, Distribution& out) {
  const double width = (out.high - out.low) / Distribution::kBins;
  for (const double s : scores) {
    const double bin = width > 0.0 ? std::floor((s * factor - out.low) / width) : Distribution::kBins / 2;
    ++out.counts[static_cast<std::size_t>(std::clamp(bin, 0.0, Distribution::kBins - 1.0))];
  }
}

Spread measure(const SpreadSpec& spec, int dim, const Scores& scores) {
  const double mu = spec.mean * spec.mean, both = spec.deviation * spec.deviation + mu;
  const double mean = dim * mu, deviation = std::sqrt(dim * (both * both - mu * mu));
  Spread out;
  out.dim = dim;
  for (Distribution* d : {&out.raw, &out.scaled}) {
    const double factor = d == &out.scaled ? 1.0 / std::sqrt(static_cast<double>(dim)) : 1.0;
    d->predictedMean = mean * factor, d->predictedDeviation = deviation * factor;
    d->low = mean - 4.0 * deviation, d->high = mean + 4.0 * deviation;
    measureMoments(scores, factor, *d);
    measureSoftmax(scores, factor, *d);
    count(scores, factor, *d);
  }
  return out;
}

/// Adds one more component of every query and key to their products.
void addComponent(const SpreadSpec& spec, NormalDraws& draws, Scores& scores) {
  for (int i = 0; i < kQueries; ++i) {
    const double q = spec.mean + spec.deviation * draws.next();
    for (int j = 0; j < kKeys; ++j) {
      scores[static_cast<std::size_t>(i * kKeys + j)] += q * (spec.mean + spec.deviation * draws.next());
    }
  }
}

// --- comparison

void moveRow(const ComparisonSpec& spec, NormalDraws& draws, Tensor& tensor) {
  for (int h = 0; h < tensor.heads(); ++h) {
    for (int c = 0; c < tensor.cols(); ++c) {
      float& v = tensor.at(h, spec.token, c);
      v = saturate(double{v} + spec.amount * draws.next());
    }
  }
}

// --- reach

constexpr int kWidth = ReachSpec::width;
using Matrix = Eigen::Matrix<double, kWidth, kWidth>;
using Vector = Eigen::Matrix<double, kWidth, 1>;

Vector drawn(NormalDraws& draws) {
  Vector out;
  for (int i = 0; i < kWidth; ++i) out[i] = draws.next();
  return out;
}

/// Columns of draws, each made orthogonal to those before it and of length 1 (Gram and Schmidt; twice, so that rounding
/// does not show).
Matrix orthogonal(NormalDraws& draws) {
  Matrix q;
  for (int c = 0; c < kWidth; ++c) {
    Vector v = drawn(draws);
    for (int pass = 0; pass < 2; ++pass) {
      for (int before = 0; before < c; ++before) v -= q.col(before).dot(v) * q.col(before);
    }
    q.col(c) = v.normalized();
  }
  return q;
}

}  // namespace

Check validate(const SpreadSpec& spec, std::span<const int> dims) {
  if (Check bad = checkRange("mean", spec.mean, -10.0, 10.0)) return bad;
  if (Check bad = checkRange("deviation", spec.deviation, 0.0, 10.0)) return bad;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (Check bad = checks::checkSize("dim", dims[i], SpreadSpec::largestDim)) return bad;
    if (i > 0 && dims[i] <= dims[i - 1]) {
      return checks::refuse("dim", checks::text(dims[i]) + " does not come after " + checks::text(dims[i - 1]) +
                                       "; use increasing numbers.");
    }
  }
  return {};
}

std::vector<Spread> spread(const SpreadSpec& spec, std::span<const int> dims) {
  std::vector<Spread> out;
  NormalDraws draws(spec.seed);
  Scores scores(std::size_t{kQueries} * kKeys, 0.0);
  int components = 0;
  for (const int dim : dims) {
    for (; components < dim; ++components) addComponent(spec, draws, scores);
    out.push_back(measure(spec, dim, scores));
  }
  return out;
}

Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison) {
  Trace trace;
  forward(spec, direct, trace);
  Comparison out;
  out.fixed = trace.weights;

  // The draws of a tensor do not depend on whether the others move.
  NormalDraws draws(comparison.seed);
  const bool scores = comparison.moved != Moved::values, values = comparison.moved != Moved::queriesAndKeys;
  Tensor q = *direct.q, k = *direct.k, v = *direct.v;
  moveRow(comparison, draws, q), moveRow(comparison, draws, k), moveRow(comparison, draws, v);
  Inputs moved = direct;
  if (scores) moved.q = &q, moved.k = &k;
  if (values) moved.v = &v;
  forward(spec, moved, trace);
  out.following = trace.weights, out.attended = trace.headOutput;

  trace.weights = out.fixed;
  for (int h = 0; h < spec.heads; ++h) makeHeadOutput(spec, h, {0, spec.queryCount}, trace);
  out.connected = trace.headOutput;
  for (std::size_t i = 0; i < out.attended.size(); ++i) {
    out.difference =
        std::max(out.difference, std::abs(double{out.attended.data()[i]} - double{out.connected.data()[i]}));
  }
  out.attentionWeights = std::int64_t{spec.queryCount} * spec.keyCount;
  out.connectedWeights = out.attentionWeights * spec.valueDim * spec.valueDim;
  return out;
}

Check validate(const ReachSpec& spec) {
  if (Check bad = checkRange("steps", spec.steps, 2, ReachSpec::longest)) return bad;
  if (Check bad = checkRange("recurrent", spec.recurrent, 0.0, 4.0)) return bad;
  if (Check bad = checkRange("input", spec.input, 0.0, 10.0)) return bad;
  return checkRange("lead", spec.lead, -30.0, 30.0);
}

std::vector<Reach> reach(const ReachSpec& spec) {
  NormalDraws draws(spec.seed);
  const Matrix u = spec.recurrent * orthogonal(draws);
  Vector h = (spec.input * drawn(draws)).array().tanh();
  Matrix jacobian = Matrix::Identity();
  std::vector<Reach> out;
  for (int n = 1; n <= spec.steps; ++n) {
    if (n > 1) {
      const Vector sum = u.lazyProduct(h) + spec.input * drawn(draws);
      h = sum.array().tanh();
      const Vector slope = 1.0 - h.array().square();
      const Matrix carried = u.lazyProduct(jacobian);
      jacobian = slope.asDiagonal() * carried;
    }
    const double lead = std::exp(spec.lead), others = n - 1;
    out.push_back({n - 1, jacobian.norm() / std::sqrt(static_cast<double>(kWidth)), lead / (lead + others), 1.0 / n});
  }
  return out;
}

}  // namespace attention
