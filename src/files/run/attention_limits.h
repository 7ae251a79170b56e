// Whether `attn` can compute a layer, and how: the options and sizes that it takes, and the memory that there
// is.
#pragma once

#include <span>

#include "files/layout/attention_problem.h"
#include "files/run/attention_file.h"

namespace files::layer {

bool isDerived(OutputId id);  ///< does it belong to the block or to hierarchical attention?

Shape outputShape(OutputId id, const Problem& problem);  ///< with the rank used in the file

/// An output, and what is wanted of it.
struct Wanted {
  OutputId id{};
  Shape shape;      ///< of all of it
  Excerpt excerpt;  ///< settled
  int top = 0;      ///< > 0: only the largest of each row
  /// Is nothing but what is wanted held in memory, computed some rows at a time?
  bool isByRows = false;
};
/// Checks that attn can compute the problem: options, sizes and memory.
Result<void> checkRun(const TensorsFile& file, const Problem& problem, std::span<const Wanted> wanted,
                      const RunRequest& request);
/// Checks that there is enough memory for the trace of a state.
Result<void> checkMemory(const attention::Spec& spec, const RunRequest& request);

/// Must the layer be computed step by step by the board's engine, because the kernels cannot compute it in
/// one call? That includes the block and hierarchical attention, which read the steps.
bool isTraced(const Options& options, const RunRequest& request);

}  // namespace files::layer
