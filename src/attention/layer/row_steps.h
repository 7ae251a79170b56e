// How one query row of one head gets from scores to output, in steps: which steps a layer has, what each
// reads and writes, and its arithmetic. All derived from the layer's options and tensors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/layer/explain.h"

namespace attention {

/// The row, and the key and the output column whose arithmetic is shown as an example for the whole row.
struct StepPlace {
  int head = 0, row = 0, key = 0, column = 0;
  bool operator==(const StepPlace&) const = default;
};

/// The steps of a layer in order; the last one is the output. `cached`: a decoder computes this row, with
/// keys from its cache.
std::vector<RowStep> stepsOf(const Spec& spec, const Inputs& inputs, bool cached);
/// A short name for a progress track: "q·k", "÷ √d_k", "exp".
std::string nameOf(RowStep step, const Spec& spec, const Inputs& inputs);

/// Which numbers of the row are shown in the place of a tensor of the board after a given step: those of
/// another tensor on the way to it, or none yet.
struct DisplayState {
  bool isThere = true;            ///< false: nothing of the row has been computed yet
  TensorId tensor = TensorId::q;  ///< the tensor whose numbers are shown
  bool isShare = false;           ///< exponentials ÷ their sum, where the mask is applied after softmax
};
/// For scores (whose place `masked` shares), weights, head_output, output and the steps between them; any
/// other tensor is complete from the start.
DisplayState displayState(TensorId id, RowStep step, const Spec& spec, const Inputs& inputs);

/// The cells that the step reads and those that it computes, as blocks of the tensors in whose places they
/// are shown.
struct StepCells {
  std::vector<Region> from, made;
};
StepCells cellsOf(RowStep step, const Spec& spec, const Inputs& inputs, const Trace& trace, StepPlace at);

/// The arithmetic of a step, marked as in explain(): for the pair given by `at`, and for at most `most`
/// output columns and heads.
std::vector<Term> linesOf(RowStep step, const ComputedLayer& layer, StepPlace at, const TokenLabels& labels,
                          int decimals, int most = 4);

/// The sum behind the `ordinal`-th number of a line that is marked with kSum; nothing if there is none.
std::optional<Term> sumBehind(const Term& line, int ordinal, const ComputedLayer& layer, CellRef pair,
                              int decimals);

}  // namespace attention
