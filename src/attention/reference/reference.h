// The layer written to be read: double precision, scalar loops, one step of the formula per function.
// It is not fast, it shares no code with the fast path, and nothing but tests should call it.
//
// Softmax attention follows Vaswani et al. 2017 ("Attention Is All You Need"), equation 1 and section 3.2.2; shared key
// heads follow Ainslie et al. 2023 ("GQA"); the rest is cited in spec.h. Three things are this project's own, and the
// fast path does the same: a row with every key masked comes to zeros; Q, K, V, scores and outputs saturate at the
// largest float; and what Pattern::random draws.
#pragma once

#include <vector>

#include "attention/layer/trace.h"

namespace attention {

/// A block of numbers [heads, rows, cols], row-major, in double.
struct ReferenceTensor {
  int heads = 0, rows = 0, cols = 0;
  std::vector<double> values;

  ReferenceTensor() = default;
  ReferenceTensor(int h, int r, int c)
      : heads(h), rows(r), cols(c),
        values(static_cast<std::size_t>(h) * static_cast<std::size_t>(r) * static_cast<std::size_t>(c)) {}
  double& at(int h, int r, int c) { return values[index(h, r, c)]; }
  double at(int h, int r, int c) const { return values[index(h, r, c)]; }
  bool empty() const { return values.empty(); }
  /// The largest magnitude among the finite numbers, which error bounds are relative to.
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

/// Which keys a query sees: causal, window, padding, pattern and painted cells, joined by and.
std::vector<bool> referenceSees(const Spec& spec, const PaintedMask* painted, int query);

/// How far a float32 Trace may be from the reference, absolutely, for any cell of the tensor `id`. The worst measured
/// is 0.7 of it (tests/unit/test_mechanisms.cpp). With eps = 2^-23, d = headDim, m = modelDim, T = temperature, n =
/// keyCount, "largest" at least 1, S = max(1, largest |score| / T), and c = 4 for projected and rotary layers (whose Q
/// and K are rounded), else 1:
///   positions, x_positioned   2·eps·largest
///   q, k, v                0 when given, 8·eps·√m·largest when projected; rotated: twice that, and 4·eps·largest
///   raw, scores            dot, scaled and general: c·8·eps·√d·largest; additive: c·8·eps·√d·the largest Σ|v_a|;
///                          cosine: c·8·eps·√d, when projected times the largest |q| or |k| / the smallest
///   softcapped             that of scores, and 4·eps·largest; biased, masked: that before, and 2·eps·largest
///   row_max                that of masked / T, and eps·largest
///   exponentials, weights  softmax: c·4e-7·S, and that of masked / T where the score is no plain dot product; row_sum:
///   that
///                          · its largest. With e = that of masked / T + 2·eps·S, sparsemax: 2·e; sigmoid: e / 4 +
///                          4e-7; relu and none: e; hardmax: 0, or 1 where two scores of a row are so close that either
///                          may win
///   head_output, concat    the bound of weights · largest |v|, plus that of v; other normalisers than softmax:
///                          √n·(the bound of weights + 8·eps·largest |weight|)·largest |v|, plus that of v · the
///                          largest Σ|weight|
///   output                 with W_O: 8·eps·√(H·d_v)·largest, plus what concat is off by, through W_O
double errorBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& exact, TensorId id);

}  // namespace attention
