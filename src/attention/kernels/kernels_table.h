// What kernels.cpp asks of each instruction set: one table of functions. Private to the kernels.
#pragma once

#include "attention/kernels/kernels.h"

namespace attention::kernels {

/// What kernels.cpp works out once per call.
struct Plan {
  const Forward& call;
  bool plain = false;     ///< no softcap, no bias, none of the score matrices: the scale goes into Q, exponents are base 2
  bool allScores = false; ///< masked scores are asked for too, so no tile of Q·Kᵀ is skipped
  bool isMasked = false;  ///< some query may not see some key before keyEnd
  bool isDirect = false;  ///< every query sees all keys, which are one block, and V is whole panels: no sums have to wait
  bool isBounded = false; ///< fits() and isBounded() are known to hold for the whole call
  int keyEnd = 0;         ///< keys that are not padding
  int packedKeys = 0;     ///< keys that are packed at a time: all, or a multiple of Blocking::keys
  float queryFactor = 1.0f;  ///< multiplies Q when it is packed
  float finalFactor = 1.0f;  ///< multiplies the masked scores (when not plain)
  double margin = 1.0;       ///< how far the factors above may take a product of Q and K
};

/// A share of the work: some rows of all the query heads that read one key head.
struct Unit {
  int kvHead = 0, rowBegin = 0, rowEnd = 0;
};

/// Sizes that a kernel works in.
struct Blocking {
  int rows = 0;   ///< queries of one block; units begin at multiples of it
  int keys = 0;   ///< keys of one block
  int panel = 0;  ///< keys, or columns of V, of one packed panel; a tile's width
  int tileRows = 0;
};

/// One thread's memory. Sizes in floats; see place() in kernels.cpp.
struct Scratch {
  float* query = nullptr;       ///< a block of Q
  float* scores = nullptr;      ///< a block of scores, then of exponentials
  float* sums = nullptr;        ///< a block of the output, before it is divided
  float* keys = nullptr;        ///< packed K
  float* packedValues = nullptr;
  const float* values = nullptr;  ///< V: row j of a panel is valueStride·j further on, column c valuePanel·c when it begins one
  std::ptrdiff_t valueStride = 0, valuePanel = 0;
  float* rowMax = nullptr;      ///< per head and row of the unit, while later keys are still to come
  float* rowSum = nullptr;
  float* blockMax = nullptr;    ///< per row of the block and block of keys: what its exponentials are relative to
  double* carefulRow = nullptr; ///< for forwardCarefully
  int packedHead = -1, packedBegin = -1;  ///< what keys and values hold
  double keySquare = 0.0;       ///< of that head, as in Magnitudes
  float valueMagnitude = 0.0f;
  std::int64_t computed = 0;  ///< tiles of scores
};

struct Table {
  Blocking blocking;
  void (*forward)(const Plan&, const Unit&, Scratch&);
  float (*exp)(const float*, float, int, float*);
  void (*dots)(const float*, const float*, std::ptrdiff_t, int, int, float*, std::ptrdiff_t);
  SoftmaxRow (*softmax)(const float*, float, int, float*, float*);
  void (*weightedSum)(const float*, const float*, std::ptrdiff_t, int, int, float*);
  void (*axpy)(float, const float*, std::ptrdiff_t, int, float*, std::ptrdiff_t);
  void (*scale)(float, const float*, int, float*);
  float (*largestSquare)(const In&, int, int, int);
  float (*largest)(const float*, int);
  std::ptrdiff_t (*notFinite)(const float*, std::size_t);
};

/// Rows of the scratch blocks are this many floats apart: a constant, so that the inner loop has no address arithmetic,
/// and not a power of two, so that rows do not fall on the same cache sets.
inline constexpr int kBlockKeys = 256;
inline constexpr int kRowStride = kBlockKeys + 16;

/// Rows whose products might not fit a float, in double precision and one number at a time. Does all that a kernel's
/// forward does for them. `row` is memory for keyCount numbers.
void forwardCarefully(const Plan& plan, int head, int rowBegin, int rowEnd, double* row);

/// Half-open range of keys that the causal rule, the window and the padding leave to a query.
struct Keys {
  int begin, end;
};
Keys visibleKeys(const Plan& plan, int row);

/// Can no product of such numbers, nor a sum of them, leave the range of a float?
bool fits(const Plan& plan, const Magnitudes& most);
/// Are scores so small that 2^score needs no maximum taken off first?
bool isBounded(const Plan& plan, const Magnitudes& most);

/// What backward() works out once per call.
struct BackwardPlan {
  const Backward& call;
  Plan plan;
  float factor = 1.0f;  ///< from the gradient of masked scores ÷ temperature to that of q·k
};

/// Apart from Table, so that a program that never goes backwards does not hold it.
struct BackwardTable {
  std::size_t (*floats)(const BackwardPlan&);                 ///< memory that a thread takes
  void (*unit)(const BackwardPlan&, int kvHead, float* memory);  ///< all query heads of one key head
};

/// All that backward() does for the query heads of one key head, in double precision and one number at a time: for numbers
/// whose products might not fit a float. `rows` is memory for 3·keyCount numbers.
void backwardCarefully(const BackwardPlan& plan, int kvHead, double* rows);

/// Scratch memory of a thread, `floats` each; null where there is not so much. Then work(context, thread) on as many threads.
float* const* reserve(Workspace& workspace, std::size_t floats);
void run(Workspace& workspace, int threads, void (*work)(void*, int), void* context);
Plan planOf(const Forward& call, const Blocking& blocking);
const Table& tableOf(Kernel kernel);

namespace scalar { const Table& table(); const BackwardTable& backward(); void product(const Product&); }
namespace sse4 { const Table& table(); const BackwardTable& backward(); void product(const Product&); }
namespace avx2 { const Table& table(); const BackwardTable& backward(); void product(const Product&); }
namespace avx512 { const Table& table(); const BackwardTable& backward(); void product(const Product&); }
namespace wasm { const Table& table(); const BackwardTable& backward(); void product(const Product&); }

}  // namespace attention::kernels
