#include "views/panels/equation.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "attention/layer/explanation_format.h"
#include "base/sentence.h"
#include "views/board/board.h"
#include "views/widgets.h"

namespace views {
namespace {

using attention::Explanation;
using attention::Term;

constexpr float kEquals = 10, kBetween = 12, kNote = 16, kLinePitch = 20,
                kRest = 12;  ///< kRest: above and below the rule between formula and rest
constexpr float kTableRow = 28, kTableHeight = 100, kCellHeight = 24, kLeastPitch = 62, kMostPitch = 88,
                kTableLabel = 72, kTableResult = 76;

/// The formula without its marks, to be read aloud.
std::string unmarked(std::string text) {
  std::erase_if(text, [](char c) { return static_cast<unsigned char>(c) < ' '; });
  return text;
}

std::pair<std::string_view, std::string_view> sides(std::string_view equation) {
  const std::size_t at = equation.find(" = ");
  return {equation.substr(0, at), equation.substr(at + 3)};
}

EquationSet typeset(const Fonts& f, const attention::CellFormula& formula) {
  EquationSet out;
  FormulaLook look{f.text, f.tiny, f.mono, f.strong, f.smallStrong, FormulaLook::Shape::high};
  const auto [left, right] = sides(formula.symbols);
  out.left = Formula(look, left), out.right = out.alone = Formula(look, right);
  if (formula.numbers.text.empty()) return out;
  const auto [value, numbers] = sides(formula.numbers.text.bytes());
  out.leftNumbers = Formula(look, value), out.rightNumbers = Formula(look, numbers);
  // The bars of both fractions are as long as the longer one.
  look.least = std::max(out.right.bar, out.rightNumbers.bar);
  if (look.least > out.right.bar) out.right = Formula(look, right);
  if (look.least > out.rightNumbers.bar) out.rightNumbers = Formula(look, numbers);
  return out;
}

/// Of a board of a hundred thousand keys it is made once, not in each frame.
attention::CellFormula formulaFor(Context& c, CellRef cell, const std::vector<Term>& terms) {
  const auto made = [&] {
    return attention::formulaOf(c.spec, c.inputs, c.trace, cell, terms, c.state.decimals);
  };
  if (c.summaries.sampledEach() == 1) return made();
  Arithmetic::LongFormula& kept = arithmeticOf(c.view).longFormula;
  if (kept.revision != c.revision || !(kept.cell == cell)) kept = {c.revision, cell, made()};
  return kept.formula;
}

}  // namespace

Equation::Equation(Context& c, CellRef cell, Explanation marked)
    : c_(c),
      list_(ImGui::GetWindowDrawList()),
      cell_(cell),
      formula_(formulaFor(c, cell, marked.terms)) {
  if (isEmpty()) return;
  std::erase_if(marked.terms, [&](const Term& line) { return attention::isInFormula(formula_, line); });
  if (hasNumbers()) marked.terms.insert(marked.terms.begin(), formula_.numbers);
  lines_ = touchedLines(c, std::move(marked), cell);
  set_ = arithmeticOf(c.view).equation;
  const Fonts& f = c.fonts;
  const EquationSet::Source of{formula_.symbols + formula_.numbers.text.english(),
                               f.text,
                               f.strong,
                               f.smallStrong,
                               f.mono,
                               f.words,
                               f.text->FontSize};
  if (!set_ || set_->of != of) {
    set_ = std::make_shared<EquationSet>(typeset(f, formula_));
    set_->of = of;
    arithmeticOf(c.view).equation = set_;
  }
}

float Equation::leftWidth() const { return std::max(set_->left.width(), set_->leftNumbers.width()); }

float Equation::height() const {
  return set_->right.height() + (hasNumbers() ? kBetween + set_->rightNumbers.height() : 0);
}

float Equation::wholeHeight() const {
  const std::size_t below = lines_.size() - (hasNumbers() ? 1 : 0);
  return height() + 2 * kRest + kLinePitch * static_cast<float>(below);
}

bool Equation::fits(float width, float height) const {
  if (isEmpty()) return false;
  const float right = std::max(set_->right.width(), set_->rightNumbers.width());
  return leftWidth() + 2 * kEquals + textWidth(c_.fonts.text, "=") + right <= width &&
         this->height() + (hasNumbers() ? 0 : kLinePitch) <= height;
}

float Equation::drawSymbols(const Box& area) {
  if (isEmpty()) return 0;
  const Formula &left = set_->left, &right = set_->alone;
  const float width = left.width() + 2 * kEquals + textWidth(c_.fonts.text, "=") + right.width();
  if (width > area.width || right.height() > area.height) return 0;
  row(left, right, area.x + left.width(), area.y + right.above(), false);
  noteFormula(formula_.symbols, {area.x, area.y, area.width, 2});
  return right.height();
}

void Equation::draw(const Box& area, bool isHigh) {
  const EquationSet& s = *set_;
  const float x = area.x + leftWidth() + kEquals;
  float y = area.y + s.right.above();
  const float symbols = y;
  row(s.left, s.right, x, y, false);
  // Noted between the lines, so that it is not the label of a number.
  noteFormula(formula_.symbols, {area.x, area.y, area.width, 2});
  y += s.right.below();
  if (hasNumbers()) {
    const float numbers = y += kBetween + s.rightNumbers.above();
    row(s.leftNumbers, s.rightNumbers, x, y, true);
    noteFormula(unmarked(formula_.numbers.text.english()),
                {area.x, y - s.rightNumbers.above() - kBetween, area.width, 2});
    notes(x + kEquals + textWidth(c_.fonts.text, "=") + std::max(s.right.width(), s.rightNumbers.width()) +
              kNote,
          symbols, numbers, area.right());
    y += s.rightNumbers.below();
  }
  if (area.bottom() - y < 2 * kRest + kLinePitch / 2) return;
  list_->AddLine({area.x, y + kRest}, {area.right(), y + kRest}, c_.palette.border);
  y += 2 * kRest;
  for (std::size_t i = hasNumbers() ? 1 : 0; i < lines_.size() && y + kLinePitch / 2 <= area.bottom(); ++i) {
    if (isHigh && area.bottom() - y >= kTableHeight - kRest && isTable(lines_[i], area.width)) {
      table(lines_[i], {area.x, y - 4, area.width, kTableHeight});
      y += kTableHeight + 4;
    } else {
      const float others = kLinePitch * static_cast<float>(lines_.size() - i - 1);
      y = line(lines_[i], {area.x, y, area.width, area.bottom() - y}, others) + kLinePitch;
    }
  }
}

// One side right of the other, the sign between them: `x` is where the left side ends.
void Equation::row(const Formula& left, const Formula& right, float x, float midY, bool isNumbers) {
  const float from = x + kEquals, to = from + plainWidth(c_.fonts.text, "=") + kEquals - 2;
  plainMiddle(list_, c_.fonts.text, from - 2, midY, c_.palette.text, "=");
  if (isNumbers) {
    numbersOf(left, x - left.width(), midY, 0);
    return numbersOf(right, to, midY, 1);
  }
  left.draw(list_, x - left.width(), midY, &c_.palette, c_.palette.text);
  right.draw(list_, to, midY, &c_.palette, c_.palette.text);
}

// Right of a fraction: what its tiers are, and what they come to.
void Equation::notes(float x, float symbolsY, float numbersY, float right) {
  const EquationSet& s = *set_;
  if (formula_.below.empty() || s.right.bar == 0) return;
  const auto& labels = document::keyLabels(c_.state);
  const auto key = static_cast<std::size_t>(cell_.col);
  const auto words = [&](float y, base::MessageView text) {
    if (textWidth(c_.fonts.small, text) <= right - x)
      textMiddle(list_, c_.fonts.small, x, y, c_.palette.muted, text);
  };
  if (key < labels.size())
    words(symbolsY + s.right.over,
          base::message({"match with ", attention::explanation_format::token(labels, cell_.col)}));
  words(symbolsY + s.right.under, "all the matches");
  if (s.rightNumbers.bar == 0 || textWidth(c_.fonts.mono, "= " + formula_.below) > right - x) return;
  textMiddle(list_, c_.fonts.mono, x, numbersY + s.rightNumbers.over, c_.palette.weight,
             "= " + formula_.above);
  textMiddle(list_, c_.fonts.mono, x, numbersY + s.rightNumbers.under, c_.palette.text,
             "= " + formula_.below);
}

// `first`: the index of the first number of this part among those of the formula.
void Equation::numbersOf(const Formula& formula, float x, float midY, std::size_t first) {
  for (const Formula::Part& part : formula.parts()) {
    const std::size_t at = first + static_cast<std::size_t>(std::max(part.number, 0));
    if (part.number < 0 || at >= lines_.front().numbers.size()) {
      Formula::draw(list_, part, x, midY, &c_.palette, c_.palette.text);
      continue;
    }
    const TouchedLine::Number& number = lines_.front().numbers[at];
    const ImU32 color =
        markNumber(c_, list_, {x + part.x, midY + part.y}, part.width, number, colorOf(number.what));
    textMiddle(list_, part.font, x + part.x, midY + part.y, color, part.words);
  }
}

ImU32 Equation::colorOf(const Arithmetic::Number& n) const {
  if (n.cell.tensor == TensorId::weights || (n.isMade && n.cell.row == cell_.row && n.cell.col == cell_.col))
    return c_.palette.weight;
  const ImU32 color = hue(c_.palette, n.cell.tensor);
  return color == c_.palette.neutral || !n.onBoard ? c_.palette.text : color;
}

// From the middle of its first line on; returns that of its last one. One that is too long goes on below,
// where that leaves the height that the `others` need.
float Equation::line(const TouchedLine& line, const Box& area, float others) {
  const float x = area.x, width = area.width;
  float y = area.y;
  constexpr float kLabel = 100, kLeastLabel = 46;
  const std::string called = inWords(line.term.label);
  const AsIs asIs;
  ImFont* digits = textWidth(c_.fonts.mono, line.text) > width - kLabel ? c_.fonts.monoSmall : c_.fonts.mono;
  // A line that is too long begins further left, where its label ends.
  const float label =
      std::clamp(width - textWidth(digits, line.text),
                 std::clamp(textWidth(c_.fonts.small, called) + 10, kLeastLabel, kLabel), kLabel);
  const float from = x + (line.inner ? 10.0f : 0.0f), length = textWidth(digits, line.text);
  // One that is longer still has a line of its own below its label, if there is one more, or takes its place.
  const bool hasOwn = length > width - label && length <= width;
  const bool isBelow = hasOwn && 1.5f * kLinePitch <= area.height;
  const float numbers = hasOwn ? from : x + label, room = x + width - numbers;
  if (!hasOwn || isBelow)
    textMiddle(list_, c_.fonts.small, from, y, c_.palette.muted,
               elide(c_.fonts.small, called, isBelow ? width : numbers - from - 8));
  if (isBelow) y += kLinePitch;
  const std::vector<std::size_t> ends = brokenAt(digits, line.text, room);
  const float last = y + kLinePitch * (static_cast<float>(ends.size()) - 1);
  if (ends.empty() || (ends.size() > 1 && last + kLinePitch / 2 + others > area.bottom())) {
    textMiddle(list_, digits, numbers, y, c_.palette.text, shortened(digits, line.text, room));
    return y;
  }
  std::size_t begin = 0;
  for (const std::size_t end : ends) {
    drawTouched(c_, {list_, digits, c_.palette.text}, {numbers, y}, line, begin, end - begin);
    begin = end + 1, y += kLinePitch;
  }
  return last;
}

bool Equation::isTable(const TouchedLine& line, float width) const {
  const Term& t = line.term;
  const std::size_t count = t.cells.size() / 2;
  std::size_t signs = 0;
  for (std::size_t at = 0; (at = line.text.find("×", at)) != std::string::npos; ++at) ++signs;
  const bool isWhole =
      line.text.find("…") == std::string::npos && line.text.find("tanh") == std::string::npos;
  return isWhole && count > 0 && t.cells.size() == 2 * count && signs == count &&
         line.numbers.size() == 2 * count &&
         kTableLabel + kTableResult + kLeastPitch * static_cast<float>(count) <= width;
}

// The rows that are multiplied, below each other, and the sum of the products.
void Equation::table(const TouchedLine& line, const Box& area) {
  const std::size_t count = line.term.cells.size() / 2;
  const float pitch =
                  std::min(kMostPitch, (area.width - kTableLabel - kTableResult) / static_cast<float>(count)),
              cell = std::min(66.0f, pitch - 14);
  const std::string called = inWords(line.term.label);
  const std::string_view label = called;
  const std::size_t dot = label.find(" · ");
  const Fonts& f = c_.fonts;
  const std::string_view text = line.text;
  for (int row = 0; row < 2; ++row) {
    const float y = area.y + kTableRow * static_cast<float>(row) + kCellHeight / 2;
    const std::string_view name = dot == std::string_view::npos ? (row == 0 ? label : std::string_view())
                                  : row == 0                    ? label.substr(0, dot)
                                                                : label.substr(dot + 4);
    const ImU32 tone = hue(c_.palette, line.term.cells[static_cast<std::size_t>(row)].tensor);
    textMiddle(list_, f.strong, area.x, y, tone == c_.palette.neutral ? c_.palette.text : tone,
               elide(f.strong, name, kTableLabel - 18));
    if (row == 1) plainMiddle(list_, f.small, area.x + kTableLabel - 20, y, c_.palette.muted, "×");
    for (std::size_t i = 0; i < count; ++i) {
      const TouchedLine::Number& n = line.numbers[2 * i + static_cast<std::size_t>(row)];
      const float x = area.x + kTableLabel + pitch * static_cast<float>(i);
      drawCell(c_, list_, {x, y - kCellHeight / 2, cell, kCellHeight}, n,
               text.substr(n.begin, n.end - n.begin));
    }
  }
  const float rule = area.y + 2 * kTableRow + 3, y = rule + 18,
              end = area.x + kTableLabel + pitch * static_cast<float>(count - 1) + cell;
  list_->AddLine({area.x + kTableLabel, rule}, {end, rule}, c_.palette.faint, 1.2f);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = [&](std::size_t at) {
      const CellRef& ref = line.term.cells[at];
      const attention::Tensor* t = c_.tensor(ref.tensor);
      return t && t->contains(ref.head, ref.row, ref.col) ? double{t->at(ref.head, ref.row, ref.col)} : 0.0;
    };
    const std::string product = formatNumber(value(2 * i) * value(2 * i + 1), c_.state.decimals);
    const float x = area.x + kTableLabel + pitch * static_cast<float>(i);
    textCentered(list_, f.mono, x + cell / 2, y, c_.palette.text, product);
    if (i + 1 < count) textCentered(list_, f.mono, x + cell + (pitch - cell) / 2, y, c_.palette.muted, "+");
  }
  textMiddle(list_, f.mono, end + 12, y, c_.palette.text,
             "= " + formatNumber(line.term.value, c_.state.decimals));
}

}  // namespace views
