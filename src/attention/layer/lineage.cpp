// sources() and feeds(): which cells contribute to which, derived from the sources in the table of tensors.
// sources() follows them from a cell back to the inputs, feeds() in the opposite direction. This is the
// structure of the layer, independent of its numbers: a cell that is not listed cannot change.
#include <algorithm>
#include <cstring>
#include <optional>
#include <span>
#include <tuple>

#include "attention/layer/explain.h"
#include "attention/steps/mask.h"
#include "attention/steps/position.h"
#include "attention/steps/steps.h"
#include "base/sort.h"

namespace attention {
namespace {

/// The keys that `query` sees in a head, as runs of consecutive keys: painted cells, patterns and a bias
/// leave gaps.
std::vector<Span> seenKeys(const Spec& spec, const Inputs& inputs, int head, int query) {
  std::vector<Span> runs;
  const KeyRange seen = visibleKeys(spec, query);
  if (seen.end <= seen.begin) return runs;
  const bool isPainted = inputs.painted && !inputs.painted->empty();
  if (spec.prefix > 0 || spec.pattern.any() || inputs.bias) {
    const MaskRow mask(spec, query);
    for (int j = seen.begin; j < seen.end; ++j) {
      if (!mask.sees(j) || (isPainted && inputs.painted->isBlocked(query, j)) ||
          isMaskedByBias(inputs, head, query, j))
        continue;
      if (!runs.empty() && runs.back().end == j) {
        ++runs.back().end;
      } else {
        runs.push_back({j, j + 1});
      }
    }
  } else if (isPainted) {
    const std::uint8_t* row = inputs.painted->blocked.data() + std::ptrdiff_t{query} * inputs.painted->cols;
    const std::uint8_t *at = row + seen.begin, *const end = row + seen.end;
    while ((at = std::find(at, end, std::uint8_t{0})) != end) {
      const auto* hole =
          static_cast<const std::uint8_t*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
      const std::uint8_t* stop = hole ? hole : end;
      runs.push_back({static_cast<int>(at - row), static_cast<int>(stop - row)});
      at = stop;
    }
  } else {
    runs.push_back({seen.begin, seen.end});
  }
  return runs;
}

bool sameRuns(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Span s, Span t) { return s.begin == t.begin && s.end == t.end; });
}

bool contains(Span outer, Span inner) { return outer.begin <= inner.begin && inner.end <= outer.end; }
Span common(Span a, Span b) { return {std::max(a.begin, b.begin), std::min(a.end, b.end)}; }
Span shifted(Span s, int by) { return {s.begin + by, s.end + by}; }

/// Runs of consecutive indices in `marked`.
std::vector<Span> runsOf(const std::vector<bool>& marked) {
  std::vector<Span> runs;
  for (int i = 0; i < static_cast<int>(marked.size()); ++i) {
    if (!marked[static_cast<std::size_t>(i)]) continue;
    if (runs.empty() || runs.back().end < i) runs.push_back({i, i});
    ++runs.back().end;
  }
  return runs;
}

/// Given columns, the columns that rotary positions rotate together with them; the pairs of given columns;
/// the columns of given pairs.
enum class Turned : std::uint8_t { columns, pairsOfColumns, columnsOfPairs };
std::vector<Span> turnedWith(const Spec& spec, Span span, Turned what) {
  std::vector<bool> marked(static_cast<std::size_t>(spec.headDim));
  for (int c = span.begin; c < span.end; ++c) {
    const int pair = what == Turned::columnsOfPairs ? c : pairOfColumn(spec, c);
    if (pair < 0 && what == Turned::columns) marked[static_cast<std::size_t>(c)] = true;
    if (pair < 0) continue;
    const auto [one, two] = columnsOfPair(spec, pair);
    if (what == Turned::pairsOfColumns) marked[static_cast<std::size_t>(pair)] = true;
    else marked[static_cast<std::size_t>(one)] = marked[static_cast<std::size_t>(two)] = true;
  }
  return runsOf(marked);
}

/// Cells of a tensor. If `isSeen`, only those of [queries, keys] that the mask leaves visible.
struct Cells {
  Span heads, rows, columns;
  bool isSeen = false;

  bool empty() const { return heads.empty() || rows.empty() || columns.empty(); }
  bool contains(const Cells& c) const {
    return (!isSeen || c.isSeen) && attention::contains(heads, c.heads) &&
           attention::contains(rows, c.rows) && attention::contains(columns, c.columns);
  }
};

