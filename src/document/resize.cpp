#include "document/resize.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <utility>

#include "attention/engine/inserted_rows.h"
#include "base/sentence.h"

namespace document {
namespace {

/// The inputs of one item of the batch, wherever they are stored.
struct Item {
  int number = 0;
  std::vector<std::string>* labels = nullptr;
  std::vector<std::string>* keyLabels = nullptr;
  std::vector<std::pair<TensorId, Tensor*>> inputs;

  Tensor& at(TensorId id) const {
    return *std::find_if(inputs.begin(), inputs.end(), [&](const auto& i) { return i.first == id; })->second;
  }
};

template <class Owner>
Item itemOf(Owner& owner, std::vector<std::string>& labels, std::vector<std::string>& keyLabels, int number) {
  Item item{number, &labels, &keyLabels, {}};
  for (const TensorId id : itemInputIds()) item.inputs.emplace_back(id, input(owner, id));
  return item;
}

/// All items of the batch: the one on the board first.
std::vector<Item> items(State& state) {
  std::vector<Item> out{itemOf(state, state.labels, state.keyLabels, state.batchItem)};
  for (int i = 0; i < static_cast<int>(state.items.size()); ++i) {
    BatchItem& other = state.items[static_cast<std::size_t>(i)];
    if (i != state.batchItem) out.push_back(itemOf(other, other.labels, other.keyLabels, i));
  }
  return out;
}

/// Does the tensor have a row for each token of that side?
bool isOfSide(const Settings& settings, Side side, TensorId id) {
  if (id == TensorId::bias) return false;  // it has both sides: see moveBias()
  if (id == TensorId::x_v && !settings.separateValues) return false;
  if (!settings.cross) return id != TensorId::x_kv;
  return (id == TensorId::x || id == TensorId::q) == (side == Side::queries);
}

/// Inserts rows and columns of that side's tokens into a bias, or removes them (negative count).
void moveBias(const State& state, Tensor& bias, Side side, int at, int count) {
  if (bias.empty()) return;
  const attention::Insertion inserted{at, std::abs(count)};
  const attention::Insertion rows = !state.cross || side == Side::queries ? inserted : attention::Insertion();
  const attention::Insertion cols = !state.cross || side == Side::keys ? inserted : attention::Insertion();
  count > 0 ? attention::insertRows(bias, rows, cols) : attention::removeRows(bias, rows, cols);
}

std::vector<std::string>& labelsOf(const State& state, const Item& item, Side side) {
  return state.cross && side == Side::keys ? *item.keyLabels : *item.labels;
}

/// The source of numbers for new rows and columns of an item's tensor.
SeededCells cellsOf(const Settings& settings, TensorId id, int item, const std::vector<std::string>& labels,
                    const std::vector<std::string>& keyLabels) {
  if (!settings.sameWord) return {settings.seed, id, item};
  const bool isOfKeys = settings.cross && isOfSide(settings, Side::keys, id);
  return {settings.seed, id, isOfKeys ? keyLabels : labels};
}

SeededCells cellsOf(const Settings& settings, const Item& item, TensorId id) {
  return cellsOf(settings, id, item.number, *item.labels, *item.keyLabels);
}

Tensor withRowsInserted(const Tensor& old, const Axis& cols, const SeededCells& cells, int at, int count) {
  Tensor out;
  out.reshapeUnwritten(old.heads(), old.rows() + count, old.cols());
  for (int h = 0; h < out.heads(); ++h) {
    for (int r = 0; r < out.rows(); ++r) {
      if (r < at) std::copy_n(old.row(h, r), old.cols(), out.row(h, r));
      if (r >= at + count) std::copy_n(old.row(h, r - count), old.cols(), out.row(h, r));
      if (r < at || r >= at + count) continue;
      // A new row gets the number of a token at the end, wherever it is inserted, so that two new rows are
      // never equal, unless they are drawn from the same word.
      const auto number = static_cast<std::uint32_t>(cells.readsWords() ? r : old.rows() + r - at);
      cells.take(static_cast<std::uint32_t>(h), number, cols, out.row(h, r));
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

// `rows[i]` is the old index of the query at the new index i, or -1 for a new one; `cols` likewise for keys.
PaintedMask rearranged(const PaintedMask& old, const std::vector<int>& rows, const std::vector<int>& cols) {
  if (old.empty()) return {};
  PaintedMask out{static_cast<int>(rows.size()), static_cast<int>(cols.size()), {}};
  out.blocked.reserve(rows.size() * cols.size());
  for (const int row : rows)
    for (const int col : cols) out.blocked.push_back(row >= 0 && col >= 0 && old.isBlocked(row, col) ? 1 : 0);
  tidyMask(out);
  return out;
}

/// The old index for each of `after` indices; those from `before` on are new (-1).
std::vector<int> placesKept(int before, int after) {
  std::vector<int> from;
  for (int i = 0; i < after; ++i) from.push_back(i < before ? i : -1);
  return from;
}

void rearrangeMask(State& state, Side side, const std::vector<int>& from) {
  const bool rows = !state.cross || side == Side::queries, cols = !state.cross || side == Side::keys;
  state.painted = rearranged(state.painted, rows ? from : placesKept(state.tokens, state.tokens),
                             cols ? from : placesKept(state.keyTokens, state.keyTokens));
}

void changeCount(State& state, Side side, int by) {
  if (!state.cross || side == Side::queries) state.tokens += by;
  if (!state.cross || side == Side::keys) state.keyTokens += by;
  state.step = std::min(state.step, state.tokens);
}

/// Neighbouring columns that were neighbours before, the first of them at `from`, or that are new.
struct Columns {
  int at = 0, count = 0;
  std::optional<int> from;
};

/// All columns of the new axis, in order.
std::vector<Columns> columnsFrom(const Axis& before, const Axis& after) {
  std::vector<Columns> out;
  for (int group = 0; group < after.groups; ++group) {
    const int at = group * after.size, old = group < before.groups ? std::min(before.size, after.size) : 0;
    if (old > 0) out.push_back({at, old, group * before.size});
    if (old < after.size) out.push_back({at + old, after.size - old, {}});
  }
  return out;
}

// The old index of index i on the new axis, or -1.
int oldIndex(const Axis& before, const Axis& after, int i) {
  const int group = i / after.size, within = i % after.size;
  return group < before.groups && within < before.size ? group * before.size + within : -1;
}

/// The source of numbers for new cells.
class FreshCells {
 public:
  FreshCells(std::uint32_t seed, TensorId tensor, int item = 0)
      : tensor_(tensor),
        seeded_(seed, tensor, item) {}
  FreshCells(TensorId tensor, const SeededCells& seeded) : tensor_(tensor), seeded_(seeded) {}
  void take(std::uint32_t head, std::uint32_t row, const Axis& cols, float* out) const {
    for (int c = 0; c < cols.count(); c += cols.size) take(head, row, cols.place(c), cols.size, out + c);
  }
  /// The numbers of `count` columns of one group, the first of which is at this place.
  void take(std::uint32_t head, std::uint32_t row, std::uint32_t col, int count, float* out) const {
    const bool isOne = tensor_ == TensorId::v_a,
               isUnit = tensor_ == TensorId::w_a || tensor_ == TensorId::u_a;
    if (!isOne && !isUnit && tensor_ != TensorId::bias && tensor_ != TensorId::sink &&
        !isProjectionBias(tensor_))
      return seeded_.take(head, row, col, count, out);
    std::fill_n(out, count, isOne ? 1.0f : 0.0f);
    if (isUnit && row >= col && row - col < static_cast<std::uint32_t>(count)) out[row - col] = 1.0f;
  }

 private:
  TensorId tensor_;
  SeededCells seeded_;
};

/// Gives it the rows of that shape from `first` on.
template <class Cells>
void fill(Tensor& tensor, const Axes& shape, const Cells& cells, int first = 0) {
  tensor.reshapeUnwritten(shape.heads, shape.rows.count() - first, shape.cols.count());
  for (int h = 0; h < tensor.heads(); ++h)
    for (int r = 0; r < tensor.rows(); ++r)
      cells.take(static_cast<std::uint32_t>(h), shape.rows.place(first + r), shape.cols, tensor.row(h, r));
}

void fit(Tensor& tensor, const Axes& before, const Axes& after, const FreshCells& cells) {
  if (before == after) return;
  const Tensor old = std::exchange(tensor, Tensor());
  tensor.reshapeUnwritten(after.heads, after.rows.count(), after.cols.count());
  const std::vector<Columns> kept = columnsFrom(before.cols, after.cols),
                             none = columnsFrom({0, 0}, after.cols);
  for (int h = 0; h < tensor.heads(); ++h) {
    for (int r = 0; r < tensor.rows(); ++r) {
      const int oldRow = h < before.heads ? oldIndex(before.rows, after.rows, r) : -1;
      float* const out = tensor.row(h, r);
      for (const Columns& columns : oldRow < 0 ? none : kept) {
        if (columns.from) std::copy_n(old.row(h, oldRow) + *columns.from, columns.count, out + columns.at);
        else
          cells.take(static_cast<std::uint32_t>(h), after.rows.place(r), after.cols.place(columns.at),
                     columns.count, out + columns.at);
      }
    }
  }
}

/// Gives one input its new shape; creates or removes it where only one of the settings has it.
void refit(Tensor& tensor, TensorId id, const Settings& before, const Settings& after,
           const FreshCells& cells) {
  if (!hasInput(after, id)) {
    tensor = Tensor();
    return;
  }
  Axes old = axes(before, id);
  if (tensor.empty()) old.heads = 0;
  fit(tensor, old, axes(after, id), cells);
}

bool isOfItem(TensorId id) {
  const auto ids = itemInputIds();
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

Tensor regrouped(const Tensor& old, int heads) {
  const int width = old.heads() * old.cols(), headDim = width / heads;
  const int together = std::gcd(headDim, old.cols());  // columns that stay neighbours
  Tensor out;
  out.reshapeUnwritten(heads, old.rows(), headDim);
  for (int r = 0; r < old.rows(); ++r)
    for (int c = 0; c < width; c += together)
      std::copy_n(old.row(c / old.cols(), r) + c % old.cols(), together,
                  out.row(c / headDim, r) + c % headDim);
  return out;
}

// Each new head gets the numbers of the old head that had its first column.
Tensor headsTaken(const Tensor& old, int heads) {
  Tensor out(heads, old.rows(), old.cols());
  for (int h = 0; h < heads; ++h)
    std::copy_n(old.head(h * old.heads() / heads), old.rows() * old.cols(), out.head(h));
  return out;
}

// The matrices of the heads are diagonal blocks of a large matrix, which is divided anew.
Tensor regroupedBlocks(const Tensor& old, int heads) {
  const int rows = old.rows(), cols = old.cols();
  Tensor out(heads, old.heads() * rows / heads, old.heads() * cols / heads);
  for (int h = 0; h < heads; ++h)
    for (int r = 0; r < out.rows(); ++r)
      for (int c = 0; c < out.cols(); ++c) {
        const int row = h * out.rows() + r, col = h * out.cols() + c;
        if (row / rows == col / cols) out.at(h, r, c) = old.at(row / rows, row % rows, col % cols);
      }
  return out;
}

}  // namespace

Axes axes(const Settings& settings, TensorId id) {
  const Axis tokens{1, settings.tokens}, keyTokens{1, settings.keyTokens}, model{1, settings.modelDim};
  const Axis queryColumns{1, queryWidth(settings)}, keyColumns{1, settings.headDim},
      valueColumns{1, settings.valueDim};
  switch (id) {
    case TensorId::x: return {1, tokens, model};
    case TensorId::x_kv:
    case TensorId::x_v: return {1, keyTokens, model};
    case TensorId::w_q: return {1, model, {settings.heads, queryWidth(settings)}};
    case TensorId::w_k: return {1, model, {settings.kvHeads, settings.headDim}};
    case TensorId::w_v: return {1, model, {settings.kvHeads, settings.valueDim}};
    case TensorId::w_o: return {1, {settings.heads, settings.valueDim}, {1, outputColumns(settings)}};
    case TensorId::b_q: return {1, {1, 1}, {settings.heads, queryWidth(settings)}};
    case TensorId::b_k: return {1, {1, 1}, {settings.kvHeads, settings.headDim}};
    case TensorId::b_v: return {1, {1, 1}, {settings.kvHeads, settings.valueDim}};
    case TensorId::b_o: return {1, {1, 1}, {1, outputColumns(settings)}};
    case TensorId::k: return {settings.kvHeads, keyTokens, keyColumns};
    case TensorId::v: return {settings.kvHeads, keyTokens, valueColumns};
    case TensorId::w_a:
      return {settings.heads,
              {1, scoreUnits(settings)},
              settings.score == attention::Score::general ? keyColumns : queryColumns};
    case TensorId::u_a: return {settings.heads, {1, scoreUnits(settings)}, keyColumns};
    case TensorId::v_a: return {settings.heads, {1, 1}, {1, scoreUnits(settings)}};
    case TensorId::sink: return {settings.heads, {1, 1}, {1, 1}};
    case TensorId::bias: return {settings.biasKind == Bias::perHead ? settings.heads : 1, tokens, keyTokens};
    default: return {settings.heads, tokens, queryColumns};
  }
}

void fillSeeded(State& state, TensorId id) {
  if (id == TensorId::bias) return fill(*input(state, id), axes(state, id), FreshCells(state.seed, id));
  fill(*input(state, id), axes(state, id),
       isOfItem(id) ? cellsOf(state, items(state)[0], id) : SeededCells(state.seed, id));
}

void fillFresh(State& state, TensorId id) {
  fill(*input(state, id), axes(state, id), FreshCells(state.seed, id, isOfItem(id) ? state.batchItem : 0));
}

Tensor freshRows(const State& state, TensorId id, int item, int first) {
  const bool isOther = isOfItem(id) && item != state.batchItem;
  const BatchItem* const other = isOther ? &state.items[static_cast<std::size_t>(item)] : nullptr;
  const FreshCells cells = isOfItem(id)
                               ? FreshCells(id, cellsOf(state, id, item, other ? other->labels : state.labels,
                                                        other ? other->keyLabels : state.keyLabels))
                               : FreshCells(state.seed, id);
  Tensor out;
  fill(out, axes(state, id), cells, first);
  return out;
}

void resize(State& state, const Settings& after) {
  const Settings before = state;
  for (const Item& item : items(state)) {
    if (after.cross && !before.cross)
      item.at(TensorId::x_kv) = item.at(TensorId::x), *item.keyLabels = *item.labels;
    if (!after.cross) item.keyLabels->clear();
    const bool isApart = after.separateValues &&
                         !before.separateValues;  // x_v starts as a copy of what values were projected from
    for (const auto& [id, tensor] : item.inputs)
      refit(*tensor, id, before, after, FreshCells(id, cellsOf(after, item, id)));
    if (isApart) item.at(TensorId::x_v) = item.at(after.cross ? TensorId::x_kv : TensorId::x);
  }
  for (const TensorId id : inputIds())
    if (!isOfItem(id)) refit(*input(state, id), id, before, after, FreshCells(after.seed, id));
  state.painted = rearranged(state.painted, placesKept(before.tokens, after.tokens),
                             placesKept(before.keyTokens, after.keyTokens));
  static_cast<Settings&>(state) = after;
}

void regroup(State& state, const Settings& after) {
  for (const Item& item : items(state)) {
    Tensor& bias = item.at(TensorId::bias);
    if (state.biasKind == Bias::perHead)
      bias = headsTaken(bias, after.biasKind == Bias::perHead ? after.heads : 1);
    for (const TensorId id : {TensorId::q, TensorId::k, TensorId::v})
      item.at(id) = regrouped(item.at(id), id == TensorId::q ? after.heads : after.kvHeads);
  }
  // Hidden units of a number of their own are not divided among the heads.
  const bool areDivided = scoreUnits(state) * state.heads == scoreUnits(after) * after.heads;
  if (!state.vA.empty())
    state.vA = areDivided ? regrouped(state.vA, after.heads) : headsTaken(state.vA, after.heads);
  if (!state.sink.empty()) state.sink = headsTaken(state.sink, after.heads);
  for (Tensor* tensor : {&state.wA, &state.uA})
    if (!tensor->empty())
      *tensor = areDivided ? regroupedBlocks(*tensor, after.heads) : regrouped(*tensor, after.heads);
  static_cast<Settings&>(state) = after;
}

void drawRows(State& state) {
  for (const Item& item : items(state))
    for (const auto& [id, tensor] : item.inputs)
      if (hasInput(state, id) && id != TensorId::bias)
        fill(*tensor, axes(state, id), cellsOf(state, item, id));
}

void drawChangedRows(State& state, Side side, const std::vector<std::string>& before) {
  const Item item = items(state)[0];
  const std::vector<std::string>& words = labelsOf(state, item, side);
  for (const auto& [id, tensor] : item.inputs) {
    if (tensor->empty() || !isOfSide(state, side, id)) continue;
    const SeededCells cells = cellsOf(state, item, id);
    for (int row = 0; row < tensor->rows(); ++row) {
      const auto at = static_cast<std::size_t>(row);
      if (at < before.size() && before[at] == words[at]) continue;
      for (int h = 0; h < tensor->heads(); ++h)
        cells.take(static_cast<std::uint32_t>(h), static_cast<std::uint32_t>(row), {1, tensor->cols()},
                   tensor->row(h, row));
    }
  }
}

std::vector<std::string>& sideLabels(State& state, Side side) {
  return state.cross && side == Side::keys ? state.keyLabels : state.labels;
}

void insertTokens(State& state, Side side, int at, int count) {
  const int before = static_cast<int>(sideLabels(state, side).size());
  std::vector<int> from;
  for (int i = 0; i < before + count; ++i) from.push_back(i < at ? i : i < at + count ? -1 : i - count);
  rearrangeMask(state, side, from);
  const std::vector<std::string> names = numberedLabels(before + 1, count);
  for (const Item& item : items(state)) {
    moveBias(state, item.at(TensorId::bias), side, at, count);
    std::vector<std::string>& labels = labelsOf(state, item, side);
    labels.insert(labels.begin() + at, names.begin(), names.end());
    for (const auto& [id, tensor] : item.inputs)
      if (isOfSide(state, side, id))
        *tensor = withRowsInserted(*tensor, axes(state, id).cols, cellsOf(state, item, id), at, count);
  }
  changeCount(state, side, count);
}

std::vector<std::string> numberedLabels(int first, int count) {
  std::vector<std::string> out;
  out.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) out.push_back(base::joined({"t", first + i}));
  return out;
}

void removeTokens(State& state, Side side, int at, int count) {
  std::vector<int> from;
  for (int i = 0; i < static_cast<int>(sideLabels(state, side).size()) - count; ++i)
    from.push_back(i < at ? i : i + count);
  rearrangeMask(state, side, from);
  for (const Item& item : items(state)) {
    for (const auto& [id, tensor] : item.inputs)
      if (isOfSide(state, side, id)) *tensor = withRowsRemoved(*tensor, at, count);
    moveBias(state, item.at(TensorId::bias), side, at, -count);
    std::vector<std::string>& labels = labelsOf(state, item, side);
    labels.erase(labels.begin() + at, labels.begin() + at + count);
  }
  changeCount(state, side, -count);
}

void showItem(State& state, int item) {
  const auto swap = [&](BatchItem& other) {
    std::swap(state.labels, other.labels), std::swap(state.keyLabels, other.keyLabels);
    for (const TensorId id : itemInputIds()) std::swap(*input(state, id), *input(other, id));
  };
  swap(state.items[static_cast<std::size_t>(state.batchItem)]);
  swap(state.items[static_cast<std::size_t>(item)]);
  state.batchItem = item;
}

void resizeBatch(State& state, int batch) {
  if (state.batchItem >= batch) showItem(state, batch - 1);
  const auto before = static_cast<std::size_t>(state.batch), after = static_cast<std::size_t>(batch);
  state.items.resize(batch > 1 ? after : 0);
  for (std::size_t i = before; i < state.items.size(); ++i) {
    BatchItem& other = state.items[i];
    other.labels = state.labels, other.keyLabels = state.keyLabels;
    const Item item = itemOf(other, other.labels, other.keyLabels, static_cast<int>(i));
    for (const TensorId id : itemInputIds())
      if (hasInput(state, id))
        fill(*input(other, id), axes(state, id), FreshCells(id, cellsOf(state, item, id)));
  }
  state.batch = batch;
}

void widenBias(const Settings& settings, Tensor& bias) {
  const int heads = axes(settings, TensorId::bias).heads;
  if (bias.heads() == heads && !bias.empty()) return;
  Tensor wide(heads, settings.tokens, settings.keyTokens);  // of zeros
  for (int h = 0; h < heads && !bias.empty(); ++h) std::copy_n(bias.data(), bias.size(), wide.head(h));
  bias = std::move(wide);
}

void tidyMask(PaintedMask& mask) {
  if (std::find(mask.blocked.begin(), mask.blocked.end(), 1) == mask.blocked.end()) mask = {};
}

}  // namespace document
