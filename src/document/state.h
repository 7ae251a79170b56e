// Everything that a user can change, as plain data.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/experiments/experiment.h"
#include "attention/layer/checks.h"
#include "attention/layer/trace.h"
#include "attention/models/block.h"
#include "attention/models/recurrent.h"
#include "document/parameter.h"
#include "training/setup.h"

namespace document {

using attention::PaintedMask;
using attention::Tensor;
using attention::TensorId;
using base::Error;
using base::Result;

/// Whether Q, K and V are inputs or computed.
enum class Mode : std::uint8_t {
  qkv,  ///< edited directly
  x,    ///< projected from X by W_Q, W_K, W_V; heads are joined by W_O
};

enum class Theme : std::uint8_t { automatic, light, dark };

/// Which sequence an edit of tokens concerns. Ignored in self-attention, which has only one.
enum class Side : std::uint8_t { queries, keys };

/// How weights map to colours: linearly, by their square root, or relative to the largest weight of the row.
/// `automatic` is the square root from kManyKeys keys on, where weights mapped linearly would be hardly
/// visible, and linear below; of more than kMostOfSquareRoot keys the fourth root, which nobody chooses: the
/// square root of their mean weight is less than 0.03.
enum class WeightScale : std::uint8_t { linear, root, row, automatic, fourthRoot };
inline constexpr int kManyKeys = 64, kMostOfSquareRoot = 1024;

/// What is open: the board with the layer, or one of the other pages.
enum class View : std::uint8_t {
#define VIEW(name) name,
#include "document/views.def"
};

/// The content of the card below the matrices.
enum class Card : std::uint8_t { arcs, plane, values, changes, loops };

/// Where segments of hierarchical attention end.
enum class SegmentBy : std::uint8_t { tokens, punctuation };

/// What the items of a batch stand for: sequences that go through the same layer, or layers of a model that
/// read the same tokens.
enum class BatchOf : std::uint8_t { sequences, layers };

/// The colours of cells: those of the theme, cividis for weights, or shades of grey.
enum class Colors : std::uint8_t { own, cividis, grey };

/// What is added to the scores: nothing, one matrix for all heads, or one per head.
enum class Bias : std::uint8_t { none, shared, perHead };

// What an option is for is said in options.def, and what it does to the layer in attention/layer/spec.h.

/// Options of the Transformer block around the layer. They do not affect the layer itself.
struct BlockOptions {
  bool residual = true;
  attention::NormPlace norm = attention::NormPlace::post;
  attention::Activation activation = attention::Activation::relu;
  int hidden = 2;  ///< hidden units divided by the width
  float dropout = 0.0f;
  attention::Dropout kind = attention::Dropout::inverted;
  std::int64_t dropoutSeed = -1;
  float epsilon = 1e-5f;
  std::uint32_t seed = 1;  ///< for the parameters, and for the dropped cells unless they have their own

  /// The seed that selects the dropped cells.
  std::uint32_t dropsBy() const { return dropoutSeed < 0 ? seed : static_cast<std::uint32_t>(dropoutSeed); }

  bool operator==(const BlockOptions&) const = default;
};

/// Options of hierarchical attention over the layer's outputs.
struct SegmentOptions {
  SegmentBy by = SegmentBy::tokens;
  int tokens = 2;  ///< per segment, for SegmentBy::tokens
  std::uint32_t seed = 1;
  /// What the classes of the whole document are called; those without a name: see className().
  std::vector<std::string> classes;

  bool operator==(const SegmentOptions&) const = default;
};

/// What the cost of the layer is compared with: another score, a single head, a window, a recurrent network.
enum class CostOf : std::uint8_t { score, heads, window, recurrent };

/// Options of the recurrent network that reads the sentence on the board.
struct MemoryOptions {
  attention::CellKind cell = attention::CellKind::tanh;
  int units = 4;
  std::uint32_t seed = 1;
  int words = 4;

  bool operator==(const MemoryOptions&) const = default;
};

/// Options of the experiments: distribution of q·k, comparison with a fully connected layer, reach of a
/// recurrent network, memory and cost.
struct ExperimentOptions {
  attention::SpreadSpec spread;
  bool spreadScaled = true;
  std::uint32_t spreadSeed = 1;
  int spreadDraws = attention::SpreadDraws::queries;
  /// Its token is limited to the existing tokens when the comparison is computed.
  attention::ComparisonSpec dense;
  attention::ReachSpec reach;
  MemoryOptions memory;
  int costTokens = 0;
  CostOf costOf = CostOf::score;
  int costWindow = 128;

