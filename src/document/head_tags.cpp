#include "document/head_tags.h"

#include <map>
#include <string_view>

#include "attention/mechanisms/mechanism.h"

namespace document {

bool hasHeadTags(const Settings& s) {
  const attention::NormalizerMechanism& normalizer = attention::mechanismOf(s.normalizer);
  return !s.cross && s.step == 0 && s.tokens >= kTaggedTokens && s.keyTokens == s.tokens &&
         normalizer.sumsToOne && normalizer.least >= 0;
}

std::vector<int> tokenNumbers(const std::vector<std::string>& labels) {
  std::map<std::string_view, int> seen;
  std::vector<int> out;
  for (const std::string& label : labels)
    out.push_back(seen.emplace(label, static_cast<int>(seen.size())).first->second);
  return out;
}

const attention::HeadTag& HeadTags::of(const State& state, int head, const float* weights,
                                       const float* masked, std::uint32_t written) {
  if (labels_ != state.labels || causal_ != state.causal) {
    kept_.clear();
    labels_ = state.labels, causal_ = state.causal;
    numbers_ = tokenNumbers(labels_);
  }
  const auto at = static_cast<std::size_t>(head);
  if (at >= kept_.size()) kept_.resize(at + 1);
  if (Kept& kept = kept_[at]; kept.written != written)
    kept = {written, attention::tagOf(weights, numbers_, {causal_, masked})};
  return kept_[at].tag;
}

}  // namespace document
