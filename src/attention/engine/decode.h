// Decoding with a causal layer: one query at a time, with the keys and values of the tokens before it in a
// cache.
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// What one decoding step does with the cache, as half-open ranges of keys.
struct CacheStep {
  int position = 0;  ///< of the query, counted among the keys
  KeyRange reused;   ///< cached by earlier steps and still inside the window
  /// Computed in this step: the key of its own token, and in the first step also those of the rest of the
  /// prefix.
  KeyRange added;
  KeyRange evicted;  ///< kept by the step before, but not visible to this query or any later one
};

/// The layer of one decoding step: query `query` of `whole` alone, over the first keyCount keys of `whole`.
/// Its output is the same row that the whole layer computes.
Spec stepOf(const Spec& whole, int query);

/// The cache at step `query` of the causal layer `whole`. Keys before whole.causalOffset were cached
/// beforehand.
CacheStep cacheStep(const Spec& whole, int query);

/// Bytes of the float32 keys and values of `tokens` tokens: kvHeads · (headDim + valueDim) numbers for each.
std::int64_t cacheBytes(const Spec& spec, int tokens);

}  // namespace attention
