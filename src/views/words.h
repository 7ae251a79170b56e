// The text of the interface in the reader's language. Texts are translated when they are drawn, looked up by
// the English text, so that another language is only another table: web/languages explains the format.
#pragma once

#include <cstddef>
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
  /// "{a}" to "{z}" are placeholders for any text, and may be reordered;
  /// "{1}" to "{9}" for a number; "{A}" to "{Z}" for text that is itself translated. "{a}: {A}" stands for a
  /// field, or a file, and why it was refused (base::Error): with it a refusal is one message for all fields.
  /// It is used only if the table has the sentence.
  explicit Words(std::string_view table);
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;

  /// The translation of a text, or of a message: its id is looked up, and its arguments are put into the
  /// places of the translation, in the order of the English text. A message that is an argument is
  /// translated; so is a text in a place "{A}". What the table does not contain stays as it is; but of a
  /// message each argument is looked at, and the English of what is not yet a message is compared with the
  /// patterns. Spaces at either end are kept. The result is valid until a few thousand other texts have been
  /// translated.
  [[gnu::noinline]] std::string_view of(base::MessageView english);
  /// Digits and formulas in the notation of the language; `own` holds the result if it differs.
  [[gnu::noinline]] std::string_view number(std::string_view digits, std::string& own) const;
  /// Marks a text as already translated: of() returns it unchanged.
  [[gnu::noinline]] void keep(const std::string& said);

  std::set<std::string>* missed = nullptr;  ///< for tests: texts that were not found in the table
  int paused = 0;                           ///< greater than 0: no text is translated

  /// For tests: the ids of messages that the table has not, whose English was found by a pattern.
  std::set<std::string>* guessed = nullptr;

 private:
  using Part = base::MessageView::Part;
  /// "Head {a} of {b}": a message with placeholders.
  struct Pattern {
    /// The text between placeholders: one more than there are placeholders.
    std::vector<std::string_view> parts;
    std::string places;      ///< the letters of the placeholders
    std::string_view words;  ///< the translation
    std::size_t length = 0;  ///< total length of the parts
  };

  /// The plural form of the translation that goes with the first of the numbers that were found.
  std::string_view formFor(const Pattern& pattern, const std::vector<std::string_view>& found) const;
  static Pattern patternOf(std::string_view english, std::string_view words);
  std::string find(std::string_view english);
  std::string ofText(std::string_view english);
  std::string ofMessage(base::MessageView message);
  std::string ofArgument(const Part& part, bool isTranslated);
  std::string filled(const Pattern& pattern, const std::vector<Part>& arguments);
  static std::string idOf(const Pattern& pattern);
  std::string inNotation(std::string_view text) const;
  bool match(const Pattern& pattern, std::string_view english, std::string& out);
  bool matchField(std::string_view english, std::string& out);

  std::string table_;
  PluralRules plurals_;
  char group_ = ',', decimal_ = '.';
  std::unordered_map<std::string_view, std::string_view> whole_;
  std::unordered_map<std::string, Pattern> byId_;  ///< of "Head {} of {}" (base::MessageView::id())
  /// "{a}: {A}"; empty if the table does not have it.
  Pattern ofField_;
  /// Longest first, because these are the most specific.
  std::vector<Pattern> patterns_;
  std::unordered_map<std::string, std::string> kept_, older_;  ///< a cache of results, in two generations
};

}  // namespace views
