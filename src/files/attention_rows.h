// A result of `attn run` that is computed some rows at a time, because only a part of it is kept: of 131,072
// tokens no matrix of scores fits into memory.
#pragma once

#include <functional>
#include <vector>

#include "files/attention_problem.h"
#include "files/work.h"

namespace files::layer {

/// The call that computes an item of the batch.
using CallOf = std::function<attention::kernels::Forward(std::int64_t batch)>;

/// Multiply-adds of what an output that is computed by rows needs.
double multiplyAdds(const Wanted& wanted, const CallOf& callOf);

class RowResult {
 public:
  /// All numbers are 0 until they have been computed.
  explicit RowResult(const Wanted& wanted);

  /// Computes the rows of a layer that has queries and keys. False if there is not enough memory. The numbers
  /// are, bit for bit, those of the whole output where nothing else is asked for.
  bool compute(const CallOf& callOf, attention::kernels::Kernel kernel,
               attention::kernels::Workspace& workspace, Work& work);
  /// The result; with `top`, also which keys were kept.
  std::vector<NamedArray> take();

 private:
  void keep(std::span<const float> row);

  const Wanted& wanted_;
  std::vector<float> values_, keys_;
};

}  // namespace files::layer
