// What to compute: the options of one attention layer, and the inputs that they apply to.
#pragma once

#include <limits>
#include <vector>

#include "base/result.h"
#include "attention/layer/tensor.h"

namespace attention {

/// How a query and a key become one number.
enum class Score : std::uint8_t {
  dot,       ///< q·k (Luong et al. 2015, eq. 8, "dot")
  scaled,    ///< q·k·scale (Vaswani et al. 2017, section 3.2.1)
  general,   ///< qᵀ·W_a·k (Luong et al. 2015, eq. 8, "general")
  additive,  ///< v_aᵀ·tanh(W_a·q + U_a·k) (Bahdanau et al. 2015, appendix A.1.2)
  cosine,    ///< q·k / (|q|·|k|) (Graves et al. 2014, eq. 6); 0 where one of them is 0
};

/// How a row of scores (÷ temperature) becomes a row of weights. Masked keys get 0 from each.
enum class Normalizer : std::uint8_t {
  softmax,    ///< exp(s - max) / sum; a row with every key masked gives zeros
  sparsemax,  ///< the nearest point of the simplex (Martins and Astudillo 2016, algorithm 1)
  sigmoid,    ///< 1 / (1 + exp(-s)); rows need not sum to 1
  relu,       ///< max(s, 0); rows need not sum to 1
  hardmax,    ///< 1 for the largest, the first of equal ones; 0 for the rest
  none,       ///< the scores themselves
};

/// Where the order of the tokens comes in.
enum class Position : std::uint8_t {
  none,
  sinusoidal,  ///< added to X (Vaswani et al. 2017, section 3.5); projected layers only
  rotary,      ///< Q and K are rotated in pairs of columns (Su et al. 2021, eq. 34): Spec::rotary
  alibi,       ///< a bias of -slope·distance on the scores, with slopes that fall from head to head (Press et al. 2022)
};

/// Which columns rotary positions turn together.
enum class RotaryPairs : std::uint8_t {
  adjacent,  ///< 2i and 2i + 1 (Su et al. 2021, eq. 34; GPT-J)
  half,      ///< i and i + r/2 of the r that are turned (GPT-NeoX, and Llama as Hugging Face has it)
};

/// How a model reads longer texts than those that it was trained on.
enum class RotaryScaling : std::uint8_t {
  none,
  linear,  ///< positions are divided by the factor f (Chen et al. 2023, "position interpolation")
  ntk,     ///< the base is multiplied by f^(r/(r − 2)): the slowest pair turns f times slower, the fastest as before
};

/// How rotary positions turn: pair i of position p by p·base^(−2i/r).
struct Rotary {
  RotaryPairs pairs = RotaryPairs::adjacent;
  float base = 10000.0f;  ///< more than 1
  int dims = 0;           ///< the first so many columns are turned, others pass as they are; even. 0, or more than there are: all
  RotaryScaling scaling = RotaryScaling::none;
  float factor = 1.0f;    ///< of the scaling, > 0

  bool operator==(const Rotary&) const = default;
};

/// Which pairs of query and key a sparse layer looks at: the union of the parts that are on (not 0). `position` is
/// query + causalOffset. Nothing on: every pair.
struct Pattern {
  int local = 0;         ///< |position - key| < local·dilation, in steps of dilation (Beltagy et al. 2020)
  int dilation = 1;      ///< of local, >= 1
  int stride = 0;        ///< (position - key) is a multiple of it (Child et al. 2019, "Sparse Transformer")
  int block = 0;         ///< the same block of so many tokens
  int global = 0;        ///< the first so many tokens see all and are seen by all (Longformer; BigBird)
  int random = 0;        ///< so many keys a query, drawn by `seed` from those before causal's end (Zaheer et al. 2020)
  std::uint32_t seed = 1;

  bool any() const { return local || stride || block || global || random; }
  bool operator==(const Pattern&) const = default;
};

/// Limits that are checked before anything is allocated.
struct Limits {
  static constexpr int tokens = 1024;                   ///< of queries and of keys, on the board
  static constexpr int heads = 64;                      ///< query heads
  static constexpr int headDim = 512;                   ///< d_k and d_v
  static constexpr int modelDim = 1024;                 ///< width of X
  static constexpr int longest = 1 << 24;               ///< any size where memory alone is the limit: floats count so far
  static constexpr int positionId = 1'000'000;          ///< of Spec::positionIds
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
  float softcap = 0.0f;      ///< c·tanh(score / c) where c > 0 (Gemma 2); 0: none
  float temperature = 1.0f;  ///< 1e-6 to 1e6; scores are divided by it before the normaliser
  Normalizer normalizer = Normalizer::softmax;
  Position position = Position::none;
  Rotary rotary;
  /// What stands for the positions 0, 1, 2 … of the keys, and of the queries among them, in sinusoids and rotary turns. A
  /// list that is too short counts on from its last number: {100} is an offset. Empty: the positions themselves.
  std::vector<int> positionIds;

