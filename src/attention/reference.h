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

/// The tensor behind an id; null for x and w_*, which are inputs.
const ReferenceTensor* find(const ReferenceTrace& trace, TensorId id);

}  // namespace attention
