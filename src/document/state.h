// Everything that a user can change, as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/experiments/experiment.h"
#include "attention/models/block.h"
#include "attention/layer/checks.h"
#include "attention/models/recurrent.h"
#include "attention/layer/trace.h"
#include "document/parameter.h"
#include "training/setup.h"

namespace document {

using base::Error;
using attention::PaintedMask;
using base::Result;
using attention::Tensor;
using attention::TensorId;

/// Where Q, K and V come from.
enum class Mode : std::uint8_t {
  qkv,  ///< edited directly
  x,    ///< projected from X by W_Q, W_K, W_V; heads are joined by W_O
};

enum class Theme : std::uint8_t { automatic, light, dark };

/// Which sequence an edit of tokens is for. In self-attention there is one, whatever is said.
enum class Side : std::uint8_t { queries, keys };

/// How the colour of a weight follows from it: in proportion, by its square root, by its share of the row's largest; or by
/// itself, which is the square root where so many keys share a row that weights in proportion would hardly be seen.
enum class WeightScale : std::uint8_t { linear, root, row, automatic };
inline constexpr int kManyKeys = 64;

/// What is open: the board of the layer, or one of the pages around it and beside it.
enum class View : std::uint8_t { layer, block, segments, spread, dense, memory, cost, train, model };

/// What the card below the matrices shows.
enum class Card : std::uint8_t { arcs, plane, values, changes, loops };

/// Where the segments of hierarchical attention end.
enum class SegmentBy : std::uint8_t { tokens, punctuation };

/// What the items of a batch are: sequences that go through the same layer, or layers of a model, which read the same tokens.
enum class BatchOf : std::uint8_t { sequences, layers };

/// The colours of cells: those of the theme; cividis for weights; shades of grey.
enum class Colors : std::uint8_t { own, cividis, grey };

/// What is added to the scores: nothing, one matrix for all heads, or one for each.
enum class Bias : std::uint8_t { none, shared, perHead };

/// The block of the Transformer around the layer. Nothing of it reaches the layer itself.
struct BlockOptions {
  bool residual = true;
  attention::NormPlace norm = attention::NormPlace::post;
  attention::Activation activation = attention::Activation::relu;
  int hidden = 2;          ///< hidden units per number of a token
  float dropout = 0.0f;    ///< the probability that a number is dropped
  attention::Dropout kind = attention::Dropout::inverted;
  std::int64_t dropoutSeed = -1;  ///< of what is dropped; -1: `seed`
  float epsilon = 1e-5f;   ///< of layer normalisation, added to the variance
  std::uint32_t seed = 1;  ///< of the weights, and of what is dropped unless that has its own

  /// The seed that cells are dropped by.
  std::uint32_t dropsBy() const { return dropoutSeed < 0 ? seed : static_cast<std::uint32_t>(dropoutSeed); }

  bool operator==(const BlockOptions&) const = default;
};

/// Hierarchical attention over the layer's outputs.
struct SegmentOptions {
  SegmentBy by = SegmentBy::tokens;
  int tokens = 2;          ///< in each; of SegmentBy::tokens
  std::uint32_t seed = 1;  ///< of the matrices and queries

  bool operator==(const SegmentOptions&) const = default;
};

/// What a layer is compared with where its cost is counted: another score, one head, a window, a recurrent network.
enum class CostOf : std::uint8_t { score, heads, window, recurrent };

/// The recurrent network that reads the sentence of the board.
struct MemoryOptions {
  attention::CellKind cell = attention::CellKind::tanh;
  int units = 4;
  std::uint32_t seed = 1;  ///< of its weights

  bool operator==(const MemoryOptions&) const = default;
};

/// The experiments beside the layer: how q·k is spread, a fully connected layer, and the reach of a recurrent network.
struct ExperimentOptions {
  attention::SpreadSpec spread;
  bool spreadScaled = true;  ///< the histogram in front is that of q·k ÷ √d_k
  std::uint32_t spreadSeed = 1;
  int spreadDraws = attention::SpreadDraws::queries;  ///< queries, each with 16 keys
  attention::ComparisonSpec dense;  ///< its token is brought to those that there are where it is computed
  attention::ReachSpec reach;
  MemoryOptions memory;
  int costTokens = 0;  ///< for which they are counted, 0: those of the layer
  CostOf costOf = CostOf::score;
  int costWindow = 128;  ///< keys that a query sees where a window is compared

