#include "attention/engine/decode.h"

#include <algorithm>

namespace attention {
namespace {

/// The number of keys in the cache once a query has been answered.
int cachedBy(const Spec& whole, int query) {
  const std::int64_t position = std::int64_t{whole.causalOffset} + query;
  return static_cast<int>(
      std::min(std::int64_t{whole.keyCount}, std::max(position + 1, std::int64_t{whole.prefix})));
}

/// The first key that this query or any later one can see.
int firstKept(const Spec& whole, int query) {
  if (whole.windowLeft < 0) return 0;
  const std::int64_t first = std::int64_t{whole.causalOffset} + query - whole.windowLeft;
  return static_cast<int>(std::clamp(first, std::int64_t{0}, std::int64_t{whole.keyCount}));
}

}  // namespace

Spec stepOf(const Spec& whole, int query) {
  Spec step = whole;
  step.queryCount = 1, step.causalOffset = whole.causalOffset + query;
  step.keyCount = cachedBy(whole, query);
  step.keyLength = std::min(whole.keyLength, step.keyCount),
  step.prefix = std::min(whole.prefix, step.keyCount);
  return step;
}

CacheStep cacheStep(const Spec& whole, int query) {
  const int before = query > 0 ? cachedBy(whole, query - 1) : std::min(whole.causalOffset, whole.keyCount);
  const int kept = firstKept(whole, query);
  CacheStep step;
  step.position = whole.causalOffset + query;
  step.added = {before, cachedBy(whole, query)};
  step.reused = {std::min(kept, before), before};
  step.evicted = {query > 0 ? firstKept(whole, query - 1) : 0, kept};
  return step;
}

std::int64_t cacheBytes(const Spec& spec, int tokens) {
  return std::int64_t{4} * tokens * spec.kvHeads * (spec.headDim + spec.valueDim);
}

}  // namespace attention
