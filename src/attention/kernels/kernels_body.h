// The kernels, written once and compiled once per instruction set: each kernels_*.cpp defines
// KERNEL_NAMESPACE, KERNEL_LANES, KERNEL_TILE_ROWS, KERNEL_TILE_VECTORS, KERNEL_TILE_STEPS and
// KERNEL_BLOCK_ROWS and includes this file. Private to the kernels.
//
// The forward pass follows Milakov & Gimelshein 2018 (softmax in one pass, with a running maximum), tiled as
// in Dao et al. 2022: for a block of queries and a block of keys, scores are computed into scratch,
// exponentiated there, and multiplied with V into a running sum. Both products use one register tile: a few
// rows of the left operand by one panel (two vectors) of the right one. The left rows are a constant distance
// apart in scratch and the right panels are packed without gaps, so every load in the inner loop is one
// pointer plus a constant. With KERNEL_ANY_STRIDE, V is read in place when it has few rows.
//
// Only functions of this namespace are used here: an inline function of the standard library, compiled for a
// newer instruction set, might be the copy that the linker keeps for the whole program.

#include "attention/kernels/kernels_table.h"
#include "attention/kernels/kernels_vector.h"

namespace attention::kernels::KERNEL_NAMESPACE {
namespace {

constexpr int kTileRows = KERNEL_TILE_ROWS;  // as large as the registers allow beside the operands
constexpr int kVectors = KERNEL_TILE_VECTORS;
constexpr int kSteps = KERNEL_TILE_STEPS;  // steps of the inner loop that are unrolled
#ifdef KERNEL_ANY_STRIDE
constexpr bool kAnyStride =
    true;  // rows of the right operand may be any distance apart, so V need not be packed
#else
constexpr bool kAnyStride = false;
#endif
constexpr int kPanel = kVectors * kLanes;  // keys, or columns of V, per tile
constexpr int kRows = KERNEL_BLOCK_ROWS;   // queries per block, whose scores stay in cache; larger blocks
                                           // fetch keys and values less often
constexpr int kTiles = kRows / kTileRows;
constexpr int kKeys = kBlockKeys;
constexpr int kPanels = kKeys / kPanel;
static_assert(kRows % kTileRows == 0 && kWholeRows % kRows == 0 && kVectors % 2 == 0 && kKeys % kPanel == 0 &&
              kPanels <= 64);

constexpr float kInfinity = __builtin_huge_valf();
constexpr float kLargest = 3.40282347e38f;
constexpr float kLog2e = 1.44269504f;

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int larger(int a, int b) { return a > b ? a : b; }
KERNEL_INLINE float magnitude(float x) { return x < 0 ? -x : x; }

// ---- exp

// e^r = 1 + r·(1 + r·(…)) for |r| <= ln2/2: minimax polynomial of degree 6 for the relative error, 1.9e-9
// before rounding.
constexpr float kPolynomial[] = {1.0f,          0.499999911f,   0.166664198f,
                                 0.0416682288f, 0.00837485678f, 0.00138367945f};
// Adding and subtracting this rounds to an integer, which is then in the low bits of the sum.
constexpr float kRounder = 12582912.0f;  // 1.5 · 2^23
constexpr float kLn2High = 0.693359375f,
                kLn2Low = -2.12194440e-4f;  // n times the first is exact for |n| < 2^9

/// Constants for 2^x, kept in memory. Degree 5 is enough for weights: the error of 9.2e-8 is less than a unit
/// in the last place. Degree 6 would cost 1 % of the time of a fused call.
struct Exp2 {
  float polynomial[6];  // 2^f for |f| <= 1/2, minimax for the relative error with constant term 1
  float rounder, lowest;
};
constexpr Exp2 kExp2{
    {1.0f, 0.693146978f, 0.24022242f, 0.0555073375f, 0.00967151668f, 0.00132647388f}, kRounder, -126.0f};

/// The coefficients, one vector each: loaded once, and kept in registers while a block is exponentiated.
struct Polynomial {
  V c[6];
};
KERNEL_INLINE Polynomial inVectors(const float (&c)[6]) {
  return {{set(c[0]), set(c[1]), set(c[2]), set(c[3]), set(c[4]), set(c[5])}};
}

/// Evaluates coefficients in pairs rather than by Horner's rule: half the latency, which bounds the
/// exponentials of a block.
KERNEL_INLINE V polynomial(const Polynomial& p, V r) {
  const V(&c)[6] = p.c;
  const V r2 = r * r;
  const V low = mulAdd(c[1], r, c[0]), middle = mulAdd(c[3], r, c[2]), high = mulAdd(c[5], r, c[4]);
  return mulAdd(mulAdd(high, r2, middle), r2, low);
}

/// v · 2^n, where `rounded` holds n + kRounder. The result must be a normal float.
KERNEL_INLINE V timesPowerOf2(V v, V rounded) { return fromBits(bitsOf(v) + (bitsOf(rounded) << 23)); }

struct Exp2Vectors {
  Polynomial polynomial;
  V rounder, lowest;
};
KERNEL_INLINE Exp2Vectors inVectors(const Exp2& e) {
  return {inVectors(e.polynomial), set(e.rounder), set(e.lowest)};
}

/// 2^x for |x| < 126.
KERNEL_INLINE V exp2OfSmall(V x, const Exp2Vectors& by) {
  const V rounded = x + by.rounder;
  const V f = x - (rounded - by.rounder);
  return timesPowerOf2(polynomial(by.polynomial, f), rounded);
}

/// 2^x for x < 127; zero below -126.
KERNEL_INLINE V exp2Of(V x, const Exp2Vectors& by) {
  const V y = exp2OfSmall(x, by);
  return x >= by.lowest ? y : V{};
}

/// x = n·ln2 + r; returns r, and n + kRounder in `rounded`.
KERNEL_INLINE V reduced(V x, V& rounded) {
  rounded = mulAdd(x, set(kLog2e), set(kRounder));
  const V n = rounded - set(kRounder);
  return mulAdd(n, set(-kLn2Low), mulAdd(n, set(-kLn2High), x));
}

KERNEL_INLINE V expOf(V x) {
  V rounded;
  const V r = reduced(x, rounded);
  // Up to kExpHighest the result is below 2^128, so adding the power of two to the exponent is right even
  // where it is 128.
  const V power = timesPowerOf2(mulAdd(polynomial(inVectors(kPolynomial), r), r, set(1.0f)), rounded);
  const V y = x <= set(kExpHighest) ? power : set(kInfinity);
  return x >= set(kExpLowest) ? y : V{};
}

/// tanh by way of e^(-2|x|) - 1, which keeps the relative accuracy of small results.
KERNEL_INLINE V tanhOf(V x) {
  const V size = largerOf(x, -x);
  const V t = largerOf(size * set(-2.0f), set(-40.0f));
  V rounded;
  const V r = reduced(t, rounded);
  const V power = timesPowerOf2(set(1.0f), rounded);
  const V less = mulAdd(polynomial(inVectors(kPolynomial), r) * r, power, power - set(1.0f));
  const V y = -less / (less + set(2.0f));
  return x >= V{} ? y : -y;
}

// ---- the register tile

template <int Rows>
KERNEL_INLINE void step(V (&sums)[Rows][kVectors], const float* a, const float* b) {
  V bn[kVectors];
  KERNEL_UNROLL
  for (int n = 0; n < kVectors; ++n) bn[n] = load(b + n * kLanes);
  KERNEL_UNROLL
  for (int m = 0; m < Rows; ++m) {
    const V am = set(a[m * kRowStride]);
    KERNEL_UNROLL
    for (int n = 0; n < kVectors; ++n) sums[m][n] = mulAdd(am, bn[n], sums[m][n]);
  }
}

/// c[m][0..kPanel) = (or += if `add`) Σ_k a[m][k]·b[k][0..kPanel), k < depth; rows of a are kRowStride apart,
/// those of c cStride. If `factors` is given, row m is then multiplied by factors[m]. Must not be inlined,
/// not even by Binaryen, which inlines functions with a single call: in a large function V8 runs out of
/// registers for the inner loop.
///
/// How close it comes to the peak rate of the arithmetic, from the code that V8 13.6 generates, on a
/// processor that issues six operations a cycle, of which four may be arithmetic, or two multiply-adds (Zen
/// 4):
///   SIMD128, 4 × 2 vectors: the 16 arithmetic operations of a step take 4 cycles. With 4 scalars and 2 vectors to load, the loop
///     and the remaining address arithmetic, three iterations (V8 unrolls the loop) issue 80 operations, 4.44 cycles a step: at most
///     0.90 of the peak; 0.88 is measured. Exponentials, 6.4 cycles a vector, take another 7 % of the time at 64 dimensions,
///     packing and the rest 4 %. 3 × 3 vectors would reach 0.94 by the same count, but compute 72 columns of V where there are 64.
///   relaxed, 6 × 2 vectors: 12 multiply-adds take 6 cycles, and the 31 operations are issued in 5.2. The tile runs at the peak;
///     only exponentials and packing are added.
/// Tried without gain: one call for all tiles of rows; exponentials one panel at a time, right after its
/// scores.
template <int Rows>
__attribute__((noinline)) void tile(bool add, const float* a, const float* b, std::ptrdiff_t bStride,
                                    int depth, float* c, std::ptrdiff_t cStride, const float* factors) {
  if (!kAnyStride) bStride = kPanel;
  V sums[Rows][kVectors];
  KERNEL_UNROLL
  for (int m = 0; m < Rows; ++m) KERNEL_UNROLL
  for (int n = 0; n < kVectors; ++n) sums[m][n] = add ? load(c + m * cStride + n * kLanes) : V{};
  const float* end =
      a + depth;  // compared with instead of a counter: saves an operation in a loop that is bound by issue
  for (; kSteps > 1 && end - a >= kSteps; a += kSteps, b += kSteps * bStride) {
    KERNEL_UNROLL
    for (int k = 0; k < kSteps; ++k) step(sums, a + k, b + k * bStride);
  }
  for (; a != end; ++a, b += bStride) step(sums, a, b);
  if (factors) {
    KERNEL_UNROLL
    for (int m = 0; m < Rows; ++m) KERNEL_UNROLL
    for (int n = 0; n < kVectors; ++n) sums[m][n] = sums[m][n] * set(factors[m]);
  }
  KERNEL_UNROLL
  for (int m = 0; m < Rows; ++m) KERNEL_UNROLL
  for (int n = 0; n < kVectors; ++n) store(c + m * cStride + n * kLanes, sums[m][n]);
}

constexpr int kTwoThirds = larger(kTileRows * 2 / 3, 1), kThird = larger(kTileRows / 3, 1);

/// Rows of the smallest tile that covers `rows`.
KERNEL_INLINE int tileRowsFor(int rows) {
  return rows > kTwoThirds ? kTileRows : rows > kThird ? kTwoThirds : rows > 1 ? kThird : 1;
}

/// Computes with that tile. Its surplus rows are scratch that is never read.
KERNEL_INLINE void tileOf(int rows, bool add, const float* a, const float* b, std::ptrdiff_t bStride,
                          int depth, float* c, std::ptrdiff_t cStride, const float* factors) {
  if (rows > kTwoThirds) return tile<kTileRows>(add, a, b, bStride, depth, c, cStride, factors);
  if (rows > kThird) return tile<kTwoThirds>(add, a, b, bStride, depth, c, cStride, factors);
  if (rows > 1) return tile<kThird>(add, a, b, bStride, depth, c, cStride, factors);
  tile<1>(add, a, b, bStride, depth, c, cStride, factors);
}

// ---- packing

/// Packs keys [begin, end) into panels [panel][dim][kPanel]; the last panel is padded with zeros.
void packKeys(const float* keys, std::ptrdiff_t rowStride, int begin, int end, int dim, float* to) {
  for (int key = begin; key < end; key += kPanel, to += static_cast<std::ptrdiff_t>(dim) * kPanel) {
    const int count = smaller(kPanel, end - key);
    const float* from = keys + key * rowStride;
    int lane = 0;
    for (; lane + 4 <= count; lane += 4, from += 4 * rowStride) {
      int c = 0;
      for (; c + 4 <= dim; c += 4) {  // a 4 × 4 block (keys by columns), transposed
        Four r0, r1, r2, r3;
        __builtin_memcpy(&r0, from + c, 16);
        __builtin_memcpy(&r1, from + c + rowStride, 16);
        __builtin_memcpy(&r2, from + c + 2 * rowStride, 16);
        __builtin_memcpy(&r3, from + c + 3 * rowStride, 16);
        const Four a = __builtin_shufflevector(r0, r1, 0, 4, 1, 5),
                   b = __builtin_shufflevector(r2, r3, 0, 4, 1, 5);
        const Four d = __builtin_shufflevector(r0, r1, 2, 6, 3, 7),
                   e = __builtin_shufflevector(r2, r3, 2, 6, 3, 7);
        const Four c0 = __builtin_shufflevector(a, b, 0, 1, 4, 5),
                   c1 = __builtin_shufflevector(a, b, 2, 3, 6, 7);
        const Four c2 = __builtin_shufflevector(d, e, 0, 1, 4, 5),
                   c3 = __builtin_shufflevector(d, e, 2, 3, 6, 7);
        float* out = to + c * kPanel + lane;
        __builtin_memcpy(out, &c0, 16);
        __builtin_memcpy(out + kPanel, &c1, 16);
        __builtin_memcpy(out + 2 * kPanel, &c2, 16);
        __builtin_memcpy(out + 3 * kPanel, &c3, 16);
      }
      for (; c < dim; ++c)
        for (int i = 0; i < 4; ++i) to[c * kPanel + lane + i] = from[c + i * rowStride];
    }
    for (; lane < kPanel; ++lane, from += rowStride)
      for (int c = 0; c < dim; ++c) to[c * kPanel + lane] = lane < count ? from[c] : 0.0f;
  }
}

/// Packs rows [begin, end) of V into panels [panel][packedKeys][kPanel]; the last panel is padded with zero
/// columns.
void packValues(const float* values, std::ptrdiff_t rowStride, int begin, int end, int dim, int packedKeys,
                float* to) {
  for (int c = 0; c < dim; c += kPanel, to += static_cast<std::ptrdiff_t>(packedKeys) * kPanel) {
    const int count = smaller(kPanel, dim - c);
    const float* from = values + begin * rowStride + c;
    float* out = to;
    for (int key = begin; key < end; ++key, from += rowStride, out += kPanel) {
      if (count == kPanel) {
        for (int n = 0; n < kVectors; ++n) store(out + n * kLanes, load(from + n * kLanes));
      } else {
        for (int i = 0; i < kPanel; ++i) out[i] = i < count ? from[i] : 0.0f;
      }
    }
  }
}

float largestMagnitude(const float* rows, std::ptrdiff_t rowStride, int count, std::ptrdiff_t dim) {
  if (rowStride == dim) dim *= count, count = count > 0 ? 1 : 0;  // no gaps between rows: treat them as one
  V most0{}, most1{};
  float rest = 0.0f;
  for (int r = 0; r < count; ++r, rows += rowStride) {
    std::ptrdiff_t c = 0;
    for (; c + 2 * kLanes <= dim; c += 2 * kLanes) {
      const V a = load(rows + c), b = load(rows + c + kLanes);
      most0 = largerOf(most0, largerOf(a, -a));
      most1 = largerOf(most1, largerOf(b, -b));
    }
    for (; c < dim; ++c) rest = magnitude(rows[c]) > rest ? magnitude(rows[c]) : rest;
  }
  const float lanes = largestLane(largerOf(most0, most1));
  return lanes > rest ? lanes : rest;
}

/// The sums of squares of four vectors of numbers.
KERNEL_INLINE V squares(const float* from) {
  const V v0 = load(from), v1 = load(from + kLanes), v2 = load(from + 2 * kLanes),
          v3 = load(from + 3 * kLanes);
  return mulAdd(v1, v1, v0 * v0) + mulAdd(v3, v3, v2 * v2);
}

/// An upper bound for the rows' sums of squares: the maximum of each lane over all rows, the lanes added up
/// only at the end, because adding the lanes of every row would take most of the time. Not finite where a
/// number is not, or where a sum overflows.
float largestSquare(const In& in, int heads, int rows, int dim) {
  Bits most{};  // as integers, squares have the same order, and infinity and NaN come last
  std::uint32_t mostRest = 0;
  for (int head = 0; head < heads; ++head) {
    const float* row = in.data + head * in.headStride;
    for (int r = 0; r < rows; r += 2, row += 2 * in.rowStride) {
      const float* next = r + 1 < rows ? row + in.rowStride : row;
      V sum0{}, sum1{};
      int c = 0;
      for (; c + 4 * kLanes <= dim; c += 4 * kLanes)
        sum0 = sum0 + squares(row + c), sum1 = sum1 + squares(next + c);
      for (; c + kLanes <= dim; c += kLanes) {
        sum0 = mulAdd(load(row + c), load(row + c), sum0);
        sum1 = mulAdd(load(next + c), load(next + c), sum1);
      }
      most = largerOf(largerOf(bitsOf(sum0), bitsOf(sum1)), most);
      if (c == dim) continue;
      float rest0 = 0.0f, rest1 = 0.0f;
      for (; c < dim; ++c) rest0 += row[c] * row[c], rest1 += next[c] * next[c];
      mostRest = largerOf(largerOf(bitsOf(rest0), bitsOf(rest1)), mostRest);
    }
  }
  return sumOfLanes(fromBits(most)) + __builtin_bit_cast(float, mostRest);
}

/// The same for finite numbers whose squares may overflow a float.
double largestSquareOf(const In& in, int head, int row, int rows, int dim) {
  const In part{in.data + head * in.headStride + row * in.rowStride, 0, in.rowStride};
  const float square = largestSquare(part, 1, rows, dim);
  if (square <= kLargest) return static_cast<double>(square);
  const double magnitude = static_cast<double>(largestMagnitude(part.data, in.rowStride, rows, dim));
  return magnitude * magnitude * dim;
}

KERNEL_INLINE void scaleHere(float a, const float* in, int count, float* out) {
  int c = 0;
  for (; c + 4 * kLanes <= count; c += 4 * kLanes) {
    const V v0 = load(in + c), v1 = load(in + c + kLanes), v2 = load(in + c + 2 * kLanes),
            v3 = load(in + c + 3 * kLanes);
    store(out + c, v0 * set(a));
    store(out + c + kLanes, v1 * set(a));
    store(out + c + 2 * kLanes, v2 * set(a));
    store(out + c + 3 * kLanes, v3 * set(a));
  }
  for (; c + kLanes <= count; c += kLanes) store(out + c, load(in + c) * set(a));
  for (; c < count; ++c) out[c] = in[c] * a;
}

void scaleTo(float a, const float* in, int count, float* out) { scaleHere(a, in, count, out); }

/// Packs rows of Q, times `factor`, into blocks [chunk of kBlockKeys columns][kRows][kRowStride].
void packQueries(const float* rows, std::ptrdiff_t rowStride, int count, int dim, float factor, float* to) {
  for (int begin = 0; begin < dim; begin += kBlockKeys, to += kRows * kRowStride) {
    const int width = smaller(kBlockKeys, dim - begin);
    for (int r = 0; r < count; ++r)
      scaleHere(factor, rows + r * rowStride + begin, width, to + r * kRowStride);
  }
}

// ---- a block of scores

/// Stores those of kLanes numbers whose column is before `end`.
KERNEL_INLINE void storeBefore(int end, float* row, int column, V v) {
  if (column + kLanes <= end) return store(row + column, v);
  float lanes[kLanes];
  store(lanes, v);
  for (int i = 0; column + i < end; ++i) row[column + i] = lanes[i];
}
KERNEL_INLINE V loadBefore(int end, const float* row, int column) {
  if (column + kLanes <= end) return load(row + column);
  float lanes[kLanes] = {};
  for (int i = 0; column + i < end; ++i) lanes[i] = row[column + i];
  return load(lanes);
}
KERNEL_INLINE I widenBefore(int end, const std::uint8_t* row, int column) {
  if (column + kLanes <= end) return widen(row + column);
  std::uint8_t lanes[kLanes] = {};
  for (int i = 0; column + i < end; ++i) lanes[i] = row[column + i];
  return widen(lanes);
}

KERNEL_INLINE float* rowOf(const Out& out, int head, int row) {
  return out.data + head * out.headStride + row * out.rowStride;
}
KERNEL_INLINE const float* rowOf(const In& in, int head, int row) {
  return in.data + head * in.headStride + row * in.rowStride;
}
KERNEL_INLINE const std::uint8_t* blockedRow(const Forward& f, int head, int row) {
  return f.blocked + head * f.blockedHeadStride + row * f.blockedRowStride;
}

/// Which panels of the current block of keys concern a tile of rows, one bit each.
struct Visibility {
  std::uint64_t scored;   // must be computed
  std::uint64_t visible;  // at least partly visible
  std::uint64_t whole;    // entirely visible
  Keys keys;              // the keys that are in the range of at least one row
};

/// Is any cell of these rows and columns neither blocked nor masked by the bias?
bool anyLeft(const Forward& f, int head, int row, int rows, int column, int end) {
  for (int r = row; r < row + rows; ++r)
    for (int c = column; c < end; ++c)
      if (!(f.blocked && blockedRow(f, head, r)[c]) && !(f.bias && rowOf(f.bias, head, r)[c] == -kInfinity))
        return true;
  return false;
}

/// Sets bits [first, last), clipped to 0 … 64.
KERNEL_INLINE std::uint64_t bitRange(int first, int last) {
  first = larger(first, 0);
  last = smaller(last, 64);
  if (first >= last) return 0;
  return (~std::uint64_t{0} >> (64 - (last - first))) << first;
}

/// Determines what a tile of rows sees of the keys [begin, end).
Visibility look(const Plan& plan, int head, int row, int rows, int begin, int end) {
  const Forward& f = plan.call;
  Visibility visibility{};
  const std::uint64_t block = bitRange(0, (end - begin + kPanel - 1) / kPanel);
  if (!plan.isMasked) return {block, block, bitRange(0, (end - begin) / kPanel), {0, plan.keyEnd}};
  const Keys first = visibleKeys(plan, row), last = visibleKeys(plan, row + rows - 1);
  visibility.keys = {first.begin, last.end};  // ranges move forward with the row, so the first and last row
                                              // determine what at least one row sees
  const Keys all{last.begin, first.end};      // and what every row sees
  if (visibility.keys.begin < end && visibility.keys.end > begin && first.begin < last.end) {
    const int from = larger(visibility.keys.begin - begin, 0), to = visibility.keys.end - begin;
    visibility.visible = block & bitRange(from / kPanel, (to + kPanel - 1) / kPanel);
    if (all.begin < all.end && all.end > begin)
      visibility.whole =
          block & bitRange((larger(all.begin - begin, 0) + kPanel - 1) / kPanel, (all.end - begin) / kPanel);
  }
  if (f.blocked || f.bias) {
    visibility.whole = 0;
    for (std::uint64_t left = visibility.visible; left; left &= left - 1) {
      const int key = begin + __builtin_ctzll(left) * kPanel;
      if (!anyLeft(f, head, row, rows, larger(key, visibility.keys.begin),
                   smaller(key + kPanel, visibility.keys.end)))
        visibility.visible &= ~(left & (~left + 1));
    }
  }
  visibility.scored = plan.allScores ? block : visibility.visible;
  return visibility;
}

/// Calls each(first panel, one past the last) for every run of consecutive bits.
template <class Each>
KERNEL_INLINE void forRuns(std::uint64_t bits, Each each) {
  while (bits) {
    const int first = __builtin_ctzll(bits);
    const std::uint64_t rest = ~(bits >> first);
    const int length = rest ? smaller(__builtin_ctzll(rest), 64 - first) : 64 - first;
    each(first, first + length);
    bits = first + length == 64 ? 0 : bits >> (first + length) << (first + length);
  }
}

/// The steps between Q·Kᵀ and softmax for one row: turns products in scratch into scores, and stores each
/// result that is wanted. For panels [first, last) of the block of keys that begins at `begin`.
void scoreRow(const Plan& plan, int head, int row, int begin, int first, int last, float* s) {
  const Forward& f = plan.call;
  const Keys keys = visibleKeys(plan, row);
  const int width = f.keyCount;
  for (int c = first * kPanel; c < last * kPanel; c += kLanes) {
    const int key = begin + c;
    if (key >= width) {  // the last panel extends beyond the keys
      store(s + c, set(-kInfinity));
      continue;
    }
    V x = load(s + c);
    if (!plan.plain) {
      if (f.raw) storeBefore(width, rowOf(f.raw, head, row), key, x);
      x = x * set(f.scale);
      if (f.scores) storeBefore(width, rowOf(f.scores, head, row), key, x);
      if (f.softcap > 0.0f) x = tanhOf(x / set(f.softcap)) * set(f.softcap);
      if (f.softcapped) storeBefore(width, rowOf(f.softcapped, head, row), key, x);
      if (f.bias) {
        const V bias = loadBefore(width, rowOf(f.bias, head, row), key);
        const V sum = largerOf(smallerOf(x + bias, set(kLargest)), set(-kLargest));
        x = bias == set(-kInfinity) ? set(-kInfinity) : sum;
      }
    }
    const I index = countFrom(key);
    x = index >= keys.begin ? x : set(-kInfinity);
    x = index < keys.end ? x : set(-kInfinity);
    if (f.blocked) x = widenBefore(width, blockedRow(f, head, row), key) != 0 ? set(-kInfinity) : x;
    if (!plan.plain) {
      if (f.masked) storeBefore(width, rowOf(f.masked, head, row), key, x);
      const V scaled = largerOf(smallerOf(x * set(plan.finalFactor), set(kLargest)), set(-kLargest));
      x = x == set(-kInfinity) ? x : scaled;
    }
    store(s + c, x);
  }
}

/// The largest number of a row over the given panels.
KERNEL_INLINE float largestOf(const float* s, std::uint64_t panels) {
  V m0 = set(-kInfinity), m1 = m0;
  forRuns(panels, [&](int first, int last) {
    for (int c = first * kPanel; c < last * kPanel; c += 2 * kLanes) {
      m0 = largerOf(load(s + c), m0);
      m1 = largerOf(load(s + c + kLanes), m1);
    }
  });
  return largestLane(largerOf(m0, m1));
}

/// Replaces the given panels of some rows of scores by exp(score, row), and adds the row sums to `sums`.
template <class Exp>
KERNEL_INLINE void exponentiate(float* s, int rows, std::uint64_t panels, float* sums, Exp exp) {
  forRuns(panels, [&](int first, int last) {
    for (int r = 0; r < rows; ++r) {
      float* row = s + r * kRowStride;
      V sum0{}, sum1{};
      for (int c = first * kPanel; c < last * kPanel; c += 2 * kLanes) {
        const V e0 = exp(load(row + c), r), e1 = exp(load(row + c + kLanes), r);
        store(row + c, e0);
        store(row + c + kLanes, e1);
        sum0 = sum0 + e0;
        sum1 = sum1 + e1;
      }
      sums[r] += sumOfLanes(sum0 + sum1);
    }
  });
}

/// e^(from - to), or 2^(from - to) if plain, where `from` is -inf or at most `to`.
KERNEL_INLINE float ratio(bool plain, float from, float to) {
  if (from == to) return from == -kInfinity ? 0.0f : 1.0f;
  const V x = set(from - to);
  float lanes[kLanes];
  store(lanes, plain ? exp2Of(x, inVectors(kExp2)) : expOf(x));
  return lanes[0];
}

KERNEL_INLINE void fill(float* row, int begin, int end, float value) {
  for (int c = begin; c < end; ++c) row[c] = value;
}

KERNEL_INLINE void scaleRow(float* row, int count, float factor) { scaleTo(factor, row, count, row); }

/// Copies a row from scratch to a result: the given panels are copied, all others are set to `elsewhere`.
KERNEL_INLINE void copyRow(const float* s, std::uint64_t panels, int count, float elsewhere, float* to) {
  for (int c = 0; c < count; c += kLanes)
    storeBefore(count, to, c, panels >> (c / kPanel) & 1 ? load(s + c) : set(elsewhere));
}

/// The state of a block of rows that is carried from one pack of keys to the next.
struct Rows {
  int head = 0, row = 0, count = 0;
  bool isBounded = false;  // no score is far from 0, so no maximum is subtracted
  bool isDirect =
      false;  // all keys fit one block, so sums are normalised as they are computed, straight into the output
  float* max = nullptr;  // running maximum, one per row
  float* sum = nullptr;
};

/// 1 / sum of each row, or 0 where the sum is 0. Works on whole vectors; entries beyond the last row are
/// meaningless and never read.
KERNEL_INLINE void invert(const Rows& rows, float (&inverse)[kRows + kLanes]) {
  for (int r = 0; r < rows.count; r += kLanes) {
    const V sum = load(rows.sum + r);
    store(inverse + r, sum > V{} ? set(1.0f) / sum : V{});
  }
}

/// The steps between product and softmax, where there are any, for `count` rows from `first` of the block;
/// updates each row's running maximum and rescales the sums so far to it.
void scoreTile(const Plan& plan, const Scratch& scratch, const Rows& rows, int first, int count,
               const Visibility& visibility, int begin, int end) {
  const Forward& f = plan.call;
  const std::uint64_t altered = plan.plain ? visibility.scored & ~visibility.whole : visibility.scored;
  if (!altered && rows.isBounded) return;
  const int sumStride = (f.valueDim + kPanel - 1) / kPanel * kPanel;
  for (int r = first; r < first + count; ++r) {
    float* s = scratch.scores + r * kRowStride;
    forRuns(altered, [&](int from, int to) { scoreRow(plan, rows.head, rows.row + r, begin, from, to, s); });
    if (f.masked) {
      float* to = rowOf(f.masked, rows.head, rows.row + r) + begin;
      for (int c = 0; c < end - begin; ++c)
        if (!(visibility.scored >> (c / kPanel) & 1)) to[c] = -kInfinity;
    }
    if (rows.isBounded) continue;
    const float before = rows.max[r], most = largestOf(s, visibility.visible);
    if (!(most > before)) continue;
    rows.max[r] = most;
    if (before == -kInfinity) continue;
    const float shrink = ratio(plan.plain, before, most);
    rows.sum[r] *= shrink;
    if (f.output) scaleRow(scratch.sums + r * sumStride, sumStride, shrink);
  }
}

/// Stores exponentials where these or the weights are wanted, and the maximum that they are relative to.
void keepExponentials(const Forward& f, const Scratch& scratch, const Rows& rows, int first, int count,
                      const Visibility& visibility, int begin, int end) {
  for (int r = first; r < first + count; ++r) {
    const float* s = scratch.scores + r * kRowStride;
    if (f.weights)
      copyRow(s, visibility.visible, end - begin, 0.0f, rowOf(f.weights, rows.head, rows.row + r) + begin);
    if (f.exponentials)
      copyRow(s, visibility.visible, end - begin, 0.0f,
              rowOf(f.exponentials, rows.head, rows.row + r) + begin);
    scratch.blockMax[begin / kKeys * kRows + r] = rows.max[r];
  }
}

/// One block of queries against the block of keys [begin, end); keys are packed from `packedBegin` on.
void block(const Plan& plan, Scratch& scratch, const Rows& rows, int begin, int end, int packedBegin) {
  const Forward& f = plan.call;
  const int tiles = (rows.count + kTileRows - 1) / kTileRows;
  const int sumStride = (f.valueDim + kPanel - 1) / kPanel * kPanel;
  Visibility visibilities[kTiles];
  std::uint64_t any = 0;
  for (int t = 0; t < tiles; ++t) {
    visibilities[t] = look(plan, rows.head, rows.row + t * kTileRows,
                           smaller(kTileRows, rows.count - t * kTileRows), begin, end);
    any |= visibilities[t].scored;
    scratch.computed += __builtin_popcountll(visibilities[t].scored);
  }

  // S = Q·Kᵀ. A panel of K stays in the first-level cache while all rows of the block are multiplied with it.
  const int dim = f.headDim;
  for (std::uint64_t left = any; left; left &= left - 1) {
    const int p = __builtin_ctzll(left);
    const float* panel = scratch.keys + static_cast<std::ptrdiff_t>(begin - packedBegin + p * kPanel) * dim;
    for (int t = 0; t < tiles; ++t) {
      if (!(visibilities[t].scored >> p & 1)) continue;
      const int count = rows.count - t * kTileRows;
      float* s = scratch.scores + t * kTileRows * kRowStride + p * kPanel;
      const float* q = scratch.query + t * kTileRows * kRowStride;
      tileOf(count, false, q, panel, kPanel, smaller(dim, kBlockKeys), s, kRowStride, nullptr);
      for (int c = kBlockKeys; c < dim; c += kBlockKeys) {
        q += kRows * kRowStride;
        tileOf(count, true, q, panel + static_cast<std::ptrdiff_t>(c) * kPanel, kPanel,
               smaller(dim - c, kBlockKeys), s, kRowStride, nullptr);
      }
    }
  }

  const Exp2Vectors exp2 = inVectors(*inMemory(&kExp2));
  for (int t = 0; t < tiles; ++t) {
    const Visibility& visibility = visibilities[t];
    const int first = t * kTileRows, count = smaller(kTileRows, rows.count - first);
    float* s = scratch.scores + first * kRowStride;
    float *max = rows.max + first, *sum = rows.sum + first;
    scoreTile(plan, scratch, rows, first, count, visibility, begin, end);
    const std::uint64_t small = rows.isBounded ? visibility.visible & visibility.whole : 0,
                        rest = visibility.visible & ~small;
    if (small) exponentiate(s, count, small, sum, [&](V x, int) { return exp2OfSmall(x, exp2); });
    const auto shifted = [&](V x, int r) { return x - set(max[r] == -kInfinity ? 0.0f : max[r]); };
    if (rest && plan.plain)
      exponentiate(s, count, rest, sum, [&](V x, int r) { return exp2Of(shifted(x, r), exp2); });
    if (rest && !plan.plain)
      exponentiate(s, count, rest, sum, [&](V x, int r) { return expOf(shifted(x, r)); });
    if (scratch.blockMax) keepExponentials(f, scratch, rows, first, count, visibility, begin, end);
  }

  // O += P·V.
  if (!f.output) return;
  float inverse[kRows + kLanes];
  if (rows.isDirect) invert(rows, inverse);
  float* const sumRows = rows.isDirect ? rowOf(f.output, rows.head, rows.row) : scratch.sums;
  const std::ptrdiff_t stride = rows.isDirect ? f.output.rowStride : sumStride;
  for (int c = 0; c < f.valueDim; c += kPanel) {
    const float* panel = scratch.values + c * scratch.valuePanel;
    for (int t = 0; t < tiles; ++t) {
      const Visibility& visibility = visibilities[t];
      const float* factors = rows.isDirect ? inverse + t * kTileRows : nullptr;
      float* sums = sumRows + t * kTileRows * stride + c;
      bool add = begin > 0;
      forRuns(visibility.visible, [&](int first, int last) {
        const int from = larger(first * kPanel, visibility.keys.begin - begin);
        const int to = smaller(last * kPanel, smaller(visibility.keys.end, end) - begin);
        tileOf(rows.count - t * kTileRows, add, scratch.scores + t * kTileRows * kRowStride + from,
               panel + (begin - packedBegin + from) * scratch.valueStride, scratch.valueStride, to - from,
               sums, stride, factors);
        add = true;
      });
      for (int r = 0; !add && r < kTileRows; ++r)
        for (int n = 0; n < kVectors; ++n) store(sums + r * stride + n * kLanes, V{});
    }
  }
}

/// Completes the results other than the output.
void finishRow(const Plan& plan, const Scratch& scratch, const Rows& rows, int r, float inverse) {
  const Forward& f = plan.call;
  const int row = rows.row + r;
  if (f.rowMax) *rowOf(f.rowMax, rows.head, row) = rows.max[r];
  if (f.rowSum) *rowOf(f.rowSum, rows.head, row) = rows.sum[r];
  for (int begin = 0; scratch.blockMax && begin < plan.keyEnd; begin += kKeys) {
    const float factor = ratio(plan.plain, scratch.blockMax[begin / kKeys * kRows + r], rows.max[r]);
    const int count = smaller(kKeys, plan.keyEnd - begin);
    if (f.weights) scaleRow(rowOf(f.weights, rows.head, row) + begin, count, factor * inverse);
    if (f.exponentials && factor != 1.0f)
      scaleRow(rowOf(f.exponentials, rows.head, row) + begin, count, factor);
  }
  if (f.weights) fill(rowOf(f.weights, rows.head, row), plan.keyEnd, f.keyCount, 0.0f);
  if (f.exponentials) fill(rowOf(f.exponentials, rows.head, row), plan.keyEnd, f.keyCount, 0.0f);
  if (f.masked) fill(rowOf(f.masked, rows.head, row), plan.keyEnd, f.keyCount, -kInfinity);
}

/// Divides by the sums, and rescales exponentials that were stored relative to an earlier maximum to the
/// final one.
void finish(const Plan& plan, const Scratch& scratch, const Rows& rows) {
  const Forward& f = plan.call;
  const int dim = f.output ? f.valueDim : 0, sumStride = (dim + kPanel - 1) / kPanel * kPanel;
  const bool more = f.rowMax || f.rowSum || f.masked || scratch.blockMax;
  const float* sums = scratch.sums;
  float* output = f.output ? rowOf(f.output, rows.head, rows.row) : nullptr;
  if (rows.isDirect && !more) return;
  float inverse[kRows + kLanes];
  invert(rows, inverse);
  for (int r = 0; r < rows.count; ++r, sums += sumStride, output += f.output.rowStride) {
    if (inverse[r] > 0.0f && !rows.isDirect) scaleTo(inverse[r], sums, dim, output);
    if (!(inverse[r] > 0.0f)) fill(output, 0, dim, 0.0f);  // sums may never have been written
    if (more) finishRow(plan, scratch, rows, r, inverse[r]);
  }
}

/// One block of queries against the packed keys [begin, end). Between packs the running sums are kept in the
/// output itself.
void rowBlock(const Plan& plan, Scratch& scratch, const Rows& rows, int begin, int end) {
  const Forward& f = plan.call;
  const int sumStride = (f.valueDim + kPanel - 1) / kPanel * kPanel;
  const bool first = begin == 0, last = end == plan.keyEnd;
  if (first) {
    fill(rows.max, 0, rows.count, rows.isBounded ? 0.0f : -kInfinity);
    fill(rows.sum, 0, rows.count, 0.0f);
  }
  if (f.output && !first) {
    for (int r = 0; r < rows.count; ++r) {
      float* sums = scratch.sums + r * sumStride;
      const float* from = rowOf(f.output, rows.head, rows.row + r);
      for (int c = 0; c < sumStride; c += kLanes) store(sums + c, loadBefore(f.valueDim, from, c));
    }
  }
  packQueries(rowOf(f.q, rows.head, rows.row), f.q.rowStride, rows.count, f.headDim, plan.queryFactor,
              scratch.query);
  for (int key = begin; key < end; key += kKeys)
    block(plan, scratch, rows, key, smaller(key + kKeys, end), begin);
  if (last) return finish(plan, scratch, rows);
  if (f.output) {
    for (int r = 0; r < rows.count; ++r) {
      float* to = rowOf(f.output, rows.head, rows.row + r);
      for (int c = 0; c < f.valueDim; c += kLanes)
        storeBefore(f.valueDim, to, c, load(scratch.sums + r * sumStride + c));
    }
  }
}

/// Makes the values of keys [begin, end) available. They are packed, unless that does not pay: with few keys,
/// rows far apart do not evict each other from the cache; with few queries, each is read only once.
void provideValues(const Plan& plan, const float* values, int begin, int end, Scratch& scratch) {
  constexpr int kFewKeys = 32;
  const Forward& f = plan.call;
  const bool isRead =
      kAnyStride && f.valueDim % kPanel == 0 && (plan.keyEnd <= kFewKeys || f.queryCount <= kTileRows);
  scratch.hasValues = !isRead;
  if (!isRead)
    packValues(values, f.v.rowStride, begin, end, f.valueDim, plan.packedKeys, scratch.packedValues);
  scratch.values = isRead ? values + begin * f.v.rowStride : scratch.packedValues;
  scratch.valueStride = isRead ? f.v.rowStride : kPanel;
  scratch.valuePanel = isRead ? 1 : plan.packedKeys;
}

void forwardUnit(const Plan& plan, const Unit& unit, Scratch& scratch) {
  const Forward& f = plan.call;
  const int group = f.heads / f.kvHeads;
  const float* keys = rowOf(f.k, unit.kvHead, 0);
  const float* values = f.output ? rowOf(f.v, unit.kvHead, 0) : nullptr;
  if (scratch.packedHead != unit.kvHead) {
    scratch.packedHead = unit.kvHead;
    scratch.packedBegin = -1;
    if (!plan.isBounded) {
      scratch.keySquare = largestSquareOf(f.k, unit.kvHead, 0, plan.keyEnd, f.headDim);
      scratch.valueMagnitude =
          f.output ? largestMagnitude(values, f.v.rowStride, plan.keyEnd, f.valueDim) : 0.0f;
    }
  }
  int begin = 0;
  do {
    const int end = smaller(begin + plan.packedKeys, plan.keyEnd);
    if (scratch.packedBegin != begin) {
      packKeys(keys, f.k.rowStride, begin, end, f.headDim, scratch.keys);
      if (f.output) provideValues(plan, values, begin, end, scratch);
      scratch.packedBegin = begin;
    }
    float *max = scratch.rowMax, *sum = scratch.rowSum;
    for (int head = unit.kvHead * group; head < (unit.kvHead + 1) * group; ++head) {
      for (int row = unit.rowBegin; row < unit.rowEnd; row += kRows) {
        const int count = smaller(kRows, unit.rowEnd - row);
        Magnitudes most;
        if (!plan.isBounded)
          most = {largestSquareOf(f.q, head, row, count, f.headDim), scratch.keySquare,
                  scratch.valueMagnitude};
        // A tile writes all of its rows, so the output must have as many.
        const int lastRows = (count - 1) % kTileRows + 1;
        const bool isDirect = plan.isDirect && tileRowsFor(lastRows) == lastRows;
        if (plan.isBounded || fits(plan, most))
          rowBlock(plan, scratch,
                   {head, row, count, plan.isBounded || isBounded(plan, most), isDirect, max, sum}, begin,
                   end);
        else if (begin == 0) forwardCarefully(plan, head, row, row + count, scratch.carefulRow);
        max += count;
        sum += count;
      }
    }
    begin = end;
  } while (begin < plan.keyEnd);
}

// ---- row operations

float expRow(const float* in, float shift, int count, float* out) {
  const float by = shift == -kInfinity ? 0.0f : shift;
  V sum{};
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) {
    const V e = expOf(load(in + c) - set(by));
    store(out + c, e);
    sum = sum + e;
  }
  if (c < count) {
    float lanes[kLanes];
    for (int i = 0; i < kLanes; ++i) lanes[i] = c + i < count ? in[c + i] : -kInfinity;
    const V e = expOf(load(lanes) - set(by));
    storeBefore(count, out, c, e);
    sum = sum + e;
  }
  return sumOfLanes(sum);
}

/// A dot product that overflowed a float, recomputed in double; still too large gives the largest float of
/// its sign.
float careful(const float* a, const float* b, std::ptrdiff_t stride, int count) {
  double sum = 0.0;
  for (int i = 0; i < count; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i * stride]);
  if (sum > static_cast<double>(kLargest)) return kLargest;
  if (sum < -static_cast<double>(kLargest)) return -kLargest;
  return static_cast<float>(sum);
}
KERNEL_INLINE bool isFinite(float x) { return magnitude(x) <= kLargest; }

