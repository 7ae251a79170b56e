// Pictures of the weights of heads that have not been computed yet.
#pragma once

#include <bit>
#include <cstdint>

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
  void forget() { wanted_ = there_ = 0; }
  /// This head has been computed.
  void drop(int head);
  /// The numbers of this head are others now. Until its picture is made again, that of before remains.
  void renew(int head);

  bool hasMore() const { return wanted_ != 0; }
  /// The head and the query of the row that is to be made next.
  int head() const { return std::countr_zero(wanted_); }
  int query() const { return overview_.sampleOf(row_ * overview_.side()); }
  /// Takes that row of the weights.
  void take(const Tensor& weights);

  /// Is there one of this head?
  bool has(int head) const { return (there_ >> head & 1) != 0; }
  const Overview& overview() const { return overview_; }
  /// Changes with each picture that is made.
  std::uint32_t version() const { return version_; }

 private:
  Overview overview_;
  std::uint64_t wanted_ = 0, there_ = 0;  ///< bit h: that of head h is to be made, is there
  int row_ = 0;                           ///< of blocks, of the head that is made
  std::uint32_t version_ = 0;
};

}  // namespace attention
