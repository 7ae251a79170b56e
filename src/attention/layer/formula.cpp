#include "attention/layer/formula.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/position.h"
#include "base/sentence.h"

namespace attention {
namespace {

using base::joined;

/// Scores that are further from 0 are reduced by the largest of their row, because their exponentials have
/// too many digits.
constexpr double kPlainScore = 9.0;
constexpr int kMostSummands = 5;

/// A part of a formula in symbols and in numbers, and the cells of the marked numbers.
struct Part {
  std::string symbols, numbers;
  std::vector<CellRef> cells = {};
};

class FormulaWriter : ExplainedCell {
 public:
  explicit FormulaWriter(const ExplainedCell& explained) : ExplainedCell(explained) {}

  CellFormula weight() {
    if (spec.maskAfterSoftmax || seesNothing()) return {};
    return isSoftmax(spec) ? softmax() : isSeen(col) ? otherWeight() : CellFormula{};
  }

  CellFormula maskedScore() {
    const std::string name = "s_" + pair(std::to_string(col + 1));
    if (!isSeen(col) && !spec.maskAfterSoftmax) return {name + " = −∞", {}, {}, {}};
    Part score = scaled(std::to_string(col + 1));
    if (isSoftcapped(spec)) {
      const ScoreStep& step = tensorRow(TensorId::softcapped).step;
      const auto capped = [&](const std::string& inside) {
        return filled(step.formula, {{"s", "(" + inside + ")"}, {"p", number(double{spec.*step.parameter})}});
      };
      score.symbols = capped(score.symbols), score.numbers = capped(score.numbers);
    }
    addBias(score);
    return equation(name, TensorId::masked, std::move(score));
  }

  CellFormula output() const {
    return {joined({"o_", pair(std::to_string(col + 1)), " = Σ_j w_", pair("j"), " · v_",
                    pairOf("j", std::to_string(col + 1))}),
            {},
            {},
            {}};
  }

 private:
  /// The indices of two symbols, from 1: "43", "12,3".
  static std::string pairOf(const std::string& first, const std::string& second) {
    return first.size() + second.size() > 2 ? "(" + first + "," + second + ")" : first + second;
  }
  std::string pair(const std::string& second) const { return pairOf(std::to_string(row + 1), second); }

  /// symbols: "w_43 = " + the part; numbers: "0.69 = " + the part.
  CellFormula equation(const std::string& name, TensorId id, Part part) const {
    const double value = at(id);
    part.cells.insert(part.cells.begin(), {id, head, row, col});
    return {
        name + " = " + part.symbols,
        {{}, number(value, mark::kCell) + " = " + part.numbers, value, std::move(part.cells), RowStep::none},
        {},
        {}};
  }

  bool isPlain() const { return !isSoftcapped(spec) && !exists(TensorId::biased, spec, in); }

  /// The score of key `j` as it is computed, up to the scale.
  Part scaled(const std::string& j) const {
    const ScoreMechanism& score = mechanismOf(spec.score);
    Part out{filled(textOf(spec.score).symbols, {{"i", std::to_string(row + 1)}, {"j", j}}),
             number(at(TensorId::raw), mark::kCell),
             {{TensorId::raw, head, row, col}}};
    if (!score.isScaled) return out;
    const bool byRoot = spec.scale == 0.0f;
    const std::string factor = " × " + operand(formatFactor(spec.scale, decimals));
    out.symbols += byRoot ? " ÷ √d_k" : factor;
    if (!byRoot) out.numbers = operand(out.numbers);
    out.numbers += byRoot ? joined({" ÷ √", spec.headDim}) : factor;
    return out;
  }

  /// What an exponential is of: the score of key `j`, by its symbol if it is not simple, ÷ temperature,
  /// reduced by `most` if that is not 0.
  Part exponent(const std::string& j, double most) const {
    const bool isShort = !isPlain() || spec.temperature != 1.0f;
    Part out = isShort ? Part{"s_" + pair(j),
                              number(at(TensorId::masked), mark::kCell),
                              {{TensorId::masked, head, row, col}}}
                       : scaled(j);
    if (spec.temperature != 1.0f)
      out.symbols += " ÷ T", out.numbers += " ÷ " + formatFactor(spec.temperature, decimals);
    if (most != 0.0) out.symbols += joined({" − m_", row + 1}), out.numbers += " − " + operand(number(most));
    return out;
  }

  CellFormula softmax() {
    const std::vector<int> keys = seen();
    const std::vector<double> scores = this->scores(keys);
    double most = scores.front(), furthest = 0.0;
    for (const double one : scores) most = std::max(most, one), furthest = std::max(furthest, std::abs(one));
    const double sink = hasSink(spec) ? at(TensorId::sink, head, 0, 0) / double{spec.temperature} : 0.0;
    if (hasSink(spec)) most = std::max(most, sink), furthest = std::max(furthest, std::abs(sink));
    if (furthest <= kPlainScore) most = 0.0;
    const auto exponential = [&](int key) { return isSeen(key) ? std::exp(score(key) - most) : 0.0; };
    double sum = 0.0;
    for (const double one : scores) sum += std::exp(one - most);
    if (hasSink(spec)) sum += std::exp(sink - most);
    Part own = exponent(std::to_string(col + 1), most);
    if (!isSeen(col)) own = {"−∞", "−∞"};
    std::string denominator = joined({"Σ_j exp(", exponent("j", most).symbols, ")"});
    if (hasSink(spec))
      denominator = joined({"(", denominator, " + exp(sink", spec.temperature != 1.0f ? " ÷ T" : "",
                            most != 0.0 ? joined({" − m_", row + 1}) : "", "))"});
    Part out{joined({"exp(", own.symbols, ") ÷ ", denominator}), "exp(" + own.numbers + ") ÷ (",
             std::move(own.cells)};
    addSummands(out, keys, exponential);
    if (hasSink(spec)) {
      out.numbers += " + " + number(std::exp(sink - most), mark::kMade);
      out.cells.push_back({TensorId::sink, head, 0, 0});
    }
    out.numbers += ")";
    CellFormula formula = equation("w_" + pair(std::to_string(col + 1)), TensorId::weights, std::move(out));
    formula.above = number(exponential(col)), formula.below = number(sum);
    return formula;
  }

