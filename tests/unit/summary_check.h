// Compares summaries with a scan of the whole tensors, and stamps with what has actually changed.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "attention/engine/engine.h"
#include "attention/steps/mask.h"
#include "layer.h"

namespace test {

/// The range of a block, found by looking at every number.
inline attention::Range scanned(const attention::Tensor& t, int head, attention::Span rows,
                                attention::Span cols) {
  attention::Range range;
  for (int r = rows.begin; r < rows.end; ++r) {
    for (int c = cols.begin; c < cols.end; ++c) {
      const float v = t.at(head, r, c);
      if (std::isfinite(v)) range = {std::min(range.low, v), std::max(range.high, v)};
    }
  }
  return range;
}

/// Keeps a copy of the tensors from the previous check.
class SummaryCheck {
 public:
  /// A description of what is wrong, or "".
  std::string wrong(attention::Engine& engine, const attention::Inputs& inputs) {
    using namespace attention;
    Summaries& s = engine.summaries();
    while (engine.hasMore()) engine.computeNext();
    const Trace& trace = engine.trace();
    Summaries anew;
    anew.begin(true);
    anew.touchAll(engine.spec(), inputs, trace);
    for (int i = 0; i < kTensorCount; ++i) {
      const auto id = static_cast<TensorId>(i);
      const Tensor* t = find(inputs, trace, id);
      if (!t) continue;
      const std::string name(attention::name(id));
      if (std::string bad = wrongStamps(s, id, *t); !bad.empty()) return name + ": " + bad;
      if (std::string bad = wrongRanges(s, id, *t, engine.spec()); !bad.empty()) return name + ": " + bad;
      if (s.reach(id, *t) != anew.reach(id, stored(*t))) return name + ": the end of its colour scale";
    }
    for (TensorId id : {TensorId::weights, TensorId::head_output}) {
      if (std::string bad =
              wrongMean(s.mean(id, engine.spec(), trace), *find(inputs, trace, id), engine.spec());
          !bad.empty())
        return bad;
    }
    if (std::string bad = wrongWeights(s, TensorId::weights, trace.weights); !bad.empty())
      return "weights: " + bad;
    if (std::string bad = wrongWeights(s, kMeanWeights, s.mean(TensorId::weights, engine.spec(), trace));
        !bad.empty())
      return "mean: " + bad;
    seen_ = s.now();
    return wrongMask(s, engine.spec(), inputs);
  }

 private:
  // A changed number must be in a row or a column that is stamped as changed.
  std::string wrongStamps(attention::Summaries& s, attention::TensorId id, const attention::Tensor& t) {
    attention::Tensor& before = before_[static_cast<std::size_t>(id)];
    std::string bad;
    for (int h = 0; h < t.heads() && before.sameShape(t); ++h) {
      const attention::Stamps& stamps = s.stamps(id, h);
      for (int r = 0; r < t.rows(); ++r) {
        for (int c = 0; c < t.cols(); ++c) {
          if (t.at(h, r, c) == before.at(h, r, c) || stamps.rowIsNewer(r, seen_)) continue;
          const auto col = static_cast<std::size_t>(c);
          const bool isTold = !stamps.cols.empty() && stamps.cols[col] > seen_;
          if (!isTold || !stamps.isNewer(seen_)) bad = "a change that no stamp tells of";
        }
      }
    }
    before = stored(t);
    return bad;
  }

  static std::string wrongRanges(attention::Summaries& s, attention::TensorId id, const attention::Tensor& t,
                                 const attention::Spec& spec) {
    using attention::TensorId;
    attention::Range all;
    for (int h = 0; h < t.heads(); ++h) {
      const attention::Range head = scanned(t, h, {0, t.rows()}, {0, t.cols()});
      all = {std::min(all.low, head.low), std::max(all.high, head.high)};
      if (s.range(id, t, h, {0, t.rows()}, {0, t.cols()}) != head) return "the range of a head";
      const attention::Span middle{t.rows() / 3, t.rows() / 2 + 1};
      if (s.range(id, t, h, middle, {0, t.cols()}) != scanned(t, h, middle, {0, t.cols()}))
        return "the range of some rows";
    }
    if (id == TensorId::w_q || id == TensorId::w_k) {
      const attention::Span last{t.cols() - spec.headDim, t.cols()};
      if (s.range(id, t, 0, {0, t.rows()}, last) != scanned(t, 0, {0, t.rows()}, last))
        return "the range of some columns";
    }
    return s.range(id, t) == all ? "" : "the range of all";
  }

  // The mean is over the heads that take part.
  static std::string wrongMean(const attention::Tensor& mean, const attention::Tensor& all,
                               const attention::Spec& spec) {
    if (mean.rows() != all.rows() || mean.cols() != all.cols()) return "the shape of a mean";
    for (int i = 0; i < all.rows(); ++i) {
      for (int j = 0; j < all.cols(); ++j) {
        double sum = 0;
        int count = 0;
        for (int h = 0; h < all.heads(); ++h) {
          if (isHidden(spec, h)) continue;
          sum += static_cast<double>(all.at(h, i, j)), ++count;
        }
        if (mean.at(0, i, j) != static_cast<float>(sum / std::max(count, 1))) return "a mean of the heads";
      }
    }
    return "";
  }

  static std::string wrongWeights(attention::Summaries& s, attention::TensorId id,
                                  const attention::Tensor& t) {
    for (int h = 0; h < t.heads(); ++h) {
      int links = 0;
      for (int r = 0; r < t.rows(); ++r) {
        const attention::Range range = scanned(t, h, {r, r + 1}, {0, t.cols()});
        const attention::RowSummary& row = s.row(id, t, h, r);
        int here = 0;
        for (int c = 0; c < t.cols(); ++c) here += t.at(h, r, c) >= attention::kLink;
        links += here;
        if (row.links != here) return "the links of a row";
        if (row.range != range || s.rowPeaks(id, t, h)[r] != range.size()) return "the range of a row";
        if (range.high > 0 && t.at(h, r, row.highAt) != range.high)
          return "the place of the largest of a row";
      }
      if (s.links(id, t, h) != links) return "the links of a head";
    }
    return "";
  }

  static std::string wrongMask(attention::Summaries& s, const attention::Spec& spec,
                               const attention::Inputs& inputs) {
    const attention::Tensor& visible = s.visible(spec, inputs);
    std::int64_t count = 0;
    for (int i = 0; i < spec.queryCount; ++i) {
      const attention::MaskRow row(spec, i);
      for (int j = 0; j < spec.keyCount; ++j) {
        bool isSeen =
            inputs.bias == nullptr;  // with a bias, a key is seen if the bias of any head lets it through
        for (int h = 0; !isSeen && h < inputs.bias->heads(); ++h)
          isSeen = std::isfinite(inputs.bias->at(h, i, j));
        isSeen = isSeen && row.sees(j) && !(inputs.painted && inputs.painted->isBlocked(i, j));
        count += isSeen;
        if (visible.at(0, i, j) != (isSeen ? 1.0f : 0.0f)) return "a cell of the mask";
      }
    }
    return s.visibleCount(spec, inputs) == count ? "" : "how many cells the mask shows";
  }

  std::array<attention::Tensor, static_cast<std::size_t>(attention::kTensorCount)> before_;
  std::uint32_t seen_ = 0;
};

}  // namespace test
