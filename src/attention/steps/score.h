// The raw scores of one head, and their gradient. What differs from score to score is in mechanisms/scores/.
#pragma once

#include <cstdint>

#include "attention/layer/trace.h"
#include "attention/steps/products.h"

namespace attention {

/// What a score makes of the rows of Q, or of K, of one head, in whose first head are the rows that it
/// compares; and the gradients of those, of the rows that they were made of, and of their parameter.
struct ScoreSideMemory {
  Tensor made, dMade, dRows, dParameter;
};
/// Memory kept between calls.
struct ScoreMemory {
  ScoreSideMemory query, key;
  Tensor dV;
  Products products;
  std::uint64_t content = 0;  ///< a number of what query.made and key.made were made of; 0: not known
};

/// The rows of one head that a score compares: Q and K after rotary positions, or what it makes of them.
struct Compared {
  Matrix queries, keys;
};
/// What the call before made of queries, or of keys, may be that of this head, too: of keys also if it was
/// for another query head.
struct StillMade {
  bool queries = false, keys = false;
};
Compared comparedRows(const ComputedLayer& layer, int head, StillMade still, ScoreMemory& memory);
/// raw for one query and every key.
void makeRawRow(const Spec& spec, const Inputs& inputs, const Compared& rows, int head, int query,
                Trace& trace);

/// Where the gradients of one head are accumulated. `k` is that of its key head, which other query heads add
/// to as well.
struct ScoreGradients {
  Tensor* q = nullptr;   ///< of queriesOf(trace)
  Tensor* k = nullptr;   ///< of keysOf(trace)
  Tensor* wA = nullptr;  ///< null where the score has none
  Tensor* uA = nullptr;
  Tensor* vA = nullptr;
};
/// From `dRaw`, [queryCount, keyCount] for this head, which must be finite. Adds to what the gradients
/// already hold.
void addScoreGradients(const ComputedLayer& layer, int head, const Tensor& dRaw, const ScoreGradients& to,
                       ScoreMemory& memory);

}  // namespace attention
