// The models around the layer, written to be read, in double, with their gradients by reverse-mode
// differentiation (Griewank and Walther 2008, chapter 3): computations with Real are recorded, and
// Tape::gradients goes through the record backwards. Each model is a template of the number type: with double
// it is the forward pass alone, used for central differences. Shares no code with the fast versions; only
// tests should use it.
#pragma once

#include <cmath>
#include <vector>

#include "attention/layer/tensor.h"
#include "attention/models/recurrent.h"

namespace attention::tape {

class Tape;

/// A number and its index on a tape; -1 for a constant.
struct Real {
  double value = 0.0;
  int place = -1;
  Tape* tape = nullptr;
  Real() = default;
  Real(double constant) : value(constant) {}
  Real(double v, int p, Tape* t) : value(v), place(p), tape(t) {}
};

/// Records what each number was computed from: at most two others, with the derivatives with respect to them.
class Tape {
 public:
  Real input(double value) { return note(value, {}, 0.0, {}, 0.0); }
  Real note(double value, const Real& a, double byA, const Real& b, double byB) {
    entries_.push_back({a.place, b.place, byA, byB});
    return {value, static_cast<int>(entries_.size()) - 1, this};
  }
  /// ∂of/∂number for every number on the tape, by index.
  std::vector<double> gradients(const Real& of) const {
    std::vector<double> g(entries_.size());
    if (of.place >= 0) g[static_cast<std::size_t>(of.place)] = 1.0;
    for (std::size_t i = g.size(); i-- > 0;) {
      const Entry& e = entries_[i];
      if (e.a >= 0) g[static_cast<std::size_t>(e.a)] += e.byA * g[i];
      if (e.b >= 0) g[static_cast<std::size_t>(e.b)] += e.byB * g[i];
    }
    return g;
  }

 private:
  struct Entry {
    int a, b;
    double byA, byB;
  };
  std::vector<Entry> entries_;
};

inline Real made(double value, const Real& a, double byA, const Real& b = {}, double byB = 0.0) {
  Tape* tape = a.tape ? a.tape : b.tape;
  return tape ? tape->note(value, a, byA, b, byB) : Real(value);
}
inline Real operator+(const Real& a, const Real& b) { return made(a.value + b.value, a, 1.0, b, 1.0); }
inline Real operator-(const Real& a, const Real& b) { return made(a.value - b.value, a, 1.0, b, -1.0); }
inline Real operator*(const Real& a, const Real& b) {
  return made(a.value * b.value, a, b.value, b, a.value);
}
inline Real operator/(const Real& a, const Real& b) {
  return made(a.value / b.value, a, 1.0 / b.value, b, -a.value / (b.value * b.value));
}
inline Real sqrt(const Real& a) { return made(std::sqrt(a.value), a, 0.5 / std::sqrt(a.value)); }
inline Real exp(const Real& a) { return made(std::exp(a.value), a, std::exp(a.value)); }
inline Real tanh(const Real& a) {
  return made(std::tanh(a.value), a, 1.0 - std::tanh(a.value) * std::tanh(a.value));
}
inline Real erf(const Real& a) {
  return made(std::erf(a.value), a, 2.0 / std::sqrt(M_PI) * std::exp(-a.value * a.value));
}
inline Real relu(const Real& a) { return a.value > 0.0 ? a : made(0.0, a, 0.0); }
inline double relu(double a) { return a > 0.0 ? a : 0.0; }

using std::erf;
using std::exp;
using std::sqrt;
using std::tanh;

template <class N>
using Row = std::vector<N>;
template <class N>
using Rows = std::vector<Row<N>>;

/// x · w + b; b may be empty.
template <class N>
Rows<N> connected(const Rows<N>& x, const Rows<N>& w, const Rows<N>& b) {
  Rows<N> out;
  for (const Row<N>& row : x) {
    Row<N> sums(w[0].size());
    for (std::size_t c = 0; c < sums.size(); ++c) {
      if (!b.empty()) sums[c] = b[0][c];
      for (std::size_t i = 0; i < row.size(); ++i) sums[c] = sums[c] + row[i] * w[i][c];
    }
    out.push_back(sums);
  }
  return out;
}

template <class N>
Rows<N> sum(Rows<N> a, const Rows<N>& b) {
  for (std::size_t r = 0; r < a.size(); ++r) {
    for (std::size_t c = 0; c < a[r].size(); ++c) a[r][c] = a[r][c] + b[r][c];
  }
  return a;
}

/// γ·(z − mean)/√(variance + ε) + δ.
template <class N>
Rows<N> normalised(const Rows<N>& x, const Rows<N>& gamma, const Rows<N>& delta, double epsilon) {
  Rows<N> out = x;
  for (Row<N>& row : out) {
    const N count = static_cast<double>(row.size());
    N mean = 0.0, variance = 0.0;
    for (const N& v : row) mean = mean + v / count;
    for (const N& v : row) variance = variance + (v - mean) * (v - mean) / count;
    const N deviation = sqrt(variance + N(epsilon));
    for (std::size_t c = 0; c < row.size(); ++c) {
      row[c] = (row[c] - mean) / deviation;
      if (!gamma.empty()) row[c] = row[c] * gamma[0][c];
      if (!delta.empty()) row[c] = row[c] + delta[0][c];
    }
  }
  return out;
}

template <class N>
struct Recurrence {
  Rows<N> x, w, u, b, h0, c0;
};

template <class N>
N sigmoid(const N& a) {
  return N(1.0) / (N(1.0) + exp(N(0.0) - a));
}

/// Every h_t of a recurrent cell.
template <class N>
Rows<N> recurrentStates(CellKind cell, const Recurrence<N>& in) {
  const std::size_t units = in.u.size();
  Rows<N> states;
  Row<N> h = in.h0.empty() ? Row<N>(units, N(0.0)) : in.h0[0],
         c = in.c0.empty() ? Row<N>(units, N(0.0)) : in.c0[0];
  for (const Row<N>& x : in.x) {
    const Row<N> z = sum(connected<N>({x}, in.w, in.b), connected<N>({h}, in.u, {}))[0];
    for (std::size_t n = 0; n < units; ++n) {
      if (cell == CellKind::tanh) {
        h[n] = tanh(z[n]);
        continue;
      }
      const N input = sigmoid(z[n]), forget = sigmoid(z[units + n]), candidate = tanh(z[2 * units + n]),
              output = sigmoid(z[3 * units + n]);
      c[n] = forget * c[n] + input * candidate;
      h[n] = output * tanh(c[n]);
    }
    states.push_back(h);
  }
  return states;
}

}  // namespace attention::tape
