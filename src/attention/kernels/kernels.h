// The fast implementation: attention forward and backward, and the row operations that incremental updates
// consist of, in float32, compiled once per instruction set and chosen at run time.
//
// Every matrix is a view: a pointer and strides counted in floats, so split [H, L, d] and packed [L, H·d]
// layouts, padded rows and misaligned buffers all work. Columns are contiguous. Outputs must not overlap
// inputs or each other. Nothing here throws or keeps state; memory that is reused between calls belongs to a
// Workspace.
//
// Accuracy (the tests hold every kernel to these bounds against double precision):
//   scores   |fast - exact| <= scoreBound()
//   weights  |fast - exact| <= kWeightBound + half the bound of their scores (÷ temperature); for unit-normal Q and K with
//            headDim <= 64 at most kWeightBound in all. Rows sum to 1 within kRowSumBound up to 8,192 keys
//   exp      within kExpUlp units in the last place
//   A dot product that overflows is replaced by ±FLT_MAX: finite inputs never give NaN or infinity.
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
/// Bound on the error of a score: 8·2^-23·√headDim·max(1, the largest magnitude of the exact scores).
inline double scoreBound(int headDim, double largestScore) {
  return 8.0 * 0x1p-23 * std::sqrt(static_cast<double>(headDim)) * (largestScore > 1.0 ? largestScore : 1.0);
}

/// The instruction sets that a build may contain: a native build up to the first four, a WebAssembly build
/// one of the last two.
enum class Kernel : std::uint8_t { scalar, sse4, avx2, avx512, wasmSimd128, wasmRelaxed };

/// "scalar", "sse4", "avx2", "avx512", "wasm-simd128", "wasm-relaxed".
std::string_view name(Kernel kernel);
/// The kernel of that name, whether or not it can run here; nothing if there is none.
std::optional<Kernel> kernelNamed(std::string_view name);
/// The kernels of this build that this processor can run, slowest first; never empty.
std::span<const Kernel> available();
/// The last of available().
Kernel best();

/// A view of [heads, rows, columns] to read from: element (h, r, c) is data[h·headStride + r·rowStride + c].
struct In {
  const float* data = nullptr;
  std::ptrdiff_t headStride = 0;
  std::ptrdiff_t rowStride = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// The same, to write to.
struct Out {
  float* data = nullptr;
  std::ptrdiff_t headStride = 0;
  std::ptrdiff_t rowStride = 0;
  explicit operator bool() const { return data != nullptr; }
};

/// A multiple of the number of queries that any kernel computes at a time. A call divided before such queries
/// gives the same numbers.
inline constexpr int kWholeRows = 192;

/// The arguments of forward(). Q [heads, queryCount, headDim], K [kvHeads, keyCount, headDim], V [kvHeads,
/// keyCount, valueDim]; query head h reads key head h / (heads / kvHeads). keyCount and queryCount may be 0,
/// all other counts are >= 1; heads is a multiple of kvHeads; all inputs are finite (the bias may contain
/// -inf). None of this is checked here.
struct Forward {
  int heads = 1, kvHeads = 1;
  int queryCount = 0, keyCount = 0;
  int headDim = 0, valueDim = 0;
  In q, k, v;
  /// Stands for the numbers of K and V: between two calls with the same one they have not changed, and are
  /// not brought in order again where the workspace still has them. 0: nothing is known.
  std::uint64_t content = 0;

  // The steps in order: s = q·k; s·scale; softcap·tanh(s / softcap) when softcap > 0; + bias; mask; ÷
  // temperature.
  float scale = 1.0f;        ///< the factor itself: the caller computes 1/√headDim where it is wanted
  float softcap = 0.0f;      ///< 0: none
  float temperature = 1.0f;  ///< > 0

  // Masks; a key must pass all of them. `position` below is query + causalOffset.
  bool causal = false;   ///< key <= position
  int causalOffset = 0;  ///< keys cached before the first query; may be negative
  int windowLeft = -1;   ///< key >= position - windowLeft; -1: unbounded
  int windowRight = -1;  ///< key <= position + windowRight; -1: unbounded
  int keyLength = -1;    ///< keys from here on are padding; -1: there is no padding
  /// 1 = blocked, [heads, queryCount, keyCount], strides in bytes; a head stride of 0 shares it between
  /// heads, a row stride of 0 between rows.
  const std::uint8_t* blocked = nullptr;
  std::ptrdiff_t blockedHeadStride = 0, blockedRowStride = 0;
  /// Added to the scores, [heads, queryCount, keyCount]; a stride of 0 shares it likewise. -inf masks.
  In bias;

