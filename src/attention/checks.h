// The sentences of a refusal that every part of the layer has in common: sizes, shapes, numbers that are not finite.
#pragma once

#include <concepts>
#include <initializer_list>
#include <string>

#include "attention/error.h"
#include "attention/tensor.h"

namespace attention::checks {

std::string text(std::integral auto number) { return std::to_string(number); }
/// The shortest of six decimals: "0.5", "NaN", "-infinity".
std::string text(float number);

/// An Error of kind range whose message is "field: why".
Error refuse(std::string field, const std::string& why);

/// 1 to `limit`.
Check checkSize(const char* field, int value, int limit);

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
Check checkTensors(std::initializer_list<Wanted> wanted);

}  // namespace attention::checks
