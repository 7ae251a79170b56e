// Pieces that error sentences are made of: "field: value is wrong; use this."
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/message.h"
#include "base/result.h"

namespace base {

/// Concatenates the pieces. Compiles to much less code than a chain of `+`, which matters for the page's
/// download.
std::string joined(std::initializer_list<Piece> pieces);
/// An error about `field` whose sentence is the concatenated pieces.
Result<void> refuse(Error::Kind kind, std::string_view field, std::initializer_list<Piece> pieces);
/// The same about a place that readers see in their language.
Result<void> refuseAt(Error::Kind kind, const Message& place, std::initializer_list<Piece> pieces);
/// The text in double quotes, truncated with "…" after at most 40 bytes, never inside a grapheme cluster that
/// fits. Control characters and bytes that are not valid UTF-8 are written as "\x07".
std::string inQuotes(std::string_view text);
/// The text made safe for a terminal, on one line: control characters, characters that change the direction
/// of writing, line separators and bytes that are not valid UTF-8 are written as "\x1b".
std::string printable(std::string_view text);
/// The text with its ASCII letters in lower case, for comparisons.
std::string lowered(std::string_view text);
/// The text without white space at both ends.
std::string_view trimmed(std::string_view text);
/// "1, 2, 3 or 6".
std::string orList(const std::vector<std::string>& items);
/// The same as an argument of a message.
Message either(const std::vector<std::string>& items);
/// The `count` names that are closest to the word by edit distance (Levenshtein 1966), closest first:
/// suggestions for a misspelt name.
std::vector<std::string> nearest(std::string_view word, const std::vector<std::string>& names,
                                 std::size_t count);
/// "[2, 4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

/// Length in bytes of the valid UTF-8 character at the start of the text, 0 if there is none (RFC 3629).
int utf8Length(std::string_view text);
/// The code point of the first character; utf8Length(text) must not be 0.
char32_t utf8Decode(std::string_view text);

/// Length in bytes of the grapheme cluster (what a reader takes for one character) at the start of the text:
/// a letter with its marks, a flag, an emoji joined from several by U+200D. 1 for a byte that is not valid
/// UTF-8, 0 for an empty text.
std::size_t clusterLength(std::string_view text);
/// Length in bytes of the longest prefix of the text that consists of whole grapheme clusters and is at most
/// `bytes` long.
std::size_t clustersWithin(std::string_view text, std::size_t bytes);

}  // namespace base
