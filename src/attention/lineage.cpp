// sources() and feeds(): which cells have a part in which. What is written here is the structure of the layer, not its
// numbers: a cell that is listed may change, and one that is not listed cannot.
#include <algorithm>

#include "attention/explain.h"
#include "attention/steps.h"

namespace attention {
namespace {

bool isSeen(const Spec& spec, const Inputs& inputs, int query, int key) {
  return isVisible(spec, query, key) && !(inputs.painted && inputs.painted->isBlocked(query, key));
}

/// The keys within `keys` that `query` sees, as runs of neighbours: painted cells make holes.
std::vector<Span> seenKeys(const Spec& spec, const Inputs& inputs, int query, Span keys) {
  std::vector<Span> runs;
  const KeyRange range = visibleKeys(spec, query);
  for (int j = std::max(range.begin, keys.begin); j < std::min(range.end, keys.end); ++j) {
    if (inputs.painted && inputs.painted->isBlocked(query, j)) continue;
    if (!runs.empty() && runs.back().end == j) {
      ++runs.back().end;
    } else {
      runs.push_back({j, j + 1});
    }
  }
  return runs;
}

bool sameRuns(const std::vector<Span>& a, const std::vector<Span>& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Span s, Span t) { return s.begin == t.begin && s.end == t.end; });
}

/// Collects regions, each once.
class Lineage {
 public:
  Lineage(const Spec& spec, const Inputs& inputs) : spec_(spec), inputs_(inputs) {}
  std::vector<Region> take() { return std::move(regions_); }

 protected:
  int group() const { return spec_.heads / spec_.kvHeads; }
  Span queries() const { return {0, spec_.queryCount}; }
  Span keys() const { return {0, spec_.keyCount}; }

  void add(TensorId tensor, int head, Span rows, Span cols) {
    if (rows.empty() || cols.empty()) return;
    const Region region{tensor, head, rows.begin, cols.begin, rows.size(), cols.size()};
    if (std::find(regions_.begin(), regions_.end(), region) == regions_.end()) regions_.push_back(region);
  }
  void addCell(TensorId tensor, int head, int row, int col) { add(tensor, head, {row, row + 1}, {col, col + 1}); }

  /// The seen cells of rows × keys; rows below each other that see the same keys make one block.
  void addSeen(TensorId tensor, int head, Span rows, Span columns) {
    std::vector<Span> runs;
    int first = rows.begin;
    for (int i = rows.begin; i <= rows.end; ++i) {
      std::vector<Span> next;
      if (i < rows.end) next = seenKeys(spec_, inputs_, i, columns);
      if (i < rows.end && sameRuns(runs, next)) continue;
      for (Span run : runs) add(tensor, head, {first, i}, run);
      runs = std::move(next), first = i;
    }
  }

  const Spec& spec_;
  const Inputs& inputs_;

 private:
  std::vector<Region> regions_;
};

class Sources : public Lineage {
 public:
  using Lineage::Lineage;

  void of(CellRef cell) {
    const auto [tensor, h, i, j] = cell;
    const bool seen = tensor >= TensorId::masked && tensor <= TensorId::weights && tensor != TensorId::row_max &&
                      tensor != TensorId::row_sum && isSeen(spec_, inputs_, i, j);
    switch (tensor) {
      case TensorId::q: return projection(TensorId::w_q, {i, i + 1}, h * spec_.headDim + j, 1);
      case TensorId::k: return projection(TensorId::w_k, {i, i + 1}, h * spec_.headDim + j, 1);
      case TensorId::v: return projection(TensorId::w_v, {i, i + 1}, h * spec_.valueDim + j, 1);
      case TensorId::raw: return ofRaw(h, i, {j, j + 1});
      case TensorId::scores: return addCell(TensorId::raw, h, i, j), ofRaw(h, i, {j, j + 1});
      case TensorId::masked: return seen ? ofMasked(h, i, {j, j + 1}) : void();
      case TensorId::row_max: return addSeen(TensorId::masked, h, {i, i + 1}, keys()), ofMasked(h, i, keys());
      case TensorId::exponentials: return seen ? ofExponentials(h, i, {j, j + 1}) : void();
      case TensorId::row_sum:
        return addSeen(TensorId::exponentials, h, {i, i + 1}, keys()), ofExponentials(h, i, keys());
      case TensorId::weights: return seen ? ofWeights(h, i, {j, j + 1}) : void();
      case TensorId::head_output: return ofHeadOutput(h, i, {j, j + 1});
      case TensorId::concat: return ofConcat(i, {j, j + 1});
      case TensorId::output: return ofOutput(i, j);
      default: return;  // inputs
    }
  }