  /// A sum of what is made of the scores of keys. Of a long one the first two, the cell's own and the last.
  void addSummands(Part& out, const std::vector<int>& keys, const std::function<double(int)>& value) const {
    const int count = static_cast<int>(keys.size());
    bool isGap = false, isFirst = true;
    for (int i = 0; i < count; ++i) {
      const int key = keys[static_cast<std::size_t>(i)];
      if (count > kMostSummands && i > 1 && i + 1 < count && key != col) {
        if (!std::exchange(isGap, true)) out.numbers += " + …";
        continue;
      }
      out.numbers += (isFirst ? "" : " + ") + number(value(key), mark::kMade);
      out.cells.push_back({TensorId::masked, head, row, key});
      isGap = isFirst = false;
    }
  }

  /// Normalisers other than softmax, in terms of the score.
  CellFormula otherWeight() {
    using arithmetic::Expression;
    const NormalizerText& text = textOf(spec.normalizer);
    const std::string index = pair(std::to_string(col + 1)), name = "s_" + index;
    const std::string divided = spec.temperature == 1.0f ? name : name + " ÷ T";
    const Expression symbol(
        divided, arithmetic::kPlain,
        spec.temperature == 1.0f ? Expression::Binding::atom : Expression::Binding::product);
    Part out{{}, {}, {{TensorId::masked, head, row, col}}};
    if (text.weight) {
      out.symbols = text.weight(symbol, Expression(joined({"t_", row + 1}))).text;
      // explain() knows the threshold.
      out.numbers = text.weight(Expression(scoreText(col)), Expression("")).text;
      if (text.explain && normalizerOf(spec).before == RowStep::threshold) out.numbers = text.explain(*this);
    } else {
      const std::vector<double> all = scores(seen());
      const double most = std::max(score(col), *std::max_element(all.begin(), all.end()));
      out.symbols = joined({"[", name, " = max_j s_", pair("j"), "]"}),
      out.numbers = joined({"[", scoreText(col), " = ", number(most), "]"});
    }
    return equation("w_" + index, TensorId::weights, std::move(out));
  }

  void addBias(Part& score) const {
    if (spec.position == Position::alibi) {
      const std::int64_t query = std::int64_t{row} + spec.causalOffset;
      score.symbols += joined({" − m · |", query + 1, " − ", col + 1, "|"});
      score.numbers += joined({" − ", formatNumber(double{slopeOf(spec, head)}, std::max(decimals, 4)), " × ",
                               std::abs(query - col)});
    }
    if (!in.bias) return;
    const CellRef bias{TensorId::bias, in.bias->heads() == 1 ? 0 : head, row, col};
    score.symbols += " + b_" + pair(std::to_string(col + 1)), score.numbers += " + " + operand(bias);
    score.cells.push_back(bias);
  }
};

/// A letter with its indices, from 1: "q_43"; the symbol of a tensor whose letter is not alone, as "W_Q",
/// without.
std::string letterOf(TensorId id, const Spec& spec, CellRef cell) {
  std::string letter = id == TensorId::output ? "y" : base::lowered(symbol(id, spec.score));
  if (letter.size() > 1) letter = letter.substr(0, 1);
  return joined({letter, "_(", cell.row + 1, ",", cell.col + 1, ")"});
}

}  // namespace

CellFormula formulaOf(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
                      const std::vector<Term>& lines, int decimals) {
  FormulaWriter writer({spec, inputs, trace, cell, decimals, true});
  switch (cell.tensor) {
    case TensorId::weights: return writer.weight();
    case TensorId::masked: return writer.maskedScore();
    case TensorId::head_output:
      return lines.empty() || lines.back().step != RowStep::values ? CellFormula{} : writer.output();
    case TensorId::q:
    case TensorId::k:
    case TensorId::v:
      if (!inputs.projected() || lines.empty()) return {};
      return {letterOf(cell.tensor, spec, cell) + " = " + lines.front().label.english(), {}, {}, {}};
    case TensorId::output:
      if (lines.empty() || lines.back().step != RowStep::output) return {};
      return {letterOf(cell.tensor, spec, cell) + " = " + lines.back().label.english(), {}, {}, {}};
    default: return {};
  }
}

bool isInFormula(const CellFormula& formula, const Term& line) {
  if (formula.numbers.text.empty()) return false;
  switch (line.step) {
    case RowStep::scaled:
    case RowStep::temperatureScaled:
    case RowStep::maximum:
    case RowStep::exponentials:
    case RowStep::sum:
    case RowStep::weights: return true;
    case RowStep::masked: return std::isfinite(line.value);
    default: return false;
  }
}

}  // namespace attention
