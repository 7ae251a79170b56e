// Pictures of the weights of heads that have not been computed yet.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "attention/engine/overview.h"
#include "attention/layer/spec.h"

namespace attention {

/// A thumbnail has far fewer rows than a head has queries. Until a head has been computed, it has an Overview
/// whose rows of blocks are each made of one query, which stands for its neighbours: first those of all heads
/// are made, then the heads. They are to be seen; no number is read from them.
class FirstPictures {
 public:
  static constexpr int kAcross = 64;  ///< blocks a side at most

  /// All heads of a layer are to get one, if areFor().
  void begin(const Spec& spec, int across = kAcross);
  /// Of several heads, unless the score makes something of all queries and keys before it compares two: that
  /// would be made for each row.
  static bool areFor(const Spec& spec);
  /// No head is to have one.
  void forget() { wanted_ = there_ = made_ = 0; }
  /// This head has been computed.
  void drop(int head);
  /// The numbers of this head are others now. Until its picture is made again, that of before remains.
  void renew(int head);

  bool hasMore() const { return wanted_ != 0; }
  /// The head whose rows are to be made next.
  int head() const { return (wanted_ >> preferred_ & 1) != 0 ? preferred_ : std::countr_zero(wanted_); }
  /// If that of this head is to be made, it is the next.
  void prefer(int head);
  /// The next rows of that head, at most so many, as queries.
  std::vector<int> queries(int most) const;
  /// Takes so many of these rows of weights, which follow each other.
  void take(const float* weights, int count);

  /// Is there one of this head?
  bool has(int head) const { return (there_ >> head & 1) != 0; }
  /// The mean of those that were made, without hidden heads; null where there is none.
  const Overview* mean();
  const Overview& overview() const { return overview_; }
  /// Changes with each picture that is made.
  std::uint32_t version() const { return version_; }

 private:
  Overview overview_;
  std::uint64_t wanted_ = 0, there_ = 0;  ///< bit h: that of head h is to be made, is there
  std::uint64_t made_ = 0, hidden_ = 0;   ///< it is in overview_; it is not part of the mean
  Overview mean_;
  std::uint32_t meanOf_ = 0;  ///< the version that mean_ is of
  int preferred_ = 0;
  int row_ = 0;  ///< of blocks, of the head that is made
  std::uint32_t version_ = 0;
};

}  // namespace attention
