// Random numbers for new cells.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "document/state.h"

namespace document {

/// The structure of the rows or columns of a tensor: `groups` (heads) of `size` each. A cell is addressed by
/// its group and its index within the group, so that a change of d_k does not affect the addresses of the
/// remaining columns.
struct Axis {
  int groups = 1, size = 1;
  bool operator==(const Axis&) const = default;
  int count() const { return groups * size; }
  std::uint32_t place(int i) const {
    return static_cast<std::uint32_t>(i / size) << 16 | static_cast<std::uint32_t>(i % size);
  }
};

/// Random numbers for the cells of one tensor, from N(0, 1), rounded to two decimals. Each depends only on
/// the seed, the tensor, the item of the batch and its position, so that shrinking and growing again restores
/// the same numbers.
class SeededCells {
 public:
  SeededCells(std::uint32_t seed, TensorId tensor, int item = 0);
  /// For rows that depend on words: a row is determined by its word (compared byte for byte, so "Saw" differs
  /// from "saw") instead of its position and item, and a word has the same row of X in both sequences.
  /// `words` must outlive this object.
  SeededCells(std::uint32_t seed, TensorId tensor, const std::vector<std::string>& words);
  /// Writes the numbers of a row. `row` is the place of the row on its axis.
  void take(std::uint32_t head, std::uint32_t row, const Axis& cols, float* out) const;
  /// The same for `count` columns of one group, the first of which is at this place.
  void take(std::uint32_t head, std::uint32_t row, std::uint32_t col, int count, float* out) const;
  float at(std::uint32_t head, std::uint32_t row, std::uint32_t col) const;
  bool readsWords() const { return words_ != nullptr; }

 private:
  std::uint32_t placeOf(std::uint32_t row) const;

  std::uint64_t state_;
  const std::vector<std::string>* words_ = nullptr;
};

}  // namespace document
