// The way of one query row of one head, from the scores to the output, in steps: which a layer has, what each reads and
// fills, and its arithmetic. All of it follows from the layer's options and its tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/layer/explain.h"

namespace attention {

/// The row, and the key and the column of the output whose arithmetic is shown for all of the row.
struct StepPlace {
  int head = 0, row = 0, key = 0, column = 0;
  bool operator==(const StepPlace&) const = default;
};

/// The steps of a layer in order; the last one is the output. `cached`: a decoder makes this row from keys that it has.
std::vector<RowStep> stepsOf(const Spec& spec, const Inputs& inputs, bool cached);
/// In a word, for a track of steps: "q·k", "÷ √d_k", "exp".
std::string nameOf(RowStep step, const Spec& spec, const Inputs& inputs);

/// The numbers of the row that stand in the place of a tensor of the board once a step is made: those of another tensor that
/// is on the way to it, or none yet.
struct Standing {
  bool isThere = true;           ///< false: nothing of the row is made yet
  TensorId tensor = TensorId::q; ///< whose numbers stand there
  bool isShare = false;          ///< exponentials ÷ their sum, before the mask that comes after softmax
};
/// Of scores (as `masked` is in the place of `scores`), weights, head_output, output, and what the steps between make; any
/// other tensor is there from the start.
Standing standing(TensorId id, RowStep step, const Spec& spec, const Inputs& inputs);

/// The cells that the step reads, and those that it makes, as blocks of the tensors in whose place they stand.
struct StepCells {
  std::vector<Region> from, made;
};
StepCells cellsOf(RowStep step, const Spec& spec, const Inputs& inputs, const Trace& trace, StepPlace at);

/// The arithmetic of a step, marked as in explain(): of the pair at `at`, of up to `most` columns of the output, and of so many heads.
std::vector<Term> linesOf(RowStep step, const Spec& spec, const Inputs& inputs, const Trace& trace, StepPlace at,
                          const std::vector<std::string>& labels, const std::vector<std::string>& keyLabels, int decimals, int most = 4);

/// The sum that a number with mark::kSum is, the `ordinal`-th such number of that line; nothing where it is none.
std::optional<Term> sumBehind(const Term& line, int ordinal, const Spec& spec, const Inputs& inputs, const Trace& trace, CellRef pair, int decimals);

}  // namespace attention
