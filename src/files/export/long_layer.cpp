#include "files/export/long_layer.h"

#include <algorithm>
#include <cstring>

#include "base/sentence.h"
#include "document/option.h"
#include "files/export/figure_weights.h"
#include "files/layout/attention_problem.h"
#include "files/layout/match.h"
#include "files/run/attention_file.h"
#include "files/run/attention_limits.h"

namespace files {
namespace {

using attention::TensorId;
using ErrorKind = Error::Kind;

constexpr int kWhole = 1024;  ///< tokens of a layer that is drawn from a board, whole

const Stored* find(const StoredFile& file, std::string_view prefix, std::string_view name) {
  const std::string full = prefix.empty() ? std::string(name) : base::joined({prefix, ".", name});
  for (const Stored& tensor : file.tensors)
    if (tensor.name == full) return &tensor;
  return nullptr;
}

using Tokens = FigureOptions::Tokens;

/// The number of rows, or of columns, of a matrix or of several.
int sizeOf(const Stored& tensor, std::size_t fromEnd) {
  const std::size_t rank = tensor.shape.size();
  return rank < 2 ? 0
                  : static_cast<int>(
                        std::min<std::int64_t>(tensor.shape[rank - fromEnd], attention::Limits::longest));
}

/// Which weights of a layer are drawn.
struct Shown {
  Tokens heads;
  std::array<Tokens, 2> tokens;  ///< queries and keys
  std::array<std::vector<std::string>, 2> labels;
  int base = 0;  ///< the number of the first token

  /// "[..., heads, queries, keys]" of a tensor of at least so many axes; those of one head may have no axis
  /// for heads.
  Excerpt excerpt(std::size_t rank) const {
    Excerpt out;
    out.rest = 0;
    if (rank > 2) out.axes.push_back({heads.first, heads.end, false});
    for (const Tokens& range : tokens) out.axes.push_back({range.first, range.end, false});
    return out;
  }
  /// Those of the tokens that are drawn.
  std::vector<std::string> labelsOf(std::size_t kind) const {
    std::vector<std::string> out;
    const std::vector<std::string>& all = labels[kind].empty() ? labels[0] : labels[kind];
    for (int i = tokens[kind].first; i < tokens[kind].end; ++i)
      out.push_back(all.empty()                                ? std::to_string(i + base)
                    : static_cast<std::size_t>(i) < all.size() ? all[static_cast<std::size_t>(i)]
                                                               : "");
    return out;
  }
};

Result<Shown> shownOf(const FigureOptions& options, int heads, int queries, int keys,
                      std::array<std::vector<std::string>, 2> labels) {
  if (auto ok = checkHead(options, heads); !ok) return ok.error();
  const bool isAll = options.what == FigureOptions::What::heads;
  const auto tokens = shownTokens(options, queries, keys, !labels[1].empty());
  if (!tokens) return tokens.error();
  const int most = std::max((*tokens)[0].end - (*tokens)[0].first, (*tokens)[1].end - (*tokens)[1].first);
  if (most > kLongestFigure)
    return base::refuse(ErrorKind::range, "tokens",
                        {most, " are too many for a figure; name at most ", kLongestFigure,
                         " of them, as in --tokens 0:", kLongestFigure, "."})
        .error();
  return Shown{isAll ? Tokens{0, heads} : Tokens{options.head, options.head + 1}, *tokens, std::move(labels),
               options.base};
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

/// What is drawn, of arrays that hold nothing else.
Result<StateTensors> drawn(const std::vector<NamedArray>& arrays, const Shown& shown, int number) {
  StateTensors out;
  out.labels = shown.labelsOf(0), out.keyLabels = shown.labelsOf(1);
  out.isNumbered = shown.labels[0].empty(), out.firstHead = shown.heads.first;
  out.weightScale = document::WeightScale::fourthRoot;  // of all tokens, of which some are drawn
  for (const NamedArray& array : arrays) {
    Result<StateTensor> one = entryOf(array.name, array.shape, array.values, number);
    if (!one) return one.error();
    out.tensors.push_back(std::move(*one));
  }
  return out;
}

Result<StateTensors> givenWeights(const StoredFile& file, const Stored& weights, const FigureOptions& options,
                                  int number) {
  std::array<std::vector<std::string>, 2> labels;
  for (const char* const name : {"tokens", "labels"})
    if (const Stored* const found = find(file, "", name)) labels[0] = found->texts;
  const Result<Shown> shown = shownOf(options, weights.shape.size() > 2 ? sizeOf(weights, 3) : 1,
                                      sizeOf(weights, 2), sizeOf(weights, 1), std::move(labels));
  if (!shown) return shown.error();
  Result<Array> array = arrayOf(weights);
  if (!array) return array.error();
  const auto excerpt = settled(shown->excerpt(array->shape.size()), array->shape, "tokens");
  if (!excerpt) return excerpt.error();
  const bool isOfLayers = array->shape.size() > 3;
  Result<StateTensors> out =
      drawn({cut({"weights", std::move(array->shape), std::move(array->values)}, *excerpt)}, *shown, number);
  if (out) out->shown = number, out->isOfLayers = isOfLayers;
  return out;
}

Result<StateTensors> computedWeights(StoredFile file, const Entry& entry, const FigureOptions& options) {
  Result<TensorsFile> layer = tensorsOf(std::move(file), entry.prefix);
  if (!layer) return layer.error();
  const Result<layer::Problem> problem = layer::problemOf(*layer, {});
  if (!problem) return problem.error();
  std::array<std::vector<std::string>, 2> labels;
  if (layer->labels) labels[0] = document::labelsOf(*layer->labels);
  if (layer->keyLabels) labels[1] = document::labelsOf(*layer->keyLabels);
  const Result<Shown> shown =
      shownOf(options, static_cast<int>(problem->q.heads), static_cast<int>(problem->q.rows),
              static_cast<int>(problem->keys()), std::move(labels));
  if (!shown) return shown.error();
  RunRequest request;
  request.outputs = {TensorId::weights, TensorId::masked};
  request.excerpts.assign(2, shown->excerpt(layer::outputShape(TensorId::weights, *problem).size()));
  const auto results = run(std::move(*layer), request);
  if (!results) return results.error();
  return drawn(*results, *shown, entry.number);
}

}  // namespace

std::optional<Result<StateTensors>> longLayer(const StoredFile& file, const Entry& entry,
                                              const FigureOptions& options) {
  const Stored *const weights = find(file, entry.prefix, "weights"), *const q = find(file, entry.prefix, "q");
  if (!weights && !q) return std::nullopt;
  const int length = weights ? std::max(sizeOf(*weights, 2), sizeOf(*weights, 1)) : sizeOf(*q, 2);
  if (length <= kWhole) return std::nullopt;
  return weights ? givenWeights(file, *weights, options, entry.number)
                 : computedWeights(file, entry, options);
}

}  // namespace files