  // The results to compute. Those left null are neither computed nor stored.
  Out output;   ///< weights · V, [heads, queryCount, valueDim]
  Out weights;  ///< [heads, queryCount, keyCount], as are the next five
  /// q·k; times scale; after the soft cap; after bias and mask (masked cells -inf).
  Out raw, scores, softcapped, masked;
  Out exponentials;  ///< exp(masked / temperature - rowMax)
  /// [heads, queryCount, 1]: the maximum of masked / temperature, the sum of the exponentials.
  Out rowMax, rowSum;
};

/// Upper bounds on the magnitudes of the inputs of a call.
struct Magnitudes {
  /// Bounds on q·q and k·k over all rows, so (q·k)² <= their product.
  double querySquare = 0.0, keySquare = 0.0;
  float value = 0.0f;  ///< bound on |v|
};

/// How many tiles of scores were computed; a tile is a block of some rows by some keys (its size depends on
/// the kernel).
struct Tiles {
  std::int64_t computed = 0;  ///< tiles that were computed
  /// Tiles there would be without any mask (rows of extreme numbers are counted in neither).
  std::int64_t total = 0;
  int rows = 0, keys = 0;  ///< their size: tile (i, j) is queries i·rows … by keys j·keys …, in every head
};

/// Scratch memory and, in native builds, the threads. Only one call at a time may use it. It grows to what a
/// call needs and keeps its memory, so a second call of the same shape allocates nothing.
class Workspace {
 public:
  /// `threads` >= 1 includes the calling thread; 0 stands for the number of processor cores. Always 1 in
  /// WebAssembly.
  explicit Workspace(int threads = 1);
  ~Workspace();
  Workspace(Workspace&&) noexcept;
  Workspace& operator=(Workspace&&) noexcept;

  int threads() const;
  std::size_t bytes() const;  ///< scratch memory currently held

  struct Parts;  // private to the kernels
  Parts& parts() { return *parts_; }

