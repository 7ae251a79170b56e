// The table of what stands around the layer: the stages of the block, and the weights of the two levels of hierarchical
// attention. A row says what a tensor is made from, what it is called on its page, and by which formula; its name and its
// shape stand in the table of all tensors. The order of the stages, their computation and their explanations follow from it.
#pragma once

#include <span>
#include <vector>

#include "attention/models/block.h"

namespace attention {

/// Does something hold of a block?
using BlockCondition = bool (*)(const BlockSpec&);

/// Which cells of a source a cell is made from: the same one, its row or column, the rows of its segment, or all.
enum class From : std::uint8_t { cell, row, column, segment, all };

/// A tensor that another is made from directly.
struct StageSource {
  TensorId id;
  From cells;
  BlockCondition when = nullptr;  ///< null: always
};

/// What a tensor is called on its page, and its formula; the first of several whose condition holds.
struct StageWords {
  const char *title, *formula;
  BlockCondition when = nullptr;
};

/// One row of the table.
struct StageRow {
  TensorId id;
  BlockCondition does;  ///< null: always. One that does nothing has the numbers of its first source, or none
  std::span<const StageSource> sources;  ///< the tensor that it changes comes first
  std::span<const StageWords> words;
};

/// Of a stage of the block, or of token_weights or segment_weights.
const StageRow& stageRow(TensorId id);
/// The sources that a stage has in such a block, in the order of the table.
std::vector<StageSource> sourcesOf(const BlockSpec& spec, BlockStage stage);
/// What the stage is called in such a block.
const StageWords& wordsOf(const BlockSpec& spec, BlockStage stage);
/// All stages, each after those that it is made from.
std::vector<BlockStage> stagesInOrder(const BlockSpec& spec);
/// What dropout multiplies the numbers with that it keeps, and at inference all of them.
inline double dropoutFactor(const BlockSpec& spec) {
  const double stays = 1.0 - double{spec.dropRate};
  if (spec.dropout == Dropout::plain) return spec.training ? 1.0 : stays;
  return spec.drops() ? 1.0 / stays : 1.0;
}
/// The tensor of that name among the inputs and the stages of a block; null where it has none.
const Tensor* find(const BlockInputs& inputs, const BlockTrace& trace, TensorId id);

}  // namespace attention
