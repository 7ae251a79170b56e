// Finds what a reader types, as far as it has been typed, among titles and texts. In any script: case does
// not count where a script has it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace document {

struct Lesson;

class Search {
 public:
  /// Where all words were found, from worst to best: some of them only in the text; in the title; at
  /// beginnings of words of the title; the title begins with what was typed; and it is the one word typed.
  enum class Found : std::uint8_t { no, text, title, words, start, all };
  /// From the first byte to the one after the last.
  using Range = std::pair<std::size_t, std::size_t>;

  Search() = default;
  /// `typed` may be anything; of words after the eighth, and of letters after the 80th, nothing is looked
  /// for.
  explicit Search(std::string_view typed);

  bool empty() const { return words_.empty(); }
  /// Of an empty search everything is found. `text` must be folded() already, because it may be long.
  Found in(std::string_view title, std::string_view text) const;
  /// The whole number that was typed; 0 if it was none.
  int number() const;
  /// What of this title the words cover, in order, without overlaps.
  std::vector<Range> marks(std::string_view title) const;

 private:
  std::vector<std::string> words_;  ///< folded
};

/// The text with its letters in lower case, if they are Latin, Greek or Cyrillic: each character keeps its
/// length in bytes.
std::string folded(std::string_view text);
/// All words of a lesson that a reader sees, without the numbers that it computes.
std::string wordsOf(const Lesson& lesson);

}  // namespace document
