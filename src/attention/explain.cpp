#include "attention/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

#include "attention/mask.h"
#include "attention/phrase.h"
#include "attention/position.h"

namespace attention {
namespace {

using phrase::join;
using phrase::Piece;
using phrase::subscript;

std::string nth(const char* letter, int index) { return letter + subscript(index + 1); }

}  // namespace

const char* symbol(TensorId id, Score score) {
  switch (id) {
    case TensorId::x: return "X";
    case TensorId::x_kv: return "X_KV";
    case TensorId::w_q: return "W_Q";
    case TensorId::w_k: return "W_K";
    case TensorId::w_v: return "W_V";
    case TensorId::w_o: return "W_O";
    case TensorId::w_a: return "W_a";
    case TensorId::u_a: return "U_a";
    case TensorId::v_a: return "v_a";
    case TensorId::bias: return "bias";
    case TensorId::positions: return "P";
    case TensorId::x_positioned: return "X + P";
    case TensorId::x_kv_positioned: return "X_KV + P";
    case TensorId::q: return "Q";
    case TensorId::k: return "K";
    case TensorId::v: return "V";
    case TensorId::q_rotated: return "Q turned";
    case TensorId::k_rotated: return "K turned";
    case TensorId::raw: return score == Score::dot || score == Score::scaled ? "q·k" : "raw";
    case TensorId::scores: return "S";
    case TensorId::softcapped: return "S capped";
    case TensorId::biased: return "S biased";
    case TensorId::masked: return "S masked";
    case TensorId::exponentials: return "E";
    case TensorId::row_max: return "max";
    case TensorId::row_sum: return "Σ";
    case TensorId::weights: return "W";
    case TensorId::head_output: return "O";
    case TensorId::concat: return "concat";
    case TensorId::output: return "output";
  }
  return "";
}

namespace {

/// Writes the lines for one cell. Lines are added in the order in which the numbers are made.
class Explainer {
 public:
  Explainer(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
            const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals)
      : spec_(spec), in_(inputs), trace_(trace), labels_(labels), keyLabels_(keyLabels), decimals_(decimals),
        head_(cell.head), row_(cell.row), col_(cell.col), kvHead_(cell.head / (spec.heads / spec.kvHeads)),
        mask_(spec, cell.row) {}

  Explanation explain(TensorId id) {
    out_.title = title(id);
    lines(id);
    return std::move(out_);
  }

 private:
  // Words and numbers.
  std::string number(double value) const { return formatNumber(value, decimals_); }
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
  /// Does the key take part in the normaliser? Under the mistake of masking after it every key does.
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
  // The tensors of the steps before, of which the layer may not have all.
  TensorId queries() const { return isRotary(spec_) ? TensorId::q_rotated : TensorId::q; }
  TensorId keys() const { return isRotary(spec_) ? TensorId::k_rotated : TensorId::k; }
  TensorId capped() const { return isSoftcapped(spec_) ? TensorId::softcapped : TensorId::scores; }
  TensorId biased() const { return isBiased(spec_, in_) ? TensorId::biased : capped(); }

  /// The row of the title: a token, or a number where rows are no tokens.
  std::string rowName(TensorId id) const {
    const Rows rows = rowsOf(id);
    return rows == Rows::other ? std::to_string(row_ + 1) : token(rows == Rows::keys ? keyLabels_ : labels_, row_);
  }

  std::string title(TensorId id) const {
    const bool pairs = id >= TensorId::raw && id <= TensorId::weights;
    std::string where = rowName(id);
    if (id != TensorId::row_max && id != TensorId::row_sum) {
      where += ", " + (pairs ? token(keyLabels_, col_) : std::to_string(col_ + 1));
    }
    return std::string(symbol(id, spec_.score)) + "[" + where + "] = " + number(at(id));
  }

  void add(std::string label, std::string text, double value, std::vector<CellRef> cells) {
    out_.terms.push_back({std::move(label), std::move(text), value, std::move(cells)});
  }

