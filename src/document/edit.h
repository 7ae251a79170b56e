// The only way to change a document. Each edit knows its inverse.
#pragma once

#include <memory>
#include <optional>
#include <variant>

#include "attention/engine/engine.h"
#include "document/difference.h"
#include "document/option.h"

namespace document {

/// Writes a block of one editable tensor; `values` are rows·cols numbers, row-major.
struct SetCells {
  TensorId tensor = TensorId::q;
  int head = 0, row = 0, col = 0, rows = 1, cols = 1;
  std::vector<float> values;
};

/// Writes a block of one parameter around the layer, as SetCells does.
struct SetParameter {
  ParameterId parameter = ParameterId::gamma_1;
  int row = 0, col = 0, rows = 1, cols = 1;
  std::vector<float> values;
};

/// Paints a block of the mask; `blocked` are rows·cols, 1 = blocked.
struct PaintCells {
  int row = 0, col = 0, rows = 1, cols = 1;
  std::vector<std::uint8_t> blocked;
};

struct SetOption {
  OptionId option = OptionId::causal;
  Value value;
};

/// Renames tokens from `first` on.
struct SetLabels {
  int first = 0;
  std::vector<std::string> labels;
  Side side = Side::queries;
};

/// Puts `count` new tokens before token `at` (at == tokens: at the end), with seeded numbers.
struct InsertTokens {
  int at = 0, count = 1;
  Side side = Side::queries;
};

struct RemoveTokens {
  int at = 0, count = 1;
  Side side = Side::queries;
};

/// Fills the inputs of the present mode (or one tensor of them) with seeded numbers from N(0, 1), rounded to
/// two decimals.
struct Randomize {
  std::uint32_t seed = 1;
  std::optional<TensorId> tensor;
};

/// Replaces everything: a preset, a state text, a tensors file.
struct Load {
  std::shared_ptr<const State> state;
};

/// The inverse of a change of shape, or of one of many numbers. Only for the state that the change led to.
struct Restore {
  std::shared_ptr<const Difference> difference;
};

using Edit =
    std::variant<SetCells, PaintCells, SetOption, SetLabels, InsertTokens, RemoveTokens, Randomize, Load, SetParameter, Restore>;

/// What an edit did: how to take it back, and what the engine has to look at.
struct Effect {
  Edit inverse;                             ///< only where `changed`
  std::optional<attention::Change> change;  ///< none for labels, seed and how things are shown
  bool changed = true;                      ///< false: the state had these values already
};

/// Is the edit one that undo brings back? Not so the options of how things are shown.
bool isUndoable(const Edit& edit);

/// The memory that an edit takes.
std::size_t bytesOf(const Edit& edit);

/// Is that tensor an input that is in use here? If not, the sentence says what would make it one.
Result<void> checkEditable(const State& state, TensorId id);
/// Is the edit possible here? Says which field, which value and what would be right.
Result<void> check(const State& state, const Edit& edit);
/// Carries it out. `edit` must have passed check(). Applying the inverse gives the same state, bit for bit.
Effect apply(State& state, const Edit& edit);

}  // namespace document
