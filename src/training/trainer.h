// A run: batches drawn by the seed, gradients, steps of the optimiser, measures of what was held out, and the history. It goes on
// in pieces of at most some milliseconds each, which add up to the same numbers however they are cut: the same setup and kernel
// give the same run, bit for bit.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "training/history.h"
#include "training/model.h"
#include "training/optimizer.h"

namespace training {

/// What the model makes of one sentence.
struct Answer {
  Sequence sequence;               ///< of a translation that is only asked for, with the French that was found
  std::vector<float> probabilities;  ///< [tokens, classes]
  std::vector<int> said;           ///< the likeliest class of each
  float loss = 0;                  ///< mean of −log p(target); 0 where nothing is asked
  int wrong = 0;
  struct Map {
    AttentionPlace place;
    int queries = 0, keys = 0;
    std::vector<float> weights;    ///< [heads, queries, keys]
    std::vector<float> x, memory;  ///< what the attention read, [queries, d_model], and of cross-attention [keys, d_model]
  };
  std::vector<Map> maps;
};

class Trainer {
 public:
  /// Refused: what validate() refuses, own sentences that cannot be read, and more parameters than Limits allow.
  static Result<std::unique_ptr<Trainer>> of(const Setup& setup, attention::kernels::Kernel kernel = attention::kernels::best());

  /// One piece of work: some sequences forward and back, or some of those held out. True once a step is whole, and
  /// measured where it is.
  bool advance();
  /// Steps until there are that many, or until the run had to stop.
  void run(int steps);
  /// Why there are no more steps: a loss or a number that is not finite. The last good numbers stand again then.
  const std::optional<Error>& stopped() const { return stopped_; }

  const Setup& setup() const { return setup_; }
  const Examples& examples() const { return examples_; }
  const Model& model() const { return model_; }
  const History& history() const { return history_; }
  int steps() const { return steps_; }
  /// Is no step and no measure under way?
  bool isWhole() const { return done_ == 0 && !measuring_.isOn; }
  std::span<const float> numbers() const { return numbers_; }
  /// Learns on with another rate: the same run.
  void setRate(double rate);
  /// The last step, and what is found now on what was held out; makes the measure where there is none of now.
  Point last() const { return history_.points().empty() ? Point{} : history_.points().back(); }
  const Measure& measure();

  /// With these numbers (the present ones, or kept ones of the history) and heads switched off.
  Measure measureOf(std::span<const float> numbers, std::uint64_t hidden);
  void answer(const Sequence& sequence, std::span<const float> numbers, std::uint64_t hidden, Answer& out);
  /// Mean loss per word of each held-out sentence, as the last measure of the run found it; empty before the first.
  std::span<const float> losses() const { return losses_; }
  std::size_t bytes() const;

 private:
  Trainer(const Setup& setup, Examples examples, int chunk, attention::kernels::Kernel kernel);
  /// A measure that is under way.
  struct Progress {
    bool isOn = false;
    std::size_t sequences = 0;
    std::uint64_t hidden = 0;
    Measure measure;
    Scores scores;
    int saws = 0, sawRight = 0, nouns = 0, verbs = 0, looked = 0;
    double nounSum = 0, verbSum = 0;
    std::vector<double> looks;  ///< of each head of each attention
    std::vector<float> losses;  ///< mean per word, of each sentence
  };

  void beginStep();
  bool endStep();
  void stop(const char* what);
  bool isDue() const;
  void begin(Progress& progress, std::uint64_t hidden) const;
  bool go(Progress& progress, std::span<const float> numbers);
  void lookAtSaws(Progress& progress) const;
  void lookAtHeads(Progress& progress) const;

  Setup setup_;
  Examples examples_;
  int chunk_;  ///< sequences at a time
  Model model_;
  History history_;
  Updater updater_;
  std::vector<float> numbers_, gradient_, before_;
  std::vector<Sequence> drawn_;
  Batch batch_;
  int steps_ = 0, done_ = 0;  ///< steps that are whole; sequences of the present one
  Scores found_;
  int asked_ = 0;
  std::optional<Error> stopped_;

  Progress measuring_;  ///< of the run itself
  Progress looking_;    ///< of those who ask in between
  std::vector<float> losses_;
};

}  // namespace training
