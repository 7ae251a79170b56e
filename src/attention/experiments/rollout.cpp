#include "attention/experiments/rollout.h"

#include <cstddef>

namespace attention {

std::vector<float> rollout(std::span<const Tensor* const> means, int token) {
  if (means.empty()) return {};
  const int n = means.front()->cols();
  std::vector<float> from(static_cast<std::size_t>(n), 0.0f), next;
  from[static_cast<std::size_t>(token)] = 1;
  for (std::size_t layer = means.size(); layer-- > 0;) {
    next.assign(from.size(), 0.0f);
    for (int i = 0; i < n; ++i) {
      const auto at = static_cast<std::size_t>(i);
      if (from[at] == 0) continue;
      const float half = from[at] / 2, *const row = means[layer]->row(0, i);
      next[at] += half;
      for (std::size_t j = 0; j < next.size(); ++j) next[j] += half * row[j];
    }
    from.swap(next);
  }
  return from;
}

}  // namespace attention
