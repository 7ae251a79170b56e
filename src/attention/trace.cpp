#include "attention/trace.h"

#include <array>

namespace attention {
namespace {

constexpr std::array<std::string_view, kTensorCount> kNames = {
    "x",      "w_q",          "w_k",     "w_v",     "w_o",     "q",           "k",      "v",     "raw",
    "scores", "masked",       "exponentials", "row_max", "row_sum", "weights", "head_output", "concat", "output"};

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
