// Which keys one query sees, according to the spec. (Painted cells belong to the inputs and are checked
// elsewhere.)
#pragma once

#include <limits>
#include <vector>

#include "attention/layer/spec.h"

namespace attention {

/// The masked score of a key that a query does not see.
inline constexpr float kHiddenScore = -std::numeric_limits<float>::infinity();

/// Why a key is not visible: the first reason that applies.
enum class Hidden : std::uint8_t { no, causal, window, padding, pattern };

/// The mask of one query. Created once per row: the keys that Pattern::random draws are determined in the
/// constructor, everything else cell by cell.
class MaskRow {
 public:
  MaskRow(const Spec& spec, int query);
  Hidden reason(int key) const;
  bool sees(int key) const { return reason(key) == Hidden::no; }
  /// Sets seen[key] to 1 for each key that the pattern lets through, one of `count`, and to 0 for others: of
  /// a whole row, faster than key by key.
  void letThrough(int count, std::uint8_t* seen) const;

 private:
  [[gnu::noinline]] void drawKeys();
  bool isInPattern(std::int64_t key) const;
  std::uint64_t draw(std::int64_t key) const;

  const Spec& spec_;
  std::int64_t position_;  // of the query, counted among the keys
  std::int64_t drawn_ =
      0;  // number of keys that may be drawn: those before the causal limit that are not padding
  std::uint64_t seed_;                // of the draws of this row
  std::vector<std::uint64_t> draws_;  // draw() of the keys that are drawn
  std::uint64_t lastDraw_ = 0;        // the largest of them
};

}  // namespace attention