  bool causal = false;    ///< key j is visible to query i when j <= i + causalOffset
  int causalOffset = 0;   ///< keys cached before this block of queries, >= 0
  int windowLeft = -1;    ///< keys before i + causalOffset that stay visible; -1: unbounded
  int windowRight = -1;   ///< keys after it; -1: unbounded
  int prefix = 0;         ///< the first so many keys are visible whatever causal says (prefix language model)
  int keyLength = -1;     ///< keys from here on are padding; -1: none is
  Pattern pattern;
  /// The named mistake: softmax over all keys, then masked weights become 0. Rows no longer sum to 1.
  bool maskAfterSoftmax = false;

  std::uint64_t hiddenHeads = 0;  ///< bit h: head h is left out of concat, to see what it adds

  bool operator==(const Spec&) const = default;
};

/// The factor that raw scores are multiplied by: for Score::scaled `scale`, or 1/√headDim where that is 0; else 1.
float scaleFactor(const Spec& spec);

/// Is this the layer whose every edit has an incremental path: dot or scaled scores, softmax, no more than a causal
/// mask with a window, painted cells and padding? Others are recomputed.
bool isPlain(const Spec& spec);

/// Which steps the layer has: q_rotated and k_rotated in place of q and k, softcapped, a head in concat, and the steps
/// of softmax.
inline bool isRotary(const Spec& spec) { return spec.position == Position::rotary; }
/// How many columns of Q and K rotary positions turn; those after them pass as they are.
inline int rotatedColumns(const Spec& spec) {
  return spec.rotary.dims > 0 && spec.rotary.dims < spec.headDim ? spec.rotary.dims : spec.headDim;
}
inline bool isSoftcapped(const Spec& spec) { return spec.softcap > 0.0f; }
inline bool isHidden(const Spec& spec, int head) { return (spec.hiddenHeads >> head & 1) != 0; }
inline bool isSoftmax(const Spec& spec) { return spec.normalizer == Normalizer::softmax; }

/// Is key `key` visible to query `query` by everything but painted cells?
bool isVisible(const Spec& spec, int query, int key);

/// How many of the scores of one head are computed, painted cells not asked.
std::int64_t visibleCount(const Spec& spec);

/// Half-open range of keys outside of which `query` sees none. For plain layers all inside are visible, but painted
/// ones. Prefix and pattern make holes: mask.h knows those.
struct KeyRange {
  int begin = 0, end = 0;
};
KeyRange visibleKeys(const Spec& spec, int query);

/// What the layer reads. Pointers, because the document owns the numbers; they outlive the call.
/// Either x, wQ, wK, wV (and maybe wO) are set, and q, k, v are null; or q, k, v are set and the others null.
/// x [1, queryCount, modelDim]; wQ [1, modelDim, heads·headDim]; wK [1, modelDim, kvHeads·headDim];
/// wV [1, modelDim, kvHeads·valueDim]; wO [1, heads·valueDim, any]. Head h of Q is columns h·headDim … of x·wQ.
/// xKv [1, keyCount, modelDim] is what keys and values are made of in cross-attention; null for self-attention, where
/// keyCount is queryCount.
/// xV [1, keyCount, modelDim] is what values alone are made of, without positions (as in DETR, which adds them to queries and keys);
/// null: values are made of what keys are.
/// wA [heads, headDim, headDim] for general scores; for additive ones wA and uA [heads, units, headDim], vA [heads, 1, units], with
/// any number of hidden units; other scores do not look at them.
/// bQ [1, 1, heads·headDim], bK and bV of the columns of wK and wV, are added to every row of Q, K and V, and bO, of those of
/// wO, to the output; each may be left out, and only projected layers have them.
/// bias [heads or 1, queryCount, keyCount] is added to the scores after the soft cap; -inf masks.
struct Inputs {
  const Tensor* x = nullptr;
  const Tensor* xKv = nullptr;
  const Tensor* wQ = nullptr;
  const Tensor* wK = nullptr;
  const Tensor* wV = nullptr;
  const Tensor* wO = nullptr;
  const Tensor* q = nullptr;
  const Tensor* k = nullptr;
  const Tensor* v = nullptr;
  const Tensor* wA = nullptr;
  const Tensor* uA = nullptr;
  const Tensor* vA = nullptr;
  const Tensor* bias = nullptr;
  const Tensor* bQ = nullptr;
  const Tensor* bK = nullptr;
  const Tensor* bV = nullptr;
  const Tensor* bO = nullptr;
  const Tensor* xV = nullptr;
  const PaintedMask* painted = nullptr;
  bool projected() const { return x != nullptr; }
};

/// Has the layer the step biased?
inline bool isBiased(const Spec& spec, const Inputs& inputs) {
  return spec.position == Position::alibi || inputs.bias != nullptr;
}

/// Does the bias mask this key, whatever else says?
inline bool isMaskedByBias(const Inputs& inputs, int head, int query, int key) {
  return inputs.bias && inputs.bias->at(inputs.bias->heads() == 1 ? 0 : head, query, key) < -std::numeric_limits<float>::max();
}

/// What a layer has to fit into: the board, or memory alone, of which the caller takes care.
enum class Room : std::uint8_t { board, memory };

/// Says what is wrong with the spec or with the inputs for it (shapes, ranges, limits, numbers that are not finite).
Result<void> validate(const Spec& spec, const Inputs& inputs, Room room = Room::board);

}  // namespace attention
