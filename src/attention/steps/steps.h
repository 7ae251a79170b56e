// The steps of the layer, each for a block of rows or columns, made of the row operations of kernels.h. forward() takes
// the projections and the end from here; Engine redoes with them exactly what an edit touches. None allocates memory, but
// for the draws of a random pattern.
#pragma once

#include "attention/layer/trace.h"

namespace attention {

/// Half-open range of rows, columns, queries or keys.
struct Span {
  int begin = 0, end = 0;
  int size() const { return end - begin; }
  bool empty() const { return end <= begin; }
};

/// The float nearest to a real number, or the largest of its sign where it is beyond float. What a layer computes
/// saturates at ±FLT_MAX instead of becoming infinite: products that large tie, and no NaN can follow.
float saturate(double value);

/// The key head that query head `head` reads.
int kvHeadOf(const Spec& spec, int head);

/// Gives every tensor of the trace the shape that the layer asks for.
void shapeTrace(const Spec& spec, const Inputs& inputs, Trace& trace);

/// What Q, and what K and V, are projected from: x or x_kv, with their positions where they are added.
const Tensor* queryRows(const Inputs& inputs, const Trace& trace);
const Tensor* keyRows(const Inputs& inputs, const Trace& trace);
/// What V is projected from: x_v, or what K is.
inline const Tensor* valueRows(const Inputs& inputs, const Trace& trace) { return inputs.xV ? inputs.xV : keyRows(inputs, trace); }

/// Q, K, V: copied, or X times its weights, with their bias. Rows are of Q (of K, of V), columns of one head of it.
void makeQueries(const Inputs& inputs, int head, Span rows, Span cols, Trace& trace);
void makeKeys(const Inputs& inputs, int kvHead, Span rows, Span cols, Trace& trace);
void makeValues(const Inputs& inputs, int kvHead, Span rows, Span cols, Trace& trace);

/// Adds columns [first, first + count) of a bias, where there is one, to rows of numbers `stride` floats apart.
void addBias(const Tensor* bias, int first, int rows, int count, float* to, int stride);

/// raw = Q Kᵀ for a block of queries and keys of a plain layer. One key is a column, and as fast as a row.
void makeRaw(const Spec& spec, int head, Span queries, Span keys, Trace& trace);
/// scores = raw · scaleFactor.
void makeScores(const Spec& spec, int head, Span queries, Span keys, Trace& trace);
/// The steps between the scale and the mask that the layer has, of whole rows: those of ScoreStep::make.
void makeScoreSteps(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
/// softcapped = c·tanh(scores / c), and biased = what comes before it - slope·distance + bias.
void makeSoftcapped(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
double slopeOfSoftcap(const Spec& spec, double capped);
void makeBiased(const Spec& spec, const Inputs& inputs, int head, Span queries, Trace& trace);
/// masked = the step before it, or -inf where the key may not be seen.
void makeMasked(const Spec& spec, const PaintedMask* painted, int head, Span queries, Span keys, Trace& trace);
/// row_max, exponentials, row_sum, weights of whole rows; weights alone where the normaliser is not softmax.
void makeWeights(const Spec& spec, int head, Span queries, Trace& trace);
/// The named mistake (Spec::maskAfterSoftmax): weights become 0 where the key may not be seen.
void maskWeights(const Spec& spec, const PaintedMask* painted, int head, Span queries, Trace& trace);
/// head_output = weights · V of whole rows.
void makeHeadOutput(const Spec& spec, int head, Span queries, Trace& trace);
/// concat from head_output, whole rows of one head; zeros where the head is hidden.
void makeConcat(const Spec& spec, int head, Span queries, Trace& trace);
/// output from concat: a copy, or concat · W_O + b_O.
void makeOutput(const Inputs& inputs, Span queries, Span cols, Trace& trace);

}  // namespace attention
