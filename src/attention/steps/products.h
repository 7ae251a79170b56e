// Matrix products of the layer: small ones by the kernels' row operations, large ones by the kernels' Q·Kᵀ.
#pragma once

#include <cstdint>
#include <vector>

#include "attention/kernels/kernels.h"
#include "attention/layer/tensor.h"

namespace attention {

/// A read-only view of a matrix whose rows are `stride` floats apart.
struct Matrix {
  const float* data = nullptr;
  std::ptrdiff_t stride = 0;
  int rows = 0, cols = 0;
};
/// The transpose of a matrix, in `memory`.
Matrix transposed(const Matrix& matrix, std::vector<float>& memory);
inline Matrix matrixOf(const Tensor& tensor, int head = 0) {
  return {tensor.head(head), tensor.cols(), tensor.rows(), tensor.cols()};
}

/// With fewer multiplications than this, packing a matrix costs more than it saves (measured at 16 x 64 x
/// 64).
inline constexpr std::int64_t kPackingPays = 1 << 16;

/// a + b for finite floats; an overflow gives the largest float of that sign.
float saturatingSum(float a, float b);
/// to += from, saturating.
void addTo(Tensor& to, const Tensor& from);
/// Makes a gradient of zeros in the shape of its input, or an empty one where there is no input.
void shapeLike(const Tensor* input, Tensor& gradient);

/// Products whose results are written to rows `outStride` floats apart. Overflows saturate. Keeps its memory
/// between calls; for one call at a time.
class Products {
 public:
  void abT(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride);  ///< a·bᵀ
  void ab(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride);   ///< a·b
  void aTb(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride);  ///< aᵀ·b

  kernels::Workspace workspace;  ///< also for other calls of the kernels

 private:
  void large(const Matrix& a, const Matrix& b, float* out, std::ptrdiff_t outStride);

  std::vector<float> first_, second_;
};

}  // namespace attention
