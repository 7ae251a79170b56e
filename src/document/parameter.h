// The parameters around the layer: those of the Transformer block, of hierarchical attention and of the
// recurrent network. Unless edited, they are drawn from the options block_seed, segment_seed and memory_seed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "attention/layer/tensors.h"
#include "base/result.h"

namespace document {

struct Settings;

/// In the order of attention::kParameterTensors.
enum class ParameterId : std::uint8_t {
  gamma_1,
  delta_1,  ///< of the first layer normalisation, [1, width]
  w_1,
  b_1,  ///< [width, hidden], [1, hidden]
  w_2,
  b_2,  ///< [hidden, width], [1, width]
  gamma_2,
  delta_2,  ///< of the second layer normalisation, [1, width]
  token_w,
  token_b,
  token_query,  ///< [width, units], [1, units], [1, units]
  segment_w,
  segment_b,
  segment_query,  ///< the same
  class_w,
  class_b,  ///< of the classes of the document, [width, classes], [1, classes]
  /// Of the recurrent network, [width, units], [units, units], [1, units]; for an LSTM with 4 units' columns:
  /// i, f, g, o.
  memory_w,
  memory_u,
  memory_b,
  /// Of attention over its states, [units, units], [units, units] and [1, units].
  memory_w_a,
  memory_u_a,
  memory_v_a,
  /// Of the decoder, by which its own state and the context enter its next state, [units, units] each.
  decoder_u,
  decoder_c,
};
inline constexpr int kParameterCount = attention::kParameterTensors.size();
static_assert(static_cast<int>(ParameterId::decoder_c) + 1 == kParameterCount);
constexpr attention::TensorId tensorOf(ParameterId id) {
  return attention::kParameterTensors[static_cast<int>(id)];
}
/// The largest parameter, in numbers, that can be edited and stored; larger ones are always those drawn from
/// the seed.
inline constexpr int kMaxParameterNumbers = 8192;

/// One tensor for each id, [1, rows, columns]; an empty one stands for the numbers drawn from its seed.
class Parameters {
 public:
  attention::Tensor& operator[](ParameterId id) { return tensors_[static_cast<std::size_t>(id)]; }
  const attention::Tensor& operator[](ParameterId id) const { return tensors_[static_cast<std::size_t>(id)]; }
  bool operator==(const Parameters&) const = default;

 private:
  std::array<attention::Tensor, kParameterCount> tensors_;
};

std::string_view name(ParameterId id);
/// The parameter of that name; nothing if there is none.
std::optional<ParameterId> parameterNamed(std::string_view name);

struct ParameterShape {
  int rows = 0, cols = 0;
  bool operator==(const ParameterShape&) const = default;
};
/// The shape of a parameter or of a tensor of the block or the segments with these settings; 0 for sizes
/// known only when it is computed. Assumes SegmentBy::tokens.
ParameterShape shapeOf(const Settings& settings, attention::TensorId id);
inline ParameterShape shapeOf(const Settings& settings, ParameterId id) {
  return shapeOf(settings, tensorOf(id));
}
/// An error unless `shape` is that of the parameter: [rows, columns], or [columns] where it has one row.
base::Result<void> checkShape(const Settings& settings, ParameterId id,
                              const std::vector<std::int64_t>& shape);
/// The parameter as drawn from its seed: gamma is 1; delta and b are 0, except for 1 at the forget gate of an
/// LSTM (Gers et al. 2000); matrices have variance 1 / rows, queries variance 1.
attention::Tensor seeded(const Settings& settings, ParameterId id);
/// Is an edited parameter still valid after a change of settings: does it keep its shape and its seed?
bool outlives(ParameterId id, const Settings& before, const Settings& after);

}  // namespace document
