// A causal layer as it decodes: one query at a time, with the keys and values of the tokens before it in a cache.
#pragma once

#include "attention/layer/spec.h"

namespace attention {

/// What one step does with the cache; ranges of keys, half-open.
struct CacheStep {
  int position = 0;  ///< of the query among the keys
  KeyRange reused;   ///< cached by the steps before, and not yet left behind by the window
  KeyRange added;    ///< computed in this step: its own token, in the first step also the rest of the prefix
  KeyRange evicted;  ///< what no query from here on can see, and the step before still kept
};

/// The layer of one step: query `query` of `whole` alone, and the keys cached by then, which are the first keyCount of
/// the whole. It gives the row that the whole layer gives.
Spec stepOf(const Spec& whole, int query);

/// The cache at step `query` of `whole`, a causal layer. Keys before whole.causalOffset were cached beforehand.
CacheStep cacheStep(const Spec& whole, int query);

/// Bytes of float32 keys and values for so many tokens: kvHeads · (headDim + valueDim) numbers each.
std::int64_t cacheBytes(const Spec& spec, int tokens);

}  // namespace attention
