#include "attention/experiments/contrast.h"

#include <algorithm>
#include <cmath>

namespace attention {

bool differs(float before, float after) {
  if (before == after) return false;
  if (std::isinf(before) || std::isinf(after)) return true;
  return std::fabs(double{after} - double{before}) > 1e-6 * std::max(1.0, std::fabs(double{before}));
}

Contrast contrastOf(TensorId id, const Tensor& before, const Tensor& after, std::size_t most) {
  Contrast out;
  if (!before.sameShape(after)) return out;
  std::vector<CellChange>& best = out.largest;
  const auto isLarger = [](const CellChange& a, const CellChange& b) {
    return std::fabs(a.by()) > std::fabs(b.by()) * (1 + 1e-6);
  };
  for (int h = 0; h < after.heads(); ++h) {
    for (int r = 0; r < after.rows(); ++r) {
      const float *was = before.row(h, r), *is = after.row(h, r);
      for (int c = 0; c < after.cols(); ++c) {
        if (!differs(was[c], is[c])) continue;
        ++out.count;
        const CellChange change{{id, h, r, c}, was[c], is[c]};
        if (std::isinf(change.by()) ||
            (best.size() >= most && (best.empty() || !isLarger(change, best.back()))))
          continue;
        best.insert(
            std::find_if(best.begin(), best.end(), [&](const CellChange& b) { return isLarger(change, b); }),
            change);
        if (best.size() > most) best.pop_back();
      }
    }
  }
  return out;
}

}  // namespace attention
