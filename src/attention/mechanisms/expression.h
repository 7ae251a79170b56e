// Arithmetic as text. A formula stands once, in a generic function: called with numbers it computes, called
// with expressions it is written down, with the signs of the place that shows it.
#pragma once

#include <cmath>
#include <string>
#include <string_view>

namespace attention::arithmetic {

/// The signs of a notation; `module` is that of the functions of a Python program, empty elsewhere.
struct Notation {
  std::string_view divide = " ÷ ", minus = "−", module = {};
};
inline constexpr Notation kPlain{};         ///< explanations and loops: "1 ÷ (1 + exp(−s))"
inline constexpr Notation kFormula{" / "};  ///< captions: "1 / (1 + exp(−s))"
constexpr Notation python(std::string_view module) { return {" / ", "-", module}; }

/// A text, and how strongly the operator binds that was written last; the operators below add parentheses
/// where they are needed.
struct Expression {
  enum class Binding { sum, product, atom };

  std::string text;
  Binding binding = Binding::atom;
  Notation notation = {};
  bool isConstant = false;  ///< its notation is that of the other operand

  /// A variable, or a number with its mark (explain.h), as it is to be shown.
  Expression(std::string words, Notation signs = kPlain, Binding binds = Binding::atom)
      : text(std::move(words)),
        binding(binds),
        notation(signs) {}
  Expression(int constant) : text(std::to_string(constant)), isConstant(true) {}
};

Expression operator-(const Expression& a);
Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression exp(const Expression& a);
/// max(a, 0)
Expression positive(const Expression& a);
Expression square(const Expression& a);

inline double exp(double a) { return std::exp(a); }
inline double positive(double a) { return a > 0.0 ? a : 0.0; }
inline double square(double a) { return a * a; }

}  // namespace attention::arithmetic
