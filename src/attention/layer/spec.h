// The options of one attention layer, and the inputs that they apply to.
#pragma once

#include <limits>
#include <vector>

#include "attention/layer/tensor.h"
#include "attention/mechanisms/registry.h"
#include "base/result.h"

namespace attention {

/// How the order of the tokens enters the layer.
enum class Position : std::uint8_t {
  none,
  sinusoidal,  ///< added to X (Vaswani et al. 2017, section 3.5); projected layers only
  rotary,      ///< Q and K are rotated in pairs of columns (Su et al. 2021, eq. 34): Spec::rotary
  /// A bias of -slope·distance on the scores, with slopes that fall from head to head (Press et al. 2022).
  alibi,
};

/// Which columns rotary positions rotate together.
enum class RotaryPairs : std::uint8_t {
  adjacent,  ///< 2i and 2i + 1 (Su et al. 2021, eq. 34; GPT-J)
  half,      ///< i and i + r/2 of the r rotated columns (GPT-NeoX, and Llama as implemented by Hugging Face)
};

/// How a model handles texts longer than those that it was trained on.
enum class RotaryScaling : std::uint8_t {
  none,
  linear,  ///< positions are divided by the factor f (Chen et al. 2023, "position interpolation")
  /// The base is multiplied by f^(r/(r − 2)): the slowest pair rotates f times slower, the fastest as before.
  ntk,
};

/// Parameters of rotary positions: pair i is rotated at position p by the angle p·base^(−2i/r).
struct Rotary {
  RotaryPairs pairs = RotaryPairs::adjacent;
  float base = 10000.0f;  ///< more than 1
  /// R: only the first `dims` columns are rotated; even. 0, or more than there are: all.
  int dims = 0;
  RotaryScaling scaling = RotaryScaling::none;
  float factor = 1.0f;  ///< f, > 0

  bool operator==(const Rotary&) const = default;
};

/// Which pairs of query and key a sparse layer computes: the union of the parts that are on (not 0).
/// `position` is query + causalOffset. With no part on, every pair.
struct Pattern {
  /// |position - key| < local·dilation and a multiple of dilation (Beltagy et al. 2020).
  int local = 0;
  int dilation = 1;  ///< used by local, >= 1
  int stride = 0;    ///< position - key is a multiple of stride (Child et al. 2019, "Sparse Transformer")
  int block = 0;     ///< query and key are in the same block of this many tokens
  int global = 0;    ///< the first tokens, this many, see all and are seen by all (Longformer; BigBird)
  /// This many random keys per query, drawn by `seed` from those that causal leaves (Zaheer et al. 2020).
  int random = 0;
  std::uint32_t seed = 1;

  bool any() const { return local || stride || block || global || random; }
  bool operator==(const Pattern&) const = default;
};

/// Limits that are checked before anything is allocated.
struct Limits {
  static constexpr int tokens = 131'072;    ///< of queries and of keys, on the board
  static constexpr int modelTokens = 4096;  ///< of what is computed from the layer: a block, segments …
  static constexpr int heads = 64;          ///< number of queries and of keys on the board
  static constexpr int headDim = 512;       ///< d_k and d_v
  static constexpr int modelDim = 1024;     ///< width of X
  /// Any size that only memory limits: float represents integers up to here exactly.
  static constexpr int longest = 1 << 24;
  static constexpr int positionId = 1'000'000;  ///< of Spec::positionIds
  /// Range of the temperature, the same everywhere: 1 / T must fit a float, with some margin.
  static constexpr float coldest = 1e-6f, hottest = 1e6f;
  /// heads · queries · keys on the board: 64 heads of 4,096 tokens.
  static constexpr std::int64_t scores = 1 << 30;
  /// queries · keys of each of several heads, all of which are computed. Of one head there may be more: the
  /// rows that are looked at are computed.
  static constexpr std::int64_t inFull = 1 << 27;
  static constexpr std::int64_t painted = 1 << 24;  ///< queries · keys of a mask that is painted
  static constexpr std::int64_t stored = 1 << 24;   ///< the same of a Trace whose tensors of pairs are stored
};

/// Shapes and options. Shapes: Q [heads, queryCount, queryWidth()], K [kvHeads, keyCount, headDim],
/// V [kvHeads, keyCount, valueDim]; heads is a multiple of kvHeads (Ainslie et al. 2023).
struct Spec {
  int heads = 1;
  int kvHeads = 1;
  int queryCount = 0;
  int keyCount = 0;
  int headDim = 0;
  int valueDim = 0;
  int queryDim = 0;  ///< columns of Q where they are not headDim; 0: headDim. Only where the score takes W_a

  Score score = Score::scaled;
  float scale = 0.0f;        ///< for Score::scaled; 0 means 1/√headDim
  float softcap = 0.0f;      ///< c·tanh(score / c) where c > 0 (Gemma 2); 0: none
  float temperature = 1.0f;  ///< 1e-6 to 1e6; scores are divided by it before the normaliser
  Normalizer normalizer = Normalizer::softmax;
  /// Softmax only: each row has one more score, Inputs::sink, that takes part in the denominator alone, so
  /// weights may sum to less than 1 (gpt-oss, 2025; with sink 0 "softmax-1", Miller 2023).
  bool sink = false;
  Position position = Position::none;
  Rotary rotary;
  /// Position ids of the keys 0, 1, 2 … (and of the queries among them), used by sinusoids and rotary
  /// positions in place of the indices. A list that is too short continues counting from its last number, so
  /// {100} is an offset. Empty: the indices themselves.
  std::vector<int> positionIds;

