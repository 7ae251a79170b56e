#include "attention/experiments/whatif.h"

#include "attention/experiments/one_row.h"
#include "attention/mechanisms/mechanism.h"
#include "base/number.h"

namespace attention {
namespace {

using Vector = std::vector<double>;

constexpr int kMostSteps = 200, kMostHalvings = 30;

double dot(const Vector& a, const Vector& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

bool hasOdds(const Spec& spec) { return normalizerOf(spec).isOpen; }

/// The layer of a single query as a function of the row that is being changed.
class Surface {
 public:
  Surface(const Spec& spec, OneRow& row, Trace& made, const CellRef& cell, const CellRef& at,
          std::vector<float> start)
      : spec_(spec),
        row_(row),
        made_(made),
        cell_(cell),
        at_(at),
        start_(std::move(start)) {}

  /// φ for the row moved by δ; sets `weight` to the weight itself. The row stays moved.
  double at(const Vector& by, double& weight) {
    row_.restore();
    for (std::size_t c = 0; c < by.size(); ++c)
      row_.set({at_.tensor, at_.head, at_.row, static_cast<int>(c)}, moved(c, by));
    weight = row_.value();
    return hasOdds(spec_) ? std::log(weight / others(weight)) : weight;
  }
  /// ∂φ/∂row at the point of the last call of at().
  Vector gradient(double weight, BackwardScratch& scratch, Gradients& row, Gradients& whole) {
    row_.gradients(inputSet(at_.tensor), scratch, row, whole);
    const double per = hasOdds(spec_) ? 1 / (weight * others(weight)) : 1;
    Vector out(start_.size());
    const Tensor& g = whole[at_.tensor];
    for (std::size_t c = 0; c < out.size() && !g.empty(); ++c)
      out[c] = double{g.at(at_.head, at_.row, static_cast<int>(c))} * per;
    return out;
  }
  double target(double wanted) const { return hasOdds(spec_) ? std::log(wanted / (1 - wanted)) : wanted; }
  float moved(std::size_t c, const Vector& by) const { return saturate(double{start_[c]} + by[c]); }

 private:
  /// 1 − w; where the weights sum to 1, as the sum of the other weights, which avoids cancellation.
  double others(double weight) const {
    if (!sumsToOne(spec_) || spec_.maskAfterSoftmax) return 1 - weight;
    double sum = 0;
    for (int j = 0; j < made_.weights.cols(); ++j)
      sum += j == cell_.col ? 0.0 : double{made_.weights.at(cell_.head, 0, j)};
    return sum;
  }

  const Spec& spec_;
  OneRow& row_;
  const Trace& made_;
  CellRef cell_, at_;
  std::vector<float> start_;
};

std::string outOfRange(const Spec& spec, double wanted) {
  if (hasOdds(spec) && !(wanted > 0 && wanted < 1))
    return "This weight lies between 0 and 1 and reaches neither: ask for a number between them.";
  const NormalizerMechanism& normalizer = normalizerOf(spec);
  if (normalizer.most == 1 && !(wanted >= 0 && wanted <= 1))
    return "This weight lies between 0 and 1: ask for a number from 0 to 1.";
  if (normalizer.least == 0 && !(wanted >= 0)) return "This weight is never below 0: ask for 0 or more.";
  return std::isfinite(wanted) ? "" : "A weight is a finite number.";
}

}  // namespace

WhatIf WhatIfSolver::of(const Spec& spec, const Inputs& inputs, const Trace& trace,
                        const WantedWeight& asked) {
  const auto& [cell, wanted, by, from] = asked;
  WhatIf out;
  out.weight = double{trace.weights.at(cell.head, cell.row, cell.col)};
  out.why = outOfRange(spec, wanted);
  if (!out.why.empty()) return out;
  const bool isQuery = by == TensorId::q;
  const CellRef at = isQuery ? CellRef{by, cell.head, cell.row, 0}
                             : CellRef{by, cell.head / (spec.heads / spec.kvHeads), cell.col, 0};
  OneRow row(spec, inputs, trace, cell, trace_, scratch_);
  const float* start = from.empty() ? (inputs.*tensorRow(by).given)->row(at.head, at.row) : from.data();
  const int columns = isQuery ? queryWidth(spec) : spec.headDim;
  Surface surface(spec, row, trace_, {cell.tensor, cell.head, 0, cell.col}, at, {start, start + columns});

  Vector delta(static_cast<std::size_t>(columns));
  double weight = 0, phi = surface.at(delta, weight);
  Vector g = surface.gradient(weight, backward_, row_, whole_);
  Saliency reach;
  for (const double v : g) reach.reached += std::isfinite(v) && v != 0;
  out.why = whyUnreached(spec, trace, cell, reach);
  if (!out.why.empty() || reach.reached == 0 || !std::isfinite(phi)) {
    if (out.why.empty())
      out.why = "The row is saturated: its scores are so far apart that no small change shows.";
    return out;
  }
  const double target = surface.target(wanted);
  bool found = false;
  for (int step = 0; step < kMostSteps; ++step) {
    const double squares = dot(g, g);
    if (!(squares > 0) || !std::isfinite(squares)) break;
    const double factor = (dot(g, delta) + target - phi) / squares;
    Vector way(delta.size());
    double size = 0;
    for (std::size_t c = 0; c < way.size(); ++c)
      way[c] = factor * g[c] - delta[c], size = std::max(size, std::fabs(way[c]));
    const bool isNear = std::fabs(weight - wanted) <= WhatIf::kWithin;
    if (isNear && size <= 1e-6 * (1 + std::sqrt(dot(delta, delta)))) {
      found = true;
      break;
    }
    const double c = 2 * std::sqrt(dot(delta, delta) / squares) + std::fabs(factor) + 1e-3;
    const double merit = 0.5 * dot(delta, delta) + c * std::fabs(target - phi);
    double by1 = 1;
    Vector next = delta;
    for (int halving = 0; halving < kMostHalvings; ++halving, by1 /= 2) {
      for (std::size_t i = 0; i < next.size(); ++i) next[i] = delta[i] + by1 * way[i];
      phi = surface.at(next, weight);
      if (std::isfinite(phi) && 0.5 * dot(next, next) + c * std::fabs(target - phi) < merit) break;
      if (halving + 1 == kMostHalvings) by1 = 0;
    }
    found = std::fabs(weight - wanted) <= WhatIf::kWithin;
    if (by1 == 0) break;  // a smaller change than float can represent
    delta = next;
    g = surface.gradient(weight, backward_, row_, whole_);
  }
  if (!found) {
    out.why = isQuery ? "No change of this query gives that weight: its key lies too near the others, "
                        "which go along with it."
                      : "No change of this key gives that weight.";
    return out;
  }
  out.length = std::sqrt(dot(delta, delta));
  for (std::size_t c = 0; c < delta.size(); ++c) out.row.push_back(surface.moved(c, delta));
  (void)surface.at(delta, out.weight);
  return out;
}

}  // namespace attention
