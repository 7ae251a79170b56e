// A tensor as it stands in JSON, of any rank, before anybody knows what it is for.
#pragma once

#include <vector>

#include "document/json.h"
#include "document/option.h"

namespace document {

/// As many values as the sizes multiply to; every size is at least 1.
struct Block {
  std::vector<std::int64_t> shape;
  std::vector<float> values;  ///< finite, but for -infinity in a bias; 0 and 1 of a boolean tensor
};

/// Reads {"shape": [2, 3], "data": [six values]} with an optional "dtype", or nested lists (what NumPy's
/// tolist() gives). `kind` is numbers or booleans. Sizes are compared with the values that are there; nothing
/// is made to measure.
Result<void> readBlock(const Json& json, std::string_view field, Json::Kind kind, Block& out);

/// Moves the numbers into a tensor whose size they have.
Tensor tensorOf(const Block& block, int heads, int rows, int cols);

/// A mask, true where visible. Leading sizes of 1 may stand before [tokens, key tokens].
Result<void> readMask(const Json& json, const Settings& sizes, PaintedMask& out);

/// The parameters around the layer that the object has, for a state whose options and sizes are known.
Result<void> readParameters(const Json& root, State& state);

/// The value of an option: true or false, a number, a text, a list of texts, or a list of whole numbers.
Result<void> readValue(const Json& json, std::string_view field, Value& out);

/// A model width for numbers that nobody gave: small enough for the limits.
int defaultModelDim(const Settings& settings);

}  // namespace document
