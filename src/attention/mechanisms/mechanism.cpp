#include "attention/mechanisms/mechanism.h"

#include "attention/layer/explanation_format.h"

namespace attention {

std::string ExplainedRow::scoreText(int key) const {
  const std::string text = number(score(key));
  return isMarked ? (temperature == 1.0 ? mark::kCell : mark::kMade) + text : text;
}

std::vector<int> ExplainedRow::support() const {
  std::vector<int> keys;
  for (const int j : seen)
    if (weights[j] > 0.0f) keys.push_back(j);
  return keys;
}

void ExplainedRow::add(std::string label, std::string text, double value, std::vector<CellRef> cells) const {
  lines.push_back({std::move(label), text + " = " + number(value), value, std::move(cells), mechanismOf(normalizer).before});
}

void ExplainedRow::addSum(std::string label, std::string before, const std::vector<int>& keys, const std::function<std::string(int)>& term,
                          const std::string& after, double value) const {
  using namespace explanation_format;
  std::vector<CellRef> cells;
  join([&](int i) {
    const int j = keys[static_cast<std::size_t>(i)];
    return Piece(i == 0 ? term(j) : operand(term(j)), {{TensorId::masked, weight.head, weight.row, j}});
  }, static_cast<int>(keys.size()), " + ", before, cells);
  add(std::move(label), before + after, value, std::move(cells));
}

std::string filled(std::string_view text, std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (!text.empty()) {
    const std::size_t open = std::min(text.find('{'), text.size()), close = std::min(text.find('}', open), text.size());
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
