// A small Transformer as `attn train` writes it: read back, and run on tokens.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "document/state.h"
#include "files/formats/stored.h"
#include "training/trainer.h"

namespace files {

/// The parameters of a run by their names, and as texts "training" (the options of the run as JSON),
/// "vocabulary", "classes" and, for translate, "source_vocabulary": a token is an index into the vocabulary,
/// a prediction one into the classes. The tensors point to the numbers of the trainer.
StoredFile storedOf(const training::Trainer& trainer);

class TrainedModel {
 public:
  static bool isIn(const StoredFile& file);
  /// An error if the options or a parameter are missing or do not fit.
  static Result<TrainedModel> of(const StoredFile& file);

  /// What to run it on; either ids, "3,1,4", or a sentence. For translate these are English, and `tokens` the
  /// French so far, if it is given. An error for words and ids that it does not know, and for too many.
  struct Input {
    std::string tokens, source, text;
    std::string targets;  ///< classes, by name or number: one for the last token, or one for each
    std::string off;      ///< heads that are switched off, "0.3,1.2": layer.head, from 0
  };
  /// Is told how many heads were tried, and how many there are.
  using Tried = std::function<void(int, int)>;
  /// Runs the model. Outputs: "tokens" [tokens], for translate "source"; "logits" and "probabilities"
  /// [tokens, classes]; "loss" [1], the mean of −log p over the targets; "effect" [layers, heads], how much
  /// the answer depends on each head: the divergence at the last token in bit if it is off too, or with
  /// targets by how much the loss grows; "weights" [layers, heads, tokens, tokens] except for translate;
  /// "layers.0.q" and so on, every tensor of a layer as on the board. For translate without `tokens` the
  /// likeliest word is appended until the sentence ends.
  Result<std::vector<NamedArray>> run(const Input& input, const std::vector<std::string>& outputs,
                                      const Tried& tried);

  const training::Trainer& trainer() const { return *trainer_; }

  /// All layers as a recorded model has them, with the longest of the held-out sequences: Q, K and V of each
  /// layer, or where a score has weights of its own, its scores. For translate it is the cross-attention.
  Result<document::State> recording();

 private:
  Result<training::Sequence> sequenceOf(const Input& input) const;
  Result<std::uint64_t> headsIn(const std::string& list) const;
  Result<void> tryHeads(const training::Sequence& sequence, std::uint64_t off, const Tried& tried);
  Result<NamedArray> output(const std::string& name) const;
  Result<NamedArray> ofLayer(const std::string& name) const;

  std::unique_ptr<training::Trainer> trainer_;
  std::vector<float> numbers_;  ///< the parameters, in place of those of the trainer
  training::Answer answer_;
  std::vector<float> effect_;
};

}  // namespace files
