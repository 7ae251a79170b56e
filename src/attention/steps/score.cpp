#include "attention/steps/score.h"

#include <algorithm>
#include <cmath>

#include "attention/kernels/kernels.h"

namespace attention {
namespace {

/// out[h] = (rows of head h / group of `from`) · w[h].
void timesMatrix(const Tensor& from, const Tensor& w, int group, Tensor& out) {
  out.reshape(w.heads(), from.rows(), w.cols());
  for (int h = 0; h < w.heads(); ++h) {
    for (int i = 0; i < from.rows(); ++i) {
      kernels::weightedSum(kernels::best(), from.row(h / group, i), w.head(h), w.cols(), w.rows(), w.cols(),
                           out.row(h, i));
    }
  }
}

/// out[h] = w[h] · (rows of head h / group of `from`): each result is the dot product of a row of w and a row of `from`.
void matrixTimes(const Tensor& w, const Tensor& from, int group, Tensor& out) {
  out.reshape(w.heads(), from.rows(), w.rows());
  for (int h = 0; h < w.heads(); ++h) {
    for (int i = 0; i < from.rows(); ++i) {
      kernels::dots(kernels::best(), from.row(h / group, i), w.head(h), w.cols(), w.rows(), w.cols(), out.row(h, i), 1);
    }
  }
}

/// Divides rows by their norm, which is computed in double, where it neither overflows nor underflows.
void normalised(const Tensor& from, Tensor& out) {
  out.reshape(from.heads(), from.rows(), from.cols());
  for (int h = 0; h < from.heads(); ++h) {
    for (int i = 0; i < from.rows(); ++i) {
      const float* row = from.row(h, i);
      double squares = 0.0;
      for (int c = 0; c < from.cols(); ++c) squares += double{row[c]} * double{row[c]};
      const double factor = squares > 0.0 ? 1.0 / std::sqrt(squares) : 0.0;
      for (int c = 0; c < from.cols(); ++c) out.at(h, i, c) = static_cast<float>(double{row[c]} * factor);
    }
  }
}

}  // namespace

void Scorer::prepare(const Spec& spec, const Inputs& in, const Trace& trace) {
  score_ = spec.score, group_ = spec.heads / spec.kvHeads, vA_ = in.vA;
  queries_ = &queriesOf(trace), keys_ = &keysOf(trace);
  if (score_ == Score::general) {
    timesMatrix(*queries_, *in.wA, 1, madeQueries_);
    queries_ = &madeQueries_;
  } else if (score_ == Score::additive) {
    matrixTimes(*in.wA, *queries_, 1, madeQueries_);
    matrixTimes(*in.uA, *keys_, group_, madeKeys_);
    queries_ = &madeQueries_, keys_ = &madeKeys_, group_ = 1;
  } else if (score_ == Score::cosine) {
    normalised(*queries_, madeQueries_);
    normalised(*keys_, madeKeys_);
    queries_ = &madeQueries_, keys_ = &madeKeys_;
  }
}

void Scorer::makeRow(int head, int query, Trace& trace) {
  float* raw = trace.raw.row(head, query);
  if (score_ == Score::additive) return additiveRow(head, query, raw);
  const int dim = keys_->cols(), count = keys_->rows();
  kernels::dots(kernels::best(), queries_->row(head, query), keys_->head(head / group_), dim, count, dim, raw, 1);
  if (score_ != Score::cosine) return;
  for (int j = 0; j < count; ++j) raw[j] = std::clamp(raw[j], -1.0f, 1.0f);  // rounding may exceed ±1
}

void Scorer::additiveRow(int head, int query, float* raw) {
  const int dim = keys_->cols(), count = keys_->rows();
  tanhs_.resize(static_cast<std::size_t>(count) * static_cast<std::size_t>(dim));
  const float *q = queries_->row(head, query), *k = keys_->head(head / group_);
  for (int j = 0, n = 0; j < count; ++j) {
    for (int c = 0; c < dim; ++c, ++n) tanhs_[static_cast<std::size_t>(n)] = 2.0f * (q[c] + k[n]);
  }
  // tanh(x) = 1 - 2 / (1 + e^2x): exponentials that are infinite or 0 give ±1.
  kernels::exp(kernels::best(), tanhs_.data(), 0.0f, count * dim, tanhs_.data());
  for (float& t : tanhs_) t = 1.0f - 2.0f / (1.0f + t);
  kernels::dots(kernels::best(), vA_->row(head, 0), tanhs_.data(), dim, count, dim, raw, 1);
}

}  // namespace attention
