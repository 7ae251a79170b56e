// Checks, and the sentences of their errors, that all parts of the layer share: sizes, shapes, finite
// numbers.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>

#include "attention/layer/tensors.h"
#include "base/result.h"

namespace attention::checks {

std::string text(std::integral auto number) { return std::to_string(number); }
/// The shortest decimal that reads back to the number: "0.5", "1e-45", "NaN", "-infinity".
std::string text(float number);

/// The index of the first number that the tensor may not contain, or -1: numbers must be finite, except that
/// a bias may contain -infinity.
std::ptrdiff_t firstWrong(TensorId id, std::span<const float> values);
/// An error unless `value` is 1 to `limit`.
Result<void> checkSize(const char* field, int value, int limit);

struct Shape {
  int heads, rows, cols;
};
std::string text(const Shape& shape);

/// A required tensor, and the shape that the other sizes imply for it.
struct Wanted {
  const char* field;
  const Tensor* tensor;
  Shape shape;
};
/// Checks that all tensors are present and have their shapes, then that all numbers are finite.
Result<void> checkTensors(std::initializer_list<Wanted> wanted);
/// The same for one row of `cols` numbers that may be missing.
Result<void> checkOptional(const char* field, const Tensor* tensor, int cols);

}  // namespace attention::checks
