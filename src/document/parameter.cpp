#include "document/parameter.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.h"
#include "base/sentence.h"
#include "document/state.h"

namespace document {
namespace {

constexpr int kUnits = 8;  // per level of hierarchical attention

int sizeOf(const Settings& settings, attention::Size size) {
  using attention::Size;
  const int width = outputWidth(settings);
  switch (size) {
    case Size::one: return 1;
    case Size::queries: return settings.tokens;
    case Size::width: return width;
    case Size::hidden: return std::min(width * settings.block.hidden, attention::BlockLimits::hidden);
    case Size::units: return kUnits;
    case Size::inputWidth:
      return settings.mode == Mode::x ? settings.modelDim : settings.heads * settings.headDim;
    case Size::cellUnits: return settings.experiments.memory.units;
    case Size::cellColumns:
      return attention::partsOf(settings.experiments.memory.cell) * settings.experiments.memory.units;
    case Size::classes: return classCount(settings);
    case Size::written: return settings.experiments.memory.words;
    case Size::segments: return (settings.tokens + settings.segments.tokens - 1) / settings.segments.tokens;
    default: return 0;
  }
}

/// Numbers from N(0, size²) for matrix number `matrix` of this seed.
Tensor drawn(ParameterShape shape, double size, std::uint32_t seed, std::uint64_t matrix) {
  Tensor out(1, shape.rows, shape.cols);
  base::NormalRandom draws(std::uint64_t{seed} << 4 | matrix);
  for (float& v : out.values()) v = static_cast<float>(draws.next() * size);
  return out;
}

/// With variance 1 / rows, which preserves the magnitude of what is multiplied by it.
Tensor drawnWeights(ParameterShape shape, std::uint32_t seed, std::uint64_t matrix) {
  return drawn(shape, 1 / std::sqrt(static_cast<double>(shape.rows)), seed, matrix);
}

Tensor filled(ParameterShape shape, float value) {
  Tensor out(1, shape.rows, shape.cols);
  for (float& v : out.values()) v = value;
  return out;
}

/// Zeros, except that an LSTM starts with its forget gates open.
Tensor cellBias(const Settings& settings, ParameterShape shape) {
  Tensor out = filled(shape, 0);
  const MemoryOptions& memory = settings.experiments.memory;
  if (memory.cell == attention::CellKind::lstm) std::fill_n(out.data() + memory.units, memory.units, 1.0f);
  return out;
}

/// The seed of a parameter, and the options besides its shape that determine its numbers.
std::pair<std::uint32_t, int> drawnBy(ParameterId id, const Settings& settings) {
  if (id < ParameterId::token_w) return {settings.block.seed, 0};
  if (id < ParameterId::memory_w) return {settings.segments.seed, 0};
  return {settings.experiments.memory.seed, static_cast<int>(settings.experiments.memory.cell)};
}

}  // namespace

std::string_view name(ParameterId id) { return attention::name(tensorOf(id)); }

std::optional<ParameterId> parameterNamed(std::string_view name) {
  const auto found = attention::tensorNamed(name, attention::kParameterTensors);
  if (!found) return {};
  return static_cast<ParameterId>(static_cast<int>(*found) -
                                  static_cast<int>(attention::kParameterTensors.first));
}

ParameterShape shapeOf(const Settings& settings, attention::TensorId id) {
  const attention::TensorRow& row = attention::tensorRow(id);
  return {sizeOf(settings, row.rows), sizeOf(settings, row.columns)};
}

base::Result<void> checkShape(const Settings& settings, ParameterId id,
                              const std::vector<std::int64_t>& shape) {
  const ParameterShape want = shapeOf(settings, id);
  const std::size_t rank = shape.size();
  const bool fits =
      (rank == 1 || rank == 2) && shape.back() == want.cols && (rank == 1 ? 1 : shape[0]) == want.rows;
  if (fits) return {};
  return base::refuse(
      base::Error::Kind::range, base::joined({name(id), ".shape"}),
      {base::shapeText(shape), " does not fit; it must be ", base::shapeText({want.rows, want.cols}), "."});
}

Tensor seeded(const Settings& settings, ParameterId id) {
  const ParameterShape shape = shapeOf(settings, id);
  switch (id) {
    case ParameterId::gamma_1:
    case ParameterId::gamma_2: return filled(shape, 1);
    case ParameterId::w_1: return drawnWeights(shape, settings.block.seed, 0);
    case ParameterId::w_2: return drawnWeights(shape, settings.block.seed, 1);
    case ParameterId::token_w: return drawnWeights(shape, settings.segments.seed, 0);
    case ParameterId::token_query: return drawn(shape, 1, settings.segments.seed, 1);
    case ParameterId::segment_w: return drawnWeights(shape, settings.segments.seed, 2);
    case ParameterId::segment_query: return drawn(shape, 1, settings.segments.seed, 3);
    case ParameterId::class_w: return drawnWeights(shape, settings.segments.seed, 4);
    case ParameterId::memory_w:
    case ParameterId::memory_u:
    case ParameterId::memory_w_a:
    case ParameterId::memory_u_a:
      return drawnWeights(
          shape, settings.experiments.memory.seed,
          4 + static_cast<std::uint64_t>(id) - static_cast<std::uint64_t>(ParameterId::memory_w));
    case ParameterId::memory_v_a: return drawn(shape, 1, settings.experiments.memory.seed, 10);
    case ParameterId::decoder_u: return drawnWeights(shape, settings.experiments.memory.seed, 11);
    case ParameterId::decoder_c: return drawnWeights(shape, settings.experiments.memory.seed, 12);
    case ParameterId::memory_b: return cellBias(settings, shape);
    default: return filled(shape, 0);
  }
}

bool outlives(ParameterId id, const Settings& before, const Settings& after) {
  return drawnBy(id, before) == drawnBy(id, after) && shapeOf(before, id) == shapeOf(after, id);
}

}  // namespace document
