// Pieces that error sentences are made of: "field: value is wrong; use this."
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace base {

/// One piece of a sentence: a text or a whole number. Refers to the text, and so lives as long as the call it
/// is in.
class Piece {
 public:
  Piece(const char* text) : text_(text) {}
  Piece(std::string_view text) : text_(text) {}
  Piece(const std::string& text) : text_(text) {}
  template <std::integral T>
  Piece(T number) : number_(static_cast<std::int64_t>(number)), isNumber_(true) {}
  void appendTo(std::string& out) const;

 private:
  std::string_view text_;
  std::int64_t number_ = 0;
  bool isNumber_ = false;
};

/// The pieces in a row. Much smaller in the page than a chain of additions.
std::string joined(std::initializer_list<Piece> pieces);
/// What is wrong with the field, as an error that is made where it is returned to.
Result<void> refuse(Error::Kind kind, std::string_view field, std::initializer_list<Piece> pieces);
/// The text in quotes, cut after 40 bytes, or before, at what a reader takes for a character; control characters and bytes that are not
/// UTF-8 as "\x07".
std::string inQuotes(std::string_view text);
/// The text as a terminal may be given it: on one line, with control characters, marks that turn the direction of writing,
/// and bytes that are not UTF-8 as "\x1b".
std::string printable(std::string_view text);
/// "1, 2, 3 or 6".
std::string orList(const std::vector<std::string>& items);
/// The names that are most like the word (by edits of a letter, Levenshtein 1966): what may have been meant.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names, std::size_t count);
/// "[2, 4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

/// Length in bytes of the valid UTF-8 character at the start of the text, 0 if there is none (RFC 3629).
int utf8Length(std::string_view text);
/// Its code point; utf8Length(text) must not be 0.
char32_t utf8Decode(std::string_view text);

/// Length in bytes of what a reader takes for one character at the start of the text: a letter with its marks, a flag, an
/// emoji of several joined by U+200D. 1 for a byte that is no UTF-8, 0 for none.
std::size_t clusterLength(std::string_view text);
/// Length in bytes of the longest beginning of the text that is made of such whole characters and no longer than `bytes`.
std::size_t clustersWithin(std::string_view text, std::size_t bytes);

}  // namespace base
