// What a mechanism of the layer has to say of itself. Each is one file: scores/cosine.cpp defines the two
// records of Score::cosine, normalizers/relu.cpp those of Normalizer::relu. What the layer computes with is
// apart from what only readers need, because the page loads that later.
#pragma once

#include <array>
#include <functional>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/layer/explanation_format.h"
#include "attention/mechanisms/expression.h"
#include "attention/mechanisms/registry.h"
#include "attention/steps/mask.h"
#include "attention/steps/score.h"
#include "attention/steps/steps.h"

namespace attention {

/// The cell that explain() explains, as mechanisms see it, and the lines of its explanation. Keys are
/// indices.
struct ExplainedCell {
  const Spec& spec;
  const Inputs& in;
  const Trace& trace;
  CellRef cell;
  int decimals;
  bool isMarked;  ///< as in explain()
  int head = cell.head, row = cell.row, col = cell.col, kvHead = kvHeadOf(spec, head);
  MaskRow mask{spec, row};  ///< of the row, if that is a query
  std::vector<Term> lines = {};

  double at(CellRef other) const;
  double at(TensorId id, int h, int r, int c) const { return at({id, h, r, c}); }
  double at(TensorId id) const { return at({id, head, row, col}); }
  std::string number(double value) const { return formatNumber(value, decimals); }
  std::string number(double value, char sign) const {
    return isMarked ? sign + number(value) : number(value);
  }
  std::string number(CellRef other) const;
  std::string operand(CellRef other) const;
  std::string equals(double value) const { return " = " + number(value); }
  static std::string operand(std::string number) { return explanation_format::operand(std::move(number)); }

  // The pair of a score: column c of its query and of its key.
  CellRef queryCell(int c) const { return {stepBefore(TensorId::raw, spec, in), head, row, c}; }
  CellRef keyCell(int c) const {
    return {isRotary(spec) ? TensorId::k_rotated : TensorId::k, kvHead, col, c};
  }

  // The row of a weight. Scores are divided by the temperature, as normalisers use them.
  double score(int key) const { return at(TensorId::masked, head, row, key) / double{spec.temperature}; }
  std::string scoreText(int key) const;  ///< with the mark of its cell
  bool isSeen(int key) const;
  std::vector<double> scores(const std::vector<int>& keys) const;
  /// Does the row see all of visibleKeys()?
  bool seesRange() const { return !spec.pattern.any() && !in.bias && (!in.painted || in.painted->empty()); }
  bool seesNothing() const;
  std::vector<int> seen() const;
  std::vector<int> support() const;  ///< those whose weight is not 0

  // Add a line.
  void add(RowStep step, base::Message label, base::Message text, double value, std::vector<CellRef> cells);
  /// What is computed of the row before its weights: text = value.
  void addBefore(base::Message label, std::string text, double value, std::vector<CellRef> cells = {});
  /// `before` + a sum of what `term` writes for each of `keys`, the middle of a long one omitted, + `after` =
  /// value.
  void addSum(base::Message label, std::string before, const std::vector<int>& keys,
              const std::function<std::string(int key)>& term, const std::string& after, double value);
  /// A sum of `count` products, each of a cell of one tensor and a cell of another, with an optional bias.
  struct SumOfProducts {
    int count;
    std::function<CellRef(int)> left, right;
    const CellRef* bias = nullptr;
  };
  void addProducts(RowStep step, base::Message label, double value, const SumOfProducts& sum);
  void addDot(RowStep step, double value);
  /// What stands before, between and after the pieces of a line.
  struct Frame {
    std::string before;
    const char* between;
    std::string after;
  };
  /// A line of `count` pieces, the middle of many omitted.
  void addJoined(RowStep step, base::Message label, double value, Frame frame, int count,
                 const std::function<explanation_format::Piece(int)>& piece);
  /// A matrix of the score times the query or the key, or their row times the matrix: lists the numbers, and
  /// returns them.
  std::vector<double> addTurned(RowStep step, base::Message label, TensorId matrix, bool isRowFirst,
                                const std::function<CellRef(int)>& factor);
};

inline constexpr TensorId kScoreParameters[] = {TensorId::w_a, TensorId::u_a, TensorId::v_a};

/// What a score makes of the rows of Q, or of K, before it compares them.
struct ScoreSide {
  TensorId parameter = TensorId::x;  ///< x: none
  /// Null: they remain as they are.
  void (*make)(const Matrix& rows, const Matrix& parameter, Products& products, Tensor& made) = nullptr;
  /// dRows and dParameter, which have their shapes, from dMade.
  void (*gradient)(const Matrix& rows, const Matrix& parameter, Products& products,
                   ScoreSideMemory& memory) = nullptr;
};

/// A score as the layer, its gradient and the board use it.
struct ScoreMechanism {
  std::string_view title, about;  ///< in menus: "Cosine", "q·k ÷ (|q|·|k|)"
  bool isProduct = false;         ///< q·k itself, which the kernels compute and the engine keeps up to date
  bool isScaled = false;          ///< Spec::scale is the next step
  /// The first of kScoreParameters; with u_a and v_a there can be any number of hidden units.
  std::span<const TensorId> parameters = {};
  ScoreSide query = {}, key = {};
  /// raw[j] of a query and each of the keys, made as above; `v` is v_a. Null: their dot products.
  void (*compare)(const Compared& rows, int query, const float* v, float* raw) = nullptr;
  /// dMade of both sides, which have their shapes, and dV, from d = ∂L/∂raw. Null: those of dot products.
  void (*gradient)(const Compared& rows, const float* v, const Matrix& d, ScoreMemory& memory) = nullptr;

