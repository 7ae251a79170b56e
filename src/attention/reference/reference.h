// The layer, written to be read: double precision, scalar loops, one step of the formula per function. It is
// slow, shares no code with the fast implementation, and only tests should call it.
//
// Softmax attention follows Vaswani et al. 2017 ("Attention Is All You Need"), equation 1 and section 3.2.2;
// shared key heads follow Ainslie et al. 2023 ("GQA"); the rest is cited in spec.h. Three conventions are
// this project's own, shared with the fast implementation: a row with every key masked gives zeros; Q, K, V,
// scores and outputs saturate at the largest float; and the definition of Pattern::random.
#pragma once

#include <limits>
#include <vector>

#include "attention/layer/trace.h"

namespace attention {

inline constexpr double kRealInfinity = std::numeric_limits<double>::infinity();

/// A block of numbers [heads, rows, cols], row-major, in double.
struct ReferenceTensor {
  int heads = 0, rows = 0, cols = 0;
  std::vector<double> values;

  ReferenceTensor() = default;
  ReferenceTensor(int h, int r, int c)
      : heads(h),
        rows(r),
        cols(c),
        values(static_cast<std::size_t>(h) * static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& at(int h, int r, int c) { return values[index(h, r, c)]; }
  double at(int h, int r, int c) const { return values[index(h, r, c)]; }
  bool empty() const { return values.empty(); }
  /// The largest magnitude among the finite numbers; error bounds are relative to it.
  double largest() const;

 private:
  std::size_t index(int h, int r, int c) const {
    return (static_cast<std::size_t>(h) * static_cast<std::size_t>(rows) + static_cast<std::size_t>(r)) *
               static_cast<std::size_t>(cols) +
           static_cast<std::size_t>(c);
  }
};

/// The same intermediates as Trace.
using ReferenceTrace = TraceOf<ReferenceTensor>;

/// The whole layer. `spec` and `inputs` must have passed validate(). How far the fast one may be from it says
/// errorBound() in tests/reference/error_bound.h.
ReferenceTrace reference(const Spec& spec, const Inputs& inputs);

/// Which keys a query sees: those that causal, window, padding, pattern and painted cells all allow.
std::vector<char> referenceSees(const Spec& spec, const PaintedMask* painted, int query);

}  // namespace attention
