// The interface in another language, as stored in web/languages: {"language": "Deutsch", "messages": {"the
// header": {"Open": "Öffnen", …}, …}}. A language with more plural forms than English names their rules, as
// the Unicode CLDR has them, and gives a message with a number its forms: {"plurals": {"one": "i = 1 and v =
// 0", "few": "…", "many": "…"}, "messages": {…: {"{1} cells": {"few": "…", "many": "…", "other": "…"}}}}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace files {

/// All messages of such a file, in the format of views::Words. An error, by field, unless they are groups of
/// texts without line ends.
base::Result<std::string> wordsOf(std::string_view json);

}  // namespace files
