// Hierarchical attention (Yang et al. 2016, "Hierarchical Attention Networks for Document Classification"):
// tokens are grouped into segments; one learned query attends to the tokens of each segment, and another to
// the segments.
//
// On each level, equations 5 to 7 (words) and 8 to 10 (sentences): u = tanh(W h + b), a = softmax(u · u_w), s
// = Σ a · h. In the paper a recurrent network precedes each level; here h is an input, and the segments are
// the sums themselves. The vector v of the whole document may
// be classified, equation 11: p = softmax(v·W_c + b_c).
#pragma once

#include <span>
#include <string>
#include <vector>

#include "attention/layer/explain.h"
#include "base/slices.h"

namespace attention {

/// The parameters of one level. All tensors have one head and must outlive the call.
struct LevelInputs {
  const Tensor* w = nullptr;      ///< [1, width, units]
  const Tensor* b = nullptr;      ///< [1, 1, units]; null: zeros
  const Tensor* query = nullptr;  ///< u_w, [1, 1, units]
};

struct HierarchyInputs {
  const Tensor* h = nullptr;  ///< [1, tokens, width]; at most Limits::modelTokens and Limits::modelDim
  /// The first token of each segment: strictly increasing from 0, all below tokens.
  std::span<const int> starts;
  LevelInputs tokens, segments;
  /// Of the classes, [1, width, classes] and [1, 1, classes]; both null: the document is not classified.
  const Tensor *classW = nullptr, *classB = nullptr;
};

/// The intermediates of one level; n is the number of tokens, or of segments.
struct LevelTrace {
  Tensor hidden;   ///< u, [1, n, units]
  Tensor scores;   ///< u · u_w, [1, n, 1]
  Tensor weights;  ///< [1, n, 1]; they sum to 1 over the tokens of each segment, or over all segments
  /// Σ a · h: [1, segments, width] on the level of tokens, [1, 1, width] on that of segments.
  Tensor sums;
};

struct HierarchyTrace {
  LevelTrace tokens, segments;
  /// The share of each token in the final sum: its weight in its segment times the weight of the segment; [1,
  /// tokens, 1]. The shares sum to 1.
  Tensor shares;
  Tensor classScores, classProbabilities;  ///< [1, 1, classes]; empty without classes
};

/// Checks the inputs: shapes, starts, finite numbers.
Result<void> validate(const HierarchyInputs& inputs);

/// Fills `trace`; `inputs` must have passed validate(). Products are in float32, the rest in double: weights
/// are within 1e-6 of the exact ones, for scores of magnitude 1.
void forwardHierarchy(const HierarchyInputs& inputs, HierarchyTrace& trace);
/// The same in slices, of some tokens each.
base::Slices hierarchyInSlices(HierarchyInputs inputs, HierarchyTrace& trace);

/// The starts of segments of `size` tokens each (at least 1); the last one may be shorter.
std::vector<int> splitEvery(int tokens, int size);
/// The starts of segments that end after a token ending in ".", "!", "?", ";", ":" or ",".
std::vector<int> splitAtPunctuation(std::span<const std::string> labels);
/// The index of the segment that contains a token.
int segmentOf(std::span<const int> starts, int token);

enum class Level { tokens, segments };
/// Explains one weight of a level with `decimals` digits: score, exponential, division.
Explanation explain(const HierarchyInputs& inputs, const HierarchyTrace& trace, Level level, int index,
                    const std::vector<std::string>& labels, int decimals);
/// The same for the probability of a class, by its name.
Explanation explainClass(const HierarchyInputs& inputs, const HierarchyTrace& trace, int index,
                         const base::Message& name, int decimals);

}  // namespace attention
