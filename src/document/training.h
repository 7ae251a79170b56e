// The training run described by the options train_…: created when it is asked for, kept as long as the
// options describe the same run, and advanced in time slices.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "document/option.h"
#include "training/trainer.h"

namespace document {

/// An error if the options train_… contradict each other. `sentencesToo`: also parses the user's own
/// sentences.
Result<void> checkTraining(const Settings& settings, bool sentencesToo);

/// The layer of one attention of a run, applied to one sentence: X, W_Q … as a state that can be opened on
/// the board. View options are taken from `before`.
Result<State> layerOf(const State& before, const training::Trainer& trainer, std::span<const float> numbers,
                      const training::Answer& answer, int attention);

/// An error for more tokens than a model can read.
Result<void> checkLength(std::string_view field, std::size_t count, int longest);

/// The ids of these words. `field` is what errors name: for a word that is not in the vocabulary, for none,
/// and for more than `longest`.
Result<std::vector<int>> idsOf(std::string_view field, std::span<const std::string> words,
                               const std::vector<std::string>& vocabulary, int longest);

/// The targets that a reader gives for `count` tokens, by names or numbers of classes: one, for the token
/// `at` alone, or one for each token, where "-" is none (−1). `field` is what errors name.
Result<std::vector<int>> targetsOf(std::string_view field, std::span<const std::string> words,
                                   const std::vector<std::string>& classes, std::size_t count,
                                   std::size_t at);

/// The sentence on the board for a run's model; with targets if it is one of those held out, and otherwise
/// without. An error for words that the model does not know, and for too many.
Result<training::Sequence> sequenceOf(const training::Trainer& trainer, const Settings& board);

/// All layers of a model as a recording has them, with the sentence that was answered: Q, K and V of each
/// layer, or where a score has weights of its own, its scores. For translate it is the cross-attention. View
/// options are taken from `before`, and what is trained.
Result<State> recordingOf(const State& before, const training::Trainer& trainer,
                          std::span<const float> numbers, const training::Answer& answer);

class Training {
 public:
  /// `state` must outlive this object.
  explicit Training(const State& state) : state_(state) {}

  /// The run for the present options. A change of the learning rate continues the run; any other change of
  /// these options starts a new one. Null if the options are not valid; error() then says why.
  training::Trainer* run();
  const std::optional<Error>& error() const { return error_; }
  /// The same if it begins with a model that was trained before, whose recording may be on the board; else
  /// null.
  training::Trainer* ofLearned();
  bool isMade() const { return trainer_ != nullptr; }
  /// Restarts the run.
  void reset();
  /// Increases with every new run.
  int number() const { return number_; }

  /// Trains until `steps` steps are complete, but for at most `milliseconds`: another piece of work is
  /// started only if, by the duration of recent ones, it should fit. False once nothing is left to do.
  bool slice(int steps, double milliseconds);
  double sliceMs() const { return sliceMs_; }  ///< duration of the last slice
  /// the step that el.train() waits for; 0: none
  int wanted = 0;

  /// "train:loss": [1, steps, 3] with step, loss on its batch, and the most recent loss on held-out
  /// sequences; "train:weights:1": the weights of the first layer, [heads, tokens, tokens], for the chosen
  /// sentence, and so on. An error for any other name.
  Result<const Tensor*> tensor(std::string_view name);
  /// The index of the chosen sentence, counting those held out first and then the user's own.
  int sentence = 0;
  const training::Sequence& chosen(const training::Trainer& trainer) const;

 private:
  const State& state_;
  std::unique_ptr<training::Trainer> trainer_;
  std::optional<Error> error_;
  training::Setup made_;
  bool tried_ = false;
  int number_ = 0;
  double sliceMs_ = 0;
  double pieceMs_ = 0;  ///< recent duration of a piece of work
  Tensor tensor_;
};

}  // namespace document
