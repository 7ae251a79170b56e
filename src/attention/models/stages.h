// The table of what surrounds the layer: the stages of the block, and the weights of the two levels of
// hierarchical attention. Each row says what a tensor is computed from, what it is called on its page, and by
// which formula; its name and shape are in the table of all tensors. The order of the stages, their
// computation and their explanations follow from this table.
#pragma once

#include <span>
#include <vector>

#include "attention/models/block.h"

namespace attention {

/// A condition on the options of a block.
using BlockCondition = bool (*)(const BlockSpec&);

/// Which cells of a source a cell is computed from: the one at the same place, its row, its column, the rows
/// of its segment, or all.
enum class From : std::uint8_t { cell, row, column, segment, all };

/// A tensor that another is computed from directly.
struct StageSource {
  TensorId id;
  From cells;
  BlockCondition when = nullptr;  ///< null: always
};

/// What a tensor is called on its page, and its formula. Of several, the first whose condition holds is used.
struct StageWords {
  const char *title, *formula;
  BlockCondition when = nullptr;
};

/// One row of the table.
struct StageRow {
  TensorId id;
  /// Is the stage switched on? Null: always. If not, it repeats its first source, or is empty.
  BlockCondition does;
  std::span<const StageSource> sources;  ///< the tensor that the stage transforms comes first
  std::span<const StageWords> words;
};

/// The row of a stage of the block, or of token_weights or segment_weights.
const StageRow& stageRow(TensorId id);
/// The sources that a stage has with these options, in the order of the table.
std::vector<StageSource> sourcesOf(const BlockSpec& spec, BlockStage stage);
/// What the stage is called with these options.
const StageWords& wordsOf(const BlockSpec& spec, BlockStage stage);
/// All stages, each after its sources.
std::vector<BlockStage> stagesInOrder(const BlockSpec& spec);
/// The factor by which dropout multiplies the numbers that it keeps; at inference, all numbers.
inline double dropoutFactor(const BlockSpec& spec) {
  const double stays = 1.0 - double{spec.dropRate};
  if (spec.dropout == Dropout::plain) return spec.training ? 1.0 : stays;
  return spec.drops() ? 1.0 / stays : 1.0;
}
/// The input or stage of a block with that id; null if there is none.
const Tensor* find(const BlockInputs& inputs, const BlockTrace& trace, TensorId id);

}  // namespace attention
