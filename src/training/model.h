// A Transformer small enough to learn while the reader watches: embedding and positions, layers of our attention, each with residual,
// layer norm (before each part), feed-forward and dropout, and unembedding (Vaswani et al. 2017; Xiong et al. 2020 for the place
// of the norm). Of translate, an encoder and a decoder with cross-attention. Forward, cross-entropy and backward over sequences of
// any lengths, packed one after the other. Float32; nothing is allocated after the first batch of a shape.
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

/// Some sequences, one after the other.
struct Batch {
  std::vector<int> tokens, targets, looks, begins{0}, source, sourceBegins{0};

  int count() const { return static_cast<int>(begins.size()) - 1; }
  int rows() const { return begins.back(); }
  int sourceRows() const { return sourceBegins.back(); }
  void clear();
  void add(const Sequence& sequence);
};

/// A matrix of the model's numbers: [rows, columns] from `offset` on, named as in saved files ("layers.0.w_q").
struct Parameter {
  std::string name;
  int rows = 0, columns = 0;
  std::size_t offset = 0;
  std::size_t size() const { return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns); }
};

/// What a forward pass found.
struct Scores {
  double loss = 0;  ///< sum of −log p(target)
  int asked = 0, right = 0;
  void add(const Scores& more) { loss += more.loss, asked += more.asked, right += more.right; }
};

/// One attention of the model, in the order in which they are drawn.
struct AttentionPlace {
  enum class Kind : std::uint8_t { own, encoder, cross };
  Kind kind = Kind::own;
  int layer = 0;
};

class Model {
 public:
  /// At most `sequences` at a time, of lengths up to those of `examples`. `setup` has passed validate(), and holds at most
  /// Limits::parameters: see count().
  Model(const Setup& setup, const Examples& examples, int sequences, attention::kernels::Kernel kernel);
  /// How many numbers there are to learn.
  static std::size_t count(const Setup& setup, const Examples& examples);
  /// Multiplications of a forward pass over one sequence of the longest, about.
  double work() const;

  std::span<const Parameter> parameters() const { return parameters_; }
  std::size_t size() const { return size_; }
  std::size_t bytes() const;  ///< of scratch memory
  /// Weights from N(0, 1/√rows), embeddings from N(0, 1), norms 1 and 0, by the setup's seed.
  void initialise(float* parameters) const;

  /// How a forward pass differs from plain inference.
  struct Pass {
    bool drops = false;         ///< dropout, by `number`
    std::uint64_t number = 0;
    std::uint64_t hidden = 0;   ///< bit attention·heads + head: this head adds nothing
  };
  Scores forward(const float* parameters, const Batch& batch, const Pass& pass);
  /// Adds ∂(scale·loss)/∂parameter of the last forward pass to `gradient`.
  void backward(const float* parameters, const Batch& batch, float scale, float* gradient);
  /// Must be told when `parameters` are others than in the last backward pass.
  void parametersChanged() { transposed_ = false; }

  // Of the last forward pass. Attentions are those of attentions().
  std::span<const AttentionPlace> attentions() const { return places_; }
  int classes() const { return classes_; }
  const float* probabilities(int row) const { return &probabilities_[static_cast<std::size_t>(row) * static_cast<std::size_t>(classes_)]; }
  /// [queries, keys] of one head of one sequence.
  const float* weights(int attention, int sequence, int head) const;
  int queries(int attention, int sequence) const;
  int keys(int attention, int sequence) const;
  /// What that attention read, [queries, modelDim] and [keys, modelDim]: X and, in cross-attention, the other sequence.
  const float* input(int attention, int sequence) const;
  const float* memory(int attention, int sequence) const;
  /// Its weights, in parameters(): w_q, w_k, w_v, w_o, then w_a, u_a, v_a where the score has them.
  std::span<const int> weightsOf(int attention) const;

 private:
  using Numbers = std::vector<float>;
  struct Norm {
    int gamma = -1, delta = -1;
    Numbers unit, deviation;  ///< (x − mean)/deviation, and 1/deviation of each row
  };
  struct Stage {
    enum class Kind : std::uint8_t { attend, feed, finish } kind = Kind::attend;
    bool inSource = false, isCross = false, isCausal = false;
    std::uint64_t number = 0;
    Norm norm;
    Numbers h;        ///< what it reads: the stream, normalised
    int p[7] = {-1, -1, -1, -1, -1, -1, -1};  ///< its parameters: w_q, w_k, w_v, w_o, w_a, u_a, v_a, or w_1, b_1, w_2, b_2
    Numbers q, k, v, weights, concat, hidden, dropped;
    std::vector<attention::Trace> traces;  ///< of attention that is not softmax of dot products
  };

  void build(const Examples& examples);
  void buildPart(const std::string& name, bool inSource, bool isCross, int layer, int part);
  int parameter(std::string name, int rows, int columns);
  void reserve(int sequences);
  int rows(bool inSource) const;
  Numbers& stream(bool inSource) { return inSource ? sourceStream_ : stream_; }
  Numbers& dStream(bool inSource) { return inSource ? dSourceStream_ : dStream_; }
  const float* at(int parameter) const { return now_ + parameters_[static_cast<std::size_t>(parameter)].offset; }
  float* gradientAt(int parameter) const { return gradient_ + parameters_[static_cast<std::size_t>(parameter)].offset; }

  void embed(bool inSource);
  void embedBackward(bool inSource);
  void normalise(Stage& stage);
  void normaliseBackward(Stage& stage, const Numbers& dH);
  void attend(Stage& stage);
  void attendOne(Stage& stage, int sequence);
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

  /// out = x·W, or += with `adds`.
  void product(const float* x, int rows, int parameter, float* out, bool adds = false) const;
  /// dX = dY·Wᵀ, or +=; and dW += Xᵀ·dY.
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
  std::vector<int> attends_;  ///< the stages of places_
  int embedding_ = -1, sourceEmbedding_ = -1, positions_ = -1, sourcePositions_ = -1, unembedding_ = -1, unembeddingBias_ = -1;
  Numbers sinusoids_, cosines_, sines_;

  const float* now_ = nullptr;
  float* gradient_ = nullptr;
  const Batch* batch_ = nullptr;
  Pass pass_;
  bool transposed_ = false;
  Numbers transposes_;  ///< of every matrix, where it lies among the parameters
  Numbers stream_, sourceStream_, dStream_, dSourceStream_, dMemory_;
  Numbers probabilities_, dLogits_;
  Numbers branch_, dH_, dQ_, dK_, dV_, dConcat_, dHidden_, head_, dScores_;
  const Numbers* features_ = nullptr;
  const Numbers* memory_ = nullptr;

  // For the other kinds of attention.
  attention::Tensor q_, k_, v_, dOut_, wA_, uA_, vA_;
  attention::Gradients gradients_;
  std::unique_ptr<attention::BackwardScratch> backwardScratch_;
  std::unique_ptr<attention::Scratch> scratch_;
};

}  // namespace training
