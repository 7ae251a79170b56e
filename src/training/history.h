// What a run was like: a point of every step, what was found on the sentences held out, and the model's numbers at some of
// the steps. As it grows it is thinned evenly on a logarithmic axis, so that it never takes more than Limits::history bytes.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace training {

/// One step, measured on its batch before the numbers are changed: step n saw n − 1 changes.
struct Point {
  int step = 0;
  float loss = 0, accuracy = 0, gradientNorm = 0;
};

/// What the model does after so many steps, on what was held out.
struct Measure {
  int step = 0;
  float loss = 0, accuracy = 0;
  /// Between 0 and 1, or −1 where the task has none: of tags the accuracy of "saw"; else how much of its weight the best head puts
  /// where Sequence::looks says, on average (of induction the prefix-matching score of Olsson et al. 2022).
  float watched = -1;
  float sawNoun = -1, sawVerb = -1;  ///< of tags: mean p(noun) where "saw" is a noun, and where it is a verb
  int confusion[2][2] = {};          ///< of tags: "saw" is a noun, a verb; said to be a noun, a verb (other answers count in neither)
};

class History {
 public:
  static constexpr std::size_t kBytes = 16'000'000;
  static constexpr std::size_t kPoints = 1 << 15;

  explicit History(std::size_t parameters);

  void add(const Point& point);
  void add(const Measure& measure);
  /// Keeps the numbers of this step; steps ascend.
  void keep(int step, std::span<const float> numbers);
  /// Forgets what came after a step.
  void backTo(int step);

  std::span<const Point> points() const { return points_; }
  std::span<const Measure> measures() const { return measures_; }
  struct Kept {
    int step = 0;
    std::vector<float> numbers;
  };
  std::span<const Kept> kept() const { return kept_; }
  /// The last kept of at most this step; null for none.
  const Kept* at(int step) const;
  std::size_t bytes() const;

 private:
  std::size_t mostKept_;
  std::vector<Point> points_;
  std::vector<Measure> measures_;
  std::vector<Kept> kept_;
};

}  // namespace training
