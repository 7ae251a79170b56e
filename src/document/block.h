// A tensor as it is written in JSON, of any rank, before its meaning is known.
#pragma once

#include <vector>

#include "document/json.h"
#include "document/option.h"

namespace document {

/// The number of values is the product of the sizes; every size is at least 1.
struct Block {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  ///< finite, except for -infinity in a bias; 0 and 1 for a boolean tensor
};

/// Reads {"shape": [2, 3], "data": [six values]} with an optional "dtype", or nested lists (the result of
/// NumPy's tolist()). `kind` is numbers or booleans. Shape and values are compared before anything is
/// allocated by the shape.
Result<void> readBlock(const Json& json, std::string_view field, Json::Kind kind, Block& out);

/// Moves the numbers into a tensor with as many cells.
Tensor tensorOf(const Block& block, int heads, int rows, int cols);

/// Reads a mask, true where visible: [tokens, key tokens], possibly preceded by axes of size 1.
Result<void> readMask(const Json& json, const Settings& sizes, PaintedMask& out);

/// Reads the parameters around the layer that the object contains, for a state whose options and sizes are
/// known.
Result<void> readParameters(const Json& root, State& state);

/// Reads the value of an option: true or false, a number, a text, a list of texts, or a list of integers.
Result<void> readValue(const Json& json, std::string_view field, Value& out);

/// A model width for a state that does not give one: small enough for the limits.
int defaultModelDim(const Settings& settings);

}  // namespace document
