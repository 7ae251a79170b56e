// The parts of results that `attn run` is asked for, and results that are computed some rows at a time
// because only a part of them is kept: of 131,072 tokens no matrix of scores fits into memory.
#pragma once

#include <functional>
#include <vector>

#include "files/layout/attention_problem.h"
#include "files/run/attention_limits.h"
#include "files/run/work.h"

namespace files::layer {

/// What a request wants of each of its outputs. An error for parts that they do not have.
Result<std::vector<Wanted>> wantedOf(const Problem& problem, const RunRequest& request);
/// The same for an output of a board, which has that shape, once checkTop() has passed.
Result<Wanted> wantedOf(Shape shape, const RunRequest& request, std::size_t output);
/// An error for `top` without weights.
Result<void> checkTop(const RunRequest& request);
/// What is wanted of an output that was computed whole.
std::vector<NamedArray> partOf(NamedArray whole, const Wanted& wanted);

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
  /// Takes what is wanted of a row, which is that one in the result.
  void keep(std::span<const float> row, std::size_t place);

  const Wanted& wanted_;
  std::vector<float> values_, keys_;
};

}  // namespace files::layer