  bool causal = false;   ///< key j is visible to query i when j <= i + causalOffset
  int causalOffset = 0;  ///< number of keys cached before this block of queries, >= 0
  int windowLeft = -1;   ///< how many keys before position i + causalOffset stay visible; -1: unbounded
  int windowRight = -1;  ///< how many keys after it; -1: unbounded
  /// The first `prefix` keys are visible to all queries in spite of causal (prefix language model).
  int prefix = 0;
  int keyLength = -1;  ///< keys from here on are padding; -1: there is no padding
  Pattern pattern;
  /// A named mistake to look at: softmax over all keys, and masked weights set to 0 afterwards. Rows no
  /// longer sum to 1.
  bool maskAfterSoftmax = false;

  std::uint64_t hiddenHeads = 0;  ///< bit h: head h is left out of concat, to show what it contributes

  bool operator==(const Spec&) const = default;
};

/// Columns of Q of a head.
inline int queryWidth(const Spec& spec) { return spec.queryDim > 0 ? spec.queryDim : spec.headDim; }

/// Of several heads, have the scores room on the board?
inline bool scoresFit(int heads, int queries, int keys) {
  const std::int64_t each = std::int64_t{queries} * keys;
  return heads == 1 || (each <= Limits::inFull && heads * each <= Limits::scores);
}

/// The factor of the raw scores: for Score::scaled `scale`, or 1/√headDim where that is 0; otherwise 1.
float scaleFactor(const Spec& spec);

/// Does every edit of this layer have an incremental path? So for dot or scaled scores with softmax, no sink
/// and no other mask than causal, window, painted cells and padding. Other layers are recomputed.
bool isPlain(const Spec& spec);

/// Which optional steps the layer has.
inline bool isRotary(const Spec& spec) { return spec.position == Position::rotary; }
/// The number of columns of Q and K that rotary positions rotate; those after them are unchanged.
inline int rotatedColumns(const Spec& spec) {
  return spec.rotary.dims > 0 && spec.rotary.dims < spec.headDim ? spec.rotary.dims : spec.headDim;
}
inline bool isSoftcapped(const Spec& spec) { return spec.softcap > 0.0f; }
inline bool isHidden(const Spec& spec, int head) { return (spec.hiddenHeads >> head & 1) != 0; }
inline bool isSoftmax(const Spec& spec) { return spec.normalizer == Normalizer::softmax; }
inline bool hasSink(const Spec& spec) { return spec.sink && isSoftmax(spec); }

/// Is `key` visible to `query`, painted cells aside?
bool isVisible(const Spec& spec, int query, int key);

/// How many scores of one head are computed, painted cells aside. Takes a while with a pattern.
std::int64_t visibleCount(const Spec& spec);
/// Does every query see every key, painted cells aside?
bool seesAll(const Spec& spec);

/// Half-open range outside of which `query` sees no key. In plain layers all keys inside are visible, painted
/// cells aside; a prefix or a pattern leaves gaps, which mask.h knows.
struct KeyRange {
  int begin = 0, end = 0;
};
KeyRange visibleKeys(const Spec& spec, int query);

/// The inputs of the layer. Pointers, because the document owns the tensors; they must outlive the call.
/// Either x, wQ, wK, wV (and maybe wO) are set, and q, k, v are null (a projected layer); or q, k, v are set
/// and the others null.
///   x [1, queryCount, modelDim]; wQ [1, modelDim, heads·queryWidth()]; wK [1, modelDim, kvHeads·headDim];
///   wV [1, modelDim, kvHeads·valueDim]; wO [1, heads·valueDim, any]. Head h of Q is columns h·queryWidth() … of x·wQ.
///   xKv [1, keyCount, modelDim]: what keys and values are projected from in cross-attention; null for self-attention, where
///   keyCount is queryCount.
///   xV [1, keyCount, modelDim]: what values alone are projected from, without positions (as in DETR, which adds them to queries
///   and keys only); null: the same as keys.
///   wA [heads, queryWidth(), headDim] for general scores; wA [heads, units, queryWidth()], uA [heads, units, headDim] and
///   vA [heads, 1, units] for additive ones, with any number of hidden units; other scores ignore them.
///   bQ [1, 1, heads·queryWidth()], bK and bV (with the columns of wK and wV) are added to every row of Q, K and V, and bO (with the
///   columns of wO) to the output; each is optional, and only projected layers have them.
///   bias [heads or 1, queryCount, keyCount] is added to the scores after the soft cap; -inf masks.
///   sink [heads, 1, 1] with Spec::sink: a finite score; it is divided by the temperature as the others are.
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
  const Tensor* sink = nullptr;
  const PaintedMask* painted = nullptr;
  bool projected() const { return x != nullptr; }
};

/// Does the layer add a bias to its scores?
inline bool isBiased(const Spec& spec, const Inputs& inputs) {
  return spec.position == Position::alibi || inputs.bias != nullptr;
}

/// Does the bias mask this key, whatever the other masks say?
inline bool isMaskedByBias(const Inputs& inputs, int head, int query, int key) {
  return inputs.bias && inputs.bias->at(inputs.bias->heads() == 1 ? 0 : head, query, key) <
                            -std::numeric_limits<float>::max();
}

/// Which limits apply: those of the board, or only memory, which the caller checks.
enum class Room : std::uint8_t { board, memory };

/// Checks the spec and its inputs: shapes, ranges, limits, finite numbers.
Result<void> validate(const Spec& spec, const Inputs& inputs, Room room = Room::board);

}  // namespace attention
