// The layer for q, k and v that a file describes: its tensors and options, checked against each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "attention/layer/spec.h"
#include "document/derived.h"
#include "files/layout/attention_options.h"

namespace files::layer {

inline constexpr std::int64_t kMostCount = std::int64_t{1} << 60;  ///< products of sizes are limited to this
std::int64_t times(std::int64_t a, std::int64_t b);
std::int64_t countOf(const Shape& shape);  ///< the product of the sizes

/// The four sizes of a tensor, and the strides of its axes in floats.
struct View {
  std::int64_t batch = 1, heads = 1, rows = 0, columns = 0;
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;
};

/// Heads one after the other: [B, H, L, d].
View splitView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns);
/// Heads side by side in the columns: [B, L, H·d].
View packedView(std::int64_t batch, std::int64_t heads, std::int64_t rows, std::int64_t columns);

/// A problem whose sizes are known to match.
struct Problem {
  Options options;
  std::size_t rank = 0;  ///< of q, k and v in the file
  View q, k, v;          ///< k and v without past keys, which precede them
  std::int64_t past = 0;
  bool hasPast = false;  ///< the file contains past keys, possibly 0 of them
  std::int64_t keys() const { return past + k.rows; }
};

/// The problem described by the q, k and v of a file and the settings of a command line. An error, with a
/// sentence, for unknown options and shapes that do not match.
Result<Problem> problemOf(const TensorsFile& file, std::span<const Setting> settings);
/// Parses the options of a file, then those of a command line.
Result<void> readOptions(const TensorsFile& file, std::span<const Setting> settings, Options& options);
/// Checks mask and key lengths, once the sizes of the problem are known.
Result<void> checkMasks(const TensorsFile& file, const Problem& problem);
/// The options of the layer as settings of the board, with the sizes of the file.
document::Settings settingsOf(const Problem& problem);
/// The number of keys of a batch item that are not padding; -1: all.
int keyLength(const TensorsFile& file, const Problem& problem, std::int64_t batch);
/// The position of the first query: after the past keys, or otherwise such that the last query is at the last
/// key that is not padding.
int firstPosition(const TensorsFile& file, const Problem& problem, std::int64_t batch);
/// An error for queries before the first key, if any step of the layer depends on positions.
Result<void> checkPosition(const TensorsFile& file, const Problem& problem, const attention::Spec& spec,
                           std::int64_t batch);
/// Does any step depend on the position of a query?
bool isOrdered(const attention::Spec& spec);

/// What the board computes for an item of the batch, where `settings` are those of the problem.
attention::Spec specOf(const TensorsFile& file, const Problem& problem, const document::Settings& settings,
                       std::int64_t batch);

/// Converts an array to a tensor, with one matrix per head, or a single matrix.
attention::Tensor tensorOf(const Array& array);
/// Past and new keys (or values) of one batch item, one after the other, divided into heads.
attention::Tensor headsOf(const std::vector<float>& values, const View& view, std::int64_t batch,
                          const Array* past = nullptr, std::int64_t pastRows = 0);
/// Copies w_a, u_a, v_a and the parameters around the layer from the file into a state that has its settings.
/// Those that are not given have their initial values on the board.
Result<void> readWeights(const TensorsFile& file, document::State& state);

/// A mask with a column for every key: [batch or 1, heads or 1, queries or 1, keys]. Only one of the lists is
/// used.
struct Mask {
  std::ptrdiff_t batchStride = 0, headStride = 0, rowStride = 0;  ///< 0 where shared
  std::vector<std::uint8_t> blocked;
  std::vector<float> bias;
};

/// Is the mask boolean, rather than numbers to be added to the scores?
bool isPainted(const Array& mask);

/// The numeric mask of a batch item; one head if all heads share it; empty if there is none.
attention::Tensor biasOf(const Mask& mask, const Problem& problem, std::int64_t batch);
/// The boolean mask of a batch item, of its first head; empty if the mask is numeric.
attention::PaintedMask paintedOf(const Mask& mask, const Problem& problem, std::int64_t batch);

/// The mask of a file with the strides and all columns of a Mask; keys beyond the columns in the file are
/// masked.
Mask maskOf(Array array, const Problem& problem);

}  // namespace files::layer
