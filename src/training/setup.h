// What is trained, and how: a task, the dimensions of a model, an optimiser.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attention/layer/spec.h"

namespace training {

using base::Error;
using base::Result;

enum class Task : std::uint8_t {
  tags,           ///< is "saw" a noun or a verb?
  previous,       ///< predict the previous token
  induction,      ///< predict what followed this token last time (Olsson et al. 2022)
  reverse,        ///< output the sequence in reverse
  most_frequent,  ///< predict the most frequent token
  sort,           ///< output the sequence sorted
  translate,      ///< English to French, with an encoder and a decoder
};

enum class Positions : std::uint8_t { none, sinusoidal, rotary, alibi, learned };

enum class Optimizer : std::uint8_t {
  sgd,       ///< θ −= rate·g
  momentum,  ///< v = 0.9·v + g, θ −= rate·v
  adam,      ///< Kingma and Ba 2015, algorithm 1: β₁ = 0.9, β₂ = 0.999, ε = 1e-8, with bias correction
};

inline constexpr std::string_view kTaskNames[] = {"tags",          "previous", "induction", "reverse",
                                                  "most_frequent", "sort",     "translate"};
inline constexpr std::string_view kPositionNames[] = {"none", "sinusoidal", "rotary", "alibi", "learned"};
inline constexpr std::string_view kOptimizerNames[] = {"sgd", "momentum", "adam"};

struct Limits {
  static constexpr int layers = 4, heads = 8, modelDim = 256, batch = 256;
  static constexpr double lowestRate = 1e-6, highestRate = 1000, dropout = 0.9;
  static constexpr std::size_t parameters = 2'000'000;
  static constexpr std::size_t sentences = 20'000;  ///< bytes of the user's own sentences
};

/// A model that was trained before.
struct Learned {
  std::vector<float> numbers;  ///< in the order of Model::parameters()
  std::string of;              ///< modelKey() of its setup
};

struct Setup {
  Task task = Task::tags;
  int layers = 2;  ///< for translate: of the encoder, and as many of the decoder
  int heads = 2;   ///< must divide modelDim
  int modelDim = 16;
  bool feedForward = true;  ///< 4·modelDim hidden units with ReLU after each attention
  bool layerNorm = true;    ///< before each part and at the end (pre-norm)
  bool residual = true;
  bool causal = true;  ///< for translate the decoder always is, and the encoder never
  Positions position = Positions::sinusoidal;
  attention::Score score = attention::Score::scaled;
  attention::Normalizer normalizer = attention::Normalizer::softmax;
  Optimizer optimizer = Optimizer::adam;
  double rate = 0.003;
  int batch = 16;  ///< sequences per step
  double dropout = 0;
  std::uint32_t seed = 7;
  /// The user's own sentences for tags ("I/pronoun saw/verb") and translate ("the cat sees it = le chat le
  /// voit"), one per line. See examples.h.
  std::string sentences;
  /// What a run begins with while the setup is that of this model; null: numbers drawn by the seed. Shared,
  /// so that settings are cheap to copy.
  std::shared_ptr<const Learned> learned;

  bool operator==(const Setup&) const = default;
};

/// Settings that learn the task well.
Setup recommended(Task task);
/// Checks limits and combinations: heads that do not divide modelDim, rotary positions with an odd head
/// width. The error's field is the name of the option ("train_heads").
Result<void> validate(const Setup& setup);

/// Everything that the meaning of a model's numbers depends on, as text.
std::string modelKey(const Setup& setup);
/// The numbers that a run begins with; null: they are drawn by the seed.
const std::vector<float>* learnedNumbers(const Setup& setup);

inline bool isTranslation(const Setup& setup) { return setup.task == Task::translate; }

}  // namespace training
