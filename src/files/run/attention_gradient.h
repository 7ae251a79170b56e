// `attn grad`: computes gradients of the attention layer in a file.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/steps/backward.h"
#include "files/run/attention_file.h"

namespace files {

/// One cell of a tensor of the layer, as written on a command line: "weights[0,3,2]" is head, row and column,
/// from 0; with a batch, "weights[1,0,3,2]" is a cell of its second item.
struct GradientTarget {
  attention::TargetCell cell;
  std::int64_t batch = 0;
};

struct GradientRequest {
  std::optional<GradientTarget> target;  ///< empty: start from the file's d_output, d_weights or both
  /// The inputs to differentiate by; empty: q, k and v, or x and its weights.
  std::vector<attention::TensorId> by;
  std::vector<Setting> settings;             ///< from the command line; override those of the file
  std::function<std::int64_t()> freeMemory;  ///< as in RunRequest
  /// As in RunRequest; counts the forward pass, and twice as much for the backward pass.
  Progress progress;
};

/// The result of `attn grad`.
struct GradientAnswer {
  /// d_q, d_x … in the order asked for, each in the shape that its input has in the file.
  std::vector<NamedArray> gradients;
  /// Where all gradients are 0 for a reason, that reason; otherwise empty.
  std::string note;
};

/// Parses "weights[0,3,2]". An error, with field "--target", for an unknown tensor or indices that are not
/// integers.
Result<GradientTarget> gradientTargetFrom(const std::string& text);
/// Parses "q,k,v". An error, with field "--wrt", for a name that is not an input.
Result<std::vector<attention::TensorId>> gradientInputsFrom(const std::string& text);

/// Gradients of the layer that a file describes, read like the input of `attn run` (see run()): either the
/// vector-Jacobian product with the file's d_output and d_weights, in the shapes of the output and weights
/// that `attn run` writes, or the gradient of one cell. For q, k and v, `output` is what `attn run` calls
/// output: [heads, rows, columns], packed [1, rows, heads · columns]. `bias` is the file's numeric mask. For
/// w_a, u_a, v_a and a mask shared by the items of a batch, gradients are summed over the items. Returns an
/// error, with a sentence, for what run() refuses, and for targets and inputs that the layer does not have.
Result<GradientAnswer> gradient(std::string text, const GradientRequest& request);
/// The same for tensors that are already in memory.
Result<GradientAnswer> gradient(TensorsFile file, const GradientRequest& request);

}  // namespace files
