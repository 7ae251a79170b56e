// All tensors of a state, by name.
#pragma once

#include "document/state.h"
#include "files/formats/stored.h"

namespace files {

/// A tensor of a state: 32-bit numbers in memory format, or one byte per boolean.
struct StateTensor {
  std::string name;
  bool isBoolean = false;
  Shape shape;
  std::string bytes;
};

/// All tensors, with labels and options.
struct StateTensors {
  std::vector<StateTensor> tensors;
  /// Of the shown entry; keyLabels is empty if keys are the same tokens.
  std::vector<std::string> labels, keyLabels;
  bool isNumbered = false;  ///< there are no labels but numbers of tokens
  int firstHead = 0;        ///< the head that the first one of `weights` is
  int shown = 0;            ///< the entry of a batch, or the layer, that is on the board
  bool isOfLayers = false;  ///< the entries are layers of a model
  /// How weights map to colours, as on the board; never automatic.
  document::WeightScale weightScale = document::WeightScale::linear;
  std::string options;  ///< JSON
};

/// The inputs and everything computed from them, in the order of the layer, with "labels" and "key_labels",
/// and as a note the "options" with which tensorsOf() gives the same layer. The items of a batch are stacked
/// on a first axis. Painted cells are "mask", true where visible; a bias is a numeric "mask". An error for
/// what attention::validate() refuses.
Result<StateTensors> collectTensors(const document::State& state);
/// The same as a stored file.
StoredFile storedOf(StateTensors found);
Result<StoredFile> tensorsOfState(const document::State& state);

}  // namespace files
