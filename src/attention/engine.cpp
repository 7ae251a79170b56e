#include "attention/engine.h"

#include "attention/forward.h"

namespace attention {

void Engine::apply(const Spec& spec, const Inputs& inputs, std::span<const Change> changes) {
  if (changes.empty()) return;
  spec_ = spec;
  forward(spec_, inputs, trace_);
}

}  // namespace attention
