// What stands around the layer in a block of the Transformer: dropout, residual, layer normalisation and a
// feed-forward network that every token goes through by itself.
//
// The order of Vaswani et al. 2017 ("Attention Is All You Need", sections 3.1, 3.3 and 5.4), called post-norm:
//   norm_1 = LN(x + drop(attention)),  norm_2 = LN(norm_1 + drop(FFN(norm_1)))
// and that of Xiong et al. 2020 ("On Layer Normalization in the Transformer Architecture", table 1), called pre-norm:
//   residual_1 = x + drop(attention(LN(x))),  residual_2 = residual_1 + drop(FFN(LN(residual_1)))
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "attention/layer/explain.h"

namespace attention {

/// Where a layer normalisation stands (Ba et al. 2016).
enum class NormPlace : std::uint8_t {
  none,
  post,  ///< after each residual
  pre,   ///< before attention and before the feed-forward network
};

/// What a hidden unit does with its sum h.
enum class Activation : std::uint8_t {
  relu,  ///< max(0, h)
  gelu,  ///< h · (1 + erf(h / √2)) / 2, the exact one (Hendrycks and Gimpel 2016)
  tanh,
};

/// What dropout does with the numbers that it keeps, so that their expected size is that at inference.
enum class Dropout : std::uint8_t {
  inverted,  ///< divides them by 1 − p in training, and leaves inference as it is (what libraries do)
  plain,     ///< leaves them as they are, and multiplies by 1 − p at inference (Srivastava et al. 2014, section 4)
};

struct BlockLimits {
  static constexpr int hidden = 4096;                               ///< hidden units
  static constexpr float smallestEpsilon = 1e-12f, largestEpsilon = 1.0f;
  static constexpr float dropRate = 0.99f;                          ///< the highest
};

/// Sizes and options. A block keeps the width of its input.
struct BlockSpec {
  int rows = 0;    ///< tokens, at most Limits::tokens
  int width = 0;   ///< of a token, at most Limits::modelDim
  int hidden = 0;  ///< units between, at most BlockLimits::hidden

  bool residual = true;
  NormPlace norm = NormPlace::post;
  float epsilon = 1e-5f;  ///< added to the variance, so that a row of equal numbers does not divide by 0
  Activation activation = Activation::relu;

  float dropRate = 0.0f;   ///< p, 0 to 0.99: the probability that a number is dropped
  Dropout dropout = Dropout::inverted;
  std::uint32_t seed = 1;  ///< of the dropped cells
  bool training = false;   ///< at inference nothing is dropped

  bool drops() const { return training && dropRate > 0.0f; }
  bool operator==(const BlockSpec&) const = default;
};

/// What the block reads. All of one head; they outlive the call. A null gamma is ones, a null delta or b zeros.
struct BlockInputs {
  const Tensor* x = nullptr;          ///< [1, rows, width]; needed for residuals and for pre-norm
  const Tensor* attention = nullptr;  ///< [1, rows, width], the layer's output. For pre-norm: of LN(x), see layerNorm()
  const Tensor* gamma1 = nullptr;     ///< [1, 1, width]
  const Tensor* delta1 = nullptr;     ///< [1, 1, width]
  const Tensor* w1 = nullptr;         ///< [1, width, hidden]
  const Tensor* b1 = nullptr;         ///< [1, 1, hidden]
  const Tensor* w2 = nullptr;         ///< [1, hidden, width]
  const Tensor* b2 = nullptr;         ///< [1, 1, width]
  const Tensor* gamma2 = nullptr;     ///< [1, 1, width]
  const Tensor* delta2 = nullptr;     ///< [1, 1, width]
};

/// The intermediates: those of kBlockTensors, in its order.
enum class BlockStage : std::uint8_t {
  attention, dropout_1, residual_1, norm_1,         // [1, rows, width]
  hidden_raw, hidden,                               // before and after the activation, [1, rows, hidden]
  feed_forward, dropout_2, residual_2, norm_2,      // [1, rows, width]
};
inline constexpr int kBlockStages = kBlockTensors.size();
static_assert(static_cast<int>(BlockStage::norm_2) + 1 == kBlockStages);
constexpr TensorId tensorOf(BlockStage stage) { return kBlockTensors[static_cast<int>(stage)]; }
/// "residual_1" for BlockStage::residual_1, and so on.
std::string_view name(BlockStage stage);

/// Mean and √(variance + ε) of every row that was normalised, [1, rows, 1].
struct Moments {
  Tensor mean, deviation;
};

/// Every stage. One that is switched off has the numbers of the one before it; norm_1 and norm_2 are empty without
/// normalisation. Nothing is NaN for finite input: sums saturate at the largest float.
struct BlockTrace {
  std::array<Tensor, kBlockStages> stages;
  Moments moments1, moments2;

  Tensor& operator[](BlockStage s) { return stages[static_cast<std::size_t>(s)]; }
  const Tensor& operator[](BlockStage s) const { return stages[static_cast<std::size_t>(s)]; }
};

/// Says what is wrong with the spec or with the inputs for it (ranges, shapes, numbers that are not finite).
Result<void> validate(const BlockSpec& spec, const BlockInputs& inputs);

/// Fills `trace`. `spec` and `inputs` must have passed validate(). float32, with means, variances and activations in
/// double: a normalised number is within 2^-22 · (|γ·z| + |δ|) of the exact one for the row as it stands.
void forwardBlock(const BlockSpec& spec, const BlockInputs& inputs, BlockTrace& trace);

/// out = γ · (row − mean) / √(variance + ε) + δ for every row of `x` (Ba et al. 2016, equation 4, over the width of one
/// token; the variance is the mean of squares, not the unbiased one). `gamma` and `delta` may be null.
void layerNorm(const Tensor& x, const Tensor* gamma, const Tensor* delta, float epsilon, Moments& moments, Tensor& out);

/// Does dropout keep this cell? `site` is 1 or 2. Depends on seed, site, row and column alone, so that a token that is
/// added or a rate that changes leaves the others as they were: cells that a low rate drops, a higher one drops too.
bool isKept(const BlockSpec& spec, int site, int row, int col);
/// The drop mask Z of site 1 or 2: 1 where isKept(), else 0; [1, rows, width].
Tensor dropMask(const BlockSpec& spec, int site);

/// One link of the chain from attention to the block's output.
struct BlockLink {
  BlockStage stage;
  std::string_view title;  ///< "Add x"
  std::string formula;     ///< "γ (z − mean) ÷ √(variance + ε) + δ"
};
/// The stages that do something, in the order in which they are computed. The last one is the block's output.
std::vector<BlockLink> chain(const BlockSpec& spec);

/// Explains one cell of one stage with `decimals` digits, from the numbers of the stage before it. Cells of x and of
/// the layer's output are named in the terms; stages of the block have no CellRef.
Explanation explain(const BlockSpec& spec, const BlockInputs& inputs, const BlockTrace& trace, BlockStage stage,
                    int row, int col, const std::vector<std::string>& labels, int decimals);

}  // namespace attention
