// What ways to compute attention take on this machine, measured: plain loops and the kernels, additive scores
// and dot products, a recurrent network and attention.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "attention/models/recurrent.h"
#include "attention/steps/forward.h"

namespace attention {

/// The ways, in pairs that are compared: all of them with one head, and as many columns of Q, K and V.
enum class Way : std::uint8_t {
  loops,      ///< softmax(Q·Kᵀ ÷ √d)·V by nested loops, one number at a time
  kernels,    ///< the same by kernels::forward() of the fastest kernel
  additive,   ///< the layer of the board with additive scores, with every intermediate
  dot,        ///< the same layer with scaled dot products
  recurrent,  ///< a tanh network, whose state is as wide as its input, one token after the other
  attention,  ///< Q, K and V of the same input, and attention
};

/// A measurement in pieces, for as many tokens and columns as wanted, of numbers from a fixed seed.
class Timing {
 public:
  static constexpr int kWays = 6, kRuns = 15;  ///< an odd number, so that the median is one of them
  /// A call of the slowest way then takes some milliseconds.
  static constexpr int kMostTokens = 128, kMostColumns = 64;
  /// How long a run of a way takes at least, in milliseconds: fast ones are called several times in it,
  /// because the clocks of browsers are coarse.
  static constexpr double kLeast = 4;

  /// Both sizes are limited to 1 and the most.
  Timing(int tokens, int columns);

  int tokens() const { return tokens_; }
  int columns() const { return columns_; }
  /// One run of one way: of all in turn, so that what slows the machine slows all alike. `now`: milliseconds.
  /// Returns whether there are more to do.
  bool go(const std::function<double()>& now);
  int runs() const;  ///< so far, of kRuns · kWays
  bool isWhole() const { return times_.back().size() == kRuns; }
  /// Milliseconds of a call, the median of all runs; 0 unless isWhole().
  double median(Way way) const;
  /// The largest difference between the outputs of loops and kernels; 0 before both have run.
  float difference() const;

 private:
  void call(Way way);

  int tokens_, columns_;
  Tensor x_, q_, k_, v_, wQ_, wK_, wV_, wA_, uA_, vA_, recurrentW_, recurrentU_;
  Spec spec_;
  Tensor byLoops_, byKernels_;
  std::vector<float> row_;
  kernels::Workspace workspace_;
  Trace trace_;
  Scratch scratch_;
  RecurrentTrace states_;
  Products products_;
  std::array<std::vector<double>, kWays> times_;
  std::array<int, kWays> calls_;
  int next_ = 0;
};

}  // namespace attention
