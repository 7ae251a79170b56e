#include "files/run/work.h"

#include <algorithm>

namespace files::layer {
namespace {

namespace kernels = attention::kernels;
using attention::Span;

/// Moves everything that has a row for each query to the first of these.
void begin(kernels::Forward& f, int head, Span rows) {
  for (kernels::In* in : {&f.q, &f.bias})
    if (*in) in->data += head * in->headStride + rows.begin * in->rowStride;
  for (kernels::Out* out : {&f.output, &f.weights, &f.scores, &f.softcapped, &f.masked})
    if (*out) out->data += head * out->headStride + rows.begin * out->rowStride;
  if (f.blocked) f.blocked += head * f.blockedHeadStride + rows.begin * f.blockedRowStride;
  f.queryCount = rows.size(), f.causalOffset += rows.begin;
}

}  // namespace

double multiplyAdds(const attention::Spec& spec, int modelDim) {
  attention::CostSpec cost;
  cost.layer = spec, cost.modelDim = modelDim, cost.tokens = spec.queryCount, cost.offset = spec.causalOffset;
  cost.keys = spec.keyLength < 0 ? spec.keyCount : std::min(spec.keyLength, spec.keyCount);
  return attention::costOf(cost).multiplyAdds();
}

double multiplyAdds(const kernels::Forward& call) {
  attention::Spec spec;
  spec.heads = call.heads, spec.kvHeads = call.kvHeads, spec.queryCount = call.queryCount,
  spec.keyCount = call.keyCount;
  spec.headDim = call.headDim, spec.valueDim = call.valueDim, spec.keyLength = call.keyLength;
  spec.causal = call.causal, spec.causalOffset = call.causalOffset, spec.windowLeft = call.windowLeft,
  spec.windowRight = call.windowRight;
  return multiplyAdds(spec);
}

void Work::forward(const attention::Spec& spec, const attention::Inputs& inputs, attention::Trace& trace,
                   attention::Scratch& scratch, double all) {
  const double row = all / (double{1} * spec.heads * spec.queryCount);
  double told = 0;
  scratch.afterRow = [&] { told += row, add(row); };
  attention::forward(spec, inputs, trace, scratch);
  scratch.afterRow = nullptr;
  add(all - told);
}

kernels::Forward partOf(kernels::Forward f, Span keyHeads, Span rows) {
  const int group = f.heads / f.kvHeads;
  f.k.data += keyHeads.begin * f.k.headStride, f.v.data += keyHeads.begin * f.v.headStride;
  begin(f, keyHeads.begin * group, rows);
  f.kvHeads = keyHeads.size(), f.heads = f.kvHeads * group;
  return f;
}

kernels::Forward headOf(kernels::Forward f, int head, Span queries) {
  const int keyHead = head / (f.heads / f.kvHeads);
  f.k.data += keyHead * f.k.headStride, f.v.data += keyHead * f.v.headStride;
  begin(f, head, queries);
  f.heads = f.kvHeads = 1;
  return f;
}

bool forParts(const kernels::Forward& f, int threads,
              const std::function<bool(const kernels::Forward&)>& each) {
  constexpr double kPart = 4e9;        // multiply-adds, of which a core does some 10 to 50 a nanosecond
  constexpr double kExponential = 64;  // a score's exponential costs as much as so many of them
  constexpr int kPackingPays =
      20 * kernels::kWholeRows;  // queries a thread: for each part it packs all keys and values four times
  const double row =
      multiplyAdds(f) / f.kvHeads / f.queryCount * (1 + kExponential / (f.headDim + f.valueDim));
  if (row * f.queryCount * f.kvHeads <= kPart) return each(f);
  const int rows =
      std::max(kPackingPays * threads,
               kernels::kWholeRows * static_cast<int>(std::min(kPart / row / kernels::kWholeRows, 1e5)));
  const int heads = std::clamp(rows / f.queryCount, 1, f.kvHeads);
  int count = kernels::kWholeRows *
              ((threads + 3) /
               4);  // in the first part; later queries first, as with a causal mask they see the most keys
  for (int head = 0; head < f.kvHeads; head += heads) {
    for (int end = f.queryCount, begin = 0; end > 0; end = begin, count = rows) {
      begin =
          std::max(0, (end + kernels::kWholeRows - 1) / kernels::kWholeRows * kernels::kWholeRows - count);
      if (!each(partOf(f, {head, std::min(head + heads, f.kvHeads)}, {begin, end}))) return false;
    }
  }
  return true;
}

}  // namespace files::layer
