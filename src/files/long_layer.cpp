#include "files/long_layer.h"

#include <algorithm>
#include <cstring>

#include "base/sentence.h"
#include "document/option.h"
#include "files/attention_file.h"
#include "files/match.h"

namespace files {
namespace {

using attention::TensorId;
using ErrorKind = Error::Kind;

const Stored* find(const StoredFile& file, std::string_view prefix, std::string_view name) {
  const std::string full = prefix.empty() ? std::string(name) : base::joined({prefix, ".", name});
  for (const Stored& tensor : file.tensors)
    if (tensor.name == full) return &tensor;
  return nullptr;
}

/// How many tokens the tensor has: of q rows, of weights the more of rows and columns.
std::int64_t lengthOf(const Stored& tensor, bool isWeights) {
  const std::size_t rank = tensor.shape.size();
  if (rank < 2) return 0;
  return isWeights ? std::max(tensor.shape[rank - 2], tensor.shape[rank - 1]) : tensor.shape[rank - 2];
}

/// The entry of a tensor [heads, rows, columns] or [entries, heads, rows, columns].
Result<StateTensor> entryOf(std::string name, Shape shape, const std::vector<float>& values, int number) {
  while (shape.size() < 3) shape.insert(shape.begin(), 1);
  const std::int64_t entries = shape.size() > 3 ? shape[shape.size() - 4] : 1;
  if (number < 0 || number >= entries)
    return base::refuse(ErrorKind::range, "layer",
                        {number, " is not one of ", entries, " layers, which are counted from 0."})
        .error();
  StateTensor out;
  out.name = std::move(name);
  out.shape = {shape.end() - 3, shape.end()};
  const std::size_t size = values.size() / static_cast<std::size_t>(entries);
  out.bytes.resize(size * sizeof(float));
  std::memcpy(out.bytes.data(), values.data() + static_cast<std::size_t>(number) * size, out.bytes.size());
  return out;
}

Result<StateTensors> givenWeights(const StoredFile& file, const Stored& weights, int number) {
  const Result<Array> array = arrayOf(weights, false);
  if (!array) return array.error();
  Result<StateTensor> one = entryOf("weights", array->shape, array->values, number);
  if (!one) return one.error();
  StateTensors out;
  out.shown = number, out.isOfLayers = array->shape.size() > 3;
  out.tensors.push_back(std::move(*one));
  for (const char* const name : {"tokens", "labels"})
    if (const Stored* const labels = find(file, "", name)) out.labels = labels->texts;
  return out;
}

Result<StateTensors> computedWeights(StoredFile file, const Entry& entry) {
  Result<TensorsFile> layer = tensorsOf(std::move(file), entry.prefix);
  if (!layer) return layer.error();
  StateTensors out;
  if (layer->labels) out.labels = document::labelsOf(*layer->labels);
  if (layer->keyLabels) out.keyLabels = document::labelsOf(*layer->keyLabels);
  RunRequest request;
  request.outputs = {TensorId::weights, TensorId::masked};
  const auto results = run(std::move(*layer), request);
  if (!results) return results.error();
  for (const NamedArray& array : *results) {
    Result<StateTensor> one = entryOf(array.name, array.shape, array.values, entry.number);
    if (!one) return one.error();
    out.tensors.push_back(std::move(*one));
  }
  return out;
}

}  // namespace

std::optional<Result<StateTensors>> longLayer(const StoredFile& file, const Entry& entry) {
  const Stored *const weights = find(file, entry.prefix, "weights"), *const q = find(file, entry.prefix, "q");
  if (!weights && !q) return std::nullopt;
  const std::int64_t length = weights ? lengthOf(*weights, true) : lengthOf(*q, false);
  if (length <= attention::Limits::tokens) return std::nullopt;
  if (length > kLongestFigure)
    return Result<StateTensors>(
        base::refuse(ErrorKind::range, "tokens",
                     {length, " are too many for a figure; use at most ", kLongestFigure, "."})
            .error());
  Result<StateTensors> found =
      weights ? givenWeights(file, *weights, entry.number) : computedWeights(file, entry);
  if (found) found->weightScale = document::WeightScale::root;
  return found;
}

}  // namespace files
