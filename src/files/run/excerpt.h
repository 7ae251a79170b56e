// Which part of a tensor is wanted: `weights[3, 1000:1100, :]`, or only the largest numbers of each row.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "files/layout/tensors_file.h"

namespace files {

/// Basic indices as in NumPy. Axes that are not named are taken whole: the last ones, or those where "..."
/// stands. A single index takes its axis away, and negative numbers count from the end.
struct Excerpt {
  struct Axis {
    std::int64_t begin = 0, end = kEnd;
    bool isIndex = false;
  };
  static constexpr std::int64_t kEnd = std::int64_t{1} << 62;
  std::vector<Axis> axes;
  std::size_t rest = ~std::size_t{0};  ///< before which of them the others come; after all if there are fewer
};

/// Parses what stands between the brackets: "3,1000:1100,:". An error, about `field`, for anything else,
/// steps included.
Result<Excerpt> excerptFrom(std::string_view text, std::string_view field);
/// Counts all of it from 0 in a tensor of that shape, with one range for each axis. An error, about `field`,
/// for more axes than there are, and for cells that the tensor does not have.
Result<Excerpt> settled(const Excerpt& excerpt, const Shape& shape, std::string_view field);
/// The shape of a settled excerpt.
Shape shapeOf(const Excerpt& excerpt);
/// The cells of a settled excerpt.
NamedArray cut(NamedArray array, const Excerpt& excerpt);

/// Writes the `count` largest numbers of a row to `values`, the largest first, and which they are to `keys`.
/// Of equal numbers the first come first. 1 ≤ count ≤ row.size() ≤ 2^24.
void largestOf(std::span<const float> row, int count, float* values, float* keys);
/// The same for the last axis of a tensor, which has at least `count` numbers: NAME with the numbers, and
/// NAME_keys with their indices.
std::vector<NamedArray> largestOf(NamedArray array, int count);

}  // namespace files
