// A Transformer small enough to be trained while the reader watches: embedding and positions; layers of our
// attention, each with residual, layer normalisation (before each part), feed-forward network and dropout;
// unembedding (Vaswani et al. 2017; Xiong et al. 2020 for the place of the normalisation). For translate, an
// encoder and a decoder with cross-attention. Forward pass, cross-entropy and backward pass over sequences of
// any lengths, stored one after the other. float32; nothing is allocated after the first batch of a shape.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "attention/kernels/kernels.h"
#include "attention/steps/backward.h"
#include "attention/steps/forward.h"
#include "training/examples.h"

namespace training {

/// Sequences stored one after the other; sequence i has the tokens [begins[i], begins[i + 1]).
struct Batch {
  std::vector<int> tokens, targets, looks, begins{0}, source, sourceBegins{0};

  int count() const { return static_cast<int>(begins.size()) - 1; }
  int rows() const { return begins.back(); }
  int sourceRows() const { return sourceBegins.back(); }
  void clear();
  void add(const Sequence& sequence);
};

/// A parameter matrix [rows, columns], stored from `offset` on, with its name in saved files
/// ("layers.0.w_q").
struct Parameter {
  std::string name;
  int rows = 0, columns = 0;
  std::size_t offset = 0;
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// Totals over the predictions of a forward pass.
struct Scores {
  double loss = 0;  ///< sum of −log p(target)
  /// The number of predictions, and of correct ones.
  int asked = 0, right = 0;
  void add(const Scores& more) { loss += more.loss, asked += more.asked, right += more.right; }
};

/// One attention of the model; attentions are listed in the order in which they are shown.
struct AttentionPlace {
  enum class Kind : std::uint8_t { own, encoder, cross };
  Kind kind = Kind::own;
  int layer = 0;
};

class Model {
 public:
  /// For batches of at most `sequences` sequences, as long as those of `examples`. `setup` must have passed
  /// validate(), and count() must not exceed Limits::parameters.
  Model(const Setup& setup, const Examples& examples, int sequences, attention::kernels::Kernel kernel);
  /// The number of parameters.
  static std::size_t count(const Setup& setup, const Examples& examples);
  /// The approximate number of multiplications of a forward pass over one sequence of maximal length.
  double work() const;

