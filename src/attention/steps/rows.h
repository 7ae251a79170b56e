// Some rows of one head, computed alone.
#pragma once

#include "attention/steps/forward.h"

namespace attention {

struct RowsOfHead {
  int head = 0;
  Span queries;
  bool withOutput = true;  ///< are rows of head_output wanted too?
  bool isFew = false;      ///< of so many keys that bringing them in order for the kernels would take longer
  /// Are weights all that is wanted? Of the steps before them nothing is then written.
  bool isOfWeights = false;
};

/// Computes them in a trace whose tensors of pairs hold these rows. They are, bit for bit, those of
/// forwardHeads(), unless they are few.
void forwardRows(const Spec& spec, const Inputs& inputs, const RowsOfHead& rows, Trace& trace,
                 Scratch& scratch);

}  // namespace attention
