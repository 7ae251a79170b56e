#include "attention/experiments/experiment.h"

#include <Eigen/Core>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "attention/engine/engine.h"
#include "attention/layer/checks.h"
#include "base/random.h"
#include "base/sentence.h"

namespace attention {
namespace {

Result<void> checkRange(const char* field, double value, double least, double most) {
  if (value >= least && value <= most) return {};
  return base::refuse(
      Error::Kind::range, field,
      {checks::text(static_cast<float>(value)), " is out of range; use ",
       checks::text(static_cast<float>(least)), " to ", checks::text(static_cast<float>(most)), "."});
}

// --- spread

constexpr int kKeys = SpreadDraws::keys;
constexpr int kPairs = kKeys * (kKeys + 1) / 2;  // pairs of keys, j <= l
using Scores = std::vector<double>;              // [queries, kKeys]
/// Components of so many queries are drawn in a slice, in about 5 ms.
constexpr int kDrawsOfSlice = 2048;

void measureMoments(const Scores& scores, double factor, Distribution& out) {
  double sum = 0.0, squares = 0.0;
  for (const double s : scores) sum += s * factor;
  out.mean = sum / static_cast<double>(scores.size());
  for (const double s : scores) squares += (s * factor - out.mean) * (s * factor - out.mean);
  out.deviation = std::sqrt(squares / static_cast<double>(scores.size()));
}

/// Σ z_j·z_l for two keys of a query.
double pairOf(const double* pairs, int j, int l) {
  if (j > l) std::swap(j, l);
  return pairs[j * kKeys - j * (j - 1) / 2 + l - j];
}

/// ‖diag(w) − w·wᵀ‖, computed without subtracting nearly equal numbers, because it is tiny for a saturated
/// row.
double jacobianOf(const double* weights) {
  double sum = 0.0;
  for (int i = 0; i < kKeys; ++i) {
    double others = 0.0;
    for (int j = 0; j < kKeys; ++j) {
      if (j == i) continue;
      others += weights[j];
      sum += weights[i] * weights[j] * weights[i] * weights[j];
    }
    sum += weights[i] * others * weights[i] * others;
  }
  return std::sqrt(sum);
}

/// ‖∂w/∂q‖ for scores factor·q·k: row i of (diag(w) − w·wᵀ)·K is w_i·Σ_j w_j·(k_i − k_j), and k_i − k_j =
/// σ·(z_i − z_j).
double gradientOf(const double* weights, const double* pairs, double factor) {
  double sum = 0.0;
  for (int i = 0; i < kKeys; ++i) {
    double squares = 0.0;
    for (int j = 0; j < kKeys; ++j) {
      for (int l = 0; l < kKeys; ++l) {
        if (j == i || l == i) continue;
        squares += weights[j] * weights[l] *
                   (pairOf(pairs, i, i) - pairOf(pairs, i, j) - pairOf(pairs, i, l) + pairOf(pairs, j, l));
      }
    }
    sum += weights[i] * weights[i] * std::max(squares, 0.0);
  }
  return std::sqrt(sum) * factor;
}

double medianOf(std::vector<double> numbers) {
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

/// `pairs` holds Σ z_j·z_l for the keys of each query; `deviation` is σ of the keys.
void measureSoftmax(const Scores& scores, double factor, const std::vector<double>& pairs, double deviation,
                    Distribution& out) {
  const std::size_t count = scores.size() / kKeys;
  std::vector<double> jacobians(count), gradients(count);
  for (std::size_t i = 0; i < count; ++i) {
    const double* row = scores.data() + i * kKeys;
    const double max = *std::max_element(row, row + kKeys);
    double sum = 0.0,
           weighted = 0.0;  // Σ e^t and Σ t·e^t with t = s − max; the entropy is ln Σ e^t − Σ t·e^t / Σ e^t
    std::array<double, kKeys> weights{};
    for (int j = 0; j < kKeys; ++j) {
      const double t = (row[j] - max) * factor, e = std::exp(t);
      sum += e, weighted += t * e;
      weights[static_cast<std::size_t>(j)] = e;
    }
    for (double& w : weights) w /= sum;
    out.largestWeight += 1.0 / sum / static_cast<double>(count);
    out.entropy += (std::log(sum) - weighted / sum) / std::log(2.0) / static_cast<double>(count);
    jacobians[i] = jacobianOf(weights.data());
    gradients[i] = gradientOf(weights.data(), pairs.data() + i * kPairs, factor * deviation);
    out.meanJacobian += jacobians[i] / static_cast<double>(count);
    out.meanGradient += gradients[i] / static_cast<double>(count);
  }
  out.jacobian = medianOf(std::move(jacobians)), out.gradient = medianOf(std::move(gradients));
}

void count(const Scores& scores, double factor, Distribution& out) {
  const double width = (out.high - out.low) / Distribution::kBins;
  for (const double s : scores) {
    const double bin = width > 0.0 ? std::floor((s * factor - out.low) / width) : Distribution::kBins / 2;
    ++out.counts[static_cast<std::size_t>(std::clamp(bin, 0.0, Distribution::kBins - 1.0))];
  }
}

Spread measure(const SpreadSpec& spec, const Scores& scores, const std::vector<double>& pairs) {
  const double muQ = spec.mean, muK = spec.meanOfKeys(), sigmaQ = spec.deviation,
               sigmaK = spec.deviationOfKeys();
  // (σ_q² + μ_q²)(σ_k² + μ_k²) − μ_q²·μ_k², multiplied out
  const double variance =
      sigmaQ * sigmaQ * sigmaK * sigmaK + sigmaQ * sigmaQ * muK * muK + muQ * muQ * sigmaK * sigmaK;
  const double mean = spec.dim * muQ * muK, deviation = std::sqrt(spec.dim * variance);
  const double scale = 1.0 / std::sqrt(static_cast<double>(spec.dim));
  Spread out;
  out.dim = spec.dim;
  for (Distribution* d : {&out.raw, &out.scaled}) {
    const double factor = d == &out.scaled ? scale : 1.0;
    d->predictedMean = mean * factor, d->predictedDeviation = deviation * factor;
    d->low = std::min(mean - 4.0 * deviation, (mean - 4.0 * deviation) * scale);
    d->high = std::max(mean + 4.0 * deviation, (mean + 4.0 * deviation) * scale);
    measureMoments(scores, factor, *d);
    measureSoftmax(scores, factor, pairs, sigmaK, *d);
    count(scores, factor, *d);
  }
  return out;
}

// --- comparison

/// The heads [first, first + count) of a tensor.
Tensor headsOf(const Tensor& all, int first, int count) {
  Tensor out(count, all.rows(), all.cols());
  std::copy_n(all.head(first), out.size(), out.data());
  return out;
}

/// Both layers read the perturbed values; only attention reads perturbed queries and keys, too.
struct Perturbed {
  Tensor q, k, v, movedQ, movedK, movedV;

  /// Of these query heads, and the key heads that they read.
  Perturbed(const Spec& spec, const Inputs& direct, Span heads, const ComparisonSpec& comparison)
      : random_(comparison.seed) {
    const int keyHead = kvHeadOf(spec, heads.begin), keyHeads = kvHeadOf(spec, heads.end - 1) + 1 - keyHead;
    q = headsOf(*direct.q, heads.begin, heads.size());
    k = headsOf(*direct.k, keyHead, keyHeads), v = headsOf(*direct.v, keyHead, keyHeads);
    // Each tensor gets the same draws whether or not the others are perturbed, and whichever heads are there.
    const bool scores = comparison.moved != Moved::values, values = comparison.moved != Moved::queriesAndKeys;
    movedQ = moved(q, {scores ? comparison.amount : 0, comparison.token, heads.begin, direct.q->heads()});
    movedK = moved(k, {scores ? comparison.amount : 0, comparison.token, keyHead, direct.k->heads()});
    movedV = moved(v, {values ? comparison.amount : 0, comparison.token, keyHead, direct.v->heads()});
  }

  Inputs fixed(Inputs in) const { return in.q = &q, in.k = &k, in.v = &movedV, in; }
  Inputs following(Inputs in) const { return in.q = &movedQ, in.k = &movedK, in.v = &movedV, in; }

 private:
  struct Move {
    double amount;
    int row, first, heads;  ///< of all heads there are the tensor has some, from `first` on
  };
  Tensor moved(const Tensor& tensor, const Move& move) {
    Tensor out = tensor;
    for (int h = 0; h < move.heads; ++h) {
      for (int c = 0; c < out.cols(); ++c) {
        const double drawn = move.amount * random_.next();
        if (move.amount == 0 || h < move.first || h >= move.first + out.heads()) continue;
        float& number = out.at(h - move.first, move.row, c);
        number = saturate(double{number} + drawn);
      }
    }
    return out;
  }

  base::NormalRandom random_;
};

void count(const Spec& spec, Comparison& out) {
  for (std::size_t i = 0; i < out.attended.size(); ++i) {
    out.difference =
        std::max(out.difference, std::abs(double{out.attended.data()[i]} - double{out.connected.data()[i]}));
  }
  out.attentionWeights = std::int64_t{spec.queryCount} * spec.keyCount;
  out.connectedWeights = out.attentionWeights * spec.valueDim * spec.valueDim;
}

/// Some weights, and rows of the output, of a layer of one head.
void computeSome(const Spec& spec, const Inputs& in, const SomePairs& some, Tensor& weights, Tensor& output) {
  Engine engine;
  engine.setMost({0, 0, 0});
  engine.apply(spec, in, Change{});
  const Trace& trace = engine.shapes();
  trace.headOutput.expect(0, some.queries.begin, some.queries.size());
  weights = Tensor(1, some.queries.size(), some.keys.size());
  output = Tensor(1, some.queries.size(), spec.valueDim);
  for (int r = 0; r < some.queries.size(); ++r) {
    const int query = some.queries.begin + r;
    std::copy_n(trace.headOutput.row(0, query), output.cols(), output.row(0, r));
    std::copy_n(trace.weights.row(0, query) + some.keys.begin, weights.cols(), weights.row(0, r));
  }
}

// --- reach

constexpr int kWidth = ReachSpec::width;
using Square = Eigen::Matrix<double, kWidth, kWidth>;
using Column = Eigen::Matrix<double, kWidth, 1>;

Column drawn(base::NormalRandom& random) {
  Column out;
  for (int i = 0; i < kWidth; ++i) out[i] = random.next();
  return out;
}

/// A random orthogonal matrix by Gram–Schmidt: each column is orthogonalised against those before it (twice,
/// so that rounding does not show) and normalised.
Square orthogonal(base::NormalRandom& random) {
  Square q;
  for (int c = 0; c < kWidth; ++c) {
    Column v = drawn(random);
    for (int pass = 0; pass < 2; ++pass) {
      for (int before = 0; before < c; ++before) v -= q.col(before).dot(v) * q.col(before);
    }
    q.col(c) = v.normalized();
  }
  return q;
}

Column sigmoid(const Column& z) { return 1.0 / (1.0 + (-z.array()).exp()); }

/// An LSTM that reads one token after the other, and how its memory depends on that after the first token.
class Gated {
 public:
  explicit Gated(const ReachSpec& spec) : spec_(spec), random_(spec.seed, std::uint64_t{1} << 32) {
    for (Square& u : u_) u = spec.recurrent * orthogonal(random_);
  }

  /// Reads a token; the size of ∂c_n/∂c_1.
  double next() {
    Column z[4];
    for (int part = 0; part < 4; ++part)
      z[part] = u_[static_cast<std::size_t>(part)].lazyProduct(h_) + spec_.input * drawn(random_);
    z[1].array() += spec_.forget;
    const Column i = sigmoid(z[0]), f = sigmoid(z[1]), o = sigmoid(z[3]), g = z[2].array().tanh(),
                 before = c_;
    c_ = f.array() * c_.array() + i.array() * g.array();
    const Column bent = c_.array().tanh();
    h_ = o.array() * bent.array();
    if (size_ < kMost) depend(i, f, g, o, before, bent);
    return size_;
  }

 private:
  static constexpr double kMost = 1e150;  // from there on it stays as it is, so that nothing becomes infinite

  void depend(const Column& i, const Column& f, const Column& g, const Column& o, const Column& before,
              const Column& bent) {
    const auto through = [&](int part, const Column& slope) -> Square {
      return slope.asDiagonal() * u_[static_cast<std::size_t>(part)].lazyProduct(dH_);
    };
    const Column one = Column::Ones();
    if (isFirst_) dC_ = Square::Identity();
    else
      dC_ = Square(f.asDiagonal() * dC_) + through(0, g.cwiseProduct(i).cwiseProduct(one - i)) +
            through(1, before.cwiseProduct(f).cwiseProduct(one - f)) +
            through(2, i.cwiseProduct(one - g.cwiseAbs2()));
    dH_ = through(3, bent.cwiseProduct(o).cwiseProduct(one - o)) +
          Square(o.cwiseProduct(one - bent.cwiseAbs2()).asDiagonal() * dC_);
    isFirst_ = false;
    size_ = dC_.norm() / std::sqrt(static_cast<double>(kWidth));
  }

  const ReachSpec& spec_;
  base::NormalRandom random_;
  std::array<Square, 4> u_;  ///< of the gates i, f, g, o
  Column c_ = Column::Zero(), h_ = Column::Zero();
  Square dC_ = Square::Zero(), dH_ = Square::Zero();  ///< ∂c_n/∂c_1 and ∂h_n/∂c_1
  bool isFirst_ = true;
  double size_ = 0;
};

}  // namespace

Result<void> validate(const SpreadSpec& spec) {
  if (auto ok = checkRange("mean", spec.mean, -10.0, 10.0); !ok) return ok;
  if (auto ok = checkRange("deviation", spec.deviation, 0.0, 10.0); !ok) return ok;
  if (auto ok = checkRange("keyMean", spec.keyMean, -10.0, 10.0); !ok) return ok;
  if (auto ok = checkRange("keyDeviation", spec.keyDeviation, 0.0, 10.0); !ok) return ok;
  return checks::checkSize("dim", spec.dim, SpreadDraws::largestDim);
}

/// Adds the products of one more component of every query and key.
void SpreadDraws::Sums::add(base::NormalRandom& random) {
  std::array<double, kKeys> z{};
  for (std::size_t i = 0; i < this->queries.size(); ++i) {
    const double q = random.next();
    this->queries[i] += q;
    for (std::size_t j = 0; j < kKeys; ++j) {
      z[j] = random.next();
      this->keys[i * kKeys + j] += z[j];
      products[i * kKeys + j] += q * z[j];
    }
    double* pair = pairs.data() + i * kPairs;
    for (std::size_t j = 0; j < kKeys; ++j) {
      for (std::size_t l = j; l < kKeys; ++l) *pair++ += z[j] * z[l];
    }
  }
}

SpreadDraws::SpreadDraws(std::uint32_t seed, int count) { inSlices(seed, count, *this).finish(); }

base::Slices SpreadDraws::inSlices(std::uint32_t seed, int count, SpreadDraws& out) {
  base::NormalRandom random(seed);
  const auto all = static_cast<std::size_t>(count);
  Sums sums{std::vector<double>(all), std::vector<double>(all * kKeys), std::vector<double>(all * kKeys),
            std::vector<double>(all * kPairs)};
  out.seed_ = seed;
  out.kept_.push_back(sums);
  const int most = std::max(1, kDrawsOfSlice / count);
  for (int c = 1; c <= largestDim; ++c) {
    sums.add(random);
    if (c % kStep == 0) out.kept_.push_back(sums);
    if (c % most == 0) co_yield {c, largestDim};
  }
}

Spread SpreadDraws::at(const SpreadSpec& spec) const {
  assert(validate(spec));
  const int from = spec.dim / kStep * kStep;
  Sums sums = kept_[static_cast<std::size_t>(from / kStep)];
  base::NormalRandom random(seed_, static_cast<std::uint64_t>(from) * sums.queries.size() * (1 + kKeys));
  for (int c = from; c < spec.dim; ++c) sums.add(random);

  const double muQ = spec.mean, muK = spec.meanOfKeys(), sigmaQ = spec.deviation,
               sigmaK = spec.deviationOfKeys();
  Scores scores(sums.products.size());
  for (std::size_t j = 0; j < scores.size(); ++j) {
    scores[j] = spec.dim * muQ * muK + muK * sigmaQ * sums.queries[j / kKeys] + muQ * sigmaK * sums.keys[j] +
                sigmaQ * sigmaK * sums.products[j];
  }
  return measure(spec, scores, sums.pairs);
}

Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison) {
  const Perturbed compared(spec, direct, {0, spec.heads}, comparison);
  Comparison out;
  Trace trace;
  forward(spec, compared.fixed(direct), trace);
  out.fixed = std::move(trace.weights), out.connected = std::move(trace.headOutput);
  forward(spec, compared.following(direct), trace);
  out.following = std::move(trace.weights), out.attended = std::move(trace.headOutput);
  count(spec, out);
  return out;
}

Comparison compare(const Spec& spec, const Inputs& direct, const ComparisonSpec& comparison,
                   const SomePairs& some) {
  const Perturbed compared(spec, direct, {some.head, some.head + 1}, comparison);
  Spec one = spec;
  one.heads = one.kvHeads = 1, one.hiddenHeads = 0;
  Inputs in = direct;
  std::array<Tensor, 5> own;
  std::size_t used = 0;
  for (const Tensor** each : {&in.wA, &in.uA, &in.vA, &in.bias, &in.sink})
    if (*each && (*each)->heads() > 1) own[used] = headsOf(**each, some.head, 1), *each = &own[used++];
  Comparison out;
  computeSome(one, compared.fixed(in), some, out.fixed, out.connected);
  computeSome(one, compared.following(in), some, out.following, out.attended);
  count(spec, out);
  return out;
}

Result<void> validate(const ReachSpec& spec) {
  if (auto ok = checkRange("steps", spec.steps, 2, ReachSpec::longest); !ok) return ok;
  if (auto ok = checkRange("recurrent", spec.recurrent, 0.0, 4.0); !ok) return ok;
  if (auto ok = checkRange("input", spec.input, 0.0, 10.0); !ok) return ok;
  if (auto ok = checkRange("forget", spec.forget, -10.0, 10.0); !ok) return ok;
  return checkRange("lead", spec.lead, -30.0, 30.0);
}

std::vector<Reach> reach(const ReachSpec& spec) {
  assert(validate(spec));
  base::NormalRandom random(spec.seed);
  const Square u = spec.recurrent * orthogonal(random);
  Column h = (spec.input * drawn(random)).array().tanh();
  Square jacobian = Square::Identity(),
         later = Square::Zero();  // ∂h_n/∂h_1, and the sum of those from the second token on
  Gated gated(spec);
  std::vector<Reach> out;
  for (int n = 1; n <= spec.steps; ++n) {
    if (n > 1) {
      const Column sum = u.lazyProduct(h) + spec.input * drawn(random);
      h = sum.array().tanh();
      const Column slope = 1.0 - h.array().square();
      const Square carried = u.lazyProduct(jacobian);
      jacobian = slope.asDiagonal() * carried;
      later += jacobian;
    }
    const double lead = std::exp(spec.lead), others = n - 1;
    const auto size = [](const Square& m) { return m.norm() / std::sqrt(static_cast<double>(kWidth)); };
    const Square led = (lead * Square::Identity() + later) / (lead + others),
                 even = (Square::Identity() + later) / n;
    out.push_back(
        {n - 1, size(jacobian), lead / (lead + others), 1.0 / n, size(led), size(even), gated.next()});
  }
  return out;
}

}  // namespace attention
