#include "attention/forward.h"

#include "attention/steps.h"

namespace attention {
namespace {

kernels::In reading(const Tensor& tensor, int head) {
  return {tensor.head(head), static_cast<std::ptrdiff_t>(tensor.rows()) * tensor.cols(), tensor.cols()};
}

kernels::Out writing(Tensor& tensor, int head) {
  return {tensor.head(head), static_cast<std::ptrdiff_t>(tensor.rows()) * tensor.cols(), tensor.cols()};
}

/// The traced call for the key heads of `kvHeads` and the query heads that read them.
kernels::Forward callFor(const Spec& spec, const PaintedMask* painted, Span kvHeads, Trace& trace) {
  const int group = spec.heads / spec.kvHeads, first = kvHeads.begin * group;
  kernels::Forward call;
  call.heads = kvHeads.size() * group, call.kvHeads = kvHeads.size();
  call.queryCount = spec.queryCount, call.keyCount = spec.keyCount;
  call.headDim = spec.headDim, call.valueDim = spec.valueDim;
  call.q = reading(trace.q, first);
  call.k = reading(trace.k, kvHeads.begin);
  call.v = reading(trace.v, kvHeads.begin);
  call.scale = scaleFactor(spec), call.temperature = spec.temperature;
  call.causal = spec.causal, call.causalOffset = spec.causalOffset;
  call.windowLeft = spec.windowLeft, call.windowRight = spec.windowRight;
  if (painted && !painted->empty()) {
    call.blocked = painted->blocked.data();
    call.blockedRowStride = painted->cols;
  }
  call.raw = writing(trace.raw, first);
  call.scores = writing(trace.scores, first);
  call.masked = writing(trace.masked, first);
  call.exponentials = writing(trace.exponentials, first);
  call.rowMax = writing(trace.rowMax, first);
  call.rowSum = writing(trace.rowSum, first);
  call.weights = writing(trace.weights, first);
  call.output = writing(trace.headOutput, first);
  return call;
}

void forwardHeads(const Spec& spec, const PaintedMask* painted, Span kvHeads, Trace& trace,
                  kernels::Workspace& workspace) {
  if (kernels::forward(kernels::best(), callFor(spec, painted, kvHeads, trace), workspace)) return;
  // No scratch memory was to be had: row by row then, which is slower and needs none.
  const Span queries{0, spec.queryCount}, keys{0, spec.keyCount};
  const int group = spec.heads / spec.kvHeads;
  for (int h = kvHeads.begin * group; h < kvHeads.end * group; ++h) {
    makeRaw(spec, h, queries, keys, trace);
    makeScores(spec, h, queries, keys, trace);
    makeMasked(spec, painted, h, queries, keys, trace);
    makeWeights(spec, h, queries, trace);
    makeHeadOutput(spec, h, queries, trace);
  }
}

}  // namespace

void forwardGroup(const Spec& spec, const PaintedMask* painted, int kvHead, Trace& trace,
                  kernels::Workspace& workspace) {
  forwardHeads(spec, painted, {kvHead, kvHead + 1}, trace, workspace);
}

void forward(const Spec& spec, const Inputs& inputs, Trace& trace, kernels::Workspace& workspace) {
  const Span queries{0, spec.queryCount}, keys{0, spec.keyCount};
  shapeTrace(spec, inputs, trace);
  for (int h = 0; h < spec.heads; ++h) makeQueries(inputs, h, queries, {0, spec.headDim}, trace);
  for (int g = 0; g < spec.kvHeads; ++g) {
    makeKeys(inputs, g, keys, {0, spec.headDim}, trace);
    makeValues(inputs, g, keys, {0, spec.valueDim}, trace);
  }
  forwardHeads(spec, inputs.painted, {0, spec.kvHeads}, trace, workspace);
  for (int h = 0; h < spec.heads; ++h) makeConcat(spec, h, queries, trace);
  makeOutput(inputs, queries, {0, trace.output.cols()}, trace);
}

void forward(const Spec& spec, const Inputs& inputs, Trace& trace) {
  kernels::Workspace workspace;
  forward(spec, inputs, trace, workspace);
}

}  // namespace attention