/// The related cells of every tensor, starting from one cell: either along the sources, or from sources to
/// what is computed from them.
class Lineage {
 public:
  Lineage(const Spec& spec, const Inputs& inputs, CellRef cell)
      : spec_(spec),
        in_(inputs),
        start_(cell.tensor) {
    for (int i = 0; i < kTensorCount; ++i) order(static_cast<TensorId>(i));
    add(start_, {{cell.head, cell.head + 1}, {cell.row, cell.row + 1}, {cell.col, cell.col + 1}});
  }

  void addSources() {
    for (auto id = order_.rbegin(); id != order_.rend(); ++id) {
      forSources(*id, spec_, in_, [&](const Source& source, TensorId from) {
        if (!at(*id).empty()) isFarther(from, *id);
        for (const Cells& cells : at(*id)) addSource(*id, cells, source, from);
      });
    }
  }

  void addFed() {
    for (const TensorId id : order_) {
      forSources(id, spec_, in_, [&](const Source& source, TensorId from) {
        if (!at(from).empty()) isFarther(id, from);
        for (const Cells& cells : at(from)) addFed(id, source, from, cells);
      });
    }
  }

  /// All blocks except the cell itself, nearest first.
  std::vector<Region> regions(Wanted wanted) const {
    std::vector<TensorId> ids = order_;
    base::sort(ids, [&](TensorId a, TensorId b) { return std::pair(steps(a), a) < std::pair(steps(b), b); });
    std::vector<Region> regions;
    for (const TensorId id : ids) {
      if (id == start_ || (wanted.tensors >> static_cast<int>(id) & 1) == 0) continue;
      const bool isOfQueries = tensorRow(id).heads == Size::heads;
      const auto first = static_cast<std::ptrdiff_t>(regions.size());
      for (const Cells& cells : at(id)) {
        for (int h = cells.heads.begin; h < cells.heads.end; ++h) {
          if (!isOfQueries || wanted.queryHead < 0 || wanted.queryHead == h) append(id, h, cells, regions);
        }
      }
      const auto isBefore = [](const Region& a, const Region& b) {
        return std::tie(a.head, a.row, a.col, a.rows, a.cols) <
               std::tie(b.head, b.row, b.col, b.rows, b.cols);
      };
      if (!std::is_sorted(regions.begin() + first, regions.end(), isBefore))
        base::sort(std::span(regions).subspan(static_cast<std::size_t>(first)), isBefore);
      regions.erase(std::unique(regions.begin() + first, regions.end()), regions.end());
    }
    return regions;
  }

 private:
  std::vector<Cells>& at(TensorId id) { return cells_[static_cast<std::size_t>(id)]; }
  const std::vector<Cells>& at(TensorId id) const { return cells_[static_cast<std::size_t>(id)]; }
  /// The number of steps from the cell to the nearest related cell of a tensor.
  int steps(TensorId id) const { return steps_[static_cast<std::size_t>(id)]; }
  void isFarther(TensorId id, TensorId than) {
    int& known = steps_[static_cast<std::size_t>(id)];
    known = known == 0 ? steps(than) + 1 : std::min(known, steps(than) + 1);
  }
  Span all(Size size) const { return {0, sizeOf(size, spec_, in_)}; }
  int group() const { return spec_.heads / spec_.kvHeads; }

  /// Puts each tensor of the layer after its sources.
  void order(TensorId id) {
    if (!exists(id, spec_, in_) || std::find(order_.begin(), order_.end(), id) != order_.end()) return;
    forSources(id, spec_, in_, [&](const Source&, TensorId from) { order(from); });
    order_.push_back(id);
  }

  bool hasSeenOnly(TensorId id) const {
    const Pairs pairs = tensorRow(id).pairs;
    return pairs == Pairs::seen || (pairs == Pairs::scored && !spec_.maskAfterSoftmax);
  }

  /// Leaves out cells that a recently added block contains.
  void add(TensorId id, Cells cells) {
    constexpr std::size_t kLooked = 8;
    if (cells.empty()) return;
    cells.isSeen = cells.isSeen || hasSeenOnly(id);
    std::vector<Cells>& known = at(id);
    for (std::size_t i = known.size(); i > 0 && i + kLooked > known.size(); --i) {
      if (known[i - 1].contains(cells)) return;
      if (cells.contains(known[i - 1])) known.erase(known.begin() + static_cast<std::ptrdiff_t>(i - 1));
    }
    known.push_back(cells);
  }

