#include "document/seeded.h"

#include <string_view>

#include "base/random.h"

namespace document {
namespace {

/// The FNV-1a hash (Fowler, Noll and Vo).
std::uint32_t wordNumber(std::string_view word) {
  std::uint32_t hash = 2166136261u;
  for (const char c : word) hash = (hash ^ static_cast<unsigned char>(c)) * 16777619u;
  return hash;
}

/// The number of a column, of those that a row has. Divides 32 bits: a division of 64 takes longer than all
/// else.
float numberAt(std::uint64_t row, std::uint64_t place) {
  const auto sum = static_cast<std::int32_t>(base::normalSum(base::mix(row ^ place)));
  constexpr auto kUnit = static_cast<std::int32_t>(base::kNormalUnit);
  return static_cast<float>((sum * 100 + (sum < 0 ? -kUnit / 2 : kUnit / 2)) / kUnit) / 100.0f;
}

}  // namespace

SeededCells::SeededCells(std::uint32_t seed, TensorId tensor, int item)
    : state_(base::mix(static_cast<std::uint64_t>(item) << 40 | static_cast<std::uint64_t>(seed) << 8 |
                       static_cast<std::uint64_t>(tensor))) {}

SeededCells::SeededCells(std::uint32_t seed, TensorId tensor, const std::vector<std::string>& words)
    : SeededCells(seed, tensor == TensorId::x_kv || tensor == TensorId::x_v ? TensorId::x : tensor) {
  words_ = &words;
}

std::uint32_t SeededCells::placeOf(std::uint32_t row) const {
  return words_ != nullptr ? wordNumber((*words_)[row]) : row;
}

void SeededCells::take(std::uint32_t head, std::uint32_t row, const Axis& cols, float* out) const {
  for (int c = 0; c < cols.count(); c += cols.size) take(head, row, cols.place(c), cols.size, out + c);
}

void SeededCells::take(std::uint32_t head, std::uint32_t row, std::uint32_t col, int count,
                       float* out) const {
  const std::uint64_t of = base::mix(state_ ^ head),
                      first = static_cast<std::uint64_t>(placeOf(row)) << 32 | col;
  for (int c = 0; c < count; ++c) out[c] = numberAt(of, first + static_cast<std::uint64_t>(c));
}

float SeededCells::at(std::uint32_t head, std::uint32_t row, std::uint32_t col) const {
  float out = 0;
  take(head, row, col, 1, &out);
  return out;
}

}  // namespace document
