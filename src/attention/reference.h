// The layer written to be read: double precision, scalar loops, one step of the formula per function.
// It is not fast, it shares no code with the fast path, and nothing but tests should call it.
//
// Softmax attention follows Vaswani et al. 2017 ("Attention Is All You Need"), equation 1 and section 3.2.2; shared key
// heads follow Ainslie et al. 2023 ("GQA"). Two things are this project's own, and the fast path does the same:
// a row with every key masked comes to zeros, and Q, K, V, scores and outputs saturate at the largest float.
#pragma once

#include <vector>

#include "attention/trace.h"

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
struct ReferenceTrace {
  ReferenceTensor q, k, v;
  ReferenceTensor raw, scores, masked, exponentials, rowMax, rowSum, weights;
  ReferenceTensor headOutput, concat, output;
};

/// The whole layer. `spec` and `inputs` must have passed validate().
ReferenceTrace reference(const Spec& spec, const Inputs& inputs);

/// How far a float32 Trace may be from the reference, absolutely, for any cell of the tensor `id`. The worst measured is
/// 0.6 of it (tests/unit/test_forward.cpp). With eps = 2^-23, S = max(1, largest |score| / temperature),
/// d = headDim, m = modelDim, and "largest" at least 1:
///   q, k, v                0 when given, 8·eps·√m·largest when projected
///   raw, scores, masked    8·eps·√d·largest; row_max the same of scores / temperature; 4 times that when projected
///   exponentials, weights  4e-7·S, and 4 times that when projected; row_sum: that · its largest
///   head_output, concat    the bound of weights · largest |v|, plus that of v
///   output                 with W_O: 8·eps·√(H·d_v)·largest, plus what concat is off by, through W_O
double errorBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& exact, TensorId id);

/// The tensor behind an id; null for x and w_*, which are inputs.
const ReferenceTensor* find(const ReferenceTrace& trace, TensorId id);

}  // namespace attention
