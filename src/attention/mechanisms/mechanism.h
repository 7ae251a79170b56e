// What a mechanism of the layer has to say of itself. Each is one file: normalizers/relu.cpp defines the two records of
// Normalizer::relu. What the layer computes with is apart from what only readers need, because the page loads that later.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "attention/layer/explain.h"
#include "attention/mechanisms/expression.h"
#include "attention/mechanisms/registry.h"

namespace attention {

/// A normaliser as the layer, its gradient and the board use it.
struct NormalizerMechanism {
  std::string_view title, about;  ///< in menus: "ReLU", "max(s, 0)"
  bool isByCell = false;          ///< a weight depends on its own score alone, and not on the whole row
  bool sumsToOne = false;         ///< so does each row that sees a key
  double least = 0.0, most = 1.0; ///< the range of the weights of keys that are seen
  bool isOpen = false;            ///< no weight is exactly the least or the most
  RowStep before = RowStep::none; ///< what is computed of the row before its weights: its maximum, or a threshold
  /// weights[i] from scores[i], which are divided by the temperature: finite, or kHiddenScore where masked. Both may be the same memory.
  void (*weigh)(const float* scores, int count, float* weights);
  /// dScores[i] = ∂L/∂(score i) from dWeights[i] = ∂L/∂(weight i); 0 where masked[i] is kHiddenScore. `weights` are what weigh() gave. Sums
  /// over a row are in double. dScores may be dWeights. Null for a step function, whose derivative is 0.
  void (*gradient)(const float* masked, const float* weights, const float* dWeights, int count, float* dScores) = nullptr;

  bool isStep() const { return gradient == nullptr; }
};

/// The row of a weight that is explained. Keys are indices; scores are divided by the temperature.
struct ExplainedRow {
  Normalizer normalizer;
  CellRef weight;              ///< of a key that is seen
  std::vector<int> seen;       ///< the keys that the query sees
  const float *masked, *weights;
  double temperature;
  int decimals;
  bool isMarked;               ///< as in explain()
  std::vector<Term>& lines;

  double score(int key) const { return double{masked[key]} / temperature; }
  std::string number(double value) const { return formatNumber(value, decimals); }
  std::string scoreText(int key) const;  ///< with the mark of its cell
  /// Those of `seen` whose weight is not 0.
  std::vector<int> support() const;
  void add(std::string label, std::string text, double value, std::vector<CellRef> cells = {}) const;
  /// Adds the line `before` + a sum of what `term` writes for each of `keys`, the middle of a long one omitted, + `after` = value.
  void addSum(std::string label, std::string before, const std::vector<int>& keys, const std::function<std::string(int key)>& term,
              const std::string& after, double value) const;
};

/// A normaliser as readers see it.
struct NormalizerText {
  std::string_view latex;  ///< the function; empty if the weights are the scores
  /// A weight, from the score ÷ temperature and, where the normaliser has one, the threshold of the row. Null where it is not so simple.
  arithmetic::Expression (*weight)(arithmetic::Expression score, arithmetic::Expression threshold) = nullptr;
  /// The label of a weight's line in explanations; empty: its arithmetic.
  std::string_view label = {};
  /// Adds lines for what is computed of the row, and returns what stands before the weight: "max(0.28 − 0.16, 0) = ". Null: `weight`.
  std::string (*explain)(const ExplainedRow&) = nullptr;
  /// Pseudocode of one row, indented by two spaces: what comes before the loop over its keys, and, from "w = " on, what is in it. {s} is a
  /// score, {row} all of them (÷ temperature), {n} their number, {w} is `weight`. Lines that begin with "?" are for layers with rows that
  /// see no key.
  std::string_view loops;
  /// The lines of a program that make `weights` of `scores` in NumPy, PyTorch and JAX. {np} is the module, {keep} the arguments of a
  /// reduction over the row, {max} its maximum, {inf} what masked scores are, {n} and {n+1} the number of keys and the next, {w} `weight`
  /// of `scores`, or of `z` and `threshold` where it is not by cell. Lines that begin with "?" are for layers with masked keys and "!" for
  /// others, "torch:" for PyTorch and "numpy:" for the rest.
  std::string_view program;
};

/// The text with each {name} replaced by what stands for it.
std::string filled(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string_view>> values);
/// Calls use(line) for each line of the text.
void eachLine(std::string_view text, const std::function<void(std::string_view)>& use);
/// Removes `prefix` from the start of a line; returns whether it was there.
bool takePrefix(std::string_view& line, std::string_view prefix);

const NormalizerMechanism& mechanismOf(Normalizer normalizer);
const NormalizerText& textOf(Normalizer normalizer);
inline const NormalizerMechanism& normalizerOf(const Spec& spec) { return mechanismOf(spec.normalizer); }

/// The records that the files define.
namespace normalizers {
#define ATTENTION_USE(name) extern const NormalizerMechanism name; extern const NormalizerText name##Text;
ATTENTION_NORMALIZERS(ATTENTION_USE)
#undef ATTENTION_USE
}  // namespace normalizers

}  // namespace attention
