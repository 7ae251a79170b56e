// Hierarchical attention (Yang et al. 2016, "Hierarchical Attention Networks for Document Classification"): tokens are
// grouped into segments, a learned query looks at the tokens of each segment, and another at the segments.
//
// Per level, equations 5 to 7 (words) and 8 to 10 (sentences):  u = tanh(W h + b),  a = softmax(u · u_w),  s = Σ a · h.
// In the paper recurrent networks stand before each level; here h is given, and the segments are the sums as they are.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/layer/explain.h"

namespace attention {

/// The learned numbers of one level. All of one head; they outlive the call.
struct LevelInputs {
  const Tensor* w = nullptr;      ///< [1, width, units]
  const Tensor* b = nullptr;      ///< [1, 1, units]; null: zeros
  const Tensor* query = nullptr;  ///< u_w, [1, 1, units]
};

struct HierarchyInputs {
  const Tensor* h = nullptr;    ///< [1, tokens, width]; at most Limits::tokens and Limits::modelDim
  std::span<const int> starts;  ///< the first token of each segment: 0 and then increasing, all below tokens
  LevelInputs tokens, segments;
};

/// One level: n is the number of tokens, or of segments.
struct LevelTrace {
  Tensor hidden;   ///< u, [1, n, units]
  Tensor scores;   ///< u · u_w, [1, n, 1]
  Tensor weights;  ///< [1, n, 1]; those of the tokens of one segment sum to 1, and those of all segments
  Tensor sums;     ///< Σ a · h: [1, segments, width] of the tokens, [1, 1, width] of the segments
};

struct HierarchyTrace {
  LevelTrace tokens, segments;
  /// How much of the last sum is each token: its weight in its segment times that of the segment; [1, tokens, 1]. They
  /// sum to 1.
  Tensor shares;
};

/// Says what is wrong with the inputs (shapes, starts, numbers that are not finite).
Result<void> validate(const HierarchyInputs& inputs);

/// Fills `trace`; `inputs` must have passed validate(). float32 products, the rest in double: weights are within 1e-6
/// of the exact ones, for scores of size 1.
void forwardHierarchy(const HierarchyInputs& inputs, HierarchyTrace& trace);

/// Segments of `size` tokens each (at least 1), the last one maybe shorter.
std::vector<int> splitEvery(int tokens, int size);
/// Segments that end after a token that ends in ".", "!", "?", ";", ":" or ",".
std::vector<int> splitAtPunctuation(std::span<const std::string> labels);
/// The segment that a token is in.
int segmentOf(std::span<const int> starts, int token);

enum class Level { tokens, segments };
/// Explains one weight of a level with `decimals` digits: score, exponential, division.
Explanation explain(const HierarchyInputs& inputs, const HierarchyTrace& trace, Level level, int index,
                    const std::vector<std::string>& labels, int decimals);

}  // namespace attention
