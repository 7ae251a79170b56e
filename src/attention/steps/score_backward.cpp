#include "attention/steps/score_backward.h"

#include <cmath>

#include "attention/steps/steps.h"

namespace attention {
namespace {

/// Adds a tensor with one head to head `head` of another.
void addHead(const Tensor& from, int head, Tensor* to) {
  if (!to || from.empty()) return;
  float* out = to->head(head);
  for (std::size_t i = 0; i < from.size(); ++i) out[i] = saturatingSum(out[i], from.data()[i]);
}

/// Divides rows by their norm, and returns the norms; a row of zeros is left as it is, with norm 0.
void normalised(const Matrix& rows, Tensor& out, std::vector<double>& lengths) {
  out.reshape(1, rows.rows, rows.cols);
  lengths.assign(static_cast<std::size_t>(rows.rows), 0.0);
  for (int i = 0; i < rows.rows; ++i) {
    const float* row = rows.data + i * rows.stride;
    double squares = 0.0;
    for (int c = 0; c < rows.cols; ++c) squares += double{row[c]} * double{row[c]};
    const double length = lengths[static_cast<std::size_t>(i)] = std::sqrt(squares);
    for (int c = 0; c < rows.cols; ++c) out.at(0, i, c) = length > 0.0 ? static_cast<float>(double{row[c]} / length) : 0.0f;
  }
}

/// d = (d − along·unit) / length for every row: the gradient of the vector from that of its direction.
void withoutLength(const Tensor& unit, const std::vector<double>& lengths, const std::vector<double>& along, Tensor& d) {
  for (int i = 0; i < d.rows(); ++i) {
    const auto at = static_cast<std::size_t>(i);
    for (int c = 0; c < d.cols(); ++c) {
      const double rest = double{d.at(0, i, c)} - along[at] * double{unit.at(0, i, c)};
      d.at(0, i, c) = lengths[at] > 0.0 ? saturate(rest / lengths[at]) : 0.0f;
    }
  }
}

}  // namespace

void ScoreBackward::add(const Spec& spec, const Inputs& in, const Trace& trace, int head, const Tensor& dRaw,
                        const ScoreGradients& to, Products& products) {
  const int kvHead = kvHeadOf(spec, head);
  const Matrix q = matrixOf(queriesOf(trace), head), k = matrixOf(keysOf(trace), kvHead), d = matrixOf(dRaw);
  dQ_.reshape(1, q.rows, q.cols), dK_.reshape(1, k.rows, k.cols);
  switch (spec.score) {
    case Score::dot:
    case Score::scaled:
      products.ab(d, k, dQ_.data(), dQ_.cols());
      products.aTb(d, q, dK_.data(), dK_.cols());
      break;
    case Score::general: general(in, head, q, k, d, products); break;
    case Score::additive: additive(in, head, q, k, dRaw, products); break;
    case Score::cosine: cosine(trace.raw, head, q, k, dRaw, products); break;
  }
  addHead(dQ_, head, to.q), addHead(dK_, kvHead, to.k);
  if (spec.score == Score::general || spec.score == Score::additive) addHead(dWA_, head, to.wA);
  if (spec.score == Score::additive) addHead(dUA_, head, to.uA), addHead(dVA_, head, to.vA);
}

void ScoreBackward::general(const Inputs& in, int head, const Matrix& q, const Matrix& k, const Matrix& d, Products& products) {
  const Matrix w = matrixOf(*in.wA, head);
  a_.reshape(1, q.rows, q.cols), b_.reshape(1, q.rows, q.cols), dWA_.reshape(1, w.rows, w.cols);
  products.ab(d, k, a_.data(), a_.cols());  // t
  products.abT(matrixOf(a_), w, dQ_.data(), dQ_.cols());
  products.aTb(q, matrixOf(a_), dWA_.data(), dWA_.cols());
  products.ab(q, w, b_.data(), b_.cols());
  products.aTb(d, matrixOf(b_), dK_.data(), dK_.cols());
}

void ScoreBackward::additive(const Inputs& in, int head, const Matrix& q, const Matrix& k, const Tensor& dRaw, Products& products) {
  const Matrix w = matrixOf(*in.wA, head), u = matrixOf(*in.uA, head);
  const int dim = w.rows;  // hidden units
  const float* v = in.vA->row(head, 0);
  a_.reshape(1, q.rows, dim), b_.reshape(1, k.rows, dim);
  products.abT(q, w, a_.data(), dim);
  products.abT(k, u, b_.data(), dim);
  std::vector<double> dA(static_cast<std::size_t>(q.rows * dim)), dB(static_cast<std::size_t>(k.rows * dim)), dV(static_cast<std::size_t>(dim));
  std::vector<float> tanhs(static_cast<std::size_t>(dim));
  for (int i = 0; i < q.rows; ++i) {
    for (int j = 0; j < k.rows; ++j) {
      const double d = double{dRaw.at(0, i, j)};
      if (d == 0.0) continue;
      // tanh(x) = 1 - 2 / (1 + e^2x), as in the forward pass.
      for (int c = 0; c < dim; ++c) tanhs[static_cast<std::size_t>(c)] = 2.0f * (a_.at(0, i, c) + b_.at(0, j, c));
      kernels::exp(kernels::best(), tanhs.data(), 0.0f, dim, tanhs.data());
      double *toA = dA.data() + i * dim, *toB = dB.data() + j * dim;
      for (int c = 0; c < dim; ++c) {
        const double rest = 2.0 / (1.0 + double{tanhs[static_cast<std::size_t>(c)]});  // 1 - tanh
        const double dSum = d * double{v[c]} * rest * (2.0 - rest);
        dV[static_cast<std::size_t>(c)] += d * (1.0 - rest);
        toA[c] += dSum, toB[c] += dSum;
      }
    }
  }
  dA_.reshape(1, q.rows, dim), dB_.reshape(1, k.rows, dim), dVA_.reshape(1, 1, dim);
  for (std::size_t i = 0; i < dA.size(); ++i) dA_.data()[i] = saturate(dA[i]);
  for (std::size_t i = 0; i < dB.size(); ++i) dB_.data()[i] = saturate(dB[i]);
  for (std::size_t i = 0; i < dV.size(); ++i) dVA_.data()[i] = saturate(dV[i]);
  dWA_.reshape(1, w.rows, w.cols), dUA_.reshape(1, u.rows, u.cols);
  products.ab(matrixOf(dA_), w, dQ_.data(), q.cols);
  products.ab(matrixOf(dB_), u, dK_.data(), k.cols);
  products.aTb(matrixOf(dA_), q, dWA_.data(), q.cols);
  products.aTb(matrixOf(dB_), k, dUA_.data(), k.cols);
}

void ScoreBackward::cosine(const Tensor& raw, int head, const Matrix& q, const Matrix& k, const Tensor& dRaw, Products& products) {
  std::vector<double> lengthsQ, lengthsK, alongQ(static_cast<std::size_t>(q.rows)), alongK(static_cast<std::size_t>(k.rows));
  normalised(q, a_, lengthsQ);
  normalised(k, b_, lengthsK);
  for (int i = 0; i < q.rows; ++i) {
    for (int j = 0; j < k.rows; ++j) {
      const double part = double{dRaw.at(0, i, j)} * double{raw.at(head, i, j)};
      alongQ[static_cast<std::size_t>(i)] += part, alongK[static_cast<std::size_t>(j)] += part;
    }
  }
  products.ab(matrixOf(dRaw), matrixOf(b_), dQ_.data(), dQ_.cols());
  products.aTb(matrixOf(dRaw), matrixOf(a_), dK_.data(), dK_.cols());
  withoutLength(a_, lengthsQ, alongQ, dQ_);
  withoutLength(b_, lengthsK, alongK, dK_);
}

}  // namespace attention
