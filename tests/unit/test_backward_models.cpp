// The backward pass of recurrent cells, compared with a double version on a tape (reference/tape.h), which is
// itself checked with central differences.
#include <doctest/doctest.h>

#include "layer.h"
#include "reference/tape.h"

using namespace attention;
using test::Random;

namespace {

/// The largest error of float gradients, relative to the larger of 1 and the largest gradient of the tensor.
constexpr double kWithin = 1e-5;
constexpr double kStep = 1e-5;

template <class N>
using Numbers = tape::Rows<N>;

/// One tensor of a model: its numbers, and the gradient from the fast version.
struct Part {
  const Tensor* input;
  const Tensor* gradient;
};

Numbers<double> inDouble(const Tensor* t) {
  Numbers<double> rows;
  for (int r = 0; t && r < t->rows(); ++r) rows.emplace_back(t->row(0, r), t->row(0, r) + t->cols());
  return rows;
}

/// The same numbers on a tape.
Numbers<tape::Real> onTape(const Tensor* t, tape::Tape& tape) {
  Numbers<tape::Real> out;
  for (const auto& row : inDouble(t)) {
    out.emplace_back();
    for (double v : row) out.back().push_back(tape.input(v));
  }
  return out;
}

/// `loss` takes all parts as rows of numbers of any number type. Compares the given gradients with those of
/// the tape, and those of the tape, at some cells, with central differences.
template <class Loss>
double compare(const std::vector<Part>& parts, Random& random, Loss loss) {
  tape::Tape tape;
  std::vector<Numbers<tape::Real>> numbers;
  for (const Part& part : parts) numbers.push_back(onTape(part.input, tape));
  const std::vector<double> gradients = tape.gradients(loss(numbers));
  double worst = 0.0;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (!parts[p].input) continue;
    REQUIRE(parts[p].gradient->sameShape(*parts[p].input));
    double most = 1.0;
    for (const auto& row : numbers[p]) {
      for (const tape::Real& n : row)
        most = std::max(most, std::abs(gradients[static_cast<std::size_t>(n.place)]));
    }
    for (std::size_t r = 0; r < numbers[p].size(); ++r) {
      for (std::size_t c = 0; c < numbers[p][r].size(); ++c) {
        const double exact = gradients[static_cast<std::size_t>(numbers[p][r][c].place)];
        const double off =
            std::abs(double{parts[p].gradient->at(0, static_cast<int>(r), static_cast<int>(c))} - exact) /
            most;
        worst = std::max(worst, std::isnan(off) ? 1.0 : off);
      }
    }
    std::vector<Numbers<double>> plain;
    for (const Part& part : parts) plain.push_back(inDouble(part.input));
    const auto r = static_cast<std::size_t>(random.below(parts[p].input->rows())),
               c = static_cast<std::size_t>(random.below(parts[p].input->cols()));
    double& cell = plain[p][r][c];
    const double before = cell, here = loss(plain);
    const double above = (cell = before + kStep, loss(plain)), below = (cell = before - kStep, loss(plain));
    if (std::abs(above - 2.0 * here + below) / kStep > 0.01 * most)
      continue;  // a kink of ReLU lies between them
    CHECK(std::abs((above - below) / (2.0 * kStep) -
                   gradients[static_cast<std::size_t>(numbers[p][r][c].place)]) <= 1e-6 * most);
  }
  return worst;
}

/// Σ gradient·number.
template <class N>
N total(const Numbers<N>& numbers, const Tensor& gradient) {
  N sum = 0.0;
  for (std::size_t r = 0; r < numbers.size(); ++r) {
    for (std::size_t c = 0; c < numbers[r].size(); ++c)
      sum = sum + numbers[r][c] * N(double{gradient.at(0, static_cast<int>(r), static_cast<int>(c))});
  }
  return sum;
}

Tensor filled(int rows, int cols, Random& random, float size = 1.0f) {
  Tensor t(1, rows, cols);
  test::fill(t, random, size);
  return t;
}

}  // namespace

TEST_CASE("backward models: recurrent cells, forward and through time") {
  Random random(4);
  double worst = 0.0, worstState = 0.0;
  Products products;
  for (CellKind cell : {CellKind::tanh, CellKind::lstm}) {
    for (int i = 0; i < 20; ++i) {
      CAPTURE(static_cast<int>(cell));
      CAPTURE(i);
      const int tokens = 1 + random.below(i == 5 ? 40 : 8), width = 1 + random.below(6),
                units = 1 + random.below(6), columns = partsOf(cell) * units;
      const Tensor x = filled(tokens, width, random), w = filled(width, columns, random, 0.5f),
                   u = filled(units, columns, random, 0.4f), b = filled(1, columns, random);
      const Tensor h0 = filled(1, units, random, 0.5f), c0 = filled(1, units, random, 0.5f);
      RecurrentInputs in{cell, &x, &w, &u, &b, nullptr, nullptr};
      if (i % 2) in.h0 = &h0;
      if (i % 2 && cell == CellKind::lstm) in.c0 = &c0;
      if (i % 3 == 0) in.b = nullptr;
      REQUIRE(validate(in));
      RecurrentTrace trace;
      forwardRecurrent(in, trace, products);
      const tape::Recurrence<double> exact{inDouble(&x),   inDouble(&w),    inDouble(&u),
                                           inDouble(in.b), inDouble(in.h0), inDouble(in.c0)};
      const Numbers<double> states = tape::recurrentStates(cell, exact);
      for (int t = 0; t < tokens; ++t) {
        for (int n = 0; n < units; ++n)
          worstState = std::max(worstState,
                                std::abs(double{trace.states.at(0, t, n)} -
                                         states[static_cast<std::size_t>(t)][static_cast<std::size_t>(n)]));
      }
      const Tensor upstream = filled(tokens, units, random);
      RecurrentGradients g;
      backwardRecurrent(in, trace, upstream, g, products);
      const auto loss = [&](const auto& p) {
        using N = std::decay_t<decltype(p[0][0][0])>;
        return total(tape::recurrentStates(cell, tape::Recurrence<N>{p[0], p[1], p[2], p[3], p[4], p[5]}),
                     upstream);
      };
      worst = std::max(
          worst, compare({{&x, &g.x}, {&w, &g.w}, {&u, &g.u}, {in.b, &g.b}, {in.h0, &g.h0}, {in.c0, &g.c0}},
                         random, loss));
    }
  }
  CHECK(worst <= kWithin);
  CHECK(worstState <= 1e-5);
  MESSAGE("gradients ", worst, ", states ", worstState);
}

TEST_CASE("backward models: a recurrent network is refused by the field that does not fit") {
  const Tensor x(1, 3, 2), w(1, 2, 4), u(1, 4, 4), narrow(1, 4, 3);
  RecurrentInputs in{CellKind::tanh, &x, &w, &u, nullptr, nullptr, nullptr};
  CHECK(validate(in));
  in.u = &narrow;
  CHECK(validate(in).error().field == "u.shape");
  in.u = &u, in.cell = CellKind::lstm;
  CHECK(validate(in).error().field == "w.shape");
}
