// How much there is to compute for a request, and how much of it is done.
#pragma once

#include <functional>

#include "attention/experiments/cost.h"
#include "attention/steps/forward.h"

namespace files {

/// Called at the beginning of the work, with 0, and as it goes on, with the multiply-adds that are done and
/// all of them.
using Progress = std::function<void(double done, double all)>;

namespace layer {

/// Multiply-adds of a layer of these sizes; modelDim is the width of x, or 0 if Q, K and V are inputs.
double multiplyAdds(const attention::Spec& spec, int modelDim = 0);
/// The same for a call of the kernels.
double multiplyAdds(const attention::kernels::Forward& call);

class Work {
 public:
  /// `progress` may be empty, and must outlive this object.
  Work(const Progress& progress, double all) : progress_(progress), all_(all) { add(0); }

  void add(double done) {
    done_ += done;
    if (progress_) progress_(done_, all_);
  }
  /// attention::forward(), which costs `all` and is reported row by row where it is computed so.
  void forward(const attention::Spec& spec, const attention::Inputs& inputs, attention::Trace& trace,
               attention::Scratch& scratch, double all);

 private:
  const Progress& progress_;
  double all_, done_ = 0;
};

/// The part of a call that reads some of the key heads, for some of the queries.
attention::kernels::Forward partOf(attention::kernels::Forward call, attention::Span keyHeads,
                                   attention::Span queries);
/// The part that computes one of the heads.
attention::kernels::Forward headOf(attention::kernels::Forward call, int head, attention::Span queries);

/// Divides a call into parts of a fraction of a second, or of a few seconds where rows are very long, and
/// passes them to `each`, until that returns false; returns whether it never did. The first part is a small
/// one, so that something is soon known about the others. With `threads` threads the parts take no longer
/// than the whole, and the results are the same, bit for bit.
bool forParts(const attention::kernels::Forward& call, int threads,
              const std::function<bool(const attention::kernels::Forward&)>& each);

}  // namespace layer
}  // namespace files