  /// Is it a dot product of what is made of the query alone and of the key alone, so that rotary positions
  /// can turn them?
  bool isDot() const { return gradient == nullptr; }
};

/// One line of the arithmetic of a score, as a step of the row.
struct ScorePart {
  RowStep step = RowStep::none;
  std::string_view name;          ///< in the progress track
  std::array<TensorId, 2> reads;  ///< q and k stand for the row of the query and of the key, x for nothing
};

/// A score as readers see it.
struct ScoreText {
  std::string_view formula;       ///< of all scores, in captions
  std::string_view columns = {};  ///< the same where tokens are columns; empty: no different
  /// Of the score of one pair, with {i} and {j} for the indices of its query and key.
  std::string_view symbols;
  std::string_view latex;
  std::array<ScorePart, 3> parts;   ///< in order of computation; the last is RowStep::raw, after it none
  void (*explain)(ExplainedCell&);  ///< adds a line for each of these parts
  /// Pseudocode that computes s, which is 0, from row i of {q} and row j of {k}, with {d} columns; {u} is the
  /// number of hidden units.
  std::string_view loops;
  /// The lines of a program that make `scores` of `q` and `k` in NumPy, PyTorch and JAX. {np} is the module,
  /// {T} the method that swaps the last two axes, {scale} the factor, where there is one.
  std::string_view program;
};

/// A normaliser as the layer, its gradient and the board use it.
struct NormalizerMechanism {
  std::string_view title, about;   ///< in menus: "ReLU", "max(s, 0)"
  bool isByCell = false;           ///< a weight depends on its own score alone, and not on the whole row
  bool sumsToOne = false;          ///< so does each row that sees a key
  double least = 0.0, most = 1.0;  ///< the range of the weights of keys that are seen
  bool isOpen = false;             ///< no weight is exactly the least or the most
  /// What is computed of the row before its weights: its maximum, or a threshold.
  RowStep before = RowStep::none;
  /// weights[i] from scores[i], which are divided by the temperature: finite, or kHiddenScore where masked.
  /// Both may be the same memory.
  void (*weigh)(const float* scores, int count, float* weights);
  /// dScores[i] = ∂L/∂(score i) from dWeights[i] = ∂L/∂(weight i); 0 where masked[i] is kHiddenScore.
  /// `weights` are what weigh() gave. Sums over a row are in double. dScores may be dWeights. Null for a step
  /// function, whose derivative is 0.
  void (*gradient)(const float* masked, const float* weights, const float* dWeights, int count,
                   float* dScores) = nullptr;

  bool isStep() const { return gradient == nullptr; }
};

/// A normaliser as readers see it.
struct NormalizerText {
  std::string_view latex;  ///< the function; empty if the weights are the scores
  /// A weight, from the score ÷ temperature and, where the normaliser has one, the threshold of the row. Null
  /// where it is not so simple.
  arithmetic::Expression (*weight)(arithmetic::Expression score, arithmetic::Expression threshold) = nullptr;
  /// The label of a weight's line in explanations; empty: its arithmetic.
  std::string_view label = {};
  /// Adds lines for what is computed of the row, and returns the arithmetic of the weight: "max(0.28 − 0.16,
  /// 0)". Null: `weight`.
  std::string (*explain)(ExplainedCell&) = nullptr;
  /// Why the weight is what it is, in words instead of arithmetic: "the score itself".
  base::Message (*reason)(ExplainedCell&) = nullptr;
  /// Pseudocode of one row, indented by two spaces: what comes before the loop over its keys, and, from "w =
  /// " on, what is in it. {s} is a score, {row} all of them (÷ temperature), {n} their number, {w} is
  /// `weight`. Lines that begin with "?" are for layers with rows that see no key.
  std::string_view loops;
  /// The lines of a program that make `weights` of `scores` in NumPy, PyTorch and JAX. {np} is the module,
  /// {keep} the arguments of a reduction over the row, {max} its maximum, {inf} what masked scores are, {n}
  /// and {n+1} the number of keys and the next, {w} `weight` of `scores`, or of `z` and `threshold` where it
  /// is not by cell. Lines that begin with "?" are for layers with masked keys and "!" for others, "torch:"
  /// for PyTorch and "numpy:" for the rest.
  std::string_view program;
};

/// The text with each {name} replaced by what stands for it.
std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values);
/// Calls use(line) for each line of the text.
void eachLine(std::string_view text, const std::function<void(std::string_view)>& use);
/// Removes `prefix` from the start of a line; returns whether it was there.
bool takePrefix(std::string_view& line, std::string_view prefix);

const ScoreMechanism& mechanismOf(Score score);
const ScoreText& textOf(Score score);
/// Is it one of the parameters of the score?
bool takes(Score score, TensorId parameter);
const NormalizerMechanism& mechanismOf(Normalizer normalizer);
const NormalizerText& textOf(Normalizer normalizer);
inline const NormalizerMechanism& normalizerOf(const Spec& spec) { return mechanismOf(spec.normalizer); }
/// Do the weights of each row that sees a key sum to 1? A sink takes a part of them.
inline bool sumsToOne(const Spec& spec) { return normalizerOf(spec).sumsToOne && !hasSink(spec); }

// The records that the files define.
namespace scores {
#define ATTENTION_USE(name)         \
  extern const ScoreMechanism name; \
  extern const ScoreText name##Text;
ATTENTION_SCORES(ATTENTION_USE)
#undef ATTENTION_USE
}  // namespace scores
namespace normalizers {
#define ATTENTION_USE(name)              \
  extern const NormalizerMechanism name; \
  extern const NormalizerText name##Text;
ATTENTION_NORMALIZERS(ATTENTION_USE)
#undef ATTENTION_USE
}  // namespace normalizers

}  // namespace attention
