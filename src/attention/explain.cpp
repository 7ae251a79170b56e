#include "attention/explain.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <limits>
#include <utility>

#include "attention/phrase.h"

namespace attention {
namespace {

using phrase::join;
using phrase::Piece;
using phrase::subscript;

std::string nth(const char* letter, int index) { return letter + subscript(index + 1); }

const char* symbol(TensorId id) {
  switch (id) {
    case TensorId::x: return "X";
    case TensorId::w_q: return "W_Q";
    case TensorId::w_k: return "W_K";
    case TensorId::w_v: return "W_V";
    case TensorId::w_o: return "W_O";
    case TensorId::q: return "Q";
    case TensorId::k: return "K";
    case TensorId::v: return "V";
    case TensorId::raw: return "q·k";
    case TensorId::scores: return "S";
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

/// Writes the lines for one cell. Lines are added in the order in which the numbers are made.
class Explainer {
 public:
  Explainer(const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef cell,
            const std::vector<std::string>& labels, int decimals)
      : spec_(spec), in_(inputs), trace_(trace), labels_(labels), decimals_(decimals), head_(cell.head),
        row_(cell.row), col_(cell.col), kvHead_(cell.head / (spec.heads / spec.kvHeads)) {}

  Explanation explain(TensorId id) {
    out_.title = title(id);
    lines(id);
    return std::move(out_);
  }

 private:
  // Words and numbers.
  std::string number(double value) const { return formatNumber(value, decimals_); }
  std::string token(int index) const {
    const bool named = index < static_cast<int>(labels_.size()) && !labels_[static_cast<std::size_t>(index)].empty();
    return named ? labels_[static_cast<std::size_t>(index)] + subscript(index + 1) : std::to_string(index + 1);
  }
  double at(TensorId id, int head, int row, int col) const {
    const Tensor* tensor = find(in_, trace_, id);
    return tensor && tensor->contains(head, row, col) ? double{tensor->at(head, row, col)} : 0.0;
  }
  double at(TensorId id) const { return at(id, head_, row_, col_); }
  double maskedAt(int key) const { return at(TensorId::masked, head_, row_, key); }
  bool isSeen(int key) const { return std::isfinite(maskedAt(key)); }
  bool seesNothing() const { return std::isinf(at(TensorId::row_max, head_, row_, 0)); }
  std::vector<int> seenKeys() const {
    std::vector<int> keys;
    for (int j = 0; j < spec_.keyCount; ++j) {
      if (isSeen(j)) keys.push_back(j);
    }
    return keys;
  }

  std::string title(TensorId id) const {
    const bool weights = id == TensorId::w_q || id == TensorId::w_k || id == TensorId::w_v || id == TensorId::w_o;
    const bool pairs = id >= TensorId::raw && id <= TensorId::weights;
    std::string where = weights ? std::to_string(row_ + 1) : token(row_);
    if (id != TensorId::row_max && id != TensorId::row_sum) {
      where += ", " + (pairs ? token(col_) : std::to_string(col_ + 1));
    }
    return std::string(symbol(id)) + "[" + where + "] = " + number(at(id));
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
      return Piece(number(at(a.tensor, a.head, a.row, a.col)) + "×" + number(at(b.tensor, b.head, b.row, b.col)),
                   {a, b});
    };
    join(piece, count, " + ", text, cells);
    add(std::move(label), text + " = " + number(value), value, std::move(cells));
  }

  // The lines of each tensor.
  void lines(TensorId id) {
    switch (id) {
      case TensorId::x: return addInput(id, "Q, K and V");
      case TensorId::w_q: return addInput(id, "Q");
      case TensorId::w_k: return addInput(id, "K");
      case TensorId::w_v: return addInput(id, "V");
      case TensorId::w_o: return addInput(id, "the output");
      case TensorId::q: return addProjection(id, TensorId::w_q, spec_.headDim);
      case TensorId::k: return addProjection(id, TensorId::w_k, spec_.headDim);
      case TensorId::v: return addProjection(id, TensorId::w_v, spec_.valueDim);
      case TensorId::raw: return addDot();
      case TensorId::scores: return addDot(), addScale();
      case TensorId::masked: return addDot(), addScale(), addMask();
      case TensorId::exponentials: return addDot(), addScale(), addMask(), addExponential();
      case TensorId::row_max: return addRowMax();
      case TensorId::row_sum: return addRowSum();
      case TensorId::weights:
        return addDot(), addScale(), addMask(), addExponential(), addDivision(), addToOutput();
      case TensorId::head_output: return addHeadOutput(head_, col_);
      case TensorId::concat: return addConcat(col_);
      case TensorId::output: return addOutput();
    }
  }

  void addInput(TensorId id, const std::string& feeds) { add("input", "typed or loaded; it feeds " + feeds, at(id), {}); }

  void addProjection(TensorId id, TensorId weights, int dim) {
    if (!in_.projected()) {
      const std::string index = std::to_string(row_ + 1);
      if (id == TensorId::q) return addInput(id, "the scores of query " + index);
      if (id == TensorId::k) return addInput(id, "the scores of key " + index);
      return addInput(id, "the output of every query that sees key " + index);
    }
    const int column = head_ * dim + col_;
    addProducts(nth("x", row_) + " · " + symbol(weights) + "[:, " + std::to_string(column + 1) + "]", at(id),
                in_.x->cols(), [&](int i) { return CellRef{TensorId::x, 0, row_, i}; },
                [&](int i) { return CellRef{weights, 0, i, column}; });
  }

  void addDot() {
    addProducts(nth("q", row_) + " · " + nth("k", col_), at(TensorId::raw), spec_.headDim,
                [&](int c) { return CellRef{TensorId::q, head_, row_, c}; },
                [&](int c) { return CellRef{TensorId::k, kvHead_, col_, c}; });
  }

  void addScale() {
    if (spec_.score == Score::dot) return;
    const double raw = at(TensorId::raw), score = at(TensorId::scores);
    const bool byRoot = spec_.scale == 0.0f;
    const double factor = byRoot ? std::sqrt(double{static_cast<float>(spec_.headDim)}) : double{spec_.scale};
    add(byRoot ? "÷ √" + std::to_string(spec_.headDim) : std::string("× scale"),
        number(raw) + (byRoot ? " ÷ " : " × ") + number(factor) + " = " + number(score), score,
        {{TensorId::raw, head_, row_, col_}});
  }

  void addMask() { add("mask", maskText(), maskedAt(col_), {{TensorId::scores, head_, row_, col_}}); }

  std::string maskText() const {
    const std::string key = "key " + std::to_string(col_ + 1);
    if (in_.painted && in_.painted->isBlocked(row_, col_)) return key + " is painted out : hidden, −∞";
    const bool visible = isVisible(spec_, row_, col_);
    const std::string verdict = visible ? " : visible" : " : hidden, −∞";
    const std::int64_t last = std::int64_t{row_} + spec_.causalOffset;
    if (spec_.causal && (col_ > last || (spec_.windowLeft < 0 && spec_.windowRight < 0))) {
      const std::string offset = spec_.causalOffset > 0 ? " + " + std::to_string(spec_.causalOffset) : "";
      return key + (col_ > last ? " > query " : " ≤ query ") + std::to_string(row_ + 1) + offset + verdict;
    }
    if (spec_.windowLeft < 0 && spec_.windowRight < 0) return "no mask" + verdict;
    const KeyRange range = visibleKeys(spec_, row_);
    const std::string window = range.begin == range.end
                                   ? "empty"
                                   : std::to_string(range.begin + 1) + "…" + std::to_string(range.end);
    return key + (visible ? " in window " : " outside window ") + window + verdict;
  }

  /// A score after the division by the temperature, which is what the maximum is taken of.
  double tempered(int key) const { return maskedAt(key) / double{spec_.temperature}; }

  bool addTemperature() {
    if (spec_.temperature == 1.0f || !isSeen(col_)) return false;
    add("÷ temperature",
        number(maskedAt(col_)) + " ÷ " + number(double{spec_.temperature}) + " = " + number(tempered(col_)),
        tempered(col_), {{TensorId::masked, head_, row_, col_}});
    return true;
  }

  bool addNothingSeen() {
    if (!seesNothing()) return false;
    add("row " + std::to_string(row_ + 1), "every key is masked : weights and output are 0", 0.0, {});
    return true;
  }

  void addExponential() {
    if (addNothingSeen()) return;
    addTemperature();
    const double e = at(TensorId::exponentials);
    const double max = at(TensorId::row_max, head_, row_, 0);
    add("exp(s − max)",
        isSeen(col_) ? "exp(" + number(tempered(col_)) + " − " + number(max) + ") = " + number(e)
                     : "exp(−∞) = " + number(e),
        e, {{TensorId::masked, head_, row_, col_}, {TensorId::row_max, head_, row_, 0}});
  }

  void addDivision() {
    if (seesNothing()) return;
    add("÷ Σ row",
        number(at(TensorId::exponentials)) + " ÷ " + number(at(TensorId::row_sum, head_, row_, 0)) + " = " +
            number(at(TensorId::weights)),
        at(TensorId::weights),
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
    if (addNothingSeen()) return;
    const std::vector<int> keys = seenKeys();
    std::string text = "max(";
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = keys[static_cast<std::size_t>(i)];
      return Piece(number(tempered(key)), {{TensorId::masked, head_, row_, key}});
    };
    join(piece, static_cast<int>(keys.size()), ", ", text, cells);
    const double max = at(TensorId::row_max, head_, row_, 0);
    const bool warm = spec_.temperature != 1.0f;
    add("largest of row " + std::to_string(row_ + 1) + (warm ? ", ÷ temperature" : ""),
        text + ") = " + number(max), max, std::move(cells));
  }

  void addRowSum() {
    if (addNothingSeen()) return;
    const std::vector<int> keys = seenKeys();
    std::string text;
    std::vector<CellRef> cells;
    const auto piece = [&](int i) {
      const int key = keys[static_cast<std::size_t>(i)];
      return Piece(number(at(TensorId::exponentials, head_, row_, key)),
                   {{TensorId::exponentials, head_, row_, key}});
    };
    join(piece, static_cast<int>(keys.size()), " + ", text, cells);
    const double sum = at(TensorId::row_sum, head_, row_, 0);
    add("Σ row " + std::to_string(row_ + 1), text + " = " + number(sum), sum, std::move(cells));
  }

  /// A value of head_output; concat explains its own cells by it too, so head and column are given.
  void addHeadOutput(int head, int col) {
    head_ = head, kvHead_ = head / (spec_.heads / spec_.kvHeads);
    if (addNothingSeen()) return;
    const std::vector<int> keys = seenKeys();
    const auto key = [&](int i) { return keys[static_cast<std::size_t>(i)]; };
    addProducts(nth("w", row_) + " · V[:, " + std::to_string(col + 1) + "]",
                at(TensorId::head_output, head, row_, col), static_cast<int>(keys.size()),
                [&](int i) { return CellRef{TensorId::weights, head_, row_, key(i)}; },
                [&](int i) { return CellRef{TensorId::v, kvHead_, key(i), col}; });
  }

  void addConcat(int col) {
    const int head = col / spec_.valueDim, within = col % spec_.valueDim;
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
  const std::vector<std::string>& labels_;
  int decimals_, head_, row_, col_, kvHead_;
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
                    const std::vector<std::string>& labels, int decimals) {
  return Explainer(spec, inputs, trace, cell, labels, decimals).explain(cell.tensor);
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