  std::span<const Parameter> parameters() const { return parameters_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const;  ///< of scratch memory
  /// Draws the parameters by the setup's seed from N(0, σ²): σ = 1 for embeddings, 0.5 for learned positions,
  /// 1/√d_k for the matrices of the score, 1/√rows for other matrices. Scales of layer normalisation are 1,
  /// its shifts and all biases 0.
  void initialise(float* parameters) const;

  /// What becomes of a head in a forward pass.
  struct HeadChange {
    enum class Kind : std::uint8_t {
      none,
      scale,    ///< its output is multiplied by `factor`; 0: it is off
      mean,     ///< its output is the same for all queries: its mean over them
      uniform,  ///< all keys that a query sees have the same weight
      replace,  ///< it has other weights, [queries, keys], in sequences of that size
    };
    Kind kind = Kind::none;
    float factor = 0;
    std::vector<float> weights;
    bool operator==(const HeadChange&) const = default;
  };

  /// Options of a forward pass.
  struct Pass {
    bool drops = false;  ///< apply dropout; `number` selects what is dropped
    std::uint64_t number = 0;
    std::uint64_t hidden = 0;  ///< bit attention·heads + head: the output of this head is set to 0
    std::span<const HeadChange> changes{};  ///< of head attention·heads + head, as far as there are any
  };
  Scores forward(const float* parameters, const Batch& batch, const Pass& pass);
  /// Adds ∂(scale·loss)/∂parameter of the last forward pass to `gradient`.
  void backward(const float* parameters, const Batch& batch, float scale, float* gradient);
  /// Must be called when `parameters` have changed since the last backward pass.
  void parametersChanged() { transposed_ = false; }

  // Results of the last forward pass. `attention` is an index into attentions().
  std::span<const AttentionPlace> attentions() const { return places_; }
  int classes() const { return classes_; }
  void logits(float* out) const;  ///< [rows, classes]
  const float* probabilities(int row) const {
    return &probabilities_[static_cast<std::size_t>(row) * static_cast<std::size_t>(classes_)];
  }
  /// The weights [queries, keys] of one head for one sequence.
  const float* weights(int attention, int sequence, int head) const;
  int queries(int attention, int sequence) const;
  int keys(int attention, int sequence) const;
  /// The inputs of an attention for one sequence: X [queries, modelDim], and what keys and values come from
  /// [keys, modelDim] (in cross-attention the other sequence).
  const float* input(int attention, int sequence) const;
  const float* memory(int attention, int sequence) const;
  /// The parameters of an attention, as indices into parameters(): w_q, w_k, w_v, w_o, then w_a, u_a, v_a
  /// where the score has them.
  std::span<const int> weightsOf(int attention) const;

 private:
  using Numbers = std::vector<float>;
  struct Norm {
    int gamma = -1, delta = -1;
    Numbers unit, deviation;  ///< (x − mean) / deviation, and 1 / deviation for each row
  };
  struct Stage {
    enum class Kind : std::uint8_t { attend, feed, finish } kind = Kind::attend;
    bool inSource = false, isCross = false, isCausal = false;
    std::uint64_t number = 0;
    Norm norm;
    Numbers h;  ///< its input: the residual stream, normalised
    /// Indices of its parameters: w_q, w_k, w_v, w_o, w_a, u_a, v_a, or w_1, b_1, w_2, b_2.
    int p[7] = {-1, -1, -1, -1, -1, -1, -1};
    Numbers q, k, v, weights, concat, hidden, dropped;
    std::vector<attention::Trace> traces;  ///< for attention other than softmax of dot products
  };

  void build(const Examples& examples);
  void buildPart(const std::string& name, bool inSource, bool isCross, int layer, int part);
  int parameter(std::string name, int rows, int columns);
  void reserve(int sequences);
  int rows(bool inSource) const;
  Numbers& stream(bool inSource) { return inSource ? sourceStream_ : stream_; }
  Numbers& dStream(bool inSource) { return inSource ? dSourceStream_ : dStream_; }
  const float* at(int parameter) const {
    return now_ + parameters_[static_cast<std::size_t>(parameter)].offset;
  }
  float* gradientAt(int parameter) const {
    return gradient_ + parameters_[static_cast<std::size_t>(parameter)].offset;
  }

  void embed(bool inSource);
  void embedBackward(bool inSource);
  void normalise(Stage& stage);
  void normaliseBackward(Stage& stage, const Numbers& dH);
  void attend(Stage& stage);
  void changeHead(Stage& stage, int head, const HeadChange& change);
  void attendOne(Stage& stage, int sequence);
  attention::Inputs inputsOf(const Stage& stage, const attention::Spec& spec, std::size_t queriesAt,
                             std::size_t keysAt);
  void attendOther(Stage& stage, int sequence);
  void attendBackward(Stage& stage);
  void attendOneBackward(Stage& stage, int sequence);
  void attendOtherBackward(Stage& stage, int sequence);
  void feed(Stage& stage);
  void feedBackward(Stage& stage);
  void leave(Stage& stage, Numbers& branch);
  void leaveBackward(Stage& stage, Numbers& branch);
  void rotate(Numbers& x, bool inSource, float sign) const;
  Scores ask();

  /// out = x·W, or out += x·W if `adds`.
  void product(const float* x, int rows, int parameter, float* out, bool adds = false) const;
  /// dX = dY·Wᵀ, or dX += if `adds`; and dW += Xᵀ·dY.
  void productBackward(const float* x, const float* dY, int rows, int parameter, float* dX, bool adds) const;
  std::size_t weightsAt(const Stage& stage, int sequence) const;
  attention::Spec specOf(const Stage& stage, int sequence) const;
  int rowsOf(bool inSource, int sequence) const;
  int firstRow(bool inSource, int sequence) const;

  Setup setup_;
  attention::kernels::Kernel kernel_;
  int d_, heads_, headDim_, hiddenDim_, classes_, longest_, longestSource_;
  bool isPlain_;
  std::vector<Parameter> parameters_;
  std::size_t size_ = 0;
  std::vector<Stage> stages_;
  std::vector<AttentionPlace> places_;
  std::vector<int> attends_;  ///< the stage of each attention in places_
  int embedding_ = -1, sourceEmbedding_ = -1, positions_ = -1, sourcePositions_ = -1, unembedding_ = -1,
      unembeddingBias_ = -1;
  Numbers sinusoids_, cosines_, sines_;

  const float* now_ = nullptr;
  float* gradient_ = nullptr;
  const Batch* batch_ = nullptr;
  Pass pass_;
  bool transposed_ = false;
  Numbers transposes_;  ///< of every matrix, at the offset of the matrix itself
  Numbers stream_, sourceStream_, dStream_, dSourceStream_, dMemory_;
  Numbers probabilities_, dLogits_;
  Numbers branch_, dH_, dQ_, dK_, dV_, dConcat_, dHidden_, head_, dScores_;
  const Numbers* features_ = nullptr;
  const Numbers* memory_ = nullptr;

  // For attention other than softmax of dot products.
  attention::Tensor q_, k_, v_, dOut_, scoreWeights_[3];
  attention::Gradients gradients_;
  std::unique_ptr<attention::BackwardScratch> backwardScratch_;
  std::unique_ptr<attention::Scratch> scratch_;
};

}  // namespace training
