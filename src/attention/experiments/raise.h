// What would raise one value of a layer: its gradient by every input, and what small steps along it really do.
#pragma once

#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "attention/steps/backward.h"
#include "attention/steps/forward.h"

namespace attention {

/// As the head of a target: the mean of the heads that take part.
inline constexpr int kMeanHead = -1;

/// A step of one input cell.
struct Nudge {
  static constexpr double kSize = 0.10;
  CellRef cell;
  double gradient = 0;  ///< ∂target/∂cell
  double by = 0;        ///< +kSize or -kSize: the way that raises the target
  float to = 0;         ///< the cell's number after it
  double change = 0;    ///< of the target, computed anew and not taken from the gradient
};

struct Raise {
  static constexpr int kStrongest = 5;
  double value = 0;                ///< of the target as it is
  Gradients gradients;             ///< ∂target/∂cell, for the inputs that were asked for
  double largest = 0, norm = 0;    ///< of all of them: max |g|, and ‖g‖
  int reached = 0;                 ///< cells whose gradient is not 0
  std::vector<Nudge> strongest;    ///< the largest |g| first, at most kStrongest; equal ones in the order of the table
  double together = 0;             ///< the target after one step of length Nudge::kSize along the whole gradient
};

/// The number of an input cell after its share of that step: input + 0.10 · g / ‖g‖.
float nudged(float input, float gradient, double norm);

/// Asks the question of a layer, again and again without allocating much. One row of queries is computed, and not the
/// layer: at 16 tokens and 4 heads all of it takes 0.02 to 0.2 ms, at 1,024 tokens, 12 heads and d_k = 64 some 40 ms.
class Raiser {
 public:
  /// `target` is a cell of an intermediate of `trace`; its head may be kMeanHead for weights and head_output. `wanted`: the
  /// inputs that may be changed; those that the layer does not have are passed over. `trace` is what forward() made.
  Raise of(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef target, InputSet wanted);

 private:
  Trace trace_;
  Scratch scratch_;
  BackwardScratch backward_;
  Gradients row_;
};

/// One sentence on why no input, or none through the scores, reaches the target; empty where they do. It names the mask,
/// the step of a hard maximum, the one key of a row, or that the numbers are saturated.
std::string whyUnreached(const Spec& spec, const Trace& trace, const CellRef& target, const Raise& raise);

}  // namespace attention
