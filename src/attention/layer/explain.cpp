#include "attention/layer/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

#include "attention/steps/mask.h"
#include "attention/layer/explanation_format.h"
#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "base/number.h"

namespace attention {
namespace {

using explanation_format::join;
using explanation_format::Piece;
using explanation_format::subscript;

std::string nth(const char* letter, int index) { return letter + subscript(index + 1); }

/// Writes the lines for one cell, in order of computation.
class Explainer {
 public:
  Explainer(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
            const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals, bool marked)
      : spec_(spec), in_(inputs), trace_(trace), labels_(labels), keyLabels_(keyLabels), decimals_(decimals), marked_(marked),
        head_(cell.head), row_(cell.row), col_(cell.col), kvHead_(cell.head / (spec.heads / spec.kvHeads)),
        mask_(spec, cell.row) {}

  Explanation explain(TensorId id) {
    out_.title = title(id);
    lines(id);
    return std::move(out_);
  }

 private:
  // Text of numbers.
  std::string number(double value) const { return formatNumber(value, decimals_); }
  std::string number(double value, char mark) const { return marked_ ? mark + number(value) : number(value); }
  [[gnu::noinline]] std::string number(CellRef cell) const { return number(at(cell), mark::kCell); }
  static std::string operand(std::string number) { return explanation_format::operand(std::move(number)); }
  [[gnu::noinline]] std::string operand(CellRef cell) const { return explanation_format::operand(number(cell)); }
  static std::string token(const std::vector<std::string>& labels, int index) {
    const bool named = index < static_cast<int>(labels.size()) && !labels[static_cast<std::size_t>(index)].empty();
    return named ? labels[static_cast<std::size_t>(index)] + subscript(index + 1) : std::to_string(index + 1);
  }
  double at(TensorId id, int head, int row, int col) const {
    const Tensor* tensor = find(in_, trace_, id);
    return tensor && tensor->contains(head, row, col) ? double{tensor->at(head, row, col)} : 0.0;
  }
  double at(CellRef cell) const { return at(cell.tensor, cell.head, cell.row, cell.col); }
  double at(TensorId id) const { return at(id, head_, row_, col_); }
  double maskedAt(int key) const { return at(TensorId::masked, head_, row_, key); }
  bool isSeen(int key) const {
    return mask_.sees(key) && !(in_.painted && in_.painted->isBlocked(row_, key)) && !isMaskedByBias(in_, head_, row_, key);
  }
  bool seesNothing() const { return keysWhere(&Explainer::isSeen).empty(); }
  /// Does the key take part in the normaliser? If the mask is applied after it, every key does.
  bool isScored(int key) const {
    return isSeen(key) || (spec_.maskAfterSoftmax && !isMaskedByBias(in_, head_, row_, key));
  }
  std::vector<int> keysWhere(bool (Explainer::*is)(int) const) const {
    std::vector<int> keys;
    for (int j = 0; j < spec_.keyCount; ++j) {
      if ((this->*is)(j)) keys.push_back(j);
    }
    return keys;
  }
  // The preceding tensors; the layer may not have all of them.
  TensorId queries() const { return before(TensorId::raw); }
  TensorId keys() const { return isRotary(spec_) ? TensorId::k_rotated : TensorId::k; }
  TensorId before(TensorId id) const { return stepBefore(id, spec_, in_); }

  /// How the title names the row: by its token, or by a number where rows are not tokens.
  std::string rowName(TensorId id) const {
    const Rows rows = rowsOf(id);
    return rows == Rows::other ? std::to_string(row_ + 1) : token(rows == Rows::keys ? keyLabels_ : labels_, row_);
  }

  std::string title(TensorId id) const {
    std::string where = rowName(id);
    if (tensorRow(id).columns != Size::one) {
      where += ", " + (isOfPairs(id) ? token(keyLabels_, col_) : std::to_string(col_ + 1));
    }
    const char* bound = !isCutOff(id) ? "" : at(id) > 0 ? "≥ " : "≤ ";
    return std::string(symbol(id, spec_.score)) + "[" + where + "] = " + bound + number(at(id));
  }

