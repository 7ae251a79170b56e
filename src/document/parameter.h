// The learned numbers around the layer: those of the block of the Transformer, and of hierarchical attention. Where
// nobody changed them, they are as the options block_seed and segment_seed make them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "attention/layer/tensors.h"

namespace document {

struct Settings;

/// Those of attention::kParameterTensors, in its order.
enum class ParameterId : std::uint8_t {
  gamma_1, delta_1,                     ///< of the first normalisation, [1, width]
  w_1, b_1,                             ///< [width, hidden], [1, hidden]
  w_2, b_2,                             ///< [hidden, width], [1, width]
  gamma_2, delta_2,                     ///< of the second normalisation, [1, width]
  token_w, token_b, token_query,        ///< [width, units], [1, units], [1, units]
  segment_w, segment_b, segment_query,  ///< the same
  memory_w, memory_u, memory_b,         ///< of a recurrent network, [width, units], [units, units], [1, units]; of an LSTM i, f, g, o
  memory_w_a, memory_u_a, memory_v_a,   ///< of attention over its states, [units, units] twice and [1, units]
};
inline constexpr int kParameterCount = attention::kParameterTensors.size();
static_assert(static_cast<int>(ParameterId::memory_v_a) + 1 == kParameterCount);
constexpr attention::TensorId tensorOf(ParameterId id) { return attention::kParameterTensors[static_cast<int>(id)]; }
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
/// What these settings ask for, of parameters, the block and the segments; 0 for what is known when it is computed.
/// Segments are those of SegmentBy::tokens.
ParameterShape shapeOf(const Settings& settings, attention::TensorId id);
inline ParameterShape shapeOf(const Settings& settings, ParameterId id) { return shapeOf(settings, tensorOf(id)); }
/// Is that the shape of a parameter in a file: [rows, columns], or [columns] of one row?
base::Result<void> checkShape(const Settings& settings, ParameterId id, const std::vector<std::int64_t>& shape);
/// As the seed makes it: gamma of ones, delta and b of zeros but for 1 at an LSTM's forget gate (Gers et al. 2000), W of variance 1 / rows and queries of variance 1.
attention::Tensor seeded(const Settings& settings, ParameterId id);
/// Would one that fits `before` still be meant in `after`, of the same shape and drawn from the same seed?
bool outlives(ParameterId id, const Settings& before, const Settings& after);

}  // namespace document
