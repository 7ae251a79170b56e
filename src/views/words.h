// The text of the interface in the reader's language. Texts are translated when they are drawn, looked up by
// the English text, so that another language is only another table: web/languages explains the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/message.h"
#include "views/plurals.h"

namespace views {

class Words {
 public:
  /// One line per message: the English text, U+001F, the translation. "1,234.5" is a message too, from which
  /// the signs of numbers are taken. A translation may have several plural forms, between which stands
  /// U+001E, for the first number in the message; lines without an English text have the rules of these
  /// forms.
  /// "{a}" to "{z}" are placeholders for any text, and may be reordered; "{1}" to "{9}" for a number; "{A}"
  /// to "{Z}" for text that is itself translated. The English text with "{}" for each is the id of the
  /// message (base::MessageView::id()).
  explicit Words(std::string_view table);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// The translation of a text, or of a message: its id is looked up, and its arguments are put into the
  /// places of the translation. A message that is an argument is translated; so is a text in a place "{A}".
  /// What the table does not contain stays as it is, but for the arguments. Spaces at either end are kept.
  /// The result is valid until a few thousand other texts have been translated.
  [[gnu::noinline]] std::string_view of(base::MessageView english);
  /// The same of a text that is written by whoever wrote the table, as a lesson is: line by line, and nothing
  /// is changed in lines that the table does not have.
  [[gnu::noinline]] std::string asWritten(std::string_view english) const;
  /// Digits and formulas in the notation of the language; `own` holds the result if it differs.
  [[gnu::noinline]] std::string_view number(std::string_view digits, std::string& own) const;
  /// Marks a text as already translated: of() returns it unchanged.
  [[gnu::noinline]] void keep(const std::string& said);

  /// Differs for every table that was read.
  std::uint64_t id() const { return id_; }
  std::set<std::string>* missed = nullptr;  ///< for tests: texts that were not found in the table
  int paused = 0;                           ///< greater than 0: no text is translated

 private:
  using Part = base::MessageView::Part;
  struct Translation {
    std::string_view words;
    std::string places;  ///< the letters of the placeholders, in the order of the English text
  };

  void add(std::string_view english, std::string_view words);
  /// The plural form that goes with the first of the numbers.
  std::string_view formFor(const Translation& translation, const std::vector<Part>& arguments) const;
  std::string ofMessage(base::MessageView message);
  std::string ofArgument(const Part& part, bool isTranslated);
  std::string filled(const Translation& translation, const std::vector<Part>& arguments);
  std::string inNotation(std::string_view text) const;

  inline static std::uint64_t made_ = 0;
  std::uint64_t id_ = ++made_;
  std::string table_;
  PluralRules plurals_;
  char group_ = ',', decimal_ = '.';
  std::unordered_map<std::string, Translation> messages_;      ///< by id
  std::unordered_map<std::string, std::string> kept_, older_;  ///< a cache of results, in two generations
};

}  // namespace views
