// The steps of the layer, each for a block of rows or columns, composed of the row operations of kernels.h.
// forward() uses the projections and the last steps from here; Engine uses them to recompute exactly what an
// edit affects. None allocates memory, except for the draws of a random pattern.
#pragma once

#include "attention/layer/trace.h"

namespace attention {

/// Half-open range of rows, columns, queries or keys.
struct Span {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  bool empty() const { return end <= begin; }
  bool operator==(const Span&) const = default;
};

/// The float nearest to a real number, or the largest float of its sign if that is out of range. Everything
/// that a layer computes saturates at ±FLT_MAX instead of becoming infinite, so that no NaN can follow;
/// products that large become equal.
float saturate(double value);

/// The key head that query head `head` reads.
int kvHeadOf(const Spec& spec, int head);

/// Gives every tensor of the trace the shape that the layer needs. The numbers are not set. With `pairs`,
/// tensors of pairs are not stored: it makes their rows, and knows them by their TensorId. `isOfRows`: nor is
/// anything else that takes a row of them.
void shapeTrace(const Spec& spec, const Inputs& inputs, Trace& trace, RowSource* pairs = nullptr,
                bool isOfRows = false);

/// What Q, and what K and V, are projected from: x or x_kv, with positions added where they are.
const Tensor* queryRows(const Inputs& inputs, const Trace& trace);
const Tensor* keyRows(const Inputs& inputs, const Trace& trace);
/// What V is projected from: x_v, or the same as K.
inline const Tensor* valueRows(const Inputs& inputs, const Trace& trace) {
  return inputs.xV ? inputs.xV : keyRows(inputs, trace);
}

/// Compute Q, K, V: copied, or X times weights, plus the bias. `rows` are rows of Q (of K, of V), `cols`
/// columns of one head.
void makeQueries(const Inputs& inputs, int head, Span rows, Span cols, Trace& trace);
void makeKeys(const Inputs& inputs, int kvHead, Span rows, Span cols, Trace& trace);
void makeValues(const Inputs& inputs, int kvHead, Span rows, Span cols, Trace& trace);

/// Adds columns [first, first + count) of a bias, if there is one, to `rows` rows of numbers that are
/// `stride` floats apart.
void addBias(const Tensor* bias, int first, int rows, int count, float* to, int stride);

/// raw = Q Kᵀ for a block of queries and keys of a plain layer. A column (one key) is as fast as a row.
void makeRaw(const Spec& spec, int head, Span queries, Span keys, Trace& trace);
/// scores = raw · scaleFactor.
void makeScores(const Spec& spec, int head, Span queries, Span keys, Trace& trace);
/// The steps between the scale and the mask that the layer has (ScoreStep::make), for whole rows.
void makeScoreSteps(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
/// softcapped = c·tanh(scores / c), and biased = the step before it - slope·distance + bias.
void makeSoftcapped(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
double slopeOfSoftcap(const Spec& spec, double capped);
void makeBiased(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
/// masked = the step before it, or -inf where the query may not see the key.
void makeMasked(const Spec& spec, const PaintedMask* painted, int head, Span queries, Span keys,
                Trace& trace);
/// row_max, exponentials, row_sum and weights of whole rows; only weights where the normaliser is not
/// softmax.
void makeWeights(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
/// The named mistake (Spec::maskAfterSoftmax): sets weights to 0 where the query may not see the key.
void maskWeights(const Spec& spec, const PaintedMask* painted, int head, Span queries, Trace& trace);
/// head_output = weights · V, for whole rows.
void makeHeadOutput(const Spec& spec, int head, Span queries, Trace& trace);
/// concat from head_output, for whole rows of one head; zeros where the head is hidden.
void makeConcat(const Spec& spec, int head, Span queries, Trace& trace);
/// output from concat: a copy, or concat · W_O + b_O.
void makeOutput(const Inputs& inputs, Span queries, Span cols, Trace& trace);

}  // namespace attention