void dotRows(const float* a, const float* rows, std::ptrdiff_t rowStride, int count, int dim, float* out,
             std::ptrdiff_t outStride) {
  // The last lanes may go beyond the columns. Of most rows what follows can be read, and is multiplied by 0;
  // where that is not finite, careful() does without it.
  const int last = (dim - 1) / kLanes * kLanes;
  const auto safe = count - (last + kLanes - dim + rowStride - 1) / rowStride;
  const V lastOfA = loadBefore(dim, a, last);
  for (int i = 0; i < count; ++i, rows += rowStride, out += outStride) {
    V sum0{}, sum1{};
    int c = 0;
    for (; c + 2 * kLanes <= last; c += 2 * kLanes) {
      sum0 = mulAdd(load(a + c), load(rows + c), sum0);
      sum1 = mulAdd(load(a + c + kLanes), load(rows + c + kLanes), sum1);
    }
    const V lastOfRow = i < safe ? load(rows + last) : loadBefore(dim, rows, last);
    if (c < last) {
      sum0 = mulAdd(load(a + c), load(rows + c), sum0);
      sum1 = mulAdd(lastOfA, lastOfRow, sum1);
    } else {
      sum0 = mulAdd(lastOfA, lastOfRow, sum0);
    }
    const float dot = sumOfLanes(sum0 + sum1);
    *out = isFinite(dot) ? dot : careful(a, rows, 1, dim);
  }
}

