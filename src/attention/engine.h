// Keeps a Trace up to date: a change costs what it touches.
#pragma once

#include <span>

#include "attention/trace.h"

namespace attention {

/// What an edit touched, in terms of the layer. Row and column ranges are of the tensor named by `what`.
struct Change {
  enum class What : std::uint8_t {
    everything,      ///< shapes or the whole layer; recompute
    cells,           ///< a block of the input tensor `tensor` (x, w_*, q, k, v)
    painted,         ///< a block of the painted mask
    causal,          ///< spec.causal, causalOffset or the window
    scale,           ///< spec.score or spec.scale
    temperature,     ///< spec.temperature
    tokensInserted,  ///< `rows` tokens before `row`, in queries and keys alike
    tokensRemoved,   ///< `rows` tokens from `row` on
  };
  What what = What::everything;
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0;
  int rows = 0, cols = 0;
};

/// Owns the Trace. After apply() the trace equals what forward() would give for the same spec and inputs,
/// within the bounds stated in kernels.h, whatever the history of changes.
class Engine {
 public:
  /// `inputs` are those after the change. Reads only what the changes reach.
  void apply(const Spec& spec, const Inputs& inputs, std::span<const Change> changes);
  void apply(const Spec& spec, const Inputs& inputs, const Change& change) { apply(spec, inputs, {&change, 1}); }
  const Trace& trace() const { return trace_; }
  const Spec& spec() const { return spec_; }

 private:
  Spec spec_;
  Trace trace_;
};

}  // namespace attention
