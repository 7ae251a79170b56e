#include "document/number.h"

#include <cfloat>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace document {
namespace {

float read(const char* text, float) { return std::strtof(text, nullptr); }
double read(const char* text, double) { return std::strtod(text, nullptr); }

// %g drops trailing zeros, so where `digits` are surely kept by the type, fewer need not be tried. Below the
// normal range nothing is sure. Rejected: std::to_chars, which for double brings 40 KB of tables to the web
// page.
template <class T>
std::string shortestOf(T value, T smallestNormal, int digits, int most) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  if (std::abs(value) < smallestNormal) digits = 1;
  char text[40];
  do {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
  } while (read(text, value) != value && ++digits <= most);
  return text;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::size_t skipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && isDigit(text[at])) ++at;
  return at;
}

std::size_t skipSign(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '-' || text[at] == '+') ? at + 1 : at;
}

// strtof alone would also take "inf", "nan" and hexadecimal numbers.
bool isDecimal(std::string_view text) {
  std::size_t at = skipSign(text, 0);
  const std::size_t whole = skipDigits(text, at);
  std::size_t digits = whole - at;
  at = whole;
  if (at < text.size() && text[at] == '.') {
    const std::size_t end = skipDigits(text, at + 1);
    digits += end - at - 1;
    at = end;
  }
  if (digits == 0) return false;
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    const std::size_t start = skipSign(text, at + 1);
    at = skipDigits(text, start);
    if (at == start) return false;
  }
  return at == text.size();
}

}  // namespace

std::string shortest(float value) { return shortestOf(value, FLT_MIN, FLT_DIG, FLT_DECIMAL_DIG); }
std::string shortest(double value) { return shortestOf(value, DBL_MIN, DBL_DIG, DBL_DECIMAL_DIG); }

double readable(float value) {
  const double near = std::strtod(shortest(value).c_str(), nullptr);
  return static_cast<float>(near) == value ? near : static_cast<double>(value);
}

std::optional<float> parseFloat(std::string_view text) {
  if (!isDecimal(text)) return std::nullopt;
  return std::strtof(std::string(text).c_str(), nullptr);
}

}  // namespace document