  void add(RowStep step, std::string label, std::string text, double value, std::vector<CellRef> cells) {
    out_.terms.push_back({std::move(label), std::move(text), value, std::move(cells), step});
  }

  /// Adds one line for a sum of products, each of a cell of one tensor and a cell of another, with an optional bias.
  void addProducts(RowStep step, std::string label, double value, int count, const std::function<CellRef(int)>& left,
                   const std::function<CellRef(int)>& right, const CellRef* bias = nullptr) {
    std::string text;
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const CellRef a = left(i), b = right(i);
      return Piece(operand(a) + "×" + operand(b), {a, b});
    };
    join(piece, count, " + ", text, cells);
    if (bias) text += " + " + operand(*bias), cells.push_back(*bias);
    add(step, std::move(label), text + " = " + number(value), value, std::move(cells));
  }

  bool isCutOff(TensorId id) const { return std::isfinite(at(id)) && std::abs(at(id)) >= double{cutOffFrom(spec_, in_, id)}; }

  void addCutOff(RowStep step, TensorId id) {
    if (isCutOff(id)) add(step, "too large", "the largest 32-bit number, 3.4e38, takes its place", at(id), {});
  }

  // The lines of each tensor.
  void lines(TensorId id) {
    switch (id) {
      case TensorId::x: return addInput(id, in_.xKv ? "Q" : in_.xV ? "Q and K" : "Q, K and V");
      case TensorId::x_kv: return addInput(id, in_.xV ? "K" : "K and V");
      case TensorId::x_v: return addInput(id, "V");
      case TensorId::w_q: return addInput(id, "Q");
      case TensorId::w_k: return addInput(id, "K");
      case TensorId::w_v: return addInput(id, "V");
      case TensorId::b_q: return addInput(id, "Q");
      case TensorId::b_k: return addInput(id, "K");
      case TensorId::b_v: return addInput(id, "V");
      case TensorId::b_o:
      case TensorId::w_o: return addInput(id, "the output");
      case TensorId::w_a:
      case TensorId::u_a:
      case TensorId::v_a:
      case TensorId::bias: return addInput(id, "the scores");
      case TensorId::positions: return addPosition();
      case TensorId::x_positioned: return addSum(TensorId::x, firstPosition(spec_, in_));
      case TensorId::x_kv_positioned: return addSum(TensorId::x_kv, 0);
      case TensorId::q: return addProjection(id, TensorId::w_q, spec_.headDim);
      case TensorId::k: return addProjection(id, TensorId::w_k, spec_.headDim);
      case TensorId::v: return addProjection(id, TensorId::w_v, spec_.valueDim);
      case TensorId::q_rotated: return addTurn(id, TensorId::q, spec_.causalOffset);
      case TensorId::k_rotated: return addTurn(id, TensorId::k, 0);
      case TensorId::masked: return addMasked();
      case TensorId::exponentials: return addMasked(), addExponential();
      case TensorId::row_max: return addRowMax();
      case TensorId::row_sum: return addRowSum();
      case TensorId::weights: return addMasked(), addWeight(), addToOutput();
      case TensorId::head_output: return addHeadOutput(head_, col_);
      case TensorId::concat: return addConcat(col_);
      case TensorId::output: return addOutput();
      default: return addScores(id);  // a step from the raw scores on
    }
  }

  void addInput(TensorId id, const std::string& feeds) {
    add(RowStep::none, "input", "yours to change; it goes into " + feeds, at(id), {});
  }