  /// Adds the cells of a source, for cells of the tensor `id` that is computed from it.
  void addSource(TensorId id, const Cells& cells, const Source& source, TensorId from) {
    if (in_.bias && cells.heads.size() > 1) {  // a bias may mask different keys in different heads
      for (int h = cells.heads.begin; h < cells.heads.end; ++h)
        addSource(id, {{h, h + 1}, cells.rows, cells.columns, cells.isSeen}, source, from);
      return;
    }
    const bool isCell = source.row == Via::row && source.column == Via::column;
    std::vector<Span> rows{cells.rows}, columns{cells.columns};
    if (cells.isSeen && !isCell) {
      rows = rowsSeeing(cells.heads.begin, cells.rows, cells.columns);
      columns = keysSeen(cells.heads.begin, rows, cells.columns);
      if (rows.empty()) return;
    }
    const TensorRow& made = tensorRow(from);
    Span heads = all(made.heads);
    if (source.head == Via::head || (source.head == Via::sharedHead && heads.size() > 1)) heads = cells.heads;
    if (source.head == Via::keyHead)
      heads = {cells.heads.begin / group(), (cells.heads.end - 1) / group() + 1};
    std::vector<Span> down{all(made.rows)}, across{all(made.columns)};
    if (source.row == Via::row) down = rows;
    if (source.row == Via::column) down = columns;
    if (source.row == Via::keysSeen) down = keysSeen(cells.heads.begin, rows, all(Size::keys));
    if (source.row == Via::position) down = {shifted(cells.rows, firstQueryPosition(spec_, in_))};
    if (source.column == Via::column) across = columns;
    if (source.column == Via::pair) across = turnedWith(spec_, cells.columns, Turned::columns);
    if (source.column == Via::pairIndex) across = turnedWith(spec_, cells.columns, Turned::pairsOfColumns);
    if (source.column == Via::packedColumn) across = packed(cells, all(tensorRow(id).columns).size());
    for (Span r : down) {
      if (source.head == Via::headOfColumn) addUnpacked(from, r, cells.columns, across.front().size());
      else
        for (Span c : across) add(from, {heads, r, c, isCell && cells.isSeen});
    }
  }

  /// The columns of these heads in the matrix with all heads side by side.
  static std::vector<Span> packed(const Cells& cells, int width) {
    std::vector<Span> columns;
    for (int h = cells.heads.begin; h < cells.heads.end; ++h)
      columns.push_back(shifted(cells.columns, h * width));
    return columns;
  }
  void addUnpacked(TensorId from, Span rows, Span columns, int width) {
    for (int h = 0; h < spec_.heads; ++h) {
      if (!isHidden(spec_, h))
        add(from, {{h, h + 1}, rows, common(shifted(columns, -h * width), {0, width})});
    }
  }

  /// Adds the cells of the tensor `id` that are computed from the given cells of its source.
  void addFed(TensorId id, const Source& source, TensorId from, const Cells& cells) {
    const TensorRow& row = tensorRow(id);
    const bool isCell = source.row == Via::row && source.column == Via::column;
    Cells fed{all(row.heads), all(row.rows), all(row.columns), isCell && cells.isSeen};
    if (source.head == Via::head || (source.head == Via::sharedHead && all(tensorRow(from).heads).size() > 1))
      fed.heads = cells.heads;
    if (source.head == Via::keyHead) fed.heads = {cells.heads.begin * group(), cells.heads.end * group()};
    if (source.row == Via::row) fed.rows = common(fed.rows, cells.rows);
    if (source.row == Via::column) fed.columns = cells.rows;
    if (source.row == Via::position)
      fed.rows = common(fed.rows, shifted(cells.rows, -firstQueryPosition(spec_, in_)));
    if (source.column == Via::column) fed.columns = cells.columns;
    if (source.column == Via::pair || source.column == Via::pairIndex) {
      for (Span run : turnedWith(spec_, cells.columns,
                                 source.column == Via::pair ? Turned::columns : Turned::columnsOfPairs)) {
        fed.columns = run;
        add(id, fed);
      }
      return;
    }
    if (source.column == Via::packedColumn) return addHeads(id, fed, cells.columns);
    if (source.column == Via::columnOfHead)
      return addPacked(id, fed, cells, all(tensorRow(from).columns).size());
    if (source.row == Via::keysSeen) return addSeeing(id, fed, cells.rows);
    if (cells.isSeen && !isCell) return addSeeing(id, fed, cells.columns);
    add(id, fed);
  }