  /// One line for a sum of products, each of a cell of one tensor and a cell of another.
  void addProducts(std::string label, double value, int count, const std::function<CellRef(int)>& left,
                   const std::function<CellRef(int)>& right) {
    std::string text;
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const CellRef a = left(i), b = right(i);
      return Piece(number(at(a)) + "×" + number(at(b)), {a, b});
    };
    join(piece, count, " + ", text, cells);
    add(std::move(label), text + " = " + number(value), value, std::move(cells));
  }

  // The lines of each tensor.
  void lines(TensorId id) {
    switch (id) {
      case TensorId::x: return addInput(id, in_.xKv ? "Q" : "Q, K and V");
      case TensorId::x_kv: return addInput(id, "K and V");
      case TensorId::w_q: return addInput(id, "Q");
      case TensorId::w_k: return addInput(id, "K");
      case TensorId::w_v: return addInput(id, "V");
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
      case TensorId::raw: return addRaw();
      case TensorId::scores: return addRaw(), addScale();
      case TensorId::softcapped: return addRaw(), addScale(), addSoftcap();
      case TensorId::biased: return addRaw(), addScale(), addSoftcap(), addBias();
      case TensorId::masked: return addMasked();
      case TensorId::exponentials: return addMasked(), addExponential();
      case TensorId::row_max: return addRowMax();
      case TensorId::row_sum: return addRowSum();
      case TensorId::weights: return addMasked(), addWeight(), addToOutput();
      case TensorId::head_output: return addHeadOutput(head_, col_);
      case TensorId::concat: return addConcat(col_);
      case TensorId::output: return addOutput();
    }
  }

  void addInput(TensorId id, const std::string& feeds) {
    add("input", "typed or loaded; it feeds " + feeds, at(id), {});
  }

  // Positions and projections.
  void addPosition() {
    const bool isAngle = isRotary(spec_), isSine = col_ % 2 == 0;
    const int width = isAngle ? spec_.headDim : trace_.positions.cols();
    const int exponent = isAngle ? 2 * col_ : col_ - col_ % 2;
    const std::string angle =
        std::to_string(row_) + " ÷ 10000^(" + std::to_string(exponent) + "/" + std::to_string(width) + ")";
    const double value = at(TensorId::positions, 0, row_, col_);
    add(isAngle ? "angle" : isSine ? "sine" : "cosine",
        (isAngle ? angle : (isSine ? "sin(" : "cos(") + angle + ")") + " = " + number(value), value, {});
  }

  void addSum(TensorId x, int first) {
    const CellRef from{x, 0, row_, col_}, position{TensorId::positions, 0, first + row_, col_};
    const double value = at(from) + at(position);
    add("x + position", number(at(from)) + " + " + number(at(position)) + " = " + number(value), value,
        {from, position});
  }

  void addTurn(TensorId id, TensorId from, int first) {
    const CellRef angle{TensorId::positions, 0, first + row_, col_ / 2};
    const CellRef x{from, head_, row_, col_ - col_ % 2}, y{from, head_, row_, col_ - col_ % 2 + 1};
    const std::string a = number(at(angle));
    const bool isFirst = col_ % 2 == 0;
    add("turned by " + a,
        number(at(x)) + (isFirst ? "×cos(" : "×sin(") + a + (isFirst ? ") − " : ") + ") + number(at(y)) +
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
    const int column = head_ * dim + col_;
    const std::string factor = symbol(weights, spec_.score) + ("[:, " + std::to_string(column + 1) + "]");
    addProducts(nth("x", row_) + " · " + factor, at(id), in_.x->cols(), [&](int i) { return CellRef{x, 0, row_, i}; },
                [&](int i) { return CellRef{weights, 0, i, column}; });
  }

  // Scores.
  CellRef queryCell(int c) const { return {queries(), head_, row_, c}; }
  CellRef keyCell(int c) const { return {keys(), kvHead_, col_, c}; }

  void addRaw() {
    switch (spec_.score) {
      case Score::dot:
      case Score::scaled: return addDot(at(TensorId::raw));
      case Score::general: return addGeneral();
      case Score::additive: return addAdditive();
      case Score::cosine: return addCosine();
    }
  }

  void addDot(double value) {
    addProducts(nth("q", row_) + " · " + nth("k", col_), value, spec_.headDim, [&](int c) { return queryCell(c); },
                [&](int c) { return keyCell(c); });
  }

  /// A line that lists the numbers made from one row.
  void addList(std::string label, const std::vector<double>& numbers, const std::function<CellRef(int)>& cell) {
    std::string text = "[";
    std::vector<CellRef> cells;
    join([&](int c) { return Piece(number(numbers[static_cast<std::size_t>(c)]), {cell(c)}); },
         static_cast<int>(numbers.size()), ", ", text, cells);
    add(std::move(label), text + "]", numbers.front(), std::move(cells));
  }

  /// Row `r` of a matrix of the score, or with `isColumn` column `r`, times the numbers of a row.
  double timesMatrix(const Tensor& w, int r, bool isColumn, const std::function<CellRef(int)>& cell) const {
    double sum = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) {
      sum += double{isColumn ? w.at(head_, c, r) : w.at(head_, r, c)} * at(cell(c));
    }
    return sum;
  }

