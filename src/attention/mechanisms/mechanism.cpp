#include "attention/mechanisms/mechanism.h"

#include <numeric>

namespace attention {

using explanation_format::nth;
using explanation_format::Piece;

double ExplainedCell::at(CellRef other) const {
  const Tensor* tensor = find(in, trace, other.tensor);
  return tensor && tensor->contains(other.head, other.row, other.col)
             ? double{tensor->at(other.head, other.row, other.col)}
             : 0.0;
}
std::string ExplainedCell::number(CellRef other) const { return number(at(other), mark::kCell); }
std::string ExplainedCell::operand(CellRef other) const { return explanation_format::operand(number(other)); }
std::string ExplainedCell::scoreText(int key) const {
  return number(score(key), spec.temperature == 1.0f ? mark::kCell : mark::kMade);
}

bool ExplainedCell::isSeen(int key) const {
  return mask.sees(key) && !(in.painted && in.painted->isBlocked(row, key)) &&
         !isMaskedByBias(in, head, row, key);
}
std::vector<double> ExplainedCell::scores(const std::vector<int>& keys) const {
  const float* const masked = find(in, trace, TensorId::masked)->row(head, row);
  std::vector<double> all;
  all.reserve(keys.size());
  for (const int key : keys) all.push_back(double{masked[key]} / double{spec.temperature});
  return all;
}

bool ExplainedCell::seesNothing() const {
  const KeyRange range = visibleKeys(spec, row);
  int key = range.begin;
  while (key < range.end && !seesRange() && !isSeen(key)) ++key;
  return key == range.end;
}

std::vector<int> ExplainedCell::seen() const {
  const KeyRange range = visibleKeys(spec, row);
  std::vector<int> keys(static_cast<std::size_t>(range.end - range.begin));
  std::iota(keys.begin(), keys.end(), range.begin);
  if (!seesRange()) std::erase_if(keys, [this](int key) { return !isSeen(key); });
  return keys;
}
std::vector<int> ExplainedCell::support() const {
  std::vector<int> keys = seen();
  std::erase_if(keys, [this](int key) { return !(at(TensorId::weights, head, row, key) > 0.0); });
  return keys;
}

void ExplainedCell::add(RowStep step, base::Message label, base::Message text, double value,
                        std::vector<CellRef> cells) {
  lines.push_back({std::move(label), std::move(text), value, std::move(cells), step});
}

void ExplainedCell::addJoined(RowStep step, base::Message label, double value, Frame frame, int count,
                              const std::function<Piece(int)>& piece) {
  std::vector<CellRef> cells;
  explanation_format::join(piece, count, frame.between, frame.before, cells);
  add(step, std::move(label), frame.before + frame.after, value, std::move(cells));
}

void ExplainedCell::addBefore(base::Message label, std::string text, double value,
                              std::vector<CellRef> cells) {
  add(normalizerOf(spec).before, std::move(label), text + equals(value), value, std::move(cells));
}

void ExplainedCell::addSum(base::Message label, std::string before, const std::vector<int>& keys,
                           const std::function<std::string(int)>& term, const std::string& after,
                           double value) {
  addJoined(normalizerOf(spec).before, std::move(label), value,
            {std::move(before), " + ", after + equals(value)}, static_cast<int>(keys.size()), [&](int i) {
              const int j = keys[static_cast<std::size_t>(i)];
              return Piece(i == 0 ? term(j) : operand(term(j)), {{TensorId::masked, head, row, j}});
            });
}

void ExplainedCell::addProducts(RowStep step, base::Message label, double value, const SumOfProducts& sum) {
  const CellRef* bias = sum.bias;
  addJoined(step, std::move(label), value,
            {{}, " + ", (bias ? " + " + operand(*bias) : std::string()) + equals(value)}, sum.count,
            [&](int i) {
              const CellRef a = sum.left(i), b = sum.right(i);
              return Piece(operand(a) + "×" + operand(b), {a, b});
            });
  if (bias) lines.back().cells.push_back(*bias);
}

void ExplainedCell::addDot(RowStep step, double value) {
  addProducts(step, nth("q", row) + " · " + nth("k", col), value,
              {spec.headDim, [this](int c) { return queryCell(c); }, [this](int c) { return keyCell(c); }});
}

std::vector<double> ExplainedCell::addTurned(RowStep step, base::Message label, TensorId matrix,
                                             bool isRowFirst, const std::function<CellRef(int)>& factor) {
  const Tensor& turning = *(in.*tensorRow(matrix).given);
  const int from = isRowFirst ? turning.rows() : turning.cols();
  std::vector<double> made(static_cast<std::size_t>(isRowFirst ? turning.cols() : turning.rows()));
  for (int r = 0; double& sum : made) {
    for (int c = 0; c < from; ++c)
      sum += at(matrix, head, isRowFirst ? c : r, isRowFirst ? r : c) * at(factor(c));
    ++r;
  }
  addJoined(step, std::move(label), made.front(), {"[", ", ", "]"}, static_cast<int>(made.size()),
            [&](int c) { return Piece(number(made[static_cast<std::size_t>(c)], mark::kSum), {factor(c)}); });
  return made;
}

std::string filled(std::string_view text,
                   std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size()),
                      close = std::min(text.find('}', open), text.size());
    out += text.substr(0, open);
    for (const auto& [name, value] : values)
      if (open < close && text.substr(open + 1, close - open - 1) == name) out += value;
    text.remove_prefix(std::min(close + 1, text.size()));
  }
  return out;
}

void eachLine(std::string_view text, const std::function<void(std::string_view)>& use) {
  for (std::size_t end = 0; !text.empty(); text.remove_prefix(std::min(end + 1, text.size()))) {
    end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end));
  }
}

bool takePrefix(std::string_view& line, std::string_view prefix) {
  if (!line.starts_with(prefix)) return false;
  line.remove_prefix(prefix.size());
  return true;
}

}  // namespace attention
