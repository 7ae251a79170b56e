// Every tensor of a state, by its name.
#pragma once

#include "document/state.h"
#include "files/stored.h"

namespace files {

/// A tensor of a state: numbers of 32 bits as they lie in memory, or a byte for true and false.
struct StateTensor {
  std::string name;
  bool isBoolean = false;
  Shape shape;
  std::string bytes;
};

/// All of them, and what belongs to them.
struct StateTensors {
  std::vector<StateTensor> tensors;
  std::vector<std::string> labels, keyLabels;  ///< none of the keys where they are the tokens
  std::string options;                         ///< JSON
};

/// The inputs and all that is computed from them, in the order of the layer, with "labels" and "key_labels", and as notes the "options"
/// that tensorsOf() makes the same layer with. Entries of a batch are stacked on a first axis. Painted cells are "mask", true
/// where a query sees; a bias is "mask" too, of numbers. Refused: what attention::validate() refuses.
Result<StateTensors> collectTensors(const document::State& state);
/// The same as what a file holds.
StoredFile storedOf(StateTensors found);
Result<StoredFile> tensorsOfState(const document::State& state);

}  // namespace files
