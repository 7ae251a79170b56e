#include "attention/layer/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "attention/mechanisms/mechanism.h"
#include "attention/steps/mask.h"
#include "attention/steps/position.h"
#include "base/number.h"

namespace attention {
namespace {

using base::message;
using base::Message;
using explanation_format::nth;
using explanation_format::Piece;
using explanation_format::token;

/// Writes the lines for one cell, in order of computation.
class Explainer : ExplainedCell {
 public:
  Explainer(const ExplainedCell& explained, const TokenLabels& labels)
      : ExplainedCell(explained),
        labels_(labels) {}

  Explanation explain(TensorId id) {
    Explanation out{name(id), value(id), {}};
    addLines(id);
    out.terms = std::move(lines);
    return out;
  }

 private:
  /// Does the key take part in the normaliser? If the mask is applied after it, every key does.
  bool isScored(int key) const {
    return isSeen(key) || (spec.maskAfterSoftmax && !isMaskedByBias(in, head, row, key));
  }
  std::vector<int> scored() const {
    if (!spec.maskAfterSoftmax) return seen();
    std::vector<int> keys;
    for (int key = 0; key < spec.keyCount; ++key)
      if (isScored(key)) keys.push_back(key);
    return keys;
  }
  CellRef here(TensorId id) const { return {id, head, row, col}; }
  /// The preceding tensor that the layer has.
  TensorId before(TensorId id) const { return stepBefore(id, spec, in); }

  /// How the title names the row: by its token, or by a number where rows are not tokens.
  std::string rowName(TensorId id) const {
    const Rows rows = rowsOf(id);
    return rows == Rows::other ? std::to_string(row + 1)
                               : token(rows == Rows::keys ? labels_.keys : labels_.queries, row);
  }

  Message name(TensorId id) const {
    std::string where = rowName(id);
    if (tensorRow(id).columns != Size::one) {
      where += ", " + (isOfPairs(id) ? token(labels_.keys, col) : std::to_string(col + 1));
    }
    return message({Message(symbol(id, spec.score)), "[", where, "]"});
  }

  std::string value(TensorId id) const {
    return (!isCutOff(id) ? "" : at(id) > 0 ? "≥ " : "≤ ") + number(at(id));
  }

  bool isCutOff(TensorId id) const {
    return std::isfinite(at(id)) && std::abs(at(id)) >= double{cutOffFrom(spec, in, id)};
  }

  void addCutOff(RowStep step, TensorId id) {
    if (isCutOff(id))
      add(step, "too large", "the largest 32-bit number, 3.4e38, takes its place", at(id), {});
  }

  // The lines of each tensor.
  void addLines(TensorId id) {
    switch (id) {
      case TensorId::x: return addInput(id, in.xKv ? "Q" : in.xV ? "Q and K" : "Q, K and V");
      case TensorId::x_kv: return addInput(id, in.xV ? "K" : "K and V");
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
      case TensorId::sink: return addInput(id, "the sum of every row");
      case TensorId::positions: return addPosition();
      case TensorId::x_positioned: return addPositioned(TensorId::x, firstPosition(spec, in));
      case TensorId::x_kv_positioned: return addPositioned(TensorId::x_kv, 0);
      case TensorId::q: return addProjection(id, TensorId::w_q, queryWidth(spec));
      case TensorId::k: return addProjection(id, TensorId::w_k, spec.headDim);
      case TensorId::v: return addProjection(id, TensorId::w_v, spec.valueDim);
      case TensorId::q_rotated: return addTurn(id, TensorId::q, spec.causalOffset);
      case TensorId::k_rotated: return addTurn(id, TensorId::k, 0);
      case TensorId::masked: return addMasked();
      case TensorId::exponentials: return addMasked(), addExponential();
      case TensorId::row_max: return addRowMax();
      case TensorId::row_sum: return addRowSum();
      case TensorId::weights: return addMasked(), addWeight(), addToOutput();
      case TensorId::head_output: return addHeadOutput(head, col);
      case TensorId::concat: return addConcat();
      case TensorId::output: return addOutput();
      default: return addScores(id);  // a step from the raw scores on
    }
  }

  void addInput(TensorId id, const Message& feeds) {
    add(RowStep::none, "input", message({"yours to change; it goes into ", feeds}), at(id), {});
  }

