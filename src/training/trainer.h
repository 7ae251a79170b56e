// A training run: batches drawn by the seed, gradients, updates, measurements on held-out sequences, and the
// history. It proceeds in pieces of at most a few milliseconds. How these are distributed over time does not
// affect the results: the same setup and kernel give the same run, bit for bit.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>

#include "attention/experiments/head_pattern.h"
#include "training/history.h"
#include "training/model.h"
#include "training/optimizer.h"

namespace training {

/// The predictions of the model for one sentence.
struct Answer {
  /// Where only a translation was asked for, with the French that was generated.
  Sequence sequence;
  std::vector<float> probabilities;  ///< [tokens, classes]
  std::vector<int> said;             ///< the most likely class at each token
  float loss = 0;                    ///< mean of −log p(target); 0 where there are no targets
  int wrong = 0;
  struct Map {
    AttentionPlace place;
    int queries = 0, keys = 0;
    std::vector<float> weights;  ///< [heads, queries, keys]
    /// Of each head on this sequence; empty for cross-attention, and where weights do not sum to 1.
    std::vector<attention::HeadTag> tags;
    /// The inputs of the attention, [queries, d_model], and for cross-attention [keys, d_model].
    std::vector<float> x, memory;
  };
  std::vector<Map> maps;
};

class Trainer {
 public:
  /// Returns an error for a setup that validate() refuses, own sentences that cannot be read, and more
  /// parameters than Limits allow.
  static Result<std::unique_ptr<Trainer>> of(const Setup& setup,
                                             attention::kernels::Kernel kernel = attention::kernels::best());

  /// Does one piece of work: the forward and backward pass of some sequences, or a measurement on some of
  /// those held out. True once a step is complete, including its measurement if one is due.
  bool advance();
  /// Trains until `steps` steps are complete, or the run had to stop.
  void run(int steps);
  /// Why the run had to stop: the loss or a parameter is not finite. The last finite parameters have been
  /// restored then.
  const std::optional<Error>& stopped() const { return stopped_; }

  const Setup& setup() const { return setup_; }
  const Examples& examples() const { return examples_; }
  const Model& model() const { return model_; }
  const History& history() const { return history_; }
  int steps() const { return steps_; }
  /// Is neither a step nor a measurement in progress?
  bool isWhole() const { return done_ == 0 && !measuring_.isOn; }
  std::span<const float> numbers() const { return numbers_; }
  /// Continues the same run with another learning rate.
  void setRate(double rate);
  /// last(): the last step. measure(): the measurement at the present step, computed if there is none yet.
  Point last() const { return history_.points().empty() ? Point{} : history_.points().back(); }
  const Measure& measure();

  /// measureOf() and answer(): with given parameters (the present ones, or stored ones of the history) and
  /// with the heads in `hidden` switched off.
  Measure measureOf(std::span<const float> numbers, std::uint64_t hidden);
  void answer(const Sequence& sequence, std::span<const float> numbers, std::uint64_t hidden, Answer& out);
  /// The same with heads changed.
  void answer(const Sequence& sequence, std::span<const float> numbers,
              std::span<const Model::HeadChange> changes, Answer& out);
  /// [tokens, classes], of the last answer(), whose parameters must still be there.
  std::vector<float> logits() const;
  /// What a measurement says of every "saw" in the held-out sentences of tags: [noun, verb] in truth by
  /// [noun, verb, anything else] as predicted.
  using Said = std::array<std::array<int, 3>, 2>;
  Said saidOf(const Measure& measure) const;
  /// The mean loss per token of each held-out sentence at the run's last measurement; empty before the first.
  std::span<const float> losses() const { return losses_; }
  std::size_t bytes() const;

 private:
  Trainer(const Setup& setup, Examples examples, int chunk, attention::kernels::Kernel kernel);
  /// A measurement in progress.
  struct Progress {
    bool isOn = false;
    std::size_t sequences = 0;
    std::uint64_t hidden = 0;
    Measure measure;
    Scores scores;
    int saws = 0, sawRight = 0, nouns = 0, verbs = 0, looked = 0;
    double nounSum = 0, verbSum = 0;
    std::vector<double> looks;  ///< for each head of each attention
    std::vector<float> losses;  ///< mean per token, for each sentence
  };

  void beginStep();
  bool endStep();
  void stop(const char* what);
  bool isDue() const;
  void begin(Progress& progress, std::uint64_t hidden) const;
  void answer(const Sequence& sequence, std::span<const float> numbers, const Model::Pass& pass, Answer& out);
  bool go(Progress& progress, std::span<const float> numbers);
  void lookAtSaws(Progress& progress) const;
  void lookAtHeads(Progress& progress) const;

  Setup setup_;
  Examples examples_;
  int chunk_;  ///< sequences per piece of work
  Model model_;
  History history_;
  Updater updater_;
  std::vector<float> numbers_, gradient_, before_;
  std::vector<Sequence> drawn_;
  Batch batch_;
  int steps_ = 0, done_ = 0;  ///< complete steps; sequences done of the present step
  Scores found_;
  int asked_ = 0;
  std::optional<Error> stopped_;

  Progress measuring_;  ///< the measurement of the run itself
  Progress looking_;    ///< a measurement asked for in between
  std::vector<float> losses_;
};

}  // namespace training
