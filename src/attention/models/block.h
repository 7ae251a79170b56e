// The rest of a Transformer block, around the attention layer: dropout, residuals, layer normalisation, and a
// feed-forward network that is applied to every token separately.
//
// Post-norm is the order of Vaswani et al. 2017 ("Attention Is All You Need", sections 3.1, 3.3 and 5.4):
//   norm_1 = LN(x + drop(attention)),  norm_2 = LN(norm_1 + drop(FFN(norm_1)))
// Pre-norm is that of Xiong et al. 2020 ("On Layer Normalization in the Transformer Architecture", table 1):
//   residual_1 = x + drop(attention(LN(x))),  residual_2 = residual_1 + drop(FFN(LN(residual_1)))
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "attention/layer/explain.h"

namespace attention {

/// Where layer normalisation (Ba et al. 2016) is applied.
enum class NormPlace : std::uint8_t {
  none,
  post,  ///< after each residual
  pre,   ///< before attention and before the feed-forward network
};

/// The activation function of the hidden units.
enum class Activation : std::uint8_t {
  relu,  ///< max(0, h)
  gelu,  ///< h · (1 + erf(h / √2)) / 2, not the tanh approximation (Hendrycks and Gimpel 2016)
  tanh,
};

/// How dropout makes the expected value in training equal to that at inference.
enum class Dropout : std::uint8_t {
  inverted,  ///< divides kept numbers by 1 − p in training, and does nothing at inference (as libraries do)
  /// Leaves kept numbers unchanged in training, and multiplies by 1 − p at inference (Srivastava et al. 2014,
  /// section 4).
  plain,
};

struct BlockLimits {
  static constexpr int hidden = 4096;  ///< hidden units
  static constexpr float smallestEpsilon = 1e-12f, largestEpsilon = 1.0f;
  static constexpr float dropRate = 0.99f;  ///< upper limit
};

/// Sizes and options. The output of a block is as wide as its input.
struct BlockSpec {
  int first = 0;   ///< the token of row 0
  int rows = 0;    ///< tokens, at most Limits::modelTokens
  int width = 0;   ///< columns of x, at most Limits::modelDim
  int hidden = 0;  ///< hidden units, at most BlockLimits::hidden

  bool residual = true;
  NormPlace norm = NormPlace::post;
  float epsilon = 1e-5f;  ///< added to the variance, so that a row of equal numbers does not divide by 0
  Activation activation = Activation::relu;

  float dropRate = 0.0f;  ///< p, 0 to 0.99: the probability that a number is dropped
  Dropout dropout = Dropout::inverted;
  std::uint32_t seed = 1;  ///< determines which cells are dropped
  bool training = false;   ///< at inference nothing is dropped

  bool drops() const { return training && dropRate > 0.0f; }
  bool operator==(const BlockSpec&) const = default;
};

/// The inputs of the block. All tensors have one head and must outlive the call. A null gamma stands for
/// ones, a null delta or b for zeros.
struct BlockInputs {
  const Tensor* x = nullptr;  ///< [1, rows, width]; needed for residuals and for pre-norm
  /// [1, rows, width], the layer's output; for pre-norm that of the layer applied to LN(x), see layerNorm().
  const Tensor* attention = nullptr;
  const Tensor* gamma1 = nullptr;  ///< [1, 1, width]
  const Tensor* delta1 = nullptr;  ///< [1, 1, width]
  const Tensor* w1 = nullptr;      ///< [1, width, hidden]
  const Tensor* b1 = nullptr;      ///< [1, 1, hidden]
  const Tensor* w2 = nullptr;      ///< [1, hidden, width]
  const Tensor* b2 = nullptr;      ///< [1, 1, width]
  const Tensor* gamma2 = nullptr;  ///< [1, 1, width]
  const Tensor* delta2 = nullptr;  ///< [1, 1, width]
};

/// The intermediates, in the order of kBlockTensors.
enum class BlockStage : std::uint8_t {
  attention,
  dropout_1,
  residual_1,
  norm_1,  // [1, rows, width]
  hidden_raw,
  hidden,  // before and after the activation, [1, rows, hidden]
  feed_forward,
  dropout_2,
  residual_2,
  norm_2,  // [1, rows, width]
};
inline constexpr int kBlockStages = kBlockTensors.size();
static_assert(static_cast<int>(BlockStage::norm_2) + 1 == kBlockStages);
constexpr TensorId tensorOf(BlockStage stage) { return kBlockTensors[static_cast<int>(stage)]; }
/// "residual_1" for BlockStage::residual_1, and so on.
std::string_view name(BlockStage stage);

/// Mean and √(variance + ε) of each row before normalisation, [1, rows, 1].
struct Moments {
  Tensor mean, deviation;
};

/// The results of all stages. A stage that is switched off repeats those of the stage before it; without
/// normalisation norm_1 and norm_2 are empty. Finite inputs never give NaN: sums saturate at the largest
/// float.
struct BlockTrace {
  std::array<Tensor, kBlockStages> stages;
  Moments moments1, moments2;

  Tensor& operator[](BlockStage s) { return stages[static_cast<std::size_t>(s)]; }
  const Tensor& operator[](BlockStage s) const { return stages[static_cast<std::size_t>(s)]; }
};

/// Checks the spec and its inputs: ranges, shapes, finite numbers.
Result<void> validate(const BlockSpec& spec, const BlockInputs& inputs);

/// Fills `trace`. `spec` and `inputs` must have passed validate(). float32, with means, variances and
/// activations in double: a normalised number is within 2^-22 · (|γ·z| + |δ|) of the exact one for the given
/// row.
void forwardBlock(const BlockSpec& spec, const BlockInputs& inputs, BlockTrace& trace);

/// out = γ · (row − mean) / √(variance + ε) + δ for every row of `x` (Ba et al. 2016, equation 4, over the
/// columns of one token; the variance is the biased one). `gamma` and `delta` may be null.
void layerNorm(const Tensor& x, const Tensor* gamma, const Tensor* delta, float epsilon, Moments& moments,
               Tensor& out);

/// Does dropout keep this cell? `site` is 1 or 2. Depends only on seed, rate, site, token and column: adding
/// a token does not change the others, and a cell that is dropped at a low rate is also dropped at a higher
/// one.
bool isKept(const BlockSpec& spec, int site, int row, int col);
/// The drop mask Z of site 1 or 2: 1 where isKept(), else 0; [1, rows, width].
Tensor dropMask(const BlockSpec& spec, int site);

/// One stage in the chain from attention to the block's output.
struct BlockLink {
  BlockStage stage;
  std::string_view title;  ///< "Add x"
  std::string formula;     ///< "γ (z − mean) ÷ √(variance + ε) + δ"
};
/// The stages that are switched on, in order of computation. The last one is the block's output.
std::vector<BlockLink> chain(const BlockSpec& spec);

struct StageCell {
  BlockStage stage = BlockStage::norm_2;
  int row = 0, col = 0;
};
/// Explains one cell of a stage with `decimals` digits, from the results of the stage before it. Terms refer
/// to cells of x and of the layer's output; cells of stages have no CellRef.
Explanation explain(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace,
                    const StageCell& cell, const std::vector<std::string>& labels, int decimals);

}  // namespace attention
