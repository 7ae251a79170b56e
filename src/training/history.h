// The record of a run: a point for every step, measurements on the held-out sequences, and the parameters at
// some of the steps. As it grows, it is thinned evenly on a logarithmic time axis, so that it never takes
// more than History::kBytes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace training {

/// One step, measured on its batch before the update: the loss of step n is that after n − 1 updates.
struct Point {
  int step = 0;
  float loss = 0, accuracy = 0, gradientNorm = 0;
};

/// A measurement on the held-out sequences after `step` updates.
struct Measure {
  int step = 0;
  float loss = 0, accuracy = 0;
  /// A second measure from 0 to 1, or −1 where the task has none. For tags the accuracy on "saw"; otherwise
  /// how much of its weight the best head puts on the key given by Sequence::looks, on average (for induction
  /// the prefix-matching score of Olsson et al. 2022).
  float watched = -1;
  float sawNoun = -1, sawVerb = -1;  ///< for tags: mean p(noun) where "saw" is a noun, and where it is a verb
  /// For tags, counts for "saw": [noun, verb] in truth by [noun, verb] as predicted (other predictions are
  /// not counted).
  int confusion[2][2] = {};
};

class History {
 public:
  static constexpr std::size_t kBytes = 16'000'000;
  static constexpr std::size_t kPoints = 1 << 15;

  explicit History(std::size_t parameters);

  void add(const Point& point);
  void add(const Measure& measure);
  /// Stores the parameters after this step; steps must be increasing.
  void keep(int step, std::span<const float> numbers);
  /// Discards everything after a step.
  void backTo(int step);

  std::span<const Point> points() const { return points_; }
  std::span<const Measure> measures() const { return measures_; }
  struct Kept {
    int step = 0;
    std::vector<float> numbers;
  };
  std::span<const Kept> kept() const { return kept_; }
  /// The last stored parameters of this step or an earlier one; null if there are none.
  const Kept* at(int step) const;
  std::size_t bytes() const;

 private:
  std::size_t mostKept_;
  std::vector<Point> points_;
  std::vector<Measure> measures_;
  std::vector<Kept> kept_;
};

}  // namespace training