  bool operator==(const ExperimentOptions&) const = default;
};

/// The state text of the pinned board, or null. Shared, so that settings are cheap to copy.
struct Pin {
  std::shared_ptr<const std::string> text;
  bool operator==(const Pin& other) const {
    return text == other.text || (text && other.text && *text == *other.text);
  }
};

/// What is changed when a weight is dragged: its query or its key.
enum class WeightBy : std::uint8_t { query, key };

/// How things are shown, which belongs to the reader: undo does not change it.
struct ViewSettings {
  int focusHead = 0;
  int decimals = 2;
  Theme theme = Theme::automatic;
  bool averageHeads = false;
  float zoom = 0;
  bool gradient = false;
  int stepper = 0;
  bool columnLayout = false;
  bool present = false;
  bool wholeProjections = false;
  int step = 0;
  View view = View::layer;
  Card card = Card::arcs;
  bool valueNorms = false;
  WeightBy weightBy = WeightBy::query;
  /// A state text without this option is from before it existed, and means linear.
  WeightScale weightScale = WeightScale::automatic;
  Colors colors = Colors::own;
  std::string modelFind;
  std::string modelTargets;
  bool trainRunning = false;

  bool operator==(const ViewSettings&) const = default;
};

/// Everything that options set: the whole state except its numbers. Cheap to copy, so that a change can be
/// tried out first. Unless `cross`, `keyTokens` equals `tokens` and `keyLabels` is empty.
struct Settings : ViewSettings {
  Mode mode = Mode::qkv;
  int tokens = 0;     ///< queries; in self-attention keys too
  int keyTokens = 0;  ///< keys and values
  int heads = 0;
  int kvHeads = 0;
  int headDim = 0;   ///< d_k
  int queryDim = 0;  ///< d_q; 0: d_k, as it must be unless takesScoreWeights()
  int valueDim = 0;  ///< d_v
  int modelDim = 0;
  bool cross = false;
  int batch = 1;  ///< number of sequences (pairs of them, if cross) that go through the same layer
  int batchItem = 0;
  BatchOf batchOf = BatchOf::sequences;
  std::vector<std::string> labels;     ///< one per token, UTF-8, at most kLabelBytes each
  std::vector<std::string> keyLabels;  ///< one per key token
  /// Of Q and K, head after head; "" or a list that is too short: no name.
  std::vector<std::string> columnNames;
  int patchColumns = 0;
  bool sameWord = false;

  attention::Score score = attention::Score::scaled;
  float scaleBy = 0.0f;  ///< for Score::scaled; 0: 1/√d_k
  float softcap = 0.0f;
  float temperature = 1.0f;
  attention::Normalizer normalizer = attention::Normalizer::softmax;
  attention::Position position = attention::Position::none;
  attention::Rotary rotary;
  std::vector<int> positionIds;
  int additiveDim = 0;
  bool scoreWeights = false;  ///< do w_a, u_a and v_a exist? True from the first score that needs them on
  bool softmaxSink = false;
  bool separateValues = false;
  bool outputProjection = true;
  int outputDim = 0;
  bool projectionBias = false;
  /// Set by a file whose mask has numbers, or differs between heads or items of the batch.
  Bias biasKind = Bias::none;

  bool causal = true;
  int causalOffset = 0;
  int windowLeft = -1, windowRight = -1;
  int prefix = 0;
  int keyLength = -1;
  attention::Pattern pattern;
  bool maskAfterSoftmax = false;
  std::uint64_t hiddenHeads = 0;

  BlockOptions block;
  SegmentOptions segments;
  ExperimentOptions experiments;
  training::Setup training;

  Pin pin;
  std::string notFinite;  ///< by hideNotFinite(): the first such number of the file, and how many
  /// For the last random fill, and for the numbers of new tokens, heads and columns.
  std::uint32_t seed = 1;

  bool operator==(const Settings&) const = default;
};

/// The inputs of an item of the batch that is not on the board.
struct BatchItem {
  std::vector<std::string> labels, keyLabels;
  Tensor x, q, k, v, xKv, bias, xV;

