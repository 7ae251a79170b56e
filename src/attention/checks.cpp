#include "attention/checks.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace attention::checks {
namespace {

Check checkShape(const char* field, const Tensor* tensor, const Shape& wanted) {
  if (!tensor) {
    return Error{Error::Kind::type, field,
                 std::string(field) + ": it is missing; give a tensor of shape " + text(wanted) + "."};
  }
  if (tensor->heads() == wanted.heads && tensor->rows() == wanted.rows && tensor->cols() == wanted.cols) return {};
  return refuse(std::string(field) + ".shape", text(Shape{tensor->heads(), tensor->rows(), tensor->cols()}) +
                                                   " does not fit the other sizes; use " + text(wanted) + ".");
}

Check checkNumbers(const char* field, const Tensor& tensor) {
  const auto values = tensor.values();
  const auto bad = std::find_if(values.begin(), values.end(), [](float v) { return !std::isfinite(v); });
  if (bad == values.end()) return {};
  const std::int64_t at = bad - values.begin();
  const std::int64_t rows = tensor.rows(), cols = tensor.cols();
  const std::string position = std::string(field) + "[" + text(at / (rows * cols)) + "," + text(at / cols % rows) +
                               "," + text(at % cols) + "]";
  return Error{Error::Kind::range, position, position + " is " + text(*bad) + "; every number must be finite."};
}

}  // namespace

std::string text(float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-infinity" : "infinity";
  std::string digits = std::to_string(number);
  digits.erase(std::find_if(digits.rbegin(), digits.rend(), [](char c) { return c != '0'; }).base(), digits.end());
  if (digits.back() == '.') digits.pop_back();
  return digits;
}

Error refuse(std::string field, const std::string& why) {
  std::string message = field + ": " + why;
  return {Error::Kind::range, std::move(field), std::move(message)};
}

Check checkSize(const char* field, int value, int limit) {
  if (value >= 1 && value <= limit) return {};
  return refuse(field, text(value) + " is out of range; use 1 to " + text(limit) + ".");
}

std::string text(const Shape& shape) {
  return "[" + text(shape.heads) + ", " + text(shape.rows) + ", " + text(shape.cols) + "]";
}

Check checkTensors(std::initializer_list<Wanted> wanted) {
  for (const Wanted& w : wanted) {
    if (Check bad = checkShape(w.field, w.tensor, w.shape)) return bad;
  }
  for (const Wanted& w : wanted) {
    if (Check bad = checkNumbers(w.field, *w.tensor)) return bad;
  }
  return {};
}

}  // namespace attention::checks
