#include "attention/mechanisms/registry.h"

#include "attention/mechanisms/mechanism.h"

namespace attention {

const NormalizerMechanism& mechanismOf(Normalizer normalizer) {
#define ATTENTION_USE(name) &normalizers::name,
  static constexpr const NormalizerMechanism* kAll[] = {ATTENTION_NORMALIZERS(ATTENTION_USE)};
#undef ATTENTION_USE
  return *kAll[static_cast<std::size_t>(normalizer)];
}

const NormalizerText& textOf(Normalizer normalizer) {
#define ATTENTION_USE(name) &normalizers::name##Text,
  static constexpr const NormalizerText* kAll[] = {ATTENTION_NORMALIZERS(ATTENTION_USE)};
#undef ATTENTION_USE
  return *kAll[static_cast<std::size_t>(normalizer)];
}

}  // namespace attention
