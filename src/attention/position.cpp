#include "attention/position.h"

#include <algorithm>
#include <cmath>

#include "attention/steps.h"

namespace attention {
namespace {

/// What a position is multiplied by for a pair of columns: 10000^(-2·pair/width), both in Vaswani et al. and Su et al.
double frequency(int pair, int width) { return std::pow(10000.0, -2.0 * pair / width); }

void addTo(const Tensor& x, const Tensor& positions, int first, Tensor& out) {
  for (int i = 0; i < x.rows(); ++i) {
    const float *row = x.row(0, i), *position = positions.row(0, first + i);
    float* to = out.row(0, i);
    for (int c = 0; c < x.cols(); ++c) to[c] = saturate(double{row[c]} + double{position[c]});
  }
}

/// The rows of every head, turned pair by pair: row i by the angles of position first + i.
void turn(const Tensor& from, const Tensor& cosines, const Tensor& sines, int first, Tensor& out) {
  for (int h = 0; h < from.heads(); ++h) {
    for (int i = 0; i < from.rows(); ++i) {
      const float *a = from.row(h, i), *cosine = cosines.row(0, first + i), *sine = sines.row(0, first + i);
      float* to = out.row(h, i);
      for (int p = 0; p < cosines.cols(); ++p) {
        const double x = double{a[2 * p]}, y = double{a[2 * p + 1]}, c = double{cosine[p]}, s = double{sine[p]};
        to[2 * p] = saturate(x * c - y * s);
        to[2 * p + 1] = saturate(x * s + y * c);
      }
    }
  }
}

}  // namespace

void shapePositions(const Spec& spec, const Inputs& in, Trace& trace) {
  for (Tensor* t : {&trace.positions, &trace.xPositioned, &trace.xKvPositioned, &trace.qRotated, &trace.kRotated}) {
    t->reshape(0, 0, 0);
  }
  if (isRotary(spec)) {
    trace.positions.reshape(1, std::max(spec.queryCount + spec.causalOffset, spec.keyCount), spec.headDim / 2);
    trace.qRotated.reshape(spec.heads, spec.queryCount, spec.headDim);
    trace.kRotated.reshape(spec.kvHeads, spec.keyCount, spec.headDim);
  }
  if (spec.position != Position::sinusoidal) return;
  const int count = std::max(spec.queryCount + firstPosition(spec, in), spec.keyCount);
  trace.positions.reshape(1, count, in.x->cols());
  trace.xPositioned.reshape(1, spec.queryCount, in.x->cols());
  if (in.xKv) trace.xKvPositioned.reshape(1, spec.keyCount, in.x->cols());
}

void addPositions(const Spec& spec, const Inputs& in, Trace& trace) {
  if (spec.position != Position::sinusoidal) return;
  Tensor& table = trace.positions;
  for (int c = 0; c < table.cols(); ++c) {
    const double step = frequency(c / 2, table.cols());
    for (int i = 0; i < table.rows(); ++i) {
      table.at(0, i, c) = static_cast<float>(c % 2 == 0 ? std::sin(i * step) : std::cos(i * step));
    }
  }
  addTo(*in.x, table, firstPosition(spec, in), trace.xPositioned);
  if (in.xKv) addTo(*in.xKv, table, 0, trace.xKvPositioned);
}

void rotate(const Spec& spec, Trace& trace) {
  if (!isRotary(spec)) return;
  Tensor& angles = trace.positions;
  Tensor cosines(1, angles.rows(), angles.cols()), sines = cosines;
  for (int p = 0; p < angles.cols(); ++p) {
    const double step = frequency(p, spec.headDim);
    for (int i = 0; i < angles.rows(); ++i) {  // of the double: a float angle of a thousand is off by 3e-5
      angles.at(0, i, p) = static_cast<float>(i * step);
      cosines.at(0, i, p) = static_cast<float>(std::cos(i * step));
      sines.at(0, i, p) = static_cast<float>(std::sin(i * step));
    }
  }
  turn(trace.q, cosines, sines, spec.causalOffset, trace.qRotated);
  turn(trace.k, cosines, sines, 0, trace.kRotated);
}

float slopeOf(const Spec& spec, int head) {
  return static_cast<float>(std::exp2(-8.0 * (head + 1) / spec.heads));
}

}  // namespace attention
