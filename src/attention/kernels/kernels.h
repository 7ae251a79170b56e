// The fast numbers: attention forward and the row operations that incremental updates are made of, in float32,
// compiled once per instruction set and chosen at run time.
//
// Every matrix is a view: a pointer and strides counted in floats, so split [H, L, d] and packed [L, H·d] layouts,
// padded rows and misaligned buffers all work. Columns are contiguous. Outputs must not overlap inputs or each other.
// Nothing here throws or keeps state; what is reused between calls lives in a Workspace.
//
// Numbers (the tests hold every kernel to these against double precision):
//   scores   |fast - exact| <= scoreBound(), see there
//   weights  |fast - exact| <= kWeightBound + half the bound of their scores (÷ temperature); for unit-normal Q and K with
//            headDim <= 64 that is at most kWeightBound in all. Rows sum to 1 within kRowSumBound up to 8,192 keys
//   exp      within kExpUlp units in the last place, see there
//   A dot product too large for a float counts as ±FLT_MAX: no NaN and no infinity comes from finite input.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace attention::kernels {

inline constexpr double kWeightBound = 4e-7;
inline constexpr double kRowSumBound = 2e-6;
/// Bound of the error of a score: 8·2^-23·√headDim·max(1, the largest exact score in magnitude).
inline double scoreBound(int headDim, double largestScore) {
  return 8.0 * 0x1p-23 * std::sqrt(static_cast<double>(headDim)) * (largestScore > 1.0 ? largestScore : 1.0);
}

/// The instruction sets that a build may hold. Natively the first four, in WebAssembly one of the last two.
enum class Kernel : std::uint8_t { scalar, sse4, avx2, avx512, wasmSimd128, wasmRelaxed };

/// "scalar", "sse4", "avx2", "avx512", "wasm-simd128", "wasm-relaxed".
std::string_view name(Kernel kernel);
/// The kernel of that name, whether or not it can run here.
std::optional<Kernel> kernelNamed(std::string_view name);
/// Those in this build that this processor can run, slowest first; never empty.
std::span<const Kernel> available();
/// The last of available().
Kernel best();

/// [heads, rows, columns] to read: element (h, r, c) is data[h·headStride + r·rowStride + c].
struct In {
  const float* data = nullptr;
  std::ptrdiff_t headStride = 0;
  std::ptrdiff_t rowStride = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// The same, to write.
struct Out {
  float* data = nullptr;
  std::ptrdiff_t headStride = 0;
  std::ptrdiff_t rowStride = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// What to compute. Q [heads, queryCount, headDim], K [kvHeads, keyCount, headDim], V [kvHeads, keyCount, valueDim];
/// query head h reads key head h / (heads / kvHeads). All counts >= 1 but keyCount and queryCount, which may be 0;
/// heads is a multiple of kvHeads; all inputs finite (bias may hold -inf). None of this is checked here.
struct Forward {
  int heads = 1, kvHeads = 1;
  int queryCount = 0, keyCount = 0;
  int headDim = 0, valueDim = 0;
  In q, k, v;

  // The steps in their order: s = q·k; s·scale; softcap·tanh(s / softcap) when softcap > 0; + bias; mask; ÷ temperature.
  float scale = 1.0f;        ///< the factor itself, already 1/√headDim where that is meant
  float softcap = 0.0f;      ///< 0: none
  float temperature = 1.0f;  ///< > 0

  // Masks, joined by and. `position` below is query + causalOffset.
  bool causal = false;      ///< key <= position
  int causalOffset = 0;     ///< keys cached before the first query; may be negative
  int windowLeft = -1;      ///< key >= position - windowLeft; -1: unbounded
  int windowRight = -1;     ///< key <= position + windowRight; -1: unbounded
  int keyLength = -1;       ///< keys from here on are padding; -1: none is
  /// 1 = blocked, [heads, queryCount, keyCount] by strides in bytes; a head stride of 0 shares it, a row stride of 0 too.
  const std::uint8_t* blocked = nullptr;
  std::ptrdiff_t blockedHeadStride = 0, blockedRowStride = 0;
  /// Added to the scores, [heads, queryCount, keyCount]; strides of 0 share. -inf masks.
  In bias;

