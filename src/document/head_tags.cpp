#include "document/head_tags.h"

#include <map>
#include <string_view>
#include <utility>

#include "attention/mechanisms/mechanism.h"

namespace document {

bool hasHeadTags(const Settings& s) {
  const attention::NormalizerMechanism& normalizer = attention::mechanismOf(s.normalizer);
  const bool isInFull = std::int64_t{s.tokens} * s.keyTokens <= attention::Limits::inFull;
  return isInFull && !s.cross && s.step == 0 && s.tokens >= kTaggedTokens && s.keyTokens == s.tokens &&
         normalizer.sumsToOne && normalizer.least >= 0;
}

std::vector<int> tokenNumbers(const std::vector<std::string>& labels) {
  std::map<std::string_view, int> seen;
  std::vector<int> out;
  for (const std::string& label : labels)
    out.push_back(seen.emplace(label, static_cast<int>(seen.size())).first->second);
  return out;
}

const attention::HeadTag& HeadTags::of(const State& state, int head, const attention::Tensor& weights,
                                       const attention::Tensor& masked, std::uint32_t written, bool waits) {
  // Thousands of labels are not compared in every frame.
  if (std::exchange(mayDiffer_, false) && (labels_ != state.labels || causal_ != state.causal)) {
    kept_.clear(), measured_ = waits_ = -1;
    labels_ = state.labels, causal_ = state.causal;
    numbers_ = tokenNumbers(labels_);
  }
  const auto at = static_cast<std::size_t>(head);
  if (at >= kept_.size()) kept_.resize(at + 1);
  Kept& kept = kept_[at];
  kept.asked = written;
  if (kept.written == written) return kept.tag;
  if (weights.isStored()) {
    kept.written = written;
    return kept.tag = attention::tagOf(attention::rowsOfHead(weights, head), numbers_,
                                       {causal_, attention::rowsOfHead(masked, head)});
  }
  // Not before the rows have stopped changing.
  const bool isNew = kept.written != ~written;
  if (isNew && measured_ == head) measured_ = -1;
  if (isNew) return kept.written = ~written, kept.tag;
  if (waits) return kept.tag;
  // A head that is asked for twice while the one that is measured is not: nobody sees that any more.
  if (measured_ < 0 || waits_ == head) measured_ = head, meter_ = {};
  const bool isOfOther = measured_ != head;
  if (!isOfOther || waits_ < 0) waits_ = isOfOther ? head : -1;
  if (isOfOther) return kept.tag;
  constexpr int kRows = 8;  // 2 ms of rows of 4,096 keys
  if (!meter_.take(kRows, attention::rowsOfHead(weights, head), numbers_,
                   {causal_, attention::rowsOfHead(masked, head)}))
    return kept.tag;
  measured_ = -1;
  kept.written = kept.measured = written, kept.measures = meter_.measures();
  return kept.tag = attention::tagOf(kept.measures);
}

const attention::HeadMeasures* HeadTags::measures(int head, const attention::Tensor& weights,
                                                  const attention::Tensor& masked, std::uint32_t written,
                                                  int& left) {
  Kept& kept = kept_[static_cast<std::size_t>(head)];
  const bool isStill = std::exchange(kept.seen, written) == written;
  if (kept.measured != written && weights.isStored() &&
      (weights.cols() <= kAtOnce || (isStill && left-- > 0))) {
    kept.measured = written;
    kept.measures = attention::measuresOf(attention::rowsOfHead(weights, head), numbers_,
                                          {causal_, attention::rowsOfHead(masked, head)});
  }
  return kept.measured == written ? &kept.measures : nullptr;
}

}  // namespace document
