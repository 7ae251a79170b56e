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

constexpr int kQueries = SpreadDraws::queries, kKeys = SpreadDraws::keys;
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

Spread measure(const SpreadSpec& spec, const Scores& scores) {
  const double mu = spec.mean * spec.mean, both = spec.deviation * spec.deviation + mu;
  const double mean = spec.dim * mu, deviation = std::sqrt(spec.dim * (both * both - mu * mu));
  const double scale = 1.0 / std::sqrt(static_cast<double>(spec.dim));
  Spread out;
  out.dim = spec.dim;
  for (Distribution* d : {&out.raw, &out.scaled}) {
    const double factor = d == &out.scaled ? scale : 1.0;
    d->predictedMean = mean * factor, d->predictedDeviation = deviation * factor;
    d->low = std::min(mean - 4.0 * deviation, (mean - 4.0 * deviation) * scale);
    d->high = std::max(mean + 4.0 * deviation, (mean + 4.0 * deviation) * scale);
    measureMoments(scores, factor, *d);
    measureSoftmax(scores, factor, *d);
    count(scores, factor, *d);
  }
  return out;
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

Check validate(const SpreadSpec& spec) {
  if (Check bad = checkRange("mean", spec.mean, -10.0, 10.0)) return bad;
  if (Check bad = checkRange("deviation", spec.deviation, 0.0, 10.0)) return bad;
  return checks::checkSize("dim", spec.dim, SpreadDraws::largestDim);
}

/// Adds one more component of every query and key.
void SpreadDraws::Sums::add(NormalDraws& draws) {
  for (std::size_t i = 0; i < kQueries; ++i) {
    const double q = draws.next();
    this->queries[i] += q;
    for (std::size_t j = i * kKeys; j < (i + 1) * kKeys; ++j) {
      const double k = draws.next();
      this->keys[j] += k;
      products[j] += q * k;
    }
  }
}

SpreadDraws::SpreadDraws(std::uint32_t seed) : seed_(seed) {
  NormalDraws draws(seed);
  constexpr std::size_t kPairs = std::size_t{kQueries} * kKeys;
  Sums sums{std::vector<double>(kQueries), std::vector<double>(kPairs), std::vector<double>(kPairs)};
  kept_.push_back(sums);
  for (int c = 1; c <= largestDim; ++c) {
    sums.add(draws);
    if (c % kStep == 0) kept_.push_back(sums);
  }
}

Spread SpreadDraws::at(const SpreadSpec& spec) const {
  const int from = spec.dim / kStep * kStep;
  Sums sums = kept_[static_cast<std::size_t>(from / kStep)];
  NormalDraws draws(seed_, static_cast<std::uint64_t>(from) * kQueries * (1 + kKeys));
  for (int c = from; c < spec.dim; ++c) sums.add(draws);

  const double mean = spec.mean, deviation = spec.deviation;
  Scores scores(sums.products.size());
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = spec.dim * mean * mean + mean * deviation * (sums.queries[j / kKeys] + sums.keys[j]) +
                deviation * deviation * sums.products[j];
  }
  return measure(spec, scores);
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
