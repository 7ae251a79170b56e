// The interface in another language, as web/languages has it: {"language": "Deutsch", "messages": {"the header": {"Open": "Öffnen", …}, …}}.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace files {

/// All messages of such a file, as views::Words takes them. Refused by field: groups of texts, and no line ends in them.
base::Result<std::string> wordsOf(std::string_view json);

}  // namespace files