  // Positions and projections.
  void addPosition() {
    const bool isAngle = isRotary(spec_), isSine = col_ % 2 == 0;
    const int width = isAngle ? rotatedColumns(spec_) : trace_.positions.cols();
    const int exponent = isAngle ? 2 * col_ : col_ - col_ % 2;
    std::string angle = std::to_string(positionId(spec_, row_)) + " ÷ ";
    if (isAngle && spec_.rotary.scaling == RotaryScaling::linear) angle += base::shortest(spec_.rotary.factor) + " ÷ ";
    angle += isAngle ? rotaryBaseText() : "10000";
    angle += "^(" + std::to_string(exponent) + "/" + std::to_string(width) + ")";
    const double value = at(TensorId::positions, 0, row_, col_);
    add(RowStep::none, isAngle ? "angle" : isSine ? "sine" : "cosine",
        (isAngle ? angle : (isSine ? "sin(" : "cos(") + angle + ")") + " = " + number(value), value, {});
  }

  /// "10000", or with NTK-aware scaling "(10000 × 4^(6/4))".
  std::string rotaryBaseText() const {
    const std::string base = base::shortest(spec_.rotary.base);
    const int r = rotatedColumns(spec_);
    if (spec_.rotary.scaling != RotaryScaling::ntk || r <= 2) return base;
    return "(" + base + " × " + base::shortest(spec_.rotary.factor) + "^(" + std::to_string(r) + "/" + std::to_string(r - 2) + "))";
  }

  void addSum(TensorId x, int first) {
    const CellRef from{x, 0, row_, col_}, position{TensorId::positions, 0, first + row_, col_};
    const double value = at(from) + at(position);
    add(RowStep::none, "x + position", number(from) + " + " + operand(position) + " = " + number(value), value,
        {from, position});
  }

  void addTurn(TensorId id, TensorId from, int first) {
    const RowStep step = id == TensorId::q_rotated ? RowStep::turned_query : RowStep::turned_key;
    const int pair = pairOfColumn(spec_, col_);
    if (pair < 0) {
      const CellRef same{from, head_, row_, col_};
      return add(step, "not rotated", "only the first " + std::to_string(rotatedColumns(spec_)) + " columns are : " + number(same), at(same), {same});
    }
    const auto [one, two] = columnsOfPair(spec_, pair);
    const CellRef angle{TensorId::positions, 0, first + row_, pair};
    const CellRef x{from, head_, row_, one}, y{from, head_, row_, two};
    const std::string a = number(at(angle));
    const bool isFirst = col_ == one;
    add(step, "rotated by " + a,
        operand(x) + (isFirst ? "×cos(" : "×sin(") + a + (isFirst ? ") − " : ") + ") + operand(y) +
            (isFirst ? "×sin(" : "×cos(") + a + ") = " + number(at(id)),
        at(id), {x, y, angle});
  }

  void addProjection(TensorId id, TensorId weights, int dim) {
    if (!in_.projected()) {
      const std::string index = std::to_string(row_ + 1);
      if (id == TensorId::q) return addInput(id, "the scores of query " + index);
      if (id == TensorId::k) return addInput(id, "the scores of key " + index);
      return addInput(id, "the output of every query that sees key " + index);
    }
    const bool isOther = in_.xKv && id != TensorId::q;
    TensorId x = isOther ? TensorId::x_kv : TensorId::x;
    if (!trace_.xPositioned.empty()) x = isOther ? TensorId::x_kv_positioned : TensorId::x_positioned;
    if (id == TensorId::v && in_.xV) x = TensorId::x_v;
    const int column = head_ * dim + col_;
    const TensorId biasOf = id == TensorId::q ? TensorId::b_q : id == TensorId::k ? TensorId::b_k : TensorId::b_v;
    const CellRef bias{biasOf, 0, 0, column};
    const bool isBiased = exists(biasOf, spec_, in_);
    std::string factor = symbol(weights, spec_.score) + ("[:, " + std::to_string(column + 1) + "]");
    if (isBiased) factor += std::string(" + ") + symbol(biasOf, spec_.score);
    addProducts(RowStep::none, nth("x", row_) + " · " + factor, at(id), in_.x->cols(), [&](int i) { return CellRef{x, 0, row_, i}; },
                [&](int i) { return CellRef{weights, 0, i, column}; }, isBiased ? &bias : nullptr);
    addCutOff(RowStep::none, id);
  }

