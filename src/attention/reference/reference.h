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
inline constexpr double kFloatEpsilon = 0x1p-23;  ///< the distance from 1 to the next float

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

/// The whole layer. `spec` and `inputs` must have passed validate().
ReferenceTrace reference(const Spec& spec, const Inputs& inputs);

/// Which keys a query sees: those that causal, window, padding, pattern and painted cells all allow.
std::vector<char> referenceSees(const Spec& spec, const PaintedMask* painted, int query);

/// Bound on |float32 Trace − reference| for any cell of the tensor `id`. The largest error measured is 0.7 of
/// it (tests/unit/test_mechanisms.cpp). With eps = 2^-23, d = headDim, m = modelDim, T = temperature, n =
/// keyCount, "largest" the largest magnitude of the tensor but at least 1, S = max(1, largest |score| / T),
/// and c = 4 for projected and rotary layers (whose Q and K are rounded), otherwise 1:
///   positions, x_positioned   2·eps·largest
///   q, k, v                0 when given, 8·eps·√m·largest when projected; rotated: twice that + 4·eps·largest
///   raw, scores            dot, scaled and general: c·8·eps·√d·largest; additive: c·8·eps·√d·the largest Σ|v_a|;
///                          cosine: c·8·eps·√d, when projected times the largest |q| or |k| / the smallest
///   softcapped             the bound of scores + 4·eps·largest; biased, masked: the bound of the step before + 2·eps·largest
///   row_max                the bound of masked / T + eps·largest
///   exponentials, weights  softmax: c·4e-7·S, + the bound of masked / T where the score is not a plain dot product;
///                          row_sum: that · its largest. With e = the bound of masked / T + 2·eps·S, sparsemax and entmax: 2·e;
///                          sigmoid: e / 4 + 4e-7; relu and none: e; hardmax: 0, or 1 where two scores of a row are so
///                          close that either may be the largest
///   head_output, concat    softmax: the bound of weights · largest |v| + the bound of v; other normalisers:
///                          √n·(the bound of weights + 8·eps·largest |weight|)·largest |v| + the bound of v · the
///                          largest Σ|weight|
///   output                 with W_O: 8·eps·√(H·d_v)·largest + the error of concat multiplied by W_O
double errorBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& exact, TensorId id);

}  // namespace attention
