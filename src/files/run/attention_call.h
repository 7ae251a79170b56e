// The inputs of a layer in the form in which the kernels take them.
#pragma once

#include <vector>

#include "attention/kernels/kernels.h"
#include "files/layout/attention_problem.h"

namespace files::layer {

/// Keys and values with those before them, and the mask, of a file whose sizes are known to match. Q stays in
/// the file, which must outlive this and loses what is moved here.
struct KernelInputs {
  /// `keepsHeads`: K, or V, has an axis of heads in any case, as present_k and present_v have.
  KernelInputs(TensorsFile& file, const Problem& problem, bool keepsHeadsOfK, bool keepsHeadsOfV);

  /// The call for an item of the batch; the caller adds which results it wants.
  attention::kernels::Forward call(std::int64_t batch) const;

  const TensorsFile& file;
  const Problem& problem;
  std::vector<float> k, v;  ///< past and new
  View kView, vView;
  Mask mask;
};

/// The error where an allocation failed.
Result<void> outOfMemory();

}  // namespace files::layer