  // Positions and projections.
  void addPosition() {
    const bool isAngle = isRotary(spec), isSine = col % 2 == 0;
    const int width = isAngle ? rotatedColumns(spec) : trace.positions.cols();
    const int exponent = isAngle ? 2 * col : col - col % 2;
    std::string angle = std::to_string(positionId(spec, row)) + " ÷ ";
    if (isAngle && spec.rotary.scaling == RotaryScaling::linear)
      angle += base::shortest(spec.rotary.factor) + " ÷ ";
    angle += isAngle ? rotaryBaseText() : "10000";
    angle += "^(" + std::to_string(exponent) + "/" + std::to_string(width) + ")";
    const double value = at(TensorId::positions, 0, row, col);
    add(RowStep::none,
        isAngle  ? "angle"
        : isSine ? "sine"
                 : "cosine",
        (isAngle ? angle : (isSine ? "sin(" : "cos(") + angle + ")") + equals(value), value, {});
  }

  /// "10000", or with NTK-aware scaling "(10000 × 4^(6/4))".
  std::string rotaryBaseText() const {
    const std::string base = base::shortest(spec.rotary.base);
    const int r = rotatedColumns(spec);
    if (spec.rotary.scaling != RotaryScaling::ntk || r <= 2) return base;
    return "(" + base + " × " + base::shortest(spec.rotary.factor) + "^(" + std::to_string(r) + "/" +
           std::to_string(r - 2) + "))";
  }

  void addPositioned(TensorId x, int first) {
    const CellRef from{x, 0, row, col}, position{TensorId::positions, 0, first + row, col};
    const double value = at(from) + at(position);
    add(RowStep::none, "x + position", number(from) + " + " + operand(position) + equals(value), value,
        {from, position});
  }

  void addTurn(TensorId id, TensorId from, int first) {
    const RowStep step = id == TensorId::q_rotated ? RowStep::turned_query : RowStep::turned_key;
    const int pair = pairOfColumn(spec, col);
    if (pair < 0) {
      const CellRef same = here(from);
      return add(step, "not rotated",
                 message({message({"only the first ", rotatedColumns(spec), " columns are"}), ", so ",
                          number(same)}),
                 at(same), {same});
    }
    const auto [one, two] = columnsOfPair(spec, pair);
    const CellRef angle{TensorId::positions, 0, first + row, pair};
    const CellRef x{from, head, row, one}, y{from, head, row, two};
    const std::string a = number(at(angle));
    const bool isFirst = col == one;
    add(step, message({"rotated by ", a}),
        operand(x) + (isFirst ? "×cos(" : "×sin(") + a + (isFirst ? ") − " : ") + ") + operand(y) +
            (isFirst ? "×sin(" : "×cos(") + a + ") = " + number(at(id)),
        at(id), {x, y, angle});
  }

  void addProjection(TensorId id, TensorId weights, int dim) {
    if (!in.projected()) {
      if (id == TensorId::q) return addInput(id, message({"the scores of query ", row + 1}));
      if (id == TensorId::k) return addInput(id, message({"the scores of key ", row + 1}));
      return addInput(id, message({"the output of every query that sees key ", row + 1}));
    }
    const bool isOther = in.xKv && id != TensorId::q;
    TensorId x = isOther ? TensorId::x_kv : TensorId::x;
    if (!trace.xPositioned.empty()) x = isOther ? TensorId::x_kv_positioned : TensorId::x_positioned;
    if (id == TensorId::v && in.xV) x = TensorId::x_v;
    const int column = head * dim + col;
    const TensorId biasOf = id == TensorId::q   ? TensorId::b_q
                            : id == TensorId::k ? TensorId::b_k
                                                : TensorId::b_v;
    const CellRef bias{biasOf, 0, 0, column};
    const bool isBiased = exists(biasOf, spec, in);
    std::string factor = symbol(weights, spec.score) + ("[:, " + std::to_string(column + 1) + "]");
    if (isBiased) factor += std::string(" + ") + symbol(biasOf, spec.score);
    addProducts(RowStep::none, nth("x", row) + " · " + factor, at(id),
                {in.x->cols(), [&](int i) { return CellRef{x, 0, row, i}; },
                 [&](int i) { return CellRef{weights, 0, i, column}; }, isBiased ? &bias : nullptr});
    addCutOff(RowStep::none, id);
  }

