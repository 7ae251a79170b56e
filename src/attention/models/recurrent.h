// Recurrent cells over a sequence: the tanh network of Elman 1990, and the LSTM of Hochreiter and Schmidhuber
// 1997 with the forget gate of Gers et al. 2000. Forward pass, and backpropagation through time. With z_t =
// x_t·W + h_{t−1}·U + b:
//   tanh  h_t = tanh(z_t)
//   LSTM  i, f, o = sigmoid of their parts of z_t, g = tanh of its part; c_t = f∘c_{t−1} + i∘g, h_t = o∘tanh(c_t)
//
// The parts of z_t, and with them the columns of W, U and b, are in PyTorch's order i, f, g, o.
#pragma once

#include "attention/steps/products.h"
#include "base/result.h"

namespace attention {

enum class CellKind : std::uint8_t { tanh, lstm };
/// The number of parts of z_t: 1, or 4 for the gates of an LSTM.
inline int partsOf(CellKind cell) { return cell == CellKind::lstm ? 4 : 1; }

struct RecurrentLimits {
  static constexpr int units = 1024;
};

/// All tensors have one head and must outlive the call. A null b, h0 or c0 stands for zeros.
struct RecurrentInputs {
  CellKind cell = CellKind::tanh;
  const Tensor* x = nullptr;   ///< [1, tokens, width]
  const Tensor* w = nullptr;   ///< [1, width, parts·units]
  const Tensor* u = nullptr;   ///< [1, units, parts·units]
  const Tensor* b = nullptr;   ///< [1, 1, parts·units]
  const Tensor* h0 = nullptr;  ///< [1, 1, units]
  const Tensor* c0 = nullptr;  ///< [1, 1, units], LSTM only
};

/// The intermediates, one row per token.
struct RecurrentTrace {
  Tensor gates;   ///< i, f, g, o side by side, [1, tokens, 4·units]; empty for tanh
  Tensor memory;  ///< c_t, [1, tokens, units]; empty for tanh
  Tensor states;  ///< h_t, [1, tokens, units]
};

struct RecurrentGradients {
  Tensor x, w, u, b, h0, c0;  ///< b, h0 and c0 are empty where they were not given
  /// ∂L/∂h_t including the effect through later states, [1, tokens, units]: shows how far back L depends on
  /// the sequence.
  Tensor states;
};

/// Checks the inputs: shapes, finite numbers.
base::Result<void> validate(const RecurrentInputs& inputs);

/// Fills `trace`; `inputs` must have passed validate(). States are within 1e-5 of the exact ones for
/// unit-normal inputs of up to 64 units and 128 tokens, provided that the recurrence does not amplify errors
/// (largest singular value of U at most 1).
void forwardRecurrent(const RecurrentInputs& inputs, RecurrentTrace& trace, Products& products);

/// Backpropagation through time from ∂L/∂h_t, [1, tokens, units]. Within 1e-5 of the exact gradients,
/// relative to the largest, under the same conditions.
void backwardRecurrent(const RecurrentInputs& inputs, const RecurrentTrace& trace, const Tensor& dStates,
                       RecurrentGradients& gradients, Products& products);

}  // namespace attention