  // What is wanted. Those left null are not computed, and nothing then is stored for them.
  Out output;                                 ///< weights · V, [heads, queryCount, valueDim]
  Out weights;                                ///< [heads, queryCount, keyCount], as the next five
  Out raw, scores, softcapped, masked;        ///< q·k; times scale; after the cap; after bias and mask (masked cells -inf)
  Out exponentials;                           ///< exp(masked / temperature - rowMax)
  Out rowMax, rowSum;                         ///< [heads, queryCount, 1]: of masked / temperature, of exponentials
};

/// How large the numbers of a call are, at most.
struct Magnitudes {
  double querySquare = 0.0, keySquare = 0.0;  ///< no q·q and no k·k of a row is larger, so (q·k)² <= their product
  float value = 0.0f;                         ///< no |v| is larger
};

/// Pieces of work done and not done; a tile is some rows by some keys (its size depends on the kernel).
struct Tiles {
  std::int64_t computed = 0;  ///< tiles of scores that were computed
  std::int64_t total = 0;     ///< those there would be without any mask (rows of extreme numbers take no part in either)
  int rows = 0, keys = 0;     ///< their size: tile (i, j) is queries i·rows … and keys j·keys …, in every head
};

/// Scratch memory and, natively, the threads. One call at a time may use it. It grows to what a call needs and is kept,
/// so a second call of the same shape allocates nothing.
class Workspace {
 public:
  /// `threads` >= 1 counts the caller; 0 stands for the processor's cores. In WebAssembly it is always 1.
  explicit Workspace(int threads = 1);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  int threads() const;
  std::size_t bytes() const;  ///< scratch memory held at the moment