  // Scores.
  void addScale() {
    if (!mechanismOf(spec.score).isScaled) return;
    const double raw = at(TensorId::raw), score = at(TensorId::scores);
    const bool byRoot = spec.scale == 0.0f;
    const std::string factor = byRoot ? number(std::sqrt(double{static_cast<float>(spec.headDim)}))
                                      : formatFactor(spec.scale, decimals);
    add(RowStep::scaled, byRoot ? "÷ √" + std::to_string(spec.headDim) : std::string("× scale"),
        (byRoot ? number(raw, mark::kCell) + " ÷ " : operand(number(raw, mark::kCell)) + " × ") +
            operand(factor) + equals(score),
        score, {here(TensorId::raw)});
  }

  /// Adds the lines for the pair's scores, from raw up to the step `last`.
  void addScores(TensorId last) {
    for (TensorId id = TensorId::raw; id <= last; id = static_cast<TensorId>(static_cast<int>(id) + 1)) {
      if (!exists(id, spec, in)) continue;
      if (id == TensorId::raw) textOf(spec.score).explain(*this), addCutOff(RowStep::raw, id);
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
      text += c[1] == 's' ? number(at(from), mark::kCell) : number(double{spec.*step.parameter});
      c += 2;
    }
    add(RowStep::capped, step.label, text + equals(at(id)), at(id), {here(from)});
  }

  void addBias() {
    const double value = at(TensorId::biased);
    std::string text = number(at(before(TensorId::biased)), mark::kCell);
    if (spec.position == Position::alibi) {
      const std::int64_t distance = std::abs(std::int64_t{row} + spec.causalOffset - col);
      const std::string slope = formatNumber(double{slopeOf(spec, head)}, std::max(decimals, 4));
      text += " − " + slope + " × " + std::to_string(distance);
    }
    if (in.bias)
      text += " + " +
              operand(number(double{in.bias->at(in.bias->heads() == 1 ? 0 : head, row, col)}, mark::kCell));
    std::vector<CellRef> from{here(before(TensorId::biased))};
    if (in.bias) from.push_back({TensorId::bias, in.bias->heads() == 1 ? 0 : head, row, col});
    add(RowStep::biased, in.bias ? "bias" : "ALiBi", text + equals(value), value, std::move(from));
  }

  // Mask.
  void addMasked() {
    addScores(before(TensorId::masked));
    if (!spec.maskAfterSoftmax)
      add(RowStep::masked, "mask", maskText("hidden (−∞)"), at(TensorId::masked),
          {here(before(TensorId::masked))});
  }

  /// Why the key is visible or hidden, and what happens to it if hidden.
  Message maskText(const char* hidden) const {
    return message({maskReason(), ", so ", Message(isSeen(col) ? "visible" : hidden)});
  }

  Message maskReason() const {
    const int key = col + 1;
    const Hidden why = mask.reason(col);
    if (in.painted && in.painted->isBlocked(row, col)) return message({"key ", key, " is painted out"});
    if (isMaskedByBias(in, head, row, col)) return message({"key ", key, " has a bias of −∞"});
    if (why == Hidden::padding) return message({"key ", key, " is padding"});
    if (why == Hidden::pattern) return message({"key ", key, " is not in the pattern"});
    const bool isWindowed = spec.windowLeft >= 0 || spec.windowRight >= 0;
    const bool visible = why == Hidden::no;
    if (visible && spec.pattern.any()) return message({"key ", key, " is in the pattern"});
    const std::int64_t last = std::int64_t{row} + spec.causalOffset;
    if (spec.causal && visible && col > last) return message({"key ", key, " is in the prefix"});
    if (spec.causal && (why == Hidden::causal || !isWindowed)) {
      const std::string query =
          std::to_string(row + 1) + (spec.causalOffset > 0 ? " + " + std::to_string(spec.causalOffset) : "");
      return message({"key ", key, visible ? " ≤ query " : " > query ", query});
    }
    if (!isWindowed) return "no mask";
    const KeyRange range = visibleKeys(spec, row);
    if (range.begin == range.end) return message({"key ", key, " outside window empty"});
    const std::string window = std::to_string(range.begin + 1) + "…" + std::to_string(range.end);
    return message({"key ", key, visible ? " in window " : " outside window ", window});
  }

  bool addNothingSeen() {
    if (!seesNothing()) return false;
    add(RowStep::none, message({labels_.isTurned ? "column " : "row ", row + 1}),
        message({Message("every key is masked"), ", so ", Message("weights and output are 0")}), 0.0, {});
    return true;
  }

