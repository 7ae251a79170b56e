// The sentences of a refusal that every part of the layer has in common: sizes, shapes, numbers that are not finite.
#pragma once

#include <concepts>
#include <initializer_list>
#include <span>
#include <string>

#include "base/result.h"
#include "attention/layer/tensors.h"

namespace attention::checks {

std::string text(std::integral auto number) { return std::to_string(number); }
/// The shortest of six decimals: "0.5", "NaN", "-infinity".
std::string text(float number);

/// Are the numbers of a tensor ones that it may have? All are finite, but for -infinity in a bias. The index of the first
/// that is not, or -1.
std::ptrdiff_t firstWrong(TensorId id, std::span<const float> values);
/// 1 to `limit`.
Result<void> checkSize(const char* field, int value, int limit);

struct Shape {
  int heads, rows, cols;
};
std::string text(const Shape& shape);

/// A tensor that must be there, with the shape that the other sizes ask for.
struct Wanted {
  const char* field;
  const Tensor* tensor;
  Shape shape;
};
/// All shapes first, then all numbers: each must be finite.
Result<void> checkTensors(std::initializer_list<Wanted> wanted);

}  // namespace attention::checks