  std::vector<double> timesMatrix(const Tensor& w, bool isColumn, const std::function<CellRef(int)>& cell) const {
    std::vector<double> out;
    for (int r = 0; r < spec_.headDim; ++r) out.push_back(timesMatrix(w, r, isColumn, cell));
    return out;
  }

  void addGeneral() {
    const auto query = [&](int c) { return queryCell(c); };
    const std::vector<double> made = timesMatrix(*in_.wA, true, query);
    addList(nth("q", row_) + "ᵀ · W_a", made, query);
    std::string text;
    std::vector<CellRef> cells;
    join([&](int c) {
      return Piece(number(made[static_cast<std::size_t>(c)]) + "×" + number(at(keyCell(c))), {keyCell(c)});
    }, spec_.headDim, " + ", text, cells);
    add("that · " + nth("k", col_), text + " = " + number(at(TensorId::raw)), at(TensorId::raw), std::move(cells));
  }

  void addAdditive() {
    const auto query = [&](int c) { return queryCell(c); };
    const auto key = [&](int c) { return keyCell(c); };
    const std::vector<double> wq = timesMatrix(*in_.wA, false, query), uk = timesMatrix(*in_.uA, false, key);
    addList("W_a · " + nth("q", row_), wq, query);
    addList("U_a · " + nth("k", col_), uk, key);
    std::string text;
    std::vector<CellRef> cells;
    join([&](int c) {
      const CellRef v{TensorId::v_a, head_, 0, c};
      const auto i = static_cast<std::size_t>(c);
      return Piece(number(at(v)) + "×tanh(" + number(wq[i]) + " + " + number(uk[i]) + ")", {v});
    }, spec_.headDim, " + ", text, cells);
    add("v_a · tanh", text + " = " + number(at(TensorId::raw)), at(TensorId::raw), std::move(cells));
  }

  /// The line of a length; returns it.
  double addLength(const std::string& label, const std::function<CellRef(int)>& cell) {
    std::string text = "√(";
    std::vector<CellRef> cells;
    double squares = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) squares += at(cell(c)) * at(cell(c));
    join([&](int c) { return Piece(number(at(cell(c))) + "²", {cell(c)}); }, spec_.headDim, " + ", text, cells);
    add(label, text + ") = " + number(std::sqrt(squares)), std::sqrt(squares), std::move(cells));
    return std::sqrt(squares);
  }

  void addCosine() {
    double dot = 0.0;
    for (int c = 0; c < spec_.headDim; ++c) dot += at(queryCell(c)) * at(keyCell(c));
    addDot(dot);
    const double q = addLength("|" + nth("q", row_) + "|", [&](int c) { return queryCell(c); });
    const double k = addLength("|" + nth("k", col_) + "|", [&](int c) { return keyCell(c); });
    const bool hasNoDirection = q == 0.0 || k == 0.0;
    const double raw = at(TensorId::raw);
    add("÷ lengths",
        hasNoDirection ? "a row of zeros has no direction : " + number(raw)
                       : number(dot) + " ÷ (" + number(q) + " × " + number(k) + ") = " + number(raw),
        raw, {});
  }

