// `attn run`: a file in, the tensors of its attention layer out.
#pragma once

#include <string>
#include <vector>

#include "attention/kernels/kernels.h"
#include "files/tensors_json.h"

namespace files {

/// What may be asked for. The scores are those of DESIGN §5, in its order; as ONNX's Attention numbers them in
/// qk_matmul_output_mode: 0 scores, 1 softcapped, 2 masked, 3 weights. (Opsets 23 and 24 as first published put the mask
/// before the soft cap, and called the masked scores 1; onnx/onnx#7867 corrected both.)
/// Then the past and new keys and values together, the block and its parameters, both levels of hierarchical attention.
using OutputId = attention::TensorId;
std::vector<OutputId> outputIds();

struct RunRequest {
  std::vector<OutputId> outputs{OutputId::output};
  std::vector<Setting> settings;  ///< from the command line; they come after those of the file
  std::optional<attention::kernels::Kernel> kernel;  ///< none: the fastest
  int threads = 0;                ///< 0: as many as the processor has cores
  std::function<std::int64_t()> freeMemory;  ///< bytes that may be taken at the moment; 0, or no function: not known
};

/// Computes what a file describes: a state, or x with its weights, as the board does; q, k and v as ONNX's operator
/// Attention does (opsets 23 to 25, in float32). Tensors have the rank of the file's: [L, d], [H, L, d] or [B, H, L, d];
/// in the packed layout the output is packed too, and scores, weights and present_* have their heads in front, [B, H, …].
/// What is around the layer is [L, …] or [B, L, …] and computed as the board does: of q, k and v, the heads of q side by
/// side stand for x. Its parameters are [rows, columns], those of the file or as their seeds make them.
/// Refused with a sentence: all that readTensorsFile() and document::fromText() refuse, options that are unknown or do not
/// fit, shapes that do not fit each other, and more memory than there is. Errors of settings and of the kernel have a field
/// that begins with "--".
Result<std::vector<NamedArray>> run(std::string text, const RunRequest& request);
/// The same of tensors that have been read; file.isState must be false.
Result<std::vector<NamedArray>> run(TensorsFile file, const RunRequest& request);

}  // namespace files