  // Scores.
  CellRef queryCell(int c) const { return {queries(), head_, row_, c}; }
  CellRef keyCell(int c) const { return {keys(), kvHead_, col_, c}; }

  void addRaw() {
    switch (spec_.score) {
      case Score::dot:
      case Score::scaled: return addDot(RowStep::raw, at(TensorId::raw));
      case Score::general: return addGeneral();
      case Score::additive: return addAdditive();
      case Score::cosine: return addCosine();
    }
  }

  void addDot(RowStep step, double value) {
    addProducts(step, nth("q", row_) + " · " + nth("k", col_), value, spec_.headDim, [&](int c) { return queryCell(c); },
                [&](int c) { return keyCell(c); });
  }

  /// Adds a line that lists numbers computed from one row.
  void addList(RowStep step, std::string label, const std::vector<double>& numbers, const std::function<CellRef(int)>& cell) {
    std::string text = "[";
    std::vector<CellRef> cells;
    join([&](int c) { return Piece(number(numbers[static_cast<std::size_t>(c)], mark::kSum), {cell(c)}); },
         static_cast<int>(numbers.size()), ", ", text, cells);
    add(step, std::move(label), text + "]", numbers.front(), std::move(cells));
  }

  /// Row `r` (column `r` if `isColumn`) of a matrix of the score times a row of numbers.
  double timesMatrix(const Tensor& w, int r, bool isColumn, const std::function<CellRef(int)>& cell) const {
    double sum = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) {
      sum += double{isColumn ? w.at(head_, c, r) : w.at(head_, r, c)} * at(cell(c));
    }
    return sum;
  }

  std::vector<double> timesMatrix(const Tensor& w, bool isColumn, const std::function<CellRef(int)>& cell) const {
    std::vector<double> out;
    for (int r = 0; r < (isColumn ? w.cols() : w.rows()); ++r) out.push_back(timesMatrix(w, r, isColumn, cell));
    return out;
  }

  void addGeneral() {
    const auto query = [&](int c) { return queryCell(c); };
    const std::vector<double> made = timesMatrix(*in_.wA, true, query);
    addList(RowStep::query_side, nth("q", row_) + "ᵀ · W_a", made, query);
    std::string text;
    std::vector<CellRef> cells;
    join([&](int c) {
      return Piece(operand(number(made[static_cast<std::size_t>(c)], mark::kSum)) + "×" + operand(keyCell(c)), {keyCell(c)});
    }, spec_.headDim, " + ", text, cells);
    add(RowStep::raw, "that · " + nth("k", col_), text + " = " + number(at(TensorId::raw)), at(TensorId::raw), std::move(cells));
  }

  void addAdditive() {
    const auto query = [&](int c) { return queryCell(c); };
    const auto key = [&](int c) { return keyCell(c); };
    const std::vector<double> wq = timesMatrix(*in_.wA, false, query), uk = timesMatrix(*in_.uA, false, key);
    addList(RowStep::query_side, "W_a · " + nth("q", row_), wq, query);
    addList(RowStep::key_side, "U_a · " + nth("k", col_), uk, key);
    std::string text;
    std::vector<CellRef> cells;
    join([&](int c) {
      const CellRef v{TensorId::v_a, head_, 0, c};
      const auto i = static_cast<std::size_t>(c);
      return Piece(operand(v) + "×tanh(" + number(wq[i], mark::kSum) + " + " + operand(number(uk[i], mark::kSum)) + ")", {v});
    }, in_.vA->cols(), " + ", text, cells);
    add(RowStep::raw, "v_a · tanh", text + " = " + number(at(TensorId::raw)), at(TensorId::raw), std::move(cells));
  }

