#include "attention/forward.h"

#include "attention/steps.h"

namespace attention {

void forward(const Spec& spec, const Inputs& inputs, Trace& trace) {
  const Span queries{0, spec.queryCount}, keys{0, spec.keyCount};
  const Span dims{0, spec.headDim}, valueDims{0, spec.valueDim};
  shapeTrace(spec, inputs, trace);
  for (int g = 0; g < spec.kvHeads; ++g) {
    makeKeys(spec, inputs, g, keys, dims, trace);
    makeValues(spec, inputs, g, keys, valueDims, trace);
  }
  for (int h = 0; h < spec.heads; ++h) {
    makeQueries(spec, inputs, h, queries, dims, trace);
    makeRaw(spec, h, queries, keys, trace);
    makeScores(spec, h, queries, keys, trace);
    makeMasked(spec, inputs.painted, h, queries, keys, trace);
    makeWeights(spec, h, queries, trace);
    makeHeadOutput(spec, h, queries, trace);
  }
  makeOutput(spec, inputs, queries, trace);
}

}  // namespace attention
