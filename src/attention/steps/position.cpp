#include "attention/steps/position.h"

#include <algorithm>
#include <cmath>

#include "attention/steps/steps.h"

namespace attention {
namespace {

/// The frequency of a pair of columns: base^(-2·pair/width), where Vaswani et al. and Su et al. both use base
/// 10000.
double frequency(int pair, int width, double base = 10000.0) { return std::pow(base, -2.0 * pair / width); }

/// The columns of a pair: pair·step, and `apart` columns further on.
struct PairLayout {
  int step, apart;
  explicit PairLayout(const Spec& spec) : step(2), apart(1) {
    if (spec.rotary.pairs == RotaryPairs::half) step = 1, apart = rotatedColumns(spec) / 2;
  }
};

void addTo(const Tensor& x, const Tensor& positions, int first, Tensor& out) {
  for (int i = 0; i < x.rows(); ++i) {
    const float *row = x.row(0, i), *position = positions.row(0, first + i);
    float* to = out.row(0, i);
    for (int c = 0; c < x.cols(); ++c) to[c] = saturate(double{row[c]} + double{position[c]});
  }
}

}  // namespace

int positionId(const Spec& spec, int index) {
  const int given = static_cast<int>(spec.positionIds.size());
  if (given == 0) return index;
  return index < given ? spec.positionIds[static_cast<std::size_t>(index)]
                       : spec.positionIds.back() + index - given + 1;
}

double rotaryBase(const Spec& spec) {
  const double base = double{spec.rotary.base}, factor = double{spec.rotary.factor};
  const int r = rotatedColumns(spec);
  if (spec.rotary.scaling != RotaryScaling::ntk || r <= 2)
    return base;  // a single pair rotates by 1 radian per position, whatever the base
  return base * std::pow(factor, static_cast<double>(r) / (r - 2));
}

double rotarySpeed(const Spec& spec, int pair) {
  const double speed = frequency(pair, rotatedColumns(spec), rotaryBase(spec));
  return spec.rotary.scaling == RotaryScaling::linear ? speed / double{spec.rotary.factor} : speed;
}

std::pair<int, int> columnsOfPair(const Spec& spec, int pair) {
  const PairLayout pairs(spec);
  return {pair * pairs.step, pair * pairs.step + pairs.apart};
}

int pairOfColumn(const Spec& spec, int column) {
  const int r = rotatedColumns(spec);
  if (column >= r) return -1;
  return spec.rotary.pairs == RotaryPairs::half ? column % (r / 2) : column / 2;
}

void addPositions(const Spec& spec, const Inputs& in, Trace& trace) {
  if (spec.position != Position::sinusoidal) return;
  Tensor& table = trace.positions;
  for (int c = 0; c < table.cols(); ++c) {
    const double step = frequency(c / 2, table.cols());
    for (int i = 0; i < table.rows(); ++i) {
      const double angle = positionId(spec, i) * step;
      table.at(0, i, c) = static_cast<float>(c % 2 == 0 ? std::sin(angle) : std::cos(angle));
    }
  }
  addTo(*in.x, table, firstPosition(spec, in), trace.xPositioned);
  if (in.xKv) addTo(*in.xKv, table, 0, trace.xKvPositioned);
}

void makeRotation(const Spec& spec, Trace& trace, Rotation& out) {
  if (!isRotary(spec)) return;
  Tensor& angles = trace.positions;
  for (Tensor* t : {&out.cosines, &out.sines}) t->reshapeUnwritten(1, angles.rows(), angles.cols());
  for (int p = 0; p < angles.cols(); ++p) {
    const double step = rotarySpeed(spec, p);
    for (int i = 0; i < angles.rows();
         ++i) {  // sine and cosine of the double: a float angle near 1000 would be off by 3e-5
      const double angle = positionId(spec, i) * step;
      angles.at(0, i, p) = static_cast<float>(angle);
      out.cosines.at(0, i, p) = static_cast<float>(std::cos(angle));
      out.sines.at(0, i, p) = static_cast<float>(std::sin(angle));
    }
  }
}

void rotate(const Spec& spec, const Rotation& by, const Tensor& from, int head, int first, Tensor& out) {
  const PairLayout pairs(spec);
  const int turned = by.cosines.cols();
  for (int i = 0; i < from.rows(); ++i) {
    const float *a = from.row(head, i), *cosine = by.cosines.row(0, first + i),
                *sine = by.sines.row(0, first + i);
    float* to = out.row(head, i);
    for (int p = 0; p < turned; ++p) {
      const int one = p * pairs.step, two = one + pairs.apart;
      const double x = double{a[one]}, y = double{a[two]}, c = double{cosine[p]}, s = double{sine[p]};
      to[one] = saturate(x * c - y * s);
      to[two] = saturate(x * s + y * c);
    }
    std::copy(a + 2 * turned, a + from.cols(), to + 2 * turned);
  }
}

void rotateBackward(const Spec& spec, int first, const Tensor& from, Tensor& to) {
  const int turned = rotatedColumns(spec);
  for (int p = 0; p < turned / 2; ++p) {
    const double step = rotarySpeed(spec, p);
    const auto [one, two] = columnsOfPair(spec, p);
    for (int i = 0; i < from.rows(); ++i) {
      const double angle = positionId(spec, first + i) * step, c = std::cos(angle), s = std::sin(angle);
      for (int h = 0; h < from.heads(); ++h) {
        const float* d = from.row(h, i);
        float* out = to.row(h, i);
        const double x = double{d[one]}, y = double{d[two]};
        out[one] = saturate(double{out[one]} + x * c + y * s);
        out[two] = saturate(double{out[two]} + y * c - x * s);
      }
    }
  }
  for (int h = 0; h < from.heads(); ++h)
    for (int i = 0; i < from.rows(); ++i)
      for (int c = turned; c < from.cols(); ++c)
        to.at(h, i, c) = saturate(double{to.at(h, i, c)} + double{from.at(h, i, c)});
}

float slopeOf(const Spec& spec, int head) {
  int power = 1;
  while (2 * power <= spec.heads) power *= 2;
  const double step = head < power ? head + 1.0 : head - power + 0.5;
  return static_cast<float>(std::exp2(-8.0 * step / power));
}

}  // namespace attention
