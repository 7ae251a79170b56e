// Products of small matrices for training, compiled once per instruction set like kernels_body.h, which
// includes this file. Private to the kernels. Matrices are read in place; only the last columns are packed
// where they do not fill a vector.

namespace attention::kernels::KERNEL_NAMESPACE {
namespace {

constexpr int kProductRows =
    4;  // by two vectors: as many accumulators as every instruction set has registers for
constexpr int kPackedDepth = 256;

template <int Rows, int Vectors>
KERNEL_INLINE void productTile(const Product& p, const float* b, std::ptrdiff_t bRow, int begin, int depth,
                               int row, int col, int count, bool adds) {
  V sums[Rows][Vectors] = {};
  const float* a = p.a + row * p.aRow + begin * p.aStep;
  for (int k = 0; k < depth; ++k, a += p.aStep, b += bRow) {
    V right[Vectors];
    KERNEL_UNROLL
    for (int v = 0; v < Vectors; ++v) right[v] = load(b + v * kLanes);
    KERNEL_UNROLL
    for (int r = 0; r < Rows; ++r) {
      const V left = set(a[r * p.aRow]);
      KERNEL_UNROLL
      for (int v = 0; v < Vectors; ++v) sums[r][v] = mulAdd(left, right[v], sums[r][v]);
    }
  }
  KERNEL_UNROLL
  for (int r = 0; r < Rows; ++r) {
    float* to = p.c + (row + r) * p.cRow + col;
    KERNEL_UNROLL
    for (int v = 0; v < Vectors; ++v) {
      if (count >= kLanes) {
        store(to + v * kLanes, adds ? load(to + v * kLanes) + sums[r][v] : sums[r][v]);
      } else {
        float lanes[kLanes];
        store(lanes, sums[r][v]);
        for (int i = 0; i < count; ++i) to[i] = adds ? to[i] + lanes[i] : lanes[i];
      }
    }
  }
}

template <int Vectors>
void productColumns(const Product& p, const float* b, std::ptrdiff_t bRow, int begin, int depth, int col,
                    int count, bool adds) {
  int row = 0;
  for (; row + kProductRows <= p.rows; row += kProductRows)
    productTile<kProductRows, Vectors>(p, b, bRow, begin, depth, row, col, count, adds);
  for (; row < p.rows; ++row) productTile<1, Vectors>(p, b, bRow, begin, depth, row, col, count, adds);
}

/// The product for depth 0, where A and B may be null and so must not be offset.
void sumsOfNothing(const Product& p) {
  if (p.adds) return;
  for (int row = 0; row < p.rows; ++row) {
    for (int col = 0; col < p.columns; ++col) p.c[row * p.cRow + col] = 0.0f;
  }
}

}  // namespace

void product(const Product& p) {
  if (p.depth == 0) return sumsOfNothing(p);
  int col = 0;
  for (; col + 2 * kLanes <= p.columns; col += 2 * kLanes)
    productColumns<2>(p, p.b + col, p.bRow, 0, p.depth, col, kLanes, p.adds);
  for (; col + kLanes <= p.columns; col += kLanes)
    productColumns<1>(p, p.b + col, p.bRow, 0, p.depth, col, kLanes, p.adds);
  const int left = p.columns - col;
  if (left == 0) return;
  float packed[kPackedDepth * kLanes];
  for (int i = 0; i < kPackedDepth * kLanes; ++i) packed[i] = 0.0f;
  for (int begin = 0; begin == 0 || begin < p.depth; begin += kPackedDepth) {
    const int depth = smaller(kPackedDepth, p.depth - begin);
    for (int k = 0; k < depth; ++k) {
      for (int i = 0; i < left; ++i) packed[k * kLanes + i] = p.b[(begin + k) * p.bRow + col + i];
    }
    productColumns<1>(p, packed, kLanes, begin, depth, col, left, p.adds || begin > 0);
  }
}

}  // namespace attention::kernels::KERNEL_NAMESPACE
