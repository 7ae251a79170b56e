#include "attention/trace.h"

#include <array>

namespace attention {
namespace {

constexpr std::array<std::string_view, kTensorCount> kNames = {
    "x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", "x_kv", "w_a", "u_a", "v_a", "positions", "x_positioned",
    "x_kv_positioned", "q_rotated", "k_rotated", "raw", "scores", "softcapped", "biased", "masked", "exponentials",
    "row_max", "row_sum", "weights", "head_output", "concat", "output"};

/// A tensor of a step that the layer does not have is empty, and is none.
const Tensor* unlessEmpty(const Tensor& tensor) { return tensor.empty() ? nullptr : &tensor; }

}  // namespace

std::string_view name(TensorId id) { return kNames[static_cast<std::size_t>(id)]; }

std::optional<TensorId> tensorNamed(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<TensorId>(i);
  }
  return {};
}

const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id) {
  switch (id) {
    case TensorId::x: return inputs.x;
    case TensorId::w_q: return inputs.wQ;
    case TensorId::w_k: return inputs.wK;
    case TensorId::w_v: return inputs.wV;
    case TensorId::w_o: return inputs.wO;
    case TensorId::q: return &trace.q;
    case TensorId::k: return &trace.k;
    case TensorId::v: return &trace.v;
    case TensorId::x_kv: return inputs.xKv;
    case TensorId::w_a: return inputs.wA;
    case TensorId::u_a: return inputs.uA;
    case TensorId::v_a: return inputs.vA;
    case TensorId::positions: return unlessEmpty(trace.positions);
    case TensorId::x_positioned: return unlessEmpty(trace.xPositioned);
    case TensorId::x_kv_positioned: return unlessEmpty(trace.xKvPositioned);
    case TensorId::q_rotated: return unlessEmpty(trace.qRotated);
    case TensorId::k_rotated: return unlessEmpty(trace.kRotated);
    case TensorId::softcapped: return unlessEmpty(trace.softcapped);
    case TensorId::biased: return unlessEmpty(trace.biased);
    case TensorId::raw: return &trace.raw;
    case TensorId::scores: return &trace.scores;
    case TensorId::masked: return &trace.masked;
    case TensorId::exponentials: return &trace.exponentials;
    case TensorId::row_max: return &trace.rowMax;
    case TensorId::row_sum: return &trace.rowSum;
    case TensorId::weights: return &trace.weights;
    case TensorId::head_output: return &trace.headOutput;
    case TensorId::concat: return &trace.concat;
    case TensorId::output: return &trace.output;
  }
  return nullptr;
}

}  // namespace attention