  bool operator==(const ExperimentOptions&) const = default;
};

/// The state text of the board that is pinned, or null. Shared, so that settings stay cheap to copy.
struct Pin {
  std::shared_ptr<const std::string> text;
  bool operator==(const Pin& other) const { return text == other.text || (text && other.text && *text == *other.text); }
};

/// Whose change gives a weight that is dragged.
enum class WeightBy : std::uint8_t { query, key };

/// What options set: all of a playground but its numbers. Cheap to copy, so that a change can be tried out
/// first. `keyTokens` is `tokens`, and `keyLabels` empty, unless `cross`.
struct Settings {
  Mode mode = Mode::qkv;
  int tokens = 0;     ///< queries; in self-attention also keys
  int keyTokens = 0;  ///< keys and values
  int heads = 0;
  int kvHeads = 0;     ///< heads of K and V; divides `heads`
  int headDim = 0;     ///< d_k
  int valueDim = 0;    ///< d_v
  int modelDim = 0;    ///< columns of X
  bool cross = false;  ///< keys and values are of another sequence than queries
  int batch = 1;       ///< how many sequences (pairs of them, if cross) go through the same layer
  int batchItem = 0;   ///< the one on the board
  BatchOf batchOf = BatchOf::sequences;
  std::vector<std::string> labels;     ///< one a token, UTF-8, at most kLabelBytes each
  std::vector<std::string> keyLabels;  ///< one a key token
  std::vector<std::string> columnNames;  ///< what columns of Q and K are called, head after head; "" and those beyond its end: nothing
  bool sameWord = false;               ///< rows of tokens are drawn from their words: equal ones are alike

  attention::Score score = attention::Score::scaled;
  float scaleBy = 0.0f;  ///< of Score::scaled; 0: 1/√d_k
  float softcap = 0.0f;  ///< 0: none
  float temperature = 1.0f;
  attention::Normalizer normalizer = attention::Normalizer::softmax;
  attention::Position position = attention::Position::none;
  attention::Rotary rotary;
  std::vector<int> positionIds;  ///< what stands for the positions 0, 1, 2 …; empty: they themselves
  int additiveDim = 0;        ///< hidden units of the additive score; 0: d_k
  bool scoreWeights = false;  ///< are w_a, u_a and v_a there? From the first score that needs them on
  bool separateValues = false;   ///< are values made of x_v, rather than of what keys are?
  bool outputProjection = true;  ///< are the heads joined by W_O, or just side by side?
  int outputDim = 0;             ///< columns of W_O; 0: as many as X has
  bool projectionBias = false;  ///< are b_q, b_k, b_v and b_o there?
  Bias biasKind = Bias::none;  ///< that of a file with a mask of numbers, or of one a head or an item of the batch

  bool causal = true;
  int causalOffset = 0;
  int windowLeft = -1, windowRight = -1;  ///< -1: unbounded
  int prefix = 0;
  int keyLength = -1;  ///< -1: no padding
  attention::Pattern pattern;
  bool maskAfterSoftmax = false;
  std::uint64_t hiddenHeads = 0;  ///< bit h: head h is left out of concat

  BlockOptions block;
  SegmentOptions segments;
  ExperimentOptions experiments;
  training::Setup training;
  bool trainRunning = false;  ///< does the run go on?

  Pin pin;            ///< what is compared with
  int focusHead = 0;  ///< the head on the board
  int decimals = 2;
  Theme theme = Theme::automatic;
  bool averageHeads = false;  ///< show the mean of the heads' weights
  float zoom = 0;         ///< of what is drawn, 1 to 2.5; 0: automatic
  bool gradient = false;  ///< show what would raise the selected value
  int stepper = 0;        ///< steps of the selected row's way to the output that are shown; 0: not step by step
  bool columnLayout = false;  ///< tokens are columns: O = V·softmax(KᵀQ)
  bool present = false;   ///< for a room: no side panel
  bool wholeProjections = false;  ///< show W_Q, W_K, W_V and W_O of all heads as one matrix each
  int step = 0;               ///< tokens that a decoder has produced so far, 0: not shown step by step
  View view = View::layer;
  Card card = Card::arcs;
  bool valueNorms = false;  ///< arcs and bars weigh by ‖w·v‖
  WeightBy weightBy = WeightBy::query;
  WeightScale weightScale = WeightScale::automatic;  ///< a text that does not say is older than this choice, and means linear
  Colors colors = Colors::own;
  std::uint32_t seed = 1;     ///< of the last random fill, and of numbers for new tokens, heads and columns

