// `attn run`: computes the tensors of the attention layer in a file.
#pragma once

#include <string>
#include <vector>

#include "attention/kernels/kernels.h"
#include "files/layout/tensors_file.h"
#include "files/run/excerpt.h"
#include "files/run/work.h"

namespace files {

/// The tensors that can be asked for. Scores come in the order in which they are computed. ONNX's Attention
/// numbers them in qk_matmul_output_mode: 0 scores, 1 softcapped, 2 masked, 3 weights. (Opsets 23 and 24 as
/// first published applied the mask before the soft cap, and gave the masked scores number 1; onnx/onnx#7867
/// corrected both.) Further: past and new keys and values together, the block and its parameters, both levels
/// of hierarchical attention.
using OutputId = attention::TensorId;
std::vector<OutputId> outputIds();

struct RunRequest {
  std::vector<OutputId> outputs{OutputId::output};
  /// The part of each output that is wanted; all of it where there is none. Of scores, weights and outputs
  /// that the kernels compute nothing else is held in memory.
  std::vector<Excerpt> excerpts;
  /// > 0: of each row of weights only so many, the largest, as `weights` and, with the indices of their keys,
  /// `weights_keys`. There are as many keys as that.
  int top = 0;
  std::vector<Setting> settings;                     ///< from the command line; override those of the file
  std::optional<attention::kernels::Kernel> kernel;  ///< empty: the fastest
  int threads = 0;                                   ///< 0: the number of processor cores
  /// Called as the layer is computed, every second or so unless it has very long rows; may be empty.
  Progress progress;
  std::function<std::int64_t()> freeMemory;  ///< bytes available at the moment; 0, or no function: unknown
};

/// Computes what a file describes: a state, or x with its weights, as the board does; or q, k and v as ONNX's
/// operator Attention does (opsets 23 to 25, in float32). Tensors have the rank of those in the file: [L, d],
/// [H, L, d] or [B, H, L, d]. With the packed layout the output is packed too, while scores, weights and
/// present_* have a separate axis of heads, [B, H, …]. The block and hierarchical attention give [L, …] or
/// [B, L, …], computed as on the board; where q, k and v are inputs, the heads of q side by side take the
/// place of x. Their parameters are [rows, columns], from the file or drawn from their seeds. Returns an
/// error, with a sentence, for everything that readTensorsFile() and document::fromText() refuse, unknown or
/// unsuitable options, shapes that do not match, and more memory than there is. Errors of settings and of the
/// kernel have a field that begins with "--".
Result<std::vector<NamedArray>> run(std::string text, const RunRequest& request);
/// The same for tensors that are already in memory; file.isState must be false.
Result<std::vector<NamedArray>> run(TensorsFile file, const RunRequest& request);

}  // namespace files
