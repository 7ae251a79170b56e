#include "attention/layer/explanation_format.h"

#include <algorithm>
#include <cmath>

namespace attention::explanation_format {
namespace {

constexpr int kLongSum = 8;     // longer sums are abbreviated to
constexpr int kFirstShown = 4;  // this many terms at the front
constexpr int kLastShown = 2;   // and this many at the end

}  // namespace

std::string subscript(int number) {
  static constexpr const char* kDigits[] = {"₀", "₁", "₂", "₃", "₄", "₅", "₆", "₇", "₈", "₉"};
  std::string out;
  for (char c : std::to_string(number)) out += kDigits[c - '0'];
  return out;
}

std::string token(const std::vector<std::string>& labels, int index) {
  const std::string number = std::to_string(index + 1);
  const auto at = static_cast<std::size_t>(index);
  if (at >= labels.size() || labels[at].empty()) return number;
  return labels[at] == "t" + number ? labels[at] : labels[at] + subscript(index + 1);
}

std::string operand(std::string number) {
  const std::size_t from = static_cast<unsigned char>(number[0]) < ' ' ? 1 : 0;
  return number.compare(from, 3, "−") == 0 ? "(" + number + ")" : number;
}

void join(const std::function<Piece(int)>& piece, int count, const char* between, std::string& text,
          std::vector<CellRef>& cells) {
  for (int i = 0; i < count; ++i) {
    if (i > 0) text += between;
    if (count > kLongSum && i == kFirstShown) {
      text += "…";
      i = count - kLastShown - 1;
      continue;
    }
    Piece next = piece(i);
    text += next.first;
    cells.insert(cells.end(), next.second.begin(), next.second.end());
  }
}

void addSoftmax(std::span<const float> scores, double score, double weight, base::Message divides,
                int decimals, Explanation& to) {
  const auto number = [decimals](double value) { return formatNumber(value, decimals); };
  const double max = double{*std::max_element(scores.begin(), scores.end())};
  const double exponential = std::exp(score - max);
  to.terms.push_back({"exp(s − max)",
                      "exp(" + number(score) + " − " + operand(number(max)) + ") = " + number(exponential),
                      exponential,
                      {}});
  double sum = 0.0;
  for (const float s : scores) sum += std::exp(double{s} - max);
  to.terms.push_back(
      {std::move(divides), number(exponential) + " ÷ " + number(sum) + " = " + number(weight), weight, {}});
}

}  // namespace attention::explanation_format