/// Σ_c v[c]·tanh, with tanh(x + y) = 1 − 2 ÷ (1 + e²ˣ·e²ʸ).
void tanhRows(const float* a, const float* rows, const float* v, int count, int dim, float* out) {
  const int last = (dim - 1) / kLanes * kLanes;
  const V lastOfA = loadBefore(dim, a, last), lastOfV = loadBefore(dim, v, last);
  const auto tanhOfSum = [](V x, V y) { return set(1.0f) - set(2.0f) / (set(1.0f) + x * y); };
  for (int i = 0; i < count; ++i, rows += dim) {
    V sum = lastOfV * tanhOfSum(lastOfA, loadBefore(dim, rows, last));
    for (int c = 0; c < last; c += kLanes)
      sum = mulAdd(load(v + c), tanhOfSum(load(a + c), load(rows + c)), sum);
    out[i] = sumOfLanes(sum);
  }
}

float largestOfRow(const float* in, int count) {
  V most = set(-kInfinity);
  int c = 0;
  for (; c + kLanes <= count; c += kLanes) most = largerOf(load(in + c), most);
  float result = largestLane(most);
  for (; c < count; ++c) result = in[c] > result ? in[c] : result;
  return result;
}

std::ptrdiff_t firstNotFinite(const float* in, std::size_t count) {
  constexpr std::size_t kStep = 4 * kLanes, kChunk = 64 * kStep;
  std::size_t i = 0;
  while (i + kStep <= count) {  // 0·x is 0 for finite x, and NaN for all others
    V sums[4]{};
    std::size_t next = i;
    for (const std::size_t end = count - i > kChunk ? i + kChunk : count; next + kStep <= end;
         next += kStep) {
      KERNEL_UNROLL
      for (std::size_t n = 0; n < 4; ++n) { sums[n] = mulAdd(load(in + next + n * kLanes), V{}, sums[n]); }
    }
    if (!(sumOfLanes(sums[0] + sums[1] + (sums[2] + sums[3])) == 0.0f)) break;
    i = next;
  }
  for (; i < count; ++i)
    if (!isFinite(in[i])) return static_cast<std::ptrdiff_t>(i);
  return -1;
}

