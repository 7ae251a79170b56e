#include "files/export/figure_weights.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "base/sentence.h"

namespace files {
namespace {

using ErrorKind = Error::Kind;
using Pool = FigureOptions::Pool;
using Tokens = FigureOptions::Tokens;

const StateTensor* find(const StateTensors& tensors, std::string_view name) {
  for (const StateTensor& one : tensors.tensors)
    if (one.name == name) return &one;
  return nullptr;
}

/// Marks keys that a query does not see: their scores are −∞.
void takeHidden(FigureWeights& w, const StateTensors& tensors, std::size_t from) {
  const StateTensor* const masked = find(tensors, "masked");
  if (!masked || masked->bytes.size() < from + w.values.size() * sizeof(float)) return;
  w.hidden.resize(w.values.size());
  for (std::size_t i = 0; i < w.values.size(); ++i) {
    float score = 0;
    std::memcpy(&score, masked->bytes.data() + from + i * sizeof score, sizeof score);
    w.hidden[i] = std::isinf(score) && score < 0 && w.values[i] == 0;
  }
}

Result<FigureWeights> wholeOf(const StateTensors& tensors, const FigureOptions& options) {
  const StateTensor* const found = find(tensors, "weights");
  if (!found || found->shape.size() < 3)
    return base::refuse(ErrorKind::range, "weights", {"there are none to draw."});
  FigureWeights w;
  const std::size_t rank = found->shape.size();
  w.heads = static_cast<int>(found->shape[rank - 3]), w.rows = static_cast<int>(found->shape[rank - 2]),
  w.cols = static_cast<int>(found->shape[rank - 1]);
  w.firstHead = tensors.firstHead;
  w.values.resize(static_cast<std::size_t>(w.heads) * static_cast<std::size_t>(w.rows) *
                  static_cast<std::size_t>(w.cols));
  const std::size_t size = w.values.size() * sizeof(float),
                    from = rank > 3 && tensors.shown > 0 ? static_cast<std::size_t>(tensors.shown) * size : 0;
  if (found->bytes.size() < from + size)
    return base::refuse(ErrorKind::range, "weights", {"they are not whole."});
  std::memcpy(w.values.data(), found->bytes.data() + from, size);
  takeHidden(w, tensors, from);
  w.queries = tensors.labels, w.keys = tensors.keyLabels.empty() ? tensors.labels : tensors.keyLabels;
  w.queries.resize(static_cast<std::size_t>(w.rows)), w.keys.resize(static_cast<std::size_t>(w.cols));
  if (const StateTensor* q = find(tensors, "q"); q && !q->shape.empty())
    w.columns = static_cast<int>(q->shape.back());
  w.scale = document::shownScale(options.weightScale.value_or(tensors.weightScale), w.cols);
  return w;
}

/// Of these queries and keys; both ranges are within.
FigureWeights windowOf(const FigureWeights& all, const Tokens& queries, const Tokens& keys) {
  FigureWeights w = all;
  w.rows = queries.end - queries.first, w.cols = keys.end - keys.first;
  w.queries.assign(all.queries.begin() + queries.first, all.queries.begin() + queries.end);
  w.keys.assign(all.keys.begin() + keys.first, all.keys.begin() + keys.end);
  w.values.clear(), w.hidden.clear();
  for (int h = w.firstHead; h < w.firstHead + w.heads; ++h)
    for (int i = 0; i < w.rows; ++i)
      for (int j = 0; j < w.cols; ++j) {
        const std::size_t from = all.place(h, i + queries.first, j + keys.first);
        w.values.push_back(all.values[from]);
        if (!all.hidden.empty()) w.hidden.push_back(all.hidden[from]);
      }
  return w;
}

/// The range with its end in place of −1; an error if there are not that many tokens.
Result<Tokens> within(Tokens asked, int count, std::string_view what, int base) {
  if (asked.end < 0) asked.end = count;
  if (asked.first < asked.end && asked.end <= count) return asked;
  return base::refuse(ErrorKind::range, "tokens",
                      {asked.first + base, ":", asked.end + base, " is not within the ", count, " ", what,
                       "; give ", base, ":", count + base, " or a part of it."});
}

}  // namespace

double FigureWeights::rowSum(int head, int row) const {
  double sum = 0;
  for (int j = 0; j < cols; ++j) sum += static_cast<double>(at(head, row, j));
  return sum;
}

double FigureWeights::rowMaximum(int head, int row) const {
  double most = 0;
  for (int j = 0; j < cols; ++j) most = std::max(most, std::abs(static_cast<double>(at(head, row, j))));
  return most;
}

Result<void> checkHead(const FigureOptions& options, int heads) {
  if (options.head < heads) return {};
  return base::refuse(ErrorKind::range, "head",
                      {options.head + options.typed, " is not one of ", heads,
                       heads == 1 ? " head; use " : " heads, which are counted from ", options.typed, "."});
}

Result<std::array<Tokens, 2>> shownTokens(const FigureOptions& options, int queries, int keys, bool isCross) {
  if (options.hasOneRange && isCross)
    return base::refuse(ErrorKind::range, "tokens",
                        {"keys are another sequence than queries; give the range of each, as in 0:", queries,
                         ",0:", keys, "."})
        .error();
  const auto ofQueries = within(options.queries, queries, "queries", options.typed),
             ofKeys = within(options.keys, keys, "keys", options.typed);
  if (!ofQueries) return ofQueries.error();
  if (!ofKeys) return ofKeys.error();
  return std::array{*ofQueries, *ofKeys};
}

Result<FigureWeights> figureWeights(const StateTensors& tensors, const FigureOptions& options) {
  Result<FigureWeights> w = wholeOf(tensors, options);
  if (!w || (options.queries.isAll() && options.keys.isAll())) return w;
  const auto tokens = shownTokens(options, w->rows, w->cols, !tensors.keyLabels.empty());
  if (!tokens) return tokens.error();
  return windowOf(*w, (*tokens)[0], (*tokens)[1]);
}

FigureWeights pooled(const FigureWeights& all, int block, Pool kind) {
  FigureWeights w = all;
  w.block = block, w.rows = (all.rows + block - 1) / block, w.cols = (all.cols + block - 1) / block;
  const auto firstOf = [block](std::vector<std::string>& labels) {
    std::vector<std::string> kept;
    for (std::size_t i = 0; i < labels.size(); i += static_cast<std::size_t>(block))
      kept.push_back(labels[i]);
    labels = std::move(kept);
  };
  firstOf(w.queries), firstOf(w.keys);
  const std::size_t count =
      static_cast<std::size_t>(w.heads) * static_cast<std::size_t>(w.rows) * static_cast<std::size_t>(w.cols);
  w.values.assign(count, 0), w.hidden.assign(all.hidden.empty() ? 0 : count, 1);
  std::vector<int> seen(count);
  for (int h = all.firstHead; h < all.firstHead + all.heads; ++h)
    for (int i = 0; i < all.rows; ++i)
      for (int j = 0; j < all.cols; ++j) {
        if (all.isHidden(h, i, j)) continue;
        const std::size_t to = w.place(h, i / block, j / block);
        const float weight = all.at(h, i, j);
        float& value = w.values[to];
        value = kind == Pool::mean ? value + weight : seen[to] == 0 ? weight : std::max(value, weight);
        ++seen[to];
        if (!w.hidden.empty()) w.hidden[to] = 0;
      }
  if (kind == Pool::mean)
    for (std::size_t i = 0; i < count; ++i) w.values[i] /= static_cast<float>(std::max(1, seen[i]));
  return w;
}

}  // namespace files