  /// Adds the line for the norm of a row, and returns the norm.
  double addLength(const std::string& label, const std::function<CellRef(int)>& cell) {
    std::string text = "√(";
    std::vector<CellRef> cells;
    double squares = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) squares += at(cell(c)) * at(cell(c));
    join([&](int c) { return Piece(operand(cell(c)) + "²", {cell(c)}); }, spec_.headDim, " + ", text, cells);
    add(RowStep::lengths, label, text + ") = " + number(std::sqrt(squares)), std::sqrt(squares), std::move(cells));
    return std::sqrt(squares);
  }

  void addCosine() {
    double dot = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) dot += at(queryCell(c)) * at(keyCell(c));
    addDot(RowStep::dot, dot);
    const double q = addLength("|" + nth("q", row_) + "|", [&](int c) { return queryCell(c); });
    const double k = addLength("|" + nth("k", col_) + "|", [&](int c) { return keyCell(c); });
    const bool hasNoDirection = q == 0.0 || k == 0.0;
    const double raw = at(TensorId::raw);
    add(RowStep::raw, "÷ lengths",
        hasNoDirection ? "a row of zeros has no direction : " + number(raw)
                       : number(dot) + " ÷ (" + number(q) + " × " + number(k) + ") = " + number(raw),
        raw, {});
  }

  void addScale() {
    if (spec_.score != Score::scaled) return;
    const double raw = at(TensorId::raw), score = at(TensorId::scores);
    const bool byRoot = spec_.scale == 0.0f;
    const std::string factor = byRoot ? number(std::sqrt(double{static_cast<float>(spec_.headDim)})) : formatFactor(spec_.scale, decimals_);
    add(RowStep::scaled, byRoot ? "÷ √" + std::to_string(spec_.headDim) : std::string("× scale"),
        (byRoot ? number(raw, mark::kCell) + " ÷ " : operand(number(raw, mark::kCell)) + " × ") + operand(factor) + " = " + number(score), score,
        {{TensorId::raw, head_, row_, col_}});
  }

  /// Adds the lines for the pair's scores, from raw up to the step `last`.
  void addScores(TensorId last) {
    for (TensorId id = TensorId::raw; id <= last; id = static_cast<TensorId>(static_cast<int>(id) + 1)) {
      if (!exists(id, spec_, in_)) continue;
      if (id == TensorId::raw) addRaw(), addCutOff(RowStep::raw, id);
      else if (id == TensorId::scores) addScale();
      else if (id == TensorId::biased) addBias();
      else addStep(id);
    }
  }

  /// Adds a step whose arithmetic is in the table.
  void addStep(TensorId id) {
    const ScoreStep& step = tensorRow(id).step;
    const TensorId from = before(id);
    std::string text;
    for (const char* c = step.formula; *c; ++c) {
      if (*c != '{') {
        text += *c;
        continue;
      }
      text += c[1] == 's' ? number(at(from), mark::kCell) : number(double{spec_.*step.parameter});
      c += 2;
    }
    add(RowStep::capped, step.label, text + " = " + number(at(id)), at(id), {{from, head_, row_, col_}});
  }

  void addBias() {
    const double value = at(TensorId::biased);
    std::string text = number(at(before(TensorId::biased)), mark::kCell);
    if (spec_.position == Position::alibi) {
      const std::int64_t distance = std::abs(std::int64_t{row_} + spec_.causalOffset - col_);
      const std::string slope = formatNumber(double{slopeOf(spec_, head_)}, std::max(decimals_, 4));
      text += " − " + slope + " × " + std::to_string(distance);
    }
    if (in_.bias) text += " + " + operand(number(double{in_.bias->at(in_.bias->heads() == 1 ? 0 : head_, row_, col_)}, mark::kCell));
    std::vector<CellRef> from{{before(TensorId::biased), head_, row_, col_}};
    if (in_.bias) from.push_back({TensorId::bias, in_.bias->heads() == 1 ? 0 : head_, row_, col_});
    add(RowStep::biased, in_.bias ? "bias" : "ALiBi", text + " = " + number(value), value, std::move(from));
  }

  // Mask.
  void addMasked() {
    addScores(before(TensorId::masked));
    if (!spec_.maskAfterSoftmax) add(RowStep::masked, "mask", maskText(", −∞"), maskedAt(col_), {{before(TensorId::masked), head_, row_, col_}});
  }

  /// Why the key is visible or hidden, and what happens to it if hidden.
  std::string maskText(const char* hidden) const {
    const std::string key = "key " + std::to_string(col_ + 1);
    const Hidden why = mask_.reason(col_);
    if (in_.painted && in_.painted->isBlocked(row_, col_)) return key + " is painted out : hidden" + hidden;
    if (isMaskedByBias(in_, head_, row_, col_)) return key + " has a bias of −∞ : hidden" + hidden;
    if (why == Hidden::padding) return key + " is padding : hidden" + hidden;
    if (why == Hidden::pattern) return key + " is not in the pattern : hidden" + hidden;
    const bool isWindowed = spec_.windowLeft >= 0 || spec_.windowRight >= 0;
    const bool visible = why == Hidden::no;
    const std::string verdict = visible ? " : visible" : std::string(" : hidden") + hidden;
    if (visible && spec_.pattern.any()) return key + " is in the pattern" + verdict;
    const std::int64_t last = std::int64_t{row_} + spec_.causalOffset;
    if (spec_.causal && visible && col_ > last) return key + " is in the prefix" + verdict;
    if (spec_.causal && (why == Hidden::causal || !isWindowed)) {
      const std::string offset = spec_.causalOffset > 0 ? " + " + std::to_string(spec_.causalOffset) : "";
      return key + (visible ? " ≤ query " : " > query ") + std::to_string(row_ + 1) + offset + verdict;
    }
    if (!isWindowed) return "no mask" + verdict;
    const KeyRange range = visibleKeys(spec_, row_);
    const std::string window = range.begin == range.end
                                   ? "empty"
                                   : std::to_string(range.begin + 1) + "…" + std::to_string(range.end);
    return key + (visible ? " in window " : " outside window ") + window + verdict;
  }

  bool addNothingSeen() {
    if (!seesNothing()) return false;
    add(RowStep::none, "row " + std::to_string(row_ + 1), "every key is masked : weights and output are 0", 0.0, {});
    return true;
  }

  // Normalisers.
  /// A score divided by the temperature, as normalisers use it.
  double tempered(int key) const { return maskedAt(key) / double{spec_.temperature}; }

  /// The same as text, with the mark of its score.
  std::string score(int key) const { return number(tempered(key), spec_.temperature == 1.0f ? mark::kCell : mark::kMade); }

  void addTemperature() {
    if (spec_.temperature == 1.0f || !isScored(col_)) return;
    add(RowStep::tempered, "÷ temperature",
        number(maskedAt(col_), mark::kCell) + " ÷ " + formatFactor(spec_.temperature, decimals_) + " = " + number(tempered(col_)),
        tempered(col_), {{TensorId::masked, head_, row_, col_}});
  }

  void addWeight() {
    if (isSoftmax(spec_)) {
      addExponential(), addDivision();
      if (spec_.maskAfterSoftmax) {
        add(RowStep::masked_after, "mask after softmax", maskText(", weight 0"), at(TensorId::weights),
            {{TensorId::exponentials, head_, row_, col_}});
      }
      return;
    }
    if (addNothingSeen()) return;
    addTemperature();
    const double weight = at(TensorId::weights);
    const auto [label, text] =
        isSeen(col_) ? otherWeight() : std::pair<std::string, std::string>("normaliser", "hidden : ");
    add(RowStep::weights, label, text + number(weight), weight, {{TensorId::masked, head_, row_, col_}});
  }

  /// For normalisers other than softmax: adds what is computed of the row. Returns the label, and the expression that gives the weight.
  std::pair<std::string, std::string> otherWeight() {
    using arithmetic::Expression;
    const NormalizerText& text = textOf(spec_.normalizer);
    const ExplainedRow row{spec_.normalizer, {TensorId::weights, head_, row_, col_}, keysWhere(&Explainer::isSeen), trace_.masked.row(head_, row_),
                           trace_.weights.row(head_, row_), double{spec_.temperature}, decimals_, marked_, out_.terms};
    const std::string label = text.label.empty() ? text.weight(Expression("s"), Expression("t")).text : std::string(text.label);
    return {label, text.explain ? text.explain(row) : text.weight(Expression(score(col_)), Expression("")).text + " = "};
  }

  void addExponential() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    addTemperature();
    const double e = at(TensorId::exponentials);
    const double max = at(TensorId::row_max, head_, row_, 0);
    add(RowStep::exponentials, "exp(s − max)",
        isScored(col_) ? "exp(" + score(col_) + " − " + operand(number(max, mark::kCell)) + ") = " + number(e)
                       : "exp(−∞) = " + number(e),
        e, {{TensorId::masked, head_, row_, col_}, {TensorId::row_max, head_, row_, 0}});
  }

  void addDivision() {
    if (!spec_.maskAfterSoftmax && seesNothing()) return;
    const double e = at(TensorId::exponentials), sum = at(TensorId::row_sum, head_, row_, 0);
    const double share = spec_.maskAfterSoftmax ? e / sum : at(TensorId::weights);  // before a mask that is applied after softmax
    add(RowStep::weights, "÷ Σ row", number(e, mark::kCell) + " ÷ " + number(sum, mark::kCell) + " = " + number(share), share,
        {{TensorId::exponentials, head_, row_, col_}, {TensorId::row_sum, head_, row_, 0}});
  }

  void addToOutput() {
    if (seesNothing()) return;
    const double weight = at(TensorId::weights);
    std::string text = operand(number(weight, mark::kCell)) + " × " + nth("v", col_) + " = [";
    std::vector<CellRef> cells{{TensorId::weights, head_, row_, col_}};
    const auto piece = [&](int c) {
      return Piece(number(weight * at(TensorId::v, kvHead_, col_, c), mark::kMade), {{TensorId::v, kvHead_, col_, c}});
    };
    join(piece, spec_.valueDim, ", ", text, cells);
    add(RowStep::none, "adds to output", text + "]", weight, std::move(cells));
  }

  void addRowMax() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> scored = keysWhere(&Explainer::isScored);
    std::string text = "max(";
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = scored[static_cast<std::size_t>(i)];
      return Piece(score(key), {{TensorId::masked, head_, row_, key}});
    };
    join(piece, static_cast<int>(scored.size()), ", ", text, cells);
    double max = at(TensorId::row_max, head_, row_, 0);
    if (!isSoftmax(spec_)) {  // only softmax has a tensor for it
      max = -std::numeric_limits<double>::infinity();
      for (const int key : scored) max = std::max(max, tempered(key));
    }
    const bool warm = spec_.temperature != 1.0f;
    add(RowStep::maximum, "largest of row " + std::to_string(row_ + 1) + (warm ? ", ÷ temperature" : ""),
        text + ") = " + number(max), max, std::move(cells));
  }

  void addRowSum() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> scored = keysWhere(&Explainer::isScored);
    std::string text;
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = scored[static_cast<std::size_t>(i)];
      return Piece(number(CellRef{TensorId::exponentials, head_, row_, key}),
                   {{TensorId::exponentials, head_, row_, key}});
    };
    join(piece, static_cast<int>(scored.size()), " + ", text, cells);
    const double sum = at(TensorId::row_sum, head_, row_, 0);
    add(RowStep::sum, "Σ row " + std::to_string(row_ + 1), text + " = " + number(sum), sum, std::move(cells));
  }

  /// Adds a value of head_output. Head and column are parameters because concat uses this for its own cells.
  void addHeadOutput(int head, int col) {
    head_ = head, kvHead_ = head / (spec_.heads / spec_.kvHeads);
    if (addNothingSeen()) return;
    const std::vector<int> seen = keysWhere(&Explainer::isSeen);
    const auto key = [&](int i) { return seen[static_cast<std::size_t>(i)]; };
    addProducts(RowStep::values, nth("w", row_) + " · V[:, " + std::to_string(col + 1) + "]",
                at(TensorId::head_output, head, row_, col), static_cast<int>(seen.size()),
                [&](int i) { return CellRef{TensorId::weights, head_, row_, key(i)}; },
                [&](int i) { return CellRef{TensorId::v, kvHead_, key(i), col}; });
  }

  void addConcat(int col) {
    const int head = col / spec_.valueDim, within = col % spec_.valueDim;
    if (isHidden(spec_, head)) return add(RowStep::none, "head " + std::to_string(head + 1), "hidden : 0", 0.0, {});
    addHeadOutput(head, within);
    const double value = at(TensorId::concat, 0, row_, col);
    add(RowStep::concat, "head " + std::to_string(head + 1),
        "column " + std::to_string(within + 1) + " of its output = " + number(value, mark::kCell), value,
        {{TensorId::head_output, head, row_, within}});
  }

  void addOutput() {
    if (!in_.wO) {
      addConcat(col_);
      return;
    }
    const CellRef bias{TensorId::b_o, 0, 0, col_};
    addProducts(RowStep::output, nth("concat", row_) + " · W_O[:, " + std::to_string(col_ + 1) + "]" + (in_.bO ? " + b_O" : ""),
                at(TensorId::output, 0, row_, col_), in_.wO->rows(),
                [&](int i) { return CellRef{TensorId::concat, 0, row_, i}; },
                [&](int i) { return CellRef{TensorId::w_o, 0, i, col_}; }, in_.bO ? &bias : nullptr);
  }

  const Spec& spec_;
  const Inputs& in_;
  const Trace& trace_;
  const std::vector<std::string>&labels_, &keyLabels_;
  int decimals_;
  bool marked_;
  int head_, row_, col_, kvHead_;
  const MaskRow mask_;  // of row_, if that is a query
  Explanation out_;
};

