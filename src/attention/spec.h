// What to compute: the options of one attention layer, and the inputs that they apply to.
#pragma once

#include "attention/error.h"
#include "attention/tensor.h"

namespace attention {

/// How a query and a key become one number. Both from Vaswani et al. 2017, section 3.2.1 (dot: Luong et al. 2015).
enum class Score : std::uint8_t {
  dot,     ///< q·k
  scaled,  ///< q·k·scale
};

/// How a row of scores becomes a row of weights.
enum class Normalizer : std::uint8_t {
  softmax,  ///< exp(s - max) / sum; a row with every key masked gives zeros
};

/// Limits that are checked before anything is allocated.
struct Limits {
  static constexpr int tokens = 1024;                   ///< of queries and of keys, on the board
  static constexpr int heads = 64;                      ///< query heads
  static constexpr int headDim = 256;                   ///< d_k and d_v
  static constexpr int modelDim = 1024;                 ///< width of X
  static constexpr float coldest = 1e-6f, hottest = 1e6f;  ///< temperatures: 1 / T must fit a float, with room
  static constexpr std::int64_t scores = 16'777'216;    ///< heads · queries · keys of one Trace
};

/// Shapes and options. Shapes: Q [heads, queryCount, headDim], K [kvHeads, keyCount, headDim],
/// V [kvHeads, keyCount, valueDim]; heads is a multiple of kvHeads (Ainslie et al. 2023).
struct Spec {
  int heads = 1;
  int kvHeads = 1;
  int queryCount = 0;
  int keyCount = 0;
  int headDim = 0;
  int valueDim = 0;

  Score score = Score::scaled;
  float scale = 0.0f;        ///< for Score::scaled; 0 stands for 1/√headDim
  float temperature = 1.0f;  ///< 1e-6 to 1e6; scores are divided by it before the normaliser
  Normalizer normalizer = Normalizer::softmax;

  bool causal = false;    ///< key j is visible to query i when j <= i + causalOffset
  int causalOffset = 0;   ///< keys cached before this block of queries, >= 0
  int windowLeft = -1;    ///< keys before i + causalOffset that stay visible; -1: unbounded
  int windowRight = -1;   ///< keys after it; -1: unbounded

  bool operator==(const Spec&) const = default;
};

/// The factor that raw scores are multiplied by: 1 for dot, else `scale`, or 1/√headDim where that is 0.
float scaleFactor(const Spec& spec);

/// Is key `key` visible to query `query` by the causal rule and the window (painted cells are not asked)?
bool isVisible(const Spec& spec, int query, int key);

/// Half-open range of keys that the causal rule and the window leave visible to `query`.
struct KeyRange {
  int begin = 0, end = 0;
};
KeyRange visibleKeys(const Spec& spec, int query);

/// What the layer reads. Pointers, because the document owns the numbers; they outlive the call.
/// Either x, wQ, wK, wV (and maybe wO) are set, and q, k, v are null; or q, k, v are set and the others null.
/// x [1, queryCount, modelDim]; wQ [1, modelDim, heads·headDim]; wK [1, modelDim, kvHeads·headDim];
/// wV [1, modelDim, kvHeads·valueDim]; wO [1, heads·valueDim, any]. Head h of Q is columns h·headDim … of x·wQ.
/// A projected layer is self-attention: keyCount is queryCount.
struct Inputs {
  const Tensor* x = nullptr;
  const Tensor* wQ = nullptr;
  const Tensor* wK = nullptr;
  const Tensor* wV = nullptr;
  const Tensor* wO = nullptr;
  const Tensor* q = nullptr;
  const Tensor* k = nullptr;
  const Tensor* v = nullptr;
  const PaintedMask* painted = nullptr;
  bool projected() const { return x != nullptr; }
};

/// Says what is wrong with the spec or with the inputs for it (shapes, ranges, limits, numbers that are not finite).
Check validate(const Spec& spec, const Inputs& inputs);

}  // namespace attention