  struct Parts;  // private to the kernels
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// Computes what `call` asks for. With output alone, or output and nothing of the score matrix, it is fused: tiles of
/// scores are used and forgotten, and a thread takes some 1.3 MB and a few bytes a query, whatever the count of keys. Tiles that
/// are masked as a whole are not computed in either case.
/// Rows with every key masked: rowMax -inf, rowSum 0, everything else of theirs 0 (but masked: -inf).
/// The numbers do not depend on the thread count.
/// `known` spares small calls a look at every number; null: not known. See largestSquare().
/// Nothing when scratch memory could not be had; nothing is written then.
std::optional<Tiles> forward(Kernel kernel, const Forward& call, Workspace& workspace, const Magnitudes* known = nullptr);

/// What to compute backwards: gradients of a number L by Q, K and V, from those by the output, or by the weights, or both.
struct Backward {
  Forward forward;  ///< the call whose backward this is; what it wants is not looked at
  In dOutput;       ///< ∂L/∂output, [heads, queryCount, valueDim]; null: zeros
  In dWeights;      ///< ∂L/∂weights, [heads, queryCount, keyCount]; null: zeros
  Out dQ, dK, dV;   ///< in the shapes of q, k and v; those left null are not computed
};

/// Computes what `call` asks for, from Q, K and V alone: the weights are made once more. Five products of matrices where
/// forward() has two (Dao et al. 2022, algorithm 4, with whole rows of keys at a time), and at most 2.6 times its time.
/// A thread takes 8 bytes for each key and each of some 48 queries at a time, and 20 or so for each number of K and V.
///   |fast - exact| <= 2e-7·√keyCount·A·max(1, S), where S is the largest |masked / temperature|, A for dV the largest |dOutput|·√(queries
///   that share it), for dQ and dK G·|scale| / temperature·the largest |k| or |q|·√queries, and G the largest |∂L/∂weight|
/// Masked cells, and rows with every key masked, have gradient 0. No NaN and no infinity comes from finite numbers. The
/// numbers do not depend on the thread count. False when scratch memory could not be had; nothing is written then.
bool backward(Kernel kernel, const Backward& call, Workspace& workspace);

/// C = A·B, or C += A·B: A [rows, depth] by any strides, B [depth, columns] and C [rows, columns] with contiguous columns.
struct Product {
  int rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  std::ptrdiff_t aRow = 0, aStep = 0;  ///< A(i, k) is a[i·aRow + k·aStep]; aRow = 1 reads a matrix as its transpose
  const float* b = nullptr;
  std::ptrdiff_t bRow = 0;
  float* c = nullptr;
  std::ptrdiff_t cRow = 0;
  bool adds = false;
};

/// For the small matrices of training: one thread, no memory, and numbers whose products fit a float; what does not becomes infinite
/// or no number at all. |fast - exact| <= depth·2^-23·the largest |a|·the largest |b|·(1 + the largest |C| before).
void product(Kernel kernel, const Product& product);

// ---------------------------------------------------------------------------------------------------------------------
// Row operations, for updates that touch a row or a column. One thread, no memory. Counts may be 0.

/// Over [kExpLowest, kExpHighest] exp() is within this many units in the last place; below it gives 0, above it
/// gives infinity. Results that would be denormal count as "below": they are zero, since products with denormal numbers
/// cost a hundred times as much.
inline constexpr double kExpUlp = 1.5;
inline constexpr float kExpLowest = -87.33654f;
inline constexpr float kExpHighest = 88.72283f;

/// out[i] = exp(in[i] - shift) for i < count; the sum of them. `out` may be `in`. Numbers may be -inf (they give 0);
/// a shift of -inf counts as 0.
float exp(Kernel kernel, const float* in, float shift, int count, float* out);

/// out[i·outStride] = a · rows[i], for i < count: `a` and each row have `dim` numbers, rows are `rowStride` apart.
/// Serves a row of scores (rows = K) and a column (rows = Q, outStride = keyCount). Too large counts as ±FLT_MAX.
void dots(Kernel kernel, const float* a, const float* rows, std::ptrdiff_t rowStride, int count, int dim, float* out,
          std::ptrdiff_t outStride);

/// What softmax() found.
struct SoftmaxRow {
  float max = 0.0f;  ///< of in / temperature; -inf when every number is -inf
  float sum = 0.0f;  ///< of the exponentials
};
/// One row: weights[i] = exp(in[i]/temperature - max) / sum, and 0 throughout where every number is -inf.
/// `exponentials` may be null. `weights` or `exponentials` may be `in`, not each other.
SoftmaxRow softmax(Kernel kernel, const float* in, float temperature, int count, float* exponentials, float* weights);

/// out[c] = Σ_i weights[i]·rows[i][c], for c < dim; rows are `rowStride` apart. Serves a row of the output (rows = V) and a
/// row of a projection (weights = a row of X, rows = W). Zero weights skip their row. Too large counts as ±FLT_MAX.
void weightedSum(Kernel kernel, const float* weights, const float* rows, std::ptrdiff_t rowStride, int count, int dim,
                 float* out);

/// y[i·yStride] += a·x[i·xStride], for i < count.
void axpy(Kernel kernel, float a, const float* x, std::ptrdiff_t xStride, int count, float* y, std::ptrdiff_t yStride);

/// out[i] = a·in[i], for i < count. `out` may be `in`.
void scale(Kernel kernel, float a, const float* in, int count, float* out);

/// The largest of count numbers; -inf for none.
float largest(Kernel kernel, const float* in, int count);

/// At least the largest sum of squares of a row of [heads, rows, columns]; infinite or not a number where one of the numbers is,
/// or where the sum leaves the range of a float.
float largestSquare(Kernel kernel, const In& in, int heads, int rows, int columns);

/// The index of the first number that is infinite or not a number; -1 for none.
std::ptrdiff_t notFinite(Kernel kernel, const float* in, std::size_t count);

}  // namespace attention::kernels