  void addScale() {
    if (spec_.score != Score::scaled) return;
    const double raw = at(TensorId::raw), score = at(TensorId::scores);
    const bool byRoot = spec_.scale == 0.0f;
    const double factor = byRoot ? std::sqrt(double{static_cast<float>(spec_.headDim)}) : double{spec_.scale};
    add(byRoot ? "÷ √" + std::to_string(spec_.headDim) : std::string("× scale"),
        number(raw) + (byRoot ? " ÷ " : " × ") + number(factor) + " = " + number(score), score,
        {{TensorId::raw, head_, row_, col_}});
  }

  void addSoftcap() {
    if (!isSoftcapped(spec_)) return;
    const std::string cap = number(double{spec_.softcap});
    const double value = at(TensorId::softcapped);
    add("soft cap", cap + " × tanh(" + number(at(TensorId::scores)) + " ÷ " + cap + ") = " + number(value), value,
        {{TensorId::scores, head_, row_, col_}});
  }

  void addBias() {
    if (!isBiased(spec_, in_)) return;
    const double value = at(TensorId::biased);
    std::string text = number(at(capped()));
    if (spec_.position == Position::alibi) {
      const std::int64_t distance = std::abs(std::int64_t{row_} + spec_.causalOffset - col_);
      const std::string slope = formatNumber(double{slopeOf(spec_, head_)}, std::max(decimals_, 4));
      text += " − " + slope + " × " + std::to_string(distance);
    }
    if (in_.bias) text += " + " + number(double{in_.bias->at(in_.bias->heads() == 1 ? 0 : head_, row_, col_)});
    std::vector<CellRef> from{{capped(), head_, row_, col_}};
    if (in_.bias) from.push_back({TensorId::bias, in_.bias->heads() == 1 ? 0 : head_, row_, col_});
    add(in_.bias ? "bias" : "ALiBi", text + " = " + number(value), value, std::move(from));
  }

  // Mask.
  void addMasked() {
    addRaw(), addScale(), addSoftcap(), addBias();
    if (!spec_.maskAfterSoftmax) add("mask", maskText(", −∞"), maskedAt(col_), {{biased(), head_, row_, col_}});
  }

