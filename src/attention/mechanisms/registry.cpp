#include "attention/mechanisms/registry.h"

#include "attention/mechanisms/mechanism.h"

namespace attention {

#define ATTENTION_RECORD(name) &name,
#define ATTENTION_TEXT(name) &name##Text,
namespace scores {
constexpr const ScoreMechanism* kMechanisms[] = {ATTENTION_SCORES(ATTENTION_RECORD)};
constexpr const ScoreText* kTexts[] = {ATTENTION_SCORES(ATTENTION_TEXT)};
}  // namespace scores
namespace normalizers {
constexpr const NormalizerMechanism* kMechanisms[] = {ATTENTION_NORMALIZERS(ATTENTION_RECORD)};
constexpr const NormalizerText* kTexts[] = {ATTENTION_NORMALIZERS(ATTENTION_TEXT)};
}  // namespace normalizers

const ScoreMechanism& mechanismOf(Score score) {
  return *scores::kMechanisms[static_cast<std::size_t>(score)];
}
const ScoreText& textOf(Score score) { return *scores::kTexts[static_cast<std::size_t>(score)]; }
const NormalizerMechanism& mechanismOf(Normalizer normalizer) {
  return *normalizers::kMechanisms[static_cast<std::size_t>(normalizer)];
}
const NormalizerText& textOf(Normalizer normalizer) {
  return *normalizers::kTexts[static_cast<std::size_t>(normalizer)];
}

bool takes(Score score, TensorId parameter) {
  for (const TensorId id : mechanismOf(score).parameters)
    if (id == parameter) return true;
  return false;
}

}  // namespace attention