  bool operator==(const BatchItem&) const = default;
};

/// One playground. q [heads, tokens, queryWidth()], k [kvHeads, keyTokens, headDim], v [kvHeads, keyTokens,
/// valueDim]: the model width is heads · headDim, so that changing the number of heads regroups the same
/// columns, as splitting a projection into heads does. x [1, tokens, modelDim]; w_q [1, modelDim,
/// heads·queryWidth()], w_k and w_v with kvHeads, headDim and valueDim; w_o [1, heads·valueDim,
/// outputColumns()]. The inputs of both modes always exist; `mode` says which are in use. Empty unless noted:
/// x_kv [1, keyTokens, modelDim] in cross-attention; w_a [heads, scoreUnits(), queryWidth()] (of the general
/// score headDim), u_a [heads, scoreUnits(), headDim] and v_a [heads, 1, scoreUnits()] with scoreWeights;
/// bias [1 or heads, tokens, keyTokens], whose numbers may be -infinity, as Settings::biasKind says; b_q,
/// b_k, b_v and b_o [1, 1, columns of the matrix] with projectionBias; x_v [1, keyTokens, modelDim] with
/// separateValues; sink [heads, 1, 1] with softmaxSink.
struct State : Settings {
  std::string preset;   ///< the preset it came from; "" for the user's own
  PaintedMask painted;  ///< empty, or tokens x keyTokens
  Tensor x, wQ, wK, wV, wO, q, k, v, xKv, wA, uA, vA, bias, bQ, bK, bV, bO, xV, sink;
  Parameters parameters;  ///< around the layer; an empty one stands for the numbers drawn from its seed
  /// One for each item of the batch, that of batchItem empty; none for a batch of one.
  std::vector<BatchItem> items;
  /// JSON object text: fields of a newer minor version, kept unchanged; "" if none.
  std::string unknownFields;

