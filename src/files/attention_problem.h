// What `attn run` computes of q, k and v: tensors and options of a file, known to fit each other and the memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/layer/spec.h"
#include "document/derived.h"
#include "files/attention_file.h"
#include "files/attention_options.h"

namespace files::layer {

using Shape = std::vector<std::int64_t>;
std::int64_t countOf(const Shape& shape);  ///< the product of the sizes, 2^60 at most

bool isDerived(OutputId id);  ///< is it the block's or the segments'?

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
  bool hasPast = false;  ///< past keys were given, be it none of them
  std::int64_t keys() const { return past + k.rows; }
};

/// The problem that a file with q, k and v and the settings of a command line describe. Refused, with a sentence: options
/// that are unknown, and shapes that do not fit each other.
Result<Problem> problemOf(const TensorsFile& file, std::span<const Setting> settings);
/// The options of a file, and then those of a command line.
Result<void> readOptions(const TensorsFile& file, std::span<const Setting> settings, Options& options);
/// Do the mask and the key lengths fit? For a problem that has its sizes.
Result<void> checkMasks(const TensorsFile& file, const Problem& problem);
/// Can attn compute it: options, sizes and memory?
Result<void> checkRun(const TensorsFile& file, const Problem& problem, const RunRequest& request);
/// Is there memory for the trace of a state?
Result<void> checkMemory(const attention::Spec& spec, const RunRequest& request);

/// Is the layer one that the kernels do not compute at a stretch, but the board's engine does, with all its steps? The
/// block and the segments read those.
bool isTraced(const Options& options, const RunRequest& request);
/// What the options say of the layer, with the sizes of the file.
document::Settings settingsOf(const Problem& problem);
Shape outputShape(OutputId id, const Problem& problem);  ///< in the rank of the file

/// Keys of a batch that are no padding; -1: all.
int keyLength(const TensorsFile& file, const Problem& problem, std::int64_t batch);
/// The position of the first query: after the past, or else so that the last query is the last key that counts.
int firstPosition(const TensorsFile& file, const Problem& problem, std::int64_t batch);
/// Queries before the first key have no place in what counts from it.
Result<void> checkPosition(const TensorsFile& file, const Problem& problem, const attention::Spec& spec, std::int64_t batch);
/// Does any step count from the position of a query?
bool isOrdered(const attention::Spec& spec);

/// A matrix for each head, or the one of a single head.
attention::Tensor tensorOf(const Array& array);
/// Past and new keys (or values) of one batch, one after the other, as heads.
attention::Tensor headsOf(const std::vector<float>& values, const View& view, std::int64_t batch, const Array* past = nullptr,
                          std::int64_t pastRows = 0);
/// What the file says of w_a, u_a, v_a and of what stands around the layer, into a state with its settings. What is not
/// given is as it starts on the board.
Result<void> readWeights(const TensorsFile& file, document::State& state);

/// A mask with a column for every key: [batch or 1, heads or 1, queries or 1, keys].
struct Mask {
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;  ///< 0 where shared
  std::vector<std::uint8_t> blocked;
  std::vector<float> bias;
};

/// Cells that are painted over, rather than numbers that are added to scores.
bool isPainted(const Array& mask);

/// The mask of a batch as numbers to be added, for one head where all share it; empty where there is none.
attention::Tensor biasOf(const Mask& mask, const Problem& problem, std::int64_t batch);
/// The mask of a batch as cells, those of its first head; empty where it is of numbers.
attention::PaintedMask paintedOf(const Mask& mask, const Problem& problem, std::int64_t batch);

/// The mask of a file, with the strides and all the columns of a Mask; keys beyond the file's columns are not seen.
Mask maskOf(Array array, const Problem& problem);

}  // namespace files::layer
