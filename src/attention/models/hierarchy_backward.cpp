#include "attention/models/hierarchy_backward.h"

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

/// One level: the rows that it sums, and what its forward pass made of them.
struct LevelPass {
  const Tensor& h;
  const LevelInputs& inputs;
  const LevelTrace& trace;
};

/// Backward pass of the weighted sum and the softmax of one group [begin, end) whose sum has the gradient
/// `dSum`. Writes the gradients of the scores.
void throughSum(const LevelPass& level, int begin, int end, const float* dSum, Tensor& dH, Tensor& dScores) {
  const auto& [h, inputs, trace] = level;
  float* d = dScores.data() + begin;
  const float* weights = trace.weights.data() + begin;
  kernels::dots(kernels::best(), dSum, h.row(0, begin), h.cols(), end - begin, h.cols(), d, 1);
  normalizers::softmax.gradient(trace.scores.data() + begin, weights, d, end - begin, d);
  for (int i = begin; i < end; ++i) {
    float* to = dH.row(0, i);
    for (int c = 0; c < h.cols(); ++c)
      to[c] = saturate(double{to[c]} + double{weights[i - begin]} * double{dSum[c]});
  }
}

/// From the gradients of all scores to those of the rows and of the level's parameters.
void throughScores(const LevelPass& level, const Tensor& dScores, Tensor& dH, LevelGradients& g,
                   Products& products) {
  const auto& [h, inputs, trace] = level;
  shapeLike(inputs.w, g.w), shapeLike(inputs.b, g.b), shapeLike(inputs.query, g.query);
  Tensor dU(1, h.rows(), inputs.w->cols());
  products.aTb(matrixOf(dScores), matrixOf(trace.hidden), g.query.data(), g.query.cols());
  for (int i = 0; i < h.rows(); ++i) {
    for (int c = 0; c < dU.cols(); ++c) {
      const double u = double{trace.hidden.at(0, i, c)};
      dU.at(0, i, c) =
          saturate(double{dScores.at(0, i, 0)} * double{inputs.query->at(0, 0, c)} * (1.0 - u) * (1.0 + u));
    }
  }
  for (int c = 0; c < g.b.cols(); ++c) {
    double sum = 0.0;
    for (int i = 0; i < h.rows(); ++i) sum += double{dU.at(0, i, c)};
    g.b.at(0, 0, c) = saturate(sum);
  }
  products.aTb(matrixOf(h), matrixOf(dU), g.w.data(), g.w.cols());
  Tensor more(1, h.rows(), h.cols());
  products.abT(matrixOf(dU), matrixOf(*inputs.w), more.data(), more.cols());
  addTo(dH, more);
}

}  // namespace

void backwardHierarchy(const HierarchyInputs& in, const HierarchyTrace& trace, const Tensor& dSum,
                       HierarchyGradients& g, Products& products) {
  const Tensor& sums = trace.tokens.sums;
  const int tokens = in.h->rows(), segments = sums.rows();
  Tensor dSums(1, segments, sums.cols()), dSegments(1, segments, 1), dTokens(1, tokens, 1);
  shapeLike(in.h, g.h);
  const LevelPass ofSegments{sums, in.segments, trace.segments}, ofTokens{*in.h, in.tokens, trace.tokens};
  throughSum(ofSegments, 0, segments, dSum.data(), dSums, dSegments);
  throughScores(ofSegments, dSegments, dSums, g.segments, products);
  for (int s = 0; s < segments; ++s) {
    const auto next = static_cast<std::size_t>(s) + 1;
    const int begin = in.starts[next - 1], end = next < in.starts.size() ? in.starts[next] : tokens;
    throughSum(ofTokens, begin, end, dSums.row(0, s), g.h, dTokens);
  }
  throughScores(ofTokens, dTokens, g.h, g.tokens, products);
}

}  // namespace attention
