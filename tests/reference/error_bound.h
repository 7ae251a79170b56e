// How far the fast layer may be from the reference: what rounding to float32 can come to, step by step.
#pragma once

#include "attention/reference/reference.h"

namespace attention {

inline constexpr double kFloatEpsilon = 0x1p-23;  ///< the distance from 1 to the next float

/// Bound on |float32 Trace − reference| for any cell of the tensor `id`. The largest error measured is 0.7 of
/// it (tests/unit/test_mechanisms.cpp). With eps = 2^-23, d = headDim, m = modelDim, T = temperature, n =
/// keyCount, "largest" the largest magnitude of the tensor but at least 1, S = max(1, largest |score| / T),
/// and c = 4 for projected and rotary layers (whose Q and K are rounded), otherwise 1:
///   positions, x_positioned   2·eps·largest
///   q, k, v                0 when given, 8·eps·√m·largest when projected; rotated: twice that + 4·eps·largest
///   raw, scores            dot, scaled and general: c·8·eps·√d·largest; additive: c·8·eps·√d·the largest Σ|v_a|;
///                          cosine: c·8·eps·√d, when projected times the largest |q| or |k| / the smallest
///   softcapped             the bound of scores + 4·eps·largest; biased, masked: the bound of the step before + 2·eps·largest
///   row_max                the bound of masked / T + eps·largest
///   exponentials, weights  softmax: c·4e-7·S, + the bound of masked / T where the score is not a plain dot product;
///                          row_sum: that · its largest. With e = the bound of masked / T + 2·eps·S, sparsemax and entmax: 2·e;
///                          sigmoid: e / 4 + 4e-7; relu and none: e; hardmax: 0, or 1 where two scores of a row are so
///                          close that either may be the largest
///   head_output, concat    softmax: the bound of weights · largest |v| + the bound of v; other normalisers:
///                          √n·(the bound of weights + 8·eps·largest |weight|)·largest |v| + the bound of v · the
///                          largest Σ|weight|
///   output                 with W_O: 8·eps·√(H·d_v)·largest + the error of concat multiplied by W_O
double errorBound(const Spec& spec, const Inputs& inputs, const ReferenceTrace& exact, TensorId id);

}  // namespace attention
