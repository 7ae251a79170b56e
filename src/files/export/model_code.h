// A whole model, as `attn train` writes it, as source code that computes the same numbers with another
// library.
#pragma once

#include <string>

#include "files/export/code.h"
#include "files/layout/trained_model.h"

namespace files {

/// A program that reads the numbers from the file `path`, .npz or .safetensors, runs the model on `tokens`,
/// of which it has an example, and leaves `logits` and, by the names that TrainedModel::run() has for them,
/// the tensors of all layers in `found`. An error for LaTeX, and for other formats.
base::Result<std::string> toCode(const TrainedModel& model, Language language, const std::string& path);

}  // namespace files
