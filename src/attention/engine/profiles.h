// What the weights of a head add up to, along their rows and columns.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/kernels/kernels.h"
#include "attention/layer/tensor.h"

namespace attention {

/// Of one head, the one that was asked for last. It takes all of its weights, so it is made some rows at a
/// time, when there is nothing else to compute; until then those made last remain.
class Profiles {
 public:
  /// The profiles of these weights are wanted, which were written last at `stamp`.
  void ask(int head, std::uint32_t stamp);
  /// Nobody looks at them any more.
  void forget() { *this = {}; }
  bool hasMore() const { return next_ < asked_.rows; }
  int done() const { return next_; }
  /// Takes at most so many more rows; with `each`, one of so many, which stands for them.
  void takeSome(const Tensor& weights, int each, int most, kernels::Workspace& workspace);

  /// Are there those of this head, of weights of that shape?
  bool areThere(int head, int queries, int keys) const {
    return made_.head == head && made_.rows == queries &&
           received_.numbers.size() == static_cast<std::size_t>(keys);
  }
  struct Profile {
    std::vector<float> numbers;
    float most = 0;  ///< the largest of them
  };
  /// How much each key gets from all queries together.
  const Profile& received() const { return received_; }
  /// The entropy of each row, in bits.
  const Profile& entropies() const { return entropies_; }

 private:
  struct Of {
    int head = -1, rows = 0;
    std::uint32_t stamp = 0;
  };
  Of asked_, made_;
  int next_ = 0;  ///< the row to go on with
  std::vector<double> sums_;
  Profile received_, entropies_;
  std::vector<float> newEntropies_;
};

/// What the weights of one row add up to, with the smallest of them or 0, and the largest or 0.
struct RowTotals {
  double sum = 0;
  float low = 0, high = 0;
};
RowTotals totalsOf(const float* weights, int count);

/// Σ −w · log2 w, of weights that are not negative, to three decimals.
float entropyOf(const float* weights, int count);

}  // namespace attention
