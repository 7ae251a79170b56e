#include "attention/layer/checks.h"

#include <algorithm>
#include <cmath>

#include "base/number.h"
#include "base/sentence.h"

namespace attention::checks {
namespace {

Result<void> checkShape(const char* field, const Tensor* tensor, const Shape& wanted) {
  if (!tensor) {
    return Error{Error::Kind::type, field,
                 base::message({"it is missing; give a tensor of shape ", text(wanted), "."})};
  }
  if (tensor->heads() == wanted.heads && tensor->rows() == wanted.rows && tensor->cols() == wanted.cols)
    return {};
  return base::refuse(Error::Kind::range, std::string(field) + ".shape",
                      {text(Shape{tensor->heads(), tensor->rows(), tensor->cols()}),
                       " does not fit the other sizes; use ", text(wanted), "."});
}

Result<void> checkNumbers(const char* field, const Tensor& tensor) {
  const std::int64_t at = firstWrong(TensorId::q, tensor.values());
  if (at < 0) return {};
  const std::int64_t rows = tensor.rows(), cols = tensor.cols();
  const std::string position = std::string(field) + "[" + text(at / (rows * cols)) + "," +
                               text(at / cols % rows) + "," + text(at % cols) + "]";
  return Error{Error::Kind::range, position,
               "is " + text(tensor.values()[static_cast<std::size_t>(at)]) + "; every number must be finite.",
               true, Error::Fault::number};
}

}  // namespace

std::string text(float number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number < 0 ? "-infinity" : "infinity";
  return base::shortest(base::readable(number));
}

std::ptrdiff_t firstWrong(TensorId id, std::span<const float> values) {
  // Plain loops over pointers: in code compiled for size, iterators and isfinite() would be function calls
  // for each number.
  const bool mayMask = id == TensorId::bias;
  const float* all = values.data();
  const auto count = static_cast<std::ptrdiff_t>(values.size());
  const auto wrong = [all](std::ptrdiff_t i) { return all[i] - all[i]; };  // 0 where it is finite, else NaN
  std::ptrdiff_t begin = 0;
  for (; begin + 8 <= count; begin += 8) {
    const float one = (wrong(begin) + wrong(begin + 1)) + (wrong(begin + 2) + wrong(begin + 3));
    const float other = (wrong(begin + 4) + wrong(begin + 5)) + (wrong(begin + 6) + wrong(begin + 7));
    if (one + other != 0.0f) break;
  }
  for (std::ptrdiff_t i = begin; i < count; ++i) {
    const bool isFinite = all[i] - all[i] == 0.0f;
    if (!isFinite && !(mayMask && all[i] < 0)) return i;
  }
  return -1;
}

Result<void> checkSize(const char* field, int value, int limit) {
  if (value >= 1 && value <= limit) return {};
  return base::refuse(Error::Kind::range, field,
                      {text(value), " is out of range; use 1 to ", text(limit), "."});
}

std::string text(const Shape& shape) {
  return "[" + text(shape.heads) + ", " + text(shape.rows) + ", " + text(shape.cols) + "]";
}

Result<void> checkTensors(std::initializer_list<Wanted> wanted) {
  for (const Wanted& w : wanted) {
    if (auto ok = checkShape(w.field, w.tensor, w.shape); !ok) return ok;
  }
  for (const Wanted& w : wanted) {
    if (auto ok = checkNumbers(w.field, *w.tensor); !ok) return ok;
  }
  return {};
}

Result<void> checkOptional(const char* field, const Tensor* tensor, int cols) {
  return tensor ? checkTensors({{field, tensor, {1, 1, cols}}}) : Result<void>{};
}

}  // namespace attention::checks
