#include "base/number.h"

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace base {
namespace {

float read(const char* text, float) { return std::strtof(text, nullptr); }
double read(const char* text, double) { return std::strtod(text, nullptr); }

constexpr std::uint32_t kPowers[] = {1,      10,      100,      1000,      10000,
                                     100000, 1000000, 10000000, 100000000, 1000000000};

// Puts the decimal point before the last `decimals` digits: 12345 with 2 decimals is "123.45".
std::string withPoint(std::uint64_t digits, int decimals) {
  char text[24], *at = std::end(text);
  for (int i = 0; i <= decimals || digits > 0; ++i, digits /= 10) {
    if (i == decimals && i > 0) *--at = '.';
    *--at = static_cast<char>('0' + digits % 10);
  }
  return {at, std::end(text)};
}

// A shortcut for numbers with at most 4 decimals, which is most numbers that people write; empty for others.
// An integer below `most` and a power of ten are both exact, so by IEEE 754 their quotient is the very number
// that the decimal reads back to; and since the digits are fewer than the type is sure to keep, no shorter
// decimal reads back to it. Together with fixed() this keeps the general conversions between numbers and text
// out of the first part of the page: 7 KB after Brotli.
template <class T>
std::string ofFewDigits(T size, T most) {
  for (int decimals = 0; decimals <= 4; ++decimals) {
    const T power = static_cast<T>(kPowers[decimals]), digits = std::round(size * power);
    if (!(digits < most)) break;
    if (digits / power == size) return withPoint(static_cast<std::uint64_t>(digits), decimals);
  }
  return {};
}

// Tries more and more digits until the text reads back to the value. The search starts with the number of
// digits that the type is sure to keep, since %g drops trailing zeros; for subnormal numbers it starts
// with 1. Rejected: std::to_chars, whose conversion of double adds 40 KB of tables to the page.
template <class T>
std::string ofManyDigits(T value, T smallestNormal, int digits, int most) {
  if (std::abs(value) < smallestNormal) digits = 1;
  char text[40];
  do {
    std::snprintf(text, sizeof text, "%.*g", digits, static_cast<double>(value));
  } while (read(text, value) != value && ++digits <= most);
  return text;
}

template <class T>
std::string shortestOf(T value, T smallestNormal, int digits, int most) {
  if (value == 0) return std::signbit(value) ? "-0.0" : "0";
  const std::string text = ofFewDigits(std::abs(value), T(1e6));
  if (text.empty()) return ofManyDigits(value, smallestNormal, digits, most);
  return value < 0 ? "-" + text : text;
}

/// The rounding error of the product: (a·b rounded) + this is exactly a·b (Dekker 1971). The product must not
/// come near overflow.
double lostOf(double a, double b) {
  const auto high = [](double x) {
    const double c = 134217729.0 * x;  // 2^27 + 1 (Veltkamp)
    return c - (c - x);
  };
  const double aHigh = high(a), aLow = a - aHigh, bHigh = high(b), bLow = b - bHigh;
  return ((aHigh * bHigh - a * b) + aHigh * bLow + aLow * bHigh) + aLow * bLow;
}

bool isDigit(char c) { return c >= '0' && c <= '9'; }

std::size_t skipDigits(std::string_view text, std::size_t at) {
  while (at < text.size() && isDigit(text[at])) ++at;
  return at;
}

std::size_t skipSign(std::string_view text, std::size_t at) {
  return at < text.size() && (text[at] == '-' || text[at] == '+') ? at + 1 : at;
}

// strtof alone would also accept "inf", "nan" and hexadecimal numbers.
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

std::string fixed(double size, int decimals) {
  const double whole = std::floor(size), part = size - whole, power = kPowers[decimals];
  const double scaled = part * power, down = std::floor(scaled);
  const double overHalf = scaled - down - 0.5, lost = lostOf(part, power);
  std::uint64_t digits =
      static_cast<std::uint64_t>(whole) * kPowers[decimals] + static_cast<std::uint64_t>(down);
  if (overHalf > -lost || (overHalf == -lost && digits % 2 == 1)) ++digits;
  return withPoint(digits, decimals);
}

double readable(float value) {
  const double near = std::strtod(shortest(value).c_str(), nullptr);
  return static_cast<float>(near) == value ? near : static_cast<double>(value);
}

std::optional<float> parseFloat(std::string_view text) {
  if (!isDecimal(text)) return std::nullopt;
  return std::strtof(std::string(text).c_str(), nullptr);
}

}  // namespace base
