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
  bias,                      // input: what is added to the scores, [H or 1, Lq, Lk]; -inf masks
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
/// What the rows of a tensor are: query tokens, key tokens, or something else (columns of X, a single vector …).
enum class Rows : std::uint8_t { queries, keys, other };
Rows rowsOf(TensorId id);
/// The tensor of that name, if there is one.
std::optional<TensorId> tensorNamed(std::string_view name);

/// The intermediates. Filled by forward(), kept up to date by Engine. Fully masked rows have row_max -inf,
/// row_sum 0, weights 0 and output 0. No NaN appears from finite input.
/// Those of steps that the layer does not have are empty: positions and what is made with them, softcapped, biased, and
/// exponentials, row_max and row_sum of normalisers other than softmax.
struct Trace {
  Tensor positions, xPositioned, xKvPositioned, qRotated, kRotated, softcapped, biased;
  Tensor q, k, v;
  Tensor raw, scores, masked, exponentials, rowMax, rowSum, weights;
  Tensor headOutput, concat, output;
};

/// What a step reads of the steps before it, some of which the layer may not have. AnyTrace: Trace or ReferenceTrace.
template <class AnyTrace>
auto& queriesOf(AnyTrace& trace) { return trace.qRotated.empty() ? trace.q : trace.qRotated; }
template <class AnyTrace>
auto& keysOf(AnyTrace& trace) { return trace.kRotated.empty() ? trace.k : trace.kRotated; }
template <class AnyTrace>
auto& cappedOf(AnyTrace& trace) { return trace.softcapped.empty() ? trace.scores : trace.softcapped; }
template <class AnyTrace>
auto& biasedOf(AnyTrace& trace) { return trace.biased.empty() ? cappedOf(trace) : trace.biased; }

/// The member of a trace behind an id; null for inputs, and where the layer does not have it.
template <class AnyTrace>
auto intermediate(AnyTrace& trace, TensorId id) -> decltype(&trace.q) {
  decltype(&trace.q) tensor = nullptr;
  switch (id) {
    case TensorId::q: tensor = &trace.q; break;
    case TensorId::k: tensor = &trace.k; break;
    case TensorId::v: tensor = &trace.v; break;
    case TensorId::positions: tensor = &trace.positions; break;
    case TensorId::x_positioned: tensor = &trace.xPositioned; break;
    case TensorId::x_kv_positioned: tensor = &trace.xKvPositioned; break;
    case TensorId::q_rotated: tensor = &trace.qRotated; break;
    case TensorId::k_rotated: tensor = &trace.kRotated; break;
    case TensorId::raw: tensor = &trace.raw; break;
    case TensorId::scores: tensor = &trace.scores; break;
    case TensorId::softcapped: tensor = &trace.softcapped; break;
    case TensorId::biased: tensor = &trace.biased; break;
    case TensorId::masked: tensor = &trace.masked; break;
    case TensorId::exponentials: tensor = &trace.exponentials; break;
    case TensorId::row_max: tensor = &trace.rowMax; break;
    case TensorId::row_sum: tensor = &trace.rowSum; break;
    case TensorId::weights: tensor = &trace.weights; break;
    case TensorId::head_output: tensor = &trace.headOutput; break;
    case TensorId::concat: tensor = &trace.concat; break;
    case TensorId::output: tensor = &trace.output; break;
    default: break;
  }
  return tensor && !tensor->empty() ? tensor : nullptr;
}

/// The tensor behind an id: from the trace, or from the inputs for x, w_* and the like; null where this layer has none.
const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id);

}  // namespace attention
