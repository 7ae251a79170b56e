// The words of the interface in the reader's language. They are looked up where they are drawn, by the English ones, so that
// another language is another table: web/languages says how one is written.
#pragma once

#include <cstddef>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace views {

class Words {
 public:
  /// A line for each message: in English, U+001F, in the other language. "{a}" to "{z}" stand for what is put in, and may stand in
  /// another order; "{1}" to "{9}" for a number; "{A}" to "{Z}" for what is a message itself.
  explicit Words(std::string_view table);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// The same words in that language; as they are where the table has none. Spaces around them stay. Valid until some
  /// thousands of others were asked for.
  [[gnu::noinline]] std::string_view of(std::string_view english);
  /// These are in that language: they stay as they are.
  [[gnu::noinline]] void keep(const std::string& said);

  std::set<std::string>* missed = nullptr;  ///< for tests: what was asked for and is not in the table
  int paused = 0;                           ///< more than 0: all words stay as they are

 private:
  /// "Head {a} of {b}": what stands around its places.
  struct Pattern {
    std::vector<std::string_view> parts;  ///< one more than there are places
    std::string places;                   ///< their letters
    std::string_view words;  ///< in the other language
    std::size_t length = 0;  ///< of all parts
  };

  static Pattern patternOf(std::string_view english, std::string_view words);
  std::string find(std::string_view english);
  bool match(const Pattern& pattern, std::string_view english, std::string& out);

  std::string table_;
  std::unordered_map<std::string_view, std::string_view> whole_;
  std::vector<Pattern> patterns_;                              ///< the longest first: it says most
  std::unordered_map<std::string, std::string> kept_, older_;  ///< what was found
};

}  // namespace views
