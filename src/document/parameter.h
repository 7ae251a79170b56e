// The learned numbers around the layer: those of the block of the Transformer, and of hierarchical attention. Where
// nobody changed them, they are as the options block_seed and segment_seed make them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attention/error.h"
#include "attention/tensor.h"

namespace document {

struct Settings;

/// By their names in the state text and in scripts.
enum class ParameterId : std::uint8_t {
  gamma_1, delta_1,                     ///< of the first normalisation, [1, width]
  w_1, b_1,                             ///< [width, hidden], [1, hidden]
  w_2, b_2,                             ///< [hidden, width], [1, width]
  gamma_2, delta_2,                     ///< of the second normalisation, [1, width]
  token_w, token_b, token_query,        ///< [width, units], [1, units], [1, units]
  segment_w, segment_b, segment_query,  ///< the same
};
inline constexpr int kParameterCount = static_cast<int>(ParameterId::segment_query) + 1;
/// The most numbers that are kept in one of them: larger ones stay as their seed makes them.
inline constexpr int kMaxParameterNumbers = 8192;

/// One for each id, [1, rows, columns]; an empty one is as its seed makes it.
class Parameters {
 public:
  attention::Tensor& operator[](ParameterId id) { return tensors_[static_cast<std::size_t>(id)]; }
  const attention::Tensor& operator[](ParameterId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  bool operator==(const Parameters&) const = default;

 private:
  std::array<attention::Tensor, kParameterCount> tensors_;
};

std::string_view name(ParameterId id);
/// The parameter of that name, or nothing.
std::optional<ParameterId> parameterNamed(std::string_view name);

struct ParameterShape {
  int rows = 0, cols = 0;
  bool operator==(const ParameterShape&) const = default;
};
/// What these settings ask for. `width` is that of the layer's output.
ParameterShape shapeOf(const Settings& settings, ParameterId id);
/// Is that the shape of a parameter in a file: [rows, columns], or [columns] of one row?
attention::Check checkShape(const Settings& settings, ParameterId id, const std::vector<std::int64_t>& shape);
/// As the seed makes it: gamma of ones, delta and b of zeros, W of variance 1 / rows and queries of variance 1.
attention::Tensor seeded(const Settings& settings, ParameterId id);
/// Would one that fits `before` still be meant in `after`, of the same shape and drawn from the same seed?
bool outlives(ParameterId id, const Settings& before, const Settings& after);

}  // namespace document
