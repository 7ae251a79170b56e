// `attn grad`: a file in, gradients of its attention layer out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "attention/steps/backward.h"
#include "files/attention_file.h"

namespace files {

/// One cell of a tensor of the layer, as a command line names it: "weights[0,3,2]" is head, row and column, from 0; of a
/// batch "weights[1,0,3,2]" is a cell of its second item.
struct GradientTarget {
  attention::TargetCell cell;
  std::int64_t batch = 0;
};

struct GradientRequest {
  std::optional<GradientTarget> target;          ///< none: the file has d_output, d_weights or both
  std::vector<attention::TensorId> by;           ///< inputs; none: q, k and v, or x and its weights
  std::vector<Setting> settings;                 ///< from the command line; they come after those of the file
  std::function<std::int64_t()> freeMemory;      ///< as in RunRequest
};

/// What `attn grad` answers.
struct GradientAnswer {
  std::vector<NamedArray> gradients;  ///< d_q, d_x … in the order that was asked, each with the shape that its input has in the file
  std::string note;                   ///< why all of it is 0, where that is no accident; else empty
};

/// Reads "weights[0,3,2]". Refused, in the field "--target": names of no tensor, and places that are no whole numbers.
Result<GradientTarget> gradientTargetFrom(const std::string& text);
/// Reads "q,k,v". Refused, in the field "--wrt": names of no input.
Result<std::vector<attention::TensorId>> gradientInputsFrom(const std::string& text);

/// The gradients of what a file describes, as `attn run` takes it (see run()): the vector-Jacobian product with the file's
/// d_output and d_weights, in the shapes of the output and the weights that `attn run` writes, or the gradient of one cell.
/// `output` of q, k and v is what `attn run` calls so: [heads, rows, columns], packed [1, rows, heads · columns]. `bias` is
/// the file's mask of numbers. w_a, u_a, v_a and a mask that the items of a batch share get the sum over them.
/// Refused with a sentence: what run() refuses, and gradients of or by what the layer does not have.
Result<GradientAnswer> gradient(std::string text, const GradientRequest& request);
/// The same of tensors that have been read.
Result<GradientAnswer> gradient(TensorsFile file, const GradientRequest& request);

}  // namespace files
