// What must be kept to get from one state back to another: the numbers and words that differ, and no others.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/state.h"

namespace document {

/// The change of shape that does most of the way from one state to another. Numbers that it brings along, or draws from
/// the seed as they were, need not be kept.
struct Reshape {
  enum class Kind : std::uint8_t { none, resize, regroup, batch, insertTokens, removeTokens };
  Kind kind = Kind::none;
  Side side = Side::queries;  ///< with `at` and `count`: of insertTokens and removeTokens
  int at = 0, count = 0;

  Reshape reversed() const;
};

/// Parts of a list that are written over: as many values, in the order of the runs, as the runs are long.
template <class T>
struct Patch {
  struct Run {
    std::uint32_t at = 0, count = 0;
  };
  std::vector<Run> runs;
  std::vector<T> values;
};

class Difference {
 public:
  /// Leads from `from` to `to`, bit for bit.
  Difference(const State& from, const State& to, Reshape way);

  /// Makes `state`, which must be `from` in all but how it is shown, to `to`.
  void apply(State& state) const;
  const Reshape& way() const { return way_; }
  /// Is what it leads to the same as `from` in all but how it is shown?
  bool isShownOnly(const State& from) const;
  /// All the memory that it holds.
  std::size_t bytes() const;

 private:
  struct TensorPatch {
    std::size_t which = 0;  ///< counted as tensorsOf() lists them
    std::array<int, 3> shape{};
    Patch<float> cells;
  };
  struct LabelPatch {
    std::size_t which = 0;  ///< counted as labelsOf() lists them
    std::size_t count = 0;
    Patch<std::string> labels;
  };
  void reshape(State& state) const;

  Reshape way_;
  Settings settings_;  ///< of `to`, but for the labels
  std::size_t pages_ = 0;
  std::vector<TensorPatch> tensors_;
  std::vector<LabelPatch> labels_;
  int maskRows_ = 0, maskCols_ = 0;
  Patch<std::uint8_t> mask_;
  std::optional<std::string> preset_, unknownFields_;  ///< where they differ
};

/// The memory that a state takes, and a list of words besides itself.
std::size_t bytesOf(const State& state);
std::size_t bytesOf(const std::vector<std::string>& words);

}  // namespace document