  bool operator==(const Settings&) const = default;
};

/// The sequences of one item of a batch that is not on the board.
struct Page {
  std::vector<std::string> labels, keyLabels;
  Tensor x, q, k, v, xKv, bias, xV;

  bool operator==(const Page&) const = default;
};

/// One playground. q [heads, tokens, headDim], k [kvHeads, keyTokens, headDim], v [kvHeads, keyTokens,
/// valueDim]: the width of the model is heads · headDim, so that changing the number of heads regroups the
/// same columns, as splitting a projection does. x [1, tokens, modelDim]; w_q [1, modelDim, heads·headDim],
/// w_k and w_v the same of kvHeads; w_o [1, heads·valueDim, outputColumns()]. Both sets of inputs are always there;
/// `mode` says which one is in use. x_kv [1, keyTokens, modelDim] only in cross-attention; w_a and u_a
/// [heads, scoreUnits(), headDim], v_a [heads, 1, scoreUnits()] only with scoreWeights; bias [1 or heads, tokens, keyTokens], whose
/// numbers may be -infinity, only where Settings::biasKind says so; b_q, b_k, b_v and b_o [1, 1, columns of the weights] only with
/// projectionBias; x_v [1, keyTokens, modelDim] only with separateValues; empty otherwise.
struct State : Settings {
  std::string preset;   ///< the preset it came from, or "" for the user's own
  PaintedMask painted;  ///< empty, or tokens x keyTokens
  Tensor x, wQ, wK, wV, wO, q, k, v, xKv, wA, uA, vA, bias, bQ, bK, bV, bO, xV;
  Parameters parameters;  ///< around the layer; empty where they are as their seed makes them
  std::vector<Page>
      pages;  ///< one for each item of the batch, that of batchItem empty; none for a batch of one
  std::string
      unknownFields;  ///< JSON object text: fields of a newer minor version, kept as they came; "" if none

