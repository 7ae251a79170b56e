// Pieces that error sentences are made of: "field: value is wrong; use this."
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "attention/error.h"

namespace document {

/// An error whose message is "field: text".
attention::Error refusal(attention::Error::Kind kind, std::string_view field, std::string_view text);
/// The text in quotes, cut after 40 bytes at a whole character; control characters and bytes that are not
/// UTF-8 as "\x07".
std::string inQuotes(std::string_view text);
/// "1, 2, 3 or 6".
std::string orList(const std::vector<std::string>& items);
/// "[2, 4, 3]".
std::string shapeText(const std::vector<std::int64_t>& shape);

/// Length in bytes of the valid UTF-8 character at the start of the text, 0 if there is none (RFC 3629).
int utf8Length(std::string_view text);
/// Its code point; utf8Length(text) must not be 0.
char32_t utf8Decode(std::string_view text);

}  // namespace document