  // Normalisers.
  void addTemperature() {
    if (spec.temperature == 1.0f || !isScored(col)) return;
    add(RowStep::temperatureScaled, "÷ temperature",
        number(at(TensorId::masked), mark::kCell) + " ÷ " + formatFactor(spec.temperature, decimals) +
            equals(score(col)),
        score(col), {here(TensorId::masked)});
  }

  void addWeight() {
    if (isSoftmax(spec)) {
      addExponential(), addDivision();
      if (spec.maskAfterSoftmax) {
        add(RowStep::masked_after, "mask after softmax", maskText("hidden (weight 0)"), at(TensorId::weights),
            {here(TensorId::exponentials)});
      }
      return;
    }
    if (addNothingSeen()) return;
    addTemperature();
    const double weight = at(TensorId::weights);
    const auto [label, text] = otherWeight(number(weight));
    add(RowStep::weights, label, text, weight, {here(TensorId::masked)});
  }

  /// For normalisers other than softmax: adds what is computed of the row. Returns the label and the text of
  /// the weight's line.
  std::pair<std::string, Message> otherWeight(const std::string& weight) {
    using arithmetic::Expression;
    if (!isSeen(col)) return {"normaliser", message({Message("hidden"), ", so ", weight})};
    const NormalizerText& text = textOf(spec.normalizer);
    const std::string label =
        text.label.empty() ? text.weight(Expression("s"), Expression("t")).text : std::string(text.label);
    if (text.reason) return {label, message({text.reason(*this), ", so ", weight})};
    const std::string arithmetic =
        text.explain ? text.explain(*this) : text.weight(Expression(scoreText(col)), Expression("")).text;
    return {label, arithmetic + " = " + weight};
  }

  void addExponential() {
    if (!spec.maskAfterSoftmax && addNothingSeen()) return;
    addTemperature();
    const double e = at(TensorId::exponentials);
    const double max = at(TensorId::row_max, head, row, 0);
    add(RowStep::exponentials, "exp(s − max)",
        isScored(col)
            ? "exp(" + scoreText(col) + " − " + operand(number(max, mark::kCell)) + ") = " + number(e)
            : "exp(−∞) = " + number(e),
        e, {here(TensorId::masked), {TensorId::row_max, head, row, 0}});
  }

  void addDivision() {
    if (!spec.maskAfterSoftmax && seesNothing()) return;
    const double e = at(TensorId::exponentials), sum = at(TensorId::row_sum, head, row, 0);
    const double share = spec.maskAfterSoftmax
                             ? e / sum
                             : at(TensorId::weights);  // before a mask that is applied after softmax
    add(RowStep::weights, labels_.isTurned ? "÷ Σ column" : "÷ Σ row",
        number(e, mark::kCell) + " ÷ " + number(sum, mark::kCell) + equals(share), share,
        {here(TensorId::exponentials), {TensorId::row_sum, head, row, 0}});
  }

  void addToOutput() {
    if (seesNothing()) return;
    const double weight = at(TensorId::weights);
    const CellRef from = here(TensorId::weights);
    addJoined(RowStep::none, "adds to output", weight,
              {operand(from) + " × " + nth("v", col) + " = [", ", ", "]"}, spec.valueDim, [&](int c) {
                const CellRef v{TensorId::v, kvHead, col, c};
                return Piece(number(weight * at(v), mark::kMade), {v});
              });
    lines.back().cells.insert(lines.back().cells.begin(), from);
  }

