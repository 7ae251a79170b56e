// What change would give a weight a chosen size: the smallest change of a query, or of a key, that does it.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "attention/steps/backward.h"
#include "attention/steps/forward.h"

namespace attention {

struct WhatIf {
  static constexpr double kWithin = 1e-5;  ///< how close the weight must come to the wanted one
  std::vector<float> row;                  ///< the changed query or key; empty where none was found
  double length = 0;                       ///< ‖change‖₂
  double weight = 0;                       ///< the weight that it gives
  std::string why;                         ///< a sentence that explains why none was found; otherwise empty
};

/// The size that a weight should get.
struct WantedWeight {
  CellRef cell;  ///< of weights
  double weight = 0;
  TensorId by = TensorId::q;         ///< whose change gives it: q or k, which must be an input
  std::span<const float> from = {};  ///< the row from which the change is measured, if not the input's
};

/// Finds the row q of a query (or k of a key) that gives the weight of that query and key the wanted size
/// and has the least Euclidean norm ‖δ‖₂ of its change. All other numbers stay. Works with any score,
/// positions, mask and normaliser.
///
/// The weight is a smooth function of the row, so the answer is the point nearest to the present row on a
/// level surface. Each step replaces the surface by its tangent plane: δ ← g (g·δ + φ* − φ) / ‖g‖², with g =
/// ∂φ/∂row from the backward pass. φ is the log-odds of the weight where the weight is a share or a sigmoid
/// (log-odds are linear in a score), otherwise the weight itself. The step is shortened until ½‖δ‖² + c |φ* −
/// φ| decreases (Rackwitz and Fiessler 1978; Zhang and Der Kiureghian 1995, equations 12 to 14). For the key
/// of a dot product, and where there are two keys, the first step is exact, because the log-odds are linear
/// in the row. Where a smaller weight is asked for, the surface may curve around the present row; the point
/// found is then only a local minimum of the distance.
class WhatIfSolver {
 public:
  /// `trace` must be the result of forward().
  WhatIf of(const Spec& spec, const Inputs& inputs, const Trace& trace, const WantedWeight& wanted);

 private:
  Trace trace_;
  Scratch scratch_;
  BackwardScratch backward_;
  Gradients row_, whole_;
};

}  // namespace attention