SoftmaxRow softmaxRow(const float* in, float temperature, int count, float* exponentials, float* weights) {
  const float inverse = 1.0f / temperature;
  float* e = exponentials ? exponentials : weights;
  for (int c = 0; c < count; c += kLanes) {  // the same operations as the last ones of scoreRow()
    const V x = loadBefore(count, in, c);
    const V scaled = largerOf(smallerOf(x * set(inverse), set(kLargest)), set(-kLargest));
    storeBefore(count, e, c, x == set(-kInfinity) ? x : scaled);
  }
  SoftmaxRow found;
  found.max = largestOfRow(e, count);
  found.sum = expRow(e, found.max, count, e);
  scaleTo(found.sum > 0.0f ? 1.0f / found.sum : 0.0f, e, count, weights);
  return found;
}

/// The sums of `Vectors` vectors of columns.
template <int Vectors>
KERNEL_INLINE void sumColumns(const float* weights, const float* rows, std::ptrdiff_t rowStride, int count,
                              float* out) {
  V sums[Vectors]{};
  for (int i = 0; i < count; ++i, rows += rowStride)
    for (int n = 0; n < Vectors; ++n) sums[n] = mulAdd(set(weights[i]), load(rows + n * kLanes), sums[n]);
  for (int n = 0; n < Vectors; ++n) store(out + n * kLanes, sums[n]);
}