std::string withExponent(double size, int decimals) {
  char text[64];
  std::snprintf(text, sizeof text, "%.*e", decimals, size);
  std::string out = text;
  out.erase(std::remove(out.begin(), out.end(), '+'), out.end());
  return out;
}

}  // namespace

float cutOffFrom(const Spec& spec, const Inputs& inputs, TensorId id) {
  constexpr float kMost = std::numeric_limits<float>::max();
  const bool isProjected = inputs.projected() && TensorRange{TensorId::q, TensorId::v}.contains(id);
  const bool isBounded = isSoftcapped(spec) && TensorRange{TensorId::softcapped, TensorId::masked}.contains(id);
  if (isBounded || (tensorRow(id).given && !isProjected)) return std::numeric_limits<float>::infinity();
  return TensorRange{TensorId::scores, TensorId::masked}.contains(id) ? kMost * std::min(1.0f, std::abs(scaleFactor(spec))) : kMost;
}

std::string formatNumber(double value, int decimals) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const int digits = std::clamp(decimals, 0, 9);
  const double size = std::abs(value);
  const std::string out = size < 1e7 ? base::fixed(size, digits) : withExponent(size, digits);
  const bool isZero = out.find_first_of("123456789") == std::string::npos;
  return value < 0 && !isZero ? "−" + out : out;
}

std::string formatFactor(float value, int decimals) {
  const double power = std::pow(10.0, decimals), given = double{value}, shown = std::round(given * power) / power;
  return std::abs(shown - given) > 0.05 * std::abs(given) ? base::shortest(value) : formatNumber(given, decimals);
}

std::string Explanation::text() const {
  std::string out = title;
  for (const Term& term : terms) out += "\n" + term.label + ": " + term.text;
  return out;
}

Explanation explain(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                    const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals, bool marked) {
  return Explainer(spec, inputs, trace, cell, labels, keyLabels, decimals, marked).explain(cell.tensor);
}

}  // namespace attention
