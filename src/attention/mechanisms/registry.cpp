#include "attention/mechanisms/registry.h"

#include <algorithm>

#include "attention/mechanisms/mechanism.h"

namespace attention {

#define ATTENTION_RECORD(name) &name,
#define ATTENTION_TEXT(name) &name##Text,
const ScoreMechanism& mechanismOf(Score score) {
  using namespace scores;
  static constexpr const ScoreMechanism* kAll[] = {ATTENTION_SCORES(ATTENTION_RECORD)};
  return *kAll[static_cast<std::size_t>(score)];
}
const ScoreText& textOf(Score score) {
  using namespace scores;
  static constexpr const ScoreText* kAll[] = {ATTENTION_SCORES(ATTENTION_TEXT)};
  return *kAll[static_cast<std::size_t>(score)];
}
const NormalizerMechanism& mechanismOf(Normalizer normalizer) {
  using namespace normalizers;
  static constexpr const NormalizerMechanism* kAll[] = {ATTENTION_NORMALIZERS(ATTENTION_RECORD)};
  return *kAll[static_cast<std::size_t>(normalizer)];
}
const NormalizerText& textOf(Normalizer normalizer) {
  using namespace normalizers;
  static constexpr const NormalizerText* kAll[] = {ATTENTION_NORMALIZERS(ATTENTION_TEXT)};
  return *kAll[static_cast<std::size_t>(normalizer)];
}

bool takes(Score score, TensorId parameter) {
  const std::span<const TensorId> all = mechanismOf(score).parameters;
  return std::find(all.begin(), all.end(), parameter) != all.end();
}

}  // namespace attention