  void addRowMax() {
    if (!spec.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> keys = scored();
    double max = at(TensorId::row_max, head, row, 0);
    if (!isSoftmax(spec)) {  // only softmax has a tensor for it
      max = -std::numeric_limits<double>::infinity();
      for (const int key : keys) max = std::max(max, score(key));
    }
    const int count = static_cast<int>(keys.size());
    addJoined(RowStep::maximum,
              message({labels_.isTurned ? "largest of column " : "largest of row ", row + 1,
                       spec.temperature != 1.0f ? ", ÷ temperature" : ""}),
              max, {"max(", ", ", ")" + equals(max)}, count + hasSink(spec), [&](int i) {
                if (i == count) return Piece(sinkText(), {sinkCell()});
                const int key = keys[static_cast<std::size_t>(i)];
                return Piece(scoreText(key), {{TensorId::masked, head, row, key}});
              });
  }

  CellRef sinkCell() const { return {TensorId::sink, head, 0, 0}; }
  /// The sink ÷ temperature, as scoreText() writes a score.
  std::string sinkText() const {
    return number(at(sinkCell()) / double{spec.temperature},
                  spec.temperature == 1.0f ? mark::kCell : mark::kMade);
  }
  /// Adds the sink's part of the row's sum, and returns it.
  double addExponentialOfSink() {
    const CellRef max{TensorId::row_max, head, row, 0};
    const double e = std::exp(at(sinkCell()) / double{spec.temperature} - at(max));
    add(RowStep::sum, "exp(sink − max)", "exp(" + sinkText() + " − " + operand(max) + ")" + equals(e), e,
        {sinkCell(), max});
    return e;
  }

  void addRowSum() {
    if (!spec.maskAfterSoftmax && addNothingSeen()) return;
    const std::vector<int> keys = scored();
    const double sum = at(TensorId::row_sum, head, row, 0);
    const double ofSink = hasSink(spec) ? addExponentialOfSink() : 0.0;
    const int count = static_cast<int>(keys.size());
    addJoined(RowStep::sum, message({labels_.isTurned ? "Σ column " : "Σ row ", row + 1}), sum,
              {{}, " + ", equals(sum)}, count + hasSink(spec), [&](int i) {
                if (i == count) return Piece(number(ofSink, mark::kMade), {sinkCell()});
                const CellRef one{TensorId::exponentials, head, row, keys[static_cast<std::size_t>(i)]};
                return Piece(number(one), {one});
              });
  }

  /// Adds a value of head_output. Head and column are parameters because concat uses this for its own cells.
  void addHeadOutput(int ofHead, int column) {
    head = ofHead, kvHead = kvHeadOf(spec, head);
    if (addNothingSeen()) return;
    const std::vector<int> keys = seen();
    const auto key = [&](int i) { return keys[static_cast<std::size_t>(i)]; };
    addProducts(
        RowStep::values, nth("w", row) + " · V[:, " + std::to_string(column + 1) + "]",
        at(TensorId::head_output, head, row, column),
        {static_cast<int>(keys.size()), [&](int i) { return CellRef{TensorId::weights, head, row, key(i)}; },
         [&](int i) { return CellRef{TensorId::v, kvHead, key(i), column}; }});
  }

  void addConcat() {
    const int part = col / spec.valueDim, within = col % spec.valueDim;
    if (isHidden(spec, part))
      return add(RowStep::none, message({"head ", part + 1}), message({Message("hidden"), ", so ", 0}), 0.0,
                 {});
    addHeadOutput(part, within);
    const double value = at(TensorId::concat, 0, row, col);
    add(RowStep::concat, message({"head ", head + 1}),
        message({"column ", within + 1, " of its output = ", number(value, mark::kCell)}), value,
        {{TensorId::head_output, head, row, within}});
  }

  void addOutput() {
    if (!in.wO) return addConcat();
    const CellRef bias{TensorId::b_o, 0, 0, col};
    addProducts(RowStep::output,
                nth("concat", row) + " · W_O[:, " + std::to_string(col + 1) + "]" + (in.bO ? " + b_O" : ""),
                at(TensorId::output, 0, row, col),
                {in.wO->rows(), [&](int i) { return CellRef{TensorId::concat, 0, row, i}; },
                 [&](int i) { return CellRef{TensorId::w_o, 0, i, col}; }, in.bO ? &bias : nullptr});
  }

  const TokenLabels& labels_;
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
  const bool isBounded =
      isSoftcapped(spec) && TensorRange{TensorId::softcapped, TensorId::masked}.contains(id);
  if (isBounded || (tensorRow(id).given && !isProjected)) return std::numeric_limits<float>::infinity();
  return TensorRange{TensorId::scores, TensorId::masked}.contains(id)
             ? kMost * std::min(1.0f, std::abs(scaleFactor(spec)))
             : kMost;
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
  const double power = std::pow(10.0, decimals), given = double{value},
               shown = std::round(given * power) / power;
  return std::abs(shown - given) > 0.05 * std::abs(given) ? base::shortest(value)
                                                          : formatNumber(given, decimals);
}

Message Explanation::title() const { return value.empty() ? name : message({name, " = ", value}); }

Message Explanation::text() const {
  Message out = message({title()});
  for (const Term& term : terms) out += message({"\n", term.label, ": ", term.text});
  return out;
}

Explanation explain(const ComputedLayer& layer, CellRef cell, const TokenLabels& labels, int decimals,
                    bool marked) {
  return Explainer({layer.spec, layer.inputs, layer.trace, cell, decimals, marked}, labels)
      .explain(cell.tensor);
}

}  // namespace attention
