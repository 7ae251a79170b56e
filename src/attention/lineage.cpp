// sources() and feeds(): which cells have a part in which. What is written here is the structure of the layer, not its
// numbers: a cell that is listed may change, and one that is not listed cannot.
#include <algorithm>
#include <cstring>
#include <set>
#include <tuple>

#include "attention/explain.h"
#include "attention/mask.h"
#include "attention/position.h"
#include "attention/steps.h"

namespace attention {
namespace {

/// The keys that `query` sees in a head, as runs of neighbours: painted cells, patterns and a bias make holes.
std::vector<Span> seenKeys(const Spec& spec, const Inputs& inputs, int head, int query) {
  std::vector<Span> runs;
  const KeyRange seen = visibleKeys(spec, query);
  if (seen.end <= seen.begin) return runs;
  const bool isPainted = inputs.painted && !inputs.painted->empty();
  if (spec.prefix > 0 || spec.pattern.any() || inputs.bias) {
    const MaskRow mask(spec, query);
    for (int j = seen.begin; j < seen.end; ++j) {
      if (!mask.sees(j) || (isPainted && inputs.painted->isBlocked(query, j)) || isMaskedByBias(inputs, head, query, j)) continue;
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
      const auto* hole = static_cast<const std::uint8_t*>(std::memchr(at, 1, static_cast<std::size_t>(end - at)));
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

/// What of a row of scores a weight is made from.
enum class Reach { softmax, row, cell };

Reach reachOf(Normalizer normalizer) {
  switch (normalizer) {
    case Normalizer::softmax: return Reach::softmax;
    case Normalizer::sparsemax:
    case Normalizer::hardmax: return Reach::row;
    case Normalizer::sigmoid:
    case Normalizer::relu:
    case Normalizer::none: return Reach::cell;
  }
  return Reach::row;
}

/// Collects regions, each once.
class Lineage {
 public:
  Lineage(const Spec& spec, const Inputs& inputs, Wanted wanted)
      : spec_(spec), inputs_(inputs), reach_(reachOf(spec.normalizer)), wanted_(wanted) {}
  std::vector<Region> take() { return std::move(regions_); }

 protected:
  int group() const { return spec_.heads / spec_.kvHeads; }
  Span queries() const { return {0, spec_.queryCount}; }
  Span keys() const { return {0, spec_.keyCount}; }
  Span dims() const { return {0, spec_.headDim}; }
  Span model() const { return {0, inputs_.x->cols()}; }
  bool isSinusoidal() const { return spec_.position == Position::sinusoidal; }
  /// The two columns that rotary positions turn together.
  static Span pairOf(int col) { return {col - col % 2, col - col % 2 + 2}; }

  /// The scores of a pair up to, and without, `end`, in the order in which they are made.
  std::vector<TensorId> pairsBefore(TensorId end) const {
    std::vector<TensorId> pairs;
    for (TensorId id : {TensorId::raw, TensorId::scores, TensorId::softcapped, TensorId::biased}) {
      if (id == end) break;
      if (id == TensorId::softcapped && !isSoftcapped(spec_)) continue;
      if (id == TensorId::biased && !isBiased(spec_, inputs_)) continue;
      pairs.push_back(id);
    }
    return pairs;
  }

  /// Found once for each query, and head where a bias tells heads apart: a thousand rows ask again and again.
  const std::vector<Span>& seen(int head, int query) const {
    const int heads = inputs_.bias ? spec_.heads : 1;
    if (seen_.empty()) seen_.resize(static_cast<std::size_t>(spec_.queryCount) * static_cast<std::size_t>(heads));
    auto& runs = seen_[static_cast<std::size_t>(query) * static_cast<std::size_t>(heads) + static_cast<std::size_t>(heads > 1 ? head : 0)];
    if (!runs) runs = seenKeys(spec_, inputs_, head, query);
    return *runs;
  }
  std::vector<Span> seen(int head, int query, Span columns) const {
    std::vector<Span> runs;
    for (Span run : seen(head, query)) {
      const Span part{std::max(run.begin, columns.begin), std::min(run.end, columns.end)};
      if (!part.empty()) runs.push_back(part);
    }
    return runs;
  }
  bool seesAny(int head, int query, Span columns) const {
    const std::vector<Span>& runs = seen(head, query);
    return std::any_of(runs.begin(), runs.end(), [columns](Span run) { return run.begin < columns.end && columns.begin < run.end; });
  }
  bool isSeen(int head, int query, int key) const { return seesAny(head, query, {key, key + 1}); }
  /// The keys that take part in the normaliser: under the mistake of masking after it, all.
  std::vector<Span> scoredKeys(int head, int query, Span keys) const {
    return spec_.maskAfterSoftmax ? std::vector<Span>{keys} : seen(head, query, keys);
  }
  bool isScored(int head, int query, int key) const { return spec_.maskAfterSoftmax || isSeen(head, query, key); }

  bool isWanted(TensorId tensor, int head) const {
    if ((wanted_.tensors >> static_cast<int>(tensor) & 1) == 0) return false;
    const bool isOfQueries = tensor == TensorId::q || tensor == TensorId::q_rotated ||
                             (tensor >= TensorId::raw && tensor <= TensorId::head_output);
    return !isOfQueries || wanted_.queryHead < 0 || wanted_.queryHead == head;
  }

  void add(TensorId tensor, int head, Span rows, Span cols) {
    if (rows.empty() || cols.empty() || !isWanted(tensor, head)) return;
    const bool isNew = known_.insert({tensor, head, rows.begin, cols.begin, rows.end, cols.end}).second;
    if (isNew) regions_.push_back({tensor, head, rows.begin, cols.begin, rows.size(), cols.size()});
  }
  void addCell(TensorId tensor, int head, int row, int col) { add(tensor, head, {row, row + 1}, {col, col + 1}); }

  /// The seen cells of rows × keys; rows below each other that see the same keys make one block.
  void addSeen(TensorId tensor, int head, Span rows, Span columns) {
    if (!isWanted(tensor, head)) return;
    std::vector<Span> runs;
    int first = rows.begin;
    for (int i = rows.begin; i <= rows.end; ++i) {
      std::vector<Span> next;
      if (i < rows.end) next = seen(head, i, columns);
      if (i < rows.end && sameRuns(runs, next)) continue;
      for (Span run : runs) add(tensor, head, {first, i}, run);
      runs = std::move(next), first = i;
    }
  }
  void addScored(TensorId tensor, int head, Span rows, Span columns) {
    spec_.maskAfterSoftmax ? add(tensor, head, rows, columns) : addSeen(tensor, head, rows, columns);
  }

  /// What a file adds to the scores of a head, which may be the same for all.
  void addBias(int head, Span rows, Span columns) {
    if (inputs_.bias) add(TensorId::bias, inputs_.bias->heads() == 1 ? 0 : head, rows, columns);
  }

  const Spec& spec_;
  const Inputs& inputs_;
  const Reach reach_;

 private:
  const Wanted wanted_;
  mutable std::vector<std::optional<std::vector<Span>>> seen_;  // by query
  std::vector<Region> regions_;
  std::set<std::tuple<TensorId, int, int, int, int, int>> known_;
};

class Sources : public Lineage {
 public:
  using Lineage::Lineage;

  void of(CellRef cell) {
    const auto [tensor, h, i, j] = cell;
    const Span row{i, i + 1}, col{j, j + 1};
    switch (tensor) {
      case TensorId::x_positioned: return ofPositioned(TensorId::x, firstPosition(spec_, inputs_), row, col);
      case TensorId::x_kv_positioned: return ofPositioned(TensorId::x_kv, 0, row, col);
      case TensorId::q: return projection(TensorId::w_q, row, h * spec_.headDim + j, 1);
      case TensorId::k: return projection(TensorId::w_k, row, h * spec_.headDim + j, 1);
      case TensorId::v: return projection(TensorId::w_v, row, h * spec_.valueDim + j, 1);
      case TensorId::q_rotated: return ofRotated(TensorId::q, h, spec_.causalOffset, row, pairOf(j));
      case TensorId::k_rotated: return ofRotated(TensorId::k, h, 0, row, pairOf(j));
      case TensorId::raw: return ofRaw(h, i, col);
      case TensorId::scores:
      case TensorId::softcapped:
      case TensorId::biased:
        for (TensorId id : pairsBefore(tensor)) addCell(id, h, i, j);
        if (tensor == TensorId::biased) addBias(h, row, col);
        return ofRaw(h, i, col);
      case TensorId::masked: return isScored(h, i, j) ? ofMasked(h, i, col) : void();
      case TensorId::row_max: return addScored(TensorId::masked, h, row, keys()), ofMasked(h, i, keys());
      case TensorId::exponentials: return isScored(h, i, j) ? ofExponentials(h, i, col) : void();
      case TensorId::row_sum:
        return addScored(TensorId::exponentials, h, row, keys()), ofExponentials(h, i, keys());
      case TensorId::weights: return isSeen(h, i, j) ? ofWeights(h, i, col) : void();
      case TensorId::head_output: return ofHeadOutput(h, i, col);
      case TensorId::concat: return ofConcat(i, col);
      case TensorId::output: return ofOutput(i, j);
      default: return;  // inputs
    }
  }

 private:
  void ofPositioned(TensorId x, int firstRow, Span rows, Span cols) {
    add(x, 0, rows, cols);
    add(TensorId::positions, 0, {firstRow + rows.begin, firstRow + rows.end}, cols);
  }
  /// Q, K or V, of rows of x or x_kv.
  void projection(TensorId weights, Span rows, int firstCol, int cols) {
    if (!inputs_.projected()) return;
    const bool isOther = inputs_.xKv && weights != TensorId::w_q;
    const TensorId x = isOther ? TensorId::x_kv : TensorId::x;
    if (isSinusoidal()) {
      add(isOther ? TensorId::x_kv_positioned : TensorId::x_positioned, 0, rows, model());
      ofPositioned(x, isOther ? 0 : firstPosition(spec_, inputs_), rows, model());
    } else {
      add(x, 0, rows, model());
    }
    add(weights, 0, model(), {firstCol, firstCol + cols});
  }
  void ofRotated(TensorId from, int head, int firstRow, Span rows, Span cols) {
    add(from, head, rows, cols);
    add(TensorId::positions, 0, {firstRow + rows.begin, firstRow + rows.end}, {cols.begin / 2, cols.end / 2});
    projection(from == TensorId::q ? TensorId::w_q : TensorId::w_k, rows, head * spec_.headDim + cols.begin,
               cols.size());
  }
  void ofRaw(int h, int i, Span columns) {
    const int g = h / group();
    const Span row{i, i + 1};
    if (isRotary(spec_)) {
      add(TensorId::q_rotated, h, row, dims());
      add(TensorId::k_rotated, g, columns, dims());
      ofRotated(TensorId::q, h, spec_.causalOffset, row, dims());
      ofRotated(TensorId::k, g, 0, columns, dims());
    } else {
      add(TensorId::q, h, row, dims());
      add(TensorId::k, g, columns, dims());
      projection(TensorId::w_q, row, h * spec_.headDim, spec_.headDim);
      projection(TensorId::w_k, columns, g * spec_.headDim, spec_.headDim);
    }
    if (spec_.score == Score::general || spec_.score == Score::additive) add(TensorId::w_a, h, dims(), dims());
    if (spec_.score != Score::additive) return;
    add(TensorId::u_a, h, dims(), dims());
    add(TensorId::v_a, h, {0, 1}, dims());
  }
  void ofMasked(int h, int i, Span columns) {
    for (TensorId id : pairsBefore(TensorId::masked)) addScored(id, h, {i, i + 1}, columns);
    for (Span run : scoredKeys(h, i, columns)) addBias(h, {i, i + 1}, run);
    for (Span run : scoredKeys(h, i, columns)) ofRaw(h, i, run);
  }
  void ofExponentials(int h, int i, Span columns) {
    addScored(TensorId::masked, h, {i, i + 1}, columns);
    addCell(TensorId::row_max, h, i, 0);
    addScored(TensorId::masked, h, {i, i + 1}, keys());
    ofMasked(h, i, keys());
  }
  void ofWeights(int h, int i, Span columns) {
    if (reach_ == Reach::softmax) {
      addSeen(TensorId::exponentials, h, {i, i + 1}, columns);
      addCell(TensorId::row_sum, h, i, 0);
      addScored(TensorId::exponentials, h, {i, i + 1}, keys());
      return ofExponentials(h, i, keys());
    }
    const Span from = reach_ == Reach::cell ? columns : keys();
    addSeen(TensorId::masked, h, {i, i + 1}, from);
    ofMasked(h, i, from);
  }
  void ofHeadOutput(int h, int i, Span cols) {
    const std::vector<Span>& runs = seen(h, i);
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
      if (isHidden(spec_, h)) continue;
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
      case TensorId::x: return ofX(i, col);
      case TensorId::x_kv: return ofXKv(i, col);
      case TensorId::x_positioned: return ofPositionedX(i);
      case TensorId::x_kv_positioned: return ofKeysAndValues(row);
      case TensorId::positions: return ofPositions(i, j);
      case TensorId::w_q: return ofQueries(true, j / spec_.headDim, queries(), j % spec_.headDim);
      case TensorId::w_k: return ofKeys(true, j / spec_.headDim, keys(), j % spec_.headDim);
      case TensorId::w_v: return ofValues(true, j / spec_.valueDim, keys(), j % spec_.valueDim);
      case TensorId::w_o: return add(TensorId::output, 0, queries(), col);
      case TensorId::w_a:
        return spec_.score == Score::general || spec_.score == Score::additive ? ofScoreWeights(h) : void();
      case TensorId::u_a:
      case TensorId::v_a: return spec_.score == Score::additive ? ofScoreWeights(h) : void();
      case TensorId::bias: return ofBias(h, row, col);
      case TensorId::q: return ofQueries(false, h, row, j);
      case TensorId::k: return ofKeys(false, h, row, j);
      case TensorId::v: return ofValues(false, h, row, j);
      case TensorId::q_rotated: return ofRaw(h, row, keys());
      case TensorId::k_rotated: return ofRawOfKeys(h, row);
      case TensorId::raw:
      case TensorId::scores:
      case TensorId::softcapped:
      case TensorId::biased: return ofPairs(tensor, h, row, col);
      case TensorId::masked: return isScored(h, i, j) ? ofMasked(h, row, col) : void();
      case TensorId::row_max: return ofRowMax(h, row);
      case TensorId::exponentials: return isScored(h, i, j) ? ofExponentials(h, row) : void();
      case TensorId::row_sum: return ofRowSum(h, row);
      case TensorId::weights: return isSeen(h, i, j) ? ofWeights(h, row) : void();
      case TensorId::head_output: return ofHeadOutput(h, row, col);
      case TensorId::concat: return ofConcat(row, col);
      case TensorId::output: return;
    }
  }

 private:
  void ofX(int i, Span cols) {
    if (isSinusoidal()) add(TensorId::x_positioned, 0, {i, i + 1}, cols);
    ofPositionedX(i);
  }
  void ofXKv(int i, Span cols) {
    if (isSinusoidal()) add(TensorId::x_kv_positioned, 0, {i, i + 1}, cols);
    ofKeysAndValues({i, i + 1});
  }
  void ofPositionedX(int i) {
    const Span row{i, i + 1};
    for (int h = 0; h < spec_.heads; ++h) {
      add(TensorId::q, h, row, dims());
      ofRotatedQueries(h, row, dims());
    }
    if (!inputs_.xKv) ofKeysAndValues(row);
  }
  void ofKeysAndValues(Span rows) {
    for (int g = 0; g < spec_.kvHeads; ++g) {
      add(TensorId::k, g, rows, dims());
      add(TensorId::v, g, rows, {0, spec_.valueDim});
      ofRotatedKeys(g, rows, dims());
    }
    for (int h = 0; h < spec_.heads; ++h) ofSeeing(h, rows, {0, spec_.valueDim});
  }
  void ofPositions(int i, int j) {
    const Span columns{j, j + 1}, turned{2 * j, 2 * j + 2};
    const int query = i - (isRotary(spec_) ? spec_.causalOffset : firstPosition(spec_, inputs_));
    const bool isQuery = query >= 0 && query < spec_.queryCount, isKey = i < spec_.keyCount;
    if (isSinusoidal()) {
      if (isQuery) ofX(query, columns);
      if (inputs_.xKv && isKey) ofXKv(i, columns);
      return;
    }
    for (int h = 0; h < spec_.heads && isQuery; ++h) ofRotatedQueries(h, {query, query + 1}, turned);
    for (int g = 0; g < spec_.kvHeads && isKey; ++g) ofRotatedKeys(g, {i, i + 1}, turned);
  }
  /// From rows of Q on, of which `cols` are turned together where positions are rotary.
  void ofRotatedQueries(int h, Span rows, Span cols) {
    if (isRotary(spec_)) add(TensorId::q_rotated, h, rows, cols);
    ofRaw(h, rows, keys());
  }
  void ofRotatedKeys(int g, Span rows, Span cols) {
    if (isRotary(spec_)) add(TensorId::k_rotated, g, rows, cols);
    ofRawOfKeys(g, rows);
  }
  void ofQueries(bool projected, int h, Span rows, int col) {
    if (projected) add(TensorId::q, h, rows, {col, col + 1});
    ofRotatedQueries(h, rows, pairOf(col));
  }
  void ofKeys(bool projected, int g, Span rows, int col) {
    if (projected) add(TensorId::k, g, rows, {col, col + 1});
    ofRotatedKeys(g, rows, pairOf(col));
  }
  void ofRawOfKeys(int g, Span rows) {
    for (int h = g * group(); h < (g + 1) * group(); ++h) ofRaw(h, queries(), rows);
  }
  void ofValues(bool projected, int g, Span rows, int col) {
    if (projected) add(TensorId::v, g, rows, {col, col + 1});
    for (int h = g * group(); h < (g + 1) * group(); ++h) ofSeeing(h, rows, {col, col + 1});
  }
  void ofBias(int h, Span row, Span col) {
    if (!inputs_.bias) return;
    const Span heads = inputs_.bias->heads() == 1 ? Span{0, spec_.heads} : Span{h, h + 1};
    for (int head = heads.begin; head < heads.end; ++head) {
      add(TensorId::biased, head, row, col);
      ofPairs(TensorId::biased, head, row, col);
    }
  }
  void ofScoreWeights(int h) { ofRaw(h, queries(), keys()); }
  /// Columns of the outputs of the queries that see any of `columns`.
  void ofSeeing(int h, Span columns, Span cols) {
    forSeeing(h, columns, queries(), [&](Span rows) {
      add(TensorId::head_output, h, rows, cols);
      ofHeadOutput(h, rows, cols);
    });
  }
  /// Calls `use` with the runs of rows that see any of `columns`.
  template <class Use>
  void forSeeing(int h, Span columns, Span rows, Use use) {
    int first = rows.begin;
    for (int i = rows.begin; i <= rows.end; ++i) {
      if (i < rows.end && seesAny(h, i, columns)) continue;
      if (i > first) use(Span{first, i});
      first = i + 1;
    }
  }
  void ofRaw(int h, Span rows, Span columns) {
    add(TensorId::raw, h, rows, columns);
    ofPairs(TensorId::raw, h, rows, columns);
  }
  /// What follows the scores `from`.
  void ofPairs(TensorId from, int h, Span rows, Span columns) {
    for (TensorId id : pairsBefore(TensorId::masked)) {
      if (id > from) add(id, h, rows, columns);
    }
    addScored(TensorId::masked, h, rows, columns);
    if (spec_.maskAfterSoftmax) return ofMasked(h, rows, columns);
    forSeeing(h, columns, rows, [&](Span run) { ofMasked(h, run, columns); });
  }
  /// What follows scored cells of `columns` in rows that all have some.
  void ofMasked(int h, Span rows, Span columns) {
    if (reach_ == Reach::softmax) {
      add(TensorId::row_max, h, rows, {0, 1});
      return ofRowMax(h, rows);
    }
    addSeen(TensorId::weights, h, rows, reach_ == Reach::cell ? columns : keys());
    ofWeights(h, rows);
  }
  void ofRowMax(int h, Span rows) {
    addScored(TensorId::exponentials, h, rows, keys());
    ofExponentials(h, rows);
  }
  void ofExponentials(int h, Span rows) {
    add(TensorId::row_sum, h, rows, {0, 1});
    ofRowSum(h, rows);
  }
  void ofRowSum(int h, Span rows) {
    addSeen(TensorId::weights, h, rows, keys());
    forSeeing(h, keys(), rows, [&](Span run) { ofWeights(h, run); });
  }
  void ofWeights(int h, Span rows) {
    add(TensorId::head_output, h, rows, {0, spec_.valueDim});
    ofHeadOutput(h, rows, {0, spec_.valueDim});
  }
  void ofHeadOutput(int h, Span rows, Span cols) {
    if (isHidden(spec_, h)) return;
    const Span placed{h * spec_.valueDim + cols.begin, h * spec_.valueDim + cols.end};
    add(TensorId::concat, 0, rows, placed);
    ofConcat(rows, placed);
  }
  void ofConcat(Span rows, Span cols) {
    add(TensorId::output, 0, rows, inputs_.wO ? Span{0, inputs_.wO->cols()} : cols);
  }
};

}  // namespace

std::vector<Region> sources(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted) {
  Sources found(spec, inputs, wanted);
  found.of(cell);
  return found.take();
}

std::vector<Region> feeds(const Spec& spec, const Inputs& inputs, CellRef cell, Wanted wanted) {
  Feeds found(spec, inputs, wanted);
  found.of(cell);
  return found.take();
}

}  // namespace attention