  bool operator==(const State&) const = default;
};

inline constexpr int kLabelBytes = 64;

/// The most numbers in all inputs together. With it the text of any state stays below kMaxTextBytes
/// (text.h).
inline constexpr std::int64_t kMaxNumbers = 3'500'000;
inline constexpr std::size_t kMaxPinBytes = std::size_t{1} << 20;
inline constexpr int kMaxDecimals = 6;
inline constexpr double kMinTemperature = 0.01, kMaxTemperature = 100;
inline constexpr double kMinScale = 0.0001, kMaxScale = 10000;
inline constexpr double kMaxSoftcap = 1000;
inline constexpr double kMinRotaryBase = 1.001, kMaxRotaryBase = 1e9;
inline constexpr double kMinRotaryFactor = 0.01, kMaxRotaryFactor = 1000;
inline constexpr int kMaxBatch = 64;
inline constexpr int kMaxMemoryUnits = 16;
inline constexpr int kMaxCostTokens = 1'000'000;
inline constexpr int kMaxBlockHidden = 8;
inline constexpr double kMaxBlockDropout = 0.9;
inline constexpr double kMinBlockEpsilon = 1e-12, kMaxBlockEpsilon = 1;

/// The attention layer that a state describes, and its inputs (pointing into the state).
attention::Spec spec(const Settings& settings);
attention::Inputs inputs(const State& state);

/// The editable tensor of that name, or null for a computed one.
Tensor* input(State& state, TensorId id);
const Tensor* input(const State& state, TensorId id);
/// The same of an item of the batch; null for weights, which all items share.
Tensor* input(Page& page, TensorId id);
const Tensor* input(const Page& page, TensorId id);
/// Is that tensor edited by hand in this mode (q in Mode::qkv, x in Mode::x, w_a where the score has it)?
bool isEditable(const Settings& settings, TensorId id);
/// Columns of W_O, in use or not, and of the layer's output.
inline int outputColumns(const Settings& s) { return s.outputDim > 0 ? s.outputDim : s.modelDim; }
inline int outputWidth(const Settings& s) { return s.mode == Mode::x && s.outputProjection ? outputColumns(s) : s.heads * s.valueDim; }
/// Rows of w_a and u_a: those of the general score are square.
inline int scoreUnits(const Settings& s) { return s.additiveDim > 0 && s.score != attention::Score::general ? s.additiveDim : s.headDim; }
/// Is it b_q, b_k, b_v or b_o?
inline bool isProjectionBias(TensorId id) { return id >= TensorId::b_q && id <= TensorId::b_o; }
/// Is that input there, in use or not? Others are empty.
bool hasInput(const Settings& settings, TensorId id);
/// The editable tensors in the order of the state text: x, w_q, w_k, w_v, w_o, q, k, v, x_kv, w_a, u_a, v_a, bias,
/// b_q, b_k, b_v, b_o, x_v.
std::span<const TensorId> inputIds();
/// Those that each item of a batch has for itself: x, q, k, v, x_kv, bias, x_v.
std::span<const TensorId> itemInputIds();
/// The numbers of a parameter around the layer: its own, or those of its seed.
Tensor parameter(const State& state, ParameterId id);
/// Makes them its own. Those of its seed are not kept.
void setParameter(State& state, ParameterId id, Tensor numbers);
/// Are there several layers of a model?
inline bool hasLayers(const Settings& s) { return s.batchOf == BatchOf::layers && s.batch > 1; }
/// The labels of the keys: those of the tokens in self-attention.
const std::vector<std::string>& keyLabels(const Settings& settings);
/// What a column of Q and K of a query head is called; "" where it has no name.
std::string_view columnName(const Settings& settings, int head, int col);
/// How many columns of a head rotary positions would turn.
int rotatedColumns(const Settings& settings);
/// Is the score q·k, scaled or not?
bool isDotProduct(attention::Score score);
/// Does the score take w_a (general, additive)?
bool takesScoreWeights(attention::Score score);

/// Do these sizes stay within attention::Limits and kMaxNumbers? `field` is the one that the sentence names.
Result<void> checkSizes(std::string_view field, const Settings& sizes);
/// Do the options mean something together (rotary positions want an even d_k …)? `field` as above; "" for the
/// option that is out of place.
Result<void> checkTogether(std::string_view field, const Settings& settings);
/// Says that a number which is not finite cannot be used.
Result<void> refuseNumber(std::string_view field, float number);
using attention::checks::firstWrong;
/// Valid UTF-8 of at most kLabelBytes without control characters?
Result<void> checkLabel(std::string_view field, std::string_view label);
/// The same of many; `first` is the number of the first one, `field` is "labels" or "key_labels".
Result<void> checkLabels(std::string_view field, std::span<const std::string> labels, int first);
/// The names of columns once this one of that head has another; none at the end of the list are without one.
std::vector<std::string> columnNamesWith(const Settings& settings, int head, int col, std::string name);
/// Is there room to keep a changed parameter of this size?
Result<void> checkParameterSize(const Settings& settings, ParameterId id);
/// Is the state whole: sizes, shapes, finite numbers, labels and ranges?
Result<void> check(const State& state);

/// The same in every bit, the sign of zero included.
bool sameBits(const Tensor& a, const Tensor& b);
bool sameBits(const State& a, const State& b);
/// How the colours of the weights follow from them on this board.
inline WeightScale shownScale(const Settings& s) {
  return s.weightScale != WeightScale::automatic ? s.weightScale : s.keyTokens >= kManyKeys ? WeightScale::root : WeightScale::linear;
}
/// Gives `settings` the options of `from` that are not undoable: how things are shown belongs to the reader.
void copyView(Settings& settings, const Settings& from);
/// The same, clamped to the heads and tokens that there are.
void keepView(Settings& settings, const Settings& from);

}  // namespace document
