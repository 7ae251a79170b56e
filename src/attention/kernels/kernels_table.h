// The interface between kernels.cpp and each instruction set: a table of functions. Private to the kernels.
#pragma once

#include "attention/kernels/kernels.h"

namespace attention::kernels {

/// What kernels.cpp determines once per call.
struct Plan {
  const Forward& call;
  /// No softcap, no bias, no score matrix wanted: the scale is multiplied into Q and exponentials use base 2.
  bool plain = false;
  bool allScores = false;  ///< the masked scores are wanted too, so no tile of Q·Kᵀ is skipped
  bool isMasked = false;   ///< some query cannot see some key before keyEnd
  /// Every query sees all keys, they fit one block, and V consists of whole panels: no sums have to be kept
  /// between blocks.
  bool isDirect = false;
  bool isBounded = false;  ///< fits() and isBounded() are known to hold for the whole call
  bool isCareful = false;  ///< all rows are computed by forwardCarefully()
  int keyEnd = 0;          ///< number of keys that are not padding
  /// Keys that are packed at a time: all, with the last panel padded, or a multiple of Blocking::keys.
  int packedKeys = 0;
  float queryFactor = 1.0f;  ///< multiplies Q when it is packed
  float finalFactor = 1.0f;  ///< multiplies the masked scores (when not plain)
  double margin = 1.0;       ///< by how much the factors above may enlarge a product of Q and K
};

/// A unit of work for a thread: some rows of all the query heads that read one key head.
struct Unit {
  int kvHead = 0, rowBegin = 0, rowEnd = 0;
};

/// Block sizes of a kernel.
struct Blocking {
  int rows = 0;   ///< queries per block; units begin at multiples of it
  int keys = 0;   ///< keys per block
  int panel = 0;  ///< keys, or columns of V, per packed panel; the width of a tile
  int tileRows = 0;
};

/// Scratch memory of one thread. Sizes in floats; see place() in kernels.cpp.
struct Scratch {
  float* query = nullptr;   ///< a block of Q
  float* scores = nullptr;  ///< a block of scores, then of exponentials
  float* sums = nullptr;    ///< a block of the output, before it is divided
  float* keys = nullptr;    ///< packed K
  float* packedValues = nullptr;
  /// V: row j of a panel is at valueStride·j, column c (where a panel begins) at valuePanel·c.
  const float* values = nullptr;
  std::ptrdiff_t valueStride = 0, valuePanel = 0;
  float* rowMax = nullptr;  ///< per head and row of the unit, while more keys are to come
  float* rowSum = nullptr;
  /// Per row of the block and block of keys: the maximum that its exponentials are relative to.
  float* blockMax = nullptr;
  double* carefulRow = nullptr;           ///< scratch for forwardCarefully()
  int packedHead = -1, packedBegin = -1;  ///< which head and keys are packed in keys and values
  bool hasValues = false;                 ///< are values packed too?
  std::uint64_t content = 0;              ///< Forward::content of what is packed
  int keyEnd = 0;                         ///< likewise
  double keySquare = 0.0;                 ///< bound for that head, as in Magnitudes
  float valueMagnitude = 0.0f;
  std::int64_t computed = 0;  ///< tiles of scores
};

struct Table {
  Blocking blocking;
  void (*forward)(const Plan&, const Unit&, Scratch&);
  float (*exp)(const float*, float, int, float*);
  void (*dots)(const float*, const float*, std::ptrdiff_t, int, int, float*, std::ptrdiff_t);
  void (*tanhs)(const float*, const float*, const float*, int, int, float*);
  SoftmaxRow (*softmax)(const float*, float, int, float*, float*);
  void (*weightedSum)(const float*, const float*, std::ptrdiff_t, int, int, float*);
  void (*axpy)(float, const float*, std::ptrdiff_t, int, float*, std::ptrdiff_t);
  void (*scale)(float, const float*, int, float*);
  float (*largestSquare)(const In&, int, int, int);
  float (*largest)(const float*, int);
  std::ptrdiff_t (*notFinite)(const float*, std::size_t);
};

/// Distance between rows of the scratch blocks, in floats: a constant, so that the inner loop needs no
/// address arithmetic, and not a power of two, so that rows do not fall on the same cache sets.
inline constexpr int kBlockKeys = 256;
inline constexpr int kRowStride = kBlockKeys + 16;

/// forward() for rows whose products might overflow a float, and for a few rows of very many columns: in
/// double precision, one number at a time. Computes everything that a kernel's forward does for these rows.
/// `row` is scratch memory for keyCount numbers.
void forwardCarefully(const Plan& plan, int head, int rowBegin, int rowEnd, double* row);

/// Half-open range of the keys that causal, window and padding leave visible to a query.
struct Keys {
  int begin, end;
};
Keys visibleKeys(const Plan& plan, int row);

/// Do all products of inputs within these bounds, and sums of such products, fit a float?
bool fits(const Plan& plan, const Magnitudes& most);
/// Are the numbers so moderate that 2^score and its sums stay within the range of a float without subtracting
/// a maximum?
bool isBounded(const Plan& plan, const Magnitudes& most);

/// What backward() determines once per call.
struct BackwardPlan {
  const Backward& call;
  Plan plan;
  float factor = 1.0f;  ///< from the gradient of masked scores ÷ temperature to that of q·k
};

/// Separate from Table, so that a program that never runs backward() does not contain it.
struct BackwardTable {
  /// Floats of scratch memory that a thread needs.
  std::size_t (*floats)(const BackwardPlan&);
  void (*unit)(const BackwardPlan&, int kvHead, float* memory);  ///< computes all query heads of one key head
};

/// backward() for the query heads of one key head when products might overflow a float: in double precision,
/// one number at a time. `rows` is scratch memory for 3·keyCount numbers.
void backwardCarefully(const BackwardPlan& plan, int kvHead, double* rows);

/// Allocates `floats` numbers of scratch memory per thread; null if that much is not available.
float* const* reserve(Workspace& workspace, std::size_t floats);
Plan planOf(const Forward& call, const Blocking& blocking);
const Table& tableOf(Kernel kernel);

namespace scalar {
const Table& table();
const BackwardTable& backward();
void product(const Product&);
}  // namespace scalar
namespace sse4 {
const Table& table();
const BackwardTable& backward();
void product(const Product&);
}  // namespace sse4
namespace avx2 {
const Table& table();
const BackwardTable& backward();
void product(const Product&);
}  // namespace avx2
namespace avx512 {
const Table& table();
const BackwardTable& backward();
void product(const Product&);
}  // namespace avx512
namespace wasm {
const Table& table();
const BackwardTable& backward();
void product(const Product&);
}  // namespace wasm

}  // namespace attention::kernels
