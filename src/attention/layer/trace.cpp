#include "attention/layer/trace.h"

namespace attention {

const Tensor* find(const Inputs& inputs, const Trace& trace, TensorId id) {
  if (const Tensor* made = intermediate(trace, id)) return made;
  const auto given = tensorRow(id).given;
  return given && !intermediateOf<Tensor>(id) ? inputs.*given : nullptr;
}

}  // namespace attention