  /// Why the key is seen or hidden, and what becomes of what is hidden.
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
    add("row " + std::to_string(row_ + 1), "every key is masked : weights and output are 0", 0.0, {});
    return true;
  }

  // Normalisers.
  /// A score after the division by the temperature, which is what normalisers see.
  double tempered(int key) const { return maskedAt(key) / double{spec_.temperature}; }

  void addTemperature() {
    if (spec_.temperature == 1.0f || !isScored(col_)) return;
    add("÷ temperature",
        number(maskedAt(col_)) + " ÷ " + number(double{spec_.temperature}) + " = " + number(tempered(col_)),
        tempered(col_), {{TensorId::masked, head_, row_, col_}});
  }

  void addWeight() {
    if (isSoftmax(spec_)) {
      addExponential(), addDivision();
      if (spec_.maskAfterSoftmax) {
        add("mask after softmax", maskText(", weight 0"), at(TensorId::weights),
            {{TensorId::exponentials, head_, row_, col_}});
      }
      return;
    }
    if (addNothingSeen()) return;
    addTemperature();
    const double weight = at(TensorId::weights);
    const auto [label, text] =
        isSeen(col_) ? otherWeight() : std::pair<std::string, std::string>("normaliser", "hidden : ");
    add(label, text + number(weight), weight, {{TensorId::masked, head_, row_, col_}});
  }

  /// How a normaliser other than softmax makes the weight: a label, and what comes before the weight.
  std::pair<std::string, std::string> otherWeight() {
    const std::string score = number(tempered(col_));
    switch (spec_.normalizer) {
      case Normalizer::softmax: break;
      case Normalizer::sparsemax:
        return {"max(s − t, 0)", "max(" + score + " − " + number(addThreshold()) + ", 0) = "};
      case Normalizer::sigmoid: return {"sigmoid", "1 ÷ (1 + exp(" + number(-tempered(col_)) + ")) = "};
      case Normalizer::relu: return {"ReLU", "max(" + score + ", 0) = "};
      case Normalizer::hardmax: {
        const float* row = trace_.masked.row(head_, row_);
        const int winner = static_cast<int>(std::max_element(row, row + spec_.keyCount) - row);
        return {"hard maximum",
                "key " + std::to_string(winner + 1) + " has the largest score, " + number(tempered(winner)) + " : "};
      }
      case Normalizer::none: return {"no normaliser", "the score itself : "};
    }
    return {};
  }

  /// The threshold of sparsemax, by the scores that it leaves a weight.
  double addThreshold() {
    std::vector<int> kept;
    double sum = 0.0;
    for (int j : keysWhere(&Explainer::isSeen)) {
      if (at(TensorId::weights, head_, row_, j) > 0.0) kept.push_back(j), sum += tempered(j);
    }
    const int count = static_cast<int>(kept.size());
    const double threshold = (sum - 1.0) / count;
    std::string text = "(";
    std::vector<CellRef> cells;
    join([&](int i) {
      const int key = kept[static_cast<std::size_t>(i)];
      return Piece(number(tempered(key)), {{TensorId::masked, head_, row_, key}});
    }, count, " + ", text, cells);
    add("threshold t", text + " − 1) ÷ " + std::to_string(count) + " = " + number(threshold), threshold,
        std::move(cells));
    return threshold;
  }

  void addExponential() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    addTemperature();
    const double e = at(TensorId::exponentials);
    const double max = at(TensorId::row_max, head_, row_, 0);
    add("exp(s − max)",
        isScored(col_) ? "exp(" + number(tempered(col_)) + " − " + number(max) + ") = " + number(e)
                       : "exp(−∞) = " + number(e),
        e, {{TensorId::masked, head_, row_, col_}, {TensorId::row_max, head_, row_, 0}});
  }

  void addDivision() {
    if (!spec_.maskAfterSoftmax && seesNothing()) return;
    const double e = at(TensorId::exponentials), sum = at(TensorId::row_sum, head_, row_, 0);
    const double share = spec_.maskAfterSoftmax ? e / sum : at(TensorId::weights);  // what a mask comes after
    add("÷ Σ row", number(e) + " ÷ " + number(sum) + " = " + number(share), share,
        {{TensorId::exponentials, head_, row_, col_}, {TensorId::row_sum, head_, row_, 0}});
  }

  void addToOutput() {
    if (seesNothing()) return;
    const double weight = at(TensorId::weights);
    std::string text = number(weight) + " × " + nth("v", col_) + " = [";
    std::vector<CellRef> cells{{TensorId::weights, head_, row_, col_}};
    const auto piece = [&](int c) {
      return Piece(number(weight * at(TensorId::v, kvHead_, col_, c)), {{TensorId::v, kvHead_, col_, c}});
    };
    join(piece, spec_.valueDim, ", ", text, cells);
    add("adds to output", text + "]", weight, std::move(cells));
  }

  void addRowMax() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> scored = keysWhere(&Explainer::isScored);
    std::string text = "max(";
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = scored[static_cast<std::size_t>(i)];
      return Piece(number(tempered(key)), {{TensorId::masked, head_, row_, key}});
    };
    join(piece, static_cast<int>(scored.size()), ", ", text, cells);
    const double max = at(TensorId::row_max, head_, row_, 0);
    const bool warm = spec_.temperature != 1.0f;
    add("largest of row " + std::to_string(row_ + 1) + (warm ? ", ÷ temperature" : ""),
        text + ") = " + number(max), max, std::move(cells));
  }

  void addRowSum() {
    if (!spec_.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> scored = keysWhere(&Explainer::isScored);
    std::string text;
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = scored[static_cast<std::size_t>(i)];
      return Piece(number(at(TensorId::exponentials, head_, row_, key)),
                   {{TensorId::exponentials, head_, row_, key}});
    };
    join(piece, static_cast<int>(scored.size()), " + ", text, cells);
    const double sum = at(TensorId::row_sum, head_, row_, 0);
    add("Σ row " + std::to_string(row_ + 1), text + " = " + number(sum), sum, std::move(cells));
  }

  /// A value of head_output; concat explains its own cells by it too, so head and column are given.
  void addHeadOutput(int head, int col) {
    head_ = head, kvHead_ = head / (spec_.heads / spec_.kvHeads);
    if (addNothingSeen()) return;
    const std::vector<int> seen = keysWhere(&Explainer::isSeen);
    const auto key = [&](int i) { return seen[static_cast<std::size_t>(i)]; };
    addProducts(nth("w", row_) + " · V[:, " + std::to_string(col + 1) + "]",
                at(TensorId::head_output, head, row_, col), static_cast<int>(seen.size()),
                [&](int i) { return CellRef{TensorId::weights, head_, row_, key(i)}; },
                [&](int i) { return CellRef{TensorId::v, kvHead_, key(i), col}; });
  }

  void addConcat(int col) {
    const int head = col / spec_.valueDim, within = col % spec_.valueDim;
    if (isHidden(spec_, head)) return add("head " + std::to_string(head + 1), "hidden : 0", 0.0, {});
    addHeadOutput(head, within);
    const double value = at(TensorId::concat, 0, row_, col);
    add("head " + std::to_string(head + 1),
        "column " + std::to_string(within + 1) + " of its output = " + number(value), value,
        {{TensorId::head_output, head, row_, within}});
  }

  void addOutput() {
    if (!in_.wO) {
      addConcat(col_);
      return;
    }
    addProducts(nth("concat", row_) + " · W_O[:, " + std::to_string(col_ + 1) + "]",
                at(TensorId::output, 0, row_, col_), in_.wO->rows(),
                [&](int i) { return CellRef{TensorId::concat, 0, row_, i}; },
                [&](int i) { return CellRef{TensorId::w_o, 0, i, col_}; });
  }

  const Spec& spec_;
  const Inputs& in_;
  const Trace& trace_;
  const std::vector<std::string>&labels_, &keyLabels_;
  int decimals_, head_, row_, col_, kvHead_;
  const MaskRow mask_;  // of row_, where that is a query
  Explanation out_;
};

}  // namespace

