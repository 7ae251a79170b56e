// Optimisers: gradient descent, momentum, and Adam.
#pragma once

#include <span>
#include <vector>

#include "training/setup.h"

namespace training {

class Updater {
 public:
  Updater(Optimizer kind, double rate, std::size_t count);
  void setRate(double rate) { rate_ = rate; }
  /// One update of the parameters `numbers`, by the equations at `Optimizer`.
  void apply(std::span<float> numbers, std::span<const float> gradient);

 private:
  Optimizer kind_;
  double rate_, firstShare_ = 1, secondShare_ = 1;  ///< of Adam: β₁ᵗ and β₂ᵗ
  std::vector<float> first_, second_;               ///< moments
};

}  // namespace training