 private:
  std::unique_ptr<Parts> parts_;
};

/// Calls work(context, thread) on so many threads of the workspace at once; the calling one is number 0.
void run(Workspace& workspace, int threads, void (*work)(void*, int), void* context);
/// Calls work(part) for each of some parts, on the threads of the workspace.
template <class Work>
void inParts(Workspace& workspace, int parts, const Work& work) {
  struct Shared {
    const Work& work;
    int parts, threads;
  } shared{work, parts, workspace.threads() < parts ? workspace.threads() : parts};
  const auto serve = [](void* context, int thread) {
    const Shared& all = *static_cast<const Shared*>(context);
    for (int part = thread; part < all.parts; part += all.threads) all.work(part);
  };
  run(workspace, shared.threads, serve, &shared);
}

/// Computes what `call` asks for. If no result of the score matrix is wanted, the computation is fused: each
/// tile of scores is used and discarded, and a thread needs about 1.3 MB and a few bytes per query, whatever
/// the number of keys; of rows longer than some 10,000 columns at most 9 times the memory of Q, K and V. In
/// either case tiles that are masked entirely are not computed. Rows with every key masked: rowMax is -inf,
/// rowSum 0, every other result 0 (but masked: -inf). The results do not depend on the number of threads.
/// `known`, if given, saves small calls a scan of all inputs; see largestSquare().
/// Returns nothing if scratch memory could not be allocated; in that case nothing is written.
std::optional<Tiles> forward(Kernel kernel, const Forward& call, Workspace& workspace,
                             const Magnitudes* known = nullptr);

/// The arguments of backward(): gradients of a scalar L with respect to Q, K and V, from those with respect
/// to the output, the weights, or both.
struct Backward {
  Forward forward;  ///< the forward call to differentiate; which results it asks for is ignored
  In dOutput;       ///< ∂L/∂output, [heads, queryCount, valueDim]; null: zeros
  In dWeights;      ///< ∂L/∂weights, [heads, queryCount, keyCount]; null: zeros
  Out dQ, dK, dV;   ///< in the shapes of q, k and v; those left null are not computed
};

/// Computes what `call` asks for from Q, K and V alone: the weights are recomputed. Takes five matrix
/// products where forward() takes two (Dao et al. 2022, algorithm 4, with whole rows of keys at a time), and
/// at most 2.6 times its time. A thread needs 8 bytes per key for each of about 48 queries at a time, and
/// about 20 bytes for each number of K and V.
///   |fast - exact| <= 2e-7·√keyCount·A·max(1, S), where S is the largest |masked / temperature|. For dV, A is the largest
///   |dOutput|·√(queries that share it); for dQ and dK it is G·|scale| / temperature·the largest |k| or |q|·√queries, with G the
///   largest |∂L/∂weight|.
/// Masked cells, and rows with every key masked, have gradient 0. Finite inputs never give NaN or infinity.
/// The results do not depend on the number of threads. Returns false if scratch memory could not be
/// allocated; in that case nothing is written.
bool backward(Kernel kernel, const Backward& call, Workspace& workspace);

/// C = A·B, or C += A·B where `adds`: A [rows, depth] with any strides, B [depth, columns] and C [rows,
/// columns] with contiguous columns.
struct Product {
  int rows = 0, columns = 0, depth = 0;
  const float* a = nullptr;
  /// A(i, k) is a[i·aRow + k·aStep]; aRow = 1 reads the transpose of a row-major matrix.
  std::ptrdiff_t aRow = 0, aStep = 0;
  const float* b = nullptr;
  std::ptrdiff_t bRow = 0;
  float* c = nullptr;
  std::ptrdiff_t cRow = 0;
  bool adds = false;
};

/// For the small matrices of training: single-threaded, allocates nothing, and does not saturate: a sum that
/// overflows becomes infinite or NaN. |fast - exact| <= depth·2^-23·the largest |a|·the largest |b|·(1 + the
/// largest |C| before).
void product(Kernel kernel, const Product& product);

// ---- Row operations, for updates of a single row or column. Single-threaded, no allocation. Counts may be
// 0.

/// The accuracy of exp(): within this many units in the last place over [kExpLowest, kExpHighest]. Below that
/// range it gives 0, above it infinity. Results that would be subnormal are flushed to 0, since products with
/// subnormal numbers cost a hundred times as much.
inline constexpr double kExpUlp = 1.5;
inline constexpr float kExpLowest = -87.33654f;
inline constexpr float kExpHighest = 88.72283f;

/// out[i] = exp(in[i] - shift) for i < count; returns their sum. `out` may be `in`. Numbers may be -inf (they
/// give 0); a shift of -inf is treated as 0.
float exp(Kernel kernel, const float* in, float shift, int count, float* out);

/// out[i·outStride] = a · rows[i] for i < count, where `a` and each row have `dim` numbers and rows are
/// `rowStride` apart. Computes a row of scores (rows = K) or a column (rows = Q, outStride = keyCount). An
/// overflow gives ±FLT_MAX.
void dots(Kernel kernel, const float* a, const float* rows, std::ptrdiff_t rowStride, int count, int dim,
          float* out, std::ptrdiff_t outStride);

/// out[i] = Σ_c v[c]·tanh(x_c + y_c) for i < count, of which a[c] = exp(2·x_c) and rows[i·dim + c] =
/// exp(2·y_c) are given. A row of additive scores (rows are of K). Not finite where a product of exponentials
/// is infinity times 0, or the sum overflows. dim ≥ 1; |fast - exact| <= 2^-20·Σ|v| for x and y from -40
/// to 40.
void tanhs(Kernel kernel, const float* a, const float* rows, const float* v, int count, int dim, float* out);

/// The statistics that softmax() returns.
struct SoftmaxRow {
  float max = 0.0f;  ///< the maximum of in / temperature; -inf when every number is -inf
  float sum = 0.0f;  ///< the sum of the exponentials
};
/// One row: weights[i] = exp(in[i]/temperature - max) / sum; all 0 where every number is -inf. `exponentials`
/// may be null. Either output may be `in`, but they must differ from each other.
SoftmaxRow softmax(Kernel kernel, const float* in, float temperature, int count, float* exponentials,
                   float* weights);

/// out[c] = Σ_i weights[i]·rows[i][c] for c < dim; rows are `rowStride` apart. Computes a row of the output
/// (rows = V) or of a projection (weights = a row of X, rows = W). Rows with weight 0 are skipped. An
/// overflow gives ±FLT_MAX.
void weightedSum(Kernel kernel, const float* weights, const float* rows, std::ptrdiff_t rowStride, int count,
                 int dim, float* out);

/// y[i·yStride] += a·x[i·xStride], for i < count.
void axpy(Kernel kernel, float a, const float* x, std::ptrdiff_t xStride, int count, float* y,
          std::ptrdiff_t yStride);

/// out[i] = a·in[i], for i < count. `out` may be `in`.
void scale(Kernel kernel, float a, const float* in, int count, float* out);

/// The largest of `count` numbers; -inf if count is 0.
float largest(Kernel kernel, const float* in, int count);

/// An upper bound for the sums of squares of the rows of [heads, rows, columns]; infinite or NaN where one of
/// the numbers is, or where a sum overflows.
float largestSquare(Kernel kernel, const In& in, int heads, int rows, int columns);

/// The index of the first number that is infinite or NaN; -1 if there is none.
std::ptrdiff_t notFinite(Kernel kernel, const float* in, std::size_t count);

}  // namespace attention::kernels