std::string formatNumber(double value, int decimals) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value < 0 ? "−∞" : "∞";
  const int digits = std::clamp(decimals, 0, 9);
  const double size = std::abs(value);
  char text[64];
  std::string out;
  if (size < 1e7) {
    std::snprintf(text, sizeof text, "%.*f", digits, size);
    out = text;
  } else {
    std::snprintf(text, sizeof text, "%.*e", digits, size);
    out = text;
    out.erase(std::remove(out.begin(), out.end(), '+'), out.end());
  }
  const bool isZero = out.find_first_of("123456789") == std::string::npos;
  return value < 0 && !isZero ? "−" + out : out;
}

std::string Explanation::text() const {
  std::string out = title;
  for (const Term& term : terms) out += "\n" + term.label + ": " + term.text;
  return out;
}

Explanation explain(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                    const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals) {
  return Explainer(spec, inputs, trace, cell, labels, keyLabels, decimals).explain(cell.tensor);
}

double entropyBits(const Trace& trace, int head, int row) {
  double bits = 0.0;
  const float* weights = trace.weights.row(head, row);
  for (int j = 0; j < trace.weights.cols(); ++j) {
    const double w = double{weights[j]};
    if (w > 0.0) bits -= w * std::log2(w);
  }
  return bits;
}

}  // namespace attention
