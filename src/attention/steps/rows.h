// Some rows of one head, computed alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "attention/steps/forward.h"

namespace attention {

struct RowsOfHead {
  int head = 0;
  Span queries;
  bool withOutput = true;  ///< are rows of head_output wanted too?
  bool isFew = false;      ///< of so many keys that bringing them in order for the kernels would take longer
  /// Are weights all that is wanted? Of the steps before them nothing is then written.
  bool isOfWeights = false;
};

/// Computes them in a trace whose tensors of pairs hold these rows. They are, bit for bit, those of
/// forwardHeads(), unless they are few.
void forwardRows(const Spec& spec, const Inputs& inputs, const RowsOfHead& rows, Trace& trace,
                 Scratch& scratch);

/// About how long one such row takes, in multiply-adds of the kernels: a page makes ten million in a
/// millisecond. Steps that the kernels do not have take several times as long as theirs.
std::int64_t workOfRow(const Spec& spec, const Inputs& inputs);
/// So much work takes a page 3 to 4 ms: it need hardly wait for it.
inline constexpr std::int64_t kBriefWork = 40'000'000;
/// A hyperbolic tangent takes as long as so many multiply-adds.
inline constexpr std::int64_t kWorkOfTanh = 40;
/// How many rows are a slice of that.
inline int briefRows(std::int64_t workOfRow) {
  return static_cast<int>(std::clamp(kBriefWork / workOfRow, std::int64_t{1}, std::int64_t{1} << 20));
}

/// Some queries of one head, wherever they stand.
struct SomeOfHead {
  int head = 0;
  std::span<const int> queries;
};

/// Writes their weights, [queries, keys]: to be seen, since they are not those of the whole head to the bit.
/// False, and nothing is written, where the kernels do not have all steps.
bool forwardSome(const Spec& spec, const Inputs& inputs, const SomeOfHead& some, float* weights, Trace& trace,
                 Scratch& scratch);

}  // namespace attention
