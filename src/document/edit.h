// Edits: the only way to change a document. Each edit can be inverted.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "attention/engine/engine.h"
#include "document/difference.h"
#include "document/option.h"

namespace document {

/// Writes a block of cells of one editable tensor; `values` are rows·cols numbers, row-major.
struct SetCells {
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0, rows = 1, cols = 1;
  std::vector<float> values;
};

/// Writes a block of cells of one parameter around the layer; as SetCells.
struct SetParameter {
  ParameterId parameter = ParameterId::gamma_1;
  int row = 0, col = 0, rows = 1, cols = 1;
  std::vector<float> values;
};

/// Writes a block of the painted mask; `blocked` are rows·cols values, row-major, 1 = blocked.
struct PaintCells {
  int row = 0, col = 0, rows = 1, cols = 1;
  std::vector<std::uint8_t> blocked;
};

struct SetOption {
  OptionId option = OptionId::causal;
  Value value;
};

/// Renames the tokens from index `first` on.
struct SetLabels {
  int first = 0;
  std::vector<std::string> labels;
  Side side = Side::queries;
};

/// Inserts `count` new tokens before index `at` (at == tokens: at the end). Their numbers are drawn from the
/// seed.
struct InsertTokens {
  int at = 0, count = 1;
  Side side = Side::queries;
};

struct RemoveTokens {
  int at = 0, count = 1;
  Side side = Side::queries;
};

/// Fills the inputs of the current mode, or only `tensor`, with numbers drawn from N(0, 1) by `seed`, rounded
/// to two decimals.
struct Randomize {
  std::uint32_t seed = 1;
  std::optional<TensorId> tensor;
};

/// Replaces the whole state: by a preset, a state text, a tensors file.
struct Load {
  std::shared_ptr<const State> state;
};

/// The inverse of a change of shape or of many numbers. Can only be applied to the state that the change led
/// to.
struct Restore {
  std::shared_ptr<Difference> difference;
};

using Edit = std::variant<SetCells, PaintCells, SetOption, SetLabels, InsertTokens, RemoveTokens, Randomize,
                          Load, SetParameter, Restore>;

/// The effect of an edit: its inverse, and what the engine must update.
struct Effect {
  Edit inverse;                             ///< valid only if `changed`
  std::optional<attention::Change> change;  ///< none for labels, the seed and view options
  bool changed = true;                      ///< false: the state already had these values
};

/// Is the edit part of the undo history? Changes of view options are not.
bool isUndoable(const Edit& edit);

/// The memory that an edit uses.
std::size_t bytesOf(const Edit& edit);

/// An error unless the tensor is an input that this state uses; the sentence says what would make it one.
Result<void> checkEditable(const State& state, TensorId id);
/// An error if the edit is not possible in this state.
Result<void> check(const State& state, const Edit& edit);
/// Applies an edit that has passed check(). Applying the inverse restores the previous state, bit for bit.
Effect apply(State& state, const Edit& edit);
/// The same where no inverse is wanted: of a large state it takes copies.
void applyForGood(State& state, const Edit& edit);

/// The changes, in order, after which there are `heads` heads with as many columns each as now: the first
/// ones keep their numbers, more are drawn from the seed. None where heads have something else than columns
/// of Q, K and V of their own (projections, shared keys, matrices of the score, a bias, named columns), or
/// where so many are too many.
std::vector<SetOption> headsWithColumns(const Settings& settings, int heads);

}  // namespace document
