// The run of the options train_…: made where somebody asks, kept as long as they describe the same run, and taken on in slices.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "document/option.h"
#include "training/trainer.h"

namespace document {

Value trainingValue(const Settings& settings, OptionId id);
void assignTraining(Settings& settings, OptionId id, const Value& value);
/// Do the options train_… mean something together? Own sentences are read.
Result<void> checkTraining(const Settings& settings, bool sentencesToo);

/// The layer of one attention of a run, as it is on one sentence: X, W_Q … as a state of its own, which opens on the board.
/// `before` is the state that it takes what is shown from.
Result<State> layerOf(const State& before, const training::Trainer& trainer, std::span<const float> numbers,
                      const training::Answer& answer, int attention);

class Training {
 public:
  /// `state` outlives it.
  explicit Training(const State& state) : state_(state) {}

  /// The run as the options have it now. Another learning rate goes on with it; any other option of it begins a new one.
  /// Null where they describe none; error() says why.
  training::Trainer* run();
  const std::optional<Error>& error() const { return error_; }
  bool isMade() const { return trainer_ != nullptr; }
  /// Begins anew.
  void reset();
  /// Grows with every new run.
  int number() const { return number_; }

  /// Steps until there are `steps`, but no longer than so many milliseconds: a piece of work is begun only where those before
  /// took little enough. False once there is nothing left to do.
  bool slice(int steps, double milliseconds);
  double sliceMs() const { return sliceMs_; }  ///< what the last slice took
  /// The step that el.train() waits for; 0: none.
  int wanted = 0;

  /// "train:loss": [1, steps, 3] of step, loss of its batch, and the last loss on what is held out; "train:weights:1": the
  /// weights of the first layer, [heads, tokens, tokens], on the sentence that was chosen, and so on; none of another name.
  Result<const Tensor*> tensor(std::string_view name);
  /// The sentence that they are of: of those held out and then the own ones.
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
  double pieceMs_ = 0;  ///< what a piece takes, of late
  Tensor tensor_;
};

}  // namespace document
