// What would give a weight: the smallest change of a query, or of a key, with which a chosen weight has a chosen size.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "attention/steps/backward.h"
#include "attention/steps/forward.h"

namespace attention {

struct WhatIf {
  static constexpr double kWithin = 1e-5;  ///< how near the weight comes to what was asked for
  std::vector<float> row;  ///< the query, or the key, that gives it; empty where none was found
  double length = 0;       ///< ‖change‖₂
  double weight = 0;       ///< what it gives
  std::string why;         ///< one sentence where none was found
};

/// Finds the row q of a query (or k of a key) with the least Euclidean norm ‖δ‖₂ of its change among those that give the
/// weight of that query and key the size `wanted`. All other numbers stay. Any score, positions, mask and normaliser.
///
/// The weight is a smooth function of the row, so this is the nearest point of a surface. From the present row on, each step
/// puts the tangent plane in the surface's place: δ ← g (g·δ + φ* − φ) / ‖g‖², with φ the log-odds of the weight where it is a
/// share or a sigmoid (they are linear in a score), else the weight itself, and g = ∂φ/∂row by the backward pass. The step is
/// shortened until ½‖δ‖² + c |φ* − φ| falls (Rackwitz and Fiessler 1978; Zhang and Der Kiureghian 1995, equations 12 to 14).
/// For the key of a dot product, and for two keys, the first step is the answer: the log-odds are linear in the row. Where a
/// smaller weight is asked for, the surface may bend around the present row, and the nearest point is one among its neighbours.
class WhatIfSolver {
 public:
  /// `cell` is one of weights; `by` TensorId::q or TensorId::k, which the layer is given and does not compute. `trace` is what
  /// forward() made. `from`: the row that the change is measured from, where it is not the one in `inputs`.
  WhatIf of(const Spec& spec, const Inputs& inputs, const Trace& trace, const CellRef& cell, double wanted, TensorId by,
            std::span<const float> from = {});

 private:
  Trace trace_;
  Scratch scratch_;
  BackwardScratch backward_;
  Gradients row_, whole_;
};

}  // namespace attention