 private:
  void projection(TensorId weights, Span rows, int firstCol, int cols) {
    if (!inputs_.projected()) return;
    const Span model{0, inputs_.x->cols()};
    add(TensorId::x, 0, rows, model);
    add(weights, 0, model, {firstCol, firstCol + cols});
  }
  void ofRaw(int h, int i, Span columns) {
    const Span dims{0, spec_.headDim};
    const int g = h / group();
    add(TensorId::q, h, {i, i + 1}, dims);
    add(TensorId::k, g, columns, dims);
    projection(TensorId::w_q, {i, i + 1}, h * spec_.headDim, spec_.headDim);
    projection(TensorId::w_k, columns, g * spec_.headDim, spec_.headDim);
  }
  void ofMasked(int h, int i, Span columns) {
    addSeen(TensorId::scores, h, {i, i + 1}, columns);
    addSeen(TensorId::raw, h, {i, i + 1}, columns);
    for (Span run : seenKeys(spec_, inputs_, i, columns)) ofRaw(h, i, run);
  }
  void ofExponentials(int h, int i, Span columns) {
    addSeen(TensorId::masked, h, {i, i + 1}, columns);
    addCell(TensorId::row_max, h, i, 0);
    addSeen(TensorId::masked, h, {i, i + 1}, keys());
    ofMasked(h, i, keys());
  }
  void ofWeights(int h, int i, Span columns) {
    addSeen(TensorId::exponentials, h, {i, i + 1}, columns);
    addCell(TensorId::row_sum, h, i, 0);
    addSeen(TensorId::exponentials, h, {i, i + 1}, keys());
    ofExponentials(h, i, keys());
  }
  void ofHeadOutput(int h, int i, Span cols) {
    const std::vector<Span> runs = seenKeys(spec_, inputs_, i, keys());
    if (runs.empty()) return;
    addSeen(TensorId::weights, h, {i, i + 1}, keys());
    const int g = h / group();
    for (Span run : runs) {
      add(TensorId::v, g, run, cols);
      projection(TensorId::w_v, run, g * spec_.valueDim + cols.begin, cols.size());
    }
    ofWeights(h, i, keys());
  }
  void ofConcat(int i, Span cols) {
    for (int h = cols.begin / spec_.valueDim; h * spec_.valueDim < cols.end; ++h) {
      const int first = h * spec_.valueDim;
      const Span part{std::max(0, cols.begin - first), std::min(spec_.valueDim, cols.end - first)};
      add(TensorId::head_output, h, {i, i + 1}, part);
      ofHeadOutput(h, i, part);
    }
  }
  void ofOutput(int i, int j) {
    const Span width{0, spec_.heads * spec_.valueDim};
    const Span cols = inputs_.wO ? width : Span{j, j + 1};
    add(TensorId::concat, 0, {i, i + 1}, cols);
    if (inputs_.wO) add(TensorId::w_o, 0, width, {j, j + 1});
    ofConcat(i, cols);
  }
};

class Feeds : public Lineage {
 public:
  using Lineage::Lineage;

  void of(CellRef cell) {
    const auto [tensor, h, i, j] = cell;
    const Span row{i, i + 1}, col{j, j + 1};
    switch (tensor) {
      case TensorId::x: return ofX(i);
      case TensorId::w_q: return ofQueries(true, j / spec_.headDim, queries(), j % spec_.headDim);
      case TensorId::w_k: return ofKeys(true, j / spec_.headDim, keys(), j % spec_.headDim);
      case TensorId::w_v: return ofValues(true, j / spec_.valueDim, keys(), j % spec_.valueDim);
      case TensorId::w_o: return add(TensorId::output, 0, queries(), col);
      case TensorId::q: return ofQueries(false, h, row, j);
      case TensorId::k: return ofKeys(false, h, row, j);
      case TensorId::v: return ofValues(false, h, row, j);
      case TensorId::raw: return addCell(TensorId::scores, h, i, j), ofScores(h, row, col);
      case TensorId::scores: return ofScores(h, row, col);
      case TensorId::masked: return isSeen(spec_, inputs_, i, j) ? ofMaskedRows(h, row) : void();
      case TensorId::row_max: return ofRowMax(h, row);
      case TensorId::exponentials: return isSeen(spec_, inputs_, i, j) ? ofExponentials(h, row) : void();
      case TensorId::row_sum: return ofRowSum(h, row);
      case TensorId::weights: return isSeen(spec_, inputs_, i, j) ? ofWeights(h, row) : void();
      case TensorId::head_output: return ofHeadOutput(h, row, col);
      case TensorId::concat: return ofConcat(row, col);
      case TensorId::output: return;
    }
  }