  /// Splits columns of the matrix with all heads side by side into those of each head.
  void addHeads(TensorId id, const Cells& fed, Span columns) {
    const int width = fed.columns.size();
    for (int h = columns.begin / width; h * width < columns.end; ++h)
      add(id, {{h, h + 1}, fed.rows, common(shifted(columns, -h * width), fed.columns)});
  }
  void addPacked(TensorId id, const Cells& fed, const Cells& cells, int width) {
    for (int h = cells.heads.begin; h < cells.heads.end; ++h) {
      if (!isHidden(spec_, h)) add(id, {fed.heads, fed.rows, shifted(cells.columns, h * width)});
    }
  }
  /// Adds the cells in rows that see any of `keys`.
  void addSeeing(TensorId id, const Cells& fed, Span keys) {
    const int step = in_.bias ? 1 : fed.heads.size();
    for (int h = fed.heads.begin; h < fed.heads.end; h += step)
      for (Span run : rowsSeeing(h, fed.rows, keys)) add(id, {{h, h + step}, run, fed.columns});
  }

  // --- which query sees which key

  /// Cached for each query, and each head where a bias makes heads differ, because a thousand rows ask for
  /// it.
  const std::vector<Span>& seen(int head, int query) const {
    const int heads = in_.bias ? spec_.heads : 1;
    if (seen_.empty())
      seen_.resize(static_cast<std::size_t>(spec_.queryCount) * static_cast<std::size_t>(heads));
    auto& runs = seen_[static_cast<std::size_t>(query) * static_cast<std::size_t>(heads) +
                       static_cast<std::size_t>(heads > 1 ? head : 0)];
    if (!runs) runs = seenKeys(spec_, in_, head, query);
    return *runs;
  }
  std::vector<Span> seen(int head, int query, Span keys) const {
    std::vector<Span> runs;
    for (Span run : seen(head, query)) {
      if (const Span part = common(run, keys); !part.empty()) runs.push_back(part);
    }
    return runs;
  }
  std::vector<Span> keysSeen(int head, const std::vector<Span>& rows, Span keys) const {
    std::vector<Span> runs;
    for (Span some : rows) {
      for (int i = some.begin; i < some.end; ++i) {
        const std::vector<Span> more = seen(head, i, keys);
        runs.insert(runs.end(), more.begin(), more.end());
      }
    }
    return runs;
  }
  /// Runs of rows that see at least one of `keys`.
  std::vector<Span> rowsSeeing(int head, Span rows, Span keys) const {
    std::vector<Span> runs;
    for (int i = rows.begin; i < rows.end; ++i) {
      const std::vector<Span>& all = seen(head, i);
      if (std::none_of(all.begin(), all.end(), [&](Span run) { return !common(run, keys).empty(); }))
        continue;
      if (runs.empty() || runs.back().end < i) runs.push_back({i, i});
      ++runs.back().end;
    }
    return runs;
  }

  /// Converts cells into regions; consecutive rows that see the same keys become one block.
  void append(TensorId id, int head, const Cells& cells, std::vector<Region>& regions) const {
    const auto block = [&](Span rows, Span columns) {
      regions.push_back({id, head, rows.begin, columns.begin, rows.size(), columns.size()});
    };
    if (!cells.isSeen) return block(cells.rows, cells.columns);
    std::vector<Span> runs;
    int first = cells.rows.begin;
    for (int i = first; i <= cells.rows.end; ++i) {
      std::vector<Span> next;
      if (i < cells.rows.end) next = seen(head, i, cells.columns);
      if (i < cells.rows.end && sameRuns(runs, next)) continue;
      for (Span run : runs) block({first, i}, run);
      runs = std::move(next), first = i;
    }
  }

  const Spec& spec_;
  const Inputs& in_;
  const TensorId start_;
  std::vector<TensorId> order_;
  std::vector<Cells> cells_[kTensorCount];
  int steps_[kTensorCount] = {};                                // 0: unknown
  mutable std::vector<std::optional<std::vector<Span>>> seen_;  // by query (and head)
};

}  // namespace

std::vector<Region> sources(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted) {
  Lineage lineage(spec, inputs, cell);
  lineage.addSources();
  return lineage.regions(wanted);
}

std::vector<Region> feeds(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted) {
  Lineage lineage(spec, inputs, cell);
  lineage.addFed();
  return lineage.regions(wanted);
}

}  // namespace attention
