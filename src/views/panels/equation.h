// The formula of a cell, with its numbers in the same places, and below it the lines that say more.
#pragma once

#include "attention/layer/formula.h"
#include "views/formula.h"
#include "views/panels/arithmetic.h"

namespace views {

/// The typeset parts of a formula, kept from frame to frame.
struct EquationSet {
  /// What they were made from, and with: another pixel ratio has other fonts.
  struct Source {
    std::string text;
    const void *symbols = nullptr, *strong = nullptr, *scripts = nullptr, *digits = nullptr, *words = nullptr;
    float size = 0;
    bool operator==(const Source&) const = default;
  } of;
  Formula left, right, leftNumbers, rightNumbers;
  Formula alone;  ///< the right side without the numbers below it, which may be wider
};

class Equation {
 public:
  /// `cell` as the trace names it, and its marked explanation.
  Equation(Context& context, CellRef cell, attention::Explanation marked);
  /// Is there a formula that fits into this width and height?
  bool fits(float width, float height) const;
  /// Of the formula alone, and what a first line below it takes.
  float height() const;
  static constexpr float kFirstLine = 40;
  /// With all lines below it.
  float wholeHeight() const;
  /// Draws the symbols alone, from the top left corner of `area` on, and returns their height; 0 if they do
  /// not fit.
  float drawSymbols(const Box& area);
  /// Draws it from the top left corner of `area` on, and as much of the rest as there is room for. `isHigh`:
  /// products stand as a table.
  void draw(const Box& area, bool isHigh);

 private:
  bool isEmpty() const { return formula_.symbols.empty(); }
  bool hasNumbers() const { return !formula_.numbers.text.empty(); }
  float leftWidth() const;
  void row(const Formula& left, const Formula& right, float x, float midY, bool isNumbers);
  void notes(float x, float symbolsY, float numbersY, float right);
  void numbersOf(const Formula& formula, float x, float midY, std::size_t first);
  ImU32 colorOf(const Arithmetic::Number& number) const;
  float line(const TouchedLine& line, const Box& area, float others);
  bool isTable(const TouchedLine& line, float width) const;
  void table(const TouchedLine& line, const Box& area);

  Context& c_;
  ImDrawList* list_;
  CellRef cell_;
  attention::CellFormula formula_;
  std::vector<TouchedLine> lines_;  ///< first that of the numbers, if there are any
  std::shared_ptr<EquationSet> set_;
};

}  // namespace views
