#include "attention/models/recurrent.h"

#include <algorithm>
#include <cassert>
#include <cmath>

#include "attention/layer/checks.h"
#include "attention/layer/spec.h"
#include "attention/steps/steps.h"

namespace attention {
namespace {

using base::Result;

double sigmoid(double z) { return 1.0 / (1.0 + std::exp(-z)); }

float startOf(const Tensor* given, int unit) { return given ? given->at(0, 0, unit) : 0.0f; }

/// h_{t−1} for every token: the states shifted by one row.
Tensor before(const RecurrentInputs& in, const Tensor& states) {
  Tensor out(1, states.rows(), states.cols());
  for (int c = 0; c < out.cols(); ++c) out.at(0, 0, c) = startOf(in.h0, c);
  for (int t = 1; t < out.rows(); ++t) std::copy_n(states.row(0, t - 1), out.cols(), out.row(0, t));
  return out;
}

/// ∂L/∂z_t from ∂L/∂h_t, and for an LSTM also from ∂L/∂c_t, which is replaced by ∂L/∂c_{t−1}.
void throughCell(const RecurrentInputs& in, const RecurrentTrace& trace, int t, const double* dH, double* dC,
                 float* dZ) {
  const int units = trace.states.cols();
  for (int n = 0; n < units; ++n) {
    const double h = double{trace.states.at(0, t, n)};
    if (in.cell == CellKind::tanh) {
      dZ[n] = saturate(dH[n] * (1.0 - h) * (1.0 + h));
      continue;
    }
    const float* gates = trace.gates.row(0, t);
    const double i = double{gates[n]}, f = double{gates[units + n]}, g = double{gates[2 * units + n]},
                 o = double{gates[3 * units + n]};
    const double c = std::tanh(double{trace.memory.at(0, t, n)}),
                 last = double{t > 0 ? trace.memory.at(0, t - 1, n) : startOf(in.c0, n)};
    const double d = dC[n] + dH[n] * o * (1.0 - c) * (1.0 + c);
    dZ[n] = saturate(d * g * i * (1.0 - i));
    dZ[units + n] = saturate(d * last * f * (1.0 - f));
    dZ[2 * units + n] = saturate(d * i * (1.0 - g) * (1.0 + g));
    dZ[3 * units + n] = saturate(dH[n] * c * o * (1.0 - o));
    dC[n] = d * f;
  }
}

}  // namespace

Result<void> validate(const RecurrentInputs& in) {
  const int units = in.u ? in.u->rows() : 1, width = in.x ? in.x->cols() : 1,
            tokens = in.x ? in.x->rows() : 1, parts = partsOf(in.cell);
  if (auto ok = checks::checkSize("tokens", tokens, Limits::modelTokens); !ok) return ok;
  if (auto ok = checks::checkSize("width", width, Limits::modelDim); !ok) return ok;
  if (auto ok = checks::checkSize("units", units, RecurrentLimits::units); !ok) return ok;
  if (auto ok = checks::checkTensors({{"x", in.x, {1, tokens, width}},
                                      {"w", in.w, {1, width, parts * units}},
                                      {"u", in.u, {1, units, parts * units}}});
      !ok) {
    return ok;
  }
  if (auto ok = checks::checkOptional("b", in.b, parts * units); !ok) return ok;
  if (auto ok = checks::checkOptional("h0", in.h0, units); !ok) return ok;
  return checks::checkOptional("c0", in.c0, units);
}

void forwardRecurrent(const RecurrentInputs& in, RecurrentTrace& trace, Products& products) {
  assert(validate(in));
  const int tokens = in.x->rows(), units = in.u->rows(), parts = partsOf(in.cell);
  const bool isLstm = in.cell == CellKind::lstm;
  trace.states.reshape(1, tokens, units);
  trace.gates.reshape(isLstm ? 1 : 0, isLstm ? tokens : 0, isLstm ? 4 * units : 0);
  trace.memory.reshape(isLstm ? 1 : 0, isLstm ? tokens : 0, isLstm ? units : 0);
  Tensor fromX(1, tokens, parts * units), fromH(1, 1, parts * units), start(1, 1, units);
  products.ab(matrixOf(*in.x), matrixOf(*in.w), fromX.data(),
              fromX.cols());  // for all tokens at once; only the recurrent part is sequential
  for (int n = 0; n < units; ++n) start.at(0, 0, n) = startOf(in.h0, n);
  for (int t = 0; t < tokens; ++t) {
    const float* last = t > 0 ? trace.states.row(0, t - 1) : start.data();
    kernels::weightedSum(kernels::best(), last, in.u->data(), in.u->cols(), units, in.u->cols(),
                         fromH.data());
    const auto z = [&](int n) {
      return double{fromX.at(0, t, n)} + double{fromH.data()[n]} + (in.b ? double{in.b->at(0, 0, n)} : 0.0);
    };
    for (int n = 0; n < units; ++n) {
      if (!isLstm) {
        trace.states.at(0, t, n) = saturate(std::tanh(z(n)));
        continue;
      }
      const double i = sigmoid(z(n)), f = sigmoid(z(units + n)), g = std::tanh(z(2 * units + n)),
                   o = sigmoid(z(3 * units + n));
      float* gates = trace.gates.row(0, t);
      gates[n] = saturate(i), gates[units + n] = saturate(f), gates[2 * units + n] = saturate(g),
      gates[3 * units + n] = saturate(o);
      const double c = f * double{t > 0 ? trace.memory.at(0, t - 1, n) : startOf(in.c0, n)} + i * g;
      trace.memory.at(0, t, n) = saturate(c);
      trace.states.at(0, t, n) = saturate(o * std::tanh(c));
    }
  }
}

void backwardRecurrent(const RecurrentInputs& in, const RecurrentTrace& trace, const Tensor& dStates,
                       RecurrentGradients& g, Products& products) {
  const int tokens = in.x->rows(), units = in.u->rows(), columns = partsOf(in.cell) * units;
  shapeLike(in.x, g.x), shapeLike(in.w, g.w), shapeLike(in.u, g.u), shapeLike(in.b, g.b),
      shapeLike(in.h0, g.h0), shapeLike(in.c0, g.c0);
  shapeLike(&trace.states, g.states);
  Tensor dZ(1, tokens, columns), back(1, 1, units);
  std::vector<double> dH(static_cast<std::size_t>(units)), dC(static_cast<std::size_t>(units));
  for (int t = tokens; t-- > 0;) {
    for (int n = 0; n < units; ++n) {
      dH[static_cast<std::size_t>(n)] = double{dStates.at(0, t, n)} + double{back.data()[n]};
      g.states.at(0, t, n) = saturate(dH[static_cast<std::size_t>(n)]);
    }
    throughCell(in, trace, t, dH.data(), dC.data(), dZ.row(0, t));
    kernels::dots(kernels::best(), dZ.row(0, t), in.u->data(), columns, units, columns, back.data(), 1);
  }
  if (!g.h0.empty()) g.h0 = back;
  for (int n = 0; n < units && !g.c0.empty(); ++n)
    g.c0.at(0, 0, n) = saturate(dC[static_cast<std::size_t>(n)]);
  for (int c = 0; c < g.b.cols(); ++c) {
    double sum = 0.0;
    for (int t = 0; t < tokens; ++t) sum += double{dZ.at(0, t, c)};
    g.b.at(0, 0, c) = saturate(sum);
  }
  products.aTb(matrixOf(*in.x), matrixOf(dZ), g.w.data(), columns);
  products.aTb(matrixOf(before(in, trace.states)), matrixOf(dZ), g.u.data(), columns);
  products.abT(matrixOf(dZ), matrixOf(*in.w), g.x.data(), g.x.cols());
}

}  // namespace attention
