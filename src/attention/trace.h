// Every intermediate of one attention layer, kept so that any shown value can say where it came from.
#pragma once

#include <optional>
#include <string_view>

#include "attention/spec.h"
#include "attention/tensor.h"

namespace attention {

/// Every tensor that a person can ask for, by the name used in state text, JavaScript and files.
enum class TensorId : std::uint8_t {
  x, w_q, w_k, w_v, w_o,     // inputs of a projected layer, [1, rows, cols]
  q, k, v,                   // [H, L, d]; inputs, or projections of x
  x_kv,                      // input: the other sequence of cross-attention, [1, Lk, model]
  w_a, u_a, v_a,             // inputs of general and additive scores, [H, d, d], [H, d, d], [H, 1, d]
  positions,                 // sinusoids, [1, L, model]; angles of rotary, [1, L, d/2]
  x_positioned, x_kv_positioned,  // x + positions, sinusoidal only
  q_rotated, k_rotated,      // rotary only
  raw,                       // q·k, or what the score makes of the pair, [H, Lq, Lk]
  scores,                    // after the scale
  softcapped,                // after the soft cap
  biased,                    // after the bias
  masked,                    // after the mask: masked cells are -inf
  exponentials,              // exp(masked / temperature - row_max)
  row_max, row_sum,          // [H, Lq, 1]; of masked / temperature, of exponentials
  weights,                   // [H, Lq, Lk]
  head_output,               // weights · V, [H, Lq, d_v]
  concat,                    // heads side by side, [1, Lq, H·d_v]
  output,                    // concat · W_O, or concat where there is no W_O, [1, Lq, …]
};
inline constexpr int kTensorCount = static_cast<int>(TensorId::output) + 1;

/// "w_q" for TensorId::w_q, and so on.
std::string_view name(TensorId id);
/// The tensor of that name, if there is one.
std::optional<TensorId> tensorNamed(std::string_view name);

/// The intermediates. Filled by forward(), kept up to date by Engine. Fully masked rows have row_max -inf,
/// row_sum 0, weights 0 and output 0. No NaN appears from finite input.
/// Those of steps that the layer does not have (positions, softcapped …) are empty.
struct Trace {
  Tensor positions, xPositioned, xKvPositioned, qRotated, kRotated, softcapped, biased;
  Tensor q, k, v;
  Tensor raw, scores, masked, exponentials, rowMax, rowSum, weights;
  Tensor headOutput, concat, output;
};

/// The tensor behind an id: from the trace, or from the inputs for x and w_*; null where this layer has none.
const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id);

}  // namespace attention