void weightedSumRow(const float* weights, const float* rows, std::ptrdiff_t rowStride, int count, int dim,
                    float* out) {
  int c = 0;
  for (; c + 8 * kLanes <= dim; c += 8 * kLanes) sumColumns<8>(weights, rows + c, rowStride, count, out + c);
  for (; c + kLanes <= dim; c += kLanes) sumColumns<1>(weights, rows + c, rowStride, count, out + c);
  for (int rest = c; rest < dim; ++rest) out[rest] = 0.0f;
  for (int i = 0; i < count; ++i)
    for (int rest = c; rest < dim; ++rest) out[rest] += weights[i] * rows[i * rowStride + rest];
  for (c = 0; c < dim; ++c)
    if (!isFinite(out[c])) out[c] = careful(weights, rows + c, rowStride, count);
}

void addRow(float a, const float* x, std::ptrdiff_t xStride, int count, float* y, std::ptrdiff_t yStride) {
  int i = 0;
  if (xStride == 1 && yStride == 1)
    for (; i + kLanes <= count; i += kLanes) store(y + i, mulAdd(set(a), load(x + i), load(y + i)));
  for (; i < count; ++i) y[i * yStride] += a * x[i * xStride];
}

}  // namespace

const Table& table() {
  static constexpr Table functions{{kRows, kKeys, kPanel, kTileRows},
                                   forwardUnit,
                                   expRow,
                                   dotRows,
                                   tanhRows,
                                   softmaxRow,
                                   weightedSumRow,
                                   addRow,
                                   scaleTo,
                                   largestSquare,
                                   largestOfRow,
                                   firstNotFinite};
  return functions;
}

}  // namespace attention::kernels::KERNEL_NAMESPACE

#include "attention/kernels/backward_body.h"
#include "attention/kernels/product_body.h"
