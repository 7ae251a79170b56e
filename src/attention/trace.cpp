#include "attention/trace.h"

#include <array>

namespace attention {
namespace {

constexpr std::array<std::string_view, kTensorCount> kNames = {
    "x", "w_q", "w_k", "w_v", "w_o", "q", "k", "v", "x_kv", "w_a", "u_a", "v_a", "bias", "positions", "x_positioned",
    "x_kv_positioned", "q_rotated", "k_rotated", "raw", "scores", "softcapped", "biased", "masked", "exponentials",
    "row_max", "row_sum", "weights", "head_output", "concat", "output"};

}  // namespace

std::string_view name(TensorId id) { return kNames[static_cast<std::size_t>(id)]; }

Rows rowsOf(TensorId id) {
  switch (id) {
    case TensorId::w_q:
    case TensorId::w_k:
    case TensorId::w_v:
    case TensorId::w_o:
    case TensorId::w_a:
    case TensorId::u_a:
    case TensorId::v_a:
    case TensorId::positions: return Rows::other;
    case TensorId::k:
    case TensorId::v:
    case TensorId::k_rotated:
    case TensorId::x_kv:
    case TensorId::x_kv_positioned: return Rows::keys;
    default: return Rows::queries;
  }
}

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
    case TensorId::x_kv: return inputs.xKv;
    case TensorId::w_a: return inputs.wA;
    case TensorId::u_a: return inputs.uA;
    case TensorId::v_a: return inputs.vA;
    case TensorId::bias: return inputs.bias;
    default: return intermediate(trace, id);
  }
}

}  // namespace attention
