// The examples of a task: sequences to learn from, others that are held out, and the words they are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "training/setup.h"

namespace training {

/// One example. Words are indices into Examples::words, targets into Examples::classes.
struct Sequence {
  std::vector<int> source;   ///< of translate: the English words; else empty
  std::vector<int> tokens;   ///< what the model reads; of translate the French words after a beginning
  std::vector<int> targets;  ///< what it should answer at each of them; −1: nothing is asked there
  /// The key that a head should look at from each token, to see whether one does (of the source, where there is one); −1: none.
  std::vector<int> looks;

  void clear();
};

class Examples {
 public:
  /// Refused are own sentences that cannot be read, by line: see Setup::sentences.
  ///   tags       "I/pronoun saw/verb a/determiner saw/noun" is learned too; without parts of speech it is only looked at
  ///   translate  "the cat sees it = le chat le voit" is learned too; without French it is only translated
  /// Own sentences to learn from make up a quarter of what is drawn. New words join the vocabulary; a word of a sentence
  /// that is only looked at must be in it.
  static Result<Examples> of(const Setup& setup);

  std::vector<std::string> words, sourceWords, classes;
  std::vector<Sequence> heldOut;  ///< at most 200, none of which is ever drawn
  std::vector<Sequence> own;      ///< those that are only looked at; targets are −1, and of translate empty
  std::int64_t learnCount = 0;    ///< different ones to learn from; 0: more than are worth counting
  int longest = 0, longestSource = 0;  ///< tokens
  int saw = -1, noun = -1, verb = -1;  ///< of tags: the word, and the classes that it can be of

  /// The example with this number, the same each time.
  void draw(std::uint64_t number, Sequence& out) const;
  /// The sentence of the n-th to learn from, where they can be counted.
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
  std::vector<std::uint32_t> learn_;  ///< of tags and translate: indices of sentences of the grammar
  std::vector<Sequence> ownLearned_;
};

/// What a task is called, what to watch while it is learned, and what the second curve of accuracy shows.
struct TaskWords {
  std::string_view title, watch, measure;
};
const TaskWords& words(Task task);

}  // namespace training
