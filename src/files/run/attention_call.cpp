#include "files/run/attention_call.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/sentence.h"

namespace files::layer {
namespace {

namespace kernels = attention::kernels;

/// Past and new keys (or values) of each head, one after the other: [B, H, P + L, d].
std::vector<float> joinedPast(const std::optional<Array>& past, const Array& next, const View& view,
                              std::int64_t pastRows) {
  const std::int64_t rows = pastRows + view.rows, width = view.columns;
  std::vector<float> out(static_cast<std::size_t>(view.batch * view.heads * rows * width));
  float* to = out.data();
  for (std::int64_t b = 0; b < view.batch; ++b) {
    for (std::int64_t h = 0; h < view.heads; ++h) {
      if (past)
        to = std::copy_n(past->values.data() + (b * view.heads + h) * pastRows * width, pastRows * width, to);
      const float* from = next.values.data() + b * view.batchStride + h * view.headStride;
      for (std::int64_t r = 0; r < view.rows; ++r) to = std::copy_n(from + r * view.rowStride, width, to);
    }
  }
  return out;
}

kernels::In inOf(const std::vector<float>& values, const View& view, std::int64_t batch) {
  return {values.data() + batch * view.batchStride, view.headStride, view.rowStride};
}

/// Past and new rows one after the other, with an axis of heads if there are past ones or `keepsHeads`.
std::vector<float> join(std::optional<Array>& past, Array& next, const Problem& problem, bool keepsHeads,
                        View& view) {
  const bool isApart = view.headStride != view.rows * view.columns || view.rowStride != view.columns;
  if (!past && !(keepsHeads && isApart)) return std::move(next.values);
  std::vector<float> out = joinedPast(past, next, view, problem.past);
  view = splitView(view.batch, view.heads, problem.keys(), view.columns);
  past.reset();
  next.values = {};
  return out;
}

}  // namespace

Result<void> outOfMemory() {
  return base::refuse(Error::Kind::memory, "memory",
                      {"there is not enough to compute this; give fewer tokens, or ask for fewer outputs."});
}

KernelInputs::KernelInputs(TensorsFile& from, const Problem& of, bool keepsHeadsOfK, bool keepsHeadsOfV)
    : file(from),
      problem(of),
      kView(of.k),
      vView(of.v) {
  k = join(from.pastK, *from.k, of, keepsHeadsOfK, kView);
  v = join(from.pastV, *from.v, of, keepsHeadsOfV, vView);
  if (from.mask) mask = maskOf(std::move(*std::exchange(from.mask, std::nullopt)), of);
}

kernels::Forward KernelInputs::call(std::int64_t batch) const {
  const Options& options = problem.options;
  kernels::Forward f;
  f.heads = static_cast<int>(problem.q.heads), f.kvHeads = static_cast<int>(problem.k.heads);
  f.queryCount = static_cast<int>(problem.q.rows), f.keyCount = static_cast<int>(problem.keys());
  f.headDim = static_cast<int>(problem.q.columns), f.valueDim = static_cast<int>(problem.v.columns);
  f.q = inOf(file.q->values, problem.q, batch);
  f.k = inOf(k, kView, batch), f.v = inOf(v, vView, batch);
  f.scale = options.scale.value_or(
      isScaled(options) ? static_cast<float>(1.0 / std::sqrt(static_cast<double>(problem.q.columns))) : 1.0f);
  f.softcap = options.softcap, f.temperature = options.temperature;
  f.causal = options.causal, f.windowLeft = options.windowLeft, f.windowRight = options.windowRight;
  f.keyLength = keyLength(file, problem, batch), f.causalOffset = firstPosition(file, problem, batch);
  if (!mask.blocked.empty()) {
    f.blocked = mask.blocked.data() + batch * mask.batchStride;
    f.blockedHeadStride = mask.headStride, f.blockedRowStride = mask.rowStride;
  }
  if (!mask.bias.empty())
    f.bias = {mask.bias.data() + batch * mask.batchStride, mask.headStride, mask.rowStride};
  return f;
}

}  // namespace files::layer