 private:
  void ofX(int i) {
    const Span row{i, i + 1};
    for (int h = 0; h < spec_.heads; ++h) add(TensorId::q, h, row, {0, spec_.headDim});
    for (int g = 0; g < spec_.kvHeads; ++g) {
      add(TensorId::k, g, row, {0, spec_.headDim});
      add(TensorId::v, g, row, {0, spec_.valueDim});
    }
    for (int h = 0; h < spec_.heads; ++h) {
      ofRaw(h, row, keys());
      ofRaw(h, queries(), row);
      ofSeeing(h, row, {0, spec_.valueDim});
    }
  }
  void ofQueries(bool projected, int h, Span rows, int col) {
    if (projected) add(TensorId::q, h, rows, {col, col + 1});
    ofRaw(h, rows, keys());
  }
  void ofKeys(bool projected, int g, Span rows, int col) {
    if (projected) add(TensorId::k, g, rows, {col, col + 1});
    for (int h = g * group(); h < (g + 1) * group(); ++h) ofRaw(h, queries(), rows);
  }
  void ofValues(bool projected, int g, Span rows, int col) {
    if (projected) add(TensorId::v, g, rows, {col, col + 1});
    for (int h = g * group(); h < (g + 1) * group(); ++h) ofSeeing(h, rows, {col, col + 1});
  }
  /// Columns of the outputs of the queries that see any of `columns`.
  void ofSeeing(int h, Span columns, Span cols) {
    forSeeing(columns, queries(), [&](Span rows) {
      add(TensorId::head_output, h, rows, cols);
      ofHeadOutput(h, rows, cols);
    });
  }
  /// Calls `use` with the runs of rows that see any of `columns`.
  template <class Use>
  void forSeeing(Span columns, Span rows, Use use) {
    int first = rows.begin;
    for (int i = rows.begin; i <= rows.end; ++i) {
      if (i < rows.end && !seenKeys(spec_, inputs_, i, columns).empty()) continue;
      if (i > first) use(Span{first, i});
      first = i + 1;
    }
  }
  void ofRaw(int h, Span rows, Span columns) {
    add(TensorId::raw, h, rows, columns);
    add(TensorId::scores, h, rows, columns);
    ofScores(h, rows, columns);
  }
  void ofScores(int h, Span rows, Span columns) {
    addSeen(TensorId::masked, h, rows, columns);
    forSeeing(columns, rows, [&](Span run) { ofMaskedRows(h, run); });
  }
  void ofMaskedRows(int h, Span rows) {
    add(TensorId::row_max, h, rows, {0, 1});
    ofRowMax(h, rows);
  }
  void ofRowMax(int h, Span rows) {
    addSeen(TensorId::exponentials, h, rows, keys());
    ofExponentials(h, rows);
  }
  void ofExponentials(int h, Span rows) {
    add(TensorId::row_sum, h, rows, {0, 1});
    ofRowSum(h, rows);
  }
  void ofRowSum(int h, Span rows) {
    addSeen(TensorId::weights, h, rows, keys());
    forSeeing(keys(), rows, [&](Span run) { ofWeights(h, run); });
  }
  void ofWeights(int h, Span rows) {
    add(TensorId::head_output, h, rows, {0, spec_.valueDim});
    ofHeadOutput(h, rows, {0, spec_.valueDim});
  }
  void ofHeadOutput(int h, Span rows, Span cols) {
    const Span placed{h * spec_.valueDim + cols.begin, h * spec_.valueDim + cols.end};
    add(TensorId::concat, 0, rows, placed);
    ofConcat(rows, placed);
  }
  void ofConcat(Span rows, Span cols) {
    add(TensorId::output, 0, rows, inputs_.wO ? Span{0, inputs_.wO->cols()} : cols);
  }
};

}  // namespace

std::vector<Region> sources(const Spec& spec, const Inputs& inputs, CellRef cell) {
  Sources found(spec, inputs);
  found.of(cell);
  return found.take();
}

std::vector<Region> feeds(const Spec& spec, const Inputs& inputs, CellRef cell) {
  Feeds found(spec, inputs);
  found.of(cell);
  return found.take();
}

}  // namespace attention
