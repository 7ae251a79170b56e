#include "attention/steps/products.h"

#include <algorithm>
#include <limits>

namespace attention {
namespace {

bool isSmall(std::int64_t a, std::int64_t b, std::int64_t c) { return a * b * c < kPackingPays; }

}  // namespace

Matrix transposed(const Matrix& m, std::vector<float>& memory) {
  memory.resize(static_cast<std::size_t>(m.rows) * static_cast<std::size_t>(m.cols));
  for (int r = 0; r < m.rows; ++r) {
    const float* from = m.data + r * m.stride;
    float* to = memory.data() + r;
    for (int c = 0; c < m.cols; ++c) to[std::ptrdiff_t{c} * m.rows] = from[c];
  }
  return {memory.data(), m.rows, m.cols, m.rows};
}

float saturatingSum(float a, float b) {
  constexpr float kMost = std::numeric_limits<float>::max();
  return std::clamp(a + b, -kMost, kMost);
}

void addTo(Tensor& to, const Tensor& from) {
  float* out = to.data();
  const float* in = from.data();
  for (std::size_t i = 0; i < to.size(); ++i) out[i] = saturatingSum(out[i], in[i]);
}

void shapeLike(const Tensor* input, Tensor& gradient) {
  gradient = input ? Tensor(input->heads(), input->rows(), input->cols()) : Tensor();
}

void Products::large(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride) {
  kernels::Forward call;
  call.queryCount = a.rows, call.keyCount = b.rows, call.headDim = a.cols, call.valueDim = 1;
  call.q = {a.data, 0, a.stride}, call.k = {b.data, 0, b.stride};
  call.raw = {out, 0, outStride};
  if (kernels::forward(kernels::best(), call, workspace)) return;
  for (int i = 0; i < a.rows; ++i) {
    kernels::dots(kernels::best(), a.data + i * a.stride, b.data, b.stride, b.rows, a.cols,
                  out + i * outStride, 1);
  }
}

void Products::abT(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride) {
  if (!isSmall(a.rows, b.rows, a.cols)) return large(a, b, out, outStride);
  for (int i = 0; i < a.rows; ++i) {
    kernels::dots(kernels::best(), a.data + i * a.stride, b.data, b.stride, b.rows, a.cols,
                  out + i * outStride, 1);
  }
}

void Products::ab(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride) {
  if (!isSmall(a.rows, b.cols, a.cols)) return large(a, transposed(b, second_), out, outStride);
  for (int i = 0; i < a.rows; ++i) {
    kernels::weightedSum(kernels::best(), a.data + i * a.stride, b.data, b.stride, b.rows, b.cols,
                         out + i * outStride);
  }
}

void Products::aTb(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride) {
  ab(transposed(a, first_), b, out, outStride);
}

}  // namespace attention
