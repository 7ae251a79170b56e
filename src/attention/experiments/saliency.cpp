#include "attention/experiments/saliency.h"

#include <algorithm>
#include <cmath>

#include "attention/experiments/one_row.h"
#include "attention/mechanisms/mechanism.h"

namespace attention {
namespace {

using Id = TensorId;
using Row = OneRow;

/// A head of an input whose gradient is not all 0; typically one of many.
struct Part {
  Id id;
  int head;
};

std::vector<Part> partsReached(const Gradients& gradients) {
  std::vector<Part> parts;
  for (int i = 0; i < kInputCount; ++i) {
    const auto id = static_cast<Id>(i);
    const Tensor& g = gradients[id];
    for (int h = 0; h < g.heads(); ++h) {
      const float *d = g.head(h), *end = d + std::ptrdiff_t{g.rows()} * g.cols();
      if (std::any_of(d, end, [](float v) { return v != 0.0f; })) parts.push_back({id, h});
    }
  }
  return parts;
}

/// Calls `visit` for each cell in these parts whose gradient is not 0.
template <class Visit>
void each(const Gradients& gradients, const std::vector<Part>& parts, Visit visit) {
  for (const auto& [id, head] : parts) {
    const Tensor& g = gradients[id];
    for (int r = 0; r < g.rows(); ++r) {
      const float* row = g.row(head, r);
      for (int c = 0; c < g.cols(); ++c) {
        if (row[c] != 0.0f) visit(CellRef{id, head, r, c}, row[c]);
      }
    }
  }
}

/// For sorting: gradients that should be equal may differ in their last bit, so they are compared in
/// millionths of the largest.
long long rank(double gradient, double largest) { return std::llround(std::fabs(gradient) / largest * 1e6); }

void findStrongest(const std::vector<Part>& parts, Saliency& saliency) {
  std::vector<Nudge>& best = saliency.strongest;
  each(saliency.gradients, parts, [&](const CellRef& cell, float d) {
    if (best.size() >= Saliency::kStrongest && std::fabs(double{d}) < std::fabs(best.back().gradient)) return;
    const auto at = std::find_if(best.begin(), best.end(), [&](const Nudge& n) {
      return rank(n.gradient, saliency.largest) < rank(double{d}, saliency.largest);
    });
    if (at == best.end() && best.size() >= Saliency::kStrongest) return;
    best.insert(at, Nudge{cell, double{d}, d > 0 ? Nudge::kSize : -Nudge::kSize, 0, 0});
    if (best.size() > Saliency::kStrongest) best.pop_back();
  });
}

/// Rounds to four decimals, unless `from` itself has more.
float stepped(float from, double by) {
  const double exact = double{from} + by, round = std::round(exact * 1e4) / 1e4;
  return saturate(std::fabs(exact - round) < 1e-6 ? round : exact);
}

bool isOnlyOne(const Trace& trace, const CellRef& target) {
  const float* row = trace.masked.row(target.head, target.row);
  return std::count_if(row, row + trace.masked.cols(), [](float s) { return !std::isinf(s); }) == 1;
}

/// Does `is` hold for the target's head, or for all heads if the target is their mean?
template <class Is>
bool everyHead(const Spec& spec, CellRef target, Is is) {
  if (target.head != kMeanHead) return is(target);
  for (target.head = 0; target.head < spec.heads; ++target.head) {
    if (!isHidden(spec, target.head) && !is(target)) return false;
  }
  return true;
}

}  // namespace

float nudged(float input, float gradient, double norm) {
  return gradient == 0.0f ? input : saturate(double{input} + Nudge::kSize * (double{gradient} / norm));
}

Saliency SaliencySolver::of(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef target,
                            InputSet wanted) {
  Saliency out;
  if (target.tensor == Id::positions) {
    out.value = out.together = double{trace.positions.at(0, target.row, target.col)};
    return out;
  }
  Row row(spec, inputs, trace, target, trace_, scratch_);
  out.value = out.together = row.value();
  row.gradients(wanted, backward_, row_, out.gradients);
  const std::vector<Part> parts = partsReached(out.gradients);
  if (parts.empty()) return out;
  double squares = 0;
  each(out.gradients, parts, [&](const CellRef&, float d) {
    ++out.reached, out.largest = std::max(out.largest, std::fabs(double{d})),
                   squares += double{d} * double{d};
  });
  out.norm = std::sqrt(squares);
  findStrongest(parts, out);
  const auto inputAt = [&](const CellRef& cell) {
    return row.given(cell.tensor)->at(cell.head, cell.row, cell.col);
  };
  for (Nudge& n : out.strongest) {
    n.to = stepped(inputAt(n.cell), n.by);
    row.set(n.cell, n.to);
    n.change = row.value() - out.value;
    row.restore();
  }
  each(out.gradients, parts,
       [&](const CellRef& cell, float d) { row.set(cell, nudged(inputAt(cell), d, out.norm)); });
  out.together = row.value();
  return out;
}

std::string whyUnreached(const Spec& spec, const Trace& trace, const CellRef& target,
                         const Saliency& saliency) {
  const Id id = target.tensor;
  const NormalizerMechanism& normalizer = normalizerOf(spec);
  const bool isWeight = id == Id::weights,
             isAfter = id == Id::head_output || id == Id::concat || id == Id::output;
  if ((isWeight || isAfter) && normalizer.isStep() && !(isAfter && saliency.reached == 0))
    return isWeight ? "The hard maximum is a step: a small change of a score leaves every weight as it is, "
                      "so the gradient is 0."
                    : "The hard maximum is a step: its gradient is 0, and nothing reaches this value through "
                      "the scores.";
  if (saliency.reached > 0) return {};
  if (id == Id::positions) return "Positions are given by a formula: no input reaches them.";
  const auto isMasked = [&](const CellRef& t) { return std::isinf(trace.masked.at(t.head, t.row, t.col)); };
  if (isOfPairs(id) && id >= Id::biased && everyHead(spec, target, isMasked))
    return isWeight ? "This weight is masked: it is 0 whatever the scores are."
                    : "This score is masked: no input reaches it.";
  if (isWeight && spec.maskAfterSoftmax &&
      trace.weights.at(std::max(target.head, 0), target.row, target.col) == 0.0f)
    return "This weight is masked: it is 0 whatever the scores are.";
  if (isWeight && sumsToOne(spec) &&
      everyHead(spec, target, [&](const CellRef& t) { return isOnlyOne(trace, t); }))
    return "Only one key is seen in this row: its weight is 1 whatever its score is.";
  const bool isCut = isWeight && normalizer.least == 0.0 && !normalizer.isOpen;
  if (isCut && everyHead(spec, target,
                         [&](const CellRef& t) { return trace.weights.at(t.head, t.row, t.col) == 0.0f; }))
    return "The normaliser cuts this weight off: it stays 0 for small changes of the scores.";
  if (isWeight && sumsToOne(spec) && everyHead(spec, target, [&](const CellRef& t) {
        const float w = trace.weights.at(t.head, t.row, t.col);
        return w < 1e-12f || w > 1 - 1e-6f;
      }))
    return "The row is saturated: its scores are so far apart that the gradient is too small for a number.";
  const bool isAllHidden = everyHead(spec, {id, kMeanHead, 0, 0}, [](const CellRef&) { return false; });
  if (isAllHidden && (id == Id::concat || id == Id::output))
    return "All heads are left out: no input reaches the output.";
  return "No input that can be changed reaches this value: it stays as it is.";
}

}  // namespace attention
