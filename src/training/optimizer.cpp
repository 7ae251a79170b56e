#include "training/optimizer.h"

#include <cmath>

namespace training {

Updater::Updater(Optimizer kind, double rate, std::size_t count)
    : kind_(kind),
      rate_(rate),
      first_(kind == Optimizer::sgd ? 0 : count),
      second_(kind == Optimizer::adam ? count : 0) {}

void Updater::apply(std::span<float> numbers, std::span<const float> gradient) {
  const std::size_t count = numbers.size();
  const float* g = gradient.data();
  float *to = numbers.data(), *m = first_.data(), *v = second_.data();
  const float rate = static_cast<float>(rate_);
  switch (kind_) {
    case Optimizer::sgd:
      for (std::size_t i = 0; i < count; ++i) to[i] -= rate * g[i];
      return;
    case Optimizer::momentum:
      for (std::size_t i = 0; i < count; ++i) m[i] = 0.9f * m[i] + g[i], to[i] -= rate * m[i];
      return;
    case Optimizer::adam: {
      firstShare_ *= 0.9, secondShare_ *= 0.999;
      const float step = static_cast<float>(rate_ / (1 - firstShare_)),
                  root = static_cast<float>(1 / std::sqrt(1 - secondShare_));
      for (std::size_t i = 0; i < count; ++i) {
        m[i] = 0.9f * m[i] + 0.1f * g[i];
        v[i] = 0.999f * v[i] + 0.001f * g[i] * g[i];
        to[i] -= step * m[i] / (std::sqrt(v[i]) * root + 1e-8f);
      }
      return;
    }
  }
}

}  // namespace training
