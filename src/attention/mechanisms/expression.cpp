#include "attention/mechanisms/expression.h"

namespace attention::arithmetic {
namespace {

using Binding = Expression::Binding;

constexpr std::string_view kMinus = "−";

/// Marks before numbers are control characters.
std::size_t begin(const std::string& text) {
  return !text.empty() && static_cast<unsigned char>(text[0]) < ' ' ? 1 : 0;
}
bool isNegative(const Expression& a) { return a.text.compare(begin(a.text), kMinus.size(), kMinus) == 0; }

/// The text as an operand beside which `least` binds: in parentheses where its own operator binds less.
std::string operand(const Expression& a, Binding least) {
  return a.binding < least ? "(" + a.text + ")" : a.text;
}
/// After another operator, negative numbers are in parentheses as well.
std::string second(const Expression& a, Binding least) {
  return isNegative(a) ? "(" + a.text + ")" : operand(a, least);
}

Expression joined(const Expression& a, const Expression& b, std::string text, Binding binding) {
  return {std::move(text), a.isConstant ? b.notation : a.notation, binding};
}
std::string minus(const Expression& a, const Expression& b) {
  return std::string((a.isConstant ? b : a).notation.minus);
}

}  // namespace

Expression operator-(const Expression& a) {
  // The number that results is another one than that of the cell, so it has no mark.
  if (isNegative(a)) return {a.text.substr(begin(a.text) + kMinus.size()), a.notation};
  const std::string text = a.text.substr(begin(a.text));
  const bool isNumber = text[0] >= '0' && text[0] <= '9',
             isZero = isNumber && text.find_first_of("123456789") == std::string::npos;
  return {
      (isZero ? "" : std::string(a.notation.minus)) + operand({text, a.notation, a.binding}, Binding::atom),
      a.notation};
}

Expression operator+(const Expression& a, const Expression& b) {
  return joined(a, b, a.text + " + " + second(b, Binding::sum), Binding::sum);
}
Expression operator-(const Expression& a, const Expression& b) {
  return joined(a, b, a.text + " " + minus(a, b) + " " + second(b, Binding::product), Binding::sum);
}
Expression operator/(const Expression& a, const Expression& b) {
  const std::string divide((a.isConstant ? b : a).notation.divide);
  return joined(a, b, operand(a, Binding::product) + divide + second(b, Binding::atom), Binding::product);
}

Expression exp(const Expression& a) {
  const std::string module(a.notation.module);
  return {module + (module.empty() ? "exp(" : ".exp(") + a.text + ")", a.notation};
}
Expression positive(const Expression& a) {
  if (a.notation.module.empty()) return {"max(" + a.text + ", 0)", a.notation};
  return {operand(a, Binding::atom) + ".clip(0)", a.notation};
}
Expression square(const Expression& a) {
  return {operand(a, Binding::atom) + (a.notation.module.empty() ? "²" : " ** 2"), a.notation};
}

}  // namespace attention::arithmetic