  State();  // as an aggregate it would be spelt out, member by member, at each State{}
  bool operator==(const State&) const = default;
};

inline constexpr int kLabelBytes = 64;

/// The limit on the numbers of all inputs together. It keeps the text of every state below kMaxTextBytes
/// (text.h). 12 layers of 12 heads of 256 tokens fit, with 64 columns (224 MB in the page) or as weights.
inline constexpr std::int64_t kMaxNumbers = 9'600'000;
inline constexpr std::size_t kMaxPinBytes = std::size_t{1} << 20;
inline constexpr int kMaxDecimals = 6;
inline constexpr double kMinTemperature = 1e-6, kMaxTemperature = 1e6;
static_assert(static_cast<float>(kMinTemperature) == attention::Limits::coldest &&
              static_cast<float>(kMaxTemperature) == attention::Limits::hottest);
inline constexpr double kMinScale = 0.0001, kMaxScale = 10000;
inline constexpr double kMaxSoftcap = 1000;
inline constexpr double kMinRotaryBase = 1.001, kMaxRotaryBase = 1e9;
inline constexpr double kMinRotaryFactor = 0.01, kMaxRotaryFactor = 1000;
inline constexpr int kMaxBatch = 64;
inline constexpr int kMaxMemoryUnits = 16, kMaxMemoryWords = 16;
inline constexpr int kMinClasses = 2, kMaxClasses = 8;
inline constexpr int kMaxCostTokens = 1'000'000;
inline constexpr int kMaxBlockHidden = 8;
inline constexpr double kMaxBlockDropout = 0.9;
inline constexpr double kMinBlockEpsilon = 1e-12, kMaxBlockEpsilon = 1;

/// The attention layer that a state describes, and its inputs (pointers into the state).
attention::Spec spec(const Settings& settings);
attention::Inputs inputs(const State& state);

/// The editable tensor with that id; null for a computed one.
Tensor* input(State& state, TensorId id);
const Tensor* input(const State& state, TensorId id);
/// The same for an item of the batch; null for weights, which all items share.
Tensor* input(BatchItem& item, TensorId id);
const Tensor* input(const BatchItem& item, TensorId id);
/// Can this tensor be edited in this mode (q in Mode::qkv, x in Mode::x, w_a with a score that uses it)?
bool isEditable(const Settings& settings, TensorId id);
/// Columns of W_O, whether in use or not, and columns of the layer's output.
inline int outputColumns(const Settings& s) { return s.outputDim > 0 ? s.outputDim : s.modelDim; }
inline int outputWidth(const Settings& s) {
  return s.mode == Mode::x && s.outputProjection ? outputColumns(s) : s.heads * s.valueDim;
}
/// Columns of Q of a head, and are there as many as of K?
inline int queryWidth(const Settings& s) { return s.queryDim > 0 ? s.queryDim : s.headDim; }
inline bool sameWidths(const Settings& s) { return queryWidth(s) == s.headDim; }
/// Rows of w_a and u_a; for the general score those of w_a are the columns of Q.
inline int scoreUnits(const Settings& s) {
  return s.score == attention::Score::general ? queryWidth(s) : s.additiveDim > 0 ? s.additiveDim : s.headDim;
}
/// Is it b_q, b_k, b_v or b_o?
inline bool isProjectionBias(TensorId id) { return id >= TensorId::b_q && id <= TensorId::b_o; }
/// Does that input exist, whether in use or not? Others are empty.
bool hasInput(const Settings& settings, TensorId id);
/// The editable tensors in the order of the state text: x, w_q, w_k, w_v, w_o, q, k, v, x_kv, w_a, u_a, v_a,
/// bias, b_q, b_k, b_v, b_o, x_v, sink.
std::span<const TensorId> inputIds();
/// Those that each item of a batch has its own of: x, q, k, v, x_kv, bias, x_v.
std::span<const TensorId> itemInputIds();
/// A parameter around the layer: as edited, or as drawn from its seed.
Tensor parameter(const State& state, ParameterId id);
/// Stores an edited parameter. One that equals what its seed gives is not stored.
void setParameter(State& state, ParameterId id, Tensor numbers);
/// Does the batch consist of several layers of a model?
inline bool hasLayers(const Settings& s) { return s.batchOf == BatchOf::layers && s.batch > 1; }
/// Are there several heads of the same tokens, in one layer or in several?
inline bool hasManyHeads(const Settings& s) { return hasLayers(s) || (s.batch == 1 && s.heads > 1); }
/// The labels of the keys: those of the tokens in self-attention.
const std::vector<std::string>& keyLabels(const Settings& settings);
/// The name of a column of Q and K of a query head; "" if it has none.
std::string_view columnName(const Settings& settings, int head, int col);
/// How many columns of a head rotary positions rotate.
int rotatedColumns(const Settings& settings);
/// Is the score q·k, scaled or not?
bool isDotProduct(attention::Score score);
/// Does the score use w_a (general, additive)?
bool takesScoreWeights(attention::Score score);

/// An error unless the sizes are within attention::Limits and kMaxNumbers. `field` is the field that the
/// error names.
Result<void> checkSizes(std::string_view field, const Settings& sizes);
/// An error if options contradict each other (rotary positions need an even d_k …). `field` as above; "" for
/// the name of the option at fault.
Result<void> checkTogether(std::string_view field, const Settings& settings);
/// The error for a number that is not finite.
Result<void> refuseNumber(std::string_view field, float number);
using attention::checks::firstWrong;
/// An error unless the label is valid UTF-8 of at most kLabelBytes without control characters.
Result<void> checkLabel(std::string_view field, std::string_view label);
/// The same for several labels; `first` is the index of the first one, `field` is "labels" or "key_labels".
Result<void> checkLabels(std::string_view field, std::span<const std::string> labels, int first);
/// The column names after naming one column of a head; names that are missing at the end of the list are
/// added as "".
std::vector<std::string> columnNamesWith(const Settings& settings, int head, int col, std::string name);
/// How many classes a document has: as many as names, and at least kMinClasses.
int classCount(const Settings& settings);
/// The name of a class, or "Class 1".
base::Message className(const Settings& settings, int index);
/// An error if an edited parameter of this size could not be stored.
Result<void> checkParameterSize(const Settings& settings, ParameterId id);
/// Checks the whole state: sizes, shapes, finite numbers, labels and ranges.
Result<void> check(const State& state);

/// Equal bit for bit, including the sign of zero.
/// A copy that takes memory for the numbers of a tensor when they are changed, in it or in `state`.
State shared(const State& state);
bool sameBits(const Tensor& a, const Tensor& b);
bool sameBits(const State& a, const State& b);
/// The mapping of weights to colours that is used on this board.
inline WeightScale shownScale(WeightScale chosen, int keys) {
  return chosen != WeightScale::automatic ? chosen
         : keys > kMostOfSquareRoot       ? WeightScale::fourthRoot
         : keys >= kManyKeys              ? WeightScale::root
                                          : WeightScale::linear;
}
inline WeightScale shownScale(const Settings& s) { return shownScale(s.weightScale, s.keyTokens); }
inline void copyView(Settings& settings, const ViewSettings& from) {
  static_cast<ViewSettings&>(settings) = from;
}
/// The same, limited to the heads and tokens that exist.
void keepView(Settings& settings, const Settings& from);
/// For another board that is opened: as copyView(), but the head, the step of the decoder and the view are
/// its own, and training stops.
void keepAppearance(Settings& settings, const Settings& from);

}  // namespace document
