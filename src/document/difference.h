// A compact difference of two states, for undo: only the numbers and texts that differ are stored, and no
// numbers that can be drawn from the seed again. What differs in large states is found out later, in parts.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
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
  /// The difference that leads from `from` to `to`, bit for bit. `way` is the change of shape, if any. Of
  /// large states it is not compact until it is settled: it has the numbers of both in common with them.
  Difference(const State& from, const State& to, Reshape way);

  /// Turns `state` into `to`. It must equal `from`, except for view options.
  void apply(State& state) const;
  const Reshape& way() const { return way_; }
  /// Does it change view options only?
  bool isShownOnly() const { return isShownOnly_; }
  bool isSettled() const { return late_ == nullptr; }
  /// Does a part of what is left to settle: at most one tensor is drawn from the seed.
  void settleSome();
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
  /// What is not settled yet.
  struct Late {
    State from;  ///< after the first part: what reshape() makes of it
    State to;
    bool isReshaped = false;
    std::size_t next = 0;  ///< index in the order of tensorsOf()
  };
  void reshape(State& state) const;
  void settleShape();
  bool settleTensor();
  static TensorPatch tensorPatch(const State& to, std::size_t which, const Tensor& had);

  std::unique_ptr<Late> late_;
  bool isShownOnly_ = false;
  Reshape way_;
  Settings settings_;  ///< of `to`, without labels
  std::size_t items_ = 0;
  std::vector<TensorPatch> tensors_;
  std::vector<LabelPatch> labels_;
  int maskRows_ = 0, maskCols_ = 0;
  Patch<std::uint8_t> mask_;
  std::optional<std::string> preset_, unknownFields_;  ///< only where they differ
};

/// Equal but for how they are shown.
bool sameContent(const State& a, const State& b);
/// The memory of a state, and of a list of texts excluding the list object.
std::size_t bytesOf(const State& state);
std::size_t bytesOf(const std::vector<std::string>& words);

}  // namespace document
