// Which keys one query sees, by all that the spec says (painted cells are apart: they belong to the inputs).
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// Why a key is not seen, the first that applies.
enum class Hidden : std::uint8_t { no, causal, window, padding, pattern };

/// The mask of one query. Made once a row: what Pattern::random draws is found when it is built, the rest is asked cell
/// by cell.
class MaskRow {
 public:
  MaskRow(const Spec& spec, int query);
  Hidden reason(int key) const;
  bool sees(int key) const { return reason(key) == Hidden::no; }

 private:
  bool isInPattern(std::int64_t key) const;
  std::uint64_t draw(std::int64_t key) const;

  const Spec& spec_;
  std::int64_t position_;           // of the query among the keys
  std::int64_t drawn_ = 0;          // keys that may be drawn: before causal's end, and no padding
  std::uint64_t lastDraw_ = 0;      // the largest draw() among those that are
};

}  // namespace attention
