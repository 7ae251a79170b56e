#include "document/parameter.h"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "attention/draws.h"
#include "document/sentence.h"
#include "document/state.h"

namespace document {
namespace {

using Id = ParameterId;

constexpr int kUnits = 8;  // of a level of hierarchical attention
constexpr std::string_view kNames[] = {
    "gamma_1", "delta_1", "w_1", "b_1", "w_2", "b_2", "gamma_2", "delta_2",
    "token_w", "token_b", "token_query", "segment_w", "segment_b", "segment_query"};
static_assert(std::size(kNames) == kParameterCount);

/// Numbers of N(0, size²) for matrix number `matrix` of those with this seed.
Tensor drawn(ParameterShape shape, double size, std::uint32_t seed, std::uint64_t matrix) {
  Tensor out(1, shape.rows, shape.cols);
  attention::NormalDraws draws(std::uint64_t{seed} << 4 | matrix);
  for (float& v : out.values()) v = static_cast<float>(draws.next() * size);
  return out;
}

/// Of variance 1 / rows, so that what goes through keeps its size.
Tensor drawnWeights(ParameterShape shape, std::uint32_t seed, std::uint64_t matrix) {
  return drawn(shape, 1 / std::sqrt(static_cast<double>(shape.rows)), seed, matrix);
}

Tensor filled(ParameterShape shape, float value) {
  Tensor out(1, shape.rows, shape.cols);
  for (float& v : out.values()) v = value;
  return out;
}

bool isOfBlock(Id id) { return id < Id::token_w; }

}  // namespace

std::string_view name(Id id) { return kNames[static_cast<std::size_t>(id)]; }

std::optional<Id> parameterNamed(std::string_view name) {
  const auto found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames)) return {};
  return static_cast<Id>(found - std::begin(kNames));
}

ParameterShape shapeOf(const Settings& settings, Id id) {
  const int width = settings.mode == Mode::x ? settings.modelDim : settings.heads * settings.valueDim;
  const int hidden = std::min(width * settings.block.hidden, attention::BlockLimits::hidden);
  switch (id) {
    case Id::w_1:
      return {width, hidden};
    case Id::b_1:
      return {1, hidden};
    case Id::w_2:
      return {hidden, width};
    case Id::token_w:
    case Id::segment_w:
      return {width, kUnits};
    case Id::token_b:
    case Id::token_query:
    case Id::segment_b:
    case Id::segment_query:
      return {1, kUnits};
    default:
      return {1, width};
  }
}

attention::Check checkShape(const Settings& settings, Id id, const std::vector<std::int64_t>& shape) {
  const ParameterShape want = shapeOf(settings, id);
  const std::size_t rank = shape.size();
  const bool fits = (rank == 1 || rank == 2) && shape.back() == want.cols && (rank == 1 ? 1 : shape[0]) == want.rows;
  if (fits) return {};
  return refuse(attention::Error::Kind::range, joined({name(id), ".shape"}),
                {shapeText(shape), " does not fit; it must be ", shapeText({want.rows, want.cols}), "."});
}

Tensor seeded(const Settings& settings, Id id) {
  const ParameterShape shape = shapeOf(settings, id);
  switch (id) {
    case Id::gamma_1:
    case Id::gamma_2:
      return filled(shape, 1);
    case Id::w_1:
      return drawnWeights(shape, settings.block.seed, 0);
    case Id::w_2:
      return drawnWeights(shape, settings.block.seed, 1);
    case Id::token_w:
      return drawnWeights(shape, settings.segments.seed, 0);
    case Id::token_query:
      return drawn(shape, 1, settings.segments.seed, 1);
    case Id::segment_w:
      return drawnWeights(shape, settings.segments.seed, 2);
    case Id::segment_query:
      return drawn(shape, 1, settings.segments.seed, 3);
    default:
      return filled(shape, 0);
  }
}

bool outlives(Id id, const Settings& before, const Settings& after) {
  const bool sameSeed =
      isOfBlock(id) ? before.block.seed == after.block.seed : before.segments.seed == after.segments.seed;
  return sameSeed && shapeOf(before, id) == shapeOf(after, id);
}

}  // namespace document
