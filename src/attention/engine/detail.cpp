#include "attention/engine/detail.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "attention/engine/overview.h"

namespace attention {
namespace {

/// What is seen with half as much on either side, in whole blocks.
Span around(Span seen, int side, int count) {
  const int more = seen.size() / 2, begin = std::max(seen.begin - more, 0) / side * side,
            end = std::min(seen.end + more, count);
  return {begin, std::min((end + side - 1) / side * side, count)};
}

/// Never the same, also after everything was forgotten: textures are told apart by it.
std::uint32_t newVersion() {
  static std::uint32_t last = 0;
  return ++last;
}

bool isInside(Span a, Span b) { return a.begin >= b.begin && a.end <= b.end; }

}  // namespace

void Detail::ask(const Area& seen) {
  const bool isSame = seen.head == area_.head && seen.side == area_.side && seen.queries == area_.queries &&
                      seen.keys == area_.keys;
  if (isSame && isInside(seen.rows, area_.rows) && isInside(seen.cols, area_.cols)) return;
  area_ = seen;
  area_.rows = around(seen.rows, seen.side, seen.queries),
  area_.cols = around(seen.cols, seen.side, seen.keys);
  const auto blocksOf = [&](Span span) { return (span.size() + seen.side - 1) / seen.side; };
  for (Tensor* tensor : {&masked_, &weights_}) tensor->reshape(1, blocksOf(area_.rows), blocksOf(area_.cols));
  const auto rows = static_cast<std::size_t>(masked_.rows());
  peaks_.assign(rows, 0.0f), stale_.assign(rows, 1), totals_.assign(rows, {});
  first_ = (seen.rows.begin - area_.rows.begin) / seen.side, made_ = {first_, first_}, left_ = masked_.rows();
  version_ = begunAt_ = newVersion();
  rowsAt_.assign(rows, begunAt_);
}

void Detail::touch(Span rows) {
  for (int b = 0; b < static_cast<int>(stale_.size()); ++b) {
    std::uint8_t& stale = stale_[static_cast<std::size_t>(b)];
    if (stale || rowOf(b) < rows.begin || rowOf(b) >= rows.end) continue;
    stale = 1, ++left_;
  }
}

int Detail::rowOf(int block) const {
  const int first = area_.rows.begin + block * area_.side;
  return std::min(first + area_.side / 2, area_.rows.end - 1);
}

Span Detail::next(int most) const {
  if (area_.side > 1) most = 1;
  const auto begin = stale_.begin(), seen = begin + first_;
  auto first = std::find(seen, stale_.end(), 1), end = first;
  if (first != stale_.end()) {
    while (end != stale_.end() && end - first < most && *end) ++end;
  } else {
    first = end = std::find(std::make_reverse_iterator(seen), stale_.rend(), 1).base();
    while (first != begin && end - first < most && first[-1]) --first;
  }
  return {rowOf(static_cast<int>(first - begin)), rowOf(static_cast<int>(end - begin) - 1) + 1};
}

int Detail::find(int head, int query) const {
  const int block = query - area_.rows.begin;
  const bool isThere = area_.side == 1 && head == area_.head && block >= made_.begin && block < made_.end;
  return isThere ? block : -1;
}

void Detail::take(const Trace& trace, Span rows) {
  version_ = newVersion();
  const int side = area_.side;
  for (int r = rows.begin; r < rows.end; ++r) {
    const int block = (r - area_.rows.begin) / side;
    for (const auto& [from, to] :
         {std::pair(&trace.masked, &masked_), std::pair(&trace.weights, &weights_)}) {
      const float* const numbers = from->row(area_.head, r);
      float* const out = to->row(0, block);
      for (int b = 0; b < to->cols(); ++b) {
        const int first = area_.cols.begin + b * side, end = std::min(first + side, area_.cols.end);
        out[b] = numbers[first];
        for (int j = first + 1; j < end; ++j) out[b] = farther(out[b], numbers[j]);
      }
    }
    const auto at = static_cast<std::size_t>(block);
    totals_[at] = totalsOf(trace.weights.row(area_.head, r), trace.weights.cols());
    peaks_[at] = std::max(totals_[at].high, -totals_[at].low);
    left_ -= stale_[at], stale_[at] = 0, rowsAt_[at] = version_;
    made_ = {std::min(made_.begin, block), std::max(made_.end, block + 1)};
  }
}

}  // namespace attention
