#include "document/resize.h"

#include <algorithm>

#include "attention/draws.h"
#include "document/sentence.h"

namespace document {
namespace {

constexpr TensorId kTokenRows[] = {TensorId::x, TensorId::q, TensorId::k, TensorId::v};

Tensor withRowsInserted(const Tensor& old, const Axis& cols, const SeededCells& cells, int at, int count) {
  Tensor out(old.heads(), old.rows() + count, old.cols());
  for (int h = 0; h < out.heads(); ++h) {
    for (int r = 0; r < out.rows(); ++r) {
      if (r < at) std::copy_n(old.row(h, r), old.cols(), out.row(h, r));
      if (r >= at + count) std::copy_n(old.row(h, r - count), old.cols(), out.row(h, r));
      if (r < at || r >= at + count) continue;
      // The number of a new row is that of a token at the end, wherever it is put: two new ones are never
      // alike.
      const auto number = static_cast<std::uint32_t>(old.rows() + r - at);
      for (int c = 0; c < out.cols(); ++c)
        out.at(h, r, c) = cells.at(static_cast<std::uint32_t>(h), number, cols.place(c));
    }
  }
  return out;
}

Tensor withRowsRemoved(const Tensor& old, int at, int count) {
  Tensor out(old.heads(), old.rows() - count, old.cols());
  for (int h = 0; h < out.heads(); ++h)
    for (int r = 0; r < out.rows(); ++r)
      std::copy_n(old.row(h, r < at ? r : r + count), old.cols(), out.row(h, r));
  return out;
}

// `from[i]` is the old token at the new place i, or -1 for a new one.
PaintedMask rearranged(const PaintedMask& old, const std::vector<int>& from) {
  if (old.empty()) return {};
  PaintedMask out{static_cast<int>(from.size()), static_cast<int>(from.size()), {}};
  out.blocked.reserve(from.size() * from.size());
  for (const int row : from)
    for (const int col : from) out.blocked.push_back(row >= 0 && col >= 0 && old.isBlocked(row, col) ? 1 : 0);
  tidyMask(out);
  return out;
}

// Where place i of the new axis was on the old one, or -1.
int oldIndex(const Axis& before, const Axis& after, int i) {
  const int within = i % after.size;
  return within < before.size ? i / after.size * before.size + within : -1;
}

void fit(Tensor& tensor, const Axes& before, const Axes& after, const SeededCells& cells) {
  Tensor out(after.heads, after.rows.count(), after.cols.count());
  for (int h = 0; h < out.heads(); ++h) {
    for (int r = 0; r < out.rows(); ++r) {
      const int oldRow = oldIndex(before.rows, after.rows, r);
      for (int c = 0; c < out.cols(); ++c) {
        const int oldCol = oldIndex(before.cols, after.cols, c);
        out.at(h, r, c) = oldRow >= 0 && oldCol >= 0 ? tensor.at(h, oldRow, oldCol)
                                                     : cells.at(static_cast<std::uint32_t>(h),
                                                                after.rows.place(r), after.cols.place(c));
      }
    }
  }
  tensor = std::move(out);
}

Tensor regrouped(const Tensor& old, int heads) {
  const int width = old.heads() * old.cols(), headDim = width / heads;
  Tensor out(heads, old.rows(), headDim);
  for (int r = 0; r < old.rows(); ++r)
    for (int c = 0; c < width; ++c)
      out.at(c / headDim, r, c % headDim) = old.at(c / old.cols(), r, c % old.cols());
  return out;
}

}  // namespace

SeededCells::SeededCells(std::uint32_t seed, TensorId tensor)
    : state_(attention::mix(static_cast<std::uint64_t>(seed) << 8 | static_cast<std::uint64_t>(tensor))) {}

float SeededCells::at(std::uint32_t head, std::uint32_t row, std::uint32_t col) const {
  const std::uint64_t place = static_cast<std::uint64_t>(row) << 32 | col;
  const std::int64_t sum = attention::normalSum(attention::mix(attention::mix(state_ ^ head) ^ place));
  const std::int64_t half = sum < 0 ? -attention::kNormalUnit / 2 : attention::kNormalUnit / 2;
  return static_cast<float>((sum * 100 + half) / attention::kNormalUnit) / 100.0f;
}

Axes axes(const State& state, TensorId id) {
  const Axis tokens{1, state.tokens}, model{1, state.modelDim}, width{state.heads, state.headDim};
  switch (id) {
    case TensorId::x:
      return {1, tokens, model};
    case TensorId::w_q:
    case TensorId::w_k:
    case TensorId::w_v:
      return {1, model, width};
    case TensorId::w_o:
      return {1, width, model};
    default:
      return {state.heads, tokens, {1, state.headDim}};
  }
}

void fillSeeded(State& state, TensorId id) {
  const Axes shape = axes(state, id);
  const SeededCells cells(state.seed, id);
  Tensor& tensor = *input(state, id);
  tensor.reshape(shape.heads, shape.rows.count(), shape.cols.count());
  for (int h = 0; h < tensor.heads(); ++h)
    for (int r = 0; r < tensor.rows(); ++r)
      for (int c = 0; c < tensor.cols(); ++c)
        tensor.at(h, r, c) =
            cells.at(static_cast<std::uint32_t>(h), shape.rows.place(r), shape.cols.place(c));
}

void resize(State& state, int headDim, int modelDim) {
  State after;  // only its sizes are used
  after.tokens = state.tokens, after.heads = state.heads;
  after.headDim = headDim, after.modelDim = modelDim;
  for (const TensorId id : inputIds())
    fit(*input(state, id), axes(state, id), axes(after, id), SeededCells(state.seed, id));
  state.headDim = headDim, state.modelDim = modelDim;
}

void regroup(State& state, int heads) {
  for (Tensor* tensor : {&state.q, &state.k, &state.v}) *tensor = regrouped(*tensor, heads);
  state.headDim = state.heads * state.headDim / heads;
  state.heads = heads;
  state.focusHead = std::min(state.focusHead, heads - 1);
}

void insertTokens(State& state, int at, int count) {
  std::vector<int> from;
  for (int i = 0; i < state.tokens + count; ++i) from.push_back(i < at ? i : i < at + count ? -1 : i - count);
  state.painted = rearranged(state.painted, from);
  for (const TensorId id : kTokenRows) {
    Tensor& tensor = *input(state, id);
    tensor = withRowsInserted(tensor, axes(state, id).cols, SeededCells(state.seed, id), at, count);
  }
  const std::vector<std::string> names = numberedLabels(state.tokens + 1, count);
  state.labels.insert(state.labels.begin() + at, names.begin(), names.end());
  state.tokens += count;
}

std::vector<std::string> numberedLabels(int first, int count) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i) out.push_back(joined({"t", first + i}));
  return out;
}

void removeTokens(State& state, int at, int count) {
  std::vector<int> from;
  for (int i = 0; i < state.tokens - count; ++i) from.push_back(i < at ? i : i + count);
  state.painted = rearranged(state.painted, from);
  for (const TensorId id : kTokenRows) *input(state, id) = withRowsRemoved(*input(state, id), at, count);
  state.labels.erase(state.labels.begin() + at, state.labels.begin() + at + count);
  state.tokens -= count;
}

void tidyMask(PaintedMask& mask) {
  if (std::find(mask.blocked.begin(), mask.blocked.end(), 1) == mask.blocked.end()) mask = {};
}

}  // namespace document
