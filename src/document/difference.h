// A compact difference of two states, for undo: only the numbers and texts that differ are stored, and no
// numbers that can be drawn from the seed again.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "document/state.h"

namespace document {

/// The change of shape that explains most of a difference. Numbers that it moves, or that it draws from the
/// seed with the same result, need not be stored.
struct Reshape {
  enum class Kind : std::uint8_t { none, resize, regroup, batch, insertTokens, removeTokens };
  Kind kind = Kind::none;
  Side side = Side::queries;  ///< with `at` and `count`: for insertTokens and removeTokens
  int at = 0, count = 0;

  Reshape reversed() const;
};

struct PatchRun {
  std::uint32_t at = 0, count = 0;
};
/// Replaces parts of a list: `values` are the new contents of all runs, in order.
template <class T>
struct Patch {
  std::vector<PatchRun> runs;
  std::vector<T> values;
};

class Difference {
 public:
  /// The difference that leads from `from` to `to`, bit for bit. `way` is the change of shape, if any.
  Difference(const State& from, const State& to, Reshape way);

  /// Turns `state` into `to`. It must equal `from`, except for view options.
  void apply(State& state) const;
  const Reshape& way() const { return way_; }
  /// Does it change view options of `from` only?
  bool isShownOnly(const State& from) const;
  /// Its memory, including what it owns.
  std::size_t bytes() const;

 private:
  struct TensorPatch {
    std::size_t which = 0;  ///< index in the order of tensorsOf()
    std::array<int, 3> shape{};
    bool isInitial = false;  ///< replaces parts of the initial numbers, not of those that `from` has
    Patch<float> cells;
  };
  struct LabelPatch {
    std::size_t which = 0;  ///< index in the order of labelsOf()
    std::size_t count = 0;
    Patch<std::string> labels;
  };
  void reshape(State& state) const;
  static TensorPatch tensorPatch(const State& to, std::size_t which, const Tensor& had);

  Reshape way_;
  Settings settings_;  ///< of `to`, without labels
  std::size_t items_ = 0;
  std::vector<TensorPatch> tensors_;
  std::vector<LabelPatch> labels_;
  int maskRows_ = 0, maskCols_ = 0;
  Patch<std::uint8_t> mask_;
  std::optional<std::string> preset_, unknownFields_;  ///< only where they differ
};

/// The memory of a state, and of a list of texts excluding the list object.
std::size_t bytesOf(const State& state);
std::size_t bytesOf(const std::vector<std::string>& words);

}  // namespace document
