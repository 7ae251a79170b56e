// The examples of a task: sequences to learn from, sequences that are held out, and the vocabulary.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "training/setup.h"

namespace training {

/// One example. Tokens are indices into Examples::words, targets into Examples::classes.
struct Sequence {
  std::vector<int> source;  ///< for translate the English words; otherwise empty
  /// What the model reads; for translate the French words, shifted by a begin token.
  std::vector<int> tokens;
  std::vector<int> targets;  ///< the class to predict at each token; −1: none
  /// For each token the key that a head should attend to, for measuring whether one does (a key of the
  /// source, where there is one); −1: none.
  std::vector<int> looks;

  void clear();
};

class Examples {
 public:
  /// Returns an error, with its line, where a sentence of the user's own cannot be read: see
  /// Setup::sentences.
  ///   tags       "I/pronoun saw/verb a/determiner saw/noun" is trained on; without parts of speech it is only evaluated
  ///   translate  "the cat sees it = le chat le voit" is trained on; without French it is only translated
  /// A quarter of the examples drawn are own sentences to train on. New words in them extend the vocabulary;
  /// sentences that are only evaluated must use known words.
  static Result<Examples> of(const Setup& setup);

  std::vector<std::string> words, sourceWords, classes;
  std::vector<Sequence> heldOut;  ///< at most 200; never drawn for training
  /// The user's own sentences that are only evaluated; their targets are −1, for translate empty.
  std::vector<Sequence> own;
  std::int64_t learnCount = 0;         ///< number of different sequences to train on; 0: too many to count
  int longest = 0, longestSource = 0;  ///< tokens
  int saw = -1, noun = -1, verb = -1;  ///< for tags: the word "saw", and its two possible classes

  /// Computes training example number `number`; the same number always gives the same example.
  void draw(std::uint64_t number, Sequence& out) const;
  /// The sentence as text. learned() returns the n-th sentence to train on, for tasks whose sentences can be
  /// counted.
  std::string sentence(const Sequence& s) const;
  Sequence learned(std::int64_t n) const;

 private:
  class Reader;
  explicit Examples(const Setup& setup);
  void makeWords();
  void split();
  void tagged(std::uint64_t index, Sequence& out) const;
  void translated(std::uint64_t index, Sequence& out) const;
  void generated(std::uint64_t bits, Sequence& out) const;
  void example(std::uint64_t index, Sequence& out) const;

  Task task_;
  std::uint32_t seed_;
  std::vector<std::uint32_t> learn_;  ///< for tags and translate: indices of sentences of the grammar
  std::vector<Sequence> ownLearned_;
};

/// What a task is called, what to watch while it is trained, and what the second curve of accuracy shows.
struct TaskWords {
  std::string_view title, watch;
  const char* measure;  ///< a literal: it belongs to the ids of messages
};
const TaskWords& words(Task task);

}  // namespace training
