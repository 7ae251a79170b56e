// What `attn run` computes of q, k and v: tensors and options of a file, known to fit each other and the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "attention/spec.h"
#include "document/around.h"
#include "files/attention_file.h"
#include "files/attention_options.h"

namespace files::layer {

using Shape = std::vector<std::int64_t>;
std::int64_t countOf(const Shape& shape);  ///< the product of the sizes, 2^60 at most

bool isAround(OutputId id);                ///< is it the block's or the segments'?
document::AroundId aroundOf(OutputId id);  ///< of one that isAround()

/// Sizes of a tensor with all axes, and how far apart its parts lie, in floats.
struct View {
  std::int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;
};

/// Heads one after the other.
View splitView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns);
/// Heads side by side in the columns.
View packedView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns);

/// What is computed: the sizes of everything, known to fit each other.
struct Problem {
  Options options;
  std::size_t rank = 0;  ///< of q, k and v in the file
  View q, k, v;          ///< of the new keys; past ones come before
  std::int64_t past = 0;
  std::int64_t keys() const { return past + k.rows; }
};

/// The problem that a file and the settings of a request describe. Refused, with a sentence: what files::run() refuses of
/// tensors files.
Result<Problem> problemOf(const TensorsFile& file, const RunRequest& request);
/// Is there memory for the trace of a state?
Check checkMemory(const attention::Spec& spec, const RunRequest& request);

/// Is the layer one that the kernels do not compute at a stretch, but the board's engine does, with all its steps? The
/// block and the segments read those.
bool isTraced(const Options& options, const RunRequest& request);
/// What the options say of the layer, with the sizes of the file.
document::Settings settingsOf(const Problem& problem);
Shape outputShape(OutputId id, const Problem& problem);  ///< in the rank of the file

/// A mask with a column for every key: [batch or 1, heads or 1, queries or 1, keys].
struct Mask {
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;  ///< 0 where shared
  std::vector<std::uint8_t> blocked;
  std::vector<float> bias;
};

/// The mask of a file, with the strides and all the columns of a Mask; keys beyond the file's columns are not seen.
Mask maskOf(Array array, const Problem& problem);

}  // namespace files::layer
